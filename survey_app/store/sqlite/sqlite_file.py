"""An open SQLite file: one connection for each thread, opened by sqlite-utils, which is imported with the first one.

Statements run on the plain connection (`_connection`) where PostgreSQL shares them, and where reports are written or
rewritten: the module `reports` says what that gains. Everything else uses the tables of `_database`.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from survey_app.store.records import Unavailable
from survey_app.store.sqlite.lock import OWNER_ONLY, Lock, restrict_access

if TYPE_CHECKING:
    import sqlite_utils

BUSY_SECONDS = 5.0


class ThreadConnection(sqlite3.Connection):
    """A connection that closes when its thread ends; from Python 3.13 on, an unclosed connection causes a warning."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # the connection could not be opened
            self.close()


def open_database(path: Path, pragmas: Mapping[str, object]) -> "sqlite_utils.Database":
    """Open a file for one thread, and set its pragmas; each statement is a transaction unless one is begun."""
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        factory=ThreadConnection,
        check_same_thread=False,  # the thread that closes a store may close connections of threads that still run
    )
    database = wrap_connection(connection)
    try:
        for name, value in pragmas.items():
            database.execute(f"pragma {name}={value}")
    except BaseException:
        database.close()
        raise
    return database


def connect_read_only(path: Path, *, immutable: bool) -> sqlite3.Connection:
    """Connect to a file without changing it; `immutable` promises that no program writes to it."""
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=1.0)


def wrap_connection(connection: sqlite3.Connection) -> "sqlite_utils.Database":
    """Return a connection as a database of sqlite-utils, which changes no pragmas and runs no plugins."""
    import sqlite_utils  # takes a third of a second where pandas is installed

    return sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False)


@contextmanager
def write_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Open a writing transaction, which is committed at the end, or rolled back if anything is raised."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


class SqliteFile:
    """A file with one connection per thread, and the lock for writing to it."""

    PRAGMAS: ClassVar[Mapping[str, object]]
    NAME = ""  # of the file, if an error has to say which one failed

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = Lock(path)

    @property
    def _database(self) -> "sqlite_utils.Database":
        """The tables of the file, on this thread's connection."""
        database: sqlite_utils.Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = self._open()
        return database

    @property
    def _connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        return self._database.conn

    def _open(self) -> "sqlite_utils.Database":
        return open_database(self.path, self.PRAGMAS)

    def _create(self, *sidecars: Path) -> None:
        """Create the file if there is none. Restrict access to it, and to files next to it, to the owner."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
        restrict_access(self.path, *sidecars)

    def _fetch_all(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._fail(error) from error

    def _fetch_one(self, query: str, *values: Any) -> Any:
        return next(iter(self._fetch_all(query, *values)), None)

    def _fail(self, error: Exception) -> Unavailable:
        """Close the connection, and return the error to raise instead."""
        self.close()
        return Unavailable(f"{self.NAME}: {error}" if self.NAME else str(error))

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        database: sqlite_utils.Database | None = getattr(self._local, "database", None)
        self._local.database = None
        if database is not None:
            database.close()
