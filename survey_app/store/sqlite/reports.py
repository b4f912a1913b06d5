"""Reports in the SQLite store: the hot path."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from survey_app.store.records import Hold, Outcome, Published, Submission, refusal_of
from survey_app.store.sql.dialect import total_of
from survey_app.store.sql.state_queries import States, together
from survey_app.store.sql.survey_rows import SELECT, published_from
from survey_app.store.sqlite import tally_table
from survey_app.store.sqlite.rewrite import Tidying, disturb
from survey_app.store.tally_row import HIDDEN, hidden_ids, tally_of
from survey_app.tally import Bits, Tally, add_bits, rows_at_once, rows_of

CHUNK = 20_000


class Reports(States, Tidying):
    """What respondents send."""

    HOLDS = "instr(definition, ?) > 0"

    def _insert(self, connection: Any, query: str, values: Sequence[Any]) -> int:
        return int(connection.execute(query, values).lastrowid)

    def _begin(self, connection: Any, key: int, width: int) -> None:
        tally_table.begin(connection, key, width)

    def _finish(self, connection: Any, keys: Sequence[int]) -> None:
        tally_table.finish(connection, keys)

    def _reveal(self, connection: Any, keys: Sequence[int]) -> None:
        tally_table.reveal(connection, keys)

    def _drop(self, connection: Any, keys: Sequence[int]) -> None:
        for table in ("reports", "tallies"):
            connection.executemany(f"delete from {table} where survey = ?", [(key,) for key in keys])

    def _mark(self, connection: Any) -> None:
        disturb(connection)

    def warnings(self) -> list[str]:
        """What around the file keeps what it erases: nothing that could be seen from here."""
        return []

    def bits_of(self, submission: Submission) -> bytes | None:
        """The stored bits of the report with the same id; None if there is none."""
        row = self._one("select bits from reports where survey = ? and id = ?", submission.survey, submission.id)
        return row and bytes(row[0])

    def write(self, take: Callable[[], Sequence[Submission]], *, batch: bool = False) -> list[Outcome]:
        """Store what `take` gives once the lock is held, in one transaction; on return it is on disk.

        With `batch` they did not come one by one, and wait in a queue of their own until they are shown.
        Unavailable means that nothing was stored. Whatever arrived while others held the lock shares one fsync.
        """
        outcomes: list[Outcome] = []
        with self._transaction() as connection:
            surveys: dict[int, _SurveyWrite] = {}
            quotas: dict[int, _Quota] = {}
            moment = self.clock()
            submissions = take()
            for key in {submission.survey for submission in submissions}:
                surveys[key] = _SurveyWrite.open(self._close_by_date, connection, key, moment, quotas)
            if len(surveys) == 1 and surveys[submissions[0].survey].take_all(connection, submissions):
                outcomes = [Outcome.STORED] * len(submissions)
            else:
                outcomes = [surveys[submission.survey].take(connection, submission) for submission in submissions]
            for key, taken in surveys.items():
                if taken.rows:
                    tally_table.grow(connection, key, taken.rows, batch=batch, hold=taken.hold)
                    disturb(connection)
            for quota in quotas.values():
                if quota.left <= 0:
                    self._end(connection, quota.keys)
        return outcomes

    def snapshot(self, published: Published) -> Tally:
        """The tally that may be shown: the last step. Neither clock nor terms are asked."""
        row = self._one("select shown, shown_counts from tallies where survey = ?", published.key)
        if row is None:  # deleted meanwhile
            return Tally.empty(published.survey)
        return tally_of([row])

    @contextmanager
    def shown(self, published: Published) -> Iterator[tuple[Tally, Iterator[Bits]]]:
        """The snapshot and the packed bits behind it, some thousands of reports at a time, both of one moment.

        Pending reports are left out: a cross-tab or an export must not show what the results do not show.
        """
        with closing(self._open()) as connection:
            connection.execute("begin")
            row = connection.execute(f"select {HIDDEN} from tallies where survey = ?", (published.key,)).fetchone()
            hidden = hidden_ids([row]) if row else None
            if hidden is None:  # nothing is shown, or it was deleted meanwhile
                yield Tally.empty(published.survey), iter(())
            else:
                yield tally_of([row[:2]]), _rows(connection, published, hidden)

    def recount(self, published: Published, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """The tally as it is kept, and as a recount of all reports finds it, at one moment; for the operator alone."""
        connection = self._connection
        connection.execute("begin")
        try:
            row = connection.execute("select total, counts from tallies where survey = ?", (published.key,)).fetchone()
            cursor = connection.execute("select bits from reports where survey = ?", (published.key,))
            counts, reports = np.zeros(published.survey.width, dtype=np.int64), 0
            most = rows_at_once(published.survey, CHUNK)
            while rows := [bits for (bits,) in cursor.fetchmany(most)]:
                add_bits(counts, rows_of(rows))
                reports += len(rows)
                progress(len(rows))
        finally:
            connection.execute("rollback")
        return tally_of([row]), Tally(reports, counts)


def _rows(connection: sqlite3.Connection, published: Published, hidden: frozenset[bytes]) -> Iterator[Bits]:
    cursor = connection.execute("select id, bits from reports where survey = ?", (published.key,))
    most = rows_at_once(published.survey, CHUNK)
    while rows := cursor.fetchmany(most):
        if shown := [bits for id, bits in rows if id not in hidden]:
            yield rows_of(shown)


@dataclass
class _Quota:
    """How many reports a survey still wants, or all groups of a study together."""

    keys: list[int]
    left: int


@dataclass
class _SurveyWrite:
    """One survey during one transaction: why it takes nothing, how many it wants, and the reports that came in."""

    refusal: Outcome | None = None
    quota: _Quota | None = None
    hold: Hold = Hold.NONE
    rows: list[Submission] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        end: Callable[[sqlite3.Connection, list[int], datetime], None],
        connection: sqlite3.Connection,
        key: int,
        moment: datetime,
        quotas: dict[int, _Quota],
    ) -> "_SurveyWrite":
        row = connection.execute(f"{SELECT} where key = ?", (key,)).fetchone()
        if row is None:  # deleted meanwhile
            return cls(Outcome.CLOSED)
        published = published_from(row)
        if published.is_due(moment):
            end(connection, together(connection, key), moment)
            return cls(Outcome.CLOSED)
        if refusal := refusal_of(published, moment):
            return cls(refusal)
        most = published.terms.max_reports
        if most is None:
            return cls(hold=published.hold)
        keys = together(connection, key)
        quota = quotas.setdefault(keys[0], _Quota(keys, most - total_of(connection, keys)))
        return cls(quota=quota, hold=published.hold)

    def take_all(self, connection: sqlite3.Connection, submissions: Sequence[Submission]) -> bool:
        """Store all at once, if all are new and nothing about any of them has to be looked up."""
        if self.refusal or (self.quota and self.quota.left < len(submissions)):
            return False
        connection.execute("savepoint all_at_once")
        before = connection.total_changes
        rows = map(tuple, submissions)  # sqlite3 is slower with named ones
        connection.executemany("insert or ignore into reports values (?, ?, ?)", rows)
        if connection.total_changes - before < len(submissions):
            connection.execute("rollback to all_at_once")
            return False
        self._keep(submissions)
        return True

    def take(self, connection: sqlite3.Connection, submission: Submission) -> Outcome:
        """Store one, or tell why not."""
        key = (submission.survey, submission.id)
        known = connection.execute("select bits from reports where survey = ? and id = ?", key).fetchone()
        if known is not None:
            return Outcome.ALREADY_STORED if known[0] == submission.bits else Outcome.ID_TAKEN
        if self.refusal:
            return self.refusal
        if self.quota and self.quota.left <= 0:
            return Outcome.FULL
        connection.execute("insert into reports values (?, ?, ?)", (*key, submission.bits))
        self._keep([submission])
        return Outcome.STORED

    def _keep(self, submissions: Sequence[Submission]) -> None:
        self.rows.extend(submissions)
        if self.quota:
            self.quota.left -= len(submissions)
