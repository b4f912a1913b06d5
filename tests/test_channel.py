"""What a mechanism does to shares, against exact enumeration and published figures."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from client.mechanisms import Drawn, Geometric, Mechanism, Subset
from client.question import Question
from client.types import TypeName
from survey_app.authoring import choose
from survey_app.channel import (
    bit_variance,
    blind_variance,
    blindness,
    covariance,
    drawn_variance,
    event_moments,
    figure_variance,
    geometric_chances,
    geometric_scores,
    geometric_variance,
    level_variance,
    moments,
    score_variance,
    share_variance,
    union_variance,
)
from tests.exact import mechanism_bits

SHARE = Fraction(3, 10)


def bit_moments(
    mechanism: Mechanism, truth: dict[int, Fraction], score: Callable[[str], Fraction]
) -> tuple[Fraction, Fraction]:
    """Mean and variance of a score of the stored bits of one report, if these are the shares of the symbols."""
    mean = second = Fraction(0)
    for symbol, share in truth.items():
        for bits, chance in mechanism_bits(mechanism, symbol).items():
            mean += share * chance * score(bits)
            second += share * chance * score(bits) ** 2
    return mean, second - mean**2


@pytest.mark.parametrize(("size", "weight", "union"), [(4, 1, 2), (5, 2, 2), (6, 3, 3), (4, 2, 1), (6, 1, 5)])
def test_union_variance_is_that_of_the_enumerated_bits(size: int, weight: int, union: int) -> None:
    made = Subset(size=size, weight=weight, keep=3 * 2**62 + 2**60)
    truth = {0: SHARE, size - 1: 1 - SHARE}
    _, spread = bit_moments(made, truth, lambda bits: Fraction(bits[:union].count("1")))
    assert union_variance(made, union, 0.3) == pytest.approx(float(spread / (made.p - made.q) ** 2), rel=1e-12)


@pytest.mark.parametrize("weight", [1, 2, 3])
def test_the_covariance_of_sets_of_different_sizes_is_that_of_the_enumerated_bits(weight: int) -> None:
    """Cells of two questions of which one hides the other have 1, 3 and 2 symbols, and one that cannot occur none."""
    made, sizes, starts = Subset(size=6, weight=weight, keep=3 * 2**62 + 2**60), [1, 3, 0, 2], [0, 1, 4, 4]
    truth = {symbol: Fraction(symbol + 1, 21) for symbol in range(6)}
    shares = np.array([1, 2 + 3 + 4, 0, 5 + 6]) / 21

    def held(bits: str, place: int) -> Fraction:
        return Fraction(bits[starts[place] : starts[place] + sizes[place]].count("1"))

    def spread_of(i: int, j: int, sign: int) -> Fraction:
        return bit_moments(made, truth, lambda bits: held(bits, i) + sign * held(bits, j))[1]

    found = covariance(made, shares, np.array(sizes, dtype=float))
    for i, j in np.ndindex(4, 4):
        assert found[i, j] == pytest.approx(float(spread_of(i, j, 1) - spread_of(i, j, -1)) / 4, abs=1e-12)


def k_ary(cells: int, e: int) -> Subset:
    """keep = e/(e + K − 1), up to 2^-64."""
    return Subset(size=cells, weight=1, keep=2**64 * e // (e + cells - 1))


BLOCKS = [(4, 3), (6, 7), (8, 2), (30, 20), (64, 54)]  # K and e^ε


@pytest.mark.parametrize(("cells", "e"), BLOCKS)
def test_an_event_of_some_cells_has_the_published_variance(cells: int, e: int) -> None:
    """(π + gτ)(1 − π + (1−g)τ), g = c/K, τ = K/(e−1); and P = p + (c−1)q, Q = cq: §15."""
    made, tau, share = k_ary(cells, e), cells / (e - 1), float(SHARE)
    for count in range(1, cells):
        g = count / cells
        stated = (share + g * tau) * (1 - share + (1 - g) * tau)
        big, small = made.p + (count - 1) * made.q, count * made.q
        assert union_variance(made, count, share) == pytest.approx(stated, rel=1e-9)
        assert share_variance(float(big), float(small), share) == pytest.approx(stated, rel=1e-9)
    assert float(made.p - made.q) == pytest.approx(1 / (1 + tau), rel=1e-12)


def uneven(size: int) -> tuple[list[float], list[float]]:
    """Scores and shares that are neither equal nor symmetric."""
    shares = [(3 + i * i) % 7 + 1 for i in range(size)]
    return [float((5 * i) % 11 - i / 3) for i in range(size)], [share / sum(shares) for share in shares]


def parts(scores: Sequence[float], shares: Sequence[float]) -> tuple[float, float, float]:
    """Variance under the truth and under uniform cells, and the difference of the means."""
    a, f = np.array(scores), np.array(shares)
    return float(f @ a**2 - (f @ a) ** 2), float(a.var()), float(f @ a - a.mean())


@pytest.mark.parametrize(("cells", "e"), BLOCKS)
def test_scores_on_the_cells_have_the_published_variance(cells: int, e: int) -> None:
    """(1+τ)(v_f + τ v_u) + τ d², who answers included: §15."""
    (scores, shares), tau = uneven(cells), cells / (e - 1)
    truth, uniform, apart = parts(scores, shares)
    stated = (1 + tau) * (truth + tau * uniform) + tau * apart**2
    assert score_variance(k_ary(cells, e), scores, shares) + truth == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize(("size", "weight", "e"), [(5, 2, 2), (6, 3, 2), (10, 3, 3), (7, 4, 5), (30, 8, 3)])
def test_scores_on_sets_of_several_symbols_have_the_published_variance(size: int, weight: int, e: int) -> None:
    """X(v_f + d²) + Y v_u − d²: §15's row for w > 1."""
    made = Subset(size=size, weight=weight, keep=2**64 * weight * e // (weight * e + size - weight))
    scores, shares = uneven(size)
    truth, uniform, apart = parts(scores, shares)
    p, q, others = float(made.p), float(made.q), size - 1
    h1 = (weight - 1) * (others - weight + 1) / (others * (others - 1))
    h0 = weight * (others - weight) / (others * (others - 1))
    held = p * ((1 - (weight - 1) / others) ** 2 - h1 * (1 + 1 / others))
    a = held + (1 - p) * ((weight / others) ** 2 - h0 * (1 + 1 / others))
    b = p * h1 + (1 - p) * h0
    x, y = a / (p - q) ** 2, b * size / (p - q) ** 2
    stated = x * (truth + apart**2) + y * uniform - apart**2
    assert score_variance(made, scores, shares) + truth == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize(("size", "weight"), [(4, 1), (5, 2), (6, 3)])
def test_scores_are_as_uncertain_as_the_enumerated_bits(size: int, weight: int) -> None:
    made = Subset(size=size, weight=weight, keep=3 * 2**62)
    scores, shares = uneven(size)
    exact = {symbol: Fraction(share).limit_denominator(1000) for symbol, share in enumerate(shares)}
    exact[0] += 1 - sum(exact.values())

    def named(bits: str) -> Fraction:
        return sum((Fraction(scores[i]) for i, bit in enumerate(bits) if bit == "1"), Fraction(0))

    _, spread = bit_moments(made, exact, named)
    truth, _, _ = parts(scores, [float(share) for share in exact.values()])
    found = score_variance(made, scores, [float(share) for share in exact.values()]) + truth
    assert found == pytest.approx(float(spread / (made.p - made.q) ** 2), rel=1e-9)


DRAWN = [(3, 1, 3), (3, 2, 5), (4, 3, 20), (5, 2, 2), (4, 4, 9)]  # m, r, e^ε


@pytest.mark.parametrize(("size", "draw", "e"), DRAWN)
def test_a_drawn_option_has_the_published_variance_and_that_of_the_enumerated_bits(
    size: int, draw: int, e: int
) -> None:
    """(m/r)(π + τ/2)(1 − π + τ/2), τ = 2^r/(e−1), of the mean over those who were asked about it: §15."""
    made = Drawn(size=size, draw=draw, keep=2**64 * e // (e + 2**draw - 1))
    tau, share = 2**draw / (e - 1), float(SHARE)
    stated = size / draw * (share + tau / 2) * (1 - share + tau / 2)
    assert drawn_variance(made, share) == pytest.approx(stated, rel=1e-9)
    p, q, often = made.p, made.q, Fraction(draw, size)
    for rest in (0, 2**size - 2):  # whatever else is chosen
        truth = {rest | 1: SHARE, rest: 1 - SHARE}
        mean, spread = bit_moments(made, truth, lambda bits: (bits[1] == "1") * (1 - q) - (bits[0] == "1") * q)
        assert mean == often * SHARE * (p - q)
        among = spread / often + mean**2 / often - (mean / often) ** 2  # of one who was asked
        assert float(among / often / (p - q) ** 2) == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize(("size", "draw", "e"), [one for one in DRAWN if one[1] > 1])
def test_two_options_asked_together_have_the_published_variance(size: int, draw: int, e: int) -> None:
    """(π12 + τ/4)(1 − π12 + 3τ/4): an event of a quarter of the sets; §15. Two coins of p and q would be another."""
    made = Drawn(size=size, draw=draw, keep=2**64 * e // (e + 2**draw - 1))
    tau, share = 2**draw / (e - 1), float(SHARE)
    sets = Subset(size=2**draw, weight=1, keep=made.keep)
    stated = (share + tau / 4) * (1 - share + 3 * tau / 4)
    assert union_variance(sets, 2**draw // 4, share) == pytest.approx(stated, rel=1e-9)
    both: dict[int, Fraction] = {}
    for symbol in (0, 1, 2, 3):
        chances = mechanism_bits(made, symbol).items()
        asked = sum(chance for bits, chance in chances if "1" in bits[:2] and "1" in bits[2:4])
        both[symbol] = sum((chance for bits, chance in chances if bits[:4] == "0101"), Fraction(0)) / asked
    assert both[0] == both[1] == both[2] == 2**draw // 4 * sets.q
    assert both[3] == sets.p + (2**draw // 4 - 1) * sets.q
    assert both[3] != made.p**2


@pytest.mark.parametrize("ratio", [2**40, 2**62, 2**63, int(0.99 * 2**64)])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_geometric_scores_are_unbiased_and_their_chances_those_of_the_bits(size: int, ratio: int) -> None:
    if size == 7 and ratio == 2**40:
        ratio = 2**60  # the tails must fall
    made = Geometric(size=size, ratio=ratio)
    chances, scores = geometric_chances(made), geometric_scores(made)
    for level in range(size):
        exact = {bits.index("1"): chance for bits, chance in mechanism_bits(made, level).items()}
        assert sum(exact.values()) == 1
        assert chances[level] == pytest.approx([float(exact[sent]) for sent in range(size)], abs=1e-15)
        assert float(sum(Fraction(scores[sent]) * chance for sent, chance in exact.items())) == pytest.approx(
            level, abs=1e-9
        )


@pytest.mark.parametrize(("epsilon", "left"), [(1, 5.45), (2, 1.56), (3, 0.745)])
def test_clamped_noise_costs_less_than_the_unbounded(epsilon: int, left: float) -> None:
    """8/ε² if nothing is cut; §15 has what is left, on average over the levels."""
    made = Geometric(size=64, ratio=math.ceil(2**64 * math.exp(-epsilon / 63)))
    chances, scores = geometric_chances(made), geometric_scores(made)
    spread = (chances @ scores**2 - (chances @ scores) ** 2) * (2 / 63) ** 2
    assert float(spread.mean()) == pytest.approx(left, rel=4e-3)
    assert geometric_variance(made, rounded=False) == pytest.approx(float(spread.max()))
    assert spread.max() < 8 / epsilon**2


@pytest.mark.parametrize(
    ("epsilon", "levels", "worst"),
    [
        ("0.1", 2, 400.7),
        ("0.5", 2, 16.67),
        ("1", 2, 4.683),
        ("2", 3, 1.0),
        ("3", 4, 0.388),
        ("4", 5, 0.177),
        ("5", 7, 0.086),
    ],
)
def test_the_best_number_of_levels(epsilon: str, levels: int, worst: float) -> None:
    question = Question(id="x", type=TypeName.NUMBER, text="x", max=Decimal(1000), levels=2)
    chosen = choose.choose([question], Decimal(epsilon))
    assert chosen.levels == (levels,)
    assert 4 * chosen.variance == pytest.approx(worst, rel=3e-3)


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_level_variance_is_the_worst_over_a_fine_grid(levels: int) -> None:
    made = choose.subset(levels, 1, Decimal("1.7"))
    p, q = float(made.p), float(made.q)
    grid = [2 * j / (levels - 1) - 1 for j in range(levels)]
    worst = 0.0
    for i in range(4001):
        t = i / 2000 - 1
        j = min(int((t + 1) / 2 * (levels - 1)), levels - 2)
        up = (t - grid[j]) / (grid[j + 1] - grid[j])
        square = up * grid[j + 1] ** 2 + (1 - up) * grid[j] ** 2
        worst = max(worst, ((p - q) * square + q * sum(v * v for v in grid)) / (p - q) ** 2 - t * t)
    assert level_variance(p, q, levels) == pytest.approx(worst, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "epsilon", "drawn_figure", "joint_figure", "winner"),
    [
        (2, "0.5", 8.26, 12.5, "drawn"),
        (2, "1", 2.26, 2.73, "drawn"),
        (2, "2", 0.78, 0.62, "subset"),
        (3, "2", 1.17, 1.23, "drawn"),
        (3, "3", 0.80, 0.46, "subset"),
        (4, "3", 1.06, 0.81, "drawn"),
        (5, "1", 5.65, 28.5, "drawn"),
        (5, "3", 1.33, 1.71, "drawn"),
        (5, "4", 1.15, 0.60, "drawn"),
    ],
)
def test_one_drawn_option_and_joint_sets_have_the_published_variances(
    options: int, epsilon: str, drawn_figure: float, joint_figure: float, winner: str
) -> None:
    drawn = choose.drawn(options, 1, Decimal(epsilon))
    assert drawn_variance(drawn, 0.3) == pytest.approx(drawn_figure, abs=0.006)
    cells = choose.categories(2**options, Decimal(epsilon))
    assert union_variance(cells, 2 ** (options - 1), 0.3) == pytest.approx(joint_figure, rel=0.01)
    chosen = choose.choose([multiple(options)], Decimal(epsilon))
    assert chosen.mechanism.kind == winner
    assert chosen.variance <= min(drawn_figure, joint_figure) * 1.01


@pytest.mark.parametrize(
    ("epsilon", "size", "weight", "at_zero"),
    [("0.5", 5, 2, 9.75), ("0.5", 20, 8, 14.10), ("1", 3, 1, 1.259), ("1", 10, 3, 2.839), ("1", 100, 27, 3.590),
     ("3", 10, 1, 0.0771), ("3", 100, 5, 0.197), ("3", 1000, 47, 0.2181)],
)  # fmt: skip
def test_the_better_weight_and_its_published_variance(epsilon: str, size: int, weight: int, at_zero: float) -> None:
    chosen = choose.categories(size, Decimal(epsilon))
    assert chosen.weight == weight
    assert bit_variance(chosen, 0) == pytest.approx(at_zero, rel=3e-3)


def test_a_symmetric_response_has_the_published_figure() -> None:
    """γ = ¼, n = 100, share .2 has sd .09539."""
    assert math.sqrt(share_variance(0.75, 0.25, 0.2) / 100) == pytest.approx(0.09539, abs=5e-6)


def multiple(options: int) -> Question:
    return Question(id="x", type=TypeName.MULTIPLE, text="x", labels=tuple(f"o{i}" for i in range(options)))


@pytest.mark.parametrize(
    ("epsilon", "respondents"), [("1", 17_374), ("2", 4_771), ("3", 2_374), ("4", 1_466), ("6", 758)]
)
def test_ten_options_of_which_the_best_number_is_drawn(epsilon: str, respondents: int) -> None:
    """A share of 30% to ±5 points; one option a device would take the same at ε = 1, then 6,008, 4,074, 3,004, 2,003."""
    chosen = choose.choose([multiple(10)], Decimal(epsilon))
    assert isinstance(chosen.mechanism, Drawn)
    assert round((1.959964 / 0.05) ** 2 * chosen.variance) == respondents


@pytest.mark.parametrize(("size", "weight"), [(2, 1), (3, 1), (5, 1), (5, 2), (6, 3), (7, 6), (64, 1), (17, 5)])
def test_three_moments_are_enough_for_the_variance_of_any_scores(size: int, weight: int) -> None:
    """Against the mean over the truth of the variance of what is sent, plus the variance of what is meant."""
    rng = np.random.default_rng()
    scores, shares = rng.normal(size=size), rng.dirichlet(np.ones(size))
    made = choose.subset(size, weight, Decimal("1.3"))
    people = float(shares @ scores**2 - (shares @ scores) ** 2)
    expected = score_variance(made, scores.tolist(), shares.tolist()) + people
    assert figure_variance(moments(scores, shares, np.ones(size)), made) == pytest.approx(expected, rel=1e-9)


def test_a_share_is_a_score_of_zero_or_one() -> None:
    made = choose.subset(12, 1, Decimal(2))
    tau = blindness(12, math.exp(2))
    for cells, share in ((1, 0.3), (5, 0.2), (6, 0.9)):
        event = event_moments(share, cells / 12)
        assert blind_variance(event, tau) == pytest.approx(union_variance(made, cells, share), rel=1e-12)
        part = cells / 12
        assert blind_variance(event, tau) == pytest.approx((share + part * tau) * (1 - share + (1 - part) * tau))


def test_symbols_that_several_cells_hold_count_so_often_when_blindly_drawn() -> None:
    """yes/no and a follow-up of four options: six cells, of which one holds no, and five hold yes."""
    by_symbol = moments(np.array([0.0, 1.0]), np.array([0.8, 0.2]), np.array([1.0, 5.0]))
    by_cell = moments(np.array([0.0] + [1.0] * 5), np.array([0.8] + [0.04] * 5), np.ones(6))
    for one in (by_cell, event_moments(0.2, 5 / 6)):
        assert (by_symbol.true, by_symbol.blind, by_symbol.apart) == pytest.approx((one.true, one.blind, one.apart))
