"""The mechanisms: how a symbol becomes noisy bits, and exactly how much that gives away.

The loss ε of a mechanism is ln(odds), with `odds` an exact fraction of the published integers. A mechanism that exists
is valid: the constructors refuse everything else. Each draws a number of bytes that depends on its parameters alone,
but for the rare repeats of `below`: neither the answer nor the outcome shows in how much was drawn.

The bits of one field are an integer of `width` bits, the first stored bit most significant; `size` is the number of
symbols. `p` = P(stored bit 1 | its symbol is true) and `q` = P(stored bit 1 | it is not).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from client import canonical
from client.errors import DefinitionError
from client.sampling import WHOLE, RandomBytes, below, coin, pick, word

EXACT = Context(prec=50)
MOST_DRAWN = 16  # options of a multiple at once: 2^16 sets
MOST_LEVELS = 64  # of geometric noise


class Lossy(ABC):
    """What all mechanisms share: an exact privacy loss."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of one output under two inputs."""

    @cached_property
    def epsilon(self) -> Decimal:
        """The loss, to 50 digits."""
        return loss(self.odds)


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
class Flip(Lossy):
    """One bit for yes or no: Warner's randomized response (1965) and all its kin."""

    kind: ClassVar[str] = "flip"
    size: ClassVar[int] = 2
    width: ClassVar[int] = 1
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
        if not 1 <= self.weight <= self.size - 1:
            raise _refuse("needs a weight from 1 to size - 1")
        _check_keep(self.keep, self.weight, self.size)

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
        picked = pick(self.weight, [*range(symbol), *range(symbol + 1, self.size)], random_bytes)
        picked[-1] = (picked[-1], symbol)[held]
        return sum(1 << (self.size - 1 - one) for one in picked)

    def possible(self, bits: int) -> bool:
        return bits.bit_count() == self.weight


@dataclass(frozen=True, kw_only=True)
class Drawn(Lossy):
    """A set of options, of which `draw` random ones are asked together; which ones is disclosed.

    The symbol is the set as a mask, option 0 least significant; `size` is the number of options. What was selected
    among the asked is one of 2^draw sets, kept with probability keep/2^64, otherwise another one. Stored are two bits
    for every option: (asked, reported 0) and (asked, reported 1); p and q are those of one asked option.
    """

    kind: ClassVar[str] = "drawn"
    size: int
    draw: int
    keep: int

    def __post_init__(self) -> None:
        if not 1 <= self.draw <= min(self.size, MOST_DRAWN):
            raise _refuse(f"needs a draw from 1 to size, and to {MOST_DRAWN}")
        _check_keep(self.keep, 1, self.sets)

    @property
    def sets(self) -> int:
        """How many sets the asked options have."""
        return 1 << self.draw

    @property
    def width(self) -> int:
        return 2 * self.size

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.sets - 1), WHOLE - self.keep)

    @property
    def p(self) -> Fraction:
        return Fraction(self.keep, WHOLE) + (self.sets // 2 - 1) * self._other

    @property
    def q(self) -> Fraction:
        return self.sets // 2 * self._other

    @property
    def _other(self) -> Fraction:
        """The probability of each set that is not the true one."""
        return Fraction(WHOLE - self.keep, WHOLE * (self.sets - 1))

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, 1 << self.size)
        asked = sorted(pick(self.draw, list(range(self.size)), random_bytes))
        truth = sum((symbol >> option & 1) << i for i, option in enumerate(asked))
        held = coin(self.keep, random_bytes)
        other = below(self.sets - 1, random_bytes)
        sent = (other + (other >= truth), truth)[held]
        return sum(1 << (self.width - 1 - 2 * option - (sent >> i & 1)) for i, option in enumerate(asked))

    def possible(self, bits: int) -> bool:
        reported_0 = int("10" * self.size, 2)
        return bits.bit_count() == self.draw and not (bits & reported_0) >> 1 & bits


@dataclass(frozen=True, kw_only=True)
class Geometric(Lossy):
    """A level plus two-sided geometric noise of ratio r = ratio/2^64, clamped to the levels there are.

    P(noise ≥ k) = r^k/(1+r), rounded up to G_k/2^64 (Ghosh, Roughgarden and Sundararajan 2009); one word decides. The
    bit of the noisy level is set.
    """

    kind: ClassVar[str] = "geometric"
    size: int
    ratio: int

    def __post_init__(self) -> None:
        if not 2 <= self.size <= MOST_LEVELS:
            raise _refuse(f"needs a size from 2 to {MOST_LEVELS}")
        if not 0 < self.ratio < WHOLE:
            raise _refuse("needs 0 < ratio < 2^64")
        if 2 * self.tails[0] >= WHOLE or any(after >= before for before, after in pairwise(self.tails)):
            raise _refuse("its noise must fall from level to level, in whole parts of 2^64")

    @property
    def width(self) -> int:
        return self.size

    @cached_property
    def tails(self) -> tuple[int, ...]:
        """G_1 … G_(size−1): P(noise ≥ k) in parts of 2^64."""
        over = WHOLE + self.ratio
        return tuple(-(-(self.ratio**k << 128) // (over << 64 * k)) for k in range(1, self.size))

    @property
    def odds(self) -> Fraction:
        ends = Fraction(WHOLE - self.tails[0], self.tails[-1])
        within = [WHOLE - 2 * self.tails[0], *(before - after for before, after in pairwise(self.tails))]
        return max(ends, Fraction(max(within), min(within))) if self.size > 2 else ends

    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        _check_symbol(symbol, self.size)
        up = word(random_bytes)
        down = WHOLE - 1 - up
        level = symbol + sum((up < tail) - (down < tail) for tail in self.tails)
        return 1 << (self.size - 1 - max(0, min(self.size - 1, level)))

    def possible(self, bits: int) -> bool:
        return bits.bit_count() == 1

    def median_shift(self) -> int:
        """The largest k with P(|noise| ≥ k) ≥ ½, before anything is clamped; for display."""
        return sum(4 * tail >= WHOLE for tail in self.tails)


Mechanism = Flip | Subset | Drawn | Geometric

PARAMETERS: dict[type[Mechanism], tuple[str, ...]] = {
    Flip: ("one", "zero"),
    Subset: ("size", "weight", "keep"),
    Drawn: ("size", "draw", "keep"),
    Geometric: ("size", "ratio"),
}
THRESHOLDS = ("one", "zero", "keep", "ratio")
KINDS = {mechanism.kind: mechanism for mechanism in PARAMETERS}


def parse(value: Any, size: int, path: str) -> Mechanism:
    """The mechanism of a field with `size` symbols (`size` options, for `drawn`)."""
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
    if given.get("size", 2) != size:
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


def _check_keep(keep: int, weight: int, size: int) -> None:
    if not (keep < WHOLE and weight * WHOLE < keep * size):
        raise _refuse("needs keep above chance and below 2^64")


def _check_symbol(symbol: int, size: int) -> None:
    if not 0 <= symbol < size:
        raise ValueError(f"symbol {symbol} is not from 0 to {size - 1}")
