"""Estimates for a study of several groups, each a survey of its own with the same questions.

Only noisy bits are stored, so membership of a group is known only because each group has its own survey. Estimates of
different surveys are independent. Weighted sums of shares get score intervals, which hold even for many small groups,
and weighted sums of means get the interval of pooled reports. Differences and all other sums get MOVER intervals, from
the distances between each estimate and its raw limits. Sums are clipped once, after summing: clipping each group first
would display 5% where 2% is true (10 groups of 100, ε 1). Differences are those of the displayed points.
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
from survey_app.estimate.question_estimates import LEAST_REPORTS, Estimate, Evidence, clamp, field_symbols
from survey_app.estimate.refusal_codes import Refusal, RefusalCode
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of

Range = tuple[float, float]

UNEVEN_RATIO = 2  # ratio of the weights of two groups' reports from which groups no longer count as equal


class GroupsError(Refusal):
    """The surveys cannot be compared, or no total can be computed with their weights."""


def check_same_questions(surveys: Sequence[Survey]) -> None:
    """Raise GroupsError unless all surveys ask the same questions; their ε may differ."""
    first = surveys[0]
    for survey in surveys[1:]:
        if list(map(question_signature, first.questions)) != list(map(question_signature, survey.questions)):
            raise GroupsError(
                RefusalCode.OTHER_QUESTIONS,
                f"{first.slug} and {survey.slug} do not ask the same questions with the same options;"
                " only surveys that do can be compared",
            )


def question_signature(question: Question) -> Question:
    """Return the question without its words and its number of levels, to compare questions of two surveys.

    The number of levels follows from ε, so it may differ.
    """
    return replace(question, text="", unit="", shuffle=False, levels=0)


def possible_range(question: Question, kind: str) -> Range:
    """Return the lowest and highest possible value of a share or of a mean of a question."""
    return kind_of(question).value_range(question) if kind == FigureKind.MEAN else (0.0, 1.0)


def poststratify(
    question: Question, by_line: Sequence[Sequence[Estimate]], weights: Sequence[float], options: Options
) -> list[Estimate]:
    """Return the post-stratified estimates Σ w_h θ_h of every line of a question, for weights that sum to one.

    `by_line` has for each line its estimates in every group. The displayed shares are the possible ones nearest to the
    weighted sums of unbiased shares, and the displayed mean follows from them.
    """
    kind, mean = kind_of(question), FigureKind.MEAN
    share_options = options.apply_bonferroni(sum(lines[0].kind != mean for lines in by_line))
    estimates = [
        combine(
            lines, weights, possible_range(question, lines[0].kind), options if lines[0].kind == mean else share_options
        )
        for lines in by_line
    ]
    shares = np.array([estimate.unbiased for estimate in estimates if estimate.kind != mean])
    if not kind.exclusive or len(shares) != question.size:
        return estimates
    points = project(shares)
    displayed = [*points.tolist()]
    if (scores := kind.scores(question)) is not None:
        displayed.append(estimates[-1].estimate if question.optional else float(points @ scores))
    return [replace(estimate, estimate=point) for estimate, point in zip(estimates, displayed, strict=True)]


def compare_group_shares(groups: Sequence[Evidence], name: str) -> Test | None:
    """Test whether the groups have the same shares of a question, by Pearson's test of the reported symbols.

    Return None unless all groups were randomized in the same way and every report names one symbol.
    """
    tables: list[list[int]] = []
    designs: set[object] = set()
    for evidence in groups:
        question = next(member for member in evidence.field.questions if member.id == name)
        kind = kind_of(question)
        if not (kind.exclusive and kind.has_shares(question)) or evidence.n < LEAST_REPORTS:
            return None
        named_counts = channel_of(evidence.field.mechanism).named_symbols(evidence.counts, evidence.n)
        if named_counts is None:
            return None
        sets = field_symbols(evidence.field, question)
        tables.append([int(named_counts[symbols].sum()) for symbols in sets])
        designs.add((evidence.field.mechanism, *map(len, sets)))
    return hypotheses.compare_groups(np.array(tables, dtype=float)) if len(designs) == 1 else None


def combine(
    estimates: Sequence[Estimate],
    weights: Sequence[float],
    within: Range = (0.0, 1.0),
    options: Options = Options(),  # noqa: B008 (frozen)
) -> Estimate:
    """Return the estimate of Σ w_h θ_h, for weights that sum to one; the point is clipped once, after summing."""
    first = estimates[0]
    value, displayed = (
        math.fsum(weight * number for number, weight in zip(numbers, weights, strict=True))
        for numbers in ([estimate.unbiased for estimate in estimates], [estimate.estimate for estimate in estimates])
    )
    point = clamp(value, *within) if math.isfinite(value) else displayed
    n, is_ratio = sum(estimate.n for estimate in estimates), any(estimate.is_ratio for estimate in estimates)
    raw = (
        _score_interval(estimates, weights, clamp(value, *within), options.alpha)
        or _pooled_interval(estimates, weights, options.alpha)
        or _mover_interval(estimates, weights)
    )
    interval = raw.clip(*within) if raw.method is Method.SCORE else _clip_to_range(raw, value, within)
    return Estimate(first.option, first.kind, n, point, Limits(interval, raw), value, None, is_ratio)


def difference(estimate: Estimate, other: Estimate, within: Range = (0.0, 1.0)) -> Estimate:
    """Return the estimate of θ_1 − θ_2 of two groups; its point is the difference of the two displayed points."""
    value, most = estimate.unbiased - other.unbiased, within[1] - within[0]
    point = estimate.estimate - other.estimate
    raw = _mover_interval((estimate, other), (1.0, -1.0))
    limits = Limits(_clip_to_range(raw, value, (-most, most)), raw)
    n, is_ratio = estimate.n + other.n, estimate.is_ratio or other.is_ratio
    return Estimate(estimate.option, FigureKind.DIFFERENCE, n, point, limits, value, None, is_ratio)


def _score_interval(
    estimates: Sequence[Estimate], weights: Sequence[float], value: float, alpha: float
) -> Interval | None:
    """Return the score interval of a weighted sum of shares: all x within z √Var(x), plus half a report, of `value`.

    Return None if any figure is not a share or if a group has fewer than two reports. Var is Σ w²/n (v0 + v1 x +
    v2 x²), as if the share were x in every group. Among equal groups no other shares with that sum have a larger
    variance. Unequal groups may have one, so the variance estimated from the groups is used if it is larger. The half
    report is that of the group whose report weighs most. If a report of one group weighs at least twice as much as one
    of another, a group may hold all of the share and report none of it, so the interval is extended to that of MOVER.
    """
    spreads = [estimate.limits.spread for estimate in estimates if estimate.limits.spread]
    if len(spreads) < len(estimates) or min(estimate.n for estimate in estimates) < LEAST_REPORTS:
        return None
    groups = list(zip(estimates, spreads, weights, strict=True))
    z2 = float(ndtri(1 - alpha / 2)) ** 2
    v0, v1, v2 = (
        z2 * math.fsum(weight**2 / estimate.n * getattr(spread, part) for estimate, spread, weight in groups)
        for part in ("v0", "v1", "v2")
    )
    estimated = z2 * math.fsum(
        weight**2 / (estimate.n - 1) * spread.variance_at(estimate.unbiased) for estimate, spread, weight in groups
    )
    ends: list[float] = []
    for sign, outer in ((-1, min), (1, max)):
        shifted = value + sign * max(weight * spread.step for _, spread, weight in groups) / 2
        a, b, c = 1 - v2, shifted + v1 / 2, shifted * shifted - v0
        root = (b + sign * math.sqrt(max(b * b - a * c, 0.0))) / a
        ends.append(outer(shifted + sign * math.sqrt(estimated), root))
    steps = [weight * spread.step for _, spread, weight in groups]
    if max(steps) >= UNEVEN_RATIO * min(steps):
        mover = _mover_interval(estimates, weights)
        ends = [min(ends[0], mover.low), max(ends[1], mover.high)]
    return Interval(ends[0], ends[1], Method.SCORE)


def _pooled_interval(estimates: Sequence[Estimate], weights: Sequence[float], alpha: float) -> Interval | None:
    """Return the interval of a weighted sum of means, as if 1/Σ(w²/n) reports came from a single survey.

    Return None unless every report of every group has one score. Among equal groups no other groups with that sum have
    a larger variance. Unequal groups may have one, so the interval is extended to that of MOVER.
    """
    scores = [group_scores for estimate in estimates if (group_scores := estimate.limits.scores) is not None]
    if len(scores) < len(estimates):
        return None
    reports = 1 / math.fsum(weight**2 / estimate.n for estimate, weight in zip(estimates, weights, strict=True))
    counts = [
        reports * weight / estimate.n * group_scores
        for estimate, weight, (_, group_scores) in zip(estimates, weights, scores, strict=True)
    ]
    pooled = dirichlet(np.concatenate([values for values, _ in scores]), np.concatenate(counts), alpha)
    mover = _mover_interval(estimates, weights)
    return Interval(min(pooled.low, mover.low), max(pooled.high, mover.high), pooled.method)


def _clip_to_range(raw: Interval, value: float, within: Range) -> Interval:
    return raw.shift_and_clip(value, *within) if math.isfinite(value) else raw.clip(*within)


def _mover_interval(estimates: Sequence[Estimate], weights: Sequence[float]) -> Interval:
    """Return the MOVER interval of a weighted sum: each distance to an end is the root of a sum of squares.

    An unbiased ratio may lie outside of its own limits, or not be a number. Then the nearest point, or the displayed
    one, is used instead.
    """
    centre = below = above = 0.0
    for estimate, weight in zip(estimates, weights, strict=True):
        raw = estimate.limits.raw
        point = clamp(estimate.unbiased if math.isfinite(estimate.unbiased) else estimate.estimate, raw.low, raw.high)
        down, up = weight * (point - raw.low), weight * (raw.high - point)
        if weight < 0:
            down, up = up, down
        centre, below, above = centre + weight * point, below + down**2, above + up**2
    return Interval(centre - math.sqrt(below), centre + math.sqrt(above), Method.MOVER)
