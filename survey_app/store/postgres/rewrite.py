"""How PostgreSQL is kept free of order: reports are rewritten in the order of their ids, in one transaction.

A heap keeps rows in the order in which they came, `xmin` says which transaction brought each, and a row that was
changed or deleted stays until its page is rewritten: the tallies of yesterday, one less the other, are single reports.
CLUSTER and VACUUM FULL keep `xmin`, so a table of reports is written anew instead and takes the place of the old one.
That goes on beside collecting; only the exchange waits for those who write to this survey, and it fails if one did
meanwhile. Then it is done again while they wait, if it takes less than a second; larger surveys wait for a quiet
moment, or for their closing. Small tables are emptied and filled in one transaction.

A survey is untidy if it has more reports than when it was rewritten last: nobody has to write that down, so whatever a
killed server left, another one finds.
"""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import psycopg

from survey_app.store.postgres.database import BROKEN, HERE, TIDY, WAIT_SECONDS, Database, Session, all_or_nothing
from survey_app.store.postgres.schema import REPORTS, reports
from survey_app.store.records import Unavailable
from survey_app.store.rewrite_schedule import rest_after

PAUSE = 1.0  # seconds that those who report to one survey may wait
PATIENCE = {False: "100ms", True: f"{PAUSE:g}s"}  # for those who read just now
SMALL = ("surveys", "users", "tokens", "drafts", "audit", "actors", "shares", "links")
BEHIND = (  # surveys that have reports which came after they were rewritten, and how many they had then
    "select s.key, coalesce(t.total, 0) from surveys s left join tidied t on t.survey = s.key"
    " where coalesce(t.total, 0) != (select sum(total) from tallies where survey = s.key)"
)
LEFT_OVER = (  # tables of surveys that were deleted
    "select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace"
    " and relname ~ '^reports_[0-9]+$' and substr(relname, 9)::bigint not in (select key from surveys)"
)


class Tidying(Database):
    """What is at rest, and what it tells."""

    @property
    def untidy(self) -> bool:
        """Whether order, or what was deleted, may still be seen at rest, whoever left it."""
        try:
            queries = (BEHIND, LEFT_OVER, "select value from settings where name = 'untidy'")
            found = [tuple(row) for query in queries for row in self._all(query)]
        except Unavailable:
            return True
        return self._disorder.see(found or None)

    def is_untidy_for(self, seconds: float) -> bool:
        """Tell whether the same disorder was seen from here for so many seconds, whatever the reason."""
        return self.untidy and self._disorder.age >= seconds

    @property
    def untidy_since(self) -> datetime | None:
        """The day since which tidying up fails; None if it did not, the last time."""
        row = self._one("select value from settings where name = 'untidy_since'")
        return _day(datetime.fromisoformat(bytes(row[0]).decode())) if row else None

    def _mark(self, connection: Any) -> None:
        mark = (secrets.token_bytes(8),)
        connection.execute("insert into settings values ('untidy', ?) on conflict do nothing", mark)

    def tidy(self, *, now: bool = False) -> bool:
        """Leave no order of arrival at rest; False if somebody reads, writes or tidies just now, or if the last time
        is too recent: fifty times as long as it works passes between two times, but no more than a minute."""
        begun = time.monotonic()
        if begun < self._rest_until and not now:
            return False
        done = False
        with suppress(Unavailable), self._borrowed() as raw, patient(raw, now) as alone:
            if not alone:
                return False
            begun = time.monotonic()  # waiting for others is no work
            session = Session(raw)
            try:
                done = self._tidy(session)
            except BROKEN:
                if raw.broken:
                    raise
            self._tell(session, done)
        self._rest_until = time.monotonic() + rest_after(time.monotonic() - begun)
        return done

    def _tidy(self, session: Session) -> bool:
        marked = session.execute("delete from settings where name = 'untidy' returning 1").fetchone()
        behind = session.execute(BEHIND).fetchall()
        if not (marked or behind or session.execute(LEFT_OVER).fetchone()):
            return True
        try:
            for (table,) in session.execute(LEFT_OVER).fetchall():
                session.execute(f"drop table {table}")
            totals = {key: _sort(session, key) for key, _ in behind}
            _rewrite_tallies(session, {key: total for key, total in totals.items() if total is not None})
            for table in SMALL if marked else ():
                with all_or_nothing(session.raw):
                    _rewrite(session, table)
        except BaseException:
            if marked and not session.raw.broken:
                self._mark(session)
            raise
        for command in ("select pg_switch_wal()", "checkpoint"):  # what the WAL still has, it has no longer than this
            with suppress(psycopg.errors.InsufficientPrivilege):
                session.execute(command)
        return None not in totals.values()

    def _tell(self, session: Session, done: bool) -> None:
        if done:
            session.execute("delete from settings where name = 'untidy_since'")
        else:
            day = _day(self.clock()).isoformat().encode()  # a moment would tell when a report came
            session.execute("insert into settings values ('untidy_since', ?) on conflict do nothing", (day,))


@contextmanager
def patient(raw: "psycopg.Connection[Any]", now: bool) -> Iterator[bool]:
    """A connection that waits for readers only so long; whether nobody else tidies up meanwhile."""
    raw.execute(f"set lock_timeout = '{PATIENCE[now]}'".encode())
    try:
        alone = f"select {'pg_advisory_lock' if now else 'pg_try_advisory_lock'}(%s, {HERE})"
        held = raw.execute(alone.encode(), (TIDY,)).fetchone() not in (None, (False,))
        try:
            yield held
        finally:
            if held and not raw.broken:
                raw.execute(f"select pg_advisory_unlock(%s, {HERE})".encode(), (TIDY,))
    finally:
        if not raw.broken:
            raw.execute(f"set lock_timeout = '{WAIT_SECONDS:g}s'".encode())


def _sort(session: Session, key: int) -> int | None:
    """Write the reports of a survey anew, by their ids; how many there are, or None if others wrote meanwhile."""
    start = time.monotonic()
    total = _exchange(session, key, alone=False)
    if total is None and time.monotonic() - start < PAUSE:
        total = _exchange(session, key, alone=True)
    return total


def _exchange(session: Session, key: int, *, alone: bool) -> int | None:
    old, new = reports(key), f"{reports(key)}_new"
    lock = f"lock table {old} in access exclusive mode"
    with suppress(psycopg.errors.UndefinedTable, _Overtaken), all_or_nothing(session.raw):
        if alone:
            session.execute(lock)
        session.execute(f"create table {new} {REPORTS}")
        written = session.execute(f"insert into {new} select id, bits from {old} order by id").rowcount
        session.execute(lock)
        total: int = session.execute("select sum(total) from tallies where survey = ?", (key,)).fetchone()[0]
        if written != total:
            raise _Overtaken
        session.execute(f"drop table {old}")
        session.execute(f"alter table {new} rename to {old}")
        session.execute(f"alter index {new}_pkey rename to {old}_pkey")
        return total
    return None


def _rewrite_tallies(session: Session, totals: Mapping[int, int]) -> None:
    with all_or_nothing(session.raw):
        _rewrite(session, "tallies")
        session.executemany("delete from tidied where survey = ?", [(key,) for key in totals])
        session.executemany("insert into tidied values (?, ?)", list(totals.items()))
        _rewrite(session, "tidied")


def _rewrite(session: Session, table: str) -> None:
    """Empty a small table, and fill it in the order of its keys: no row of before is left in its file."""
    session.execute(f"lock table {table} in access exclusive mode")
    session.execute(f"create temporary table rewritten on commit drop as select * from {table}")
    session.execute(f"truncate {table}")
    session.execute(f"insert into {table} select * from rewritten order by 1, 2")
    session.execute("drop table rewritten")


def _day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


class _Overtaken(Exception):
    """Reports came while their table was written anew."""
