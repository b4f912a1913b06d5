"""How the file is kept free of order: what is left in it when nobody writes tells nothing of when reports came.

SQLite fills a page in the order of arrival, whatever the key, and the WAL keeps commits one after the other. So the
file is rewritten in the order of keys, and the WAL emptied. That it is due stands in the file itself, written in the
transaction that makes it so: what one process leaves, be it by a crash, another one finishes.

On a full disk there is no room to rewrite the file. The WAL is emptied all the same, since every commit has set aside
the room for that (`database.Database._set_aside`), and reports are put anew in the order of their keys, some at a time.
How they are spread over pages may then still tell which came with which: the store stays untidy, and says since when.
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
from survey_app.store.rewrite_schedule import rest_after
from survey_app.store.sqlite.database import BUSY_SECONDS, LOCK_SECONDS, SPARE, Database, all_or_nothing

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds that readers may keep us from it before it is a failure
POLITE_SECONDS = 3.0  # so long do we give way to readers; then they are waited for
WAIT_SECONDS = 2.0  # and so long each time, while nobody can write
PART_ROWS, PART_BYTES, ROW_BYTES = 400, 16_384, 24  # put anew in one transaction; with a key and lengths in each row


def disturb(connection: sqlite3.Connection) -> None:
    """Write down, in the transaction that does it, that order or deleted rows may be seen from now on.

    The value is random: it tells how long one disorder stays from how often there is a new one.
    """
    connection.execute("insert or ignore into settings values ('untidy', ?)", (secrets.token_bytes(8),))


class Tidying(Database):
    """Leaves no order at rest."""

    _rest_until = 0.0
    _late: float | None = None  # the moment since which it could not be done, of this process's own clock
    _since: datetime | None = None  # for a disk on which that cannot be written down
    _parts_due = True

    @property
    def untidy(self) -> bool:
        """Whether order or deleted rows may be seen, also those that another process has left."""
        try:
            row = self._one("select value from settings where name = 'untidy'")
        except Unavailable:
            return True
        return self._disorder.see(row and row[0])

    def is_untidy_for(self, seconds: float) -> bool:
        """Tell whether the same disorder was seen from here for so many seconds, whatever the reason."""
        return self.untidy and self._disorder.age >= seconds

    @property
    def untidy_since(self) -> datetime | None:
        """The day since which tidying fails, None while it does not. A day: a moment would tell when a report came."""
        kept = dict(self._all("select name, value from settings where name in ('untidy', 'untidy_since')"))
        if since := kept.get("untidy_since"):
            return datetime.fromisoformat(since)
        return self._since if kept else None

    def tidy(self, *, now: bool = False) -> bool:
        """Leave no order of arrival at rest; False if that failed, or others read just now, or the last time is too
        recent. With `now` it is done in any case, and readers are waited for; a little also where they have kept us
        from it for long, since some would take turns for ever."""
        begun = time.monotonic()
        if begun < self._rest_until and not now:
            return False
        done = False
        try:
            with self._lock.held(LOCK_SECONDS), self._patient(BUSY_SECONDS if now else self._wait):
                begun = time.monotonic()  # waiting for others is no work
                try:
                    done = (not now and not self.untidy) or self._tidy()
                    failure = None
                except (sqlite3.DatabaseError, OSError) as error:
                    failure = None if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY else error
                if self._tell(done, failure):
                    self._write_down()
        except Unavailable as error:
            begun = time.monotonic()
            self._tell(done, error)
        self._rest_until = time.monotonic() + rest_after(time.monotonic() - begun)
        return done

    @property
    def _wait(self) -> float:
        is_late = self._late is not None and time.monotonic() - self._late >= POLITE_SECONDS
        return WAIT_SECONDS if is_late else 0

    @contextmanager
    def _patient(self, seconds: float) -> Iterator[None]:
        """Wait so long for readers."""
        self._connection.execute(f"pragma busy_timeout={int(1000 * seconds)}")
        try:
            yield
        finally:
            self._connection.execute(f"pragma busy_timeout={int(1000 * BUSY_SECONDS)}")

    def _tidy(self) -> bool:
        connection, wal = self._connection, Path(f"{self.path}-wal")
        self._parts_due |= wal.exists() and wal.stat().st_size > 0
        if not self._fold():
            return False
        try:
            self._rewrite()
        except (sqlite3.OperationalError, OSError):
            self._fold()
            if self._parts_due:
                self._rewrite_in_parts()
                self._parts_due = False
            raise
        if not self._fold():
            return False
        connection.execute("delete from settings where name in ('untidy', 'untidy_since')")
        self._fold()
        with suppress(FileNotFoundError):
            if self._reserve.stat().st_size > SPARE:
                os.truncate(self._reserve, SPARE)
        return True

    def _fold(self) -> bool:
        """Move the WAL into the file, and empty it; False if somebody reads what is in it."""
        query = "pragma wal_checkpoint(truncate)"
        try:
            return not self._connection.execute(query).fetchone()[0]
        except sqlite3.OperationalError:
            if not self._reserve.exists():
                raise
            self._reserve.unlink()  # this is what it was set aside for
            return not self._connection.execute(query).fetchone()[0]

    def _rewrite(self) -> None:
        """All of the file in the order of keys. Without room it is not tried: it would fill the disk for others."""
        pages, size = (self._connection.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if shutil.disk_usage(self.path.parent).free < pages * size:
            raise OSError(f"to rewrite the database takes {pages * size} bytes, and the disk has fewer")
        self._connection.execute("vacuum")

    def _rewrite_in_parts(self) -> None:
        """Put all reports anew in the order of their keys, some at a time, with room for a few pages.

        A page that is wholly of one part is filled in the order of keys. A second round begins with half a part, so
        that what was the edge of a part is then in the middle of one.
        """
        connection, query = self._connection, "select survey, id, bits from reports where (survey, id) > (?, ?)"
        for most in (PART_ROWS, PART_ROWS // 2):
            after: tuple[int, bytes] = (-1, b"")
            while rows := connection.execute(f"{query} order by survey, id limit ?", (*after, most)).fetchall():
                size = 0
                part = [row for row in rows if (size := size + ROW_BYTES + len(row[2])) <= PART_BYTES] or rows[:1]
                with all_or_nothing(connection):
                    connection.executemany("delete from reports where survey = ? and id = ?", [row[:2] for row in part])
                    connection.executemany("insert into reports values (?, ?, ?)", part)
                    self._set_aside(connection)
                self._fold()
                after, most = part[-1][:2], PART_ROWS

    def _tell(self, done: bool, failure: Exception | None) -> bool:
        """Log a failure, once; True if it is new."""
        if done:
            if self._since:
                log.warning("the database is tidy again")
            self._late = self._since = None
            return False
        self._late = self._late or time.monotonic()
        if self._since or not (failure or time.monotonic() - self._late > PATIENCE):
            return False
        self._since = self.clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        why = failure or "somebody reads it all the time"
        log.warning("the database cannot be tidied: %s. Until it is, it may tell in which order reports came", why)
        return True

    def _write_down(self) -> None:
        """Since when it fails, for other processes; where not even that can be written, they find out by themselves."""
        if self._since:
            values = (self._since.isoformat(),)
            with suppress(sqlite3.DatabaseError, OSError):
                disturb(self._connection)
                self._connection.execute("insert or ignore into settings values ('untidy_since', ?)", values)
                self._fold()
