"""Scales and their ticks: round numbers, few of them, written the same way along one axis."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Format = Callable[[float], str]
MOST_DECIMALS = 9
SNAPPED_STEPS, STEPS = 5, 8  # at the most
SMALLEST = 1e-290  # below it a range is none: a part of it may be no number any more


@dataclass(frozen=True)
class Scale:
    """From values to places between `start` and `stop`, with ticks."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """The place of a value; values beyond the ends lie on them."""
        value = min(max(value, self.low), self.high)
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)


def finite(values: Iterable[float]) -> list[float]:
    """The same values; ValueError if one of them has no place on an axis, or if there are none."""
    found = [float(value) for value in values]
    if not found or not all(math.isfinite(value) for value in found):
        raise ValueError("a chart needs values, and finite ones")
    return found


def linear(low: float, high: float, start: float, stop: float, *, snapped: bool = True) -> Scale:
    """A linear scale: from one round number to another around this range, or, unless `snapped`, over just the range."""
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, SMALLEST):
        around = size / 2 if size > SMALLEST else 0.5
        low, high = low - around, high + around
    step = _step((high - low) / (SNAPPED_STEPS if snapped else STEPS))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(float(f"{position * step:.12g}") for position in range(first, last + 1))
    if snapped:
        return Scale(ticks[0], ticks[-1], start, stop, ticks)
    return Scale(low, high, start, stop, tuple(tick for tick in ticks if low <= tick <= high))


def _step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= rough * (1 - 1e-9))


def number_format(decimals: int, percent: bool, unit: str = "") -> Format:
    """Numbers with so many decimals, a real minus and a unit."""

    def form(value: float) -> str:
        digits = f"{value * 100 if percent else value:,.{decimals}f}"
        if float(digits.replace(",", "")) == 0:
            digits = digits.removeprefix("-")
        return digits.replace("-", "−") + ("%" if percent else f" {unit}" if unit else "")

    return form


def tick_format(scale: Scale, percent: bool, unit: str = "") -> Format:
    """As many decimals as tell the ticks apart."""
    return number_format(max(decimals_of(tick, percent) for tick in scale.ticks), percent, unit)


def decimals_of(value: float, percent: bool) -> int:
    """The fewest decimals that write a round number."""
    value = round(value * 100 if percent else value, MOST_DECIMALS)
    return next((d for d in range(MOST_DECIMALS) if math.isclose(round(value, d), value, abs_tol=1e-12)), MOST_DECIMALS)


def precision(widths: Iterable[float], percent: bool) -> int:
    """Decimals for an estimate: about a twentieth of the narrowest interval, and no finer."""
    width = min((width for width in widths if width > 0), default=1.0) * (100 if percent else 1)
    return min(max(math.ceil(-math.log10(width / 20)), 0), 4)
