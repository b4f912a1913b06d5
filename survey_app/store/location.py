"""The location of a store before it is opened, and whether its file exists."""

from pathlib import Path

SQLITE = "sqlite:///"


def file_of(url: str) -> Path | None:
    """Return the file that a URL names, or None for a store that is not a file."""
    return Path(url.removeprefix(SQLITE)).absolute() if url.startswith(SQLITE) and url != SQLITE else None


def missing_file(url: str) -> Path | None:
    """Return the file that a URL names if it does not exist yet.

    Return None if it exists, or if the store is not a file.
    """
    path = file_of(url)
    return path if path and not path.exists() else None
