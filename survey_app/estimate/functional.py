"""Unions and means of symbols, for every categorical mechanism, from its counts alone.

A functional Σ a_i f_i is estimated by (Σ a_i c_i/n − q Σ a_i)/(p − q). What interval it gets depends on the
distribution of Σ a_i over the bits of one report: one score where one symbol is reported, a sum of several where more
are.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq

from client.mechanisms import Subset
from survey_app.channel import Categorical, Floats, subset_moments, union_variance
from survey_app.channels.observations import Spread
from survey_app.estimate.intervals import (
    Interval,
    Limits,
    Method,
    Options,
    binomial,
    dirichlet,
    dirichlet_excess,
    korn_graubard,
)
from survey_app.tally import Counts


def indicator(size: int, members: Sequence[int]) -> Floats:
    """Scores that are 1 for the members of a set, else 0."""
    scores = np.zeros(size)
    scores[list(members)] = 1
    return scores


def unbiased(mechanism: Categorical, counts: Counts, n: int, scores: Sequence[float] | Floats) -> float:
    """The unbiased estimate of Σ a_i f_i."""
    p, q = float(mechanism.p), float(mechanism.q)
    a = np.asarray(scores, dtype=float)
    return float((a @ counts / n - q * a.sum()) / (p - q))


def union(
    mechanism: Subset, counts: Counts, n: int, members: Sequence[int], options: Options, *, sample: bool = True
) -> Limits:
    """For the share of a set of symbols; exact where every report names one symbol, or where the set is one symbol."""
    if len(members) == 1:
        return binomial(int(counts[members[0]]), n, mechanism.p, mechanism.q, options, sample=sample)
    if mechanism.weight == 1:
        p, q = mechanism.p + (len(members) - 1) * mechanism.q, len(members) * mechanism.q
        if p >= 1:
            certain = Interval(1.0, 1.0, Method.CERTAIN)
            return Limits(certain, certain, certain if sample else None)
        return binomial(int(counts[list(members)].sum()), n, p, q, options, sample=sample)
    scores = indicator(mechanism.size, members)
    raw = mean(mechanism, counts, n, scores, options.alpha)
    interval = raw.around(unbiased(mechanism, counts, n, scores), 0, 1)
    return Limits(interval, raw, spread=_union_spread(mechanism, len(members), n))


def _union_spread(mechanism: Subset, size: int, n: int) -> Spread:
    """n·Var of the share of a union is quadratic in the share, so three of its values tell all."""
    none, half, whole = (union_variance(mechanism, size, share) for share in (0.0, 0.5, 1.0))
    bend = 2 * (none + whole) - 4 * half
    return Spread(none, whole - none - bend, bend, 1 / (n * float(mechanism.p - mechanism.q)))


def mean(mechanism: Subset, counts: Counts, n: int, scores: Sequence[float] | Floats, alpha: float) -> Interval:
    """For Σ a_i f_i, not yet cut to its possible range."""
    p, q = float(mechanism.p), float(mechanism.q)
    a = np.asarray(scores, dtype=float)
    if mechanism.weight == 1:
        of_scores = dirichlet(a.tolist(), counts.tolist(), alpha)
        return of_scores.mapped(1 / (p - q), -q * float(a.sum()) / (p - q))
    return _subset(mechanism, counts, n, a, alpha)


def ratio(
    mechanism: Subset,
    counts: Counts,
    n: int,
    top: Floats,
    bottom: Floats,
    low: float,
    high: float,
    alpha: float,
) -> Interval:
    """For Σ a_i f_i / Σ b_i f_i between low and high (Fieller): all r for which Σ (a_i − r b_i) f_i may be 0.

    That sum cannot be negative at the lowest ratio, nor positive at the highest; by how much it seems so, the interval
    is widened, and so is never a point.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    below = max(-unbiased(mechanism, counts, n, top - low * bottom), 0.0)
    above = max(unbiased(mechanism, counts, n, top - high * bottom), 0.0)

    def limit(r: float, upper: bool) -> float:
        scores, moved = top - r * bottom, below if upper else -above
        if mechanism.weight == 1:
            zero = q * float(scores.sum()) - moved * (p - q)
            return dirichlet_excess(scores.tolist(), counts.tolist(), zero, alpha, upper=upper)
        around_zero = mean(mechanism, counts, n, scores, alpha)
        return (around_zero.high if upper else around_zero.low) + moved

    first = _crossing(lambda r: limit(r, False), low, high)
    return Interval(first, _crossing(lambda r: limit(r, True), low, high), Method.FIELLER)


def _crossing(limit: Callable[[float], float], low: float, high: float) -> float:
    """Where a limit that falls with the ratio crosses zero; the end of the range if it does not."""
    if limit(low) <= 0:
        return low
    if limit(high) >= 0:
        return high
    return float(brentq(limit, low, high, xtol=(high - low) * 1e-6))


def _subset(mechanism: Subset, counts: Counts, n: int, a: Floats, alpha: float) -> Interval:
    """Korn–Graubard on S = Σ of the scores of the reported symbols, with its variance from the estimated shares."""
    k, w, p, q = mechanism.size, mechanism.weight, float(mechanism.p), float(mechanism.q)
    ordered = np.sort(a)
    low, high = float(ordered[:w].sum()), float(ordered[k - w :].sum())
    if high == low:
        return Interval(float(a[0]), float(a[0]), Method.KORN_GRAUBARD)
    s = float(a @ counts / n)
    shares = np.clip((counts / n - q) / (p - q), 0, None)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(k, 1 / k)
    first, second = subset_moments(mechanism, a)
    least = float((second - first**2).min())
    variance = max(float(shares @ second) - s * s, least) / (high - low) ** 2
    of_part = korn_graubard((s - low) / (high - low), variance, n, alpha)
    slope = (high - low) / (p - q)
    return of_part.mapped(slope, (low - q * float(a.sum())) / (p - q))
