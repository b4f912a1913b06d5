"""Sets of symbols: their covariance and n·Var, against exact enumeration and published figures."""

import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from candor_client.definition import Survey
from candor_client.mechanisms import Subset
from survey_app.authoring import mechanism_choice
from survey_app.channels.channel import AssumedShares
from survey_app.channels.design_variance import share_variance
from survey_app.channels.subset import SubsetChannel
from tests import reference
from tests.definitions import choice as choice_question
from tests.definitions import define, field, subset
from tests.exact import bit_moments

SHARE = Fraction(3, 10)


def score_variance(made: Subset, scores: Sequence[float], shares: Sequence[float]) -> float:
    """n·Var of the estimate of Σ a f that the coins alone cause: the mean over the truth of Var(S)/(p − q)²."""
    a, f = np.array(scores), np.array(shares)
    first, second = SubsetChannel(made).score_moments(a - a.mean())
    return float(f @ (second - first**2)) / float(made.p - made.q) ** 2


@pytest.mark.parametrize(("size", "weight", "union"), [(4, 1, 2), (5, 2, 2), (6, 3, 3), (4, 2, 1), (6, 1, 5)])
def test_union_variance_is_that_of_the_enumerated_bits(size: int, weight: int, union: int) -> None:
    made = Subset(size=size, weight=weight, keep=3 * 2**62 + 2**60)
    truth = {0: SHARE, size - 1: 1 - SHARE}
    _, spread = bit_moments(made, truth, lambda bits: Fraction(bits[:union].count("1")))
    assert SubsetChannel(made).union_variance(union, 0.3) == pytest.approx(
        float(spread / (made.p - made.q) ** 2), rel=1e-12
    )


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

    found = SubsetChannel(made).symbol_bits.covariance(shares, np.array(sizes, dtype=float))
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
        assert SubsetChannel(made).union_variance(count, share) == pytest.approx(stated, rel=1e-9)
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


@pytest.mark.parametrize(("size", "weight"), [(2, 1), (3, 1), (5, 1), (5, 2), (6, 3), (7, 6), (64, 1), (17, 5)])
def test_three_moments_are_enough_for_the_variance_of_any_scores(size: int, weight: int) -> None:
    """Against the mean over the truth of the variance of what is sent, plus the variance of what is meant."""
    rng = np.random.default_rng()
    scores, shares = rng.normal(size=size), rng.dirichlet(np.ones(size))
    made = mechanism_choice.make_subset(size, weight, Decimal("1.3"))
    people = float(shares @ scores**2 - (shares @ scores) ** 2)
    expected = score_variance(made, scores.tolist(), shares.tolist()) + people
    assert SubsetChannel(made).variance(AssumedShares(scores, shares, np.ones(size))) == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize(("size", "weight", "union"), [(4, 1, 2), (5, 2, 2), (6, 3, 3), (4, 2, 1), (2, 1, 1)])
def test_score_variance_of_a_set_is_its_union_variance(size: int, weight: int, union: int) -> None:
    made = mechanism_choice.make_subset(size, weight, Decimal(1))
    scores = [1.0] * union + [0.0] * (size - union)
    shares = [0.3 / union] * union + [0.7 / (size - union)] * (size - union)
    assert score_variance(made, scores, shares) + 0.21 == pytest.approx(
        SubsetChannel(made).union_variance(union, 0.3), rel=1e-12
    )


@pytest.mark.parametrize("form", [subset(5, 1), subset(5, 2), subset(5, 4, 15 * 2**60)])
def test_score_variance_is_that_of_the_enumerated_bits(form: dict[str, Any]) -> None:
    definition = define([choice_question(options=5)], [field(form, "help")])
    scores, shares = (
        [-2, 0, 1, 5, 5],
        [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(1, 10), Fraction(3, 10)],
    )
    mechanism = (
        Survey.from_json(json.dumps(definition, sort_keys=True, separators=(",", ":")).encode()).fields[0].mechanism
    )
    assert isinstance(mechanism, Subset)
    variance = Fraction(0)
    for symbol, share in enumerate(shares):
        bits = reference.distribution(definition, {"help": f"option {symbol}"})
        sums = [
            (chance, sum(s for s, bit in zip(scores, row, strict=False) if bit == "1")) for row, chance in bits.items()
        ]
        mean = sum((chance * s for chance, s in sums), Fraction(0))
        variance += share * (sum((chance * s**2 for chance, s in sums), Fraction(0)) - mean**2)
    expected = float(variance / (mechanism.p - mechanism.q) ** 2)
    assert score_variance(mechanism, [float(s) for s in scores], [float(f) for f in shares]) == pytest.approx(expected)
