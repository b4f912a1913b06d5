"""The lock for writing, over all threads and processes, on a file next to the database.

Unlike SQLite's own busy handler, `flock` queues fairly. But every user who can open the file can hold the lock, and
`flock` waits without limit. So the file has mode 600 and the owner of the database, and a wait ends after some seconds.
On Windows, which has no modes, the folder's access rights decide who can open the file.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from survey_app.store.file_system import NO_LINK, close_locked_file, lock_file, try_to_lock_file
from survey_app.store.records import Unavailable

OWNER_ONLY = 0o600
NON_OWNER_BITS = 0o077


def restrict_access(*paths: Path) -> None:
    """Restrict access to these files, if they exist, to their owner. Raise PermissionError if that is not allowed."""
    for path in paths if sys.platform != "win32" else ():
        with suppress(FileNotFoundError):
            if path.stat().st_mode & NON_OWNER_BITS:
                try:
                    path.chmod(OWNER_ONLY)
                except PermissionError:
                    message = (
                        f"other users may open {path}, and only its owner can change that; the owner runs: chmod 600"
                    )
                    raise PermissionError(f"{message} {path}") from None


class Lock:
    """A lock that one writer holds at a time."""

    def __init__(self, database: Path) -> None:
        self._database, self._path = database, Path(f"{database}.lock")
        self._mutex = threading.Lock()
        self._waiter: _Waiter | None = None

    @contextmanager
    def hold(self, seconds: float) -> Iterator[None]:
        """Hold the lock, after waiting for at most so many seconds.

        Raise Unavailable if that is not enough, or if other users could open the file.
        """
        if not self._mutex.acquire(timeout=seconds):
            raise Unavailable(f"other writers took longer than {seconds:g} seconds")
        try:
            try:
                handle = self._acquire(seconds)
            except OSError as error:
                raise Unavailable(str(error)) from error
            try:
                yield
            finally:
                close_locked_file(handle)
        finally:
            self._mutex.release()

    def _acquire(self, seconds: float) -> int:
        if self._waiter is None or not self._waiter.claim():
            handle = self._open()
            try:
                try_to_lock_file(handle)
                return handle
            except BlockingIOError:
                self._waiter = _Waiter(handle)
        if not self._waiter.wait(seconds):
            raise TimeoutError(f"another process held {self._path} for more than {seconds:g} seconds")
        handle, self._waiter = self._waiter.handle, None
        return handle

    def _open(self) -> int:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | NO_LINK, OWNER_ONLY)
        try:
            if sys.platform != "win32":
                lock, owner = os.fstat(handle), os.stat(self._database)
                if lock.st_uid != owner.st_uid:  # created by root, or by a user who wants to block writers
                    os.fchown(handle, owner.st_uid, owner.st_gid)
                if lock.st_mode & NON_OWNER_BITS:
                    os.fchmod(handle, OWNER_ONLY)
        except PermissionError:
            os.close(handle)
            owners = f"it belongs to user {lock.st_uid}, and the database to user {owner.st_uid}"
            raise PermissionError(f"other users could lock {self._path}: {owners}; remove the file") from None
        except BaseException:
            os.close(handle)
            raise
        return handle


class _Waiter:
    """A thread that waits for the file lock on behalf of a caller.

    If no caller wants the lock any more, the thread releases it at once. A caller who comes before that takes the
    thread over, so there is only one, however long another process holds the lock.
    """

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._is_wanted, self._is_locked, self._is_released = True, False, False
        self._change = threading.Condition()
        threading.Thread(target=self._queue, name="lock", daemon=True).start()

    def _queue(self) -> None:
        lock_file(self.handle)
        with self._change:
            if self._is_wanted:
                self._is_locked = True
                self._change.notify()
            else:
                self._is_released = True
                close_locked_file(self.handle)

    def claim(self) -> bool:
        """Take over the wait; return False if the lock was released already."""
        with self._change:
            self._is_wanted = not self._is_released
            return self._is_wanted

    def wait(self, seconds: float) -> bool:
        """Wait for the lock; return whether it was acquired within so many seconds."""
        with self._change:
            self._is_wanted = self._change.wait_for(lambda: self._is_locked, seconds)
            return self._is_wanted
