"""Clamped noise: scores and chances, against exact enumeration and published figures."""

import math
from fractions import Fraction

import pytest

from candor_client.mechanisms import Geometric
from survey_app.channels.geometric import GeometricChannel
from tests.exact import mechanism_bits


@pytest.mark.parametrize("ratio", [2**40, 2**62, 2**63, int(0.99 * 2**64)])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_geometric_scores_are_unbiased_and_their_chances_those_of_the_bits(size: int, ratio: int) -> None:
    if size == 7 and ratio == 2**40:
        ratio = 2**60  # the tails must fall
    made = Geometric(size=size, ratio=ratio)
    chances, scores = GeometricChannel(made).chances, GeometricChannel(made).scores
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
    chances, scores = GeometricChannel(made).chances, GeometricChannel(made).scores
    spread = (chances @ scores**2 - (chances @ scores) ** 2) * (2 / 63) ** 2
    assert float(spread.mean()) == pytest.approx(left, rel=4e-3)
    assert GeometricChannel(made).worst_variance(rounded=False) == pytest.approx(float(spread.max()))
    assert spread.max() < 8 / epsilon**2
