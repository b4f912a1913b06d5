"""Confidence sets for quantiles: the answers that may be a quantile, from the intervals of cumulative shares."""

from collections.abc import Sequence
from dataclasses import dataclass

from candor_client.question import Question
from survey_app.estimate.intervals import GUARANTEED, Coverage, Method
from survey_app.estimate.question_estimates import Estimate
from survey_app.kinds import kind_of

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Quantile:
    """The contiguous answers that may be a quantile, given the intervals of all cumulative shares."""

    level: float
    options: tuple[str, ...]
    n: int
    method: Method  # of the first cumulative share without guaranteed coverage, otherwise of the first one
    coverage: Coverage


def estimate_quantiles(question: Question, cumulative: Sequence[Estimate]) -> list[Quantile]:
    """Return for each quartile the answers m with upper F(m) ≥ τ and lower F(m−1) < τ, and all answers between them.

    The cumulative shares are F of every answer but the last. The result is empty if there are none or if people may
    skip. The limits of F are computed separately, so the condition alone may leave gaps; they are filled.
    """
    if question.optional or not cumulative:
        return []
    names = kind_of(question).answers(question)
    low = [0.0, *(estimate.interval.low for estimate in cumulative), 1.0]
    high = [0.0, *(estimate.interval.high for estimate in cumulative), 1.0]
    weakest = next(
        (estimate.interval for estimate in cumulative if estimate.interval.coverage != GUARANTEED),
        cumulative[0].interval,
    )
    sets: list[Quantile] = []
    for level in QUARTILES:
        places = [m for m in range(len(names)) if high[m + 1] >= level and low[m] < level]
        sets.append(
            Quantile(level, tuple(names[places[0] : places[-1] + 1]), cumulative[0].n, weakest.method, weakest.coverage)
        )
    return sets
