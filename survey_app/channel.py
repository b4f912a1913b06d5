"""What a mechanism does to shares: the mean and the covariance of its stored bits, and n times the variance of whatever
is estimated from them: what a privacy level buys.

p and q come from the mechanism's own integers. Population target: the respondents are a sample, so with
λ = q + f(p − q), n·Var = λ(1 − λ)/(p − q)². These are plans, not privacy: floating point is welcome here.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from client.mechanism import Flip, Sampled, Subset, Unary

Categorical = Flip | Subset | Unary
Floats = npt.NDArray[np.float64]


def expected(mechanism: Categorical, shares: Floats) -> Floats:
    """P(bit = 1) for each stored bit, if these are the shares of the symbols (of a flip: of yes)."""
    p, q = float(mechanism.p), float(mechanism.q)
    means: Floats = q + (p - q) * shares
    return means


def together(mechanism: Categorical) -> tuple[float, float]:
    """P(two stored bits are both 1), if one of them is the true symbol's, and if neither is."""
    p, q = float(mechanism.p), float(mechanism.q)
    if not isinstance(mechanism, Subset):
        return p * q, q * q
    k, w = mechanism.size, mechanism.weight
    neither = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / max((k - 1) * (k - 2), 1)
    return p * (w - 1) / (k - 1), neither


def covariance(mechanism: Categorical, shares: Floats, each: int = 1) -> Floats:
    """The covariance of the stored bits of one report, if these are the shares of the symbols.

    With `each` above 1, of the sums of the bits of disjoint sets of so many symbols, whose shares these are.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    true, neither = together(mechanism)
    ones = each * q + (p - q) * shares
    second = each * each * neither + each * (true - neither) * (shares[:, None] + shares[None, :])
    np.fill_diagonal(second, ones + each * (each - 1) * neither + 2 * (each - 1) * (true - neither) * shares)
    spread: Floats = second - np.outer(ones, ones)
    return spread


def likelihood(mechanism: Categorical, bits: Floats) -> Floats:
    """P(these bits | symbol), up to a factor that does not depend on the symbol: a row for each report."""
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return np.where(bits > 0, np.array([q, p]), np.array([1 - q, 1 - p]))
    if isinstance(mechanism, Subset):
        held = p / mechanism.weight
        return np.where(bits > 0, held, (1 - p) / (mechanism.size - mechanism.weight))
    return np.where(bits > 0, p / q, (1 - p) / (1 - q))


def share_variance(p: float, q: float, share: float) -> float:
    """n·Var of an estimated share from bits with P(1 | true) = p, P(1 | not true) = q."""
    reported = q + share * (p - q)
    return reported * (1 - reported) / (p - q) ** 2


def bit_variance(mechanism: Flip | Subset | Unary, share: float) -> float:
    """n·Var of the share of one symbol."""
    return share_variance(float(mechanism.p), float(mechanism.q), share)


def sampled_variance(mechanism: Sampled, share: float) -> float:
    """n·Var of the share of one option, when only draw/size of the respondents are asked about it."""
    once = share_variance(float(mechanism.p), float(mechanism.q), share)
    return once * mechanism.size / mechanism.draw


def union_variance(mechanism: Subset, union: int, share: float) -> float:
    """n·Var of the share of a union of `union` symbols: of how many symbols of the union were reported."""
    reported = covariance(mechanism, np.array([share]), union)[0, 0]
    return float(reported) / (float(mechanism.p) - float(mechanism.q)) ** 2


def subset_moments(mechanism: Subset, scores: Floats) -> tuple[Floats, Floats]:
    """E[S | truth] and E[S² | truth] for every true symbol, S the sum of the scores of the reported symbols.

    r of the k − 1 others are drawn without replacement, so their sum varies by r(k−1−r)/((k−1)(k−2)) (B − A²/(k−1)), A
    and B the sums of their scores and of the squares.
    """
    k, w, p, q = mechanism.size, mechanism.weight, float(mechanism.p), float(mechanism.q)
    rest, squares = scores.sum() - scores, (scores**2).sum() - scores**2
    scatter = (squares - rest**2 / (k - 1)) / ((k - 1) * max(k - 2, 1))
    held = (scores + (w - 1) * rest / (k - 1)) ** 2 + (w - 1) * (k - w) * scatter
    lost = (w * rest / (k - 1)) ** 2 + w * (k - 1 - w) * scatter
    return p * scores + q * rest, p * held + (1 - p) * lost


def score_variance(mechanism: Subset | Unary, scores: Sequence[float], shares: Sequence[float]) -> float:
    """n·Var of the estimate of Σ a_i f_i that the coins alone cause (sample target), at these true shares.

    It is the mean over the truth j of Var(S | j)/(p − q)², S = Σ of the scores of the reported symbols. A constant
    added to all scores changes nothing of a subset; unary estimates count scores from the smallest.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    a, f = np.asarray(scores, dtype=float), np.asarray(shares, dtype=float)
    if isinstance(mechanism, Unary):
        squares = (a - a.min()) ** 2
        given = q * (1 - q) * squares.sum() + (p * (1 - p) - q * (1 - q)) * squares
    else:
        first, second = subset_moments(mechanism, a - a.mean())
        given = second - first**2
    return float(f @ given) / (p - q) ** 2


def level_variance(p: float, q: float, levels: int) -> float:
    """n·Var of a mean on [−1, 1] from k-ary randomized response on a grid, at the worst true value (sample target).

    Var(t) = [(p−q) E v² + q Σv²]/(p−q)² − t². Between two levels a and b, stochastic rounding gives E v² = t(a+b) − ab,
    so Var is concave in t there, with its top at (a+b)/(2(p−q)).
    """
    grid = [2 * j / (levels - 1) - 1 for j in range(levels)]
    noise = q * sum(v * v for v in grid) / (p - q) ** 2
    worst = 0.0
    for a, b in pairwise(grid):
        t = min(max((a + b) / 2 / (p - q), a), b)
        worst = max(worst, (t * (a + b) - a * b) / (p - q) + noise - t * t)
    return worst


def geometric_variance(ratio: float, levels: int, *, rounded: bool) -> float:
    """n·Var of a mean on [−1, 1] from a grid with two-sided geometric noise, at the worst true value.

    Rounding at random to a grid coarser than the numbers adds at most a quarter of a squared step.
    """
    step = 2 / (levels - 1)
    return step**2 * (2 * ratio / (1 - ratio) ** 2 + (0.25 if rounded else 0.0))
