"""The estimates of one field: what is asked of its counts, question by question.

An `Estimate` keeps apart what must not be confused: `unbiased`, which may lie outside the possible range; `estimate`,
the point to display; the interval; `reported`, the raw share of the stored bit; and n, the number of devices asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import brentq

from client.definition import Field, Question
from client.mechanism import Flip, Geometric, Sampled, Subset, Unary
from client.sampling import WHOLE
from client.words import NO_ANSWER, digit_label, level_value
from survey_app.estimate import functional
from survey_app.estimate.intervals import Interval, geometric_mean, guarded
from survey_app.estimate.points import project
from survey_app.store import Counts

LEAST_REPORTS = 2


@dataclass(frozen=True)
class Estimate:
    """One line of the results."""

    option: str
    kind: str  # share, no_answer or mean
    n: int
    estimate: float
    interval: Interval
    unbiased: float
    reported: float | None


@dataclass(frozen=True)
class Cell:
    """One cell of a joint field."""

    options: tuple[str, ...]
    estimate: Estimate


def question_estimates(field: Field, question: Question, counts: Counts, n: int, alpha: float) -> list[Estimate]:
    """Shares of a question's symbols in order, then means; nothing under two reports."""
    mechanism = field.mechanism
    if n < LEAST_REPORTS:
        return []
    if isinstance(mechanism, Geometric):
        return [_geometric(mechanism, question, counts, n, alpha)]
    if isinstance(mechanism, Sampled):
        return _sampled(mechanism, question, counts, alpha)
    if isinstance(mechanism, Flip):
        return _flip(field, mechanism, counts, n, alpha)
    if question.levels:
        return [_levels(field, question, mechanism, counts, n, alpha)]
    if question.type == "multiple":
        return _options(field, question, mechanism, counts, n, alpha)
    found = _shares(field, question, mechanism, counts, n, alpha)
    if question.type == "scale":
        scores = [float(score) for score in question.scores] or [float(i + 1) for i in range(len(question.labels))]
        found.append(_mean(field, question, mechanism, counts, n, scores, alpha))
    return found


def joint_cells(field: Field, counts: Counts, n: int, alpha: float) -> list[Cell]:
    """Every cell of a joint field, the first question most significant."""
    mechanism = field.mechanism
    if n < LEAST_REPORTS or not isinstance(mechanism, Subset | Unary):
        return []
    labels = product(*([digit_label(q, i) for i in range(q.size)] for q in field.questions))
    sets = [[symbol] for symbol in range(field.size)]
    found = _unions(mechanism, counts, n, sets, [("", "share")] * field.size, alpha)
    return [Cell(options, one) for options, one in zip(labels, found, strict=True)]


def _members(field: Field, question: Question) -> list[list[int]]:
    """For each symbol of a question, the symbols of the field in which it occurs."""
    digits = list(product(*(range(q.size) for q in field.questions)))
    place = [q.id for q in field.questions].index(question.id)
    sets: list[list[int]] = [[] for _ in range(question.size)]
    for symbol, digit in enumerate(digits):
        sets[digit[place]].append(symbol)
    return sets


def _unions(
    mechanism: Subset | Unary,
    counts: Counts,
    n: int,
    sets: Sequence[Sequence[int]],
    names: Sequence[tuple[str, str]],
    alpha: float,
) -> list[Estimate]:
    """The shares of disjoint sets that together hold everything, and their projection on the simplex."""
    raw, intervals, reported = [], [], []
    for members in sets:
        scores = np.zeros(mechanism.size)
        scores[list(members)] = 1
        raw.append(functional.unbiased(mechanism, counts, n, scores.tolist()))
        intervals.append(functional.union(mechanism, counts, n, members, alpha))
        reported.append(float(counts[members[0]] / n) if len(members) == 1 else None)
    points = project(np.asarray(raw))
    return [
        Estimate(name, kind, n, float(point), interval, value, share)
        for (name, kind), point, interval, value, share in zip(names, points, intervals, raw, reported, strict=True)
    ]


def _shares(
    field: Field, question: Question, mechanism: Subset | Unary, counts: Counts, n: int, alpha: float
) -> list[Estimate]:
    names = [(digit_label(question, i), "share") for i in range(question.no_answer)]
    if question.optional:
        names.append((NO_ANSWER, "no_answer"))
    return _unions(mechanism, counts, n, _members(field, question), names, alpha)


def _flip(field: Field, mechanism: Flip, counts: Counts, n: int, alpha: float) -> list[Estimate]:
    ones, p, q = int(counts[0]), float(mechanism.p), float(mechanism.q)
    yes = (ones / n - q) / (p - q)
    interval = guarded(ones, n, mechanism.p, mechanism.q, alpha)
    point = min(max(yes, 0.0), 1.0)
    no_label, yes_label = (digit_label(field.questions[0], i) for i in (0, 1))
    return [
        Estimate(no_label, "share", n, 1 - point, interval.mapped(-1, 1), 1 - yes, 1 - ones / n),
        Estimate(yes_label, "share", n, point, interval, yes, ones / n),
    ]


def _sampled(mechanism: Sampled, question: Question, counts: Counts, alpha: float) -> list[Estimate]:
    """Each option among those asked about it; an option that nobody was asked about can be anything."""
    found: list[Estimate] = []
    p, q = float(mechanism.p), float(mechanism.q)
    names = [(label, "share") for label in question.labels] + [(NO_ANSWER, "no_answer")] * question.optional
    for place, (name, kind) in enumerate(names):
        ones = int(counts[2 * place + 1])
        n = int(counts[2 * place]) + ones
        interval = guarded(ones, n, mechanism.p, mechanism.q, alpha)
        if n < LEAST_REPORTS:
            continue
        value = (ones / n - q) / (p - q)
        found.append(Estimate(name, kind, n, min(max(value, 0.0), 1.0), interval, value, ones / n))
    return found


def _options(
    field: Field, question: Question, mechanism: Subset | Unary, counts: Counts, n: int, alpha: float
) -> list[Estimate]:
    """The options of a multiple that was randomized as one choice of 2^m sets: unions of those sets."""
    sets = _members(field, question)
    found: list[Estimate] = []
    wanted = [(label, "share", 1 << i) for i, label in enumerate(question.labels)]
    for label, kind, bit in wanted:
        members = [symbol for mask in range(question.no_answer) if mask & bit for symbol in sets[mask]]
        found.append(_union(mechanism, counts, n, members, label, kind, alpha))
    if question.optional:
        found.append(_union(mechanism, counts, n, sets[question.no_answer], NO_ANSWER, "no_answer", alpha))
    return found


def _union(
    mechanism: Subset | Unary, counts: Counts, n: int, members: list[int], name: str, kind: str, alpha: float
) -> Estimate:
    scores = np.zeros(mechanism.size)
    scores[members] = 1
    value = functional.unbiased(mechanism, counts, n, scores.tolist())
    interval = functional.union(mechanism, counts, n, members, alpha)
    return Estimate(name, kind, n, min(max(value, 0.0), 1.0), interval, value, None)


def _levels(
    field: Field, question: Question, mechanism: Subset | Unary, counts: Counts, n: int, alpha: float
) -> Estimate:
    scores = [float(level_value(question, level)) for level in range(question.levels)]
    alone = len(field.questions) == 1 and isinstance(mechanism, Subset) and mechanism.size == 2
    if alone:  # two levels: the mean is a share, and its interval exact
        low, width = scores[0], scores[1] - scores[0]
        share = functional.unbiased(mechanism, counts, n, [0, 1])
        interval = guarded(int(counts[1]), n, mechanism.p, mechanism.q, alpha).mapped(width, low)
        return Estimate("mean", "mean", n, low + width * min(max(share, 0), 1), interval, low + width * share, None)
    return _mean(field, question, mechanism, counts, n, scores, alpha)


def _mean(
    field: Field,
    question: Question,
    mechanism: Subset | Unary,
    counts: Counts,
    n: int,
    scores: Sequence[float],
    alpha: float,
) -> Estimate:
    """The mean score; of an optional question, the mean among those who answered (Fieller)."""
    low, high = min(scores), max(scores)
    by_symbol = np.zeros(mechanism.size)
    answered = np.zeros(mechanism.size)
    for digit, members in enumerate(_members(field, question)):
        if digit < question.no_answer:
            by_symbol[members] = scores[digit]
            answered[members] = 1
    total = functional.unbiased(mechanism, counts, n, by_symbol.tolist())
    if not question.optional:
        interval = functional.mean(mechanism, counts, n, by_symbol.tolist(), alpha).clipped(low, high)
        return Estimate("mean", "mean", n, min(max(total, low), high), interval, total, None)
    share = functional.unbiased(mechanism, counts, n, answered.tolist())
    value = total / share if share > 0 else float("nan")

    def ends(ratio: float) -> Interval:
        return functional.mean(mechanism, counts, n, (by_symbol - ratio * answered).tolist(), alpha)

    interval = Interval(
        _crossing(lambda ratio: ends(ratio).low, low, high),
        _crossing(lambda ratio: ends(ratio).high, low, high),
        "approximate",
    )
    point = min(max(value, low), high) if share > 0 else (low + high) / 2
    return Estimate("mean", "mean", n, point, interval, value, None)


def _crossing(limit: Callable[[float], float], low: float, high: float) -> float:
    """Where a limit that falls with the ratio crosses zero; the end of the range if it does not."""
    at_low, at_high = limit(low), limit(high)
    if at_low <= 0:
        return low
    if at_high >= 0:
        return high
    return float(brentq(limit, low, high, xtol=(high - low) * 1e-6))


def _geometric(mechanism: Geometric, question: Question, counts: Counts, n: int, alpha: float) -> Estimate:
    """The mean of noisy levels: two's complement, so the first column counts negatively."""
    width = mechanism.width
    weights = [-(2 ** (width - 1)), *(2 ** (width - 1 - i) for i in range(1, width))]
    mean = float(sum(weight * int(count) for weight, count in zip(weights, counts, strict=True)) / n)
    ratio = mechanism.ratio / WHOLE
    interval = geometric_mean(mean, mechanism.size - 1, 2 * ratio / (1 - ratio) ** 2, n, alpha)
    low = Fraction(question.min)
    slope = float((Fraction(question.max) - low) / (question.levels - 1))
    found = interval.mapped(slope, float(low))
    value = slope * mean + float(low)
    return Estimate("mean", "mean", n, min(max(value, float(low)), float(question.max)), found, value, None)
