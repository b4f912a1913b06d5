"""The contents of a store, row by row in the order of keys, for copies, backups and restores.

The key that signs sessions is not included, and neither is any data of tickets: a copy has none of them. Tallies are
returned as one row for each survey, whatever the number of shards.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from survey_app.store.records import PublishedSurvey, StoreError
from survey_app.store.sql.dialect import Base, Connection
from survey_app.store.tally_row import TallyRow as Tallied
from survey_app.store.tally_row import hidden_ids

CHUNK = 5_000  # rows at a time
COPY_SETTING = "copying"


class Table(NamedTuple):
    """The columns of a table, and how many of them are its key."""

    columns: str
    keys: int = 1


TABLES = {
    "users": Table("key, name, password, admin, disabled, stamp"),
    "tokens": Table('hash, "user", made'),
    "surveys": Table(
        "key, slug, study, version, digest, state, public, opens, closes, max_reports, deletes, size, owner,"
        " definition, source, hold"
    ),
    "drafts": Table("key, owner, source"),
    "audit": Table("key, owner, slug, moment, code, data"),
    "actors": Table('event, "user"'),
    "shares": Table('slug, "user", role', 2),
    "links": Table("hash, slug, label, made"),
}
TALLIES = "tallies"  # its rows: survey, the columns of a tally, final
Row = tuple[Any, ...]


class Contents(Base):
    """The methods of a store that read and write whole tables."""

    @abstractmethod
    def read_transaction(self) -> AbstractContextManager[Connection]:
        """Open a transaction that reads everything as of one moment."""

    @abstractmethod
    def _tallies(self, connection: Connection, after: int, count: int) -> list[Row]: ...

    @abstractmethod
    def _insert_tallies(self, connection: Connection, rows: Sequence[Row]) -> None: ...

    @abstractmethod
    def _reports(self, connection: Connection, survey: int, after: bytes, count: int) -> list[tuple[bytes, bytes]]: ...

    @abstractmethod
    def _insert_reports(self, connection: Connection, survey: int, rows: Sequence[tuple[bytes, bytes]]) -> None: ...

    @abstractmethod
    def _prepare_reports(self, connection: Connection, surveys: Sequence[int]) -> None:
        """Prepare storage for the reports of these surveys, and of no others.

        New keys continue after the largest.
        """

    def rows(self, connection: Connection, table: str) -> Iterator[list[Row]]:
        """Yield the rows of a table in the order of its key, some thousands at a time."""
        if table == TALLIES:
            last = 0
            while rows := self._tallies(connection, last, CHUNK):
                yield rows
                last = rows[-1][0]
            return
        columns, keys = TABLES[table]
        names = ", ".join(columns.split(", ")[:keys])
        after: Row = ()
        while True:
            where = f"where ({names}) > ({', '.join('?' * keys)})" if after else ""
            query = f"select {columns} from {table} {where} order by {names} limit {CHUNK}"
            if not (rows := [tuple(row) for row in connection.execute(query, after).fetchall()]):
                return
            yield rows
            after = rows[-1][:keys]

    def reports(self, connection: Connection, survey: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield ids and bits of all reports to a survey in the order of ids, some thousands at a time."""
        after = b""
        while reports := self._reports(connection, survey, after, CHUNK):
            yield reports
            after = reports[-1][0]

    def visible_reports(self, published: PublishedSurvey, after: bytes, count: int) -> list[tuple[bytes, bytes]]:
        """Return ids and bits of up to `count` reports that are not pending, with the next ids after `after`."""
        with self.read_transaction() as connection:
            tallies = self._tallies(connection, published.key - 1, 1)
            if not tallies or tallies[0][0] != published.key:  # deleted in the meantime
                return []
            row = Tallied(*tallies[0][1:-1])
            hidden = hidden_ids([(row.shown, row.shown_counts, row.pending, row.batched)])
            if hidden is None:
                return []
            reports = self._reports(connection, published.key, after, count + len(hidden))
        return [(bytes(id), bytes(bits)) for id, bits in reports if bytes(id) not in hidden][:count]

    # unfinished copies

    def check_complete(self) -> None:
        """Raise StoreError if this store is an unfinished copy."""
        if self._fetch_one("select 1 from settings where name = ?", COPY_SETTING):
            raise StoreError("this database is an unfinished copy; run the same candor copy or candor restore again")

    def begin_copy(self, source: bytes) -> None:
        """Mark this store as a copy of another; raise StoreError if it holds other data."""
        with self._transaction() as connection:
            row = connection.execute("select value from settings where name = ?", (COPY_SETTING,)).fetchone()
            has_data = any(connection.execute(f"select 1 from {table} limit 1").fetchone() for table in TABLES)
            if bytes(row[0]) != source if row else has_data:
                raise StoreError("the destination already contains other data; name an empty database")
            if row is None:
                connection.execute("insert into settings values (?, ?)", (COPY_SETTING, source))
            for table in (*TABLES, TALLIES):
                connection.execute(f"delete from {table}")

    def insert_rows(self, table: str, rows: Sequence[Row]) -> None:
        """Insert rows into a table that has none of them yet."""
        with self._transaction() as connection:
            if table == TALLIES:
                self._insert_tallies(connection, rows)
                return
            columns, _ = TABLES[table]
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"insert into {table} ({columns}) values ({marks})", rows)

    def prepare_reports(self, surveys: Sequence[int]) -> None:
        """Prepare storage for the reports of these surveys; see `_prepare_reports`."""
        with self._transaction() as connection:
            self._prepare_reports(connection, surveys)

    def insert_reports(self, survey: int, after: bytes, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Insert reports with ids after `after`, unless they exist already.

        Raise StoreError if other reports exist in that range of ids.
        """
        with self._transaction() as connection:
            present = [row for row in self._reports(connection, survey, after, len(rows)) if row[0] <= rows[-1][0]]
            if present == rows:
                return
            present_bits = dict(present)
            if not present_bits.items() <= dict(rows).items():
                raise StoreError("the destination has reports that the source does not have; name an empty database")
            self._insert_reports(connection, survey, [row for row in rows if row[0] not in present_bits])

    def end_copy(self) -> None:
        """Mark the copy as complete, and rewrite the store."""
        with self._transaction() as connection:
            connection.execute("delete from settings where name = ?", (COPY_SETTING,))
            self._mark_for_rewrite(connection)
        self.tidy(now=True)
