"""Logistic regression of an answer on known covariates of groups, or on other questions of the same survey."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate.group_estimates import question_signature
from survey_app.estimate.intervals import Coverage, Method, Options
from survey_app.estimate.question_estimates import LEAST_REPORTS
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.estimate.regression import Coefficient, FitError, LatentData, fit_latent_logistic, fit_logistic
from survey_app.figures import Floats
from survey_app.kinds import kind_of
from survey_app.languages.number_format import Format, choose_decimals, make_format
from survey_app.results.group_document import Group
from survey_app.tally import Bits, Columns, columns, columns_of

LARGEST_EXPONENT = 700.0  # the largest exponent whose exponential is still a number


class FitLimits(NamedTuple):
    """Limits of a fit: combinations of answers, and numbers in memory, which are distinct reports × combinations."""

    cells: int
    numbers: int
    advice: str = ""


COMMAND_LIMITS = FitLimits(512, 10_000_000)
PAGE_LIMITS = FitLimits(64, 100_000, "; the command candor regress has higher limits than a page")  # two seconds


class CoefficientLine(Struct, frozen=True, kw_only=True):
    """A log odds ratio with its interval, and the odds ratio where it is still a number."""

    name: str
    n: int
    estimate: float
    standard_error: float
    low: float
    high: float
    odds_ratio: float | None
    coverage: Coverage
    method: Method

    @property
    def form(self) -> Format:
        """The format of its log odds."""
        return make_format(choose_decimals([self.high - self.low], False), False)


class Regression(Struct, frozen=True, kw_only=True):
    """The log odds of one answer, explained."""

    outcome: str
    label: str
    confidence: float
    coefficients: tuple[CoefficientLine, ...]


def regress_on_groups(
    members: Sequence[Group],
    outcome: str,
    label: str,
    covariates: Mapping[str, Mapping[str, float]],
    options: Options,
) -> Regression:
    """Regress the log odds of an answer on covariates of each group; raise FitError if that is impossible."""
    slugs = [survey.slug for survey, _ in members]
    uncovered = [slug for slug in slugs if slug not in covariates]
    if uncovered:
        raise FitError(
            RefusalCode.MISSING_COVARIATE,
            f"covariates are missing for {', '.join(uncovered)}; give them for every survey",
        )
    names = list(covariates[slugs[0]])
    if any(set(covariates[slug]) != set(names) for slug in slugs):
        raise FitError(RefusalCode.MISSING_COVARIATE, "every group needs covariates with the same names")
    rows = [[1.0, *(float(covariates[slug][name]) for name in names)] for slug in slugs]
    if not np.isfinite(rows).all():
        raise FitError(RefusalCode.INVALID_NUMBER, "covariates must be finite numbers")
    questions = [_find_own_field(survey, outcome).field.questions[0] for survey, _ in members]
    if any(question_signature(question) != question_signature(questions[0]) for question in questions):
        raise FitError(
            RefusalCode.OTHER_QUESTIONS,
            f"the surveys do not ask {outcome} with the same options; choose an outcome"
            " that has the same options in all of them",
        )
    ones, totals, p, q = ([0.0] * len(members) for _ in range(4))
    for i, (survey, tally) in enumerate(members):
        column, (p[i], q[i]) = _find_outcome_bit(survey, outcome, label)
        ones[i] = float(tally.counts[column.start])
        totals[i] = float(tally.reports if column.asked_column is None else tally.counts[column.asked_column])
    coefficients = fit_logistic(
        ["intercept", *names], np.array(rows), np.array(ones), np.array(totals), np.array(p), np.array(q), options.alpha
    )
    return _make_regression(outcome, label, coefficients, options)


def list_outcomes(survey: Survey, *, by_group: bool = False) -> list[tuple[Question, list[str]]]:
    """Return the questions that can be outcomes or predictors, each with the answers that can be an outcome.

    Where each device answers one block only, there are none, except for a regression on groups.
    """
    fields = [] if survey.ask and not by_group else [place.field for place in columns(survey) if _has_own_field(place)]
    return [
        (field.questions[0], [bit.meaning for bit in channel_of(field.mechanism).bits(field)])
        for field in sorted(fields, key=lambda field: survey.questions.index(field.questions[0]))
    ]


def parse_outcome(text: str) -> tuple[str, str]:
    """Parse QUESTION=ANSWER into both parts; the answer is yes if there is none."""
    question, _, answer = text.partition("=")
    return question, answer or "yes"


def regress_on_questions(
    survey: Survey,
    scan: Iterable[Bits],
    outcome: str,
    label: str,
    predictor_ids: Sequence[str],
    options: Options,
    limits: FitLimits = COMMAND_LIMITS,
) -> Regression:
    """Regress the log odds of an answer on the latent true answers to other questions of the same survey.

    Raise FitError if the questions do not allow it, or if it exceeds the limits.
    """
    outcome_column, (p, q) = _find_outcome_bit(survey, outcome, label)
    predictors = [_find_own_field(survey, name) for name in predictor_ids]
    if outcome in predictor_ids:
        raise FitError(RefusalCode.SELF_EXPLAINED, f"{outcome} is both outcome and predictor; choose other predictors")
    if len(set(predictor_ids)) < len(predictor_ids):
        raise FitError(RefusalCode.REPEATED, "a predictor is named twice; name each one once")
    if survey.ask:
        raise FitError(
            RefusalCode.SEPARATE_BLOCKS,
            f"no device answered both {outcome} and another question, because each device answers only one field of"
            " this survey; publish it without ask, or publish it once for each group and regress on covariates of the"
            " groups",
        )
    cell_count = math.prod(predictor.field.size for predictor in predictors)
    if cell_count > limits.cells:
        raise FitError(
            RefusalCode.TOO_MANY_CELLS,
            f"the predictors have {cell_count} combinations of answers, more than the limit of {limits.cells};"
            f" choose fewer predictors, or questions with fewer options{limits.advice}",
        )
    counts, patterns = _count_patterns(
        survey, scan, [outcome_column, *predictors], limits.numbers // cell_count, limits.advice
    )
    outcome_likelihood = np.where(patterns[:, :1] > 0, np.array([q, p]), np.array([1 - q, 1 - p]))
    start, cells = 1, np.ones((len(patterns), 1))
    for predictor in predictors:
        width = predictor.stop - predictor.start
        part = channel_of(predictor.field.mechanism).row_likelihoods(patterns[:, start : start + width])
        cells = (cells[:, :, None] * part[:, None, :]).reshape(len(patterns), -1)
        start += width
    names, design = _make_design(predictors)
    data = LatentData(counts, outcome_likelihood, cells, design)
    return _make_regression(outcome, label, fit_latent_logistic(names, data, options.alpha), options)


def odds(log_odds: float) -> float | None:
    """Return the odds of log odds, or the ratio of their difference; None where it would overflow."""
    return math.exp(log_odds) if abs(log_odds) < LARGEST_EXPONENT else None


def _make_regression(outcome: str, label: str, coefficients: Sequence[Coefficient], options: Options) -> Regression:
    lines = tuple(
        CoefficientLine(
            name=coefficient.name,
            n=coefficient.n,
            estimate=coefficient.estimate,
            standard_error=coefficient.error,
            low=coefficient.interval.low,
            high=coefficient.interval.high,
            odds_ratio=odds(coefficient.estimate),
            coverage=coefficient.interval.coverage,
            method=coefficient.interval.method,
        )
        for coefficient in coefficients
    )
    return Regression(outcome=outcome, label=label, confidence=options.confidence, coefficients=lines)


def _find_own_field(survey: Survey, name: str) -> Columns:
    if name not in survey.ids:
        raise FitError(
            RefusalCode.UNKNOWN_QUESTION,
            f"there is no question {name!r}; the questions are {', '.join(q.id for q in survey.questions)}",
        )
    place = columns_of(survey, name)
    if not _has_own_field(place):
        raise FitError(
            RefusalCode.NO_OWN_FIELD,
            f"{name} cannot be used here: it must be a question with options, alone in its field; try a cross-tab, or"
            " compare groups by the differences in candor results",
        )
    return place


def _has_own_field(place: Columns) -> bool:
    """Return whether a field is one question whose answers are symbols and have shares."""
    if len(place.field.questions) > 1 or channel_of(place.field.mechanism).reads_answers:
        return False
    question = place.field.questions[0]
    return kind_of(question).has_shares(question)


def _find_outcome_bit(survey: Survey, name: str, label: str) -> tuple[Columns, tuple[float, float]]:
    """Return the column of the bit for a label, with P(1 | the label is true) and P(1 | it is not).

    Raise FitError if the label is no answer to the question, or has no bit.
    """
    place = _find_own_field(survey, name)
    question = place.field.questions[0]
    names = kind_of(question).symbol_labels(question)
    if label not in names:
        raise FitError(
            RefusalCode.UNKNOWN_ANSWER, f"{name} has no answer {label!r}; its answers are {', '.join(names)}"
        )
    for number, bit in enumerate(channel_of(place.field.mechanism).bits(place.field), place.start):
        if bit.meaning == label and bit.p is not None and bit.q is not None:
            return replace(place, start=number, stop=number + 1), (float(bit.p), float(bit.q))
    raise FitError(
        RefusalCode.REFERENCE_ANSWER,
        f"for a yes-or-no question the outcome must be yes; for {label!r}, reverse all signs",
    )


def _count_patterns(
    survey: Survey, scan: Iterable[Bits], places: Sequence[Columns], max_patterns: int, advice: str
) -> tuple[Floats, Bits]:
    """Return how often each pattern of bits of some fields occurs, and the distinct patterns.

    Raise FitError if there are more than `max_patterns` patterns, or too few reports.
    """
    counts: Counter[bytes] = Counter()
    width = sum(place.stop - place.start for place in places)
    for chunk in scan:
        bits = np.unpackbits(chunk, axis=1, count=survey.width)
        part = np.packbits(np.concatenate([bits[:, place.bit_slice] for place in places], axis=1), axis=1)
        buffer, size = part.tobytes(), part.shape[1]
        counts.update(buffer[start : start + size] for start in range(0, len(buffer), size))
        if len(counts) > max_patterns:
            raise FitError(
                RefusalCode.TOO_MANY_PATTERNS,
                f"there are too many different reports for this regression; choose questions with fewer"
                f" options{advice}",
            )
    if sum(counts.values()) < LEAST_REPORTS:
        raise FitError(RefusalCode.TOO_FEW_REPORTS, "not enough reports")
    rows = np.frombuffer(b"".join(counts), dtype=np.uint8).reshape(len(counts), -1)
    return np.array(list(counts.values()), dtype=float), np.unpackbits(rows, axis=1, count=width)


def _make_design(predictors: Sequence[Columns]) -> tuple[list[str], Floats]:
    """Return names and design matrix: a column for every answer but the first of a question, a row for every cell."""
    questions = [predictor.field.questions[0] for predictor in predictors]
    names = ["intercept"]
    for question in questions:
        names += [f"{question.id}: {label}" for label in kind_of(question).symbol_labels(question)[1:]]
    rows = []
    for cell in product(*(range(question.size) for question in questions)):
        row = [1.0]
        for question, digit in zip(questions, cell, strict=True):
            row += [float(digit == i) for i in range(1, question.size)]
        rows.append(row)
    return names, np.array(rows)
