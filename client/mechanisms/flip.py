"""One bit for two symbols."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from client.mechanisms.base import BaseMechanism, MechanismName, check_symbol, coin_odds, refuse
from client.sampling import WHOLE, RandomBytes, coin


@final
@dataclass(frozen=True, kw_only=True)
class Flip(BaseMechanism):
    """One bit for yes or no: Warner's randomized response (1965) and all its kin."""

    kind = MechanismName.FLIP
    parameters = ("one", "zero")
    size: ClassVar[int] = 2
    width: ClassVar[int] = 1
    one: int
    zero: int

    def __post_init__(self) -> None:
        if not 0 < self.zero < self.one < WHOLE:
            raise refuse("needs 0 < zero < one < 2^64")

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
        check_symbol(symbol, 2)
        return int(coin(self.one if symbol else self.zero, random_bytes))

    def possible(self, bits: int) -> bool:
        return True
