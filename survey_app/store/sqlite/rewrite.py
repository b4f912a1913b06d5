"""Rewriting the SQLite file, so that a file at rest reveals nothing about when reports came.

SQLite fills a page in the order of arrival, whatever the key, and the WAL stores one commit after the other. So the
file is rewritten in the order of keys, and the WAL is emptied. The file itself records that a rewrite is due, in the
transaction that causes it. If one process leaves a rewrite undone, for example by a crash, another process does it.

On a full disk there is no space to rewrite the file. The WAL is emptied nevertheless, because every commit has reserved
the space for that (`database.Database._reserve_space`). Reports are deleted and inserted again in the order of their
keys, some at a time. Their distribution over pages may then still reveal which reports came together. So the store
still needs a rewrite, and records since when it fails. Like the writing of reports, this is plain sqlite3: nobody can
write meanwhile, and the module `reports` says what sqlite-utils would add.
"""

import logging
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from survey_app.store.records import Unavailable
from survey_app.store.rewrite_schedule import rest_seconds
from survey_app.store.sqlite.database import LARGEST_RESERVE, LOCK_SECONDS, Database
from survey_app.store.sqlite.sqlite_file import BUSY_SECONDS, write_transaction

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds that readers may delay a rewrite before it counts as failed
POLITE_SECONDS = 3.0  # so long a rewrite gives way to readers; after that, it waits for them
WAIT_SECONDS = 2.0  # each wait for readers; nobody can write during it
PART_ROWS, PART_BYTES, ROW_BYTES = 400, 16_384, 24  # per transaction of a rewrite in parts; a row has a key and lengths


def mark_for_rewrite(connection: sqlite3.Connection) -> None:
    """Record, in the transaction that causes it, that order of arrival or deleted rows are readable from now on.

    The value is random, so that a lasting disorder can be distinguished from a new one.
    """
    connection.execute("insert or ignore into settings values ('untidy', ?)", (secrets.token_bytes(8),))


class Rewriter(Database):
    """The rewrites of a SQLite file, which leave no order of arrival on disk."""

    _rest_until = 0.0
    _late_from: float | None = None  # when the failing began, by the clock of this process
    _failing_since: datetime | None = None  # the day, for a disk on which it cannot be recorded
    _parts_due = True

    @property
    def needs_rewrite(self) -> bool:
        """Whether order of arrival or deleted rows are readable on disk, whichever process left them."""
        try:
            row = self._fetch_one("select value from settings where name = 'untidy'")
        except Unavailable:
            return True
        return self._disorder.observe(row and row[0])

    def needs_rewrite_for(self, seconds: float) -> bool:
        """Return whether this process has seen the same disorder for so many seconds, whatever the reason."""
        return self.needs_rewrite and self._disorder.age >= seconds

    @property
    def rewrite_failing_since(self) -> datetime | None:
        """The day since which rewriting fails, or None.

        It is a day because a moment would reveal when a report came.
        """
        settings = dict(self._fetch_all("select name, value from settings where name in ('untidy', 'untidy_since')"))
        if since := settings.get("untidy_since"):
            return datetime.fromisoformat(since)
        return self._failing_since if settings else None

    def tidy(self, *, now: bool = False) -> bool:
        """Rewrite the file if needed, so that it reveals no order of arrival; return whether that is achieved.

        Return False if the rewrite failed, if others are reading, or if the last rewrite was too recent. With `now`,
        rewrite in any case, and wait for readers. If readers have delayed the rewrite for long, wait for them a little
        even without `now`, since several readers could otherwise block it forever.
        """
        start = time.monotonic()
        if start < self._rest_until and not now:
            return False
        success = False
        try:
            with self._lock.hold(LOCK_SECONDS), self._busy_timeout(BUSY_SECONDS if now else self._reader_timeout):
                start = time.monotonic()  # waiting for others is not counted
                try:
                    success = (not now and not self.needs_rewrite) or self._tidy()
                    failure = None
                except (sqlite3.DatabaseError, OSError) as error:
                    failure = None if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY else error
                if self._log_result(success, failure):
                    self._record_failure()
        except Unavailable as error:
            start = time.monotonic()
            self._log_result(success, error)
        self._rest_until = time.monotonic() + rest_seconds(time.monotonic() - start)
        return success

    @property
    def _reader_timeout(self) -> float:
        is_late = self._late_from is not None and time.monotonic() - self._late_from >= POLITE_SECONDS
        return WAIT_SECONDS if is_late else 0

    @contextmanager
    def _busy_timeout(self, seconds: float) -> Iterator[None]:
        """Set how long statements of this connection wait for readers, for the length of a block."""
        self._connection.execute(f"pragma busy_timeout={int(1000 * seconds)}")
        try:
            yield
        finally:
            self._connection.execute(f"pragma busy_timeout={int(1000 * BUSY_SECONDS)}")

    def _tidy(self) -> bool:
        connection, wal = self._connection, Path(f"{self.path}-wal")
        self._parts_due |= wal.exists() and wal.stat().st_size > 0
        if not self._checkpoint():
            return False
        try:
            self._rewrite()
        except (sqlite3.OperationalError, OSError):
            self._checkpoint()
            if self._parts_due:
                self._rewrite_in_parts()
                self._parts_due = False
            raise
        if not self._checkpoint():
            return False
        connection.execute("delete from settings where name in ('untidy', 'untidy_since')")
        self._checkpoint()
        with suppress(FileNotFoundError):
            if self._reserve.stat().st_size > LARGEST_RESERVE:
                os.truncate(self._reserve, LARGEST_RESERVE)
        return True

    def _checkpoint(self) -> bool:
        """Move the WAL into the file and empty it; return False if a reader prevents it."""
        query = "pragma wal_checkpoint(truncate)"
        try:
            return not self._connection.execute(query).fetchone()[0]
        except sqlite3.OperationalError:
            if not self._reserve.exists():
                raise
            self._reserve.unlink()  # it was reserved for this
            return not self._connection.execute(query).fetchone()[0]

    def _rewrite(self) -> None:
        """Rewrite the whole file in the order of keys. Raise OSError, without trying, if the disk is too full."""
        pages, size = (self._connection.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if shutil.disk_usage(self.path.parent).free < pages * size:
            raise OSError(f"rewriting the database needs {pages * size} bytes, and the disk has fewer")
        self._connection.execute("vacuum")

    def _rewrite_in_parts(self) -> None:
        """Delete and insert all reports in the order of their keys, some at a time; this needs space for a few pages.

        A page that lies within one part is filled in the order of keys. A second round begins with half a part, so that
        the former edges of parts are then in the middle of one.
        """
        connection, query = self._connection, "select survey, id, bits from reports where (survey, id) > (?, ?)"
        for most in (PART_ROWS, PART_ROWS // 2):
            after: tuple[int, bytes] = (-1, b"")
            while rows := connection.execute(f"{query} order by survey, id limit ?", (*after, most)).fetchall():
                size = 0
                part = [row for row in rows if (size := size + ROW_BYTES + len(row[2])) <= PART_BYTES] or rows[:1]
                with write_transaction(connection):
                    connection.executemany("delete from reports where survey = ? and id = ?", [row[:2] for row in part])
                    connection.executemany("insert into reports values (?, ?, ?)", part)
                    self._reserve_space(connection)
                self._checkpoint()
                after, most = part[-1][:2], PART_ROWS

    def _log_result(self, done: bool, failure: Exception | None) -> bool:
        """Log the result if it changes from success to failure or back; return True for a new failure."""
        if done:
            if self._failing_since:
                log.warning("the database was rewritten again")
            self._late_from = self._failing_since = None
            return False
        self._late_from = self._late_from or time.monotonic()
        if self._failing_since or not (failure or time.monotonic() - self._late_from > PATIENCE):
            return False
        self._failing_since = self.clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        reason = failure or "it is being read all the time"
        log.warning(
            "the database cannot be rewritten: %s. Until it is, it may reveal the order in which reports came", reason
        )
        return True

    def _record_failure(self) -> None:
        """Record in the file since when rewriting fails, for other processes; do nothing if it cannot be written."""
        if self._failing_since:
            values = (self._failing_since.isoformat(),)
            with suppress(sqlite3.DatabaseError, OSError):
                mark_for_rewrite(self._connection)
                self._connection.execute("insert or ignore into settings values ('untidy_since', ?)", values)
                self._checkpoint()
