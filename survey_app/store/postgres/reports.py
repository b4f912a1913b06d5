"""Reports in the PostgreSQL store: the hot path.

Servers store side by side, each in its own shard of the tallies. Ids go in sorted, so that two servers that bring the
same ones never wait for each other in a circle. A quota is counted under a lock of its own, so that it is exact over
all servers; whoever finds it reached, or a date passed, closes the survey in a transaction after this one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import psycopg

from candor_client.report import ID_BYTES
from survey_app.store.postgres.database import QUOTA, Database, Session, all_or_nothing
from survey_app.store.postgres.schema import REPORTS, reports
from survey_app.store.records import Hold, Outcome, Published, Submission, Unavailable, refusal_of
from survey_app.store.sql.dialect import total_of
from survey_app.store.sql.state_queries import States, together
from survey_app.store.sql.survey_rows import SELECT, published_from
from survey_app.store.tally_row import COLUMNS, HIDDEN, MARKS, BitsOf, Row, hidden_ids, merged, tally_of
from survey_app.tally import Bits, Tally, add_bits, rows_at_once, rows_of

CHUNK = 20_000
COPIED = 256  # rows: from here on COPY is faster than an insert
READ = "begin isolation level repeatable read, read only"
COPY_HEAD, COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
INSERT_TALLY = f"insert into tallies (survey, shard, {COLUMNS}, final) values (?, ?, {MARKS}, ?)"


class Reports(States, Database):
    """What respondents send."""

    # for the transactions that administer

    def _begin(self, connection: Any, key: int, width: int) -> None:
        connection.execute(f"create table {reports(key)} {REPORTS}")
        connection.execute(INSERT_TALLY, (key, 0, *Row.empty(width), 0))

    def _finish(self, connection: Any, keys: Sequence[int]) -> None:
        """What all shards have pending is counted together; afterwards there is one row."""
        for key in keys:
            query = (
                f"select hold, {COLUMNS} from tallies join surveys on key = survey where survey = ? and final = 0"
                " order by shard"
            )
            if rows := connection.execute(query, (key,)).fetchall():
                row = merged([Row(*row[1:]) for row in rows])
                row = row if rows[0][0] else row.finished(_bits_of(connection, key))
                self._put_tally(connection, key, row)

    def _reveal(self, connection: Any, keys: Sequence[int]) -> None:
        for key in keys:
            rows = connection.execute(f"select {COLUMNS} from tallies where survey = ? order by shard", (key,))
            self._put_tally(connection, key, merged([Row(*row) for row in rows.fetchall()]).revealed())

    def _put_tally(self, connection: Any, key: int, row: Row) -> None:
        """Keep one final row in the place of all shards."""
        connection.execute("delete from tallies where survey = ?", (key,))
        connection.execute(INSERT_TALLY, (key, 0, *row, 1))
        self._mark(connection)

    def _drop(self, connection: Any, keys: Sequence[int]) -> None:
        """The tables of reports are dropped when somebody tidies up: whoever reads one is not to stop all others."""
        connection.executemany("delete from tallies where survey = ?", [(key,) for key in keys])
        connection.executemany("delete from tidied where survey = ?", [(key,) for key in keys])
        self._mark(connection)

    # collecting

    def bits_of(self, submission: Submission) -> bytes | None:
        """The stored bits of the report with the same id; None if there is none."""
        try:
            row = self._one(f"select bits from {reports(submission.survey)} where id = ?", submission.id)
        except psycopg.errors.UndefinedTable:  # deleted meanwhile
            return None
        return row and bytes(row[0])

    def write(self, take: Callable[[], Sequence[Submission]], *, batch: bool = False) -> list[Outcome]:
        """Store what `take` gives once the lock is held, in one transaction; on return it is on disk.

        With `batch` they did not come one by one, and wait in a queue of their own until they are shown.
        Unavailable means that nothing was acknowledged. Whatever arrived meanwhile shares one commit.
        """
        with self._collecting() as (session, shard):
            moment = self.clock()
            submissions = take()
            arrived: dict[int, list[Submission]] = defaultdict(list)
            for one in submissions:
                arrived[one.survey].append(one)
            surveys = _open(session, sorted(arrived), moment)
            for key, survey in surveys.items():
                survey.look(session, key, arrived[key])
            if any(survey.quota for survey in surveys.values()):
                for one in submissions:  # in the order in which they came, over all groups
                    surveys[one.survey].take(one)
            for key, survey in sorted(surveys.items()):
                survey.store(session, key)
            for key, survey in sorted(surveys.items()):
                if survey.stored:
                    _grow(session, key, shard, list(survey.stored.values()), batch=batch, hold=survey.hold)
        if sum(len(survey.stored) for survey in surveys.values()) == len(submissions):
            outcomes = [Outcome.STORED] * len(submissions)
        else:
            outcomes = [surveys[one.survey].outcome(one) for one in submissions]
        with suppress(Unavailable):  # what is stored is stored; the next who comes closes it
            for keys in {tuple(one.quota.keys) for one in surveys.values() if one.quota and one.quota.left <= 0}:
                with self._transaction() as connection:
                    self._settle(connection, keys, moment)
            if any(survey.due for survey in surveys.values()):
                self.expire()
        return outcomes

    # reading

    def snapshot(self, published: Published) -> Tally:
        """The tally that may be shown: the last step of every shard. Neither clock nor terms are asked."""
        rows = self._all("select shown, shown_counts from tallies where survey = ?", published.key)
        return tally_of(rows) if rows else Tally.empty(published.survey)

    @contextmanager
    def shown(self, published: Published) -> Iterator[tuple[Tally, Iterator[Bits]]]:
        """The snapshot and the packed bits behind it, some thousands of reports at a time, both of one moment.

        Pending reports are left out: a cross-tab or an export must not show what the results do not show.
        """
        with self._moment(published.key) as session:
            query = f"select {HIDDEN} from tallies where survey = ?"
            rows = session.execute(query, (published.key,)).fetchall() if session else []
            hidden = hidden_ids(rows)
            if session is None or hidden is None:  # nothing is shown, or it was deleted meanwhile
                yield Tally.empty(published.survey), iter(())
            else:
                yield tally_of([row[:2] for row in rows]), _rows(session, published, hidden)

    def recount(self, published: Published, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """The tally as it is kept, and as a recount of all reports finds it, at one moment; for the operator alone."""
        counts, count = np.zeros(published.survey.width, dtype=np.int64), 0
        with self._moment(published.key) as session:
            if session is None:
                return Tally.empty(published.survey), Tally.empty(published.survey)
            rows = session.execute("select total, counts from tallies where survey = ?", (published.key,)).fetchall()
            for bits in _rows(session, published, frozenset()):
                add_bits(counts, bits)
                count += len(bits)
                progress(len(bits))
        return tally_of(rows), Tally(count, counts)

    @contextmanager
    def _moment(self, key: int) -> Iterator[Session | None]:
        """One moment of a survey; None if it is gone.

        The tables are locked (against being rewritten) before the moment is chosen: in one that was rewritten after
        it, nothing would be seen.
        """
        with self._borrowed() as raw, all_or_nothing(raw, READ) as session:
            try:
                session.execute(f"lock table tallies, {reports(key)} in access share mode")
            except psycopg.errors.UndefinedTable:
                session.execute("rollback")
                yield None
            else:
                yield session


@dataclass
class _Quota:
    """How many reports a survey still wants, or all groups of a study together."""

    keys: list[int]
    left: int


@dataclass
class _Survey:
    """One survey during one transaction: why it takes nothing, how many it wants, and what became of the reports."""

    refusal: Outcome | None = None
    due: bool = False
    quota: _Quota | None = None
    hold: Hold = Hold.NONE
    there: bool = True
    stored: dict[bytes, Submission] = field(default_factory=dict)
    known: dict[bytes, bytes] = field(default_factory=dict)
    told: set[bytes] = field(default_factory=set)

    def look(self, session: Session, key: int, arrived: Sequence[Submission]) -> None:
        """Find out which are known, where that decides whether another one is taken; else take them all."""
        if self.there and (self.refusal or self.quota):
            self.known = _known(session, key, [one.id for one in arrived])
        elif self.there:
            self.stored = {one.id: one for one in reversed(arrived)}  # of two with one id the first

    def take(self, one: Submission) -> None:
        """Take one that is new, if the survey wants a number of them, and more than it has."""
        if self.quota and self.quota.left > 0 and one.id not in self.stored and one.id not in self.known:
            self.stored[one.id] = one
            self.quota.left -= 1

    def store(self, session: Session, key: int) -> None:
        """Store what was taken; what another server was quicker with is known now."""
        self.stored = {id: self.stored[id] for id in sorted(self.stored)}
        if missed := _insert(session, key, self.stored):
            self.known |= _known(session, key, missed)
            self.stored = {id: one for id, one in self.stored.items() if id not in self.known}

    def outcome(self, one: Submission) -> Outcome:
        """What became of a report, told in the order in which they came: of two with one id the first is stored."""
        stored = self.stored.get(one.id)
        if stored is not None and one.id not in self.told:
            self.told.add(one.id)
            return Outcome.STORED
        known = stored.bits if stored is not None else self.known.get(one.id)
        if known is None:
            return self.refusal or Outcome.FULL
        return Outcome.ALREADY_STORED if known == one.bits else Outcome.ID_TAKEN


def _open(session: Session, keys: Sequence[int], moment: datetime) -> dict[int, _Survey]:
    found = {row[0]: published_from(row) for row in session.execute(f"{SELECT} where key = any(?)", (keys,)).fetchall()}
    surveys: dict[int, _Survey] = {}
    limited: dict[int, tuple[int, list[int]]] = {}
    for key in keys:
        published = found.get(key)
        if published is None:  # deleted meanwhile
            surveys[key] = _Survey(Outcome.CLOSED, there=False)
        elif published.is_due(moment):
            surveys[key] = _Survey(Outcome.CLOSED, due=True)
        else:
            surveys[key] = _Survey(refusal_of(published, moment), hold=published.hold)
            if published.terms.max_reports is not None and surveys[key].refusal is None:
                limited[key] = published.terms.max_reports, together(session, key)
    quotas: dict[int, _Quota] = {}
    for key, (most, groups) in sorted(limited.items(), key=lambda one: one[1][1][0]):
        if groups[0] not in quotas:
            session.execute("select pg_advisory_xact_lock(?, ?)", (QUOTA, groups[0]))
            quotas[groups[0]] = _Quota(groups, most - total_of(session, groups))
        surveys[key].quota = quotas[groups[0]]
    return surveys


def _insert(session: Session, key: int, rows: Mapping[bytes, Submission]) -> list[bytes]:
    """Insert reports, sorted by id; the ids that were there already."""
    if not rows:
        return []
    if len(rows) >= COPIED:
        session.execute("savepoint all_at_once")
        try:
            copy_in(session, key, rows_of([one.id + one.bits for one in rows.values()]))
            return []
        except psycopg.errors.UniqueViolation:
            session.execute("rollback to all_at_once")
    values = (list(rows), [one.bits for one in rows.values()])
    made = session.execute(
        f"insert into {reports(key)} select * from unnest(cast(? as bytea[]), cast(? as bytea[]))"
        " on conflict do nothing returning id",
        values,
    ).fetchall()
    stored = {row[0] for row in made}
    return [id for id in rows if id not in stored]


def copy_in(session: Session, key: int, rows: Bits) -> None:
    """COPY reports, each its id and its bits in one row of bytes; UniqueViolation if one is there already."""
    framed = np.zeros((len(rows), rows.shape[1] + 10), dtype=np.uint8)  # 2 fields, and before each its length
    framed[:, 1], framed[:, 5] = 2, ID_BYTES
    framed[:, 6 : 6 + ID_BYTES] = rows[:, :ID_BYTES]
    width = np.frombuffer((rows.shape[1] - ID_BYTES).to_bytes(4, "big"), dtype=np.uint8)
    framed[:, 6 + ID_BYTES : 10 + ID_BYTES] = width
    framed[:, 10 + ID_BYTES :] = rows[:, ID_BYTES:]
    with session.raw.cursor().copy(f"copy {reports(key)} from stdin (format binary)".encode()) as copy:
        copy.write(COPY_HEAD + framed.tobytes() + COPY_END)


def _bits_of(session: Session, key: int) -> BitsOf:
    return lambda ids: _known(session, key, ids).values()


def _known(session: Session, key: int, ids: Sequence[bytes]) -> dict[bytes, bytes]:
    if not ids:
        return {}
    return dict(session.execute(f"select id, bits from {reports(key)} where id = any(?)", (ids,)).fetchall())


def _grow(session: Session, key: int, shard: int, arrived: Sequence[Submission], *, batch: bool, hold: Hold) -> None:
    query = f"select {COLUMNS} from tallies where survey = ? and shard = ? for update"
    found = session.execute(query, (key, shard)).fetchone()
    if found is None:  # the first in this shard
        width = session.execute("select length(counts) / 8 from tallies where survey = ? limit 1", (key,)).fetchone()[0]
        session.execute(f"{INSERT_TALLY} on conflict do nothing", (key, shard, *Row.empty(width), 0))
        found = session.execute(query, (key, shard)).fetchone()
    row = Row(*found).grown(arrived, _bits_of(session, key), batch=batch, hold=hold)
    session.execute(f"update tallies set ({COLUMNS}) = ({MARKS}) where survey = ? and shard = ?", (*row, key, shard))


def _rows(session: Session, published: Published, hidden: frozenset[bytes]) -> Iterator[Bits]:
    """In the order of ids: an export is not to tell the order of the heap."""
    with session.raw.cursor(name="reports", binary=True) as cursor:
        cursor.execute(f"select id, bits from {reports(published.key)} order by id".encode())
        most = rows_at_once(published.survey, CHUNK)
        while rows := cursor.fetchmany(most):
            if shown := [bits for id, bits in rows if id not in hidden]:
                yield rows_of(shown)
