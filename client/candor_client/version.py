"""The version, recorded in every generated file."""

__version__ = "0.9.0"
