"""Confidence intervals with reliable coverage.

A binomial count gets a guarded Clopper–Pearson interval, which is never empty and is guaranteed to cover with at least
the nominal probability. A mean of scores of single symbols gets a Dirichlet–Clopper–Pearson interval, which is
conjectured to cover (with two scores it is Clopper–Pearson). All others get Korn and Graubard's effective counts,
labelled approximate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri, stdtrit

from survey_app.channels.observations import Counts, Spread, coin_of
from survey_app.figures import Floats

Coverage = Literal["guaranteed", "approximate"]
GUARANTEED: Coverage = "guaranteed"
APPROXIMATE: Coverage = "approximate"
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9999  # the allowed range
REACH = 9.0  # standard deviations within which a quantile is searched
GRID_STEP = 0.02
GRID = np.exp(np.arange(-14, 14, GRID_STEP))


class Method(StrEnum):
    """The method of an interval; it is set where the interval is computed, and read where it is described."""

    CLOPPER_PEARSON = "clopper_pearson"
    WILSON = "wilson"
    FINITE_POPULATION = "finite_population"
    DIRICHLET = "dirichlet"
    KORN_GRAUBARD = "korn_graubard"
    FIELLER = "fieller"
    SCORE = "score"
    MOVER = "mover"
    WALD = "wald"
    CERTAIN = "certain"


PROVED = frozenset({Method.CLOPPER_PEARSON, Method.CERTAIN})


@dataclass(frozen=True)
class Interval:
    """An interval from `low` to `high`, and the method that computed it."""

    low: float
    high: float
    method: Method

    @property
    def coverage(self) -> Coverage:
        """The kind of coverage: guaranteed if it is proved, otherwise approximate."""
        return GUARANTEED if self.method in PROVED else APPROXIMATE

    def map_affine(self, slope: float, offset: float) -> "Interval":
        """Return the interval of slope · x + offset."""
        ends = sorted((slope * self.low + offset, slope * self.high + offset))
        return Interval(ends[0], ends[1], self.method)

    def clip(self, low: float, high: float) -> "Interval":
        """Return the part within the possible range, which has the same coverage."""
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low), self.method)

    def extend_to(self, point: float) -> "Interval":
        """Return the interval extended to contain a point; coverage cannot decrease."""
        return Interval(min(self.low, point), max(self.high, point), self.method)

    def shift_and_clip(self, value: float, low: float, high: float) -> "Interval":
        """Return the part within the possible range, after extending the interval if `value` lies outside of the range.

        So it does not shrink to a point.
        """
        extended = Interval(min(value, high) - (value - self.low), max(value, low) + (self.high - value), self.method)
        return extended.clip(low, high)


@dataclass(frozen=True)
class Options:
    """The reader's choice of intervals."""

    confidence: float = 0.95
    simultaneous: bool = False  # whether the intervals of all options of a question hold simultaneously
    narrow: bool = False  # whether to use Wilson's: nominal coverage on average, less at the worst share
    population: int | None = None  # size of the population that was sampled; None means very large

    @property
    def alpha(self) -> float:
        """The error probability: how often an interval may miss."""
        return round(1 - self.confidence, 15)

    def apply_bonferroni(self, count: int) -> "Options":
        """Return the options for one of `count` intervals: with Bonferroni's correction if `simultaneous` is set."""
        if not self.simultaneous:
            return self
        return replace(self, confidence=1 - self.alpha / max(count, 1), simultaneous=False)


@dataclass(frozen=True)
class Limits:
    """The intervals of one share or mean.

    `interval` is for the population that was sampled, cut to the possible range. `raw` is neither guarded nor cut, for
    sums and differences. `sample` is for the respondents themselves, where only the coins are random.
    For sums over many groups, shares have a `spread`. Means with one score a report have `scores`: the value that each
    symbol adds to the mean, and its count.
    """

    interval: Interval
    raw: Interval
    sample: Interval | None = None
    spread: Spread | None = None
    scores: tuple[Floats, Floats] | None = None

    def map_affine(self, slope: float, offset: float) -> "Limits":
        """Return the limits of slope · x + offset."""
        sample = self.sample and self.sample.map_affine(slope, offset)
        spread = self.spread and self.spread.map_affine(slope, offset)
        return Limits(self.interval.map_affine(slope, offset), self.raw.map_affine(slope, offset), sample, spread)


def binomial(ones: int, n: int, p: Fraction, q: Fraction, options: Options, *, sample: bool) -> Limits:
    """Return the limits of a share whose count is binomial; `sample` says that all respondents were asked."""
    alpha = options.alpha
    if n == 0:
        full_range = Interval(0.0, 1.0, Method.CLOPPER_PEARSON)
        return Limits(full_range, full_range)
    _, least, gap, *_ = coin_of(p, q)
    slope = 1 / gap
    low, high = clopper_pearson(ones, ones, n, alpha)
    raw = Interval(low, high, Method.CLOPPER_PEARSON).map_affine(slope, -least * slope)
    if options.population is not None:
        interval = finite_population(ones, n, p, q, alpha, options.population)
    else:
        interval = (guarded_wilson if options.narrow else guarded_clopper_pearson)(ones, n, p, q, alpha)
    of_sample = finite_population(ones, n, p, q, alpha, n) if sample else None
    return Limits(interval, raw, of_sample, Spread.binomial(n, p, q))


def clopper_pearson(lower: float, upper: float, n: float, alpha: float) -> tuple[float, float]:
    """Return the exact limits of a binomial share: the lower limit from one count, the upper limit from another."""
    low = 0.0 if lower <= 0 else float(betaincinv(lower, n - lower + 1, alpha / 2))
    high = 1.0 if upper >= n else float(betaincinv(upper + 1, n - upper, 1 - alpha / 2))
    return low, high


def guarded_clopper_pearson(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """Return the Clopper–Pearson interval of the stored bits, mapped to the share; counts are guarded first.

    A count below nq or above np is moved there. The result contains the plain interval cut to [0, 1], so it covers at
    least as often, and it is never a point.
    """
    low, high = clopper_pearson(*_guard_counts(ones, n, p, q), n, alpha)
    _, least, gap, *_ = coin_of(p, q)
    slope = 1 / gap
    return Interval((low - least) * slope, (high - least) * slope, Method.CLOPPER_PEARSON).clip(0, 1)


def _guard_counts(ones: int, n: int, p: Fraction, q: Fraction) -> tuple[int, int]:
    """Return two counts: one for the lower limit, at most np, and one for the upper limit, at least nq."""
    return min(ones, n * p.numerator // p.denominator), max(ones, -(-n * q.numerator // q.denominator))


def wilson(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """Return Wilson's interval: narrower than Clopper–Pearson, but its coverage is nominal only on average."""
    z = float(ndtri(1 - alpha / 2))
    share = ones / n
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((share + z * z / (2 * n) + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    _, least, gap, *_ = coin_of(p, q)
    slope = 1 / gap
    return Interval(low, high, Method.WILSON).map_affine(slope, -least * slope).clip(0, 1)


def guarded_wilson(ones: int, n: int, p: Fraction, q: Fraction, alpha: float) -> Interval:
    """Return Wilson's interval of guarded counts, as in `guarded_clopper_pearson`; it is never a point."""
    low, high = (wilson(count, n, p, q, alpha) for count in _guard_counts(ones, n, p, q))
    return Interval(low.low, high.high, Method.WILSON)


def finite_population(ones: int, n: int, p: Fraction, q: Fraction, alpha: float, population: int) -> Interval:
    """Return the interval of a share in a finite population of N people, after a draw of n.

    With N = n it is the interval for the respondents themselves. It contains all shares π with
    (π̂ − π)² ≤ z² Var(π), where Var = (1 − n/N) π(1−π)/n + [π p(1−p) + (1−π) q(1−q)]/(n(p−q)²).
    For each end, π̂ is first moved outwards by half a report. If it then lies outside of [0, 1], it is the end itself.
    Raise ValueError if N is less than n.
    """
    if population < n:
        raise ValueError(f"{n} respondents cannot be drawn from a population of {population}")
    _, least, d, *variances = coin_of(p, q)
    z2 = float(ndtri(1 - alpha / 2)) ** 2
    at_yes, at_no = (variance / (n * d * d) for variance in variances)
    sampling = (1 - n / population) / n
    ends: list[float] = []
    for sign, count in zip((-1, 1), _guard_counts(ones, n, p, q), strict=True):
        point = (count / n - least + sign / (2 * n)) / d
        if not 0 < point < 1:  # no share is excluded on this side
            ends.append(point)
            continue
        a, b, c = 1 + z2 * sampling, 2 * point + z2 * (sampling + at_yes - at_no), point * point - z2 * at_no
        ends.append((b + sign * math.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a))
    return Interval(ends[0], ends[1], Method.FINITE_POPULATION).clip(0, 1)


def dirichlet(scores: Sequence[float] | Floats, counts: Sequence[float] | Floats | Counts, alpha: float) -> Interval:
    """Return the interval of the mean score of reports with one score each: quantiles of Σ v W, W ~ Dirichlet.

    One report is added at the largest score for the upper limit, and at the smallest score for the lower limit.
    """
    values, places = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    weights = np.bincount(places, weights=np.asarray(counts, dtype=float), minlength=len(values))
    first, last = np.zeros(len(values)), np.zeros(len(values))
    first[0], last[-1] = 1, 1
    low = _dirichlet_quantile(values, weights + first, alpha / 2)
    high = _dirichlet_quantile(values, weights + last, 1 - alpha / 2)
    return Interval(low, high, Method.DIRICHLET)


def dirichlet_excess(
    scores: Sequence[float] | Floats, counts: Sequence[float] | Counts, x: float, alpha: float, *, upper: bool
) -> float:
    """Return a number with the sign of (limit − x), where `limit` is the lower or upper limit of `dirichlet`.

    It is a difference of probabilities, so no search for the limit is needed.
    """
    values, weights = np.asarray(scores, dtype=float), np.asarray(counts, dtype=float)
    order = values.argsort()
    values, weights = values[order], weights[order]
    begins = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    (first,) = begins.nonzero()
    values, weights = values[first], np.add.reduceat(weights, first)
    weights[-1 if upper else 0] += 1
    is_positive = weights > 0
    return _dirichlet_above((values - x)[is_positive], weights[is_positive]) - (alpha / 2 if upper else 1 - alpha / 2)


def _dirichlet_quantile(values: Floats, weights: Floats, level: float) -> float:
    """Return the level-quantile of Σ v W."""
    is_positive = weights > 0
    values, weights = values[is_positive], weights[is_positive]
    if len(values) == 1:
        return float(values[0])
    low, high = float(values[0]), float(values[-1])
    if len(values) == 2:
        return low + (high - low) * float(betaincinv(weights[1], weights[0], level))
    n = float(weights.sum())
    centre = float(weights @ values) / n
    spread = math.sqrt(float(weights @ (values - centre) ** 2) / n / (n + 1))
    margin = (high - low) * 1e-9
    lower, upper = max(low + margin, centre - REACH * spread), min(high - margin, centre + REACH * spread)

    def excess(x: float) -> float:
        return _dirichlet_above(values - x, weights) - (1 - level)

    if excess(lower) <= 0:
        return lower
    if excess(upper) >= 0:
        return upper
    return float(brentq(excess, lower, upper, xtol=(high - low) * 1e-8))


def _dirichlet_above(offsets: Floats, weights: Floats) -> float:
    """Return P(Σ (v − x) W > 0) = ½ + (1/π) ∫ sin θ(u)/(u ρ(u)) du (Imhof's inversion).

    θ = Σ c arctan((v−x)u), ρ = Π (1+(v−x)²u²)^(c/2). With u = e^y the integrand is smooth and vanishes on both sides,
    so the trapezoidal rule converges fast.
    """
    if offsets.min() >= 0 or offsets.max() <= 0:
        return float(offsets.max() > 0)
    scale = 1 / math.sqrt(float(weights @ offsets**2))
    scaled = GRID[:, None] * (offsets * scale)
    angles = np.arctan(scaled)
    np.log1p(np.square(scaled, out=scaled), out=scaled)  # in place: this is called thousands of times for a page
    integrand = np.sin(angles @ weights) * np.exp(-0.5 * (scaled @ weights))
    tail = float(weights @ offsets) * scale * float(GRID[0])  # below the grid, where sin θ ≈ θ
    return 0.5 + (float(integrand.sum()) * GRID_STEP + tail) / math.pi


def korn_graubard(mean: float, variance: float, n: int, alpha: float) -> Interval:
    """Return the interval of a mean on [0, 1], given the variance of one report.

    It is Clopper–Pearson with the effective number of reports (Korn and Graubard).
    """
    if n < 2:
        return Interval(0.0, 1.0, Method.KORN_GRAUBARD)
    mean = min(max(mean, 0.0), 1.0)
    ratio = float(ndtri(1 - alpha / 2)) / -float(stdtrit(n - 1, alpha / 2))
    effective = n * max(mean * (1 - mean), 1e-12) / variance * ratio**2
    low, high = clopper_pearson(effective * mean, effective * mean, effective, alpha)
    return Interval(low, high, Method.KORN_GRAUBARD)
