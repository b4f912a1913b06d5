"""What the same number would cost with a trusted curator, or with no privacy at all.

In the central model the answers themselves are collected and noise is added once, to the finished figure: to a mean
of n values of range Δ (n public, one person's value replaced) Laplace noise of scale Δ/(nε), or Gaussian noise with
the smallest σ that is (ε, δ)-private (Balle and Wang 2018). Candor offers neither: they stand beside its own figures
to show what not having to trust anybody costs.
"""

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr

from survey_app.kinds.assumptions import PlanError
from survey_app.plan.spread import Spread

DELTA = 1e-6


def no_privacy(people: float) -> Spread:
    """The answers themselves, of everybody who responds."""
    return Spread(people, 0.0)


def laplace(people: float, epsilon: float, sensitivity: float = 1.0) -> Spread:
    """Laplace noise on the mean; `sensitivity` is how much one person can change the sum, in L1."""
    return Spread(people, 0.0, added=laplace_variance(epsilon, sensitivity))


def gaussian(people: float, epsilon: float, delta: float = DELTA, sensitivity: float = 1.0) -> Spread:
    """Gaussian noise on the mean; `sensitivity` in L2."""
    return Spread(people, 0.0, added=gaussian_sigma(epsilon, delta, sensitivity) ** 2)


def laplace_variance(epsilon: float, sensitivity: float = 1.0) -> float:
    """2(Δ/ε)²; on [−1, 1], where Δ = 2, it is 8/ε²."""
    if not epsilon > 0:
        raise PlanError("ε must be above zero")
    return 2 * (sensitivity / epsilon) ** 2


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """The exact δ of Gaussian noise: Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ)."""
    half, shift = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return math.exp(log_ndtr(half - shift)) - math.exp(epsilon + log_ndtr(-half - shift))


def gaussian_sigma(epsilon: float, delta: float = DELTA, sensitivity: float = 1.0) -> float:
    """The smallest σ that is (ε, δ)-private."""
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
        raise PlanError("ε must be above zero")
    if not 0 < delta < 1:
        raise PlanError(f"δ is a small probability such as 0.000001, not {delta:g}")
