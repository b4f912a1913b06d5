"""The contents of a PostgreSQL database, row by row; see `survey_app.store.sql.contents`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import psycopg

from survey_app.store.postgres import rewrite
from survey_app.store.postgres.database import Database, Session, all_or_nothing
from survey_app.store.postgres.reports import INSERT_TALLY, READ, copy_in
from survey_app.store.postgres.schema import KEYED, REPORTS, reports
from survey_app.store.records import Published, Unavailable
from survey_app.store.sql.contents import Contents, Row
from survey_app.store.tally_row import COLUMNS, merged
from survey_app.store.tally_row import Row as Tallied
from survey_app.tally import rows_of


class PostgresContents(Contents, Database):
    """The rows of a PostgreSQL database."""

    @contextmanager
    def frozen(self) -> Iterator[Session]:
        """Open a transaction that reads the whole database as of one moment.

        Rewrites are blocked during it: a table that is rewritten later would look empty. Raise Unavailable if a survey
        is deleted in the meantime.
        """
        with self._borrowed() as raw, rewrite.patient(raw, True), all_or_nothing(raw, READ) as session:
            try:
                yield session
            except psycopg.errors.UndefinedTable:
                raise Unavailable("a survey was deleted meanwhile; run the command again") from None

    def table_of(self, published: Published) -> tuple[str, str]:
        """Return the name of the database system, and the statement that created the table of the reports."""
        return "PostgreSQL", f"create table {reports(published.key)} {REPORTS}"

    def cell_of(self, published: Published, id: bytes, bits: bytes) -> list[tuple[str, bytes]]:
        """Return nothing: the layout of the files is internal to PostgreSQL."""
        return []

    def _tallies(self, connection: Any, after: int, count: int) -> list[Row]:
        rows = connection.execute(
            f"select survey, final, {COLUMNS} from tallies where survey in"
            " (select key from surveys where key > ? order by key limit ?) order by survey, shard",
            (after, count),
        ).fetchall()
        groups = groupby(rows, key=lambda row: row[:2])
        return [(key, *merged([Tallied(*row[2:]) for row in shards]), final) for (key, final), shards in groups]

    def _put_tallies(self, connection: Any, rows: Sequence[Row]) -> None:
        connection.executemany(INSERT_TALLY, [(row[0], 0, *row[1:]) for row in rows])

    def _reports(self, connection: Any, survey: int, after: bytes, count: int) -> list[tuple[bytes, bytes]]:
        query = f"select id, bits from {reports(survey)} where id > ? order by id limit ?"
        return list(connection.execute(query, (after, count)).fetchall())

    def _put_reports(self, connection: Any, survey: int, rows: Sequence[tuple[bytes, bytes]]) -> None:
        copy_in(connection, survey, rows_of([id + bits for id, bits in rows]))

    def _make_room(self, connection: Any, surveys: Sequence[int]) -> None:
        for key in surveys:
            connection.execute(f"create table if not exists {reports(key)} {REPORTS}")
        for table in KEYED:  # tables of other surveys are dropped by the next rewrite
            sequence = f"pg_get_serial_sequence('{table}', 'key')"
            connection.execute(f"select setval({sequence}, coalesce(max(key), 0) + 1, false) from {table}")
