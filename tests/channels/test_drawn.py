"""Drawn options: n·Var, against exact enumeration and published figures."""

from fractions import Fraction
from itertools import product

import pytest

from candor_client.mechanisms import Drawn, Subset
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.channels.drawn import DrawnChannel
from survey_app.channels.subset import SubsetChannel
from tests.exact import bit_moments, mechanism_bits

SHARE = Fraction(3, 10)
DRAWN = [(3, 1, 3), (3, 2, 5), (4, 3, 20), (5, 2, 2), (4, 4, 9)]  # m, r, e^ε


@pytest.mark.parametrize(("size", "draw", "e"), DRAWN)
def test_a_drawn_option_has_the_published_variance_and_that_of_the_enumerated_bits(
    size: int, draw: int, e: int
) -> None:
    """(m/r)(π + τ/2)(1 − π + τ/2), τ = 2^r/(e−1), of the mean over those who were asked about it: §15."""
    made = Drawn(size=size, draw=draw, keep=2**64 * e // (e + 2**draw - 1))
    channel, tau, share = DrawnChannel(made), 2**draw / (e - 1), float(SHARE)
    stated = size / draw * (share + tau / 2) * (1 - share + tau / 2)
    assert channel.variance(AssumedShares.event(share, 0.5)) / channel.informative_share == pytest.approx(
        stated, rel=1e-9
    )
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
    assert SubsetChannel(sets).union_variance(2**draw // 4, share) == pytest.approx(stated, rel=1e-9)
    both: dict[int, Fraction] = {}
    for symbol in (0, 1, 2, 3):
        chances = mechanism_bits(made, symbol).items()
        asked = sum(chance for bits, chance in chances if "1" in bits[:2] and "1" in bits[2:4])
        both[symbol] = sum((chance for bits, chance in chances if bits[:4] == "0101"), Fraction(0)) / asked
    assert both[0] == both[1] == both[2] == 2**draw // 4 * sets.q
    assert both[3] == sets.p + (2**draw // 4 - 1) * sets.q
    assert both[3] != made.p**2


@pytest.mark.parametrize(("size", "draw"), [(3, 2), (4, 3), (4, 4)])
def test_two_options_that_are_asked_together_are_a_mechanism_on_four_cells(size: int, draw: int) -> None:
    mechanism = Drawn(size=size, draw=draw, keep=7 * 2**61)
    pair = DrawnChannel(mechanism).answer_pair(2, 0)
    assert pair is not None
    for mask in range(2**size):
        chances = [Fraction(0)] * 4
        for bits, chance in mechanism_bits(mechanism, mask).items():
            for cell, places in enumerate(pair.places):
                chances[cell] += chance * all(bits[place] == "1" for place in places)
        both = [one / sum(chances) for one in chances]
        cell = list(product((0, 1), repeat=2)).index((mask >> 2 & 1, mask & 1))
        expected = channel_of(pair.mechanism).bit_chances(cell)
        assert [float(one) for one in both] == pytest.approx(expected.tolist(), abs=1e-15)


def test_a_device_that_is_asked_about_one_option_tells_of_no_pair() -> None:
    assert DrawnChannel(Drawn(size=3, draw=1, keep=7 * 2**61)).answer_pair(0, 1) is None
