"""Rewriting PostgreSQL tables, so that they reveal no order of arrival: reports are written in the order of their ids.

A heap stores rows in the order of arrival, and `xmin` names the transaction of each row. An updated or deleted row
remains until its page is rewritten; the difference of two old tallies is a single report. CLUSTER and VACUUM FULL keep
`xmin`, so the reports are copied into a new table, which replaces the old one.

Servers can store reports during the copy. Only the exchange of the tables waits for writers to this survey, and it
fails if one of them stored a report in the meantime. Then the copy is repeated while writers wait, if it takes less
than a second. Larger surveys wait for a quiet moment, or for their closing. Small tables are emptied and filled in one
transaction.

A survey needs a rewrite if it has more reports than at its last rewrite. No process has to record that, so any server
can finish the rewrites of a killed one.
"""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import psycopg

from survey_app.store.postgres.database import (
    CONNECTION_ERRORS,
    SCHEMA_HASH,
    TIDY,
    WAIT_SECONDS,
    Database,
    Session,
    transaction,
)
from survey_app.store.postgres.schema import REPORT_COLUMNS, reports_table
from survey_app.store.records import Unavailable
from survey_app.store.rewrite_schedule import rest_seconds

PAUSE = 1.0  # seconds that writers to one survey may wait
PATIENCE = {False: "100ms", True: f"{PAUSE:g}s"}  # for current readers
SMALL_TABLES = ("surveys", "users", "tokens", "drafts", "audit", "actors", "shares", "links")
SELECT_UNSORTED = (  # surveys with reports that came after their last rewrite, and their number of reports at that time
    "select s.key, coalesce(t.total, 0) from surveys s left join tidied t on t.survey = s.key"
    " where coalesce(t.total, 0) != (select sum(total) from tallies where survey = s.key)"
)
SELECT_ORPHANS = (  # tables of deleted surveys
    "select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
    " and relname ~ '^reports_[0-9]+$' and substr(relname, 9)::bigint not in (select key from surveys)"
)


class Rewriter(Database):
    """The rewrites of a PostgreSQL database, which leave no order of arrival on disk."""

    @property
    def needs_rewrite(self) -> bool:
        """Whether order of arrival or deleted rows are readable on disk, whichever process left them."""
        try:
            queries = (SELECT_UNSORTED, SELECT_ORPHANS, "select value from settings where name = 'untidy'")
            rows = [tuple(row) for query in queries for row in self._fetch_all(query)]
        except Unavailable:
            return True
        return self._disorder.observe(rows or None)

    def needs_rewrite_for(self, seconds: float) -> bool:
        """Return whether this process has seen the same disorder for so many seconds, whatever the reason."""
        return self.needs_rewrite and self._disorder.age >= seconds

    @property
    def rewrite_failing_since(self) -> datetime | None:
        """The day since which rewriting fails, or None if the last rewrite succeeded."""
        row = self._fetch_one("select value from settings where name = 'untidy_since'")
        return _start_of_day(datetime.fromisoformat(bytes(row[0]).decode())) if row else None

    def _mark_for_rewrite(self, connection: Any) -> None:
        mark = (secrets.token_bytes(8),)
        connection.execute("insert into settings values ('untidy', ?) on conflict do nothing", mark)

    def tidy(self, *, now: bool = False) -> bool:
        """Rewrite the tables that need it, so that they reveal no order of arrival; return whether that is achieved.

        Return False if others are reading, writing or rewriting, or if the last rewrite was too recent. The rest
        between two rewrites is fifty times the length of a rewrite, and at most a minute. `now` skips that rest.
        """
        start = time.monotonic()
        if start < self._rest_until and not now:
            return False
        success = False
        with suppress(Unavailable), self._pooled_connection() as raw, hold_rewrite_lock(raw, now) as is_locked:
            if not is_locked:
                return False
            start = time.monotonic()  # waiting for others is not counted
            session = Session(raw)
            try:
                success = self._tidy(session)
            except CONNECTION_ERRORS:
                if raw.broken:
                    raise
            self._record_result(session, success)
        self._rest_until = time.monotonic() + rest_seconds(time.monotonic() - start)
        return success

    def _tidy(self, session: Session) -> bool:
        marked = session.execute("delete from settings where name = 'untidy' returning 1").fetchone()
        behind = session.execute(SELECT_UNSORTED).fetchall()
        if not (marked or behind or session.execute(SELECT_ORPHANS).fetchone()):
            return True
        try:
            for (table,) in session.execute(SELECT_ORPHANS).fetchall():
                session.execute(f"drop table {table}")
            totals = {key: _rewrite_reports(session, key) for key, _ in behind}
            _rewrite_tallies(session, {key: total for key, total in totals.items() if total is not None})
            for table in SMALL_TABLES if marked else ():
                with transaction(session.raw):
                    _rewrite(session, table)
        except BaseException:
            if marked and not session.raw.broken:
                self._mark_for_rewrite(session)
            raise
        for command in ("select pg_switch_wal()", "checkpoint"):  # limits how long the WAL keeps its contents
            with suppress(psycopg.errors.InsufficientPrivilege):
                session.execute(command)
        return None not in totals.values()

    def _record_result(self, session: Session, done: bool) -> None:
        if done:
            session.execute("delete from settings where name = 'untidy_since'")
        else:
            day = _start_of_day(self.clock()).isoformat().encode()  # a moment would reveal when a report came
            session.execute("insert into settings values ('untidy_since', ?) on conflict do nothing", (day,))


@contextmanager
def hold_rewrite_lock(raw: "psycopg.Connection[Any]", now: bool) -> Iterator[bool]:
    """Limit how long a connection waits for readers, and hold the lock for rewrites; yield whether it was acquired.

    With `now`, wait for the lock.
    """
    raw.execute(f"set lock_timeout = '{PATIENCE[now]}'".encode())
    try:
        query = f"select {'pg_advisory_lock' if now else 'pg_try_advisory_lock'}(%s, {SCHEMA_HASH})"
        is_locked = raw.execute(query.encode(), (TIDY,)).fetchone() not in (None, (False,))
        try:
            yield is_locked
        finally:
            if is_locked and not raw.broken:
                raw.execute(f"select pg_advisory_unlock(%s, {SCHEMA_HASH})".encode(), (TIDY,))
    finally:
        if not raw.broken:
            raw.execute(f"set lock_timeout = '{WAIT_SECONDS:g}s'".encode())


def _rewrite_reports(session: Session, key: int) -> int | None:
    """Rewrite the reports of a survey in the order of their ids.

    Return their number, or None if others stored reports in the meantime.
    """
    start = time.monotonic()
    total = _swap_table(session, key, alone=False)
    if total is None and time.monotonic() - start < PAUSE:
        total = _swap_table(session, key, alone=True)
    return total


def _swap_table(session: Session, key: int, *, alone: bool) -> int | None:
    old, new = reports_table(key), f"{reports_table(key)}_new"
    lock = f"lock table {old} in access exclusive mode"
    with suppress(psycopg.errors.UndefinedTable, _ConcurrentWrite), transaction(session.raw):
        if alone:
            session.execute(lock)
        session.execute(f"create table {new} {REPORT_COLUMNS}")
        count = session.execute(f"insert into {new} select id, bits from {old} order by id").rowcount
        session.execute(lock)
        total: int = session.execute("select sum(total) from tallies where survey = ?", (key,)).fetchone()[0]
        if count != total:
            raise _ConcurrentWrite
        session.execute(f"drop table {old}")
        session.execute(f"alter table {new} rename to {old}")
        session.execute(f"alter index {new}_pkey rename to {old}_pkey")
        return total
    return None


def _rewrite_tallies(session: Session, totals: Mapping[int, int]) -> None:
    with transaction(session.raw):
        _rewrite(session, "tallies")
        session.executemany("delete from tidied where survey = ?", [(key,) for key in totals])
        session.executemany("insert into tidied values (?, ?)", list(totals.items()))
        _rewrite(session, "tidied")


def _rewrite(session: Session, table: str) -> None:
    """Empty a small table and fill it in the order of its keys, so that no old row remains in its file."""
    session.execute(f"lock table {table} in access exclusive mode")
    session.execute(f"create temporary table rewritten on commit drop as select * from {table}")
    session.execute(f"truncate {table}")
    session.execute(f"insert into {table} select * from rewritten order by 1, 2")
    session.execute("drop table rewritten")


def _start_of_day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


class _ConcurrentWrite(Exception):
    """Reports were stored while their table was rewritten."""
