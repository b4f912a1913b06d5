"""The schedule of rewrites for both databases: how long order has been on disk, and the rest between rewrites."""

import time
from collections.abc import Callable
from threading import Lock

REST_FACTOR = 50  # the rest is this many times the length of the rewrite, since nobody can write during a rewrite
LONGEST_REST = 60.0  # seconds


def rest_seconds(work_seconds: float) -> float:
    """Return the seconds to rest after a rewrite of so many seconds."""
    return min(LONGEST_REST, max(1.0, REST_FACTOR * work_seconds))


class Disorder:
    """The disorder that was seen last, and the moment it was first seen.

    A mark identifies it. The mark changes with every rewrite, so it distinguishes a lasting disorder from a new one.
    The moment is kept in memory only: on disk, it would reveal when a report came.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._mark: object = None
        self._since = 0.0

    def observe(self, mark: object) -> bool:
        """Record the current mark, None if the database is in order; return whether there is disorder."""
        with self._lock:
            if mark != self._mark:
                self._mark, self._since = mark, self._monotonic()
        return mark is not None

    @property
    def age(self) -> float:
        """The seconds since the present disorder was first seen; 0 if there is none."""
        with self._lock:
            return 0.0 if self._mark is None else self._monotonic() - self._since
