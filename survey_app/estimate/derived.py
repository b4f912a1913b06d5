"""What follows from the shares of a question: totals, cumulative shares, quantiles, who answered and what."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from client.mechanisms import Drawn, Subset
from client.question import Question
from client.words import NO_ANSWER, digit_label
from survey_app.estimate.answered import drawn_answered
from survey_app.estimate.functional import indicator
from survey_app.estimate.intervals import GUARANTEED, Coverage, Method, Options
from survey_app.estimate.question import (
    LEAST_REPORTS,
    Estimate,
    Evidence,
    answer_sets,
    members,
    question_estimates,
    ratio_estimate,
    union_estimate,
)

QUARTILES = (0.25, 0.5, 0.75)
MOST_ANSWERED = 256  # each takes a search of its own


@dataclass(frozen=True)
class Quantile:
    """The symbols that may hold a quantile, without a hole; the interval of every cumulative share has a say."""

    level: float
    options: tuple[str, ...]
    n: int
    method: Method  # of a cumulative share that is not guaranteed, if there is one
    coverage: Coverage


def _mechanism(evidence: Evidence, question: Question) -> Subset | None:
    """The mechanism, where the question has symbols whose shares add up, and reports enough to estimate them."""
    mechanism = evidence.field.mechanism
    if not isinstance(mechanism, Subset) or question.type == "multiple" or question.levels:
        return None
    return mechanism if evidence.n >= LEAST_REPORTS else None


def total(evidence: Evidence, question: Question, labels: Sequence[str], options: Options) -> Estimate | None:
    """The share of those whose answer is any of some labels; None if the question has no such symbols."""
    mechanism = _mechanism(evidence, question)
    if mechanism is None:
        return None
    sets = members(evidence.field, question)
    names = [digit_label(question, i) for i in range(question.size)]
    symbols = [symbol for label in labels for symbol in sets[names.index(label)]]
    return union_estimate(mechanism, evidence, sorted(symbols), (" or ".join(labels), "share"), options)


def has_order(question: Question) -> bool:
    """Whether "at most this" means something: points of a scale, bins of a number."""
    return question.type == "scale" or bool(question.bins)


def cumulative(evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """The shares up to and including each symbol but the last, of all respondents."""
    mechanism = _mechanism(evidence, question)
    if mechanism is None:
        return []
    sets, each = members(evidence.field, question), options.among(question.no_answer - 1)
    symbols: list[int] = []
    estimates: list[Estimate] = []
    for digit in range(question.no_answer - 1):
        symbols = sorted([*symbols, *sets[digit]])
        name = f"at most {digit_label(question, digit)}"
        estimates.append(union_estimate(mechanism, evidence, symbols, (name, "share"), each))
    return estimates


def quantiles(evidence: Evidence, question: Question, options: Options) -> list[Quantile]:
    """For each quartile the symbols m with upper F(m) ≥ τ and lower F(m−1) < τ, and those between them.

    Not where people may skip. The limits of F are made apart, so the first may leave holes: what lies between two
    possible quantiles is possible.
    """
    below = [] if question.optional else cumulative(evidence, question, options)
    if not below:
        return []
    low = [0.0, *(one.interval.low for one in below), 1.0]
    high = [0.0, *(one.interval.high for one in below), 1.0]
    sets: list[Quantile] = []
    weakest = next((one.interval for one in below if one.interval.label != GUARANTEED), below[0].interval)
    for level in QUARTILES:
        held = [m for m in range(question.no_answer) if high[m + 1] >= level and low[m] < level]
        names = tuple(digit_label(question, m) for m in range(held[0], held[-1] + 1))
        sets.append(Quantile(level, names, evidence.n, weakest.method, weakest.label))
    return sets


def answered(evidence: Evidence, question: Question, options: Options) -> list[Estimate]:
    """The shares among those who answered an optional question (Fieller, if not drawn); not for very many options."""
    mechanism = evidence.field.mechanism
    if not question.optional or question.levels or evidence.n < LEAST_REPORTS:
        return []
    if not isinstance(mechanism, Subset):
        return drawn_answered(evidence, question, options)
    if question.no_answer > MOST_ANSWERED:
        return []
    *wanted, (_, none) = answer_sets(evidence.field, question)
    everyone = np.ones(mechanism.size) - indicator(mechanism.size, none)
    each = options.among(len(wanted))
    return [
        ratio_estimate(mechanism, evidence, (indicator(mechanism.size, symbols), everyone), (0.0, 1.0), name, each)
        for name, symbols in wanted
    ]


def answering(evidence: Evidence, question: Question, options: Options) -> Estimate | None:
    """The share of devices that were asked and answered: all but those without an answer, and with their interval."""
    mechanism = evidence.field.mechanism
    if not question.optional or evidence.n < LEAST_REPORTS:
        return None
    alone = replace(options, simultaneous=False)
    if isinstance(mechanism, Drawn):
        none = question_estimates(evidence, question, alone)[-1]
    elif isinstance(mechanism, Subset):
        unanswered = members(evidence.field, question)[question.no_answer]
        none = union_estimate(mechanism, evidence, unanswered, (NO_ANSWER, "no_answer"), alone)
    else:
        return None
    limits = none.limits.mapped(-1, 1)
    reported = None if none.reported is None else 1 - none.reported
    return Estimate("answered", "share", none.n, 1 - none.estimate, limits, 1 - none.unbiased, reported)
