"""Cross-tabs whose cells are unions of a field's symbols, of two questions of a joint field or two options."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri

from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.symbol_bits import SymbolBits
from survey_app.estimate import hypotheses
from survey_app.estimate.contingency import CrosstabEstimates, Names, RowShares, estimate_rows
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.question_estimates import LEAST_REPORTS, Evidence, joint_symbols, set_cells
from survey_app.figures import Floats


def joint_crosstab(
    evidence: Evidence, questions: tuple[Question, Question], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """Return the cross-tab of two questions of a joint field, summed over its other questions."""
    sets = {(i, j): symbols for (i, j), symbols in joint_symbols(evidence.field, questions).items()}
    return set_crosstab(evidence, sets, names, options)


def set_crosstab(
    evidence: Evidence, sets: Mapping[tuple[int, int], Sequence[int]], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """Return the cross-tab of cells that are sets of a field's symbols; cells without a set cannot occur.

    The tally determines the cells. Conditional shares and differences use the covariance of the stored bits at the
    estimated shares.
    """
    bits, n = channel_of(evidence.field.mechanism).symbol_bits, evidence.n
    if n < LEAST_REPORTS or bits is None or (points := evidence.points) is None:
        return CrosstabEstimates(*names, n, [], [], [], None)
    counts, sizes, displayed = (np.zeros((len(names[0]), len(names[1]))) for _ in range(3))
    for cell, symbols in sets.items():
        counts[cell], sizes[cell] = evidence.counts[list(symbols)].sum(), len(symbols)
        displayed[cell] = points[list(symbols)].sum()
    value = (counts / n - sizes * bits.q) / (bits.p - bits.q)
    shares = np.clip(value.ravel(), 0, None)
    shares = shares / shares.sum() if shares.sum() > 0 else sizes.ravel() / sizes.sum()
    spread = bits.covariance(shares, sizes.ravel()) / (bits.p - bits.q) ** 2
    z = float(ndtri(1 - options.apply_bonferroni(len(sets)).alpha / 2))
    rows = _rows(bits, value, spread, sizes, displayed, n, z)
    within, differences = estimate_rows(names, rows, n, z)
    test = _test(bits, counts, sizes, value, spread, n)
    cells = set_cells(evidence, list(sets.values()), [(names[0][i], names[1][j]) for i, j in sets], options)
    return CrosstabEstimates(*names, n, cells, within, differences, test)


def _test(bits: SymbolBits, counts: Floats, sizes: Floats, value: Floats, spread: Floats, n: int) -> Test | None:
    """Test independence; return None if a cell cannot occur, or if too few reports name some cell for Wald's test."""
    if not sizes.all():
        return None
    if bits.is_single:
        return hypotheses.joint_independence(counts, bits.gap, sizes * bits.q)
    return hypotheses.wald(value, spread, n) if counts.min() >= hypotheses.LEAST_JOINT else None


def _rows(bits: SymbolBits, value: Floats, spread: Floats, sizes: Floats, shown: Floats, n: int, z: float) -> RowShares:
    """Return the input for shares within rows, with the variances and correlations of the cells.

    Let a = 1 − r for the symbols of a cell and −r for the others of its row, P the row's share, and c1 and c2 the
    `pair_p` and `pair_q` of two bits. Then Σ a b of one report has the variance
    (q−c2) Σa² + (c2−q²)(Σa)² + (p−q−2(c1−c2)) r(1−r) P.
    """
    p, q, pair_p, pair_q = bits.p, bits.q, bits.pair_p, bits.pair_q
    row, sums = sizes.sum(axis=1)[:, None], value.sum(axis=1)
    own, product = (q - pair_q) / (p - q) ** 2, (pair_q - q * q) / (p - q) ** 2
    excess = (p - q - 2 * (pair_p - pair_q)) / (p - q) ** 2 * np.clip(sums, 0, 1)[:, None]
    v0 = own * sizes + product * sizes**2
    v1 = -2 * own * sizes - 2 * product * sizes * row + excess
    v2 = own * row + product * row**2 - excess
    parts = spread.reshape(*value.shape, *value.shape)
    to_row = parts.sum(axis=3)  # covariance of each cell with each row
    rows = to_row.sum(axis=1)
    rate = np.divide(value, sums[:, None], out=np.zeros_like(value), where=sums[:, None] > 0)
    row_index, column_index = np.arange(len(sums)), np.arange(value.shape[1])
    variance = (
        parts[row_index[:, None], column_index, row_index[:, None], column_index]
        - 2 * rate * to_row[row_index, :, row_index]
    )
    variance = variance + rate**2 * np.diag(rows)[:, None]
    covariance = parts[:, column_index, 0, column_index] - rate[0] * to_row[:, :, 0]
    covariance = covariance - rate * (to_row[0].T - rate[0] * rows[:, :1])
    scale = np.sqrt(np.maximum(variance * variance[0], 0))
    correlation = np.clip(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0), -1, 1)
    is_nonempty = sums > z * np.sqrt(np.diag(rows) / n)
    return RowShares(
        value, sums, is_nonempty, (v0, v1, v2 + 0 * value), correlation, sizes > 0, shown, shown.sum(axis=1)
    )
