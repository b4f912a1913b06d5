"""Where a store is, before it is opened: whether it would have to be made."""

from pathlib import Path

SQLITE = "sqlite:///"


def file_of(url: str) -> Path | None:
    """The file that a URL names; None for stores that are no file."""
    return Path(url.removeprefix(SQLITE)).absolute() if url.startswith(SQLITE) and url != SQLITE else None


def missing_file(url: str) -> Path | None:
    """That file, if there is none yet; None for what is there, and for stores that are no file."""
    path = file_of(url)
    return path if path and not path.exists() else None
