"""The connections to PostgreSQL: a pool for reading and administration, and one connection that stores reports.

One advisory lock orders all writers. Transactions that store reports share it; administrative ones hold it alone. So a
survey closes only after the running writers are done, and no report is stored after its last step. There is no second
lock that could be taken in the wrong order. Advisory locks are in memory; unlike row locks, they leave nothing on disk.
A commit is on disk (`synchronous_commit`). A broken connection is replaced at its next use.
"""

import os
import random
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool

from survey_app.store.postgres.schema import MIGRATIONS, SCHEMA, VERSION
from survey_app.store.records import StoreError, Unavailable, now
from survey_app.store.rewrite_schedule import Disorder
from survey_app.store.sql.dialect import Base, Cursor

POOL, WAIT_SECONDS = 8, 5.0
SHARDS = 16  # one for each writer, so that writers do not wait for each other; further writers share
SCHEMA_HASH = "hashtext(current_schema())"  # other stores may be in the same database
ORDER, SHARD, QUOTA, TIDY, MIGRATE = (0x43414E44 + i for i in range(5))  # "CAND": our advisory locks
SETTINGS = f"set synchronous_commit = on; set client_min_messages = error; set lock_timeout = '{WAIT_SECONDS:g}s'"
BEGIN = (
    "begin; set local idle_in_transaction_session_timeout = '60s'; select pg_advisory_xact_lock{}({}, "
    + SCHEMA_HASH
    + ")"
)
TICKETS = "CANDOR_TICKETS"
CONNECTION_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)


class Session:
    """A connection that accepts queries in the form for SQLite."""

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self.raw = raw

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a query; `?` marks its values."""
        return self.raw.execute(query.replace("?", "%s").encode(), values or None)

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a query once for each row of values."""
        with self.raw.cursor() as cursor:
            cursor.executemany(query.replace("?", "%s").encode(), rows)


@contextmanager
def transaction(raw: "psycopg.Connection[Any]", begin: str = "begin") -> Iterator[Session]:
    """Open a transaction, which is committed at the end, or rolled back if anything is raised."""
    raw.execute(begin.encode())
    try:
        yield Session(raw)
        raw.execute("commit")
    except BaseException:
        with suppress(psycopg.Error):
            raw.execute("rollback")
        raise


class Database(Base):
    """The database that all servers share."""

    DEFINITION_CONTAINS = "position(cast(? as bytea) in definition) > 0"

    def __init__(self, url: str, clock: Callable[[], datetime] = now) -> None:
        self.url, self.clock = url, clock
        self._disorder = Disorder()
        self._local = threading.local()
        self._lock, self._collector = threading.Lock(), threading.Lock()
        self._lazy_pool: ConnectionPool[Any] | None = None
        self._writer: tuple[psycopg.Connection[Any], int] | None = None
        self._rest_until = 0.0

    @property
    def place(self) -> str:
        """The name and host of the database, without its password."""
        return place_of(self.url)

    # connections

    def _connect(self) -> "psycopg.Connection[Any]":
        raw = psycopg.connect(self.url, autocommit=True, connect_timeout=int(WAIT_SECONDS))
        raw.execute(SETTINGS.encode())
        return raw

    @property
    def _pool(self) -> "ConnectionPool[Any]":
        with self._lock:
            if self._lazy_pool is None:
                self._lazy_pool = ConnectionPool(
                    self.url,
                    kwargs={"autocommit": True, "connect_timeout": int(WAIT_SECONDS)},
                    configure=lambda raw: raw.execute(SETTINGS.encode()) and None,
                    check=ConnectionPool.check_connection,
                    name="candor",
                    min_size=0,
                    max_size=POOL,
                    timeout=WAIT_SECONDS,
                    reconnect_timeout=0.0,  # the next caller tries at once; otherwise the pauses would double
                    num_workers=1,
                    open=True,
                )
            return self._lazy_pool

    @contextmanager
    def _pooled_connection(self) -> Iterator["psycopg.Connection[Any]"]:
        """Borrow a connection of the pool. Raise Unavailable if there is none, or if it breaks."""
        try:
            with self._pool.connection() as raw:
                yield raw
        except CONNECTION_ERRORS as error:
            raise _unavailable(error) from error

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        """Open a writing transaction, while no other process administers or stores reports."""
        with self._pooled_connection() as raw, transaction(raw, BEGIN.format("", ORDER)) as session:
            self._local.session = session
            try:
                yield session
            finally:
                self._local.session = None

    @contextmanager
    def _report_transaction(self) -> Iterator[tuple[Session, int]]:
        """Open a transaction that stores reports, concurrent with those of other servers; yield it and its shard.

        Raise Unavailable if the connection breaks.
        """
        try:
            with self._collector:
                begin = BEGIN.format("_shared", ORDER)
                for attempt in range(2):
                    raw, shard = self._writer = self._writer or self._take_shard()
                    try:
                        raw.execute(begin.encode())
                        break
                    except CONNECTION_ERRORS:  # it may have broken while idle; no report was read yet
                        self._end_writer()
                        if attempt:
                            raise
                try:
                    yield Session(raw), shard
                    raw.execute("commit")
                except CONNECTION_ERRORS:
                    self._end_writer()
                    raise
                except BaseException:
                    raw.execute("rollback")
                    raise
        except CONNECTION_ERRORS as error:
            raise _unavailable(error) from error

    def _take_shard(self) -> "tuple[psycopg.Connection[Any], int]":
        """Return a connection and a shard that it alone uses while it is open, or any shard if all are in use."""
        raw = self._connect()
        number = f"({SCHEMA_HASH} & 67108863) * 16 + n"
        query = f"select n from generate_series(0, %s) n where pg_try_advisory_lock(%s, {number}) limit 1"
        row = raw.execute(query.encode(), (SHARDS - 1, SHARD)).fetchone()
        return raw, row[0] if row else random.SystemRandom().randrange(SHARDS)

    def _end_writer(self) -> None:
        if self._writer is not None:
            self._writer[0].close()
            self._writer = None

    def _fetch_all(self, query: str, *values: Any) -> list[Any]:
        session = getattr(self._local, "session", None)
        if session is not None:
            return list(session.execute(query, values).fetchall())
        with self._pooled_connection() as raw:
            return list(Session(raw).execute(query, values).fetchall())

    def _fetch_one(self, query: str, *values: Any) -> Any:
        return next(iter(self._fetch_all(query, *values)), None)

    def _insert(self, connection: Any, query: str, values: Sequence[Any]) -> int:
        return int(connection.execute(f"{query} returning key", values).fetchone()[0])

    def close(self) -> None:
        """Close all connections; the next use opens others."""
        with self._lock:
            pool, self._lazy_pool = self._lazy_pool, None
        if pool is not None:
            pool.close()
        with self._collector:
            self._end_writer()

    # setting up

    def migrate(self) -> None:
        """Create the tables, or those that are missing; safe to call at every start of every server.

        Raise StoreError if the database cannot be opened, or if its version is newer than VERSION or unknown.
        """
        try:
            with self._connect() as raw, transaction(raw) as session:
                session.execute(f"select pg_advisory_xact_lock(?, {SCHEMA_HASH})", (MIGRATE,))
                if session.execute("select to_regclass('settings')").fetchone()[0] is None:
                    session.execute(SCHEMA)
                    _migrate(session, 1)
                    settings = [("version", b"%d" % VERSION), ("secret_key", secrets.token_bytes(32))]
                    session.executemany("insert into settings values (?, ?)", settings)
                    return
                row = session.execute("select value from settings where name = 'version'").fetchone()
                version = int(row[0]) if row else 0
                if not 0 < version <= VERSION:
                    newer = f"was made by a newer version of Candor (database version {version}); update Candor"
                    raise StoreError(f"{self.place} {newer if version else 'is not a database of Candor'}")
                _migrate(session, version)
                session.execute("update settings set value = ? where name = 'version'", (b"%d" % VERSION,))
        except psycopg.Error as error:
            raise StoreError(f"cannot open the database {self.place}: {first_line(error)}") from error

    def sidecar_path(self, suffix: str) -> Path | None:
        """Return the path of the ticket file on the one server that issues tickets, or None on other servers.

        Tickets are never in the database, because its WAL contains the reports.
        """
        path = os.environ.get(TICKETS)
        return Path(path) if path else None

    def secret_key(self) -> bytes:
        """Return the key that signs sessions; it is the same for all servers."""
        return bytes(self._fetch_one("select value from settings where name = 'secret_key'")[0])


def _migrate(session: Session, version: int) -> None:
    """Bring the tables of this version to VERSION."""
    for number, migrate in MIGRATIONS.items():
        if number > version:
            migrate(session)


def place_of(url: str) -> str:
    """Return the name and host of the database at a URL, without its password."""
    parts = conninfo_to_dict(url)
    return f"{parts.get('dbname', '')} at {parts.get('host', 'localhost')}".strip()


def check_address(url: str) -> None:
    """Raise StoreError for a URL that cannot be parsed; the message does not quote it, since it may have a password."""
    try:
        host = str(conninfo_to_dict(url).get("host", ""))
    except psycopg.ProgrammingError:
        host = "@"
    if "@" in host:
        raise StoreError(
            "this PostgreSQL URL cannot be parsed; use postgresql://user:password@host/database. In a password, write "
            "%40 for @, %3A for :, %2F for /, %20 for a space and %25 for %"
        )


def first_line(error: psycopg.Error) -> str:
    """Return the first line of an error message; further lines may contain values."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _unavailable(error: psycopg.Error) -> Unavailable:
    return Unavailable(first_line(error))
