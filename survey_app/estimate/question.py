"""The estimates of one question, from the counts of the field that holds it.

An `Estimate` keeps apart what must not be confused: `unbiased`, which may lie outside the possible range; `estimate`,
the point to display, made of the field's one set of points; the intervals; `reported`, the raw share of devices that
sent it, where that one share makes the estimate; and n, the number of devices asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from client.definition import Field, Survey
from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.words import NO_ANSWER, digit_label, level_value
from survey_app.channel import Floats, geometric_scores
from survey_app.estimate import functional
from survey_app.estimate.functional import indicator
from survey_app.estimate.intervals import Interval, Limits, Options, binomial, dirichlet
from survey_app.estimate.points import nearest
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
    unbiased: float  # of a ratio, that of two unbiased sums; not a number if the lower one is none
    reported: float | None
    is_ratio: bool = False  # which has no unbiased estimate

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

    @cached_property
    def points(self) -> Floats:
        """The displayed share of every symbol; whatever else is displayed of the field is made of these."""
        mechanism, questions = self.field.mechanism, self.field.questions
        if not isinstance(mechanism, Subset):
            raise TypeError("only what reports symbols has a point for each")
        shares = (self.counts / self.n - float(mechanism.q)) / float(mechanism.p - mechanism.q)
        if not self.field.joint and questions[0].type != "multiple":
            return nearest(shares, [])
        return nearest(shares, [symbols for one in questions for _, symbols in answer_sets(self.field, one)])


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
    each = options.among(len(sets))
    estimates = [union_estimate(mechanism, evidence, symbols, ("", "share"), each) for symbols in sets]
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


def answer_sets(field: Field, question: Question) -> list[tuple[Name, list[int]]]:
    """What a question is estimated to have answered, in order, each with the symbols of the field that hold it.

    Of a multiple these are its options; they overlap.
    """
    sets = members(field, question)
    if question.type != "multiple":
        return list(zip(symbol_names(question), sets, strict=True))
    found: list[tuple[Name, list[int]]] = []
    for i, label in enumerate(question.labels):
        holding = [symbol for mask in range(question.no_answer) if mask >> i & 1 for symbol in sets[mask]]
        found.append(((label, "share"), holding))
    if question.optional:
        found.append(((NO_ANSWER, "no_answer"), sets[question.no_answer]))
    return found


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
    """Estimate the share of a set of the field's symbols.

    Where every report names one symbol, or the set is one symbol, the reports that name one of its c symbols are one
    binomial count, and `reported` is their share (see `union_chances`).
    """
    counts, n = evidence.counts, evidence.n
    value = functional.unbiased(mechanism, counts, n, indicator(mechanism.size, symbols))
    limits = functional.union(mechanism, counts, n, symbols, options, sample=evidence.complete)
    is_binomial = mechanism.weight == 1 or len(symbols) == 1
    reported = float(counts[list(symbols)].sum() / n) if is_binomial else None
    point = clamp(float(evidence.points[list(symbols)].sum()))  # rounding may lead above one
    return Estimate(*name, n, point, limits, value, reported)


def union_chances(mechanism: Subset, size: int) -> tuple[Fraction, Fraction]:
    """Return P = p + (c − 1)q and Q = cq of a set of c symbols, for reports that name one symbol.

    They are the chances that a report names one of the set if the answer is in it, and if it is not.
    """
    return mechanism.p + (size - 1) * mechanism.q, size * mechanism.q


def _shares(mechanism: Subset, evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    wanted = answer_sets(evidence.field, question)
    each = options.among(len(wanted))
    return [union_estimate(mechanism, evidence, symbols, name, each) for name, symbols in wanted]


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
    if question.optional:
        return ratio_estimate(mechanism, evidence, (total, answered), (low, high), ("mean", "mean"), options)
    raw = functional.mean(mechanism, evidence.counts, n, total, options.alpha)
    limits = Limits(raw.around(value, low, high), raw)
    if mechanism.weight == 1:
        p, q = float(mechanism.p), float(mechanism.q)
        limits = replace(limits, scores=((total - q * total.sum()) / (p - q), evidence.counts.astype(float)))
    return Estimate("mean", "mean", n, clamp(float(total @ evidence.points), low, high), limits, value, None)


def ratio_estimate(
    mechanism: Subset,
    evidence: Evidence,
    scores: tuple[Floats, Floats],
    within: tuple[float, float],
    name: Name,
    options: Options,
) -> Estimate:
    """One sum of scores divided by another, such as a share among those who answered (Fieller); of nobody, anything."""
    counts, n, (top, bottom) = evidence.counts, evidence.n, scores
    above, below = (functional.unbiased(mechanism, counts, n, one) for one in scores)
    interval = functional.ratio(mechanism, counts, n, top, bottom, *within, options.alpha)
    value = above / below if below > 0 else float("nan")
    held = float(bottom @ evidence.points)
    point = clamp(float(top @ evidence.points) / held, *within) if held > 0 else sum(within) / 2
    return Estimate(*name, n, point, Limits(interval, interval), value, None, True)


def _geometric(mechanism: Geometric, evidence: Evidence, question: Question, options: Options) -> Estimate:
    """The mean of the noisy levels, the ends counting for all that was cut there."""
    n, scores = evidence.n, geometric_scores(mechanism)
    low, step = float(question.min), float(level_value(question, 1) - level_value(question, 0))
    value = low + step * float(scores @ evidence.counts / n)
    raw = dirichlet(scores.tolist(), evidence.counts.tolist(), options.alpha).mapped(step, low)
    high = float(question.max)
    limits = Limits(raw.around(value, low, high), raw, scores=(low + step * scores, evidence.counts.astype(float)))
    return Estimate("mean", "mean", n, clamp(value, low, high), limits, value, None)
