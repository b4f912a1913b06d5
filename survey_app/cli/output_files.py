"""Output files and folders: written completely or not at all, and never overwritten without --force."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click


def check_free(files: list[Path], force: bool) -> None:
    """Raise ClickException, before any work is done, if one of these files cannot or must not be written."""
    parent = files[0].parent
    if not parent.is_dir():
        raise click.ClickException(f"there is no folder {parent}; create it first")
    for file in files:
        if file.is_dir():
            raise click.ClickException(f"{file} is a folder; name a file in it")
        if file.exists() and not force:
            raise click.ClickException(f"{file} already exists; to replace it, use --force")


@contextmanager
def write_atomically(file: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file, readable by its owner alone, and rename it to `file` once all of it is on disk."""
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


def check_free_folder(folder: Path, force: bool) -> None:
    """Raise ClickException, before any work is done, if the folder exists, unless `force` is set.

    A folder with anything but Parquet files is never replaced.
    """
    if not folder.parent.is_dir():
        raise click.ClickException(f"there is no folder {folder.parent}; create it first")
    if folder.exists() and not folder.is_dir():
        raise click.ClickException(f"{folder} is a file; name a folder that does not exist yet")
    if folder.exists() and not force:
        raise click.ClickException(f"{folder} already exists; to replace it, use --force")
    if folder.exists() and any(file.suffix != ".parquet" for file in folder.iterdir()):
        raise click.ClickException(
            f"{folder} contains files other than Parquet files and is not replaced; name another folder"
        )


@contextmanager
def write_folder_atomically(folder: Path, force: bool) -> Iterator[Path]:
    """Yield a temporary folder, and rename it to `folder` once all files in it are on disk; for its owner alone."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield temporary
        check_free_folder(folder, force)
        old = temporary.with_name(f"{temporary.name}.old")
        if folder.exists():
            folder.rename(old)
        temporary.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
