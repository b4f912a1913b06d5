"""The database in a SQLite file: its pragmas, its transactions, its migration and the key that signs sessions.

The file is in WAL mode with `synchronous=FULL`, so a commit is on disk. `secure_delete` wipes deleted rows. Every table
with data of respondents is WITHOUT ROWID and has a random key, so it keeps no order of arrival. Several processes may
write. Each holds the lock for one transaction, and commits only what fits from the WAL into the file even when the disk
is full.
"""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from survey_app.store.file_system import NO_LINK, reserve_space
from survey_app.store.records import StoreError, Unavailable, now
from survey_app.store.rewrite_schedule import Disorder
from survey_app.store.sql.dialect import Base
from survey_app.store.sqlite.lock import OWNER_ONLY
from survey_app.store.sqlite.schema import EARLIEST_VERSION, VERSION, migrate_tables
from survey_app.store.sqlite.sqlite_file import SqliteFile, open_database, write_transaction

if TYPE_CHECKING:
    import sqlite_utils

LOCK_SECONDS = 5.0
CHECKPOINT_PAGES = 1000
PAGE_BYTES = 4096
RESERVE_UNIT = 16 * PAGE_BYTES  # the reserved disk space is a multiple of this
LARGEST_RESERVE = 16 * RESERVE_UNIT  # the most that stays reserved while it is not needed

SIDECAR_SUFFIXES = ("-wal", "-shm", "-reserve", ".lock")  # suffixes of the files that belong to a database

KEY_SETTING = "secret_key"  # the name of the setting with the key that signs sessions


class Database(SqliteFile, Base):
    """The database: one connection per thread, and one writer at a time over all processes."""

    PRAGMAS: ClassVar = {"synchronous": "full", "secure_delete": "on", "wal_autocheckpoint": CHECKPOINT_PAGES}

    def __init__(self, path: Path, clock: Callable[[], datetime] = now) -> None:
        super().__init__(path)
        self.clock = clock
        self._disorder = Disorder()
        self._reserve = Path(f"{path}-reserve")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a writing transaction, alone among all processes.

        Raise Unavailable if it cannot be made durable.
        """
        try:
            with self._lock.hold(LOCK_SECONDS), write_transaction(connection := self._connection):
                yield connection
                self._reserve_space(connection)
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._fail(error) from error

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """Open a connection of its own that reads everything as of one moment; it blocks no writers."""
        with closing(self._open().conn) as connection:
            connection.execute("begin")
            yield connection

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

    # setting up

    def migrate(self) -> None:
        """Create the file and its tables, or add the tables that it lacks; safe to call at every start.

        Raise StoreError if the file cannot be opened, or if its version is newer than VERSION or older than
        EARLIEST_VERSION. Older files hold definitions in another format.
        """
        try:
            self._create(*sidecar_files(self.path))
            self._check_version(read_file_version(self.path))
            with self._lock.hold(LOCK_SECONDS), closing(open_database(self.path, {})) as database:
                self._migrate(database)
        except FileExistsError as error:
            raise StoreError(f"cannot open the database {self.path}: {error.filename} is not a folder") from error
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
            raise StoreError(
                f"{self.path} was made by a newer version of Candor (database version {version}); update Candor"
            )
        if 0 < version < EARLIEST_VERSION:
            raise StoreError(
                f"{self.path} was made by an earlier version of Candor, whose surveys this version cannot read. The "
                "file was not changed. Keep it for the earlier version, and name a new file for this one (--db)"
            )

    def sidecar_path(self, suffix: str) -> Path:
        """Return the path of a file next to the database, for data that must never share a journal with reports."""
        return Path(f"{self.path}-{suffix}")

    def secret_key(self) -> bytes:
        """Return the key that signs sessions; it survives restarts."""
        try:
            return bytes(self._database.table("settings").get(KEY_SETTING)["value"])
        except sqlite3.DatabaseError as error:
            raise self._fail(error) from error


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
