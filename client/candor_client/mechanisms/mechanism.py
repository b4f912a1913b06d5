"""The base class of the mechanisms, with their exact privacy loss, parameter checks and descriptions."""

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
from candor_client.sampling import DENOMINATOR, RandomBytes
from candor_client.types import type_of

if TYPE_CHECKING:
    from candor_client.definition import Field
    from candor_client.question import Question

EXACT = Context(prec=50)
MOST_NAMED = 12  # symbols that a description names
FEWEST_SHOWN = 10  # devices that deviate; smaller numbers would lose too much by rounding
SENTENCES = {  # of several mechanisms; the browser's client has the same keys and blanks, in the page's languages
    "odds_blind": "in about {p} of {people} cases the device sends what was said, otherwise {other}, drawn blindly",
    "other_answers": "one of all {size} possible answers",
    "other_cells": "one of all {size} combinations of answers",
}


class MechanismName(StrEnum):
    """The `kind` of a mechanism in a definition; its module in this package has the same name."""

    FLIP = "flip"
    SUBSET = "subset"
    DRAWN = "drawn"
    GEOMETRIC = "geometric"


@dataclass(frozen=True)
class BaseMechanism(ABC):
    """A mechanism: it randomizes a symbol into noisy bits.

    The bits of one field are an integer of `width` bits, the first stored bit most significant.
    `size` is the number of symbols that the mechanism accepts.
    """

    def __post_init__(self) -> None:
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Raise DefinitionError if the parameters are out of range or give no privacy."""

    @property
    @abstractmethod
    def kind(self) -> MechanismName:
        """The name of the mechanism in a definition. It is abstract, so that mypy reports a class that lacks it."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in a definition."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of the probabilities of one output under two inputs."""

    @property
    @abstractmethod
    def fits_joint(self) -> bool:
        """Whether the mechanism can randomize several questions as one symbol."""

    @staticmethod
    @abstractmethod
    def fit(form: Mapping[str, Any], question: "Question", path: str) -> tuple[int, int]:
        """Return the size required for a field of one question, and the number of symbols that a device processes.

        `form` is the published form, not yet checked. Raise DefinitionError if it does not suit the question.
        """

    @abstractmethod
    def randomize(self, symbol: int, random_bytes: RandomBytes) -> int:
        """Return noisy bits for a symbol."""

    @abstractmethod
    def is_possible(self, bits: int) -> bool:
        """Return whether any symbol can lead to these bits."""

    @abstractmethod
    def named_symbol(self, bits: int) -> int | None:
        """Return the only symbol that the bits name; None if they name several symbols, or a part of one."""

    @abstractmethod
    def describe(self, field: "Field", bits: int) -> str:
        """Return a description of the bits: "no", "notes or phone", "phone: yes"."""

    @abstractmethod
    def blind_draw(self) -> tuple[int, int] | None:
        """Return a number of people, and how many of their devices send the truth.

        All other devices draw uniformly from all cells, including the true one. Return None if no such draw describes
        the mechanism: if it adds noise, if the bits name several symbols, or if a coin favours one side.
        """

    @abstractmethod
    def odds_sentence(self, field: "Field") -> str:
        """Return a sentence on how the device randomizes an answer, with numbers."""

    @cached_property
    def epsilon(self) -> Decimal:
        """The privacy loss ε, to 50 digits."""
        return loss(self.odds)


def loss(odds: Fraction) -> Decimal:
    """Return ln(odds), to 50 digits."""
    with localcontext(EXACT):
        return (Decimal(odds.numerator) / odds.denominator).ln()


def coin_odds(p: Fraction, q: Fraction) -> Fraction:
    """Return the largest likelihood ratio of a coin that shows heads with probability p or q < p."""
    return max(p / q, (1 - q) / (1 - p))


def round_up(epsilon: Decimal, digits: int = 12) -> Decimal:
    """Return ε rounded up to some decimals, so that a claimed or displayed ε is never below the exact one."""
    return epsilon.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)


def create_mechanism_error(reason: str) -> DefinitionError:
    """Return the error for invalid parameters; `parse` adds the path."""
    return DefinitionError("bad_mechanism", "", reason)


def check_keep(keep: int, weight: int, size: int) -> None:
    """Raise DefinitionError unless `keep` is above chance and below certainty."""
    if not (keep < DENOMINATOR and weight * DENOMINATOR < keep * size):
        raise create_mechanism_error("needs keep above chance and below 2^64")


def check_symbol(symbol: int, size: int) -> None:
    """Raise ValueError if a symbol is not from 0 to size − 1."""
    if not 0 <= symbol < size:
        raise ValueError(f"symbol {symbol} is not from 0 to {size - 1}")


def find_ones(bits: int, width: int) -> list[int]:
    """Return the positions of the stored bits that are 1, counted from the first bit."""
    return [place for place in range(width) if bits >> (width - 1 - place) & 1]


def describe_symbols(field: "Field", symbols: Sequence[int]) -> str:
    """Return the labels of symbols of a field, joined by "or"; at most the first MOST_NAMED of them."""
    labels = [field.label(symbol) for symbol in symbols[:MOST_NAMED]]
    if len(symbols) > MOST_NAMED:
        labels.append(f"{len(symbols) - MOST_NAMED} more")
    return " or ".join(labels) or "none of them"


def share(p: Fraction, q: Fraction) -> tuple[int, int, int]:
    """Return a number of people, and how many of them send an answer if it is true and if it is not true.

    The number of people is large enough to show ten devices that deviate, because rare noise would be distorted by
    rounding. The first count is rounded up and the second down, so that protection is never overstated.
    """
    people = 100
    while people * min(q, 1 - p) < FEWEST_SHOWN:
        people *= 10
    return people, ceil(people * p), floor(people * q)


def blind_share(p: Fraction, q: Fraction, other_count: int) -> tuple[int, int] | None:
    """Return the blind draw of a mechanism in which each cell has `other_count` other cells; None if there is none.

    With p = P(a cell is sent | it is true) and q = P(a cell is sent | another is true), the device sends the truth with
    probability p − q and otherwise draws uniformly. This requires that the probabilities of all cells add up to one.
    """
    if p + other_count * q != 1:
        return None
    truth = p - q
    return share(truth, 1 - truth)[:2]


def format_sentence(sentence: str, **values: int | str) -> str:
    """Return a sentence with its blanks filled in."""
    return sentence.format_map(
        {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
    )


def blind_sentence(field: "Field", people: int, truth: int) -> str:
    """Return a sentence on a device that sends the truth or a blind draw from the field's symbols."""
    return format_sentence(SENTENCES["odds_blind"], people=people, p=truth, other=_describe_cells(field))


def _describe_cells(field: "Field") -> str:
    """Return a description of the cells of a blind draw; their labels if there are only two."""
    if field.size == 2:
        return f"{field.label(1)} or {field.label(0)}"
    has_combinations = field.joint or type_of(field.questions[0].type).has_sets
    return format_sentence(SENTENCES["other_cells" if has_combinations else "other_answers"], size=field.size)
