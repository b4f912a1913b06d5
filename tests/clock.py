"""Clocks for tests that answer surveys: none of them ever waits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from candor_client import Clock


def make_fast_clock() -> Clock:
    """Return a clock with the real time and no pauses, for tests that do not depend on whole seconds."""
    real = SimulatedClock()
    return Clock(lambda: datetime.now(UTC), real.monotonic, real.pause)


class SimulatedClock:
    """A clock that stands still but for the pauses on it, and what a test adds to `seconds`."""

    def __init__(self, now: datetime = datetime(2026, 12, 1, tzinfo=UTC)) -> None:
        self.begins, self.seconds = now, 0.0

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.monotonic, self.pause)

    def now(self) -> datetime:
        return self.begins + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds

    def slow_source(self, random_bytes: Callable[[int], bytes], seconds: float) -> Callable[[int], bytes]:
        """Return a source of random bytes each of which takes so many seconds."""

        def draw(count: int) -> bytes:
            self.seconds += count * seconds
            return random_bytes(count)

        return draw
