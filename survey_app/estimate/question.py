"""The estimates of one question, from the counts of the field that holds it.

An `Estimate` keeps apart what must not be confused: `unbiased`, which may lie outside the possible range; `estimate`,
the point to display; the intervals; `reported`, the raw share of the stored bit; and n, the number of devices asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from client.definition import Field, Survey
from client.mechanism import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.words import NO_ANSWER, digit_label, level_value
from survey_app.channel import Floats, geometric_scores
from survey_app.estimate import functional
from survey_app.estimate.functional import indicator
from survey_app.estimate.intervals import Interval, Limits, Options, binomial, dirichlet
from survey_app.tally import Counts, Tally, columns

LEAST_REPORTS = 2
Kind = Literal["share", "no_answer", "mean", "difference"]
Name = tuple[str, Kind]  # option and kind


@dataclass(frozen=True)
class Estimate:
    """One line of the results."""

    option: str
    kind: Kind
    n: int
    estimate: float
    limits: Limits
    unbiased: float
    reported: float | None

    @property
    def interval(self) -> Interval:
        """For the population, cut to what is possible."""
        return self.limits.interval


@dataclass(frozen=True)
class Cell:
    """One cell of a joint field, or of two questions."""

    options: tuple[str, ...]
    estimate: Estimate


@dataclass(frozen=True)
class Evidence:
    """What is known about a field: its counts, and of how many devices; `complete` if all respondents were asked."""

    field: Field
    counts: Counts
    n: int
    complete: bool = True


def evidence_of(survey: Survey, tally: Tally) -> Iterator[Evidence]:
    """What a tally tells about every field."""
    for place in columns(survey):
        n = tally.reports if place.asked is None else int(tally.counts[place.asked])
        yield Evidence(place.field, tally.counts[place.part], n, place.asked is None)


def question_estimates(evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """Shares of a question's symbols in order, then means; nothing under two reports."""
    mechanism = evidence.field.mechanism
    if evidence.n < LEAST_REPORTS:
        return []
    if isinstance(mechanism, Geometric):
        return [_geometric(mechanism, evidence, question, options)]
    if isinstance(mechanism, Drawn):
        return _drawn(mechanism, evidence, question, options)
    if isinstance(mechanism, Flip):
        return _flip(mechanism, evidence, options)
    if question.levels:
        return [_levels(mechanism, evidence, question, options)]
    if question.type == "multiple":
        return _options(mechanism, evidence, question, options)
    shares = _shares(mechanism, evidence, question, options)
    if question.type == "scale":
        shares.append(_mean(mechanism, evidence, question, scores_of(question), options))
    return shares


def joint_cells(evidence: Evidence, questions: Sequence[Question], options: Options) -> list[Cell]:
    """Every possible cell of some questions of one joint field, the first question most significant."""
    sets = joint_members(evidence.field, questions)
    labels = [
        tuple(digit_label(question, digit) for question, digit in zip(questions, digits, strict=True))
        for digits in sets
    ]
    return set_cells(evidence, list(sets.values()), labels, options)


def set_cells(
    evidence: Evidence, sets: Sequence[Sequence[int]], labels: Sequence[tuple[str, ...]], options: Options
) -> list[Cell]:
    """Cells that are sets of a field's symbols, which together hold all of them."""
    mechanism = evidence.field.mechanism
    if evidence.n < LEAST_REPORTS or not isinstance(mechanism, Subset):
        return []
    estimates = _disjoint(mechanism, evidence, sets, [("", "share")] * len(sets), options)
    return [Cell(label, estimate) for label, estimate in zip(labels, estimates, strict=True)]


def joint_members(field: Field, questions: Sequence[Question]) -> dict[tuple[int, ...], list[int]]:
    """For each combination of some questions' symbols that can occur, in order, the symbols of the field that hold it.

    What cannot occur, because one question hides the other, is not there.
    """
    places = [field.questions.index(question) for question in questions]
    sets: dict[tuple[int, ...], list[int]] = {}
    for symbol, digits in enumerate(field.cells):
        sets.setdefault(tuple(digits[place] for place in places), []).append(symbol)
    return dict(sorted(sets.items()))


def members(field: Field, question: Question) -> list[list[int]]:
    """For each symbol of a question, the symbols of the field in which it occurs; each occurs in some."""
    return list(joint_members(field, [question]).values())


def symbol_names(question: Question) -> list[Name]:
    """The words for each symbol of a question, and whether it is a share or no answer."""
    names: list[Name] = [(digit_label(question, i), "share") for i in range(question.no_answer)]
    return names + [(NO_ANSWER, "no_answer")] * question.optional


def scores_of(question: Question) -> list[float]:
    """The scores of a scale's points; 1, 2, 3, … unless the author gave others."""
    return [float(score) for score in question.scores] or [float(i + 1) for i in range(len(question.labels))]


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest possible value."""
    return min(max(value, low), high)


def union_estimate(
    mechanism: Subset, evidence: Evidence, symbols: Sequence[int], name: Name, options: Options
) -> Estimate:
    """The share of a set of the field's symbols."""
    counts, n = evidence.counts, evidence.n
    value = functional.unbiased(mechanism, counts, n, indicator(mechanism.size, symbols))
    limits = functional.union(mechanism, counts, n, symbols, options, sample=evidence.complete)
    reported = float(counts[symbols[0]] / n) if len(symbols) == 1 else None
    return Estimate(*name, n, clamp(value), limits, value, reported)


def _disjoint(
    mechanism: Subset,
    evidence: Evidence,
    sets: Sequence[Sequence[int]],
    names: Sequence[Name],
    options: Options,
) -> list[Estimate]:
    """The shares of sets that together hold everything; the displayed points are their projection on the simplex."""
    each = options.among(len(sets))
    raw = [union_estimate(mechanism, evidence, one, name, each) for one, name in zip(sets, names, strict=True)]
    points = project(np.array([one.unbiased for one in raw]))
    return [
        Estimate(one.option, one.kind, one.n, float(point), one.limits, one.unbiased, one.reported)
        for one, point in zip(raw, points, strict=True)
    ]


def _shares(mechanism: Subset, evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    return _disjoint(mechanism, evidence, members(evidence.field, question), symbol_names(question), options)


def _flip(mechanism: Flip, evidence: Evidence, options: Options) -> list[Estimate]:
    question = evidence.field.questions[0]
    ones, n, p, q = int(evidence.counts[0]), evidence.n, float(mechanism.p), float(mechanism.q)
    yes = (ones / n - q) / (p - q)
    if question.levels:
        return [_two_levels(mechanism, evidence, ones, question, options)]
    limits = binomial(ones, n, mechanism.p, mechanism.q, options, sample=evidence.complete)
    point = clamp(yes)
    no_label, yes_label = (digit_label(question, i) for i in (0, 1))
    lines = [
        Estimate(no_label, "share", n, 1 - point, limits.mapped(-1, 1), 1 - yes, 1 - ones / n),
        Estimate(yes_label, "share", n, point, limits, yes, ones / n),
    ]
    if question.type == "scale":
        lines.append(_mean_of_share(yes, limits, scores_of(question), n))
    return lines


def _drawn(mechanism: Drawn, evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """Each option among those asked about it."""
    estimates: list[Estimate] = []
    p, q = float(mechanism.p), float(mechanism.q)
    names: list[Name] = [(label, "share") for label in question.labels]
    names += [(NO_ANSWER, "no_answer")] * question.optional
    each = options.among(len(names))
    for position, name in enumerate(names):
        ones = int(evidence.counts[2 * position + 1])
        n = int(evidence.counts[2 * position]) + ones
        limits = binomial(
            ones, n, mechanism.p, mechanism.q, each, sample=evidence.complete and mechanism.draw == len(names)
        )
        if not n:  # nobody was asked about it, so it may be anything: a line that vanished would say less
            estimates.append(Estimate(*name, n, 0.5, limits, float("nan"), None))
            continue
        value = (ones / n - q) / (p - q)
        estimates.append(Estimate(*name, n, clamp(value), limits, value, ones / n))
    return estimates


def _options(mechanism: Subset, evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """The options of a multiple that was randomized as one choice of 2^m sets: unions of those sets."""
    sets = members(evidence.field, question)
    each = options.among(len(question.labels) + question.optional)
    estimates: list[Estimate] = []
    for i, label in enumerate(question.labels):
        holding = [symbol for mask in range(question.no_answer) if mask >> i & 1 for symbol in sets[mask]]
        estimates.append(union_estimate(mechanism, evidence, holding, (label, "share"), each))
    if question.optional:
        none = sets[question.no_answer]
        estimates.append(union_estimate(mechanism, evidence, none, (NO_ANSWER, "no_answer"), each))
    return estimates


def _levels(mechanism: Subset, evidence: Evidence, question: Question, options: Options) -> Estimate:
    if mechanism.size == 2:
        return _two_levels(mechanism, evidence, int(evidence.counts[1]), question, options)
    return _mean(mechanism, evidence, question, _level_scores(question), options)


def _level_scores(question: Question) -> list[float]:
    return [float(level_value(question, level)) for level in range(question.levels)]


def _two_levels(
    mechanism: Flip | Subset, evidence: Evidence, ones: int, question: Question, options: Options
) -> Estimate:
    """The mean is a share, and its interval exact; but numbers are rounded by a coin, also where everyone is asked."""
    share = (ones / evidence.n - float(mechanism.q)) / float(mechanism.p - mechanism.q)
    limits = binomial(ones, evidence.n, mechanism.p, mechanism.q, replace(options, population=None), sample=False)
    return _mean_of_share(share, limits, _level_scores(question), evidence.n)


def _mean_of_share(share: float, limits: Limits, scores: Sequence[float], n: int) -> Estimate:
    """The mean of two scores, from the share of the second."""
    first, width = scores[0], scores[1] - scores[0]
    return Estimate(
        "mean", "mean", n, first + width * clamp(share), limits.mapped(width, first), first + width * share, None
    )


def _mean(
    mechanism: Subset, evidence: Evidence, question: Question, scores: Sequence[float], options: Options
) -> Estimate:
    """The mean score; of an optional question, the mean among those who answered (Fieller)."""
    low, high, n = min(scores), max(scores), evidence.n
    total, answered = np.zeros(mechanism.size), np.zeros(mechanism.size)
    for digit, symbols in enumerate(members(evidence.field, question)[: question.no_answer]):
        total[symbols] = scores[digit]
        answered[symbols] = 1
    value = functional.unbiased(mechanism, evidence.counts, n, total)
    if not question.optional:
        raw = functional.mean(mechanism, evidence.counts, n, total, options.alpha)
        limits = Limits(raw.around(value, low, high), raw)
        return Estimate("mean", "mean", n, clamp(value, low, high), limits, value, None)
    share = functional.unbiased(mechanism, evidence.counts, n, answered)
    value = value / share if share > 0 else float("nan")
    interval = functional.ratio(mechanism, evidence.counts, n, total, answered, low, high, options.alpha)
    point = clamp(value, low, high) if share > 0 else (low + high) / 2
    return Estimate("mean", "mean", n, point, Limits(interval, interval), value, None)


def _geometric(mechanism: Geometric, evidence: Evidence, question: Question, options: Options) -> Estimate:
    """The mean of the noisy levels, the ends counting for all that was cut there."""
    n, scores = evidence.n, geometric_scores(mechanism)
    low, step = float(question.min), float(level_value(question, 1) - level_value(question, 0))
    value = low + step * float(scores @ evidence.counts / n)
    raw = dirichlet(scores.tolist(), evidence.counts.tolist(), options.alpha).mapped(step, low)
    high = float(question.max)
    return Estimate("mean", "mean", n, clamp(value, low, high), Limits(raw.around(value, low, high), raw), value, None)


def project(shares: Floats) -> Floats:
    """The Euclidean projection on the simplex (Norm-Sub): never farther from the truth than the raw shares.

    Sort v descending, c_j = v_1 + … + v_j − 1, ρ the last j with v_j > c_j/j; then max(v − c_ρ/ρ, 0). To clip and
    rescale instead can be ten times worse.
    """
    ordered = np.sort(shares)[::-1]
    sums = np.cumsum(ordered) - 1
    places = np.arange(1, len(shares) + 1)
    rho = int(np.nonzero(ordered - sums / places > 0)[0][-1])
    projected: Floats = np.maximum(shares - sums[rho] / places[rho], 0.0)
    return projected
