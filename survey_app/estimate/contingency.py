"""The estimates of a cross-tab of two questions, and score intervals for its shares.

The interval of a cell, or of a share within a row, contains every value that the reports do not exclude at the variance
that they would have *if it were true* (a score interval). With the variance observed in the reports (Wald), it shrinks
to a point if all reports are equal: at ε 5 with 20 reports it covers a cell of 1% in 19% of runs.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Interval, Limits, Method
from survey_app.estimate.question_estimates import Cell, Estimate, clamp
from survey_app.estimate.refusal_codes import Refusal, RefusalCode
from survey_app.figures import FigureKind, Floats

MOST_CELLS = 1024

Names = tuple[str, ...]


class PairError(Refusal):
    """The two questions cannot be crossed."""


class SeparateBlocksError(PairError):
    """No device answered both questions: they are in different blocks, and each device answers one block."""

    def __init__(self, message: str) -> None:
        super().__init__(RefusalCode.SEPARATE_BLOCKS, message)


@dataclass(frozen=True)
class CrosstabEstimates:
    """The cells of a cross-tab, the shares within each row, their differences from the first row, and a test.

    An impossible cell is in none of the lists. If there is one, `test` is None.
    """

    rows: Names
    columns: Names
    n: int
    cells: list[Cell]
    within: list[Cell]
    differences: list[Cell]
    test: Test | None


@dataclass(frozen=True)
class RowShares:
    """The input for shares within rows: the unbiased shares of the cells `cells[i, j]` and of the rows `sums[i]`.

    If r is the share of cell ij within row i, the variance of one report's (cell − r · row) is v0 + v1 r + v2 r².
    """

    cells: Floats
    sums: Floats
    is_nonempty: npt.NDArray[np.bool_]  # for each row: whether the reports exclude that it is empty
    spread: tuple[Floats, Floats, Floats]  # v0, v1, v2 for each cell
    correlation: Floats  # of the share within each row with the share within the first row
    possible: npt.NDArray[np.bool_]  # for each cell: whether it can occur
    displayed_cells: Floats  # the displayed shares of cells
    displayed_sums: Floats  # the displayed shares of rows


def score_interval(
    top: float, bottom: float, spread: tuple[float, float, float], n: int, z: float
) -> tuple[float, float]:
    """Return the ends of all r with (top − r·bottom)² ≤ z² (v0 + v1 r + v2 r²)/n, after moving `top` by half a report.

    `top` is first clamped to a possible value, so the interval is never empty. It is not cut to [0, 1], because
    intervals of differences need its full length.
    """
    t = z * z / n
    a = bottom * bottom - t * spread[2]
    if a <= 0:
        return 0.0, 1.0
    ends: list[float] = []
    for sign, outer in ((-1, min), (1, max)):
        shifted = clamp(top, 0.0, bottom) + sign / (2 * n)
        b, c = shifted * bottom + t * spread[1] / 2, shifted * shifted - t * spread[0]
        ends.append(outer(shifted / bottom, (b + sign * math.sqrt(max(b * b - a * c, 0.0))) / a))
    return ends[0], ends[1]


def share_estimate(n: int, value: float, point: float, low: float, high: float, *, is_ratio: bool = False) -> Estimate:
    """Return the estimate of a share, given the limits around its nearest possible value.

    The raw interval is shifted back to the unbiased value. A value that is not finite (an empty row) is not shifted.
    """
    limits = Interval(low, high, Method.SCORE)
    shift = value - clamp(value) if math.isfinite(value) else 0.0
    both_limits = Limits(limits.clip(0, 1), limits.map_affine(1, shift))
    return Estimate("", FigureKind.SHARE, n, point, both_limits, value, None, is_ratio)


def estimate_rows(names: tuple[Names, Names], rows: RowShares, n: int, z: float) -> tuple[list[Cell], list[Cell]]:
    """Return the shares within rows, and their differences from the first row (MOVER with the correlation of both).

    If a row has only one possible cell, its share is 1, and it has no difference to other rows.
    """
    within: list[Cell] = []
    differences: list[Cell] = []
    is_single = rows.possible.sum(axis=1) == 1
    first: dict[int, Estimate] = {}
    for i, j in np.argwhere(rows.possible).tolist():
        label = names[0][i], names[1][j]
        if is_single[i]:
            within.append(Cell(label, _certain_estimate(n)))
            continue
        top, bottom = float(rows.cells[i, j]), float(rows.sums[i])
        low, high = 0.0, 1.0
        if rows.is_nonempty[i]:
            v0, v1, v2 = (float(part[i, j]) for part in rows.spread)
            low, high = score_interval(top, bottom, (v0, v1, v2), n, z)
        row_share = float(rows.displayed_sums[i])
        point = clamp(float(rows.displayed_cells[i, j]) / row_share) if row_share > 0 else 0.5
        estimate = share_estimate(n, top / bottom if bottom > 0 else math.nan, point, low, high, is_ratio=True)
        within.append(Cell(label, estimate))
        if i == 0:
            first[j] = estimate
        elif j in first:
            are_nonempty = bool(rows.is_nonempty[i] and rows.is_nonempty[0])
            rho = (
                min(float(rows.correlation[i, j]), 1 - 2 / n) if are_nonempty else None
            )  # two reports do not determine it
            differences.append(Cell(label, _difference(n, estimate, first[j], rho)))
    return within, differences


def _certain_estimate(n: int) -> Estimate:
    """Return the estimate of a share that is 1 by definition."""
    certain = Interval(1.0, 1.0, Method.CERTAIN)
    return Estimate("", FigureKind.SHARE, n, 1.0, Limits(certain, certain), 1.0, None)


def _difference(n: int, estimate: Estimate, first: Estimate, correlation: float | None) -> Estimate:
    value, point = estimate.unbiased - first.unbiased, estimate.estimate - first.estimate
    if correlation is None:
        full_range = Interval(-1.0, 1.0, Method.MOVER)
        return Estimate("", FigureKind.DIFFERENCE, n, point, Limits(full_range, full_range), value, None, True)

    def distance(arm: float, other_arm: float) -> float:
        return math.sqrt(max(arm * arm + other_arm * other_arm - 2 * correlation * arm * other_arm, 0.0))

    low = value - distance(estimate.unbiased - estimate.limits.raw.low, first.limits.raw.high - first.unbiased)
    high = value + distance(estimate.limits.raw.high - estimate.unbiased, first.unbiased - first.limits.raw.low)
    raw = Interval(low, high, Method.MOVER)
    return Estimate(
        "", FigureKind.DIFFERENCE, n, point, Limits(raw.shift_and_clip(value, -1, 1), raw), value, None, True
    )
