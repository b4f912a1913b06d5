"""Copying one store into another, on either database: one moment, in the order of keys, some thousand rows at once.

A copy has accounts, surveys, drafts, shares, links, log and reports, both shown and pending (Steps, rule 5). Small
tables are rewritten at every run. Reports that exist already are left, so a run that was killed is simply repeated. At
the end a digest of every table is compared on both sides, and all reports are recounted. Until then the destination is
an unfinished copy, which no server can use. A backup is a copy in a SQLite file.

No copy has the keys of tickets, the hashes of signed messages, or the key that signs sessions.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from candor_client.definition import Survey
from survey_app.store.file_system import sync_folder
from survey_app.store.records import StoreError
from survey_app.store.sql.contents import TABLES, TALLIES, Contents
from survey_app.store.sql.dialect import Connection
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.database import sidecar_files
from survey_app.store.tally_row import decode_counts
from survey_app.tally import add_bits, stack_reports

Progress = Callable[[int], None]
TABLE_NAMES = (*TABLES, TALLIES)
Digests = dict[str, tuple[int, str]]  # the number of rows and the digest of each table, and of each survey's reports


class _TableDigest:
    def __init__(self) -> None:
        self.count, self._hash = 0, hashlib.sha256()

    def add(self, rows: Iterable[Any]) -> None:
        for row in rows:
            self._hash.update(msgspec.msgpack.encode(row))
            self.count += 1

    def result(self) -> tuple[int, str]:
        return self.count, self._hash.hexdigest()


def copy_store(source: Contents, target: Contents, identity: bytes, progress: Progress = lambda _: None) -> Digests:
    """Copy everything, and return the digests of the copied tables.

    Raise StoreError if the target holds other data, or is not equal at the end.
    """
    with source.read_transaction() as connection:
        if _is_equal(source, connection, target, progress):
            return compute_digests(target, progress)
        target.begin_copy(identity)
        for table in TABLE_NAMES:
            for rows in source.rows(connection, table):
                target.insert_rows(table, rows)
        surveys = _surveys(source, connection)
        target.prepare_reports(list(surveys))
        for survey in surveys:
            after = b""
            for reports in source.reports(connection, survey):
                target.insert_reports(survey, after, reports)
                after = reports[-1][0]
                progress(len(reports))
        expected = _compute_digests(source, connection, progress)
    actual = compute_digests(target, progress)
    if different := sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name)):
        raise StoreError(f"the copy differs from its source in {', '.join(different)}; do not use it")
    target.end_copy()
    return actual


def compute_digests(store: Contents, progress: Progress = lambda _: None) -> Digests:
    """Return the digest of each table in a store, after recounting all reports.

    Raise StoreError if a tally is wrong.
    """
    with store.read_transaction() as connection:
        return _compute_digests(store, connection, progress)


def identity_of(secret: bytes) -> bytes:
    """Return a name for a store in its unfinished copies; it reveals nothing about the store's key."""
    return hashlib.sha256(b"candor copy" + secret).digest()


def backup(store: Contents, identity: bytes, file: Path, progress: Progress = lambda _: None) -> Digests:
    """Copy a store to a new SQLite file, which appears under its name when it is complete."""
    store.tidy(now=True)
    partial = file.with_name(f"{file.name}.partial")
    files = [partial, *sidecar_files(partial)]
    for path in files:
        path.unlink(missing_ok=True)
    target = SqliteStore(partial)
    try:
        target.migrate()
        digests = copy_store(store, target, identity, progress)
        target.close()
        os.replace(partial, file)
        sync_folder(file.parent)
    finally:
        target.close()
        for path in files:
            path.unlink(missing_ok=True)
    return digests


def count_reports(store: Contents) -> int:
    """Return the number of reports in a store."""
    with store.read_transaction() as connection:
        return sum(row[1] for rows in store.rows(connection, TALLIES) for row in rows)


def slugs_with_local_keys(store: Contents) -> list[str]:
    """Return the slugs of running surveys whose tickets are signed with a key of this server.

    No copy has those keys.
    """
    with store.read_transaction() as connection:
        final = {row[0] for rows in store.rows(connection, TALLIES) for row in rows if row[-1]}
        surveys = {key: survey for key, survey in _surveys(store, connection).items() if key not in final}
    return sorted({survey.slug for survey in surveys.values() if survey.tickets and not survey.tickets.issuer})


def _surveys(store: Contents, connection: Connection) -> dict[int, Survey]:
    index = TABLES["surveys"].columns.split(", ").index("definition")
    survey_rows = (row for rows in store.rows(connection, "surveys") for row in rows)
    return {row[0]: Survey.from_stored(bytes(row[index])) for row in survey_rows}


def _is_equal(source: Contents, connection: Connection, target: Contents, progress: Progress) -> bool:
    """Return whether the target is already a complete and equal copy."""
    try:
        target.check_complete()
    except StoreError:
        return False
    with target.read_transaction() as target_connection:
        if not any(True for _ in target.rows(target_connection, "users")):
            return False
        return _compute_digests(source, connection, progress) == _compute_digests(target, target_connection, progress)


def _compute_digests(store: Contents, connection: Connection, progress: Progress) -> Digests:
    digests = {}
    tallies: dict[int, tuple[int, bytes]] = {}
    for table in TABLE_NAMES:
        digest = _TableDigest()
        for rows in store.rows(connection, table):
            digest.add(rows)
            if table == TALLIES:
                tallies |= {row[0]: (row[1], bytes(row[2])) for row in rows}
        digests[table] = digest.result()
    for key, survey in _surveys(store, connection).items():
        digest, counts = _TableDigest(), np.zeros(survey.width, dtype=np.int64)
        for reports in store.reports(connection, key):
            digest.add(reports)
            add_bits(counts, stack_reports([bits for _, bits in reports]))
            progress(len(reports))
        total, stored_counts = tallies[key]
        if total != digest.count or not np.array_equal(counts, decode_counts(stored_counts)):
            raise StoreError(
                f"the tally of {survey.slug} differs from a recount: run candor survey check {survey.slug}"
            )
        digests[f"reports to {survey.slug} {survey.digest[:8]}"] = digest.result()
    return digests
