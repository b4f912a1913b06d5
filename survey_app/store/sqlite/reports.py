"""Reports in the SQLite store: the hot path."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from survey_app.store.records import Hold, Outcome, PublishedSurvey, Submission, refusal_of
from survey_app.store.sql.dialect import total_of
from survey_app.store.sql.state_queries import States, study_keys
from survey_app.store.sql.survey_rows import SELECT, published_from
from survey_app.store.sqlite import tally_table
from survey_app.store.sqlite.rewrite import Rewriter, mark_for_rewrite
from survey_app.store.tally_row import HIDDEN_COLUMNS, hidden_ids, tally_of
from survey_app.tally import Bits, Tally, add_bits, rows_at_once, stack_reports

CHUNK = 20_000


class Reports(States, Rewriter):
    """The reports of respondents, and their tallies."""

    DEFINITION_CONTAINS = "instr(definition, ?) > 0"

    def _insert(self, connection: Any, query: str, values: Sequence[Any]) -> int:
        return int(connection.execute(query, values).lastrowid)

    def _create_tally(self, connection: Any, key: int, width: int) -> None:
        tally_table.create_tally(connection, key, width)

    def _finish(self, connection: Any, keys: Sequence[int]) -> None:
        tally_table.finish(connection, keys)

    def _reveal(self, connection: Any, keys: Sequence[int]) -> None:
        tally_table.reveal(connection, keys)

    def _drop(self, connection: Any, keys: Sequence[int]) -> None:
        for table in ("reports", "tallies"):
            connection.executemany(f"delete from {table} where survey = ?", [(key,) for key in keys])

    def _mark_for_rewrite(self, connection: Any) -> None:
        mark_for_rewrite(connection)

    def warnings(self) -> list[str]:
        """Return no warnings: nothing outside the file that keeps erased data can be detected from here."""
        return []

    def bits_of(self, submission: Submission) -> bytes | None:
        """Return the stored bits of the report with the same id, or None if there is none."""
        row = self._fetch_one("select bits from reports where survey = ? and id = ?", submission.survey, submission.id)
        return row and bytes(row[0])

    def write(self, get_submissions: Callable[[], Sequence[Submission]], *, batch: bool = False) -> list[Outcome]:
        """Store reports in one transaction, and return the outcome of each; on return they are on disk.

        `get_submissions` is called once the lock is held, so reports that arrived during the wait share one fsync. With
        `batch`, the reports did not come one by one, and wait in a separate queue until they are shown. Raise
        Unavailable if nothing was stored.
        """
        outcomes: list[Outcome] = []
        with self._transaction() as connection:
            surveys: dict[int, _SurveyWrite] = {}
            quotas: dict[int, _Quota] = {}
            moment = self.clock()
            submissions = get_submissions()
            for key in {submission.survey for submission in submissions}:
                surveys[key] = _SurveyWrite.open(self._close_by_date, connection, key, moment, quotas)
            if len(surveys) == 1 and surveys[submissions[0].survey].store_all(connection, submissions):
                outcomes = [Outcome.STORED] * len(submissions)
            else:
                outcomes = [surveys[submission.survey].store_one(connection, submission) for submission in submissions]
            for key, survey in surveys.items():
                if survey.rows:
                    tally_table.add_reports(connection, key, survey.rows, batch=batch, hold=survey.hold)
                    mark_for_rewrite(connection)
            for quota in quotas.values():
                if quota.remaining <= 0:
                    self._close_surveys(connection, quota.keys)
        return outcomes

    def snapshot(self, published: PublishedSurvey) -> Tally:
        """Return the tally that may be shown, as of the last step; it depends on neither the clock nor the terms."""
        row = self._fetch_one("select shown, shown_counts from tallies where survey = ?", published.key)
        if row is None:  # deleted in the meantime
            return Tally.empty(published.survey)
        return tally_of([row])

    @contextmanager
    def open_snapshot(self, published: PublishedSurvey) -> Iterator[tuple[Tally, Iterator[Bits]]]:
        """Open the snapshot together with the packed bits of its reports, some thousands at a time, as of one moment.

        Pending reports are not included: a cross-tab or an export must not show more than the results.
        """
        with self._open_reader() as connection:
            row = connection.execute(
                f"select {HIDDEN_COLUMNS} from tallies where survey = ?", (published.key,)
            ).fetchone()
            hidden = hidden_ids([row]) if row else None
            if hidden is None:  # nothing is shown, or the survey was deleted in the meantime
                yield Tally.empty(published.survey), iter(())
            else:
                yield tally_of([row[:2]]), _rows(connection, published, hidden)

    def recount(self, published: PublishedSurvey, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """Return the stored tally and the tally of a recount of all reports, as of one moment; only for operators.

        Both are empty if the survey was deleted in the meantime.
        """
        counts, count = np.zeros(published.survey.width, dtype=np.int64), 0
        with self._open_reader() as connection:
            row = connection.execute("select total, counts from tallies where survey = ?", (published.key,)).fetchone()
            if row is None:
                return Tally.empty(published.survey), Tally.empty(published.survey)
            for bits in _rows(connection, published, frozenset()):
                add_bits(counts, bits)
                count += len(bits)
                progress(len(bits))
        return tally_of([row]), Tally(count, counts)

    @contextmanager
    def _open_reader(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that reads everything as of one moment; it blocks no writers."""
        with closing(self._open()) as connection:
            connection.execute("begin")
            yield connection


def _rows(connection: sqlite3.Connection, published: PublishedSurvey, hidden: frozenset[bytes]) -> Iterator[Bits]:
    cursor = connection.execute("select id, bits from reports where survey = ?", (published.key,))
    most = rows_at_once(published.survey, CHUNK)
    while rows := cursor.fetchmany(most):
        if visible := [bits for id, bits in rows if id not in hidden]:
            yield stack_reports(visible)


@dataclass
class _Quota:
    """The number of reports that a survey, or all groups of a study in all, still accept."""

    keys: list[int]
    remaining: int


@dataclass
class _SurveyWrite:
    """One survey during one transaction: its refusal or its quota, and the new reports to it."""

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
        if row is None:  # deleted in the meantime
            return cls(Outcome.CLOSED)
        published = published_from(row)
        if published.is_due(moment):
            end(connection, study_keys(connection, key), moment)
            return cls(Outcome.CLOSED)
        if refusal := refusal_of(published, moment):
            return cls(refusal)
        most = published.terms.max_reports
        if most is None:
            return cls(hold=published.hold)
        keys = study_keys(connection, key)
        quota = quotas.setdefault(keys[0], _Quota(keys, most - total_of(connection, keys)))
        return cls(quota=quota, hold=published.hold)

    def store_all(self, connection: sqlite3.Connection, submissions: Sequence[Submission]) -> bool:
        """Store all reports at once and return True, or store none and return False.

        They are stored if all are new, the survey accepts reports and its quota is large enough.
        """
        if self.refusal or (self.quota and self.quota.remaining < len(submissions)):
            return False
        connection.execute("savepoint all_at_once")
        before = connection.total_changes
        rows = map(tuple, submissions)  # sqlite3 is slower with named tuples
        connection.executemany("insert or ignore into reports values (?, ?, ?)", rows)
        if connection.total_changes - before < len(submissions):
            connection.execute("rollback to all_at_once")
            return False
        self._add_rows(submissions)
        return True

    def store_one(self, connection: sqlite3.Connection, submission: Submission) -> Outcome:
        """Store one report, if it is new and accepted; return its outcome."""
        key = (submission.survey, submission.id)
        stored = connection.execute("select bits from reports where survey = ? and id = ?", key).fetchone()
        if stored is not None:
            return Outcome.ALREADY_STORED if stored[0] == submission.bits else Outcome.ID_TAKEN
        if self.refusal:
            return self.refusal
        if self.quota and self.quota.remaining <= 0:
            return Outcome.FULL
        connection.execute("insert into reports values (?, ?, ?)", (*key, submission.bits))
        self._add_rows([submission])
        return Outcome.STORED

    def _add_rows(self, submissions: Sequence[Submission]) -> None:
        self.rows.extend(submissions)
        if self.quota:
            self.quota.remaining -= len(submissions)
