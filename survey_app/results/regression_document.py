"""Logistic regression on what researchers have: groups with known covariates, or other questions of the same survey."""

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
from survey_app.estimate.group_estimates import signature
from survey_app.estimate.intervals import Coverage, Method, Options
from survey_app.estimate.question_estimates import LEAST_REPORTS
from survey_app.estimate.regression import Coefficient, FitError, Latent, latent_logistic, logistic
from survey_app.figures import Floats
from survey_app.kinds import kind_of
from survey_app.languages.number_format import Format, number_format, precision
from survey_app.results.group_document import Group
from survey_app.tally import Bits, Columns, columns, columns_of

LARGEST = 700.0  # whose exponential is still a number


class Work(NamedTuple):
    """How much a fit may take: combinations of answers, and how many numbers, different reports × combinations."""

    cells: int
    numbers: int
    advice: str = ""


COMMAND = Work(512, 10_000_000)
PAGE = Work(64, 100_000, "; the command candor regress can do more than a page")  # two seconds


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
        """How its log odds are written."""
        return number_format(precision([self.high - self.low], False), False)


class Regression(Struct, frozen=True, kw_only=True):
    """The log odds of one answer, explained."""

    outcome: str
    label: str
    confidence: float
    coefficients: tuple[CoefficientLine, ...]


def regression_on_groups(
    members: Sequence[Group],
    outcome: str,
    label: str,
    covariates: Mapping[str, Mapping[str, float]],
    options: Options,
) -> Regression:
    """The log odds of an answer on what is known of each group."""
    slugs = [survey.slug for survey, _ in members]
    missing = [slug for slug in slugs if slug not in covariates]
    if missing:
        raise FitError(f"there are no covariates for {', '.join(missing)}")
    names = list(covariates[slugs[0]])
    if any(set(covariates[slug]) != set(names) for slug in slugs):
        raise FitError("every group needs the same covariates")
    rows = [[1.0, *(float(covariates[slug][name]) for name in names)] for slug in slugs]
    if not np.isfinite(rows).all():
        raise FitError("covariates are finite numbers")
    questions = [_alone(survey, outcome).field.questions[0] for survey, _ in members]
    if any(signature(question) != signature(questions[0]) for question in questions):
        raise FitError(f"the surveys do not ask {outcome} with the same options")
    ones, totals, p, q = ([0.0] * len(members) for _ in range(4))
    for i, (survey, tally) in enumerate(members):
        at, (p[i], q[i]) = _outcome(survey, outcome, label)
        ones[i] = float(tally.counts[at.start])
        totals[i] = float(tally.reports if at.asked is None else tally.counts[at.asked])
    coefficients = logistic(
        ["intercept", *names], np.array(rows), np.array(ones), np.array(totals), np.array(p), np.array(q), options.alpha
    )
    return _fit(outcome, label, coefficients, options)


def outcomes(survey: Survey, *, by_group: bool = False) -> list[tuple[Question, list[str]]]:
    """The questions that can explain or be explained, each with the answers whose odds can be; of groups also where a
    device answers one block only.
    """
    alone = [] if survey.ask and not by_group else [at.field for at in columns(survey) if _is_alone(at)]
    return [
        (field.questions[0], [bit.says for bit in channel_of(field.mechanism).bits(field)])
        for field in sorted(alone, key=lambda field: survey.questions.index(field.questions[0]))
    ]


def named_outcome(text: str) -> tuple[str, str]:
    """QUESTION=ANSWER; yes unless said."""
    question, _, answer = text.partition("=")
    return question, answer or "yes"


def regression_on_questions(
    survey: Survey,
    scan: Iterable[Bits],
    outcome: str,
    label: str,
    on: Sequence[str],
    options: Options,
    work: Work = COMMAND,
) -> Regression:
    """The log odds of an answer on the true, unseen answers to other questions of the same survey."""
    says, (p, q) = _outcome(survey, outcome, label)
    predictors = [_alone(survey, name) for name in on]
    if outcome in on:
        raise FitError("an answer cannot explain itself")
    if len(set(on)) < len(on):
        raise FitError("a question is named twice")
    if survey.ask:
        raise FitError(
            f"no device answered {outcome} and another question, since each answers one field of this survey only;"
            " publish it without ask, or once for each group, and regress on what is known of the groups"
        )
    most = math.prod(predictor.field.size for predictor in predictors)
    if most > work.cells:
        raise FitError(f"{most} combinations of answers are too many; at most {work.cells}{work.advice}")
    counts, patterns = _patterns(survey, scan, [says, *predictors], work.numbers // most, work.advice)
    outcome_likelihood = np.where(patterns[:, :1] > 0, np.array([q, p]), np.array([1 - q, 1 - p]))
    at, cells = 1, np.ones((len(patterns), 1))
    for predictor in predictors:
        width = predictor.stop - predictor.start
        part = channel_of(predictor.field.mechanism).likelihoods(patterns[:, at : at + width])
        cells = (cells[:, :, None] * part[:, None, :]).reshape(len(patterns), -1)
        at += width
    names, design = _design(predictors)
    data = Latent(counts, outcome_likelihood, cells, design)
    return _fit(outcome, label, latent_logistic(names, data, options.alpha), options)


def odds(log_odds: float) -> float | None:
    """Return the odds, or their ratio; None where they are no number any more."""
    return math.exp(log_odds) if abs(log_odds) < LARGEST else None


def _fit(outcome: str, label: str, coefficients: Sequence[Coefficient], options: Options) -> Regression:
    lines = tuple(
        CoefficientLine(
            name=coefficient.name,
            n=coefficient.n,
            estimate=coefficient.estimate,
            standard_error=coefficient.error,
            low=coefficient.interval.low,
            high=coefficient.interval.high,
            odds_ratio=odds(coefficient.estimate),
            coverage=coefficient.interval.label,
            method=coefficient.interval.method,
        )
        for coefficient in coefficients
    )
    return Regression(outcome=outcome, label=label, confidence=options.confidence, coefficients=lines)


def _alone(survey: Survey, name: str) -> Columns:
    if name not in survey.ids:
        raise FitError(f"there is no question {name!r}; the questions are {', '.join(q.id for q in survey.questions)}")
    at = columns_of(survey, name)
    if not _is_alone(at):
        raise FitError(
            f"{name} is no question with options in a field of its own; a cross-tab may do, and groups are compared by"
            " the differences in candor results"
        )
    return at


def _is_alone(at: Columns) -> bool:
    """Whether a field is one question whose answers are symbols, and have shares."""
    if len(at.field.questions) > 1 or channel_of(at.field.mechanism).reads_answers:
        return False
    question = at.field.questions[0]
    return kind_of(question).has_shares(question)


def _outcome(survey: Survey, name: str, label: str) -> tuple[Columns, tuple[float, float]]:
    """Return the stored bit that says a label, as a column, with P(1 | the label is true) and P(1 | it is not)."""
    at = _alone(survey, name)
    question = at.field.questions[0]
    names = kind_of(question).symbol_labels(question)
    if label not in names:
        raise FitError(f"{name} has no answer {label!r}; its answers are {', '.join(names)}")
    for place, bit in enumerate(channel_of(at.field.mechanism).bits(at.field), at.start):
        if bit.says == label and bit.p is not None and bit.q is not None:
            return replace(at, start=place, stop=place + 1), (float(bit.p), float(bit.q))
    raise FitError(f"the outcome of a yes or no is yes; for {label!r}, turn the signs round")


def _patterns(
    survey: Survey, scan: Iterable[Bits], places: Sequence[Columns], most: int, advice: str
) -> tuple[Floats, Bits]:
    """The distinct bits of some fields, and how often each came."""
    counts: Counter[bytes] = Counter()
    width = sum(at.stop - at.start for at in places)
    for packed in scan:
        bits = np.unpackbits(packed, axis=1, count=survey.width)
        part = np.packbits(np.concatenate([bits[:, at.part] for at in places], axis=1), axis=1)
        joined, size = part.tobytes(), part.shape[1]
        counts.update(joined[at : at + size] for at in range(0, len(joined), size))
        if len(counts) > most:
            raise FitError(f"there are too many different reports; choose questions with fewer options{advice}")
    if sum(counts.values()) < LEAST_REPORTS:
        raise FitError("not enough reports")
    rows = np.frombuffer(b"".join(counts), dtype=np.uint8).reshape(len(counts), -1)
    return np.array(list(counts.values()), dtype=float), np.unpackbits(rows, axis=1, count=width)


def _design(predictors: Sequence[Columns]) -> tuple[list[str], Floats]:
    """A column for every answer but the first of each question, a row for every latent cell."""
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
