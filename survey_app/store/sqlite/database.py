"""The SQLite file: its tables, its connections, and its single writer at a time.

The file is in WAL mode with `synchronous=FULL`, so a commit is on disk. `secure_delete` wipes deleted rows. Every table
with data of respondents is WITHOUT ROWID and has a random key, so it keeps no order of arrival. sqlite-utils creates
the tables; the hot path uses plain sqlite3. Several processes may write. Each holds the lock for one transaction, and
commits only what fits from the WAL into the file even when the disk is full.
"""

import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from survey_app.store.file_system import NO_LINK, reserve_space
from survey_app.store.records import StoreError, Unavailable, now
from survey_app.store.rewrite_schedule import Disorder
from survey_app.store.sql.dialect import Base
from survey_app.store.sqlite.lock import OWNER_ONLY, Lock, restrict_access
from survey_app.store.sqlite.schema import EARLIEST_VERSION, VERSION, migrate_tables

if TYPE_CHECKING:
    import sqlite_utils

BUSY_SECONDS = LOCK_SECONDS = 5.0
CHECKPOINT_PAGES = 1000
PAGE_BYTES = 4096
RESERVE_UNIT = 16 * PAGE_BYTES  # the reserved disk space is a multiple of this
LARGEST_RESERVE = 16 * RESERVE_UNIT  # the most that stays reserved while it is not needed

SIDECAR_SUFFIXES = ("-wal", "-shm", "-reserve", ".lock")  # suffixes of the files that belong to a database

KEY_SETTING = "secret_key"  # the name of the setting with the key that signs sessions


class ThreadConnection(sqlite3.Connection):
    """A connection that closes when its thread ends; from Python 3.13 on, an unclosed connection causes a warning."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # the connection could not be opened
            self.close()


def connect(path: Path) -> ThreadConnection:
    """Open a connection for one thread; each statement is a transaction of its own unless one is begun."""
    return sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        factory=ThreadConnection,
        check_same_thread=False,  # the thread that closes a store may close connections of threads that still run
    )


def open_database(connection: sqlite3.Connection) -> "sqlite_utils.Database":
    """Return a connection as a database of sqlite-utils, which changes no settings and runs no plugins of others."""
    import sqlite_utils  # takes a third of a second where pandas is installed

    return sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False)


@contextmanager
def write_transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Open a writing transaction, which is committed at the end, or rolled back if anything is raised."""
    connection.execute("begin immediate")
    try:
        yield connection
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


class Database(Base):
    """The database: one connection per thread, and one writer at a time over all processes."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = now) -> None:
        self.path, self.clock = path, clock
        self._disorder = Disorder()
        self._local = threading.local()
        self._lock = Lock(path)
        self._reserve = Path(f"{path}-reserve")

    # connections

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = connect(self.path)
        connection.executescript(
            f"pragma synchronous=full; pragma secure_delete=on; pragma wal_autocheckpoint={CHECKPOINT_PAGES};"
        )
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a writing transaction, alone among all processes.

        Raise Unavailable if it cannot be made durable.
        """
        try:
            with self._lock.hold(LOCK_SECONDS), write_transaction(self._connection) as connection:
                yield connection
                self._reserve_space(connection)
        except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError) as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            self.close()
            raise Unavailable(str(error)) from error

    def _reserve_space(self, connection: sqlite3.Connection) -> None:
        """Reserve the disk space by which the file will grow when the WAL is moved into it.

        Otherwise the WAL, with the order of arrival, would remain for as long as the disk is full. Raise OSError if the
        disk is full.
        """
        growth = connection.execute("pragma page_count").fetchone()[0] * PAGE_BYTES - self.path.stat().st_size
        reserved = self._reserve.stat().st_size if self._reserve.exists() else 0
        if growth > reserved:
            handle = os.open(self._reserve, os.O_RDWR | os.O_CREAT | NO_LINK, OWNER_ONLY)
            try:
                reserve_space(handle, -(-growth // RESERVE_UNIT) * RESERVE_UNIT)
            finally:
                os.close(handle)

    def _fetch_all(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            self.close()
            raise Unavailable(str(error)) from error

    def _fetch_one(self, query: str, *values: Any) -> Any:
        return next(iter(self._fetch_all(query, *values)), None)

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    # setting up

    def migrate(self) -> None:
        """Create the file and its tables, or add the tables that it lacks; safe to call at every start.

        Raise StoreError if the file cannot be opened, or if its version is newer than VERSION or older than
        EARLIEST_VERSION. Older files hold definitions in another format.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
            os.close(handle)
            restrict_access(self.path, *sidecar_files(self.path))
            self._check_version(read_file_version(self.path))
            with self._lock.hold(LOCK_SECONDS), closing(open_database(connect(self.path))) as database:
                self._migrate(database)
        except FileExistsError as error:
            raise StoreError(f"cannot open the database {self.path}: {error.filename} is no folder") from error
        except (OSError, sqlite3.DatabaseError, Unavailable) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreError(f"cannot open the database {self.path}: {reason}") from error

    def _migrate(self, database: "sqlite_utils.Database") -> None:
        """Bring the tables to VERSION and add the key that signs sessions, in one transaction."""
        version = database.execute("pragma user_version").fetchone()[0]
        self._check_version(version)
        if version == 0:
            database.enable_wal()
        settings = database.table("settings")
        has_key = version > 0 and settings.count_where("name = ?", [KEY_SETTING]) > 0
        if version == VERSION and has_key:
            return
        with write_transaction(database.conn):
            migrate_tables(database, version)
            if not has_key:  # the file is new, or an earlier Candor crashed
                settings.insert({"name": KEY_SETTING, "value": secrets.token_bytes(32)})

    def _check_version(self, version: int) -> None:
        if version > VERSION:
            raise StoreError(f"{self.path} was made by a newer Candor (version {version})")
        if 0 < version < EARLIEST_VERSION:
            raise StoreError(
                f"{self.path} was made by an earlier Candor, whose surveys this one cannot read. It was not changed: "
                "keep it with that version, and name a new file for this one (--db)"
            )

    def sidecar_path(self, suffix: str) -> Path:
        """Return the path of a file next to the database, for data that must never share a journal with reports."""
        return Path(f"{self.path}-{suffix}")

    def secret_key(self) -> bytes:
        """Return the key that signs sessions; it survives restarts."""
        return bytes(self._fetch_one("select value from settings where name = ?", KEY_SETTING)[0])


def sidecar_files(path: Path) -> list[Path]:
    """Return the paths of all files that belong to a database besides the file itself; they may not exist."""
    return [Path(f"{path}{end}") for end in SIDECAR_SUFFIXES]


def read_file_version(path: Path) -> int:
    """Return the version in the header of the file; 0 if it has none, for example while all data is still in the WAL.

    The header is read without SQLite. SQLite would move the WAL of a killed server into the file and so change it.
    """
    with open(path, "rb") as file:
        head = file.read(100)
    return int.from_bytes(head[60:64], "big") if head.startswith(b"SQLite format 3\0") else 0
