"""Reports and tallies in the SQLite store: the hot path."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime

import numpy as np

from client.report import ID_BYTES
from survey_app.store.records import STEP, Outcome, Published, State, Submission, now
from survey_app.store.sqlite.database import Database
from survey_app.store.sqlite.surveys import SELECT, SHOW_ALL, published_from
from survey_app.tally import Bits, Counts, Tally, add_bits, rows_of

CHUNK = 20_000


class Reports(Database):
    """What respondents send."""

    def current(self, slug: str) -> tuple[int, str] | None:
        """Key and digest of the newest version of a slug that was opened."""
        query = "select key, digest from surveys where slug = ? and state != 'ready' order by version desc limit 1"
        row = self._one(query, slug)
        return row and (row[0], row[1])

    def bits_of(self, submission: Submission) -> bytes | None:
        """The stored bits of the report with the same id; None if there is none."""
        row = self._one("select bits from reports where survey = ? and id = ?", submission.survey, submission.id)
        return row and bytes(row[0])

    def write(self, take: Callable[[], Sequence[Submission]]) -> list[Outcome]:
        """Store what `take` gives once the lock is held, in one transaction; on return it is on disk.

        Unavailable means that nothing was stored. Whatever arrived while others held the lock shares one fsync.
        """
        outcomes: list[Outcome] = []
        with self._transaction() as connection:
            surveys: dict[int, _SurveyWrite] = {}
            moment = now()
            submissions = take()
            for key in {submission.survey for submission in submissions}:
                surveys[key] = _SurveyWrite.open(connection, key, moment)
            if len(surveys) == 1 and surveys[submissions[0].survey].take_all(connection, submissions):
                outcomes = [Outcome.STORED] * len(submissions)
            else:
                outcomes = [surveys[submission.survey].take(connection, submission) for submission in submissions]
            for key, taken in surveys.items():
                taken.close(connection, key)
        self.untidy = True
        return outcomes

    def snapshot(self, published: Published) -> Tally:
        """The tally that may be shown: the last step of twenty, or everything after closing."""
        row = self._one("select reports, counts, shown, shown_counts from tallies where survey = ?", published.key)
        if row is None:  # deleted meanwhile
            return Tally.empty(published.survey)
        if published.at(now()) is State.CLOSED:
            return Tally(row[0], _counts(row[1]))
        return Tally(row[2], _counts(row[3]))

    def scan(self, published: Published) -> Iterator[Bits]:
        """The packed bits behind the snapshot, some thousands of reports at a time, as they were at one moment.

        Reports that came after the last step are left out: a cross-tab or an export must not show what the results
        do not show yet.
        """
        key = (published.key,)
        with closing(self._open()) as connection:
            connection.execute("begin")
            row = connection.execute("select pending from tallies where survey = ?", key).fetchone()
            hidden = set() if row is None or published.at(now()) is State.CLOSED else set(_ids(row[0]))
            cursor = connection.execute("select id, bits from reports where survey = ?", key)
            while rows := cursor.fetchmany(CHUNK):
                if shown := [bits for id, bits in rows if id not in hidden]:
                    yield rows_of(shown)

    def recount(self, published: Published, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """The tally as it is kept, and as a recount of all reports finds it, at one moment; for the operator alone."""
        connection = self._connection
        connection.execute("begin")
        try:
            row = connection.execute(
                "select reports, counts from tallies where survey = ?", (published.key,)
            ).fetchone()
            cursor = connection.execute("select bits from reports where survey = ?", (published.key,))
            counts, reports = np.zeros(published.survey.width, dtype=np.int64), 0
            while rows := [bits for (bits,) in cursor.fetchmany(CHUNK)]:
                add_bits(counts, rows_of(rows))
                reports += len(rows)
                progress(len(rows))
        finally:
            connection.execute("rollback")
        return Tally(row[0], _counts(row[1])), Tally(reports, counts)


class _SurveyWrite:
    """One survey during one transaction: its state, its tally, and the reports that came in."""

    def __init__(self, width: int, reports: int, closed: Outcome | None, most: int | None, invited: bool) -> None:
        self.width, self.reports, self.closed, self.most, self.invited = width, reports, closed, most, invited
        self.rows: list[Submission] = []

    @classmethod
    def open(cls, connection: sqlite3.Connection, key: int, moment: datetime) -> "_SurveyWrite":
        row = connection.execute(f"{SELECT} where key = ?", (key,)).fetchone()
        published = published_from(row)
        if published is None:
            return cls(0, 0, Outcome.CLOSED, None, False)
        state = published.at(moment)
        closed = {State.CLOSED: Outcome.CLOSED, State.READY: Outcome.NOT_OPEN}.get(state)
        reports = connection.execute("select reports from tallies where survey = ?", (key,)).fetchone()[0]
        return cls(published.survey.width, reports, closed, published.terms.max_reports, published.invited)

    def take_all(self, connection: sqlite3.Connection, submissions: Sequence[Submission]) -> bool:
        """Store all at once, if all are new and nothing about any of them has to be looked up."""
        full = self.most is not None and self.reports + len(submissions) > self.most
        if self.closed or self.invited or full:
            return False
        connection.execute("savepoint all_at_once")
        before = connection.total_changes
        rows = [(submission.survey, submission.id, submission.bits) for submission in submissions]
        connection.executemany("insert or ignore into reports values (?, ?, ?)", rows)
        if connection.total_changes - before < len(rows):
            connection.execute("rollback to all_at_once")
            return False
        self.rows.extend(submissions)
        return True

    def take(self, connection: sqlite3.Connection, submission: Submission) -> Outcome:
        """Store one, or tell why not."""
        key = (submission.survey, submission.id)
        known = connection.execute("select bits from reports where survey = ? and id = ?", key).fetchone()
        if known is not None:
            return Outcome.ALREADY_STORED if known[0] == submission.bits else Outcome.ID_TAKEN
        if self.closed:
            return self.closed
        if self.most is not None and self.reports + len(self.rows) >= self.most:
            return Outcome.FULL
        if self.invited:
            refusal = self._redeem(connection, submission)
            if refusal:
                return refusal
        connection.execute("insert into reports values (?, ?, ?)", (*key, submission.bits))
        self.rows.append(submission)
        return Outcome.STORED

    def _redeem(self, connection: sqlite3.Connection, submission: Submission) -> Outcome | None:
        """Mark an invitation as used, in one row for all of them: rows of their own would lie in the order of use."""
        code = (submission.survey, submission.invitation)
        row = connection.execute("select place from invitations where survey = ? and hash = ?", code).fetchone()
        if row is None:
            return Outcome.NOT_INVITED
        key = (submission.survey,)
        used = bytearray(connection.execute("select used from redeemed where survey = ?", key).fetchone()[0])
        if used[row[0]]:
            return Outcome.ALREADY_USED
        used[row[0]] = 1
        connection.execute("update redeemed set used = ? where survey = ?", (bytes(used), *key))
        return None

    def close(self, connection: sqlite3.Connection, key: int) -> None:
        """Add what came in to the tally, and let the snapshot take its step."""
        if not self.rows:
            return
        row = connection.execute(
            "select reports, counts, shown, pending from tallies where survey = ?", (key,)
        ).fetchone()
        counts = _counts(row[1])
        add_bits(counts, rows_of([submission.bits for submission in self.rows]))
        reports = row[0] + len(self.rows)
        step = reports - row[2] >= STEP or reports == self.most
        pending = b"" if step else b"".join(sorted([*_ids(row[3]), *(submission.id for submission in self.rows)]))
        connection.execute(
            "update tallies set reports = ?, counts = ?, pending = ? where survey = ?",
            (reports, counts.tobytes(), pending, key),
        )
        if step:
            connection.execute(f"{SHOW_ALL} where survey = ?", (key,))


def _ids(blob: bytes) -> list[bytes]:
    return [blob[i : i + ID_BYTES] for i in range(0, len(blob), ID_BYTES)]


def _counts(blob: bytes) -> Counts:
    return np.frombuffer(blob, dtype=np.int64).copy()
