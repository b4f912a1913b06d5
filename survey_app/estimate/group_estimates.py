"""Several surveys with the same questions as groups of one study.

Nothing but noisy bits is stored, so who belongs to which group is known only because each group has a survey of its
own. Estimates of different surveys are independent. Weighted sums of shares get score intervals, which hold also for
many small groups, and those of means the interval of pooled reports; differences, and what is left, get intervals by
MOVER, from the distances between each estimate and its own limits, neither guarded nor cut. The points of sums are
clipped once, after the sum: to clip the groups first shows 5% where 2% are true (10 groups of 100, ε 1). Those of
differences are taken from the displayed points of both groups, which stand beside them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate import hypotheses
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Interval, Limits, Method, Options, dirichlet
from survey_app.estimate.projection import project
from survey_app.estimate.question_estimates import LEAST_REPORTS, Estimate, Evidence, clamp, members
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of

Range = tuple[float, float]

UNEVEN = 2  # times the weight of another group's report, from which on groups are no more taken for equal


class GroupsError(Exception):
    """These surveys are no groups of one study; the message says why."""


def check_same(surveys: Sequence[Survey]) -> None:
    """Groups ask the same questions; their ε may differ."""
    first = surveys[0]
    for other in surveys[1:]:
        if list(map(signature, first.questions)) != list(map(signature, other.questions)):
            raise GroupsError(f"{first.slug} and {other.slug} do not ask the same questions with the same options")


def signature(question: Question) -> Question:
    """Return what makes two questions the same: not their words, nor the number of levels, which follows from ε."""
    return replace(question, text="", unit="", shuffle=False, levels=0)


def possible(question: Question, kind: str) -> Range:
    """From what to what a share or a mean of a question can be."""
    return kind_of(question).value_range(question) if kind == FigureKind.MEAN else (0.0, 1.0)


def whole(
    question: Question, by_line: Sequence[Sequence[Estimate]], weights: Sequence[float], options: Options
) -> list[Estimate]:
    """Σ w_h θ_h of every line of a question, for weights that sum to one: the post-stratified estimates.

    `by_line` has for each line its estimates in every group. Displayed are the shares that are nearest to the weighted
    sums of unbiased ones, and the mean of scores is theirs.
    """
    kind, mean = kind_of(question), FigureKind.MEAN
    each = options.among(sum(lines[0].kind != mean for lines in by_line))
    found = [
        combine(lines, weights, possible(question, lines[0].kind), options if lines[0].kind == mean else each)
        for lines in by_line
    ]
    shares = np.array([one.unbiased for one in found if one.kind != mean])
    if not kind.exclusive or len(shares) != question.size:
        return found
    points = project(shares)
    shown = [*points.tolist()]
    if (scores := kind.scores(question)) is not None:
        shown.append(found[-1].estimate if question.optional else float(points @ scores))
    return [replace(one, estimate=point) for one, point in zip(found, shown, strict=True)]


def same_shares(groups: Sequence[Evidence], name: str) -> Test | None:
    """Whether the groups may have the same shares of a question: Pearson's test of what was reported.

    Only where all were randomized alike, and every report names one symbol.
    """
    tables: list[list[int]] = []
    alike: set[object] = set()
    for one in groups:
        question = next(each for each in one.field.questions if each.id == name)
        kind = kind_of(question)
        if not (kind.exclusive and kind.has_shares(question)) or one.n < LEAST_REPORTS:
            return None
        named = channel_of(one.field.mechanism).named_symbols(one.counts, one.n)
        if named is None:
            return None
        sets = members(one.field, question)
        tables.append([int(named[symbols].sum()) for symbols in sets])
        alike.add((one.field.mechanism, *map(len, sets)))
    return hypotheses.groups(np.array(tables, dtype=float)) if len(alike) == 1 else None


def combine(
    estimates: Sequence[Estimate],
    weights: Sequence[float],
    within: Range = (0.0, 1.0),
    options: Options = Options(),  # noqa: B008 (frozen)
) -> Estimate:
    """Σ w_h θ_h, for weights that sum to one; clipped once, after it is summed."""
    first = estimates[0]
    value, shown = (
        math.fsum(weight * number for number, weight in zip(numbers, weights, strict=True))
        for numbers in ([one.unbiased for one in estimates], [one.estimate for one in estimates])
    )
    point = clamp(value, *within) if math.isfinite(value) else shown
    n, is_ratio = sum(one.n for one in estimates), any(one.is_ratio for one in estimates)
    raw = (
        _score(estimates, weights, clamp(value, *within), options.alpha)
        or _pooled(estimates, weights, options.alpha)
        or _mover(estimates, weights)
    )
    interval = raw.clipped(*within) if raw.method is Method.SCORE else _inside(raw, value, within)
    return Estimate(first.option, first.kind, n, point, Limits(interval, raw), value, None, is_ratio)


def difference(one: Estimate, other: Estimate, within: Range = (0.0, 1.0)) -> Estimate:
    """θ_1 − θ_2 of two groups; displayed is the difference of what both display, so that nobody's subtraction fails."""
    value, most = one.unbiased - other.unbiased, within[1] - within[0]
    point = one.estimate - other.estimate
    raw = _mover((one, other), (1.0, -1.0))
    limits = Limits(_inside(raw, value, (-most, most)), raw)
    n, is_ratio = one.n + other.n, one.is_ratio or other.is_ratio
    return Estimate(one.option, FigureKind.DIFFERENCE, n, point, limits, value, None, is_ratio)


def _score(estimates: Sequence[Estimate], weights: Sequence[float], value: float, alpha: float) -> Interval | None:
    """All x with |value − x| ≤ z √Var(x) and half a report; for shares, None where other figures are among them, and
    where a group has fewer than two reports about it.

    Var is Σ w²/n (v0 + v1 x + v2 x²), as if the share were x in every group: of equal groups no other shares with that
    sum vary more. Those of unequal ones may, so the variance that the groups show counts if it is larger. Half a report
    is that of the group where one weighs most. And where a report of one group weighs twice as much as one of another,
    a group may hold all of the share and show none of it: then MOVER counts where it reaches farther.
    """
    spreads = [one.limits.spread for one in estimates if one.limits.spread]
    if len(spreads) < len(estimates) or min(one.n for one in estimates) < LEAST_REPORTS:
        return None
    each = list(zip(estimates, spreads, weights, strict=True))
    z2 = float(ndtri(1 - alpha / 2)) ** 2
    v0, v1, v2 = (
        z2 * math.fsum(weight**2 / one.n * getattr(spread, part) for one, spread, weight in each)
        for part in ("v0", "v1", "v2")
    )
    seen = z2 * math.fsum(weight**2 / (one.n - 1) * spread.at(one.unbiased) for one, spread, weight in each)
    ends: list[float] = []
    for sign, outer in ((-1, min), (1, max)):
        moved = value + sign * max(weight * spread.step for _, spread, weight in each) / 2
        a, b, c = 1 - v2, moved + v1 / 2, moved * moved - v0
        root = (b + sign * math.sqrt(max(b * b - a * c, 0.0))) / a
        ends.append(outer(moved + sign * math.sqrt(seen), root))
    steps = [weight * spread.step for _, spread, weight in each]
    if max(steps) >= UNEVEN * min(steps):
        apart = _mover(estimates, weights)
        ends = [min(ends[0], apart.low), max(ends[1], apart.high)]
    return Interval(ends[0], ends[1], Method.SCORE)


def _pooled(estimates: Sequence[Estimate], weights: Sequence[float], alpha: float) -> Interval | None:
    """For means of scores, one a report: as if all reports were of one survey, of 1/Σ(w²/n) reports.

    Of equal groups no other ones with that sum vary more. Those of unequal ones may, so MOVER counts where it reaches
    farther.
    """
    scores = [held for one in estimates if (held := one.limits.scores) is not None]
    if len(scores) < len(estimates):
        return None
    reports = 1 / math.fsum(weight**2 / one.n for one, weight in zip(estimates, weights, strict=True))
    counts = [
        reports * weight / one.n * held for one, weight, (_, held) in zip(estimates, weights, scores, strict=True)
    ]
    pooled = dirichlet(np.concatenate([values for values, _ in scores]), np.concatenate(counts), alpha)
    apart = _mover(estimates, weights)
    return Interval(min(pooled.low, apart.low), max(pooled.high, apart.high), pooled.method)


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
