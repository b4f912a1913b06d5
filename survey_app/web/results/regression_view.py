"""A regression on the results page of a survey or study.

A fit reads every report behind the results and takes up to seconds. So its size is limited (`PAGE`), and it is cached.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from candor_client.question import Question
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.estimate.regression import FitError
from survey_app.kinds import kind_of
from survey_app.languages import numbers as written
from survey_app.results.informativeness import UNINFORMATIVE, is_uninformative_coefficient
from survey_app.results.regression_document import (
    PAGE_LIMITS,
    CoefficientLine,
    Regression,
    odds,
    parse_outcome,
    regress_on_groups,
    regress_on_questions,
)
from survey_app.web.access import check_scan
from survey_app.web.results.reader_choices import Choices, Notice
from survey_app.web.results.results_cache import Snapshot
from survey_app.web.results.weights import parse_numbers


class Term(NamedTuple):
    """One coefficient with its label."""

    label: str
    line: CoefficientLine

    @property
    def replacement(self) -> str:
        """The text that replaces an uninformative coefficient; empty for others."""
        return UNINFORMATIVE if is_uninformative_coefficient(self.line) else ""

    @property
    def ratios(self) -> list[str]:
        """The odds ratio and the ends of its interval, with three digits."""
        return [_format_ratio(value) for value in (self.line.estimate, self.line.low, self.line.high)]


@dataclass(frozen=True)
class RegressionView:
    """A regression on the answers to other questions, or, if `on` is empty, on a number for each group."""

    outcome: Question
    document: Regression
    on: tuple[Question, ...] = ()

    @property
    def n(self) -> int:
        """The number of reports behind the fit."""
        return self.document.coefficients[0].n

    @property
    def intervals(self) -> int:
        """The number of intervals shown."""
        return len(self.document.coefficients)

    @property
    def intercept(self) -> Term:
        """The log odds if every question has its first answer, or if the number is 0."""
        return Term("intercept", self.document.coefficients[0])

    @property
    def slope(self) -> Term:
        """The change of the log odds for each unit of the number."""
        return Term("for each increase by 1", self.document.coefficients[1])

    @property
    def parts(self) -> Iterator[tuple[Question, str, list[Term]]]:
        """Yield each question with its first answer, and the coefficients of its other answers compared with it."""
        rest = iter(self.document.coefficients[1:])
        for question in self.on:
            first, *labels = kind_of(question).symbol_labels(question)
            yield question, first, [Term(label, next(rest)) for label in labels]


def read_regression(snapshot: Snapshot, outcome: str, on: tuple[str, ...], options: Options) -> Regression:
    """Return a regression on questions, as the API returns it. Raise FitError if it is impossible or too large."""
    _check_outcome(outcome)
    if not on:
        raise FitError(RefusalCode.MISSING_PREDICTOR, "choose at least one question that may explain the answer")
    check_scan(snapshot.published, snapshot.reports, "regress", FitError)
    return _scan_regression(snapshot, outcome, on, Options(options.confidence))


@lru_cache(maxsize=8)
def _scan_regression(snapshot: Snapshot, outcome: str, on: tuple[str, ...], options: Options) -> Regression:
    published = snapshot.published
    with snapshot.store.open_snapshot(published) as (_, bits):
        return regress_on_questions(published.survey, bits, *parse_outcome(outcome), on, options, PAGE_LIMITS)


def view_regression(snapshot: Snapshot, choices: Choices) -> tuple[RegressionView | None, list[Notice]]:
    """Return the regression that the reader of a survey chose, or None with the reasons why there is none."""
    if not choices.outcome and not choices.on:
        return None, []
    try:
        document = read_regression(snapshot, choices.outcome, choices.on, choices.options)
    except FitError as error:
        return None, [Notice(error.code, f"No regression: {error}.")]
    by_id = {question.id: question for question in snapshot.published.survey.questions}
    return RegressionView(by_id[document.outcome], document, tuple(by_id[name] for name in choices.on)), []


def view_group_regression(
    snapshots: Sequence[Snapshot], choices: Choices
) -> tuple[RegressionView | None, list[Notice]]:
    """Return the regression that the reader of a study chose, or None with the reasons why there is none."""
    if not choices.outcome and not choices.typed_numbers:
        return None, []
    surveys = [snapshot.published.survey for snapshot in snapshots]
    try:
        _check_outcome(choices.outcome)
        numbers = parse_numbers(
            choices.typed_numbers, [(survey.slug, survey.group) for survey in surveys], "number", -math.inf
        )
        members = [(snapshot.published.survey, snapshot.tally) for snapshot in snapshots]
        covariates = {slug: {"number": value} for slug, value in numbers}
        options = Options(choices.options.confidence)
        document = regress_on_groups(members, *parse_outcome(choices.outcome), covariates, options)
    except (FitError, GroupsError) as error:
        return None, [Notice(error.code, f"No regression: {error}.")]
    return RegressionView(
        next(question for question in surveys[0].questions if question.id == document.outcome), document
    ), []


def _check_outcome(outcome: str) -> None:
    if not outcome:
        raise FitError(RefusalCode.MISSING_OUTCOME, "choose the answer whose odds the regression explains")


def _format_ratio(log_odds: float) -> str:
    value = odds(log_odds)
    if value is None:
        return "∞" if log_odds > 0 else "0"
    return written.format_count(round(value)) if value >= 100 else f"{value:#.3g}"
