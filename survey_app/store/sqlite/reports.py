"""Reports in the SQLite store: the hot path, in plain sqlite3.

`sqlite_utils.Table.insert` builds its statement again for every row. It takes about eight times as long as sqlite3 for
one report, and one and a half times as long for a batch (`docs/benchmarks.md`, "Collecting"). A lock is held meanwhile.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from survey_app.store.records import Hold, Outcome, Submission, refusal_of
from survey_app.store.sql.dialect import Connection, total_of
from survey_app.store.sql.report_queries import ReportReader
from survey_app.store.sql.state_queries import Quota, States, study_keys
from survey_app.store.sql.survey_rows import SELECT, published_from
from survey_app.store.sqlite import tally_table
from survey_app.store.sqlite.rewrite import Rewriter, mark_for_rewrite


class Reports(States, ReportReader, Rewriter):
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
            quotas: dict[int, Quota] = {}
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

    @contextmanager
    def _open_reader(self, key: int) -> Iterator[Connection | None]:
        with self._reader() as connection:
            yield connection

    def _scan(self, connection: Any, key: int, count: int) -> Iterator[list[tuple[bytes, bytes]]]:
        cursor = connection.execute("select id, bits from reports where survey = ? order by id", (key,))
        while rows := cursor.fetchmany(count):
            yield rows


@dataclass
class _SurveyWrite:
    """One survey during one transaction: its refusal or its quota, and the new reports to it."""

    refusal: Outcome | None = None
    quota: Quota | None = None
    hold: Hold = Hold.NONE
    rows: list[Submission] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        end: Callable[[sqlite3.Connection, list[int], datetime], None],
        connection: sqlite3.Connection,
        key: int,
        moment: datetime,
        quotas: dict[int, Quota],
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
        quota = quotas.setdefault(keys[0], Quota(keys, most - total_of(connection, keys)))
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
