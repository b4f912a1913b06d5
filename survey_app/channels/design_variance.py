"""Closed forms of n times the variance of an estimate, by which the search compares designs (docs/methods.md §15).

p and q come from the mechanism's own integers. The target is the population of which the respondents are a sample: with
λ = q + f(p − q), n·Var = λ(1 − λ)/(p − q)². Plans do not affect privacy, so floating point is good enough.
"""

from dataclasses import dataclass
from itertools import pairwise

from survey_app.figures import Floats


def share_variance(p: float, q: float, share: float) -> float:
    """Return n·Var of an estimated share from bits with P(1 | true) = p and P(1 | not true) = q."""
    reported = q + share * (p - q)
    return reported * (1 - reported) / (p - q) ** 2


def level_variance(p: float, q: float, levels: int) -> float:
    """Return n·Var of a mean on [−1, 1] from k-ary randomized response on a grid, at the worst true value.

    The target is the sample: Var(t) = [(p−q) E v² + q Σv²]/(p−q)² − t². Between two levels a and b, stochastic rounding
    gives E v² = t(a+b) − ab, so Var is concave in t there, with its maximum at (a+b)/(2(p−q)).
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
    """The moments on which the variance of an estimated Σ a f depends, besides the mechanism (docs/methods.md §15).

    `people_variance` is the variance of the scores a over people's symbols, `uniform_variance` that over uniformly
    drawn symbols, and `mean_gap` the difference of the two means. For an event of c of k symbols and a share π of
    people they are π(1 − π), c/k(1 − c/k) and π − c/k.
    """

    people_variance: float
    uniform_variance: float
    mean_gap: float


def compute_moments(scores: Floats, shares: Floats, cells: Floats) -> Moments:
    """Return the moments for scores of a question's symbols and their shares among people.

    `cells` are the numbers of the field's symbols that contain each of them.
    """
    uniform = cells / cells.sum()
    people_mean, uniform_mean = float(shares @ scores), float(uniform @ scores)
    return Moments(
        float(shares @ (scores - people_mean) ** 2),
        float(uniform @ (scores - uniform_mean) ** 2),
        people_mean - uniform_mean,
    )


def event_moments(share: float, part: float) -> Moments:
    """Return the moments of an event that holds for this share of people and for this fraction of all symbols."""
    return Moments(share * (1 - share), part * (1 - part), share - part)


def uniform_draw_odds(size: int, odds: float) -> float:
    """Return τ of k-ary randomized response: the report is the truth with probability 1/(1 + τ), else uniform.

    `odds` is e^ε; τ = k/(e^ε − 1), and p − q = 1/(1 + τ).
    """
    return size / (odds - 1)


def k_ary_variance(figure: Moments, tau: float) -> float:
    """Return n·Var for k-ary randomized response: (1 + τ)(v_f + τ v_u) + τ d²."""
    return (1 + tau) * (figure.people_variance + tau * figure.uniform_variance) + tau * figure.mean_gap**2


def subset_variance(figure: Moments, size: int, weight: int, p: float) -> float:
    """Return n·Var for subset selection: X(v_f + d²) + Y v_u − d².

    `p` is the probability that the set contains the truth.
    """
    other_count = size - 1
    q = (weight - p) / other_count
    if weight == 1:
        return k_ary_variance(figure, 1 / (p - q) - 1)
    included = (weight - 1) * (other_count - weight + 1) / (other_count * (other_count - 1))
    excluded = weight * (other_count - weight) / (other_count * (other_count - 1))
    scale = 1 + 1 / other_count
    x = p * ((1 - (weight - 1) / other_count) ** 2 - included * scale) + (1 - p) * (
        (weight / other_count) ** 2 - excluded * scale
    )
    y = (p * included + (1 - p) * excluded) * size
    return (x * (figure.people_variance + figure.mean_gap**2) + y * figure.uniform_variance) / (
        p - q
    ) ** 2 - figure.mean_gap**2
