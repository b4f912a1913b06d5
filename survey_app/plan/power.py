"""Power: the respondents needed to detect a difference between two groups, or a share above zero.

The groups have known sizes: they are two surveys, never groups by a randomized answer. All formulas are normal
approximations, except in functions whose names begin with `exact`. The approximations are optimistic where few ones
are expected by chance.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import bdtrc, bdtrik, ndtr, ndtri

from survey_app.channels.design_variance import share_variance
from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan.report_variance import LEAST_RESPONDENTS, POPULATION, Spread, Target, standard_error, z_score

Integers = NDArray[np.int64]
MOST_RESPONDENTS = 10**15
MOST_EXACT = 100_000


def difference_power(
    first: Spread, second: Spread, difference: float, n: float, confidence: float = 0.95, target: Target = POPULATION
) -> float:
    """Return the chance to detect this difference between two groups of n each (two-sided test)."""
    error = math.hypot(standard_error(first, n, target), standard_error(second, n, target))
    z = z_score(confidence)
    if error == 0:
        return 1.0 if difference else 0.0
    return float(ndtr(abs(difference) / error - z) + ndtr(-abs(difference) / error - z))


def difference_respondents(
    first: Spread,
    second: Spread,
    difference: float,
    power: float = 0.8,
    confidence: float = 0.95,
    target: Target = POPULATION,
) -> int | None:
    """Return the fewest respondents in each group that detect a difference with this power; None if none suffice."""
    _check_power(power)
    if difference == 0:
        return None
    return _find_smallest(lambda n: difference_power(first, second, difference, n, confidence, target) >= power, target)


def smallest_difference(
    spread_at: Callable[[float], Spread],
    base: float,
    n: float,
    power: float = 0.8,
    confidence: float = 0.95,
    target: Target = POPULATION,
    highest: float = 1.0,
    second: float | None = None,
) -> float | None:
    """Return the smallest detectable difference of a second group above `base`; None if it lies beyond `highest`.

    Both groups have n respondents, unless `second` gives the size of the second group.
    d² = (z + z_power)² (Var(base) + Var(base + d)); the difference of the two sides is convex in d and negative at 0.
    """
    _check_power(power)
    reach = z_score(confidence) + float(ndtri(power))
    first = standard_error(spread_at(base), n, target)

    def surplus(d: float) -> float:
        return d - reach * math.hypot(first, standard_error(spread_at(base + d), second or n, target))

    most = highest - base
    if most <= 0 or surplus(most) < 0:
        return None
    return float(brentq(surplus, 0.0, most))


def positive_power(
    spread_at: Callable[[float], Spread], share: float, n: float, confidence: float = 0.95, target: Target = POPULATION
) -> float:
    """Return the chance that n respondents show a share to be above zero: that the interval excludes zero."""
    z, at_zero, at_share = z_score(confidence), *(standard_error(spread_at(f), n, target) for f in (0.0, share))
    return float(ndtr((share - z * at_zero) / at_share)) if at_share else float(share > z * at_zero)


def positive_respondents(
    spread_at: Callable[[float], Spread],
    share: float,
    power: float = 0.8,
    confidence: float = 0.95,
    target: Target = POPULATION,
) -> int | None:
    """Return the fewest respondents that show a share to be above zero with this power; None if no n is enough."""
    _check_power(power)
    if share <= 0:
        return None
    return _find_smallest(lambda n: positive_power(spread_at, share, n, confidence, target) >= power, target)


def exact_positive_power(p: Fraction, q: Fraction, share: float, n: int, confidence: float = 0.95) -> float:
    """Return the exact power of n answers to show a share to be above zero.

    The count is binomial. Zero is rejected at y if P(Y ≥ y | 0) ≤ α/2.
    """
    if not 0 < confidence < 1:
        raise PlanError("bad_confidence", f"a confidence must be between 0 and 1, not {confidence:g}")
    below = _find_critical_count((1 - confidence) / 2, np.array([n]), float(q))
    return float(bdtrc(below, n, float(q + Fraction(share) * (p - q)))[0])


def exact_positive_respondents(
    p: Fraction, q: Fraction, share: float, power: float = 0.8, confidence: float = 0.95
) -> int:
    """Return the number of answers from which on the exact power is always enough.

    Exact power is a sawtooth in n, so one n may be enough and the next one not. Beyond MOST_EXACT the normal
    approximation is close enough, and is returned. Raise PlanError for a share of zero.
    """

    def spread_at(f: float) -> Spread:
        return Spread(0.0, share_variance(float(p), float(q), f))

    approximation = positive_respondents(spread_at, share, power, confidence)
    if approximation is None:
        raise PlanError("zero_share", "a share of zero cannot be shown to be above zero")
    if approximation > MOST_EXACT:
        return approximation
    n = np.arange(1, 3 * approximation + 300)
    below = _find_critical_count((1 - confidence) / 2, n, float(q))
    powers = bdtrc(below, n, float(q + Fraction(share) * (p - q)))
    (insufficient,) = np.nonzero(powers < power)
    return max(int(n[insufficient[-1]]) + 1, LEAST_RESPONDENTS) if len(insufficient) else LEAST_RESPONDENTS


def _find_critical_count(alpha: float, n: Integers, q: float) -> Integers:
    """Return the smallest k with P(Y > k) ≤ α for a binomial count Y of n with chance q.

    scipy.stats has this function too, but takes half a second to import.
    """
    counts = np.clip(np.ceil(bdtrik(1 - alpha, n, q)), 0, n).astype(np.int64)
    counts += bdtrc(counts, n, q) > alpha  # where the root was a rounding error short of a whole number
    return counts - ((counts > 0) & (bdtrc(counts - 1, n, q) <= alpha))


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise PlanError("bad_power", f"a power must be between 0 and 1, such as 0.8, not {power:g}")


def _find_smallest(is_sufficient: Callable[[int], bool], target: Target) -> int | None:
    """Return the smallest n that is sufficient, if every larger n is too; None if no n up to the limit is."""
    most = target.size or MOST_RESPONDENTS
    high = LEAST_RESPONDENTS
    while high < most and not is_sufficient(high):
        high *= 2
    high = min(high, most)
    if not is_sufficient(high):
        return None
    low = LEAST_RESPONDENTS - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_sufficient(middle) else (middle, high)
    return high
