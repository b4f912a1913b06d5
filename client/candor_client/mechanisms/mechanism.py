"""What all mechanisms share: an exact privacy loss, the checks of their constructors, and words for what they do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from candor_client.errors import DefinitionError
from candor_client.sampling import WHOLE, RandomBytes
from candor_client.types import type_of

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question

EXACT = Context(prec=50)
MOST_NAMED = 12  # symbols that a description names
FEWEST_SHOWN = 10  # devices that do otherwise; fewer would round too much away


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

    def __post_init__(self) -> None:
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Raise DefinitionError if the parameters are not private."""

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

    @property
    @abstractmethod
    def fits_joint(self) -> bool:
        """Whether it can randomize several questions together."""

    @staticmethod
    @abstractmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        """Return the size that it must have for a question alone, and how many symbols a device has to look at.

        `form` is what is published, not yet checked. Raise DefinitionError if it is not for such a question.
        """

    @abstractmethod
    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        """Return noisy bits for a symbol."""

    @abstractmethod
    def possible(self, bits: int) -> bool:
        """Tell whether some symbol can lead to these bits."""

    @abstractmethod
    def named_symbol(self, bits: int) -> int | None:
        """Return the one symbol that the bits name; None if they name several, or a part of one."""

    @abstractmethod
    def describe(self, field: "Field", bits: int) -> str:
        """Return what the bits say: "no", "notes or phone", "phone: yes"."""

    @abstractmethod
    def blind_draw(self) -> tuple[int, int] | None:
        """Return a number of people, and how many of their devices send the truth.

        All other devices draw blindly from all cells, the truth included. None where no such draw explains what is
        sent: where noise is added, where several symbols are named at once, or where a coin favours one side.
        """

    @abstractmethod
    def odds_sentence(self, field: "Field") -> str:
        """Return what the device does to an answer, in numbers."""

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


def ones(bits: int, width: int) -> list[int]:
    """Return the places of the stored bits that are 1, from the first."""
    return [place for place in range(width) if bits >> (width - 1 - place) & 1]


def describe_symbols(field: "Field", symbols: Sequence[int]) -> str:
    """Return the names of some symbols of a field, the first of them if there are many."""
    named = [field.label(symbol) for symbol in symbols[:MOST_NAMED]]
    if len(symbols) > MOST_NAMED:
        named.append(f"{len(symbols) - MOST_NAMED} more")
    return " or ".join(named) or "none of them"


def share(p: Fraction, q: Fraction) -> tuple[int, int, int]:
    """Of so many people whose answer it is, so many devices send it, and of as many others so many.

    There are as many people as it takes to see ten devices that do otherwise: rounded, noise that is rare would look
    like much more noise, or none. The first count is rounded up and the second down, so that protection never looks
    better than it is.
    """
    people = 100
    while people * min(q, 1 - p) < FEWEST_SHOWN:
        people *= 10
    return people, ceil(people * p), floor(people * q)


def blind_share(p: Fraction, q: Fraction, others: int) -> tuple[int, int] | None:
    """Return the blind draw of a mechanism whose every cell has so many others; None if there is no such draw.

    With p = P(a cell is sent | it is true) and q = P(it is sent | another is), the truth has p − q of its own, and the
    rest falls on all cells alike. It does not if the chances of all cells do not add up to one.
    """
    if p + others * q != 1:
        return None
    truth = p - q
    return share(truth, 1 - truth)[:2]


def blind_sentence(field: "Field", people: int, truth: int) -> str:
    """Return what a device does that sends the truth or a blind draw from the field's symbols."""
    return f"{blind_cases(people, truth)} the device sends what was said, otherwise {_one_of(field)}, drawn blindly"


def blind_cases(people: int, truth: int) -> str:
    """Return how often a blind draw sends the truth."""
    return f"in about {truth:,} of {people:,} cases"


def _one_of(field: "Field") -> str:
    """Return what is drawn from, by its names if it has but two."""
    if field.size == 2:
        return f"{field.label(1)} or {field.label(0)}"
    several = field.joint or type_of(field.questions[0].type).has_sets
    return f"one of all {field.size:,} {'combinations of answers' if several else 'possible answers'}"
