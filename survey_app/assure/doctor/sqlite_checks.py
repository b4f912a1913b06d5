"""Checks of a store in a file: it exists, is undamaged, is private to its owner, and has disk space to be rewritten."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from survey_app.assure.doctor import definition_checks
from survey_app.assure.doctor.finding import Finding, failed, fine, warned
from survey_app.store import StoreError
from survey_app.store.sqlite.database import EARLIEST, VERSION, files_beside
from survey_app.store.sqlite.inspection import inspect, is_sqlite
from survey_app.store.sqlite.lock import OTHERS

LITTLE = 100_000_000  # bytes: less free space is soon full, for any database
DOCS = "docs/operations.md, When the disk is full"


def findings(path: Path, found_by: str) -> Iterator[Finding]:
    """Yield all findings about the file, without opening it for writing."""
    named = f"{path} ({found_by})"
    try:
        if path.is_dir():
            yield failed("database", f"{named} is a folder", "name a file in it: sqlite:////folder/candor.db")
            return
        if not path.exists():
            yield from _absent(path, named)
            return
        if not is_sqlite(path):
            yield failed("database", f"{named} is no SQLite database", "name another one with --db or CANDOR_DB")
            return
    except OSError as error:
        yield failed("database", f"{named}: {error.strerror}", "run candor doctor as the user whose file it is")
        return
    yield from _contents(path, named)
    yield _writable(path)
    yield _permissions(path)
    yield _room(path)


def _absent(path: Path, named: str) -> Iterator[Finding]:
    if path.parent.is_dir():
        yield warned("database", f"there is none at {named}", "candor user add NAME begins one; --db names another")
        yield _writable(path)
    else:
        yield failed("database", f"there is no folder for {named}", "name another one with --db or CANDOR_DB")


def _contents(path: Path, named: str) -> Iterator[Finding]:
    try:
        found = inspect(path)
    except StoreError as error:
        yield warned("database", f"{named}: {error}", "start the server, then ask again")
        return
    version, wal = found.version, Path(f"{path}-wal")
    if version > VERSION:
        then = f"use the newer version here, too; this one knows versions up to {VERSION}"
        yield failed("database", f"{named} was made by a newer Candor (version {version})", then)
    elif 0 < version < EARLIEST:
        then = "keep it with that version, and name a new file for this one (--db)"
        yield failed("database", f"{named} was made by an earlier Candor (version {version})", then)
    elif 0 < version < VERSION:
        then = "make a backup; the next command or start brings it up to date"
        yield warned("database", f"{named} is of version {version}, and this Candor's is {VERSION}", then)
    elif version == 0 and not found.damage and path.stat().st_size:
        yield failed("database", f"{named} is SQLite's, but not Candor's", "name another one with --db or CANDOR_DB")
    else:
        yield fine("database", f"{named}, version {version or VERSION}")
    if found.damage:
        then = "stop the server, and restore the last backup into a new file: candor --db sqlite:///new.db restore FILE"
        yield failed("integrity", f"the file is damaged: {found.damage}", then)
    elif found.unfinished:
        yield failed("integrity", "it is an unfinished copy", "run the same candor copy, or restore, once more")
    else:
        yield fine(
            "integrity", "SQLite's quick check finds nothing wrong", "candor survey check SLUG recounts a survey"
        )
    if found.untidy_since:
        then = f"make room, or end whoever reads the file all the time ({DOCS})"
        yield failed(
            "tidiness", f"untidy since {found.untidy_since}: the order of reports may be seen in the file", then
        )
    elif found.untidy or (wal.exists() and wal.stat().st_size):
        yield fine("tidiness", "to be tidied", "a running server does it when it is quiet, or the next start")
    else:
        yield fine("tidiness", "no order of arrival is left in the file")
    yield from definition_checks.findings(found.running)


def _writable(path: Path) -> Finding:
    """Return a finding about write permission to the file and its folder, since SQLite writes to both."""
    shut = [str(one) for one in (path.parent, path) if one.exists() and not os.access(one, os.W_OK)]
    if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return failed("writing", f"{path.parent} is on a disk that is mounted read-only", "mount it for writing")
    if shut:
        return failed("writing", f"this account may not write {' and '.join(shut)}", "run commands as the owner")
    return fine("writing", f"{path.parent} can be written")


def _permissions(path: Path) -> Finding:
    tickets = Path(f"{path}-tickets")
    journal = Path(f"{tickets}-journal")
    belonging = [path, *files_beside(path), tickets, journal, Path(f"{tickets}.lock")]
    there = {one: one.stat() for one in belonging if one.exists()}
    owner = there[path].st_uid
    open_to_all = [str(one) for one, found in there.items() if found.st_mode & OTHERS]
    foreign = [str(one) for one, found in there.items() if found.st_uid != owner]
    folder = path.parent.stat().st_mode
    if open_to_all:
        return failed("permissions", f"others may open {', '.join(open_to_all)}", f"chmod 600 {' '.join(open_to_all)}")
    if foreign:
        then = f"give them to user {owner}, who owns the database, or remove a .lock while nobody runs"
        return failed("permissions", f"another user owns {', '.join(foreign)}", then)
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return warned("permissions", f"anybody may write into {path.parent}", f"chmod o-w {path.parent}")
    if owner != os.geteuid():
        then = "run commands as that user, as the server does"
        return warned("permissions", f"the files are for user {owner} alone, and this is user {os.geteuid()}", then)
    return fine("permissions", f"{len(there)} files, for their owner alone")


def _room(path: Path) -> Finding:
    """Return a finding about free disk space: to be tidied, the file is rewritten next to the old one."""
    free, needed = shutil.disk_usage(path.parent).free, path.stat().st_size
    told = f"{_bytes(free)} free beside {_bytes(needed)}"
    if free < needed:
        then = f"make room: the file cannot be tidied, and then tells the order of reports ({DOCS})"
        return failed("disk", f"{told}: less than to write the database anew", then)
    if free < max(2 * needed, LITTLE):
        return warned("disk", told, "make room soon: tidying takes as much as the database is large")
    return fine("disk", told)


def _bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
