"""Tests that keep their size under randomization.

Pearson's test is right on the *noised* table of two separate fields that each report one symbol, since independent
coins keep independent answers independent. It is wrong on debiased counts, and on a joint field, whose coins tie the
two questions together. Everything else gets a quadratic form with the covariance of the stored bits, or a likelihood
ratio.

χ² is what these statistics follow if reports are many. Where too few are expected in some cell of the *reported* table,
true independence would be rejected in up to 16% of surveys (docs/estimates.md), and their distribution is drawn
instead: reports of separate fields are permuted, those of a joint field drawn from the fitted independent cells. The
generator is made from the counts, so that everybody who has the same reports sees the same p-value.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, xlogy

from survey_app.estimate.projection import project
from survey_app.figures import Floats

TINY = 1e-10
MOST_STEPS = 200
LEAST_EXPECTED = 5.0  # reports in every cell, for χ²
LEAST_JOINT = 20.0  # the same for a likelihood ratio, whose margins may be at their limits
DRAWS, FEWEST_DRAWS = 1999, 199
MOST_CELLS_DRAWN = 500_000  # over all draws
MOST_PRODUCTS = 400_000_000  # of scores, over all permutations
ROUNDING = 1e-9

Reference = Literal["chi_square", "permutation", "bootstrap"]


@dataclass(frozen=True)
class Test:
    """A statistic, its degrees of freedom, and how often chance alone gives as much.

    `method` says what the statistic was compared with: χ², or `draws`, of which b reached it: p = (1 + b)/(1 + draws).
    """

    name: str
    statistic: float
    df: int
    p_value: float
    n: int
    method: Reference = "chi_square"
    draws: int = 0

    __test__ = False  # not one of pytest's


def by_chi_square(name: str, statistic: float, df: int, n: int) -> Test:
    """A statistic of many reports."""
    return Test(name, statistic, df, float(chdtrc(df, statistic)) if df else 1.0, n)


def by_draws(name: str, statistic: float, df: int, n: int, method: Reference, draws: Floats) -> Test:
    """A statistic beside those of draws."""
    reached = int((draws >= statistic * (1 - ROUNDING) - ROUNDING).sum())
    return Test(name, statistic, df, (1 + reached) / (1 + len(draws)), n, method, len(draws))


def _generator(counts: Floats) -> np.random.Generator:
    """The same for the same counts."""
    return np.random.default_rng([int(count) for count in np.rint(counts).ravel()])


def _inverse(matrix: Floats, scale: float = 0.0) -> tuple[Floats, int]:
    """The pseudo-inverse of a covariance, and its rank; what is tiny beside `scale` is rounding."""
    root, rank = _inverse_root(matrix, scale)
    inverse: Floats = root @ root.T
    return inverse, rank


def _inverse_root(matrix: Floats, scale: float) -> tuple[Floats, int]:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > max(float(values.max()), scale, 0.0) * TINY
    root: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return root, int(kept.sum())


def pearson(table: Floats, name: str = "Pearson's test on the reported table") -> Test:
    """Independence in a table of reported symbols: two separate fields, one symbol each."""
    n = float(table.sum())
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    if not df or expected.min() >= LEAST_EXPECTED:
        return by_chi_square(name, statistic, df, int(n))
    draws = max(min(DRAWS, MOST_CELLS_DRAWN // table.size), FEWEST_DRAWS)
    permuted = _permuted(table, draws)
    return by_draws(
        name, statistic, df, int(n), "permutation", ((permuted - expected) ** 2 / expected).sum(axis=(1, 2))
    )


def _permuted(table: Floats, draws: int) -> Floats:
    """Tables with these margins, as often as permuting the reports of one question gives them: cell by cell."""
    rng = _generator(table)
    below = np.tile(table.sum(axis=0).astype(np.int64), (draws, 1))  # what the columns have for the rows to come
    found = np.zeros((draws, *table.shape))
    for i, total in enumerate(table.sum(axis=1).astype(np.int64)[:-1]):
        left = np.full(draws, total)
        for j in range(table.shape[1] - 1):
            cell = rng.hypergeometric(below[:, j], below[:, j + 1 :].sum(axis=1), left)
            found[:, i, j] = cell
            left = left - cell
        found[:, i, -1] = left
        below = below - found[:, i].astype(np.int64)
    found[:, -1] = below
    return found


@dataclass(frozen=True)
class Scored:
    """A question in a scan: second moments and means of its scores, how many ones its bits have, and every report's
    scores if they are not too many.
    """

    second: Floats
    mean: Floats
    ones: npt.NDArray[np.int64]
    reports: Floats | None = None


def quadratic(cross: Floats, left: Scored, right: Scored, n: int) -> Test | None:
    """Independence of two separate fields of any kind: n tr(S_u⁺ C S_v⁺ C'), C the cross-covariance of their bits.

    None where some pair of bits is expected too seldom for χ², and there are too many reports to permute.
    """
    (root, rank), (other, other_rank) = (
        _inverse_root(one.second - np.outer(one.mean, one.mean), float(np.diag(one.second).max()))
        for one in (left, right)
    )
    name = "quadratic form in the covariances of the stored bits"
    statistic, df = n * float(((root.T @ cross @ other) ** 2).sum()), rank * other_rank
    rarest = [float(np.minimum(one.ones, n - one.ones).min()) for one in (left, right)]
    if not df or rarest[0] * rarest[1] / n >= LEAST_EXPECTED:
        return by_chi_square(name, statistic, df, n)
    draws = min(DRAWS, MOST_PRODUCTS // (n * df))
    if left.reports is None or right.reports is None or draws < FEWEST_DRAWS:
        return None
    rng = _generator(np.concatenate([left.ones, right.ones]))
    order = np.lexsort(np.hstack([left.reports, right.reports]).T)  # whatever order they were read in
    u, v = (left.reports[order] - left.mean) @ root, (right.reports[order] - right.mean) @ other
    permuted = np.array([((u.T @ v[rng.permutation(n)]) ** 2).sum() for _ in range(draws)]) / n
    return by_draws(name, statistic, df, n, "permutation", permuted)


def joint_independence(counts: Floats, slope: float, base: float | Floats) -> Test:
    """Independence in a joint field that reports one cell: λ = base + slope a_i b_j.

    `slope` is p − q, `base` what a cell has of noise alone: q for each of its symbols. The likelihood ratio against
    free cells; or, where some cell is expected too seldom, Pearson's statistic against the product of the estimated
    margins, with its distribution drawn from that product. It is drawn once more without the answers that cannot be
    told from none, since draws from a border differ from draws near it: the larger p-value counts.
    """
    n = float(counts.sum())
    noise = np.broadcast_to(np.asarray(base, dtype=float), counts.shape)
    (rows,), (columns,) = _margins(counts[None], slope, noise)
    fitted = noise + slope * np.outer(rows, columns)
    if n * fitted.min() >= LEAST_JOINT:
        return likelihood_ratio(counts, slope, base)
    name, df = "Pearson's statistic of independent cells", (counts.shape[0] - 1) * (counts.shape[1] - 1)
    draws, rng = max(min(DRAWS, MOST_CELLS_DRAWN // counts.size), FEWEST_DRAWS), _generator(counts)
    sure = (_sure(one, slope, noise.sum(axis=1 - axis), n) for axis, one in enumerate((rows, columns)))
    found: list[Test] = []
    for cells in (fitted, noise + slope * np.outer(*sure)):
        drawn = rng.multinomial(int(n), (cells / cells.sum()).ravel(), size=draws).reshape(draws, *counts.shape)
        tables = np.concatenate([counts[None], drawn])
        a, b = _margins(tables, slope, noise)
        expected = n * (noise + slope * a[:, :, None] * b[:, None, :])
        statistics = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
        found.append(by_draws(name, float(statistics[0]), df, int(n), "bootstrap", statistics[1:]))
    return max(found, key=lambda one: one.p_value)


def _margins(tables: Floats, slope: float, base: Floats) -> tuple[Floats, Floats]:
    """The shares of rows and of columns that each of some tables shows, as the nearest possible ones."""
    n = float(tables[0].sum())
    rows = (tables.sum(axis=2) / n - base.sum(axis=1)) / slope
    columns = (tables.sum(axis=1) / n - base.sum(axis=0)) / slope
    return project(rows), project(columns)


def _sure(shares: Floats, slope: float, base: Floats, n: float) -> Floats:
    """The shares that are above two standard errors, and the largest, made to sum to one."""
    reported = base + slope * shares
    error = np.sqrt(reported * (1 - reported) / n) / slope
    kept = np.where((shares > 2 * error) | (shares == shares.max()), shares, 0.0)
    found: Floats = kept / kept.sum()
    return found


def likelihood_ratio(counts: Floats, slope: float, base: float | Floats) -> Test:
    """Independence in a joint field that reports one cell: λ = base + slope a_i b_j against free cells."""
    rows, columns = counts.shape
    n = float(counts.sum())
    shares = np.clip((counts / n - base) / slope, 0, None)
    shares = shares / shares.sum()
    margins = shares.sum(axis=1), shares.sum(axis=0)
    even = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    best = min(_independent(counts, slope, base, *start) for start in (margins, even))
    free = -float(xlogy(counts, counts / n).sum())
    df = (rows - 1) * (columns - 1)
    return by_chi_square("likelihood ratio of independent cells", max(2 * (best - free), 0.0), df, int(n))


def _independent(counts: Floats, slope: float, base: float | Floats, a: Floats, b: Floats) -> float:
    """The least −log L of independent cells, by Fisher's scoring; a and b sum to one, and λ stays positive."""
    n, (rows, columns) = float(counts.sum()), counts.shape
    free_rows, free_columns = (np.vstack([np.eye(k - 1), -np.ones(k - 1)]) for k in (rows, columns))

    def loss(a: Floats, b: Floats) -> tuple[float, Floats]:
        cells = base + slope * np.outer(a, b)
        return -float(xlogy(counts, cells).sum()) if cells.min() > 0 else np.inf, cells

    value, cells = loss(a, b)
    for _ in range(MOST_STEPS):
        moves = np.concatenate([np.kron(free_rows, b[:, None]), np.kron(a[:, None], free_columns)], axis=1)
        root = np.sqrt(cells.ravel())
        residual = (counts.ravel() / n - cells.ravel()) / root
        step = np.linalg.lstsq(slope * moves / root[:, None], residual, rcond=None)[0]
        size = 1.0
        while size > TINY:
            moved = a + size * free_rows @ step[: rows - 1], b + size * free_columns @ step[rows - 1 :]
            new, new_cells = loss(*moved)
            if new < value:
                break
            size /= 2
        else:
            return value
        gained = value - new
        (a, b), value, cells = moved, new, new_cells
        if gained < TINY * (1 + abs(value)):
            break
    return value


def wald(cells: Floats, spread: Floats, n: int) -> Test:
    """Independence of two questions of a joint field of any kind: P_ij − P_i· P_·j by the delta method.

    `cells` are the unbiased shares, `spread` the covariance of one report's contribution to them.
    """
    rows, columns = cells.shape
    a, b = cells.sum(axis=1), cells.sum(axis=0)
    contrast = (cells - np.outer(a, b))[:-1, :-1].ravel()
    gradient = np.zeros(((rows - 1) * (columns - 1), rows * columns))
    for index, (i, j) in enumerate(np.ndindex(rows - 1, columns - 1)):
        slope = np.zeros((rows, columns))
        slope[i, j] += 1
        slope[i, :] -= b[j]
        slope[:, j] -= a[i]
        gradient[index] = slope.ravel()
    inverse, rank = _inverse(gradient @ spread @ gradient.T)
    statistic = n * float(contrast @ inverse @ contrast)
    return by_chi_square("Wald's test of the cells against the product of their margins", statistic, rank, n)


def groups(tables: Floats) -> Test:
    """Whether several surveys with one mechanism have the same shares: Pearson on their counts of reported symbols.

    Only where every report names one symbol; a row for each survey, for yes or no with both its columns.
    """
    return pearson(tables, "Pearson's test of the reported counts of several surveys")
