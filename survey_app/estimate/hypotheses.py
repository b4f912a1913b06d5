"""Tests that keep their size under randomization.

Pearson's test is right on the *noised* table of two separate fields that each report one symbol, since independent
coins keep independent answers independent. It is wrong on debiased counts, and on a joint field, whose coins tie the
two questions together. Everything else gets a quadratic form with the covariance of the stored bits, or a likelihood
ratio.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, xlogy

from client.mechanism import Flip, Subset
from survey_app import channel
from survey_app.channel import Floats

TINY = 1e-10
MOST_STEPS = 200


@dataclass(frozen=True)
class Test:
    """A statistic, its degrees of freedom, and how often chance alone gives as much."""

    name: str
    statistic: float
    df: int
    p_value: float
    n: int

    __test__ = False  # not one of pytest's


def _tested(name: str, statistic: float, df: int, n: int) -> Test:
    return Test(name, statistic, df, float(chdtrc(df, statistic)) if df else 1.0, n)


def _inverse(matrix: Floats, scale: float = 0.0) -> tuple[Floats, int]:
    """The pseudo-inverse of a covariance, and its rank; what is tiny beside `scale` is rounding."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    kept = values > max(float(values.max()), scale, 0.0) * TINY
    inverse: Floats = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse, int(kept.sum())


def pearson(table: Floats) -> Test:
    """Independence in a table of reported symbols: two separate fields, one symbol each."""
    n = float(table.sum())
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    rows, columns = table.shape
    return _tested("Pearson's test on the reported table", statistic, (rows - 1) * (columns - 1), int(n))


def quadratic(cross: Floats, left: tuple[Floats, Floats], right: tuple[Floats, Floats], n: int) -> Test:
    """Independence of two separate fields of any kind: n tr(S_u⁺ C S_v⁺ C'), C the cross-covariance of their bits.

    `left` and `right` are the second moments and the means of their bits, from which the covariances S follow.
    """
    inverses, df = [], 1
    for second, mean in (left, right):
        inverse, rank = _inverse(second - np.outer(mean, mean), float(np.diag(second).max()))
        inverses.append(inverse)
        df *= rank
    statistic = n * float(np.trace(inverses[0] @ cross @ inverses[1] @ cross.T))
    return _tested("quadratic form in the covariances of the stored bits", statistic, df, n)


def likelihood_ratio(counts: Floats, slope: float, base: float | Floats) -> Test:
    """Independence in a joint field that reports one cell: λ = base + slope a_i b_j against free cells.

    `slope` is p − q, `base` what a cell has of noise alone: q for each of its symbols.
    """
    rows, columns = counts.shape
    n = float(counts.sum())
    shares = np.clip((counts / n - base) / slope, 0, None)
    shares = shares / shares.sum()
    margins = shares.sum(axis=1), shares.sum(axis=0)
    even = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    best = min(_independent(counts, slope, base, *start) for start in (margins, even))
    free = -float(xlogy(counts, counts / n).sum())
    df = (rows - 1) * (columns - 1)
    return _tested("likelihood ratio of independent cells", max(2 * (best - free), 0.0), df, int(n))


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
    return _tested("Wald's test of the cells against the product of their margins", statistic, rank, n)


def goodness_of_fit(mechanism: Flip | Subset, counts: Floats, n: int, shares: Floats) -> Test:
    """Whether the true shares may be these: the counts against n(q + (p−q) f0), with the covariance under f0.

    Where a report names one symbol, it is Pearson's test.
    """
    off = counts - n * channel.expected(mechanism, shares)
    inverse, rank = _inverse(channel.covariance(mechanism, shares))
    return _tested("goodness of fit of the stored bits", float(off @ inverse @ off) / n, rank, n)


def groups(tables: Floats) -> Test:
    """Whether several surveys with one mechanism have the same shares: Pearson on their counts of reported symbols.

    Only where every report names one symbol; a row for each survey, for yes or no with both its columns.
    """
    found = pearson(tables)
    return Test(
        "Pearson's test of the reported counts of several surveys", found.statistic, found.df, found.p_value, found.n
    )
