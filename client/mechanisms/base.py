"""What all mechanisms share: an exact privacy loss, and the checks of their constructors."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from client.errors import DefinitionError
from client.sampling import WHOLE, RandomBytes

EXACT = Context(prec=50)


class MechanismName(StrEnum):
    """The `kind` of a mechanism in a definition; its module here has the same name."""

    FLIP = "flip"
    SUBSET = "subset"
    DRAWN = "drawn"
    GEOMETRIC = "geometric"


@dataclass(frozen=True)
class BaseMechanism(ABC):
    """A way from a symbol to noisy bits.

    The bits of one field are an integer of `width` bits, the first stored bit most significant; `size` is the number
    of symbols that the mechanism takes.
    """

    @property
    @abstractmethod
    def kind(self) -> MechanismName:
        """Its name in a definition. Each class says it; abstract, so that mypy sees a class that does not."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters in a definition."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of one output under two inputs."""

    @abstractmethod
    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        """Return noisy bits for a symbol."""

    @abstractmethod
    def possible(self, bits: int) -> bool:
        """Tell whether some symbol can lead to these bits."""

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


def refuse(reason: str) -> DefinitionError:
    """Return the error of a mechanism that does not exist; `parse` adds its path."""
    return DefinitionError("bad_mechanism", "", reason)


def check_keep(keep: int, weight: int, size: int) -> None:
    """Refuse a `keep` that is not above chance and below certainty."""
    if not (keep < WHOLE and weight * WHOLE < keep * size):
        raise refuse("needs keep above chance and below 2^64")


def check_symbol(symbol: int, size: int) -> None:
    """Refuse a symbol that is not there."""
    if not 0 <= symbol < size:
        raise ValueError(f"symbol {symbol} is not from 0 to {size - 1}")
