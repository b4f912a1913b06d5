"""The contract of a store, on every implementation: a test with `place` runs on SQLite and on PostgreSQL."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from survey_app.store import now
from survey_app.store.postgres import PostgresStore, database
from survey_app.store.sqlite import SqliteStore
from tests.fixtures import block, unblock
from tests.postgres import Postgres

AnyStore = SqliteStore | PostgresStore


class SqlitePlace:
    """A place for a store: a file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "candor.db"
        self.url = f"sqlite:///{self.path}"

    def open(self, clock: Callable[[], datetime] = now) -> SqliteStore:
        """Open the store as another server would."""
        return SqliteStore(self.path, clock)

    def block(self) -> None:
        """Keep everybody from writing."""
        block(self.path)

    def unblock(self) -> None:
        unblock(self.path)

    def content(self) -> bytes:
        """Return all bytes of the file."""
        return self.path.read_bytes()


class PostgresPlace:
    """A place for a store: a schema of its own."""

    def __init__(self, server: Postgres) -> None:
        self.server, self.url = server, server.schema()

    def open(self, clock: Callable[[], datetime] = now) -> PostgresStore:
        return PostgresStore(self.url, clock)

    def block(self) -> None:
        """Keep everybody from writing: hold the lock."""
        self._holder = self.server.connect(self.url)
        self._holder.execute(f"select pg_advisory_lock(%s, {database.SCHEMA_HASH})", (database.ORDER,))

    def unblock(self) -> None:
        self._holder.close()

    def content(self, name: str = "") -> bytes:
        """Return the files of all tables and indices, or of one, with long values and dead rows."""
        with self.server.connect(self.url) as connection:
            connection.execute("checkpoint")
            rows = connection.execute(
                "select pg_relation_filepath(oid) from pg_class where relnamespace = current_schema()::regnamespace"
                " and relkind in ('r', 'i') and %s::text in (relname::text, '') union all select pg_relation_filepath(reltoastrelid) from pg_class"
                " where relnamespace = current_schema()::regnamespace and reltoastrelid != 0",
                (name,),
            ).fetchall()
        return b"".join((self.server.data / path).read_bytes() for (path,) in rows)


Place = SqlitePlace | PostgresPlace


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Yield a place for a store."""
    if request.param == "sqlite":
        yield SqlitePlace(tmp_path)
        return
    monkeypatch.setattr(database, "SETTINGS", database.SETTINGS.replace("5s", "200ms"))
    yield PostgresPlace(request.getfixturevalue("postgres"))
