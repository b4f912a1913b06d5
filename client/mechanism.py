"""The mechanisms: how a symbol becomes noisy bits, and exactly how much that gives away.

The loss ε of a mechanism is `times · ln(odds)`, with `odds` an exact fraction of the published integers. A mechanism
that exists is valid: the constructors refuse everything else.

The bits of one field are an integer of `width` bits, the first stored bit most significant; `size` is the number
of symbols. `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not).
"""

import math
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from client import canonical
from client.errors import DefinitionError
from client.sampling import WHOLE, RandomBytes, coin, pick

EXACT = Context(prec=50)
LARGEST_SIZE = 2**20  # more symbols than any report can carry
LONGEST_DRAW = 10_000  # mean coins of one geometric noise


class Lossy(ABC):
    """What all mechanisms share: an exact privacy loss."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of one output under two inputs, for one of `times` draws."""

    @property
    def times(self) -> int:
        """How many such draws there are at the most."""
        return 1

    @cached_property
    def epsilon(self) -> Decimal:
        """The loss, to 50 digits."""
        with localcontext(EXACT):
            return self.times * loss(self.odds)


def loss(odds: Fraction) -> Decimal:
    """ln(odds), to 50 digits."""
    with localcontext(EXACT):
        return (Decimal(odds.numerator) / odds.denominator).ln()


def coin_odds(p: Fraction, q: Fraction) -> Fraction:
    """What a coin's side tells at the most, if it is heads with p for one answer and with q < p for another."""
    return max(p / q, (1 - q) / (1 - p))


def round_up(epsilon: Decimal, digits: int = 12) -> Decimal:
    """ε as it is claimed or displayed: never less than the truth."""
    return epsilon.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)


def _refuse(reason: str) -> DefinitionError:
    return DefinitionError("bad_mechanism", "", reason)


@dataclass(frozen=True, kw_only=True)
class Coins(Lossy):
    """P(1 | true) = one/2^64 and P(1 | not true) = zero/2^64."""

    one: int
    zero: int

    def __post_init__(self) -> None:
        if not 0 < self.zero < self.one < WHOLE:
            raise _refuse("needs 0 < zero < one < 2^64")

    @property
    def odds(self) -> Fraction:
        return coin_odds(self.p, self.q)

    @property
    def p(self) -> Fraction:
        return Fraction(self.one, WHOLE)

    @property
    def q(self) -> Fraction:
        return Fraction(self.zero, WHOLE)


@dataclass(frozen=True, kw_only=True)
class Flip(Coins):
    """One bit for yes or no: Warner's randomized response (1965) and all its kin."""

    kind: ClassVar[str] = "flip"
    size: ClassVar[int] = 2
    width: ClassVar[int] = 1

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, 2)
        return int(coin(self.one if symbol else self.zero, random_bytes))

    def possible(self, bits: int) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Subset(Lossy):
    """A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).

    Weight 1 is k-ary randomized response.
    """

    kind: ClassVar[str] = "subset"
    size: int
    weight: int
    keep: int

    def __post_init__(self) -> None:
        _check_size(self.size)
        if not 1 <= self.weight <= self.size - 1:
            raise _refuse("needs a weight from 1 to size - 1")
        if not (self.keep < WHOLE and self.weight * WHOLE < self.keep * self.size):
            raise _refuse("needs keep above chance, weight/size of 2^64, and below 2^64")

    @property
    def width(self) -> int:
        return self.size

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.size - self.weight), (WHOLE - self.keep) * self.weight)

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, WHOLE)

    @property
    def q(self) -> Fraction:
        return (self.weight - self.p) / (self.size - 1)

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, self.size)
        held = coin(self.keep, random_bytes)
        others = [*range(symbol), *range(symbol + 1, self.size)]
        last = self.size - 1
        bits = 1 << (last - symbol) if held else 0
        for other in pick(self.weight - held, others, random_bytes):
            bits |= 1 << (last - other)
        return bits

    def possible(self, bits: int) -> bool:
        return bits.bit_count() == self.weight


@dataclass(frozen=True, kw_only=True)
class Unary(Coins):
    """One coin for every symbol: `one` for the true symbol, `zero` for each other (Wang et al. 2017)."""

    kind: ClassVar[str] = "unary"
    size: int

    def __post_init__(self) -> None:
        _check_size(self.size)
        super().__post_init__()

    @property
    def width(self) -> int:
        return self.size

    @property
    def odds(self) -> Fraction:
        return Fraction(self.one * (WHOLE - self.zero), self.zero * (WHOLE - self.one))

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, self.size)
        words = struct.unpack(f">{self.size}Q", random_bytes(8 * self.size))
        bits = ["1" if word < self.zero else "0" for word in words]
        bits[symbol] = "1" if words[symbol] < self.one else "0"
        return int("".join(bits), 2)

    def possible(self, bits: int) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Sampled(Coins):
    """A set of options, of which `draw` random ones are asked, each with a flip; which ones is disclosed.

    The symbol is the set as a mask, option 0 least significant; `size` is the number of options. Stored are two
    bits for every option: (asked, reported 0) and (asked, reported 1). No amplification is claimed.
    """

    kind: ClassVar[str] = "sampled"
    size: int
    draw: int

    def __post_init__(self) -> None:
        _check_size(self.size)
        super().__post_init__()
        if not 1 <= self.draw <= self.size:
            raise _refuse("needs a draw from 1 to size")

    @property
    def width(self) -> int:
        return 2 * self.size

    @property
    def times(self) -> int:
        return self.draw

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, 1 << self.size)
        bits = 0
        for option in sorted(pick(self.draw, list(range(self.size)), random_bytes)):
            heads = coin(self.one if symbol >> option & 1 else self.zero, random_bytes)
            bits |= 1 << (self.width - 1 - 2 * option - heads)
        return bits

    def possible(self, bits: int) -> bool:
        reported_0 = int("10" * self.size, 2)
        return bits.bit_count() == self.draw and not (bits & reported_0) >> 1 & bits


@dataclass(frozen=True, kw_only=True)
class Geometric(Lossy):
    """A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to `width` bits in two's complement.

    P(noise = k) = (1−r)/(1+r) · r^|k| (Ghosh, Roughgarden and Sundararajan 2009). `size` is the number of levels;
    from the lowest to the highest the loss is (size − 1) · ln(1/r), and clamping adds nothing to it.
    """

    kind: ClassVar[str] = "geometric"
    size: int
    ratio: int
    width: int

    def __post_init__(self) -> None:
        if not 0 < self.ratio < WHOLE:
            raise _refuse("needs 0 < ratio < 2^64")
        if not 2 <= self.width <= 32:
            raise _refuse("needs a width from 2 to 32 bits")
        if LONGEST_DRAW * (WHOLE - self.ratio) < 2 * WHOLE:
            raise _refuse(f"would draw more than {LONGEST_DRAW} coins on average")
        if not 2 <= self.size <= 1 << (self.width - 1) or self.clamping * 2**40 >= 1:
            raise _refuse("would be clamped with a probability of 2^-40 or more")

    @property
    def clamping(self) -> Decimal:
        """The probability that the noise is cut off, at the highest level, where it is largest."""
        with localcontext(EXACT):
            r = Decimal(self.ratio) / WHOLE
            half = 1 << (self.width - 1)
            return (r ** (half - self.size + 1) + r ** (half + self.size)) / (1 + r)

    @property
    def times(self) -> int:
        return self.size - 1

    @property
    def odds(self) -> Fraction:
        return Fraction(WHOLE, self.ratio)

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, self.size)
        level = symbol + self._heads(random_bytes) - self._heads(random_bytes)
        half = 1 << (self.width - 1)
        return max(-half, min(half - 1, level)) & ((1 << self.width) - 1)

    def _heads(self, random_bytes: RandomBytes) -> int:
        count = 0
        while coin(self.ratio, random_bytes):
            count += 1
        return count

    def possible(self, bits: int) -> bool:
        return True

    def level(self, bits: int) -> int:
        """The noisy level that stored bits spell; it may be negative."""
        return bits - (1 << self.width) if bits >> (self.width - 1) else bits

    def median_shift(self) -> int:
        """The largest k with P(|noise| ≥ k) ≥ ½, where P(|noise| ≥ k) = 2 r^k/(1+r) for k ≥ 1; for display."""
        r = self.ratio / WHOLE
        return max(0, int(math.log((1 + r) / 4) / math.log(r)))


Mechanism = Flip | Subset | Unary | Sampled | Geometric

PARAMETERS: dict[type[Mechanism], tuple[str, ...]] = {
    Flip: ("one", "zero"),
    Subset: ("size", "weight", "keep"),
    Unary: ("size", "one", "zero"),
    Sampled: ("size", "draw", "one", "zero"),
    Geometric: ("ratio", "width"),
}
THRESHOLDS = ("one", "zero", "keep", "ratio")
KINDS = {mechanism.kind: mechanism for mechanism in PARAMETERS}


def parse(value: Any, size: int, path: str) -> Mechanism:
    """The mechanism of a field with `size` symbols (`size` options, for `sampled`)."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise DefinitionError("bad_value", f"{path}.kind", f"must be one of {', '.join(KINDS)}")
    mechanism = KINDS[kind]
    names = PARAMETERS[mechanism]
    canonical.check_keys(value, path, ("kind", *names))
    given = {
        name: canonical.threshold(value[name], f"{path}.{name}")
        if name in THRESHOLDS
        else canonical.integer(value[name], f"{path}.{name}", 0)
        for name in names
    }
    if mechanism is Geometric:
        given["size"] = size
    elif given.get("size", 2) != size:
        raise DefinitionError("bad_mechanism", path, "its size is not the field's number of symbols")
    try:
        return mechanism(**given)
    except DefinitionError as error:
        raise DefinitionError(error.code, path, error.reason) from None


def publish(mechanism: Mechanism) -> dict[str, int | str]:
    """The published form; the inverse of `parse`."""
    form: dict[str, int | str] = {"kind": mechanism.kind}
    for name in PARAMETERS[type(mechanism)]:
        value: int = getattr(mechanism, name)
        form[name] = str(value) if name in THRESHOLDS else value
    return form


def _check_size(size: int) -> None:
    if not 2 <= size <= LARGEST_SIZE:
        raise _refuse(f"needs a size from 2 to {LARGEST_SIZE}")


def _check_symbol(symbol: int, size: int) -> None:
    if not 0 <= symbol < size:
        raise ValueError(f"symbol {symbol} is not from 0 to {size - 1}")
