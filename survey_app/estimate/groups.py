"""Several surveys with the same questions as groups of one study.

Nothing but noisy bits is stored, so who belongs to which group is known only because each group has a survey of its
own. Estimates of different surveys are independent; sums and differences of them get intervals by MOVER, from the
distances between each estimate and its own limits, neither guarded nor cut.
"""

import math
from collections.abc import Sequence

from client.definition import Survey
from client.question import Question
from survey_app.estimate.intervals import Interval, Limits, Method
from survey_app.estimate.question import Estimate, clamp, scores_of

Range = tuple[float, float]


class GroupsError(Exception):
    """These surveys are no groups of one study; the message says why."""


def check_same(surveys: Sequence[Survey]) -> None:
    """Groups ask the same questions; their ε may differ."""
    first = surveys[0]
    for other in surveys[1:]:
        if [asked(question) for question in first.questions] != [asked(question) for question in other.questions]:
            raise GroupsError(f"{first.slug} and {other.slug} do not ask the same questions with the same options")


def asked(question: Question) -> tuple[object, ...]:
    """What makes two questions the same: not the number of levels, which follows from ε."""
    return (
        question.id, question.type, question.labels, question.scores, question.optional, question.show_if,
        question.min, question.max, question.step, question.bins,
    )  # fmt: skip


def possible(question: Question, kind: str) -> Range:
    """From what to what a share or a mean of a question can be."""
    if kind != "mean":
        return 0.0, 1.0
    if question.type == "number":
        return float(question.min), float(question.max)
    return min(scores_of(question)), max(scores_of(question))


def combine(estimates: Sequence[Estimate], weights: Sequence[float], within: Range = (0.0, 1.0)) -> Estimate:
    """Σ w_h θ_h, for weights that sum to one: the post-stratified estimate."""
    raw, first = _mover(estimates, weights), estimates[0]
    value, point = (
        math.fsum(weight * number for number, weight in zip(numbers, weights, strict=True))
        for numbers in ([one.unbiased for one in estimates], [one.estimate for one in estimates])
    )
    limits = Limits(_inside(raw, value, within), raw)
    return Estimate(first.option, first.kind, sum(one.n for one in estimates), point, limits, value, None)


def difference(one: Estimate, other: Estimate, within: Range = (0.0, 1.0)) -> Estimate:
    """θ_1 − θ_2 of two groups."""
    value, most = one.unbiased - other.unbiased, within[1] - within[0]
    raw = _mover((one, other), (1.0, -1.0))
    limits = Limits(_inside(raw, value, (-most, most)), raw)
    return Estimate(one.option, "difference", one.n + other.n, one.estimate - other.estimate, limits, value, None)


def _inside(raw: Interval, value: float, within: Range) -> Interval:
    return raw.around(value, *within) if math.isfinite(value) else raw.clipped(*within)


def _mover(estimates: Sequence[Estimate], weights: Sequence[float]) -> Interval:
    """The distance of each end is the root of the sum of squares of the distances it is made of.

    A ratio of estimates may lie beyond its own limits, or be nothing; then its nearest point between them counts.
    """
    centre = below = above = 0.0
    for one, weight in zip(estimates, weights, strict=True):
        raw = one.limits.raw
        at = clamp(one.unbiased if math.isfinite(one.unbiased) else one.estimate, raw.low, raw.high)
        down, up = weight * (at - raw.low), weight * (raw.high - at)
        if weight < 0:
            down, up = up, down
        centre, below, above = centre + weight * at, below + down**2, above + up**2
    return Interval(centre - math.sqrt(below), centre + math.sqrt(above), Method.MOVER)
