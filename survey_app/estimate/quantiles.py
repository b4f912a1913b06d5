"""The answers that may hold a quantile, from the intervals of cumulative shares."""

from collections.abc import Sequence
from dataclasses import dataclass

from candor_client.question import Question
from survey_app.estimate.intervals import GUARANTEED, Coverage, Method
from survey_app.estimate.question_estimates import Estimate
from survey_app.kinds import kind_of

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Quantile:
    """The answers that may hold a quantile, without a hole; the interval of every cumulative share has a say."""

    level: float
    options: tuple[str, ...]
    n: int
    method: Method  # of a cumulative share that is not guaranteed, if there is one
    coverage: Coverage


def quantiles(question: Question, below: Sequence[Estimate]) -> list[Quantile]:
    """For each quartile the answers m with upper F(m) ≥ τ and lower F(m−1) < τ, and those between them.

    `below` are the cumulative shares, F of every answer but the last. Not where people may skip. The limits of F are
    made apart, so the first may leave holes: what lies between two possible quantiles is possible.
    """
    if question.optional or not below:
        return []
    names = kind_of(question).answers(question)
    low = [0.0, *(one.interval.low for one in below), 1.0]
    high = [0.0, *(one.interval.high for one in below), 1.0]
    weakest = next((one.interval for one in below if one.interval.label != GUARANTEED), below[0].interval)
    sets: list[Quantile] = []
    for level in QUARTILES:
        held = [m for m in range(len(names)) if high[m + 1] >= level and low[m] < level]
        sets.append(Quantile(level, tuple(names[held[0] : held[-1] + 1]), below[0].n, weakest.method, weakest.label))
    return sets
