"""Regression on the results page: what may be explained by what, and the fit that the reader asks for.

A fit reads every report behind the results and takes up to seconds, so its size is bounded (`PAGE`), and kept.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from client.definition import Survey
from client.question import Question
from survey_app.charts.axes import Format, number_format, precision
from survey_app.estimate.groups import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.estimate.regression import FitError
from survey_app.explain import written
from survey_app.kinds import kind_of
from survey_app.pages.access import check_scan
from survey_app.pages.results.choices import Choices
from survey_app.pages.results.crossing import has_shares, listed, numbers
from survey_app.pages.results.readings import Snapshot
from survey_app.pages.results.weights import numbers_of
from survey_app.results.regression import (
    LARGEST,
    PAGE,
    CoefficientLine,
    Regression,
    named_outcome,
    outcomes,
    regression_on_groups,
    regression_on_questions,
)
from survey_app.results.silence import NOTHING, tells_nothing


class Offer(NamedTuple):
    """What the menus have: questions with the answers whose odds can be explained; and why others are missing."""

    outcomes: list[tuple[Question, list[str]]]
    missing: list[str]

    @property
    def predictors(self) -> list[Question]:
        """What may explain it."""
        return [question for question, _ in self.outcomes]


def offered(survey: Survey) -> Offer:
    """What a fit on the page may be made of."""
    if survey.ask:
        return Offer([], ["Each device answered one block of this survey only: no report tells how two go together."])
    found = [(question, labels) for question, labels in outcomes(survey) if question.size <= PAGE.cells]
    held = {question.id for question, _ in found}
    missing = numbers(survey, "no odds")
    others = [question.text for question in survey.questions if question.id not in held and has_shares(question)]
    if others:
        what = "was" if len(others) == 1 else "were each"
        missing.append(
            f"{listed(others)} {what} randomized together with another question, or can have several or too many"
            " answers: a cross-tab may do."
        )
    return Offer(found, missing)


class Term(NamedTuple):
    """One coefficient of a question's answers, or the intercept."""

    label: str
    line: CoefficientLine

    @property
    def form(self) -> Format:
        """How its log odds are written."""
        return number_format(precision([self.line.high - self.line.low], False), False)

    @property
    def instead(self) -> str:
        """What stands in its place where it says nothing."""
        return NOTHING if tells_nothing(self.line) else ""

    @property
    def ratios(self) -> list[str]:
        """The odds ratio and its ends, in three digits."""
        return [_ratio(value) for value in (self.line.estimate, self.line.low, self.line.high)]


@dataclass(frozen=True)
class Fitted:
    """A regression: for each question that explains, what each of its answers does compared with its first."""

    survey: Survey
    outcome: Question
    on: tuple[Question, ...]
    document: Regression

    @property
    def n(self) -> int:
        """How many reports were read."""
        return self.document.coefficients[0].n

    @property
    def intervals(self) -> int:
        """How many there are to see."""
        return len(self.document.coefficients)

    @property
    def intercept(self) -> Term:
        """The log odds where every question has its first answer."""
        return Term("intercept", self.document.coefficients[0])

    @property
    def parts(self) -> Iterator[tuple[Question, str, list[Term]]]:
        """The questions, each with the answer that the others are compared with, and these."""
        rest = iter(self.document.coefficients[1:])
        for question in self.on:
            first, *others = kind_of(question).symbol_labels(question)
            yield question, first, [Term(label, next(rest)) for label in others]


def fitted_document(snapshot: Snapshot, outcome: str, on: tuple[str, ...], options: Options) -> Regression:
    """A fit, as the API gives it."""
    if not outcome:
        raise FitError("choose the answer whose odds shall be explained")
    if not on:
        raise FitError("choose at least one question that may explain it")
    check_scan(snapshot.published, snapshot.reports, "regress", FitError)
    return _fitted_document(snapshot, outcome, on, Options(options.confidence))


@lru_cache(maxsize=8)
def _fitted_document(snapshot: Snapshot, outcome: str, on: tuple[str, ...], options: Options) -> Regression:
    published = snapshot.published
    with snapshot.store.shown(published) as (_, bits):
        return regression_on_questions(published.survey, bits, *named_outcome(outcome), on, options, PAGE)


def fit(snapshot: Snapshot, choices: Choices) -> tuple[Fitted | None, list[str]]:
    """The regression that the reader wants, or why there is none."""
    if not choices.outcome and not choices.on:
        return None, []
    try:
        document = fitted_document(snapshot, choices.outcome, choices.on, choices.options)
    except FitError as error:
        return None, [f"No regression: {error}."]
    survey = snapshot.published.survey
    by_id = {question.id: question for question in survey.questions}
    return Fitted(survey, by_id[document.outcome], tuple(by_id[name] for name in choices.on), document), []


@dataclass(frozen=True)
class Explained:
    """A regression on what is known of the groups of a study."""

    outcome: Question
    document: Regression

    @property
    def n(self) -> int:
        """How many reports all groups have."""
        return self.document.coefficients[0].n

    @property
    def intercept(self) -> Term:
        """The log odds where the number is 0."""
        return Term("intercept", self.document.coefficients[0])

    @property
    def slope(self) -> Term:
        """What one more of the number adds to the log odds."""
        return Term("for each 1 more", self.document.coefficients[1])


def explain(snapshots: Sequence[Snapshot], choices: Choices) -> tuple[Explained | None, list[str]]:
    """The regression that the reader of a study wants, or why there is none."""
    if not choices.outcome and not choices.known:
        return None, []
    surveys = [one.published.survey for one in snapshots]
    try:
        if not choices.outcome:
            raise FitError("choose the answer whose odds shall be explained")
        named = [(survey.slug, survey.group) for survey in surveys]
        numbers = numbers_of(choices.known, named, "number", -math.inf)
        members = [(one.published.survey, one.tally) for one in snapshots]
        covariates = {slug: {"number": value} for slug, value in numbers}
        options = Options(choices.options.confidence)
        document = regression_on_groups(members, *named_outcome(choices.outcome), covariates, options)
    except (FitError, GroupsError) as error:
        return None, [f"No regression: {error}."]
    return Explained(next(one for one in surveys[0].questions if one.id == document.outcome), document), []


def _ratio(log_odds: float) -> str:
    if abs(log_odds) >= LARGEST:
        return "∞" if log_odds > 0 else "0"
    value = math.exp(log_odds)
    return written.count(round(value)) if value >= 100 else f"{value:#.3g}"
