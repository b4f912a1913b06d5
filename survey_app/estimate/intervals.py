"""Intervals whose coverage holds.

For a binomial count: guarded Clopper–Pearson, guaranteed to cover with at least the nominal probability, never empty.
For a mean of scores of single symbols: Dirichlet–Clopper–Pearson, conjectured to cover (it is Clopper–Pearson where
there are two scores). For what is neither: Korn and Graubard's effective counts, or a normal approximation with a
correction, both labelled approximate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri, stdtrit

GUARANTEED, APPROXIMATE = "guaranteed", "approximate"

Floats = npt.NDArray[np.float64]

REACH = 9.0  # standard deviations within which a quantile is looked for
GRID_STEP = 0.02
GRID = np.exp(np.arange(-14, 14, GRID_STEP))


@dataclass(frozen=True)
class Interval:
    """From low to high, and whether its coverage is proved."""

    low: float
    high: float
    label: str

    def mapped(self, slope: float, offset: float) -> "Interval":
        """The interval of slope · x + offset."""
        ends = sorted((slope * self.low + offset, slope * self.high + offset))
        return Interval(ends[0], ends[1], self.label)

    def clipped(self, low: float, high: float) -> "Interval":
        """What lies in the possible range; it cannot lose coverage."""
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low), self.label)


def clopper_pearson(lower: float, upper: float, n: float, alpha: float) -> tuple[float, float]:
    """The exact limits of a binomial share: from one count below, from another above."""
    low = 0.0 if lower <= 0 else float(betaincinv(lower, n - lower + 1, alpha / 2))
    high = 1.0 if upper >= n else float(betaincinv(upper + 1, n - upper, 1 - alpha / 2))
    return low, high


def guarded(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """Clopper–Pearson on the stored bits, mapped; a count below nq or above np is moved there first.

    It contains the plain interval cut to [0, 1], so it covers at least as often, and it is never a point.
    """
    if n == 0:
        return Interval(0.0, 1.0, GUARANTEED)
    low, high = clopper_pearson(min(ones, math.floor(n * p)), max(ones, math.ceil(n * q)), n, alpha)
    slope = 1 / float(p - q)
    return Interval((low - float(q)) * slope, (high - float(q)) * slope, GUARANTEED).clipped(0, 1)


def wilson(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """Narrower, right on average and short at the worst share: approximate."""
    z = float(ndtri(1 - alpha / 2))
    share, half = ones / n, z * math.sqrt(ones / n * (1 - ones / n) / n + z * z / (4 * n * n))
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    slope = 1 / float(p - q)
    low, high = (((centre + sign * half) / scale - float(q)) * slope for sign in (-1, 1))
    return Interval(low, high, APPROXIMATE).clipped(0, 1)


def sample_target(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """For the share among these very respondents, where only the coins are random; with a continuity correction."""
    z = float(ndtri(1 - alpha / 2))
    spread = float(max(p * (1 - p), q * (1 - q)))
    half = (z * math.sqrt(spread / n) + 1 / (2 * n)) / float(p - q)
    point = (ones / n - float(q)) / float(p - q)
    return Interval(point - half, point + half, APPROXIMATE).clipped(0, 1)


def dirichlet(scores: Sequence[float], counts: Sequence[int], alpha: float) -> Interval:
    """For the mean score of reports that each carry one score: quantiles of Σ v W, W ~ Dirichlet.

    One more report at the largest score for the upper limit, at the smallest for the lower.
    """
    values, places = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    weights = np.bincount(places, weights=np.asarray(counts, dtype=float), minlength=len(values))
    first, last = np.zeros(len(values)), np.zeros(len(values))
    first[0], last[-1] = 1, 1
    low = _dirichlet_quantile(values, weights + first, alpha / 2)
    high = _dirichlet_quantile(values, weights + last, 1 - alpha / 2)
    return Interval(low, high, APPROXIMATE)


def _dirichlet_quantile(values: Floats, weights: Floats, level: float) -> float:
    """The level-quantile of Σ v W."""
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    if len(values) == 1:
        return float(values[0])
    low, high = float(values[0]), float(values[-1])
    if len(values) == 2:
        return low + (high - low) * float(betaincinv(weights[1], weights[0], level))
    n = float(weights.sum())
    centre = float(weights @ values) / n
    spread = math.sqrt(float(weights @ (values - centre) ** 2) / n / (n + 1))
    margin = (high - low) * 1e-9
    left, right = max(low + margin, centre - REACH * spread), min(high - margin, centre + REACH * spread)

    def excess(x: float) -> float:
        return _dirichlet_above(values - x, weights) - (1 - level)

    if excess(left) <= 0:
        return left
    if excess(right) >= 0:
        return right
    return float(brentq(excess, left, right, xtol=(high - low) * 1e-8))


def _dirichlet_above(offsets: Floats, weights: Floats) -> float:
    """P(Σ (v − x) W > 0) = ½ + (1/π) ∫ sin θ(u)/(u ρ(u)) du (Imhof's inversion).

    θ = Σ c arctan((v−x)u), ρ = Π (1+(v−x)²u²)^(c/2). With u = e^y the integrand is smooth and falls off on both
    sides, so the trapezoidal rule converges fast.
    """
    scale = 1 / math.sqrt(float(weights @ offsets**2))
    scaled = np.outer(GRID, offsets * scale)
    integrand = np.sin(np.arctan(scaled) @ weights) * np.exp(-0.5 * (np.log1p(scaled**2) @ weights))
    before = float(weights @ offsets) * scale * float(GRID[0])  # where sin θ is still θ
    return 0.5 + (float(integrand.sum()) * GRID_STEP + before) / math.pi


def korn_graubard(mean: float, variance: float, n: int, alpha: float) -> Interval:
    """For a mean on [0, 1] with this variance of one report: Clopper–Pearson on the effective number of reports."""
    if n < 2:
        return Interval(0.0, 1.0, APPROXIMATE)
    mean = min(max(mean, 0.0), 1.0)
    ratio = float(ndtri(1 - alpha / 2)) / -float(stdtrit(n - 1, alpha / 2))
    effective = n * max(mean * (1 - mean), 1e-12) / variance * ratio**2
    low, high = clopper_pearson(effective * mean, effective * mean, effective, alpha)
    return Interval(low, high, APPROXIMATE)


def geometric_mean(mean: float, top: float, noise: float, n: int, alpha: float) -> Interval:
    """For the mean of levels from 0 to `top` under noise of known variance: the roots of a quadratic.

    (m − μ)² = c² (s² + μ(top − μ))/n with c = z + 0.21/n, since a level of mean μ varies by at most μ(top − μ).
    """
    c = (float(ndtri(1 - alpha / 2)) + 0.21 / n) ** 2 / n
    a, b, d = 1 + c, -(2 * mean + c * top), mean * mean - c * noise
    root = math.sqrt(max(b * b - 4 * a * d, 0.0))
    return Interval((-b - root) / (2 * a), (-b + root) / (2 * a), APPROXIMATE).clipped(0, top)
