"""Bits of symbols, and pairs of answers, beside every report that a mechanism can send, each as often as it comes."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from client.mechanisms import Drawn, Subset
from survey_app.channels import channel_of
from tests.exact import mechanism_bits


def variance(mechanism: Subset, truth: dict[int, Fraction], score: Callable[[str], int]) -> Fraction:
    """Return that of a score of the bits, if these are the shares of the symbols."""
    mean = second = Fraction(0)
    for symbol, share in truth.items():
        for bits, chance in mechanism_bits(mechanism, symbol).items():
            mean += share * chance * score(bits)
            second += share * chance * score(bits) ** 2
    return second - mean**2


@pytest.mark.parametrize("weight", [1, 2, 3])
def test_the_covariance_of_sets_of_different_sizes_is_that_of_the_enumerated_bits(weight: int) -> None:
    """Cells of two questions of which one hides the other have 1, 3 and 2 symbols, and one that cannot occur none."""
    made, sizes, starts = Subset(size=6, weight=weight, keep=3 * 2**62 + 2**60), [1, 3, 0, 2], [0, 1, 4, 4]
    truth = {symbol: Fraction(symbol + 1, 21) for symbol in range(6)}
    shares = np.array([1, 2 + 3 + 4, 0, 5 + 6]) / 21

    def held(bits: str, place: int) -> int:
        return bits[starts[place] : starts[place] + sizes[place]].count("1")

    def spread_of(i: int, j: int, sign: int) -> Fraction:
        return variance(made, truth, lambda bits: held(bits, i) + sign * held(bits, j))

    bits = channel_of(made).symbol_bits
    assert bits is not None and bits.is_single == (weight == 1)
    found = bits.covariance(shares, np.array(sizes, dtype=float))
    for i, j in np.ndindex(4, 4):
        assert found[i, j] == pytest.approx(float(spread_of(i, j, 1) - spread_of(i, j, -1)) / 4, abs=1e-12)


@pytest.mark.parametrize(("size", "draw"), [(3, 2), (4, 3), (4, 4)])
def test_two_options_that_are_asked_together_are_a_mechanism_on_four_cells(size: int, draw: int) -> None:
    mechanism = Drawn(size=size, draw=draw, keep=7 * 2**61)
    pair = channel_of(mechanism).answer_pair(2, 0)
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
    assert channel_of(Drawn(size=3, draw=1, keep=7 * 2**61)).answer_pair(0, 1) is None
