"""Files that a command writes: all of it or nothing, and nothing overwritten unasked."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click


def check_free(files: list[Path], force: bool) -> None:
    """Refuse names that are no files yet to be written, before any work is done."""
    parent = files[0].parent
    if not parent.is_dir():
        raise click.ClickException(f"there is no directory {parent}; make it first")
    for file in files:
        if file.is_dir():
            raise click.ClickException(f"{file} is a directory; name a file in it")
        if file.exists() and not force:
            raise click.ClickException(f"{file} exists; --force replaces it")


@contextmanager
def whole(file: Path) -> Iterator[BinaryIO]:
    """A file that takes its name only when all of it is on disk; for its owner alone, like the database."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
