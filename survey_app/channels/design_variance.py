"""The closed form of n times the variance of an estimate, by which the search compares designs (docs/methods.md §15).

p and q come from the mechanism's own integers. Population target: the respondents are a sample, so with
λ = q + f(p − q), n·Var = λ(1 − λ)/(p − q)². These are plans, not privacy: floating point is welcome here.
"""

from dataclasses import dataclass
from itertools import pairwise

from survey_app.figures import Floats


def share_variance(p: float, q: float, share: float) -> float:
    """n·Var of an estimated share from bits with P(1 | true) = p, P(1 | not true) = q."""
    reported = q + share * (p - q)
    return reported * (1 - reported) / (p - q) ** 2


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
