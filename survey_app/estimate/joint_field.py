"""Two questions of one joint field, or two options of one multiple: cells that are unions of a field's symbols."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri

from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.symbol_bits import SymbolBits
from survey_app.estimate import hypotheses
from survey_app.estimate.contingency import CrosstabEstimates, Names, Rows, by_row
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.question_estimates import LEAST_REPORTS, Evidence, joint_members, set_cells
from survey_app.figures import Floats


def joint_crosstab(
    evidence: Evidence, questions: tuple[Question, Question], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """Two questions, whatever the others of the field say."""
    sets = {(i, j): symbols for (i, j), symbols in joint_members(evidence.field, questions).items()}
    return crossed_sets(evidence, sets, names, options)


def crossed_sets(
    evidence: Evidence, sets: Mapping[tuple[int, int], Sequence[int]], names: tuple[Names, Names], options: Options
) -> CrosstabEstimates:
    """From the tally: cells exactly, the rest from the covariance of the stored bits at the estimated shares.

    `sets` are the symbols of the field that each cell holds; a cell that is not among them cannot occur.
    """
    bits, n = channel_of(evidence.field.mechanism).symbol_bits, evidence.n
    if n < LEAST_REPORTS or bits is None or (points := evidence.points) is None:
        return CrosstabEstimates(*names, n, [], [], [], None)
    counts, sizes, shown = (np.zeros((len(names[0]), len(names[1]))) for _ in range(3))
    for cell, symbols in sets.items():
        counts[cell], sizes[cell] = evidence.counts[list(symbols)].sum(), len(symbols)
        shown[cell] = points[list(symbols)].sum()
    value = (counts / n - sizes * bits.q) / (bits.p - bits.q)
    shares = np.clip(value.ravel(), 0, None)
    shares = shares / shares.sum() if shares.sum() > 0 else sizes.ravel() / sizes.sum()
    spread = bits.covariance(shares, sizes.ravel()) / (bits.p - bits.q) ** 2
    z = float(ndtri(1 - options.among(len(sets)).alpha / 2))
    rows = _rows(bits, value, spread, sizes, shown, n, z)
    within, differences = by_row(names, rows, n, z)
    test = _test(bits, counts, sizes, value, spread, n)
    cells = set_cells(evidence, list(sets.values()), [(names[0][i], names[1][j]) for i, j in sets], options)
    return CrosstabEstimates(*names, n, cells, within, differences, test)


def _test(bits: SymbolBits, counts: Floats, sizes: Floats, value: Floats, spread: Floats, n: int) -> Test | None:
    """Of independence; nothing where one question hides the other, or where too few reports name some cell."""
    if not sizes.all():
        return None
    if bits.is_single:
        return hypotheses.joint_independence(counts, bits.gap, sizes * bits.q)
    return hypotheses.wald(value, spread, n) if counts.min() >= hypotheses.LEAST_JOINT else None


def _rows(bits: SymbolBits, value: Floats, spread: Floats, sizes: Floats, shown: Floats, n: int, z: float) -> Rows:
    """The shares within rows.

    With a = 1 − r for the symbols of a cell, −r for the others of its row, and c1 and c2 the chances of two bits, Σ a b
    of one report varies by (q−c2) Σa² + (c2−q²)(Σa)² + (p−q−2(c1−c2)) r(1−r) P, P the row's share.
    """
    p, q, one, neither = bits.p, bits.q, bits.both, bits.neither
    row, sums = sizes.sum(axis=1)[:, None], value.sum(axis=1)
    own, other = (q - neither) / (p - q) ** 2, (neither - q * q) / (p - q) ** 2
    moved = (p - q - 2 * (one - neither)) / (p - q) ** 2 * np.clip(sums, 0, 1)[:, None]
    v0 = own * sizes + other * sizes**2
    v1 = -2 * own * sizes - 2 * other * sizes * row + moved
    v2 = own * row + other * row**2 - moved
    parts = spread.reshape(*value.shape, *value.shape)
    to_row = parts.sum(axis=3)  # of each cell with each row
    rows = to_row.sum(axis=1)
    rate = np.divide(value, sums[:, None], out=np.zeros_like(value), where=sums[:, None] > 0)
    at, across = np.arange(len(sums)), np.arange(value.shape[1])
    mine = parts[at[:, None], across, at[:, None], across] - 2 * rate * to_row[at, :, at]
    mine = mine + rate**2 * np.diag(rows)[:, None]
    both = parts[:, across, 0, across] - rate[0] * to_row[:, :, 0]
    both = both - rate * (to_row[0].T - rate[0] * rows[:, :1])
    scale = np.sqrt(np.maximum(mine * mine[0], 0))
    correlation = np.clip(np.divide(both, scale, out=np.zeros_like(both), where=scale > 0), -1, 1)
    known = sums > z * np.sqrt(np.diag(rows) / n)
    return Rows(value, sums, known, (v0, v1, v2 + 0 * value), correlation, sizes > 0, shown, shown.sum(axis=1))
