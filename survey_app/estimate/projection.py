"""The displayed shares: one coherent set for each field, from which all displayed figures of the field are computed.

Unbiased shares may be negative, so the nearest possible shares are displayed. All other displayed figures of a field
(totals, cumulative shares, means, margins, cells, shares among the people who answered) follow from these shares, so
that figures never contradict each other.

In a field of several questions the *margins* take precedence, because readers look at them first. Each margin is as
near to its unbiased shares as possible, and the cells are the nearest ones with these margins. So a question displays
the same shares as it would alone, and they are never farther from the truth than the unbiased shares. Projecting the
cells and adding them up often has less squared error, but accumulates their noise: with 20 other options, a yes of 5%
would be displayed as 21% (ε 2, 500 reports).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from survey_app.figures import Floats

MARGIN_WEIGHT = 1e6  # weight of a margin's squared distance relative to a cell's
SUM_TOLERANCE = 1e-8  # largest error of the sums at which the search stops
LEAST_SHARE = 1e-6  # smaller shares become 0
TINY = 1e-12
MOST_STEPS = 50
MOST_WORK = 2**22  # margins × cells; beyond this, only the cells are projected


def project(shares: Floats) -> Floats:
    """Return the Euclidean projection on the simplex (Norm-Sub), for each row of an array.

    It is never farther from the truth than the raw shares. Clipping and rescaling can be ten times worse. The algorithm
    sorts v in descending order; with c_j = v_1 + … + v_j − 1 and ρ the last j with v_j > c_j/j, the result is
    max(v − c_ρ/ρ, 0).
    """
    ordered = -np.sort(-shares, axis=-1)
    means = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, shares.shape[-1] + 1)
    last = np.sum(ordered > means, axis=-1, keepdims=True) - 1  # the first places are those with v_j > c_j/j
    projected: Floats = np.maximum(shares - np.take_along_axis(means, last, axis=-1), 0.0)
    return projected


def project_to_margins(
    cells: Floats, margins: Sequence[Sequence[int] | npt.NDArray[np.int64]], targets: Floats | None = None
) -> Floats:
    """Return the possible cells nearest to `cells` among those whose margins are nearest to the targets.

    `margins` are sets of cells. The targets are their given sums, or by default the sums of `cells`. The result x
    minimizes Σ(x − v)² + MARGIN_WEIGHT · Σ(margins of x − targets)² with x ≥ 0 and Σx = 1. By duality
    x = max(v + N′y, 0), where the rows of N are the sets and the set of all cells. y solves the piecewise linear
    equation N x + y/MARGIN_WEIGHT = targets (Σx = 1 exactly) by Newton's method.
    """
    if not margins or len(margins) * len(cells) > MOST_WORK:
        return project(cells)
    sums = np.zeros((len(margins) + 1, len(cells)))
    for row, cell_indices in zip(sums, margins, strict=False):
        row[list(cell_indices)] = 1
    sums[-1] = 1
    slack = np.append(np.full(len(margins), 1 / MARGIN_WEIGHT), 0.0)
    goals = sums @ cells if targets is None else np.append(targets, 1.0)
    goals[-1] = 1.0

    def at(y: Floats) -> tuple[float, Floats]:
        x = np.maximum(cells + y @ sums, 0)
        return float(x @ x) / 2 - float(goals @ y) + float(slack @ y**2) / 2, x

    y = np.zeros(len(sums))
    y[-1] = project(cells).max() - cells.max()  # the start: all cells are shifted by the same amount
    value, x = at(y)
    for _ in range(MOST_STEPS):
        slope = sums @ x - goals + slack * y
        if np.abs(slope).max() < SUM_TOLERANCE:
            break
        active = sums[:, x > 0]
        step = -np.linalg.solve(active @ active.T + np.diag(slack + TINY), slope)
        size, gain = 1.0, float(slope @ step)
        while size > TINY:
            candidate, candidate_x = at(y + size * step)
            if candidate <= value + 1e-4 * size * gain:
                break
            size /= 2
        else:
            break
        y, value, x = y + size * step, candidate, candidate_x
    x[x < LEAST_SHARE] = 0
    scaled: Floats = x / x.sum()
    return scaled
