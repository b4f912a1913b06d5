"""The contents of a PostgreSQL database, row by row; see `survey_app.store.sql.contents`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import psycopg

from survey_app.store.postgres import rewrite
from survey_app.store.postgres.database import Database, Session, transaction
from survey_app.store.postgres.reports import BEGIN_READ_ONLY, INSERT_TALLY, copy_reports
from survey_app.store.postgres.schema import REPORT_COLUMNS, SEQUENCE_TABLES, reports_table
from survey_app.store.records import PublishedSurvey, Unavailable
from survey_app.store.sql.contents import Contents, Row
from survey_app.store.tally_row import COLUMNS, merge_shards
from survey_app.store.tally_row import TallyRow as Tallied
from survey_app.tally import stack_reports


class PostgresContents(Contents, Database):
    """The rows of a PostgreSQL database."""

    @contextmanager
    def read_transaction(self) -> Iterator[Session]:
        """Open a transaction that reads the whole database as of one moment.

        Rewrites are blocked during it: a table that is rewritten later would look empty. Raise Unavailable if a survey
        is deleted in the meantime.
        """
        with (
            self._pooled_connection() as raw,
            rewrite.hold_rewrite_lock(raw, True),
            transaction(raw, BEGIN_READ_ONLY) as session,
        ):
            try:
                yield session
            except psycopg.errors.UndefinedTable:
                raise Unavailable("a survey was deleted meanwhile; run the command again") from None

    def table_of(self, published: PublishedSurvey) -> tuple[str, str]:
        """Return the name of the database system, and the statement that created the table of the reports."""
        return "PostgreSQL", f"create table {reports_table(published.key)} {REPORT_COLUMNS}"

    def cell_of(self, published: PublishedSurvey, id: bytes, bits: bytes) -> list[tuple[str, bytes]]:
        """Return nothing: the layout of the files is internal to PostgreSQL."""
        return []

    def _tallies(self, connection: Any, after: int, count: int) -> list[Row]:
        rows = connection.execute(
            f"select survey, final, {COLUMNS} from tallies where survey in"
            " (select key from surveys where key > ? order by key limit ?) order by survey, shard",
            (after, count),
        ).fetchall()
        groups = groupby(rows, key=lambda row: row[:2])
        return [(key, *merge_shards([Tallied(*row[2:]) for row in shards]), final) for (key, final), shards in groups]

    def _insert_tallies(self, connection: Any, rows: Sequence[Row]) -> None:
        connection.executemany(INSERT_TALLY, [(row[0], 0, *row[1:]) for row in rows])

    def _reports(self, connection: Any, survey: int, after: bytes, count: int) -> list[tuple[bytes, bytes]]:
        query = f"select id, bits from {reports_table(survey)} where id > ? order by id limit ?"
        return list(connection.execute(query, (after, count)).fetchall())

    def _insert_reports(self, connection: Any, survey: int, rows: Sequence[tuple[bytes, bytes]]) -> None:
        copy_reports(connection, survey, stack_reports([id + bits for id, bits in rows]))

    def _prepare_reports(self, connection: Any, surveys: Sequence[int]) -> None:
        for key in surveys:
            connection.execute(f"create table if not exists {reports_table(key)} {REPORT_COLUMNS}")
        for table in SEQUENCE_TABLES:  # tables of other surveys are dropped by the next rewrite
            sequence = f"pg_get_serial_sequence('{table}', 'key')"
            connection.execute(f"select setval({sequence}, coalesce(max(key), 0) + 1, false) from {table}")
