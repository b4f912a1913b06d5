"""The estimates of the figures of a question, from the counts of the field that holds it.

An `Estimate` keeps apart what must not be confused: `unbiased`, which may lie outside the possible range; `estimate`,
the point to display, made of the field's one set of points; the intervals; `reported`, the raw share of devices that
sent it, where that one share makes the estimate; and n, the number of devices asked.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from candor_client.definition import Field, Survey
from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.channels import Channel, channel_of
from survey_app.estimate.intervals import Interval, Limits, Options
from survey_app.estimate.observation_intervals import fieller, limits_of, quotient, ratio_of
from survey_app.estimate.projection import nearest
from survey_app.figures import Family, FamilyName, Figure, FigureKind, Floats, share_of
from survey_app.kinds import kind_of
from survey_app.tally import Counts, Tally, columns

LEAST_REPORTS = 2
MOST_SEARCHED = 256  # symbols of a question whose ratios take a search each


@dataclass(frozen=True)
class Estimate:
    """One line of the results."""

    option: str
    kind: FigureKind
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
    def channel(self) -> Channel:
        """What the field's mechanism does to shares."""
        return channel_of(self.field.mechanism)

    @cached_property
    def sets(self) -> Mapping[str, list[list[int]]]:
        """For each question, the symbols of the field that hold each of its answers; options of a multiple overlap."""
        return {question.id: answer_sets(self.field, question) for question in self.field.questions}

    @cached_property
    def points(self) -> Floats | None:
        """The displayed share of every symbol, where each has a bit; all that is displayed is made of these."""
        shares = self.channel.shares(self.counts, self.n)
        if shares is None:
            return None
        margins = [] if self._symbols_are_answers else [symbols for sets in self.sets.values() for symbols in sets]
        return nearest(shares, margins)

    @cached_property
    def _symbols_are_answers(self) -> bool:
        return not self.field.joint and kind_of(self.field.questions[0]).exclusive

    def lifted(self, question: Question, figure: Figure) -> Figure:
        """Return a figure over what the channel takes in; one at a time, since a field may have 65,536 symbols."""
        if self.channel.reads_answers or self._symbols_are_answers:
            return figure
        return figure.lifted(self.sets[question.id], len(self.field.cells))


def evidence_of(survey: Survey, tally: Tally) -> Iterator[Evidence]:
    """What a tally tells about every field."""
    for place in columns(survey):
        n = tally.reports if place.asked is None else int(tally.counts[place.asked])
        yield Evidence(place.field, tally.counts[place.part], n, place.asked is None)


def question_estimates(evidence: Evidence, question: Question, options: Options, *names: FamilyName) -> list[Estimate]:
    """The estimates of some families; if none is named, shares of a question's answers in order, then means."""
    families = kind_of(question).families(question)
    found = (family for family in families if family.name in (names or (FamilyName.SHARES, FamilyName.MEAN)))
    return [estimate for family in found for estimate in family_estimates(evidence, question, family, options)]


def family_estimates(evidence: Evidence, question: Question, family: Family, options: Options) -> list[Estimate]:
    """The estimates of a family of a question's figures; nothing under two reports, nor where it would take very long.

    Of a family that reports say nothing about nothing is estimated.
    """
    if evidence.n < LEAST_REPORTS or (family.derived and evidence.points is None):
        return []
    if family.name is FamilyName.ANSWERED and not evidence.channel.reads_answers and question.no_answer > MOST_SEARCHED:
        return []
    each = options.among(evidence.channel.apart(len(family.figures)))
    found = (figure_estimate(evidence, evidence.lifted(question, figure), each) for figure in family.figures)
    return [one for one in found if one is not None]


def figure_estimate(evidence: Evidence, figure: Figure, options: Options) -> Estimate | None:
    """Estimate a figure over what the channel takes in; None if reports say nothing about it."""
    if figure.denominator is not None:
        return _ratio_estimate(evidence, figure, options)
    seen = evidence.channel.observe(evidence.counts, evidence.n, figure)
    if seen is None:
        return None
    value = seen.value if evidence.points is None else _displayed(figure, evidence.points)
    point = clamp(value, figure.low, figure.high) if math.isfinite(value) else (figure.low + figure.high) / 2
    limits = limits_of(seen, figure, options, complete=evidence.complete)
    reported = None if figure.kind is FigureKind.MEAN else seen.reported
    return Estimate(figure.name, figure.kind, seen.n, point, limits, seen.value, reported)


def _displayed(figure: Figure, points: Floats) -> float:
    """The figure of the displayed shares; a set of symbols has their plain sum, and all others the rest."""
    if figure.kind is FigureKind.MEAN:
        return figure.sum.of(points)
    weights = figure.sum.weights
    held = weights != 0
    return figure.sum.constant + float((weights[held] * points[held]).sum())


def _ratio_estimate(evidence: Evidence, figure: Figure, options: Options) -> Estimate | None:
    """One sum divided by another, such as a share among those who answered; of nobody, anything."""
    top, bottom = figure.top(), figure.bottom()
    observe = partial(evidence.channel.observe, evidence.counts, evidence.n)
    interval = fieller(observe, figure, options.alpha)
    if interval is None or evidence.points is None:
        half = replace(options, confidence=1 - options.alpha / 2)
        above, below = figure_estimate(evidence, top, half), figure_estimate(evidence, bottom, half)
        if above is None or below is None:
            return None
        interval, n = quotient(above.interval, below.interval, figure), above.n
        value = shown = ratio_of(above.unbiased, below.unbiased)
        low, high = interval.low, interval.high
    else:
        seen = observe(top), observe(bottom)
        value = ratio_of(*(one.value if one else math.nan for one in seen))
        shown = ratio_of(top.sum.of(evidence.points), bottom.sum.of(evidence.points))
        n, low, high = evidence.n, figure.low, figure.high
    point = clamp(shown, low, high) if math.isfinite(shown) else (figure.low + figure.high) / 2
    return Estimate(figure.name, figure.kind, n, point, Limits(interval, interval), value, None, True)


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
    if evidence.n < LEAST_REPORTS or evidence.points is None:
        return []
    each = options.among(len(sets))
    return [Cell(label, union_estimate(evidence, one, each)) for label, one in zip(labels, sets, strict=True)]


def union_estimate(evidence: Evidence, symbols: Sequence[int], options: Options) -> Estimate:
    """Estimate the share of a set of the field's symbols."""
    found = figure_estimate(evidence, share_of("", symbols, len(evidence.field.cells)), options)
    if found is None:
        raise ValueError("reports say nothing about sets of symbols")
    return found


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


def answer_sets(field: Field, question: Question) -> list[list[int]]:
    """For each answer to a question, the symbols of the field that hold it."""
    kind = kind_of(question)
    sets: list[list[int]] = [[] for _ in range(kind.count(question))]
    for digit, symbols in enumerate(members(field, question)):
        for answer in kind.holds(question, digit):
            sets[answer] += symbols
    return sets


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest possible value."""
    return min(max(value, low), high)
