"""What a table of two questions says, and how its shares are bounded.

The interval of a cell, or of a share within a row, keeps every value that the reports do not exclude at the variance
that they would have *if it were true* (a score interval). With the variance seen in the reports instead (Wald), it
shrinks to a point where all reports are alike: at ε 5, 20 reports cover a cell of 1% in 19% of runs.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Interval, Limits, Method
from survey_app.estimate.question_estimates import Cell, Estimate, clamp
from survey_app.figures import FigureKind, Floats

MOST_CELLS = 1024

Names = tuple[str, ...]


class PairError(Exception):
    """These two questions cannot be crossed; the message says why."""


class ApartError(PairError):
    """No device answered both: they are in different blocks of which each device answers one."""


@dataclass(frozen=True)
class CrosstabEstimates:
    """Cells by row and column; shares within each row; their differences to the first row; a test.

    A cell that cannot occur is in none of the lists; and where there is one, nothing is tested.
    """

    rows: Names
    columns: Names
    n: int
    cells: list[Cell]
    within: list[Cell]
    differences: list[Cell]
    test: Test | None


@dataclass(frozen=True)
class Rows:
    """What is known of the shares within rows: row i holds the share `sums[i]` of all, its cells `cells[i, j]`.

    If r is the share of cell ij within row i, the variance of one report's (cell − r · row) is v0 + v1 r + v2 r².
    """

    cells: Floats
    sums: Floats
    known: npt.NDArray[np.bool_]  # by row: whether the reports exclude that nobody is in it
    spread: tuple[Floats, Floats, Floats]  # v0, v1, v2 by cell
    correlation: Floats  # of the share within each row with that within the first
    possible: npt.NDArray[np.bool_]  # by cell: whether it can occur
    shown: Floats  # the displayed cells
    shown_sums: Floats  # and rows


def score(top: float, bottom: float, spread: tuple[float, float, float], n: int, z: float) -> tuple[float, float]:
    """All r with (top − r·bottom)² ≤ z² (v0 + v1 r + v2 r²)/n; the top is moved by half a report first.

    They are those around the nearest possible ratio, so that there always are some. They are not cut to [0, 1]: how far
    they reach beyond is what differences need to know.
    """
    t = z * z / n
    a = bottom * bottom - t * spread[2]
    if a <= 0:
        return 0.0, 1.0
    ends: list[float] = []
    for sign, outer in ((-1, min), (1, max)):
        moved = clamp(top, 0.0, bottom) + sign / (2 * n)
        b, c = moved * bottom + t * spread[1] / 2, moved * moved - t * spread[0]
        ends.append(outer(moved / bottom, (b + sign * math.sqrt(max(b * b - a * c, 0.0))) / a))
    return ends[0], ends[1]


def share(n: int, value: float, point: float, low: float, high: float, *, is_ratio: bool = False) -> Estimate:
    """A share, from the limits of its nearest possible value; a share of nobody is anything."""
    limits = Interval(low, high, Method.SCORE)
    moved = value - clamp(value) if math.isfinite(value) else 0.0
    both = Limits(limits.clipped(0, 1), limits.mapped(1, moved))
    return Estimate("", FigureKind.SHARE, n, point, both, value, None, is_ratio)


def by_row(names: tuple[Names, Names], rows: Rows, n: int, z: float) -> tuple[list[Cell], list[Cell]]:
    """The shares within rows, and their differences to the first row (MOVER with the correlation of both).

    The only possible cell of a row holds all of it, and has no difference to anything.
    """
    within: list[Cell] = []
    differences: list[Cell] = []
    alone = rows.possible.sum(axis=1) == 1
    first: dict[int, Estimate] = {}
    for i, j in np.argwhere(rows.possible).tolist():
        label = names[0][i], names[1][j]
        if alone[i]:
            within.append(Cell(label, _whole(n)))
            continue
        top, bottom = float(rows.cells[i, j]), float(rows.sums[i])
        low, high = 0.0, 1.0
        if rows.known[i]:
            v0, v1, v2 = (float(part[i, j]) for part in rows.spread)
            low, high = score(top, bottom, (v0, v1, v2), n, z)
        held = float(rows.shown_sums[i])
        point = clamp(float(rows.shown[i, j]) / held) if held > 0 else 0.5
        one = share(n, top / bottom if bottom > 0 else math.nan, point, low, high, is_ratio=True)
        within.append(Cell(label, one))
        if i == 0:
            first[j] = one
        elif j in first:
            both = bool(rows.known[i] and rows.known[0])
            rho = min(float(rows.correlation[i, j]), 1 - 2 / n) if both else None  # of two reports nobody knows it
            differences.append(Cell(label, _difference(n, one, first[j], rho)))
    return within, differences


def _whole(n: int) -> Estimate:
    """All of something, by what it is."""
    certain = Interval(1.0, 1.0, Method.CERTAIN)
    return Estimate("", FigureKind.SHARE, n, 1.0, Limits(certain, certain), 1.0, None)


def _difference(n: int, one: Estimate, first: Estimate, correlation: float | None) -> Estimate:
    value, point = one.unbiased - first.unbiased, one.estimate - first.estimate
    if correlation is None:
        nothing = Interval(-1.0, 1.0, Method.MOVER)
        return Estimate("", FigureKind.DIFFERENCE, n, point, Limits(nothing, nothing), value, None, True)

    def distance(mine: float, other: float) -> float:
        return math.sqrt(max(mine * mine + other * other - 2 * correlation * mine * other, 0.0))

    low = value - distance(one.unbiased - one.limits.raw.low, first.limits.raw.high - first.unbiased)
    high = value + distance(one.limits.raw.high - one.unbiased, first.unbiased - first.limits.raw.low)
    raw = Interval(low, high, Method.MOVER)
    return Estimate("", FigureKind.DIFFERENCE, n, point, Limits(raw.around(value, -1, 1), raw), value, None, True)
