"""Reports in the PostgreSQL store: the hot path.

Servers store reports concurrently, each in its own shard of the tallies. Ids are inserted in sorted order, so two
servers with the same ids cannot deadlock. A quota is counted under a lock of its own, so it is exact over all servers.
A server that finds a quota reached, or a date passed, closes the survey in a later transaction.
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
from survey_app.store.postgres.database import QUOTA, Database, Session, transaction
from survey_app.store.postgres.schema import REPORT_COLUMNS, reports_table
from survey_app.store.records import Hold, Outcome, Submission, Unavailable, refusal_of
from survey_app.store.sql.dialect import total_of
from survey_app.store.sql.report_queries import ReportReader
from survey_app.store.sql.state_queries import Quota, States, study_keys
from survey_app.store.sql.survey_rows import SELECT, published_from
from survey_app.store.tally_row import (
    COLUMNS,
    MARKS,
    BitsOf,
    TallyRow,
    merge_shards,
)
from survey_app.tally import Bits, stack_reports

COPY_THRESHOLD = 256  # rows: from here on COPY is faster than an insert
BEGIN_READ_ONLY = "begin isolation level repeatable read, read only"
COPY_HEAD, COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
INSERT_TALLY = f"insert into tallies (survey, shard, {COLUMNS}, final) values (?, ?, {MARKS}, ?)"


class Reports(States, ReportReader, Database):
    """The reports of respondents, and their tallies."""

    # in administrative transactions

    def _create_tally(self, connection: Any, key: int, width: int) -> None:
        connection.execute(f"create table {reports_table(key)} {REPORT_COLUMNS}")
        connection.execute(INSERT_TALLY, (key, 0, *TallyRow.empty(width), 0))

    def _finish(self, connection: Any, keys: Sequence[int]) -> None:
        """Take the last step of surveys, with the pending reports of all shards merged; each survey keeps one row."""
        for key in keys:
            query = (
                f"select hold, {COLUMNS} from tallies join surveys on key = survey where survey = ? and final = 0"
                " order by shard"
            )
            if rows := connection.execute(query, (key,)).fetchall():
                row = merge_shards([TallyRow(*row[1:]) for row in rows])
                row = row if rows[0][0] else row.finish(_bits_of(connection, key))
                self._replace_shards(connection, key, row)

    def _reveal(self, connection: Any, keys: Sequence[int]) -> None:
        for key in keys:
            rows = connection.execute(f"select {COLUMNS} from tallies where survey = ? order by shard", (key,))
            self._replace_shards(connection, key, merge_shards([TallyRow(*row) for row in rows.fetchall()]).reveal())

    def _replace_shards(self, connection: Any, key: int, row: TallyRow) -> None:
        """Replace all shards of a tally by one final row."""
        connection.execute("delete from tallies where survey = ?", (key,))
        connection.execute(INSERT_TALLY, (key, 0, *row, 1))
        self._mark_for_rewrite(connection)

    def _drop(self, connection: Any, keys: Sequence[int]) -> None:
        """Delete the tallies of surveys; the next rewrite drops their tables of reports.

        Dropping a table here would wait for its readers, and make all other writers wait too.
        """
        connection.executemany("delete from tallies where survey = ?", [(key,) for key in keys])
        connection.executemany("delete from tidied where survey = ?", [(key,) for key in keys])
        self._mark_for_rewrite(connection)

    # storing reports

    def bits_of(self, submission: Submission) -> bytes | None:
        """Return the stored bits of the report with the same id, or None if there is none."""
        try:
            row = self._fetch_one(f"select bits from {reports_table(submission.survey)} where id = ?", submission.id)
        except psycopg.errors.UndefinedTable:  # deleted in the meantime
            return None
        return row and bytes(row[0])

    def write(self, get_submissions: Callable[[], Sequence[Submission]], *, batch: bool = False) -> list[Outcome]:
        """Store reports in one transaction, and return the outcome of each; on return they are on disk.

        `get_submissions` is called once the lock is held, so reports that arrived during the wait share one commit.
        With `batch`, the reports did not come one by one, and wait in a separate queue until they are shown. Raise
        Unavailable if nothing was acknowledged.
        """
        with self._report_transaction() as (session, shard):
            moment = self.clock()
            submissions = get_submissions()
            by_survey: dict[int, list[Submission]] = defaultdict(list)
            for submission in submissions:
                by_survey[submission.survey].append(submission)
            surveys = _open_surveys(session, sorted(by_survey), moment)
            for key, survey in surveys.items():
                survey.look_up(session, key, by_survey[key])
            if any(survey.quota for survey in surveys.values()):
                for submission in submissions:  # in the order in which they came, over all groups
                    surveys[submission.survey].accept(submission)
            for key, survey in sorted(surveys.items()):
                survey.store(session, key)
            for key, survey in sorted(surveys.items()):
                if survey.new_reports:
                    _add_reports(session, key, shard, list(survey.new_reports.values()), batch=batch, hold=survey.hold)
        if sum(len(survey.new_reports) for survey in surveys.values()) == len(submissions):
            outcomes = [Outcome.STORED] * len(submissions)
        else:
            outcomes = [surveys[submission.survey].outcome(submission) for submission in submissions]
        with suppress(Unavailable):  # the reports are stored; the next write closes the survey
            for keys in {
                tuple(survey.quota.keys) for survey in surveys.values() if survey.quota and survey.quota.remaining <= 0
            }:
                with self._transaction() as connection:
                    self._close_if_due(connection, keys, moment)
            if any(survey.is_due for survey in surveys.values()):
                self.expire()
        return outcomes

    # reading

    @contextmanager
    def _open_reader(self, key: int) -> Iterator[Session | None]:
        """Open a transaction that reads a survey as of one moment; yield None if the survey was deleted.

        The tables are locked against rewrites before the moment is chosen. A table that was rewritten after that moment
        would look empty.
        """
        with self._pooled_connection() as raw, transaction(raw, BEGIN_READ_ONLY) as session:
            try:
                session.execute(f"lock table tallies, {reports_table(key)} in access share mode")
            except psycopg.errors.UndefinedTable:
                session.execute("rollback")
                yield None
            else:
                yield session

    def _scan(self, connection: Any, key: int, count: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield in the order of ids, since an export must not reveal the order of the heap."""
        with connection.raw.cursor(name="reports", binary=True) as cursor:
            cursor.execute(f"select id, bits from {reports_table(key)} order by id".encode())
            while rows := cursor.fetchmany(count):
                yield rows


@dataclass
class _Survey:
    """One survey during one transaction: its refusal or its quota, and its new and earlier reports."""

    refusal: Outcome | None = None
    is_due: bool = False
    quota: Quota | None = None
    hold: Hold = Hold.NONE
    exists: bool = True
    new_reports: dict[bytes, Submission] = field(default_factory=dict)
    earlier_bits: dict[bytes, bytes] = field(default_factory=dict)
    reported_ids: set[bytes] = field(default_factory=set)

    def look_up(self, session: Session, key: int, submissions: Sequence[Submission]) -> None:
        """Accept all reports, unless there is a refusal or a quota; then only look up which are stored already."""
        if self.exists and (self.refusal or self.quota):
            self.earlier_bits = _read_bits(session, key, [submission.id for submission in submissions])
        elif self.exists:
            self.new_reports = {
                submission.id: submission for submission in reversed(submissions)
            }  # the first, if two share an id

    def accept(self, submission: Submission) -> None:
        """Accept a new report to a survey with a quota, if the quota is not reached."""
        if (
            self.quota
            and self.quota.remaining > 0
            and submission.id not in self.new_reports
            and submission.id not in self.earlier_bits
        ):
            self.new_reports[submission.id] = submission
            self.quota.remaining -= 1

    def store(self, session: Session, key: int) -> None:
        """Insert the accepted reports; those that another server stored first become earlier reports."""
        self.new_reports = {id: self.new_reports[id] for id in sorted(self.new_reports)}
        if duplicates := _insert(session, key, self.new_reports):
            self.earlier_bits |= _read_bits(session, key, duplicates)
            self.new_reports = {
                id: submission for id, submission in self.new_reports.items() if id not in self.earlier_bits
            }

    def outcome(self, submission: Submission) -> Outcome:
        """Return the outcome of a report. Call it in the order of arrival: if two share an id, the first is stored."""
        stored = self.new_reports.get(submission.id)
        if stored is not None and submission.id not in self.reported_ids:
            self.reported_ids.add(submission.id)
            return Outcome.STORED
        bits = stored.bits if stored is not None else self.earlier_bits.get(submission.id)
        if bits is None:
            return self.refusal or Outcome.FULL
        return Outcome.ALREADY_STORED if bits == submission.bits else Outcome.ID_TAKEN


def _open_surveys(session: Session, keys: Sequence[int], moment: datetime) -> dict[int, _Survey]:
    versions = {
        row[0]: published_from(row) for row in session.execute(f"{SELECT} where key = any(?)", (keys,)).fetchall()
    }
    surveys: dict[int, _Survey] = {}
    limited: dict[int, tuple[int, list[int]]] = {}
    for key in keys:
        published = versions.get(key)
        if published is None:  # deleted in the meantime
            surveys[key] = _Survey(Outcome.CLOSED, exists=False)
        elif published.is_due(moment):
            surveys[key] = _Survey(Outcome.CLOSED, is_due=True)
        else:
            surveys[key] = _Survey(refusal_of(published, moment), hold=published.hold)
            if published.terms.max_reports is not None and surveys[key].refusal is None:
                limited[key] = published.terms.max_reports, study_keys(session, key)
    quotas: dict[int, Quota] = {}
    for key, (most, groups) in sorted(limited.items(), key=lambda item: item[1][1][0]):
        if groups[0] not in quotas:
            session.execute("select pg_advisory_xact_lock(?, ?)", (QUOTA, groups[0]))
            quotas[groups[0]] = Quota(groups, most - total_of(session, groups))
        surveys[key].quota = quotas[groups[0]]
    return surveys


def _insert(session: Session, key: int, rows: Mapping[bytes, Submission]) -> list[bytes]:
    """Insert reports, sorted by id; return the ids that were stored already."""
    if not rows:
        return []
    if len(rows) >= COPY_THRESHOLD:
        session.execute("savepoint all_at_once")
        try:
            copy_reports(session, key, stack_reports([submission.id + submission.bits for submission in rows.values()]))
            return []
        except psycopg.errors.UniqueViolation:
            session.execute("rollback to all_at_once")
    values = (list(rows), [submission.bits for submission in rows.values()])
    inserted = session.execute(
        f"insert into {reports_table(key)} select * from unnest(cast(? as bytea[]), cast(? as bytea[]))"
        " on conflict do nothing returning id",
        values,
    ).fetchall()
    stored = {row[0] for row in inserted}
    return [id for id in rows if id not in stored]


def copy_reports(session: Session, key: int, rows: Bits) -> None:
    """COPY reports into their table; each row has an id and bits. Raise UniqueViolation if an id is stored already."""
    framed = np.zeros((len(rows), rows.shape[1] + 10), dtype=np.uint8)  # two fields, each after its length
    framed[:, 1], framed[:, 5] = 2, ID_BYTES
    framed[:, 6 : 6 + ID_BYTES] = rows[:, :ID_BYTES]
    width = np.frombuffer((rows.shape[1] - ID_BYTES).to_bytes(4, "big"), dtype=np.uint8)
    framed[:, 6 + ID_BYTES : 10 + ID_BYTES] = width
    framed[:, 10 + ID_BYTES :] = rows[:, ID_BYTES:]
    with session.raw.cursor().copy(f"copy {reports_table(key)} from stdin (format binary)".encode()) as copy:
        copy.write(COPY_HEAD + framed.tobytes() + COPY_END)


def _bits_of(session: Session, key: int) -> BitsOf:
    return lambda ids: _read_bits(session, key, ids).values()


def _read_bits(session: Session, key: int, ids: Sequence[bytes]) -> dict[bytes, bytes]:
    if not ids:
        return {}
    return dict(session.execute(f"select id, bits from {reports_table(key)} where id = any(?)", (ids,)).fetchall())


def _add_reports(
    session: Session, key: int, shard: int, submissions: Sequence[Submission], *, batch: bool, hold: Hold
) -> None:
    query = f"select {COLUMNS} from tallies where survey = ? and shard = ? for update"
    stored = session.execute(query, (key, shard)).fetchone()
    if stored is None:  # the first in this shard
        width = session.execute("select length(counts) / 8 from tallies where survey = ? limit 1", (key,)).fetchone()[0]
        session.execute(f"{INSERT_TALLY} on conflict do nothing", (key, shard, *TallyRow.empty(width), 0))
        stored = session.execute(query, (key, shard)).fetchone()
    row = TallyRow(*stored).add_reports(submissions, _bits_of(session, key), batch=batch, hold=hold)
    session.execute(f"update tallies set ({COLUMNS}) = ({MARKS}) where survey = ? and shard = ?", (*row, key, shard))
