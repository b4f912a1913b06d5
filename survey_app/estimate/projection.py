"""The points that are displayed: one coherent set for each field, from which all its figures take theirs.

Unbiased shares may be negative. Displayed are the nearest shares that are possible, and whatever else is displayed of a
field (totals, cumulative shares, means, margins, cells, shares among those who answered) is made of these same shares,
so that no two figures of a page contradict each other. Of a field of several questions the *margins* come first, since
readers look at them first: each is as near to its unbiased shares as it can be, and the cells are the nearest ones with
these margins. So a question shows what it would show alone, whatever it was randomized together with, and never less
truly than the unbiased shares do. To project the cells and add them up has often less squared error, but adds up what
is left of their noise: a yes of 5% beside 20 options shows 21% (ε 2, 500 reports).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from survey_app.figures import Floats

FIRST = 1e6  # how much more a margin's squared distance weighs than a cell's
NEAR = 1e-8  # how far the sums may stay from what they shall be
DUST = 1e-6  # a share of nobody
TINY = 1e-12
MOST_STEPS = 50
MOST_WORK = 2**22  # margins × cells; beyond, the cells are projected alone


def project(shares: Floats) -> Floats:
    """The Euclidean projection on the simplex (Norm-Sub): never farther from the truth than the raw shares.

    Sort v descending, c_j = v_1 + … + v_j − 1, ρ the last j with v_j > c_j/j; then max(v − c_ρ/ρ, 0). To clip and
    rescale instead can be ten times worse. Of an array, each row is projected.
    """
    ordered = -np.sort(-shares, axis=-1)
    means = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, shares.shape[-1] + 1)
    last = np.sum(ordered > means, axis=-1, keepdims=True) - 1  # the first places are those with v_j > c_j/j
    projected: Floats = np.maximum(shares - np.take_along_axis(means, last, axis=-1), 0.0)
    return projected


def nearest(
    cells: Floats, margins: Sequence[Sequence[int] | npt.NDArray[np.int64]], sums_to: Floats | None = None
) -> Floats:
    """The possible cells x whose margins, sums over the given sets, are nearest to those of `cells`, or to the given
    ones; of these the nearest.

    The least Σ(x − v)² + FIRST · Σ(margins of x − margins of v)², x ≥ 0 and Σx = 1. By duality x = max(v + N′y, 0), N
    the sets and the whole, and y solves N x + y/FIRST = N v (1 for the whole): a piecewise linear equation, by Newton.
    """
    if not margins or len(margins) * len(cells) > MOST_WORK:
        return project(cells)
    sums = np.zeros((len(margins) + 1, len(cells)))
    for row, members in zip(sums, margins, strict=False):
        row[list(members)] = 1
    sums[-1] = 1
    slack = np.append(np.full(len(margins), 1 / FIRST), 0.0)
    wanted = sums @ cells if sums_to is None else np.append(sums_to, 1.0)
    wanted[-1] = 1.0

    def at(y: Floats) -> tuple[float, Floats]:
        x = np.maximum(cells + y @ sums, 0)
        return float(x @ x) / 2 - float(wanted @ y) + float(slack @ y**2) / 2, x

    y = np.zeros(len(sums))
    y[-1] = project(cells).max() - cells.max()  # where all possible cells have moved alike
    value, x = at(y)
    for _ in range(MOST_STEPS):
        slope = sums @ x - wanted + slack * y
        if np.abs(slope).max() < NEAR:
            break
        kept = sums[:, x > 0]
        step = -np.linalg.solve(kept @ kept.T + np.diag(slack + TINY), slope)
        size, gain = 1.0, float(slope @ step)
        while size > TINY:
            new, moved = at(y + size * step)
            if new <= value + 1e-4 * size * gain:
                break
            size /= 2
        else:
            break
        y, value, x = y + size * step, new, moved
    x[x < DUST] = 0
    found: Floats = x / x.sum()
    return found
