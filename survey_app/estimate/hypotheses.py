"""Hypothesis tests that keep their size under randomization.

Pearson's test is valid on the *reported* table of two separate fields that each report one symbol, because independent
coins keep independent answers independent. It is invalid on debiased counts, and on a joint field, whose coins make the
two questions dependent. All other cases use a quadratic form with the covariance of the stored bits, or a likelihood
ratio.

With many reports these statistics follow χ². If too few are expected in some cell of the *reported* table, true
independence would be rejected in up to 16% of surveys (docs/estimates.md), so the distribution is simulated. Reports of
separate fields are permuted; reports of a joint field are drawn from the fitted independent cells. The random generator
is seeded with the counts, so that the same reports always give the same p-value.
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
LEAST_EXPECTED = 5.0  # expected reports in every cell from which χ² is used
LEAST_JOINT = 20.0  # the same for a likelihood ratio, whose margins may be at their limits
DRAWS, FEWEST_DRAWS = 1999, 199
MOST_CELLS_DRAWN = 500_000  # number of cells over all draws
MOST_PRODUCTS = 400_000_000  # number of products of scores over all permutations
ROUNDING = 1e-9

PEARSON = "Pearson's test on the reported table"  # the names of tests
QUADRATIC_FORM = "quadratic form in the covariances of the stored bits"
PEARSON_JOINT = "Pearson's statistic of independent cells"
LIKELIHOOD_RATIO = "likelihood ratio of independent cells"

Reference = Literal["chi_square", "permutation", "bootstrap"]


@dataclass(frozen=True)
class Test:
    """The result of a test: the statistic, its degrees of freedom and its p-value.

    `method` names the reference distribution: χ², or simulated `draws`. If b of the draws reach the statistic,
    p = (1 + b)/(1 + draws).
    """

    name: str
    statistic: float
    df: int
    p_value: float
    n: int
    method: Reference = "chi_square"
    draws: int = 0

    __test__ = False  # pytest must not collect this class


def chi_square_test(name: str, statistic: float, df: int, n: int) -> Test:
    """Return the result of a test whose statistic is compared with χ²."""
    return Test(name, statistic, df, float(chdtrc(df, statistic)) if df else 1.0, n)


def resampling_test(name: str, statistic: float, df: int, n: int, method: Reference, draws: Floats) -> Test:
    """Return the result of a test whose statistic is compared with those of simulated `draws`."""
    reached = int((draws >= statistic * (1 - ROUNDING) - ROUNDING).sum())
    return Test(name, statistic, df, (1 + reached) / (1 + len(draws)), n, method, len(draws))


def _generator(counts: Floats) -> np.random.Generator:
    """Return a random generator that is seeded with the counts."""
    return np.random.default_rng([int(count) for count in np.rint(counts).ravel()])


def _inverse(matrix: Floats, scale: float = 0.0) -> tuple[Floats, int]:
    """Return the pseudo-inverse of a covariance and its rank; eigenvalues tiny compared with `scale` count as zero."""
    root, rank = _inverse_root(matrix, scale)
    inverse: Floats = root @ root.T
    return inverse, rank


def _inverse_root(matrix: Floats, scale: float) -> tuple[Floats, int]:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    is_positive = values > max(float(values.max()), scale, 0.0) * TINY
    root: Floats = vectors[:, is_positive] / np.sqrt(values[is_positive])
    return root, int(is_positive.sum())


def pearson(table: Floats, name: str = PEARSON) -> Test:
    """Test independence in a table of reported symbols of two separate fields that report one symbol each."""
    n = float(table.sum())
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    if not df or expected.min() >= LEAST_EXPECTED:
        return chi_square_test(name, statistic, df, int(n))
    draws = max(min(DRAWS, MOST_CELLS_DRAWN // table.size), FEWEST_DRAWS)
    permutations = _permute_tables(table, draws)
    return resampling_test(
        name, statistic, df, int(n), "permutation", ((permutations - expected) ** 2 / expected).sum(axis=(1, 2))
    )


def _permute_tables(table: Floats, draws: int) -> Floats:
    """Return random tables with the same margins, distributed as if the reports of one question were permuted.

    The cells are drawn one by one from hypergeometric distributions.
    """
    rng = _generator(table)
    column_totals = np.tile(table.sum(axis=0).astype(np.int64), (draws, 1))  # column totals of the remaining rows
    tables = np.zeros((draws, *table.shape))
    for i, total in enumerate(table.sum(axis=1).astype(np.int64)[:-1]):
        remaining = np.full(draws, total)
        for j in range(table.shape[1] - 1):
            cell = rng.hypergeometric(column_totals[:, j], column_totals[:, j + 1 :].sum(axis=1), remaining)
            tables[:, i, j] = cell
            remaining = remaining - cell
        tables[:, i, -1] = remaining
        column_totals = column_totals - tables[:, i].astype(np.int64)
    tables[:, -1] = column_totals
    return tables


@dataclass(frozen=True)
class ScoreSummary:
    """A summary of a question's scores in a scan: second moments, means, and the number of ones in each of its bits.

    `reports` has the scores of every report, unless there are too many.
    """

    second: Floats
    mean: Floats
    ones: npt.NDArray[np.int64]
    reports: Floats | None = None


def quadratic(cross: Floats, left: ScoreSummary, right: ScoreSummary, n: int) -> Test | None:
    """Test independence of two separate fields of any kind, by n tr(S_u⁺ C S_v⁺ C').

    C is the cross-covariance of their bits. Return None if some expected count of a pair of bits is too small for χ²
    and there are too many reports to permute.
    """
    (root, rank), (other_root, other_rank) = (
        _inverse_root(summary.second - np.outer(summary.mean, summary.mean), float(np.diag(summary.second).max()))
        for summary in (left, right)
    )
    name = QUADRATIC_FORM
    statistic, df = n * float(((root.T @ cross @ other_root) ** 2).sum()), rank * other_rank
    rarest = [float(np.minimum(summary.ones, n - summary.ones).min()) for summary in (left, right)]
    if not df or rarest[0] * rarest[1] / n >= LEAST_EXPECTED:
        return chi_square_test(name, statistic, df, n)
    draws = min(DRAWS, MOST_PRODUCTS // (n * df))
    if left.reports is None or right.reports is None or draws < FEWEST_DRAWS:
        return None
    rng = _generator(np.concatenate([left.ones, right.ones]))
    order = np.lexsort(
        np.hstack([left.reports, right.reports]).T
    )  # makes the result independent of the order of reading
    u, v = (left.reports[order] - left.mean) @ root, (right.reports[order] - right.mean) @ other_root
    permutations = np.array([((u.T @ v[rng.permutation(n)]) ** 2).sum() for _ in range(draws)]) / n
    return resampling_test(name, statistic, df, n, "permutation", permutations)


def joint_independence(counts: Floats, slope: float, base: float | Floats) -> Test:
    """Test independence in a joint field that reports one cell: λ = base + slope a_i b_j.

    `slope` is p − q, and `base` the noise in a cell: q for each of its symbols. The test is the likelihood ratio
    against free cells. If some expected count is too small, it is Pearson's statistic against the product of the
    estimated margins, with its distribution simulated from that product. Draws at a border differ from draws near it,
    so they are repeated without the answers whose share is not significant, and the larger p-value is returned.
    """
    n = float(counts.sum())
    noise = np.broadcast_to(np.asarray(base, dtype=float), counts.shape)
    (rows,), (columns,) = _margins(counts[None], slope, noise)
    fitted = noise + slope * np.outer(rows, columns)
    if n * fitted.min() >= LEAST_JOINT:
        return likelihood_ratio(counts, slope, base)
    name, df = PEARSON_JOINT, (counts.shape[0] - 1) * (counts.shape[1] - 1)
    draws, rng = max(min(DRAWS, MOST_CELLS_DRAWN // counts.size), FEWEST_DRAWS), _generator(counts)
    significant = (
        _significant_shares(margin, slope, noise.sum(axis=1 - axis), n) for axis, margin in enumerate((rows, columns))
    )
    tests: list[Test] = []
    for cells in (fitted, noise + slope * np.outer(*significant)):
        draws_of_counts = rng.multinomial(int(n), (cells / cells.sum()).ravel(), size=draws).reshape(
            draws, *counts.shape
        )
        tables = np.concatenate([counts[None], draws_of_counts])
        a, b = _margins(tables, slope, noise)
        expected = n * (noise + slope * a[:, :, None] * b[:, None, :])
        statistics = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
        tests.append(resampling_test(name, float(statistics[0]), df, int(n), "bootstrap", statistics[1:]))
    return max(tests, key=lambda margin: margin.p_value)


def _margins(tables: Floats, slope: float, base: Floats) -> tuple[Floats, Floats]:
    """Return the shares of rows and of columns in each table, projected to the nearest possible ones."""
    n = float(tables[0].sum())
    rows = (tables.sum(axis=2) / n - base.sum(axis=1)) / slope
    columns = (tables.sum(axis=1) / n - base.sum(axis=0)) / slope
    return project(rows), project(columns)


def _significant_shares(shares: Floats, slope: float, base: Floats, n: float) -> Floats:
    """Return the shares above two standard errors, and the largest share, scaled to sum to one; others become 0."""
    reported = base + slope * shares
    error = np.sqrt(reported * (1 - reported) / n) / slope
    significant = np.where((shares > 2 * error) | (shares == shares.max()), shares, 0.0)
    scaled: Floats = significant / significant.sum()
    return scaled


def likelihood_ratio(counts: Floats, slope: float, base: float | Floats) -> Test:
    """Test independence in a joint field that reports one cell: the likelihood of independent against free cells.

    Independent cells are λ = base + slope a_i b_j.
    """
    rows, columns = counts.shape
    n = float(counts.sum())
    shares = np.clip((counts / n - base) / slope, 0, None)
    shares = shares / shares.sum()
    margins = shares.sum(axis=1), shares.sum(axis=0)
    even = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    best = min(_fit_independent_cells(counts, slope, base, *start) for start in (margins, even))
    free = -float(xlogy(counts, counts / n).sum())
    df = (rows - 1) * (columns - 1)
    return chi_square_test(LIKELIHOOD_RATIO, max(2 * (best - free), 0.0), df, int(n))


def _fit_independent_cells(counts: Floats, slope: float, base: float | Floats, a: Floats, b: Floats) -> float:
    """Return the smallest −log L of independent cells, by Fisher scoring from the start values a and b.

    a and b each sum to one, and λ stays positive.
    """
    n, (rows, columns) = float(counts.sum()), counts.shape
    free_rows, free_columns = (np.vstack([np.eye(k - 1), -np.ones(k - 1)]) for k in (rows, columns))

    def loss(a: Floats, b: Floats) -> tuple[float, Floats]:
        cells = base + slope * np.outer(a, b)
        return -float(xlogy(counts, cells).sum()) if cells.min() > 0 else np.inf, cells

    value, cells = loss(a, b)
    for _ in range(MOST_STEPS):
        jacobian = np.concatenate([np.kron(free_rows, b[:, None]), np.kron(a[:, None], free_columns)], axis=1)
        root = np.sqrt(cells.ravel())
        residual = (counts.ravel() / n - cells.ravel()) / root
        step = np.linalg.lstsq(slope * jacobian / root[:, None], residual, rcond=None)[0]
        size = 1.0
        while size > TINY:
            candidate = a + size * free_rows @ step[: rows - 1], b + size * free_columns @ step[rows - 1 :]
            new, new_cells = loss(*candidate)
            if new < value:
                break
            size /= 2
        else:
            return value
        gain = value - new
        (a, b), value, cells = candidate, new, new_cells
        if gain < TINY * (1 + abs(value)):
            break
    return value


def wald(cells: Floats, spread: Floats, n: int) -> Test:
    """Test independence of two questions of a joint field of any kind: P_ij − P_i· P_·j by the delta method.

    `cells` are the unbiased shares, and `spread` is the covariance of one report's contribution to them.
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
    return chi_square_test("Wald's test of the cells against the product of their margins", statistic, rank, n)


def compare_groups(tables: Floats) -> Test:
    """Test whether several surveys with the same mechanism have the same shares, by Pearson's test of reported symbols.

    It is valid only if every report names one symbol. `tables` has a row for each survey and a column for each symbol,
    so a yes or no has two columns.
    """
    return pearson(tables, "Pearson's test of the reported counts of several surveys")
