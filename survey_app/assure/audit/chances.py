"""What the published integers say of the bits of a field, for a given answer: of each, of two, and of all together.

A number between two levels is rounded by a coin, so an answer is a mixture of symbols; whatever holds for each of them
holds on average.
"""

import math
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from client.mechanisms import Drawn, Flip, Geometric, Mechanism, Subset
from client.sampling import WHOLE
from survey_app.assure.audit.inputs import Mixture
from survey_app.assure.audit.reading import Matrix, Numbers
from survey_app.channel import Floats, geometric_chances, together

MOST_OUTCOMES = 1_024  # rows of bits that a field may send, if each is to be counted by itself

Hits = npt.NDArray[np.bool_]


def mixed(mixture: Mixture, of_symbol: Callable[[int], Floats]) -> Floats:
    """The average over the symbols that an answer may become."""
    found: Floats = np.sum([chance * of_symbol(symbol) for symbol, chance in mixture], axis=0)
    return found


def bit_chances(mechanism: Mechanism, symbol: int) -> Floats:
    """P(bit = 1) for the stored bits of a field that was asked, given its symbol."""
    if isinstance(mechanism, Geometric):
        found: Floats = geometric_chances(mechanism)[symbol]
        return found
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return np.array([p if symbol else q])
    if isinstance(mechanism, Drawn):
        drawn = mechanism.draw / mechanism.size
        yes = [p if symbol >> option & 1 else q for option in range(mechanism.size)]
        return np.array([drawn * chance for one in yes for chance in (1 - one, one)])
    return np.array([p if place == symbol else q for place in range(mechanism.size)])


def outcomes(mechanism: Mechanism) -> Matrix | None:
    """Every row of bits that a field may send; None if there are too many, or if single bits tell as much."""
    if isinstance(mechanism, Subset) and mechanism.weight > 1:
        if math.comb(mechanism.size, mechanism.weight) > MOST_OUTCOMES:
            return None
        return _rows(mechanism.width, list(combinations(range(mechanism.size), mechanism.weight)))
    if isinstance(mechanism, Drawn) and mechanism.draw > 1:
        if math.comb(mechanism.size, mechanism.draw) * mechanism.sets > MOST_OUTCOMES:
            return None
        drawn = combinations(range(mechanism.size), mechanism.draw)
        said = list(product((0, 1), repeat=mechanism.draw))
        each = [[2 * option + bit for option, bit in zip(one, bits, strict=True)] for one in drawn for bits in said]
        return _rows(mechanism.width, each)
    return None


def _rows(width: int, ones: list[tuple[int, ...]] | list[list[int]]) -> Matrix:
    found = np.zeros((len(ones), width), dtype=np.uint8)
    np.put_along_axis(found, np.array(ones), 1, axis=1)
    return found


def outcome_chances(mechanism: Mechanism, rows: Matrix, symbol: int) -> Floats:
    """How likely each of `outcomes` is."""
    if isinstance(mechanism, Drawn):
        kept = mechanism.keep / WHOLE
        other = (1 - kept) / (mechanism.sets - 1)
        found: Floats = np.where(fits(mechanism, rows, symbol), kept, other)
        return found / math.comb(mechanism.size, mechanism.draw)
    if not isinstance(mechanism, Subset):
        raise TypeError(f"{mechanism.kind} has no outcomes to count")
    k, w, p = mechanism.size, mechanism.weight, float(mechanism.p)
    held: Floats = np.where(rows[:, symbol] == 1, p / math.comb(k - 1, w - 1), (1 - p) / math.comb(k - 1, w))
    return held


def fits(mechanism: Drawn, rows: Matrix, symbol: int) -> Hits:
    """Whether everything that was said of drawn options is true of this set."""
    no, yes = rows[:, 0::2] == 1, rows[:, 1::2] == 1
    mask = np.array([symbol >> option & 1 for option in range(mechanism.size)], dtype=bool)
    found: Hits = ~((no & mask) | (yes & ~mask)).any(axis=1)
    return found


def pair_chances(mechanism: Mechanism, symbol: int, first: Numbers, second: Numbers) -> Floats:
    """P(both of two different bits are 1), for pairs of them."""
    if isinstance(mechanism, Drawn):
        m, r, kept = mechanism.size, mechanism.draw, mechanism.keep / WHOLE
        option, other = first // 2, second // 2
        true = ((symbol >> option & 1) == first % 2) & ((symbol >> other & 1) == second % 2)
        said = kept * true + (1 - kept) * (mechanism.sets / 4 - true) / (mechanism.sets - 1)
        drawn: Floats = np.where(option == other, 0.0, r * (r - 1) / (m * max(m - 1, 1)) * said)
        return drawn
    if isinstance(mechanism, Subset):
        held, neither = together(mechanism)
        found: Floats = np.where((first == symbol) | (second == symbol), held, neither)
        return found
    return np.zeros(len(first))  # one bit at most


def named(mechanism: Mechanism, rows: Matrix, mixture: Mixture) -> tuple[Hits, float]:
    """Which reports say what is true, or likeliest, and how many should."""
    symbol, _ = max(mixture, key=lambda one: one[1])
    if isinstance(mechanism, Drawn):
        return fits(mechanism, rows, symbol), mechanism.keep / WHOLE
    chances = mixed(mixture, lambda one: bit_chances(mechanism, one))
    if isinstance(mechanism, Flip):
        return rows[:, 0] == symbol, float(chances[0]) if symbol else 1 - float(chances[0])
    return rows[:, symbol] == 1, float(chances[symbol])
