"""A random set of symbols."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from client.mechanisms.base import BaseMechanism, MechanismName, check_keep, check_symbol, refuse
from client.sampling import WHOLE, RandomBytes, coin, pick


@final
@dataclass(frozen=True, kw_only=True)
class Subset(BaseMechanism):
    """A random set of `weight` symbols that holds the true one with probability keep/2^64 (Ye and Barg 2018).

    Weight 1 is k-ary randomized response.
    """

    kind = MechanismName.SUBSET
    parameters = ("size", "weight", "keep")
    size: int
    weight: int
    keep: int

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= self.size - 1:
            raise refuse("needs a weight from 1 to size - 1")
        check_keep(self.keep, self.weight, self.size)

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
        check_symbol(symbol, self.size)
        held = coin(self.keep, random_bytes)
        picked = pick(self.weight, [*range(symbol), *range(symbol + 1, self.size)], random_bytes)
        picked[-1] = (picked[-1], symbol)[held]
        return sum(1 << (self.size - 1 - one) for one in picked)

    def possible(self, bits: int) -> bool:
        return bits.bit_count() == self.weight
