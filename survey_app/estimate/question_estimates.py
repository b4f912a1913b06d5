"""Estimates of a question's figures, from the counts of its field.

An `Estimate` has separate fields for numbers that must not be confused. `unbiased` may lie outside of the possible
range. `estimate` is the displayed point, computed from the field's displayed shares. `reported` is the raw share of
devices that sent the answer, if the estimate follows from that share alone. `n` is the number of devices asked.
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
from survey_app.estimate.observation_intervals import compute_limits, divide_sums, fieller, quotient
from survey_app.estimate.projection import project_to_margins
from survey_app.figures import Family, FamilyName, Figure, FigureKind, Floats, make_share
from survey_app.kinds import kind_of
from survey_app.tally import Counts, Tally, columns

LEAST_REPORTS = 2
MOST_SEARCHED = 256  # the most answers for which ratios, with a search each, are estimated


@dataclass(frozen=True)
class Estimate:
    """One line of the results."""

    option: str
    kind: FigureKind
    n: int
    estimate: float
    limits: Limits
    unbiased: float  # of a ratio: the ratio of two unbiased sums, or not a number if the denominator is not positive
    reported: float | None
    is_ratio: bool = False  # a ratio has no unbiased estimate

    @property
    def interval(self) -> Interval:
        """The interval for the population, cut to the possible range."""
        return self.limits.interval


@dataclass(frozen=True)
class Cell:
    """One cell of a joint field, or of a cross-tab of two questions."""

    options: tuple[str, ...]
    estimate: Estimate


@dataclass(frozen=True)
class Evidence:
    """The data about a field: its counts and the number of devices; `is_complete` if all respondents were asked."""

    field: Field
    counts: Counts
    n: int
    is_complete: bool = True

    @cached_property
    def channel(self) -> Channel:
        """The channel of the field's mechanism."""
        return channel_of(self.field.mechanism)

    @cached_property
    def sets(self) -> Mapping[str, list[list[int]]]:
        """The symbols of the field that hold each answer, for each question by id; options of a multiple overlap."""
        return {question.id: symbols_by_answer(self.field, question) for question in self.field.questions}

    @cached_property
    def points(self) -> Floats | None:
        """The displayed share of every symbol, from which all displayed figures follow.

        None if symbols do not have a bit each.
        """
        shares = self.channel.estimate_shares(self.counts, self.n)
        if shares is None:
            return None
        margins = [] if self._symbols_are_answers else [symbols for sets in self.sets.values() for symbols in sets]
        return project_to_margins(shares, margins)

    @cached_property
    def _symbols_are_answers(self) -> bool:
        return not self.field.joint and kind_of(self.field.questions[0]).exclusive

    def expand_figure(self, question: Question, figure: Figure) -> Figure:
        """Return a figure over the channel's inputs, for one figure at a time: a field may have 65,536 symbols."""
        if self.channel.reads_answers or self._symbols_are_answers:
            return figure
        return figure.expand_to_symbols(self.sets[question.id], len(self.field.cells))


def evidence_of(survey: Survey, tally: Tally) -> Iterator[Evidence]:
    """Yield the evidence about every field in a tally."""
    for place in columns(survey):
        n = tally.reports if place.asked_column is None else int(tally.counts[place.asked_column])
        yield Evidence(place.field, tally.counts[place.bit_slice], n, place.asked_column is None)


def question_estimates(evidence: Evidence, question: Question, options: Options, *names: FamilyName) -> list[Estimate]:
    """Return the estimates of the named families; by default the shares of the answers in order, then the mean."""
    all_families = kind_of(question).families(question)
    families = (family for family in all_families if family.name in (names or (FamilyName.SHARES, FamilyName.MEAN)))
    return [estimate for family in families for estimate in family_estimates(evidence, question, family, options)]


def family_estimates(evidence: Evidence, question: Question, family: Family, options: Options) -> list[Estimate]:
    """Return the estimates of a family of a question's figures.

    The list is empty with fewer than two reports, or if the computation would take very long. Figures that the reports
    do not determine are left out.
    """
    if evidence.n < LEAST_REPORTS or (family.is_derived and evidence.points is None):
        return []
    if (
        family.name is FamilyName.AMONG_ANSWERS
        and not evidence.channel.reads_answers
        and question.no_answer > MOST_SEARCHED
    ):
        return []
    figure_options = options.apply_bonferroni(evidence.channel.comparison_count(len(family.figures)))
    estimates = (
        figure_estimate(evidence, evidence.expand_figure(question, figure), figure_options) for figure in family.figures
    )
    return [estimate for estimate in estimates if estimate is not None]


def figure_estimate(evidence: Evidence, figure: Figure, options: Options) -> Estimate | None:
    """Return the estimate of a figure over the channel's inputs; None if the reports do not determine it."""
    if figure.denominator is not None:
        return _ratio_estimate(evidence, figure, options)
    observation = evidence.channel.observe(evidence.counts, evidence.n, figure)
    if observation is None:
        return None
    value = observation.value if evidence.points is None else _display_value(figure, evidence.points)
    point = clamp(value, figure.low, figure.high) if math.isfinite(value) else (figure.low + figure.high) / 2
    limits = compute_limits(observation, figure, options, complete=evidence.is_complete)
    reported = None if figure.kind is FigureKind.MEAN else observation.raw_share
    return Estimate(figure.name, figure.kind, observation.n, point, limits, observation.value, reported)


def _display_value(figure: Figure, points: Floats) -> float:
    """Return the value of a figure at the displayed shares.

    Shares are summed over the symbols with a weight, instead of over all symbols, to avoid rounding errors.
    """
    if figure.kind is FigureKind.MEAN:
        return figure.sum.evaluate(points)
    weights = figure.sum.weights
    has_weight = weights != 0
    return figure.sum.constant + float((weights[has_weight] * points[has_weight]).sum())


def _ratio_estimate(evidence: Evidence, figure: Figure, options: Options) -> Estimate | None:
    """Return the estimate of a ratio, for example a share among the people who answered.

    Return None if the reports do not determine it. Without data about the denominator, the point is mid-range.
    """
    top, bottom = figure.numerator_figure(), figure.denominator_figure()
    observe = partial(evidence.channel.observe, evidence.counts, evidence.n)
    interval = fieller(observe, figure, options.alpha)
    if interval is None or evidence.points is None:
        half = replace(options, confidence=1 - options.alpha / 2)
        above, below = figure_estimate(evidence, top, half), figure_estimate(evidence, bottom, half)
        if above is None or below is None:
            return None
        interval, n = quotient(above.interval, below.interval, figure), above.n
        value = displayed = divide_sums(above.unbiased, below.unbiased)
        low, high = interval.low, interval.high
    else:
        observations = observe(top), observe(bottom)
        value = divide_sums(*(observation.value if observation else math.nan for observation in observations))
        displayed = divide_sums(top.sum.evaluate(evidence.points), bottom.sum.evaluate(evidence.points))
        n, low, high = evidence.n, figure.low, figure.high
    point = clamp(displayed, low, high) if math.isfinite(displayed) else (figure.low + figure.high) / 2
    return Estimate(figure.name, figure.kind, n, point, Limits(interval, interval), value, None, True)


def joint_cells(evidence: Evidence, questions: Sequence[Question], options: Options) -> list[Cell]:
    """Return the estimates of all possible cells of some questions of one joint field, the first varying slowest."""
    sets = joint_symbols(evidence.field, questions)
    labels = [
        tuple(digit_label(question, digit) for question, digit in zip(questions, digits, strict=True))
        for digits in sets
    ]
    return set_cells(evidence, list(sets.values()), labels, options)


def set_cells(
    evidence: Evidence, sets: Sequence[Sequence[int]], labels: Sequence[tuple[str, ...]], options: Options
) -> list[Cell]:
    """Return the estimates of cells that are sets of a field's symbols and partition them."""
    if evidence.n < LEAST_REPORTS or evidence.points is None:
        return []
    cell_options = options.apply_bonferroni(len(sets))
    return [
        Cell(label, union_estimate(evidence, symbols, cell_options))
        for label, symbols in zip(labels, sets, strict=True)
    ]


def union_estimate(evidence: Evidence, symbols: Sequence[int], options: Options) -> Estimate:
    """Return the estimate of the share of a set of the field's symbols; raise ValueError if reports have no sets."""
    estimate = figure_estimate(evidence, make_share("", symbols, len(evidence.field.cells)), options)
    if estimate is None:
        raise ValueError("reports say nothing about sets of symbols")
    return estimate


def joint_symbols(field: Field, questions: Sequence[Question]) -> dict[tuple[int, ...], list[int]]:
    """Return the symbols of the field that hold each combination of some questions' symbols, in order.

    Combinations that cannot occur, because one question hides the other, are left out.
    """
    places = [field.questions.index(question) for question in questions]
    sets: dict[tuple[int, ...], list[int]] = {}
    for symbol, digits in enumerate(field.cells):
        sets.setdefault(tuple(digits[place] for place in places), []).append(symbol)
    return dict(sorted(sets.items()))


def field_symbols(field: Field, question: Question) -> list[list[int]]:
    """Return, for each symbol of a question, the symbols of the field in which it occurs; no list is empty."""
    return list(joint_symbols(field, [question]).values())


def symbols_by_answer(field: Field, question: Question) -> list[list[int]]:
    """Return, for each answer to a question, the symbols of the field that hold it."""
    kind = kind_of(question)
    sets: list[list[int]] = [[] for _ in range(kind.answer_count(question))]
    for digit, symbols in enumerate(field_symbols(field, question)):
        for answer in kind.answers_in(question, digit):
            sets[answer] += symbols
    return sets


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the number between `low` and `high` that is nearest to `value`."""
    return min(max(value, low), high)
