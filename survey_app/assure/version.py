"""Which Candor this is: what whatever it makes can name as its maker."""

__version__ = "0.9.0"
