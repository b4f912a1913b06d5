"""Checks of a store in a file: it exists, is undamaged, is private to its owner, and has disk space to be rewritten."""

import os
import shutil
import stat
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


def findings(path: Path, source: str) -> Iterator[Finding]:
    """Yield all findings about the file, without opening it for writing."""
    label = f"{path} ({source})"
    try:
        if path.is_dir():
            yield failure("database", f"{label} is a folder", "name a file in it: sqlite:////folder/candor.db")
            return
        if not path.exists():
            yield from _check_missing_file(path, label)
            return
        if not is_sqlite(path):
            yield failure("database", f"{label} is no SQLite database", "name another one with --db or CANDOR_DB")
            return
    except OSError as error:
        yield failure("database", f"{label}: {error.strerror}", "run candor doctor as the user whose file it is")
        return
    yield from _check_contents(path, label)
    yield _check_writable(path)
    yield _check_permissions(path)
    yield _check_disk_space(path)


def _check_missing_file(path: Path, label: str) -> Iterator[Finding]:
    if path.parent.is_dir():
        yield warning("database", f"there is none at {label}", "candor user add NAME begins one; --db names another")
        yield _check_writable(path)
    else:
        yield failure("database", f"there is no folder for {label}", "name another one with --db or CANDOR_DB")


def _check_contents(path: Path, label: str) -> Iterator[Finding]:
    try:
        state = inspect(path)
    except StoreError as error:
        yield warning("database", f"{label}: {error}", "start the server, then ask again")
        return
    version, wal = state.version, Path(f"{path}-wal")
    if version > VERSION:
        advice = f"use the newer version here, too; this one knows versions up to {VERSION}"
        yield failure("database", f"{label} was made by a newer Candor (version {version})", advice)
    elif 0 < version < EARLIEST_VERSION:
        advice = "keep it with that version, and name a new file for this one (--db)"
        yield failure("database", f"{label} was made by an earlier Candor (version {version})", advice)
    elif 0 < version < VERSION:
        advice = "make a backup; the next command or start brings it up to date"
        yield warning("database", f"{label} is of version {version}, and this Candor's is {VERSION}", advice)
    elif version == 0 and not state.damage and path.stat().st_size:
        yield failure("database", f"{label} is SQLite's, but not Candor's", "name another one with --db or CANDOR_DB")
    else:
        yield healthy("database", f"{label}, version {version or VERSION}")
    if state.damage:
        advice = (
            "stop the server, and restore the last backup into a new file: candor --db sqlite:///new.db restore FILE"
        )
        yield failure("integrity", f"the file is damaged: {state.damage}", advice)
    elif state.is_unfinished_copy:
        yield failure("integrity", "it is an unfinished copy", "run the same candor copy, or restore, once more")
    else:
        yield healthy(
            "integrity", "SQLite's quick check finds nothing wrong", "candor survey check SLUG recounts a survey"
        )
    if state.rewrite_failing_since:
        advice = f"free space, or stop the program reading the file ({DOCS})"
        yield failure(
            "tidiness",
            f"untidy since {state.rewrite_failing_since}: the order of reports may be seen in the file",
            advice,
        )
    elif state.needs_rewrite or (wal.exists() and wal.stat().st_size):
        yield healthy("tidiness", "to be tidied", "a running server does it when it is quiet, or the next start")
    else:
        yield healthy("tidiness", "no order of arrival is left in the file")
    yield from definition_checks.findings(state.running_definitions)


def _check_writable(path: Path) -> Finding:
    """Return a finding about write permission to the file and its folder, since SQLite writes to both."""
    unwritable = [str(item) for item in (path.parent, path) if item.exists() and not os.access(item, os.W_OK)]
    if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return failure("writing", f"{path.parent} is on a disk that is mounted read-only", "mount it for writing")
    if unwritable:
        return failure("writing", f"this account may not write {' and '.join(unwritable)}", "run commands as the owner")
    return healthy("writing", f"{path.parent} can be written")


def _check_permissions(path: Path) -> Finding:
    tickets = Path(f"{path}-tickets")
    journal = Path(f"{tickets}-journal")
    paths = [path, *sidecar_files(path), tickets, journal, Path(f"{tickets}.lock")]
    stats = {item: item.stat() for item in paths if item.exists()}
    owner = stats[path].st_uid
    open_to_all = [str(item) for item, status in stats.items() if status.st_mode & NON_OWNER_BITS]
    other_owner = [str(item) for item, status in stats.items() if status.st_uid != owner]
    folder = path.parent.stat().st_mode
    if open_to_all:
        return failure("permissions", f"others may open {', '.join(open_to_all)}", f"chmod 600 {' '.join(open_to_all)}")
    if other_owner:
        advice = f"give them to user {owner}, who owns the database, or remove a .lock while nobody runs"
        return failure("permissions", f"another user owns {', '.join(other_owner)}", advice)
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        return warning("permissions", f"anybody may write into {path.parent}", f"chmod o-w {path.parent}")
    if owner != os.geteuid():
        advice = "run commands as that user, as the server does"
        return warning("permissions", f"the files are for user {owner} alone, and this is user {os.geteuid()}", advice)
    return healthy("permissions", f"{len(stats)} files, for their owner alone")


def _check_disk_space(path: Path) -> Finding:
    """Return a finding about free disk space: to be tidied, the file is rewritten next to the old one."""
    free, size = shutil.disk_usage(path.parent).free, path.stat().st_size
    comparison = f"{_format_bytes(free)} free beside {_format_bytes(size)}"
    if free < size:
        advice = f"free disk space: without tidying, the file reveals the order of reports ({DOCS})"
        return failure("disk", f"{comparison}: less than to write the database anew", advice)
    if free < max(2 * size, MIN_FREE_BYTES):
        return warning("disk", comparison, "free space soon: tidying needs as much as the database size")
    return healthy("disk", comparison)


def _format_bytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
