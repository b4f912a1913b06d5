"""The precision of the same figure with a trusted curator, or with no privacy.

In the central model the true answers are collected, and noise is added once, to the finished figure. A mean of n
values of range Δ (n public, one person's value replaced) gets Laplace noise of scale Δ/(nε). Or it gets Gaussian noise
with the smallest σ that is (ε, δ)-private (Balle and Wang 2018). Candor offers neither. Both are compared with its own
figures, to show the cost of trusting nobody.
"""

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr

from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan.report_variance import Spread

DELTA = 1e-6


def no_privacy(people: float) -> Spread:
    """Return the spread of the true answers of all respondents."""
    return Spread(people, 0.0)


def laplace(people: float, epsilon: float, sensitivity: float = 1.0) -> Spread:
    """Return the spread with Laplace noise on the mean; `sensitivity` is the L1 change of the sum by one person."""
    return Spread(people, 0.0, curator_noise=laplace_variance(epsilon, sensitivity))


def gaussian(people: float, epsilon: float, delta: float = DELTA, sensitivity: float = 1.0) -> Spread:
    """Return the spread with Gaussian noise on the mean; `sensitivity` is the L2 change of the sum by one person."""
    return Spread(people, 0.0, curator_noise=gaussian_sigma(epsilon, delta, sensitivity) ** 2)


def laplace_variance(epsilon: float, sensitivity: float = 1.0) -> float:
    """Return 2(Δ/ε)²; on [−1, 1], where Δ = 2, it is 8/ε². Raise PlanError unless ε > 0."""
    if not epsilon > 0:
        raise PlanError("bad_epsilon", "ε must be above zero")
    return 2 * (sensitivity / epsilon) ** 2


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the exact δ of Gaussian noise: Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ)."""
    half, shift = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return math.exp(log_ndtr(half - shift)) - math.exp(epsilon + log_ndtr(-half - shift))


def gaussian_sigma(epsilon: float, delta: float = DELTA, sensitivity: float = 1.0) -> float:
    """Return the smallest σ that is (ε, δ)-private."""
    _check(epsilon, delta)
    low = high = 1.0
    while gaussian_delta(high, epsilon) > delta:
        high *= 2
    while gaussian_delta(low, epsilon) < delta:
        low /= 2
    if low == high:
        return low * sensitivity
    root = brentq(lambda sigma: gaussian_delta(sigma, epsilon) - delta, low, high, xtol=1e-13, rtol=1e-13)
    return float(root) * sensitivity


def _check(epsilon: float, delta: float) -> None:
    if not epsilon > 0:
        raise PlanError("bad_epsilon", "ε must be above zero")
    if not 0 < delta < 1:
        raise PlanError("bad_delta", f"δ must be a small probability such as 0.000001, not {delta:g}")
