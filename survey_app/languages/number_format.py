"""Formats for the numbers of one axis or one column: the same decimals and unit for all of them."""

import math
from collections.abc import Callable, Iterable

Format = Callable[[float], str]


def number_format(decimals: int, percent: bool, unit: str = "") -> Format:
    """Numbers with so many decimals, a real minus and a unit."""

    def form(value: float) -> str:
        digits = f"{value * 100 if percent else value:,.{decimals}f}"
        if float(digits.replace(",", "")) == 0:
            digits = digits.removeprefix("-")
        return digits.replace("-", "−") + ("%" if percent else f" {unit}" if unit else "")

    return form


def precision(widths: Iterable[float], percent: bool) -> int:
    """Decimals for an estimate: about a twentieth of the narrowest interval, and no finer."""
    width = min((width for width in widths if width > 0), default=1.0) * (100 if percent else 1)
    return min(max(math.ceil(-math.log10(width / 20)), 0), 4)
