"""How long order may be seen at rest, and how long tidying rests: the rules that both databases share."""

import time
from collections.abc import Callable
from threading import Lock

REST = 50  # times as long as tidying worked passes before the next time: nobody can write meanwhile
LONGEST_REST = 60.0  # seconds


def rest_after(worked: float) -> float:
    """Return the seconds to rest after so many seconds of tidying."""
    return min(LONGEST_REST, max(1.0, REST * worked))


class Disorder:
    """The disorder that was seen last, and since when. It is named by a mark that changes whenever somebody tidies up,
    so that one that stays is told from a new one. Kept in memory alone: on disk a moment would tell of a report."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._mark: object = None
        self._since = 0.0

    def see(self, mark: object) -> bool:
        """Take note of what stands there now, None if all is tidy; return whether anything does."""
        with self._lock:
            if mark != self._mark:
                self._mark, self._since = mark, self._monotonic()
        return mark is not None

    @property
    def age(self) -> float:
        """The seconds since the present disorder was first seen; 0 where all is tidy."""
        with self._lock:
            return 0.0 if self._mark is None else self._monotonic() - self._since
