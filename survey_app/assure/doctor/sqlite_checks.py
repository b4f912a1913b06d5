"""Checks of a store in a file: it exists, is undamaged, is private to its owner, and has space for a rewrite."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from survey_app.assure.doctor import definition_checks
from survey_app.assure.doctor.finding import Finding, failure, healthy, warning
from survey_app.store import StoreError
from survey_app.store.sqlite.database import sidecar_files
from survey_app.store.sqlite.inspection import inspect, is_sqlite
from survey_app.store.sqlite.lock import NON_OWNER_BITS
from survey_app.store.sqlite.schema import EARLIEST_VERSION, VERSION

MIN_FREE_BYTES = 100_000_000  # bytes: less free space is soon full, for any database
DOCS = "docs/operations.md, When the disk is full"
NAME_ANOTHER = "name another database with --db or CANDOR_DB"


def findings(path: Path, source: str) -> Iterator[Finding]:
    """Yield all findings about the file, without opening it for writing."""
    label = f"{path} ({source})"
    try:
        if path.is_dir():
            advice = "name a file in this folder, such as sqlite:////folder/candor.db"
            yield failure("database", "folder", f"{label} is a folder", advice)
            return
        if not path.exists():
            yield from _check_missing_file(path, label)
            return
        if not is_sqlite(path):
            yield failure("database", "not_sqlite", f"{label} is not an SQLite database", NAME_ANOTHER)
            return
    except OSError as error:
        problem = f"{label} cannot be read: {error.strerror}"
        yield failure("database", "unreadable", problem, "run candor doctor as the file's owner")
        return
    yield from _check_contents(path, label)
    yield _check_writable(path)
    yield _check_permissions(path)
    yield _check_disk_space(path)


def _check_missing_file(path: Path, label: str) -> Iterator[Finding]:
    if path.parent.is_dir():
        advice = "candor user add NAME creates one; --db names another"
        yield warning("database", "missing", f"there is no database at {label}", advice)
        yield _check_writable(path)
    else:
        yield failure("database", "no_folder", f"there is no folder for {label}", NAME_ANOTHER)


def _check_contents(path: Path, label: str) -> Iterator[Finding]:
    try:
        state = inspect(path)
    except StoreError as error:
        advice = "start the server, then repeat candor doctor"
        yield warning("database", "not_inspected", f"{label} cannot be examined: {error}", advice)
        return
    version, wal = state.version, Path(f"{path}-wal")
    if version > VERSION:
        problem = f"{label} was made by a newer Candor (version {version}); this one knows versions up to {VERSION}"
        yield failure("database", "newer", problem, "use the newer Candor here too")
    elif 0 < version < EARLIEST_VERSION:
        problem = f"{label} was made by an earlier Candor (version {version}), which this one cannot read"
        yield failure("database", "too_old", problem, "use it only with that Candor, and name a new file here (--db)")
    elif 0 < version < VERSION:
        problem = f"{label} has version {version}; this Candor uses version {VERSION}"
        yield warning("database", "older", problem, "make a backup; the next command or start migrates it")
    elif version == 0 and not state.damage and path.stat().st_size:
        yield failure("database", "foreign", f"{label} is an SQLite database, but not Candor's", NAME_ANOTHER)
    else:
        yield healthy("database", f"{label}, version {version or VERSION}")
    if state.damage:
        advice = (
            "stop the server, and restore the last backup into a new file: candor --db sqlite:///new.db restore FILE"
        )
        yield failure("integrity", "damaged", f"the file is damaged: {state.damage}", advice)
    elif state.is_unfinished_copy:
        advice = "repeat the candor copy or candor restore that made it"
        yield failure("integrity", "unfinished_copy", "the database is an unfinished copy", advice)
    else:
        yield healthy("integrity", "SQLite's quick check finds no damage", "candor survey check SLUG recounts a survey")
    if state.rewrite_failing_since:
        problem = f"not rewritten since {state.rewrite_failing_since}: the order of reports may be readable in the file"
        advice = f"free disk space, or stop the program that reads the file ({DOCS})"
        yield failure("tidiness", "rewrite_fails", problem, advice)
    elif state.needs_rewrite or (wal.exists() and wal.stat().st_size):
        advice = "a running server rewrites it when there are no requests; otherwise the next start does"
        yield healthy("tidiness", "the file has yet to be rewritten", advice, code="pending")
    else:
        yield healthy("tidiness", "the file does not reveal the order of reports")
    yield from definition_checks.findings(state.running_definitions)


def _check_writable(path: Path) -> Finding:
    """Return a finding about write permission to the file and its folder, since SQLite writes to both."""
    unwritable = [str(item) for item in (path.parent, path) if item.exists() and not os.access(item, os.W_OK)]
    if sys.platform != "win32" and os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return failure("writing", "read_only_disk", f"the disk of {path.parent} is read-only", "mount it for writing")
    if unwritable:
        problem = f"this user may not write to {' and '.join(unwritable)}"
        return failure("writing", "not_writable", problem, "run commands as the owner")
    return healthy("writing", f"{path.parent} is writable")


def _check_permissions(path: Path) -> Finding:
    if sys.platform == "win32":
        return healthy("permissions", f"the access rights of {path.parent} decide who can open the files")
    tickets = Path(f"{path}-tickets")
    journal = Path(f"{tickets}-journal")
    paths = [path, *sidecar_files(path), tickets, journal, Path(f"{tickets}.lock")]
    stats = {item: item.stat() for item in paths if item.exists()}
    owner = stats[path].st_uid
    open_to_all = [str(item) for item, status in stats.items() if status.st_mode & NON_OWNER_BITS]
    other_owner = [str(item) for item, status in stats.items() if status.st_uid != owner]
    folder = path.parent.stat().st_mode
    if open_to_all:
        problem = f"other users can open {', '.join(open_to_all)}"
        return failure("permissions", "open_to_others", problem, f"chmod 600 {' '.join(open_to_all)}")
    if other_owner:
        advice = f"give them to user {owner}, who owns the database; a .lock may be removed while no server runs"
        return failure("permissions", "other_owner", f"another user owns {', '.join(other_owner)}", advice)
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        problem = f"every user can write to {path.parent}"
        return warning("permissions", "open_folder", problem, f"chmod o-w {path.parent}")
    if owner != os.geteuid():
        problem = f"only user {owner} can open the files, but this is user {os.geteuid()}"
        return warning("permissions", "not_owner", problem, "run commands as that user, like the server")
    return healthy("permissions", f"{len(stats)} files, which only their owner can open")


def _check_disk_space(path: Path) -> Finding:
    """Return a finding about free disk space: a rewrite needs space for a second file."""
    free, size = shutil.disk_usage(path.parent).free, path.stat().st_size
    comparison = f"{_format_bytes(free)} free; the database takes {_format_bytes(size)}"
    if free < size:
        problem = f"{comparison}, and a rewrite needs as much again"
        advice = f"free disk space: without a rewrite, the file reveals the order of reports ({DOCS})"
        return failure("disk", "too_little", problem, advice)
    if free < max(2 * size, MIN_FREE_BYTES):
        advice = "free disk space soon: a rewrite needs as much space as the database takes"
        return warning("disk", "little", comparison, advice)
    return healthy("disk", comparison)


def _format_bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
