"""Whose turn it is to write, over all threads and processes: a lock on a file beside the database, for its owner alone.

`flock` queues fairly, as SQLite's own busy handler does not; but whoever can open the file can hold it, and `flock`
waits for ever. So the file has mode 600 and the owner of the database, and a wait ends after some seconds.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from survey_app.store.records import Unavailable

PRIVATE = 0o600
OTHERS = 0o077


def tighten(*paths: Path) -> None:
    """Let nobody but their owner read these files, as far as they exist; PermissionError where that is not allowed."""
    for path in paths:
        with suppress(FileNotFoundError):
            if path.stat().st_mode & OTHERS:
                try:
                    path.chmod(PRIVATE)
                except PermissionError:
                    told = f"others may open {path}, which is not yours to change; let its owner do it: chmod 600"
                    raise PermissionError(f"{told} {path}") from None


class Lock:
    """One turn after the other; Unavailable where it takes too long, or the file is not for us alone."""

    def __init__(self, database: Path) -> None:
        self._database, self._path = database, Path(f"{database}.lock")
        self._mutex = threading.Lock()
        self._waiting: _Waiting | None = None

    @contextmanager
    def held(self, seconds: float) -> Iterator[None]:
        """Our turn, waited for so many seconds at most."""
        if not self._mutex.acquire(timeout=seconds):
            raise Unavailable(f"other writers took longer than {seconds:g} seconds")
        try:
            try:
                handle = self._take(seconds)
            except OSError as error:
                raise Unavailable(str(error)) from error
            try:
                yield
            finally:
                os.close(handle)
        finally:
            self._mutex.release()

    def _take(self, seconds: float) -> int:
        if self._waiting is None or not self._waiting.claim():
            handle = self._open()
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                self._waiting = _Waiting(handle)
        if not self._waiting.wait(seconds):
            raise TimeoutError(f"somebody else held {self._path} for more than {seconds:g} seconds")
        handle, self._waiting = self._waiting.handle, None
        return handle

    def _open(self) -> int:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
        try:
            lock, owner = os.fstat(handle), os.stat(self._database)
            if lock.st_uid != owner.st_uid:  # a command of root's made it, or somebody who wants to hold it
                os.fchown(handle, owner.st_uid, owner.st_gid)
            if lock.st_mode & OTHERS:
                os.fchmod(handle, PRIVATE)
        except PermissionError:
            os.close(handle)
            whose = f"it belongs to user {lock.st_uid}, the database to user {owner.st_uid}"
            raise PermissionError(f"others could hold {self._path}: {whose}; remove it") from None
        except BaseException:
            os.close(handle)
            raise
        return handle


class _Waiting:
    """A thread that stands in the queue in our place. A turn that nobody wants any more, it passes on; whoever comes
    before that takes over its place, so that there is one such thread however long somebody holds the lock."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self._wanted, self._ours, self._over = True, False, False
        self._change = threading.Condition()
        threading.Thread(target=self._queue, name="lock", daemon=True).start()

    def _queue(self) -> None:
        fcntl.flock(self.handle, fcntl.LOCK_EX)
        with self._change:
            if self._wanted:
                self._ours = True
                self._change.notify()
            else:
                self._over = True
                os.close(self.handle)

    def claim(self) -> bool:
        """Want the place again; False if it was passed on already."""
        with self._change:
            self._wanted = not self._over
            return self._wanted

    def wait(self, seconds: float) -> bool:
        """Whether the turn has come within so many seconds."""
        with self._change:
            self._wanted = self._change.wait_for(lambda: self._ours, seconds)
            return self._wanted
