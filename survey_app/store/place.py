"""Where a store is, before it is opened: whether it would have to be made."""

from pathlib import Path

SQLITE = "sqlite:///"


def missing_file(url: str) -> Path | None:
    """The file that a URL names, if there is none yet; None for what is there, and for stores that are no file."""
    path = Path(url.removeprefix(SQLITE)).absolute()
    return path if url.startswith(SQLITE) and not path.exists() else None
