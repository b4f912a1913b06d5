"""Plans in words: margins in points or in the question's own unit, and what each figure is."""

import math
from decimal import Decimal

from client.mechanism import round_up
from survey_app.plan.lines import Line

THINGS = {"yes": "yes", "option": "an option", "point": "a point", "bin": "a bin"}


def number(value: float) -> str:
    """Three figures, without powers of ten."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.6f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.3g}%"


def at_most(share: float) -> str:
    """A chance in percent, never less than it is."""
    return f"{math.ceil(round(1000 * share, 6)) / 10:g}%"


def chance(power: float) -> str:
    """A power to two digits, never quite certain."""
    return f"{power:.2f}" if power < 0.995 else "above 0.99"


def loss(epsilon: float) -> str:
    """An ε with four digits, never less than it is."""
    return str(round_up(Decimal(repr(round(epsilon, 9))), 4))


def size(value: float, is_share: bool, unit: str = "") -> str:
    """A margin: in points (of a hundred) for a share, in its unit for a mean."""
    if is_share:
        points = number(100 * value)
        return f"±{points} point{'' if points == '1' else 's'}"
    return f"±{number(value)}{' ' if unit else ''}{unit}"


def what(figure: str, planned: float, unit: str = "") -> str:
    """A figure and what is assumed about it."""
    if figure in THINGS:
        return f"{THINGS[figure]} at {percent(planned)}"
    return f"{figure} at {number(planned)}{' ' if unit else ''}{unit}"


def line_size(line: Line, value: float | None = None) -> str:
    """The margin of a line, or another one of the same figure."""
    return size(line.margin if value is None else value, line.is_share, line.unit)


def people(count: int | None) -> str:
    """A number of respondents, or that there are not so many."""
    return "more than there are" if count is None else f"{count:,}"
