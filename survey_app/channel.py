"""What a mechanism does to shares: the mean and the covariance of its stored bits, and n times the variance of whatever
is estimated from them: what a privacy level buys.

p and q come from the mechanism's own integers. Population target: the respondents are a sample, so with
λ = q + f(p − q), n·Var = λ(1 − λ)/(p − q)². These are plans, not privacy: floating point is welcome here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.sampling import WHOLE

Categorical = Flip | Subset
Floats = npt.NDArray[np.float64]


def expected(mechanism: Categorical, shares: Floats) -> Floats:
    """P(bit = 1) for each stored bit, if these are the shares of the symbols (of a flip: of yes)."""
    p, q = float(mechanism.p), float(mechanism.q)
    means: Floats = q + (p - q) * shares
    return means


def together(mechanism: Categorical) -> tuple[float, float]:
    """P(two stored bits are both 1), if one of them is the true symbol's, and if neither is."""
    if isinstance(mechanism, Flip):
        return 0.0, 0.0  # it has one bit
    k, w, p = mechanism.size, mechanism.weight, float(mechanism.p)
    neither = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / max((k - 1) * (k - 2), 1)
    return p * (w - 1) / (k - 1), neither


def covariance(mechanism: Categorical, shares: Floats, sizes: int | Floats = 1) -> Floats:
    """The covariance of the stored bits of one report, if these are the shares of the symbols.

    With `sizes`, of the sums of the bits of disjoint sets of so many symbols, whose shares these are; a set of none
    has share 0 and no part in it.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    true, neither = together(mechanism)
    each = np.broadcast_to(np.asarray(sizes, dtype=float), shares.shape)
    ones = each * q + (p - q) * shares
    second = neither * np.outer(each, each) + (true - neither) * (np.outer(each, shares) + np.outer(shares, each))
    np.fill_diagonal(second, ones + each * (each - 1) * neither + 2 * (each - 1) * (true - neither) * shares)
    spread: Floats = second - np.outer(ones, ones)
    return spread


def likelihood(mechanism: Categorical, bits: Floats) -> Floats:
    """P(these bits | symbol), up to a factor that does not depend on the symbol: a row for each report."""
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return np.where(bits > 0, np.array([q, p]), np.array([1 - q, 1 - p]))
    return np.where(bits > 0, p / mechanism.weight, (1 - p) / (mechanism.size - mechanism.weight))


def share_variance(p: float, q: float, share: float) -> float:
    """n·Var of an estimated share from bits with P(1 | true) = p, P(1 | not true) = q."""
    reported = q + share * (p - q)
    return reported * (1 - reported) / (p - q) ** 2


def bit_variance(mechanism: Categorical, share: float) -> float:
    """n·Var of the share of one symbol."""
    return share_variance(float(mechanism.p), float(mechanism.q), share)


def drawn_variance(mechanism: Drawn, share: float) -> float:
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


def score_variance(mechanism: Subset, scores: Sequence[float], shares: Sequence[float]) -> float:
    """n·Var of the estimate of Σ a_i f_i that the coins alone cause (sample target), at these true shares.

    It is the mean over the truth j of Var(S | j)/(p − q)², S = Σ of the scores of the reported symbols. A constant
    added to all scores changes nothing.
    """
    a, f = np.asarray(scores, dtype=float), np.asarray(shares, dtype=float)
    first, second = subset_moments(mechanism, a - a.mean())
    return float(f @ (second - first**2)) / (float(mechanism.p) - float(mechanism.q)) ** 2


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


def geometric_scores(mechanism: Geometric) -> Floats:
    """What each noisy level counts for, so that the mean score is the mean level: the ends stand for all beyond them.

    Beyond an end lies r/(1−r) more on average, whatever the truth was: clamping forgets nothing about it.
    """
    ratio = mechanism.ratio / WHOLE
    scores = np.arange(mechanism.size, dtype=float)
    scores[0] -= ratio / (1 - ratio)
    scores[-1] += ratio / (1 - ratio)
    return scores


def geometric_chances(mechanism: Geometric) -> Floats:
    """P(noisy level | level): a row for each level, from the published integers."""
    top = mechanism.size - 1
    tails = [1.0, *(tail / WHOLE for tail in mechanism.tails), 0.0]  # P(noise ≥ k), for k ≥ 1
    chances = np.zeros((mechanism.size, mechanism.size))
    for level in range(mechanism.size):
        for sent in range(mechanism.size):
            far = abs(sent - level)
            chances[level, sent] = tails[far] - tails[far + 1] if far else 1 - 2 * tails[1]
        chances[level, 0] = tails[level] if level else 1 - tails[1]
        chances[level, top] = tails[top - level] if level < top else 1 - tails[1]
    return chances


def geometric_variance(mechanism: Geometric, *, rounded: bool) -> float:
    """n·Var of a mean on [−1, 1] from clamped geometric noise, at the worst true value (sample target).

    Rounding at random to a grid coarser than the numbers adds f(1 − f) squared steps between two levels.
    """
    scores, chances = geometric_scores(mechanism), geometric_chances(mechanism)
    spread = chances @ scores**2 - (chances @ scores) ** 2
    worst = float(spread.max())
    if rounded:
        for below, above in pairwise(spread):
            part = min(max((1 + float(above - below)) / 2, 0.0), 1.0)
            worst = max(worst, float(below + (above - below) * part) + part * (1 - part))
    return worst * (2 / (mechanism.size - 1)) ** 2


@dataclass(frozen=True)
class Moments:
    """All that the variance of an estimated Σ a f depends on, beside the mechanism (docs/methods.md §15).

    `true` is the variance of the scores a over people's symbols, `blind` that over all symbols drawn evenly, and
    `apart` the difference of the two means. Of an event that c of k symbols make up, for a share π of the people:
    π(1 − π), c/k(1 − c/k) and π − c/k.
    """

    true: float
    blind: float
    apart: float


def moments(scores: Floats, shares: Floats, cells: Floats) -> Moments:
    """Of scores of a question's symbols, their shares among people, and how many of the field's symbols hold each."""
    evenly = cells / cells.sum()
    true, blind = float(shares @ scores), float(evenly @ scores)
    return Moments(
        float(shares @ (scores - true) ** 2),
        float(evenly @ (scores - blind) ** 2),
        true - blind,
    )


def event_moments(share: float, part: float) -> Moments:
    """Of a share of the people, for an event that holds this part of all symbols."""
    return Moments(share * (1 - share), part * (1 - part), share - part)


def blindness(size: int, odds: float) -> float:
    """τ of k-ary randomized response, whose report is the truth with probability 1/(1 + τ), else any symbol, blindly.

    `odds` is e^ε; τ = k/(e^ε − 1), and p − q = 1/(1 + τ).
    """
    return size / (odds - 1)


def blind_variance(figure: Moments, tau: float) -> float:
    """n·Var from k-ary randomized response: (1 + τ)(v_f + τ v_u) + τ d²."""
    return (1 + tau) * (figure.true + tau * figure.blind) + tau * figure.apart**2


def set_variance(figure: Moments, size: int, weight: int, p: float) -> float:
    """n·Var from subset selection, p the probability that the set holds the truth: X(v_f + d²) + Y v_u − d²."""
    others = size - 1
    q = (weight - p) / others
    if weight == 1:
        return blind_variance(figure, 1 / (p - q) - 1)
    kept = (weight - 1) * (others - weight + 1) / (others * (others - 1))
    lost = weight * (others - weight) / (others * (others - 1))
    more = 1 + 1 / others
    x = p * ((1 - (weight - 1) / others) ** 2 - kept * more) + (1 - p) * ((weight / others) ** 2 - lost * more)
    y = (p * kept + (1 - p) * lost) * size
    return (x * (figure.true + figure.apart**2) + y * figure.blind) / (p - q) ** 2 - figure.apart**2


def figure_variance(figure: Moments, mechanism: Subset) -> float:
    """n·Var of an estimated Σ a f, from the published integers."""
    return set_variance(figure, mechanism.size, mechanism.weight, float(mechanism.p))


def noisy_mean_variance(mechanism: Geometric, shares: Floats) -> float:
    """n·Var of a mean level from clamped geometric noise, for people whose levels have these shares."""
    scores, chances = geometric_scores(mechanism), geometric_chances(mechanism)
    return float(shares @ (chances @ scores**2) - (shares @ (chances @ scores)) ** 2)
