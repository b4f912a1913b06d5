"""Intervals for the three observations that a channel can make of a figure, and intervals for ratios.

A count gets an exact interval (Clopper–Pearson), a mean with one score a report a Dirichlet interval, and a bounded sum
of scores that of Korn and Graubard. A ratio of two sums gets Fieller's interval if the channel can observe their
difference. If each sum is counted among different devices, the ratio's interval follows from the intervals of both.
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

SHARE = (0, 1)  # integers, so that an end of the range is written without decimals
Observe = Callable[[Figure], Observation | None]


def compute_limits(observation: Observation, figure: Figure, options: Options, *, complete: bool) -> Limits:
    """Return the limits of a figure from its observation; `complete` says that all respondents were asked for it."""
    match observation:
        case Binomial():
            return _count_limits(observation, figure, options, complete=complete)
        case Scores():
            interval = dirichlet(observation.values, observation.counts, options.alpha)
            raw = interval.map_affine(1 / observation.scale, -observation.base / observation.scale)
            scores = ((observation.values - observation.base) / observation.scale, observation.counts.astype(float))
            return Limits(raw.shift_and_clip(observation.value, figure.low, figure.high), raw, scores=scores)
        case Sums():
            raw = _sums_interval(observation, options.alpha)
            within = (figure.low, figure.high) if figure.kind is FigureKind.MEAN else SHARE
            return Limits(raw.shift_and_clip(observation.value, *within), raw, spread=observation.spread)
        case _:
            assert_never(observation)


def _count_limits(observation: Binomial, figure: Figure, options: Options, *, complete: bool) -> Limits:
    """Return the limits of a binomial count; a figure rounded by a coin is uncertain even if everyone is asked."""
    complete = complete and observation.is_complete and not figure.is_rounded
    if observation.p >= 1:
        certain = Interval(1.0, 1.0, Method.CERTAIN)
        limits = Limits(certain, certain, certain if complete else None)
    else:
        options = replace(options, population=None) if figure.is_rounded else options
        limits = binomial(observation.ones, observation.n, observation.p, observation.q, options, sample=complete)
    if figure.kind is FigureKind.MEAN:
        return limits.map_affine(observation.slope, observation.offset)
    return limits if observation.slope > 0 else limits.map_affine(-1, 1)  # the complement of the share that is counted


def _sums_interval(observation: Sums, alpha: float) -> Interval:
    width = observation.most - observation.least
    if not width:
        return Interval(observation.value, observation.value, Method.KORN_GRAUBARD)
    interval = korn_graubard(
        (observation.mean - observation.least) / width, observation.variance / width**2, observation.n, alpha
    )
    return interval.map_affine(width / observation.scale, (observation.least - observation.base) / observation.scale)


def fieller(observe: Observe, figure: Figure, alpha: float) -> Interval | None:
    """Return the interval of all ratios r for which numerator − r · denominator may be 0; None if not observed.

    This difference cannot be negative at the lowest possible ratio, nor positive at the highest. If its estimate is,
    the interval is widened by that amount, so it is never a point.
    """
    at_highest, at_lowest = (observe(figure.contrast_at(end)) for end in (figure.high, figure.low))
    if at_highest is None or at_lowest is None:
        return None
    shortfall, surplus = max(-at_lowest.value, 0.0), max(at_highest.value, 0.0)

    def excess(upper: bool, ratio: float) -> float:
        shift = shortfall if upper else -surplus
        match observe(figure.contrast_at(ratio)):
            case Scores() as observation:  # without a search for the limit itself
                zero = observation.base - shift * observation.scale
                return dirichlet_excess(observation.values, observation.counts, zero, alpha, upper=upper)
            case Sums() as observation:
                limits = _sums_interval(observation, alpha)
                return (limits.high if upper else limits.low) + shift
            case Binomial() | None:
                raise ValueError("a difference of two sums is a sum of scores")
            case unexpected:
                assert_never(unexpected)

    low, high = (_find_zero(partial(excess, upper), figure.low, figure.high) for upper in (False, True))
    return Interval(low, high, Method.FIELLER)


def _find_zero(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a function that decreases with the ratio, or the nearer end of the range if it has none."""
    if excess(low) <= 0:
        return low
    if excess(high) >= 0:
        return high
    return float(brentq(excess, low, high, xtol=(high - low) * 1e-6))


def quotient(above: Interval, below: Interval, figure: Figure) -> Interval:
    """Return the interval of a ratio, from the intervals of its two parts at half the error each.

    By Bonferroni both hold simultaneously, however the counts depend on each other, and then the ratio lies between
    these ends. So coverage is guaranteed if that of the parts is, but the interval is a little wide.
    """
    low = above.low / below.high if below.high > 0 else figure.low
    high = above.high / below.low if below.low > 0 else figure.high
    return Interval(min(low, figure.high), min(high, figure.high), above.method)


def divide_sums(above: float, below: float) -> float:
    """Return the ratio of two unbiased sums, or not a number if the denominator is not positive."""
    return above / below if below > 0 else math.nan
