"""Two questions of one joint field: their cells are unions of columns of the tally, so no scan is needed."""

import numpy as np
from scipy.special import ndtri

from client.definition import Question
from client.mechanism import Flip, Geometric, Sampled, Subset, Unary
from survey_app import channel
from survey_app.channel import Floats
from survey_app.estimate import hypotheses
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import LEAST_REPORTS, Evidence, joint_cells
from survey_app.estimate.tables import Crosstab, Names, Rows, by_row


def joint_crosstab(
    evidence: Evidence, questions: tuple[Question, Question], names: tuple[Names, Names], options: Options
) -> Crosstab:
    """From the tally: cells exactly, the rest from the covariance of the stored bits at the estimated shares."""
    mechanism, n = evidence.field.mechanism, evidence.n
    if n < LEAST_REPORTS or isinstance(mechanism, Flip | Sampled | Geometric):
        return Crosstab(*names, n, [], [], [], None)
    shape = questions[0].size, questions[1].size
    counts = _cell_counts(evidence, questions).reshape(shape)
    each = mechanism.size // counts.size
    p, q = float(mechanism.p), float(mechanism.q)
    value = (counts / n - each * q) / (p - q)
    shares = np.clip(value.ravel(), 0, None)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(counts.size, 1 / counts.size)
    spread = channel.covariance(mechanism, shares, each) / (p - q) ** 2
    z = float(ndtri(1 - options.among(counts.size).alpha / 2))
    within, differences = by_row(names, _rows(mechanism, value, spread, each, n, z), n, z)
    if isinstance(mechanism, Subset) and mechanism.weight == 1:
        test = hypotheses.likelihood_ratio(counts, p + (each - 1) * q, each * q)
    else:
        test = hypotheses.wald(value, spread, n)
    return Crosstab(*names, n, joint_cells(evidence, questions, options), within, differences, test)


def _cell_counts(evidence: Evidence, questions: tuple[Question, Question]) -> Floats:
    """How often each cell of two questions was reported, whatever the other questions of the field say."""
    digits = np.unravel_index(np.arange(evidence.field.size), [one.size for one in evidence.field.questions])
    row, column = (digits[evidence.field.questions.index(question)] for question in questions)
    cells = questions[0].size * questions[1].size
    counts: Floats = np.bincount(
        row * questions[1].size + column, weights=evidence.counts.astype(float), minlength=cells
    ).astype(float)
    return counts


def _rows(mechanism: Subset | Unary, value: Floats, spread: Floats, each: int, n: int, z: float) -> Rows:
    """The shares within rows: with a = 1 − r for the symbols of a cell, −r for the others of its row, and q, c1 and c2
    of `channel`, Σ a b of one report varies by (q−c2) Σa² + (c2−q²)(Σa)² + (p−q−2(c1−c2)) r(1−r) P, P the row's share.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    one, neither = channel.together(mechanism)
    size = each * value.shape[1]
    sums = value.sum(axis=1)
    own, other = (q - neither) / (p - q) ** 2, (neither - q * q) / (p - q) ** 2
    moved = (p - q - 2 * (one - neither)) / (p - q) ** 2 * np.clip(sums, 0, 1)
    v0 = own * each + other * each * each
    v1 = -2 * own * each - 2 * other * each * size + moved
    v2 = own * size + other * size * size - moved
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
    shape = np.ones_like(value)
    return Rows(value, sums, known, (v0 * shape, v1[:, None] * shape, v2[:, None] * shape), correlation)
