"""Clocks for tests that answer surveys: none of them ever waits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from candor_client import Clock


def hurried() -> Clock:
    """The real time, and no pauses: for tests to which a whole second more or less means nothing."""
    real = Simulated()
    return Clock(lambda: datetime.now(UTC), real.monotonic, real.pause)


class Simulated:
    """A clock that stands still but for what passes on it: pauses, and what a test adds to `seconds`."""

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

    def costly(self, random_bytes: Callable[[int], bytes], seconds: float) -> Callable[[int], bytes]:
        """A source of bytes each of which takes so long."""

        def draw(count: int) -> bytes:
            self.seconds += count * seconds
            return random_bytes(count)

        return draw
