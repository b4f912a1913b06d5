"""n times the variance of an estimate, for every mechanism: what a privacy level buys.

p and q come from the mechanism's own integers. Population target: the respondents are a sample, so with
λ = q + f(p − q), n·Var = λ(1 − λ)/(p − q)². These are plans, not privacy: floating point is welcome here.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from client.mechanism import Flip, Sampled, Subset, Unary


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
    """n·Var of the share of a union of `union` symbols: of X = how many symbols of the union were reported.

    Given the truth, X is 0 or 1 for the true symbol plus a hypergeometric count of the others.
    """
    k, w, p = mechanism.size, mechanism.weight, float(mechanism.p)
    mean = second = 0.0
    for inside, chance in ((1, share), (0, 1 - share)):
        for held, branch in ((1, p), (0, 1 - p)):
            drawn, good = w - held, union - inside
            count = drawn * good / (k - 1)
            spread = count * (1 - good / (k - 1)) * (k - 1 - drawn) / max(k - 2, 1)
            total = count + (inside and held)
            mean += chance * branch * total
            second += chance * branch * (spread + total**2)
    return (second - mean**2) / (p - float(mechanism.q)) ** 2


def score_variance(mechanism: Subset | Unary, scores: Sequence[float], shares: Sequence[float]) -> float:
    """n·Var of the estimate of Σ a_i f_i that the coins alone cause (sample target), at these true shares.

    It is the mean over the truth j of Var(S | j)/(p − q)², S = Σ of the scores of the reported symbols. Of a subset, r
    of the k − 1 others are drawn without replacement, so their sum varies by r(k−1−r)/((k−1)(k−2)) (B − A²/(k−1)), A
    and B the sums of their scores and of the squares; a constant added to all scores changes nothing. Unary estimates
    count scores from the smallest.
    """
    k, p, q = mechanism.size, float(mechanism.p), float(mechanism.q)
    a, f = np.asarray(scores, dtype=float), np.asarray(shares, dtype=float)
    if isinstance(mechanism, Unary):
        squares = (a - a.min()) ** 2
        given = q * (1 - q) * squares.sum() + (p * (1 - p) - q * (1 - q)) * squares
        return float(f @ given) / (p - q) ** 2
    w = mechanism.weight
    a = a - a.mean()
    rest, squares = a.sum() - a, (a**2).sum() - a**2
    scatter = (squares - rest**2 / (k - 1)) / ((k - 1) * max(k - 2, 1))
    held = (a + (w - 1) * rest / (k - 1)) ** 2 + (w - 1) * (k - w) * scatter
    lost = (w * rest / (k - 1)) ** 2 + w * (k - 1 - w) * scatter
    given = p * held + (1 - p) * lost - (p * a + q * rest) ** 2
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
