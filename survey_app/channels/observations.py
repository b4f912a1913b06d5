"""The three observations that a channel can make of a figure; each has its own interval in `estimate`."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from survey_app.figures import Floats

Counts = npt.NDArray[np.int64]
CACHE_SIZE = 4096  # number of coins that are cached


class Coin(NamedTuple):
    """p, q and their derived numbers as floats, for intervals."""

    p: float
    q: float
    gap: float  # p − q
    at_yes: float  # p(1 − p)
    at_no: float  # q(1 − q)


@lru_cache(maxsize=CACHE_SIZE)
def coin_of(p: Fraction, q: Fraction) -> Coin:
    """Return the floats nearest to the exact numbers, cached because fractions are slow and every share needs them."""
    return Coin(float(p), float(q), float(p - q), float(p * (1 - p)), float(q * (1 - q)))


@dataclass(frozen=True)
class Spread:
    """The variance of an estimated share as a function of its true value x: n·Var = v0 + v1 x + v2 x².

    `step` is the change of the estimate by one bit. For a binomial count with p and q, n·Var = λ(1−λ)/(p−q)² with
    λ = q + x(p−q).
    """

    v0: float
    v1: float
    v2: float
    step: float

    @classmethod
    def binomial(cls, n: int, p: Fraction, q: Fraction) -> "Spread":
        """Return the variance function of a share whose count is binomial."""
        coin = coin_of(p, q)
        d = coin.gap
        return cls(coin.at_no / d**2, (1 - 2 * coin.q) / d, -1.0, 1 / (n * d))

    def variance_at(self, x: float) -> float:
        """Return n·Var at x, or 0 where the formula is negative because x is impossible."""
        return max(self.v0 + self.v1 * x + self.v2 * x * x, 0.0)

    def map_affine(self, slope: float, offset: float) -> "Spread":
        """Return the variance function of slope · x + offset."""
        v0 = slope**2 * self.v0 - slope * offset * self.v1 + offset**2 * self.v2
        return Spread(v0, slope * self.v1 - 2 * offset * self.v2, self.v2, abs(slope) * self.step)


@dataclass(frozen=True)
class Binomial:
    """A binomial count of n devices: each counts with probability p if it belongs to the share, otherwise with q.

    The figure is slope · share + offset. `is_complete` means that n are all devices that answered the field.
    """

    ones: int
    n: int
    p: Fraction
    q: Fraction
    slope: float = 1.0
    offset: float = 0.0
    is_complete: bool = True

    @property
    def raw_share(self) -> float | None:
        """The share of ones before the noise is corrected; None without devices."""
        return self.slope * (self.ones / self.n) + self.offset if self.n else None

    @cached_property
    def value(self) -> float:
        """The unbiased estimate; not a number without devices."""
        if not self.n:
            return float("nan")
        p, q, *_ = coin_of(self.p, self.q)
        return self.slope * ((self.ones / self.n - q) / (p - q)) + self.offset


@dataclass(frozen=True, eq=False)
class Scores:
    """One of several scores in each report; the figure is (mean score − base)/scale."""

    values: Floats
    counts: Counts
    n: int
    base: float
    scale: float
    raw_share: ClassVar[None] = None

    @property
    def value(self) -> float:
        """The unbiased estimate."""
        return (float(self.values @ self.counts / self.n) - self.base) / self.scale


@dataclass(frozen=True)
class Sums:
    """A sum of scores in each report, between `least` and `most`; the figure is (mean − base)/scale.

    The variance is estimated. A share has a `spread`, its variance at any true value, for sums over groups.
    """

    mean: float
    variance: float
    least: float
    most: float
    n: int
    base: float
    scale: float
    spread: Spread | None = None
    raw_share: ClassVar[None] = None

    @property
    def value(self) -> float:
        """The unbiased estimate."""
        return (self.mean - self.base) / self.scale


Observation = Binomial | Scores | Sums
