"""Formats for the numbers of one axis or one column, which share their decimals and unit."""

import math
from collections.abc import Callable, Iterable

Format = Callable[[float], str]


def make_format(decimals: int, percent: bool, unit: str = "") -> Format:
    """Return a function that formats numbers with these decimals, a real minus, and a unit or percent sign."""

    def form(value: float) -> str:
        digits = f"{value * 100 if percent else value:,.{decimals}f}"
        if float(digits.replace(",", "")) == 0:
            digits = digits.removeprefix("-")
        return digits.replace("-", "−") + ("%" if percent else f" {unit}" if unit else "")

    return form


def choose_decimals(widths: Iterable[float], percent: bool) -> int:
    """Return the decimals, from 0 to 4, that resolve a twentieth of the narrowest interval."""
    width = min((width for width in widths if width > 0), default=1.0) * (100 if percent else 1)
    return min(max(math.ceil(-math.log10(width / 20)), 0), 4)
