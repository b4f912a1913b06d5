"""The contents of a SQLite file, row by row; see `survey_app.store.sql.contents`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from survey_app.store.records import PublishedSurvey
from survey_app.store.sql.contents import Contents, Row
from survey_app.store.sqlite.cell import encode_cell
from survey_app.store.sqlite.database import Database
from survey_app.store.sqlite.tally_table import INSERT
from survey_app.store.tally_row import COLUMNS


class SqliteContents(Contents, Database):
    """The rows of a SQLite file."""

    @contextmanager
    def read_transaction(self) -> Iterator[Any]:
        """Open a transaction that reads the whole file as of one moment; it blocks no writers."""
        with self._reader() as connection:
            yield connection

    def table_of(self, published: PublishedSurvey) -> tuple[str, str]:
        """Return the path of the file that stores the reports, and the statement that created their table."""
        (statement,) = self._fetch_one("select sql from sqlite_master where name = 'reports'")
        return str(self.path), statement

    def cell_of(self, published: PublishedSurvey, id: bytes, bits: bytes) -> list[tuple[str, bytes]]:
        """Return the bytes of a report in the file, part by part, each with its description."""
        return encode_cell(published.key, id, bits)

    def _tallies(self, connection: Any, after: int, count: int) -> list[Row]:
        query = f"select survey, {COLUMNS}, final from tallies where survey > ? order by survey limit ?"
        return list(connection.execute(query, (after, count)).fetchall())

    def _insert_tallies(self, connection: Any, rows: Sequence[Row]) -> None:
        connection.executemany(INSERT, rows)

    def _reports(self, connection: Any, survey: int, after: bytes, count: int) -> list[tuple[bytes, bytes]]:
        query = "select id, bits from reports where survey = ? and id > ? order by id limit ?"
        return list(connection.execute(query, (survey, after, count)).fetchall())

    def _insert_reports(self, connection: Any, survey: int, rows: Sequence[tuple[bytes, bytes]]) -> None:
        connection.executemany("insert into reports values (?, ?, ?)", [(survey, *row) for row in rows])

    def _prepare_reports(self, connection: Any, surveys: Sequence[int]) -> None:
        marks = ", ".join("?" * len(surveys))
        connection.execute(f"delete from reports where survey not in ({marks})", surveys)
