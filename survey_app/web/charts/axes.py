"""Scales and their ticks: a few round numbers, all with the same format along one axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from survey_app.languages.number_format import Format, make_format

MOST_DECIMALS = 9
SNAPPED_STEPS, STEPS = 5, 8  # the most steps
SMALLEST = 1e-290  # a smaller range counts as empty, because fractions of it may underflow


@dataclass(frozen=True)
class Scale:
    """A mapping from values to positions between `start` and `stop`, with ticks."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """Return the position of a value. Values beyond the ends are clamped."""
        value = min(max(value, self.low), self.high)
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)


def require_finite(values: Iterable[float]) -> list[float]:
    """Return the values as a list. Raise ValueError if there are none or one is not finite."""
    numbers = [float(value) for value in values]
    if not numbers or not all(math.isfinite(value) for value in numbers):
        raise ValueError("a chart needs at least one value, and only finite values")
    return numbers


def linear_scale(low: float, high: float, start: float, stop: float, *, rounded: bool = True) -> Scale:
    """Return a linear scale.

    It extends the range to round numbers at both ends; unless `rounded`, it covers exactly the range.
    """
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, SMALLEST):
        around = size / 2 if size > SMALLEST else 0.5
        low, high = low - around, high + around
    step = _round_step((high - low) / (SNAPPED_STEPS if rounded else STEPS))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(float(f"{position * step:.12g}") for position in range(first, last + 1))
    if rounded:
        return Scale(ticks[0], ticks[-1], start, stop, ticks)
    return Scale(low, high, start, stop, tuple(tick for tick in ticks if low <= tick <= high))


def _round_step(rough: float) -> float:
    """Return the smallest of 1, 2, 5 or 10 times a power of ten that is at least `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= rough * (1 - 1e-9))


def tick_format(scale: Scale, percent: bool, unit: str = "") -> Format:
    """Return a format with enough decimals to distinguish the ticks."""
    return make_format(max(decimals_of(tick, percent) for tick in scale.ticks), percent, unit)


def decimals_of(value: float, percent: bool) -> int:
    """Return the fewest decimals that represent a round number."""
    value = round(value * 100 if percent else value, MOST_DECIMALS)
    return next((d for d in range(MOST_DECIMALS) if math.isclose(round(value, d), value, abs_tol=1e-12)), MOST_DECIMALS)
