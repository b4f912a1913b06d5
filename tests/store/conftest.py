"""The contract of a store, on every implementation: whatever asks for `place` runs on SQLite and on PostgreSQL."""

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
    """A file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "candor.db"
        self.url = f"sqlite:///{self.path}"

    def open(self, clock: Callable[[], datetime] = now) -> SqliteStore:
        """As another server would."""
        return SqliteStore(self.path, clock)

    def block(self) -> None:
        """Nobody can write any more."""
        block(self.path)

    def unblock(self) -> None:
        unblock(self.path)

    def content(self) -> bytes:
        """Whatever lies in it."""
        return self.path.read_bytes()


class PostgresPlace:
    """A schema of its own."""

    def __init__(self, server: Postgres) -> None:
        self.server, self.url = server, server.schema()

    def open(self, clock: Callable[[], datetime] = now) -> PostgresStore:
        return PostgresStore(self.url, clock)

    def block(self) -> None:
        """Somebody holds the lock, and does not let it go."""
        self._holder = self.server.connect(self.url)
        self._holder.execute(f"select pg_advisory_lock(%s, {database.SCHEMA_HASH})", (database.ORDER,))

    def unblock(self) -> None:
        self._holder.close()

    def content(self, name: str = "") -> bytes:
        """The files of all tables and indices, long values and dead rows included; or of one of them."""
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
    """Where a store is."""
    if request.param == "sqlite":
        yield SqlitePlace(tmp_path)
        return
    monkeypatch.setattr(database, "SETTINGS", database.SETTINGS.replace("5s", "200ms"))
    yield PostgresPlace(request.getfixturevalue("postgres"))
