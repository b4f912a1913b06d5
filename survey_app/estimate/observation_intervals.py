"""The interval of each of the three observations that a channel makes of a figure, and those of ratios.

A count is exact (Clopper–Pearson), a mean of scores of single reports gets a Dirichlet's, a bounded sum of scores Korn
and Graubard's. A ratio of two sums is Fieller's where a channel can observe their difference. Where it cannot, because
each sum is counted among other devices, the ratio is made of the intervals of both parts.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import assert_never

from scipy.optimize import brentq

from survey_app.channels.observations import Binomial, Observation, Scores, Sums
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
from survey_app.figures import Figure, FigureKind

SHARE = (0, 1)  # whole numbers: an end of the range is written so
Observe = Callable[[Figure], Observation | None]


def limits_of(seen: Observation, figure: Figure, options: Options, *, complete: bool) -> Limits:
    """Return the limits of what was observed of a figure; `complete` if all respondents were asked for it."""
    match seen:
        case Binomial():
            return _of_count(seen, figure, options, complete=complete)
        case Scores():
            of_scores = dirichlet(seen.values, seen.counts, options.alpha)
            raw = of_scores.mapped(1 / seen.scale, -seen.base / seen.scale)
            scores = ((seen.values - seen.base) / seen.scale, seen.counts.astype(float))
            return Limits(raw.around(seen.value, figure.low, figure.high), raw, scores=scores)
        case Sums():
            raw = _of_sums(seen, options.alpha)
            within = (figure.low, figure.high) if figure.kind is FigureKind.MEAN else SHARE
            return Limits(raw.around(seen.value, *within), raw, spread=seen.spread)
        case _:
            assert_never(seen)


def _of_count(seen: Binomial, figure: Figure, options: Options, *, complete: bool) -> Limits:
    """What a coin has rounded is uncertain also where everyone is asked."""
    complete = complete and seen.everyone and not figure.rounded
    if seen.p >= 1:
        certain = Interval(1.0, 1.0, Method.CERTAIN)
        limits = Limits(certain, certain, certain if complete else None)
    else:
        options = replace(options, population=None) if figure.rounded else options
        limits = binomial(seen.ones, seen.n, seen.p, seen.q, options, sample=complete)
    if figure.kind is FigureKind.MEAN:
        return limits.mapped(seen.slope, seen.offset)
    return limits if seen.slope > 0 else limits.mapped(-1, 1)  # the rest of the share that is counted


def _of_sums(seen: Sums, alpha: float) -> Interval:
    width = seen.most - seen.least
    if not width:
        return Interval(seen.value, seen.value, Method.KORN_GRAUBARD)
    of_part = korn_graubard((seen.mean - seen.least) / width, seen.variance / width**2, seen.n, alpha)
    return of_part.mapped(width / seen.scale, (seen.least - seen.base) / seen.scale)


def fieller(observe: Observe, figure: Figure, alpha: float) -> Interval | None:
    """Return all ratios r for which the sum above less r times the sum below may be 0; None if that is not observed.

    That difference cannot be negative at the lowest ratio, nor positive at the highest; by how much it seems so, the
    interval is widened, and so is never a point.
    """
    highest, lowest = (observe(figure.less(end)) for end in (figure.high, figure.low))
    if highest is None or lowest is None:
        return None
    under, over = max(-lowest.value, 0.0), max(highest.value, 0.0)

    def excess(upper: bool, ratio: float) -> float:
        moved = under if upper else -over
        match observe(figure.less(ratio)):
            case Scores() as seen:  # without a search for the limit itself
                zero = seen.base - moved * seen.scale
                return dirichlet_excess(seen.values, seen.counts, zero, alpha, upper=upper)
            case Sums() as seen:
                limits = _of_sums(seen, alpha)
                return (limits.high if upper else limits.low) + moved
            case Binomial() | None:
                raise ValueError("a difference of two sums is a sum of scores")
            case other:
                assert_never(other)

    low, high = (_crossing(partial(excess, upper), figure.low, figure.high) for upper in (False, True))
    return Interval(low, high, Method.FIELLER)


def _crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where what falls with the ratio crosses zero; the end of the range if it does not."""
    if excess(low) <= 0:
        return low
    if excess(high) >= 0:
        return high
    return float(brentq(excess, low, high, xtol=(high - low) * 1e-6))


def quotient(above: Interval, below: Interval, figure: Figure) -> Interval:
    """Return the interval of a ratio, from those of its parts at half the error each.

    They hold together whatever ties the two counts (Bonferroni), and then the ratio lies between these ends: guaranteed
    if they are, if a little wide.
    """
    low = above.low / below.high if below.high > 0 else figure.low
    high = above.high / below.low if below.low > 0 else figure.high
    return Interval(min(low, figure.high), min(high, figure.high), above.method)


def ratio_of(above: float, below: float) -> float:
    """Return the ratio of two unbiased sums; of nobody, not a number."""
    return above / below if below > 0 else math.nan
