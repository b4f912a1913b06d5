"""What a mechanism does to shares, and what the counts of its bits say of a figure.

A channel takes in the symbols of its field, unless it `reads_answers`; figures are lifted to what it takes in before it
sees them, so it knows nothing of questions. Methods without a default are abstract, so that mypy names a channel that
lacks one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from candor_client.definition import Field
from candor_client.mechanisms import Mechanism
from candor_client.question import Question
from survey_app.channels.design_variance import Moments, event_moments, moments
from survey_app.channels.observations import Counts, Observation
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.channels.symbol_bits import SymbolBits
from survey_app.figures import Figure, Floats, Sets

Indices = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.uint8]  # unpacked bits, a row for each report
Hits = npt.NDArray[np.bool_]
Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class Assumed:
    """People who were not asked yet: the values of a figure, whose shares are these, and in which parts of a field.

    An event is two values, 0 and 1. `parts` say how many of the field's symbols hold each value.
    """

    values: Floats
    shares: Floats
    parts: Floats

    @classmethod
    def event(cls, share: float, part: float) -> "Event":
        """Return a share of the people, which this part of all symbols holds."""
        return Event(np.array([0.0, 1.0]), np.array([1 - share, share]), np.array([1 - part, part]))

    @property
    def moments(self) -> Moments:
        """All that the variance depends on where a symbol is reported blindly or as it is."""
        return moments(self.values, self.shares, self.parts)


class Event(Assumed):
    """A share of the people: the same in closed form."""

    @property
    def moments(self) -> Moments:
        return event_moments(float(self.shares[1]), float(self.parts[1]))


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """Unbiased scores of some answers, as an affine map of the stored bits of a field: u = bits · slope + offset."""

    slope: Floats  # stored bits × answers
    offset: Floats
    still: Floats  # E(u²) of each answer if it is not the true one
    gain: Floats  # what E(u²) gains if it is
    table: tuple[Floats, float] | None  # where every report names one answer i: it does so if base_i + d · u_i is 1


@dataclass(frozen=True)
class AnswerPair:
    """Two answers on devices that were asked about both, which is as if a mechanism took in which of them are true.

    Its symbols are neither, the second, the first, both; each was reported if both of two stored bits are 1.
    """

    mechanism: Mechanism
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class BitMeaning:
    """One stored bit of a field: its names, and what a 1 says.

    A bit that names a symbol has p and q, a noisy level has a score, another bit neither.
    """

    name: str  # after the field's name in a column of a file; empty where the field has one bit
    suffix: str  # the same for a variable of a statistics package
    says: str
    p: Fraction | None = None
    q: Fraction | None = None
    score: float | None = None


@dataclass(frozen=True)
class SeenBit:
    """How often devices named something: which bits count them, and P(named) if nobody and if everybody has it."""

    says: str
    ones: int
    n: int
    least: float
    most: float


@dataclass(frozen=True)
class Channel(ABC):
    """One mechanism; `reads_answers` if it takes in a set of answers, each by itself, and never a symbol."""

    mechanism: Mechanism
    reads_answers: ClassVar[bool] = False

    # What a report says.

    @abstractmethod
    def bit_chances(self, symbol: int) -> Floats:
        """Return P(bit = 1 | symbol) for each stored bit of a field that was asked."""

    @abstractmethod
    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        """Return P(both bits = 1 | symbol) for pairs of different stored bits."""

    @abstractmethod
    def likelihood(self, bits: int) -> list[Fraction]:
        """Return P(bits | symbol) for every symbol, up to a factor that is the same for all of them."""

    @abstractmethod
    def outcomes(self, most: int) -> Matrix | None:
        """Return every row of bits that can be sent; None if they are more than `most`, or single bits tell as much."""

    @abstractmethod
    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        """Return how likely each of the `outcomes` is."""

    @abstractmethod
    def truthful(self, rows: Matrix, symbol: int) -> Hits:
        """Return which reports say that this symbol is true, or nothing against it."""

    @abstractmethod
    def truthful_chance(self, symbol: int, true: int) -> float:
        """Return the probability that a report of a device with symbol `true` is among the `truthful` of `symbol`."""

    @abstractmethod
    def telling_chances(self, symbol: int, other: int) -> tuple[float, float]:
        """Return P(a report is `truthful` for a symbol and not for another), if it is true and if the other is."""

    @abstractmethod
    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """Return noisy bits of made-up devices with these symbols; never a client's coins."""

    @abstractmethod
    def bits(self, field: Field) -> list[BitMeaning]:
        """Return the meaning of every stored bit, in order."""

    @abstractmethod
    def seen(self, field: Field, counts: Counts, n: int) -> list[SeenBit]:
        """Return how often each thing was named that a device can name."""

    @abstractmethod
    def asked_counts(self, counts: Counts) -> Counts | None:
        """Return how often devices were asked each thing of which they draw some; None if they are asked everything."""

    def asked_places(self) -> Indices | None:
        """Return for every stored bit two bits, one of which is 1 on a device that was asked; None if all are."""
        return None

    # What is said of it, in archives and papers, and to respondents.

    @property
    @abstractmethod
    def coin(self) -> tuple[Fraction, Fraction] | None:
        """P(1 | true) and P(1 | not true), exactly, of a bit that names an answer; None if no bit does."""

    @property
    @abstractmethod
    def chances_from_integers(self) -> str:
        """How p and q, or the scores, follow from the published integers."""

    @abstractmethod
    def estimator_sentence(self, n: str) -> str:
        """Return how an estimate is made of the sums of the bits; `n` names the number of devices that were asked."""

    @abstractmethod
    def methods_phrase(self, write: Callable[[float], str]) -> str:
        """Return how answers were randomized, for a methods paragraph; `write` spells a probability."""

    @abstractmethod
    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        """Return what a device does to an answer, in numbers; `question` is the field's first."""

    @abstractmethod
    def explains_symbols(self, *, exact: bool) -> bool:
        """Whether people are told what counts as their answer; `exact` if each answer has a symbol of its own."""

    def forced_response(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """Return the chances of the truth, of a forced yes and of a forced no; None if no such throw makes its bits."""
        return None

    # What counts say of a figure.

    @abstractmethod
    def observe(self, counts: Counts, n: int, figure: Figure) -> Observation | None:
        """Return what the counts say of a figure that is no ratio, lifted to what the channel takes in."""

    @abstractmethod
    def variance(self, assumed: Assumed) -> float:
        """Return n·Var of a figure's estimate, of those who are asked about it."""

    @abstractmethod
    def largest_shift(self, figure: Figure) -> float:
        """Return by how much more a made-up report can move n times a figure than an honest one."""

    @abstractmethod
    def score_map(self, sets: Sets) -> ScoreMap | None:
        """Return unbiased scores of answers that are these sets of symbols (of a channel that reads answers: of all).

        None if reports say nothing about single answers.
        """

    @abstractmethod
    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction] | None:
        """Return P(sent | true) and P(sent | not true) of a share, by which `reported` became `unbiased`."""

    @property
    @abstractmethod
    def named(self) -> int:
        """How many answers a report names."""

    @property
    @abstractmethod
    def mean_formula(self) -> str:
        """How means are made, for a paper; {scores} is what each answer counts for."""

    @abstractmethod
    def union_coin(self, size: int) -> tuple[Fraction, Fraction] | None:
        """Return the chances that a report names any of `size` symbols, if one of them is true, and if none is.

        None where a set of symbols is no single count.
        """

    @property
    def asked_options(self) -> tuple[int, int] | None:
        """About how many of how many options a device is asked; None if about all."""
        return None

    @property
    @abstractmethod
    def symbol_bits(self) -> SymbolBits | None:
        """The chances of the stored bits, where each symbol has one of its own."""

    @abstractmethod
    def answer_pair(self, first: int, second: int) -> AnswerPair | None:
        """Return how two answers are reported together; None if no device is asked about both, or takes in symbols."""

    @abstractmethod
    def shares(self, counts: Counts, n: int) -> Floats | None:
        """Return the unbiased shares of the field's symbols, where each has a bit; points are made of them."""

    @abstractmethod
    def named_symbols(self, counts: Counts, n: int) -> Counts | None:
        """Return how often each symbol was named, where every report names exactly one."""

    def apart(self, figures: int) -> int:
        """Return how many intervals of so many shares can miss apart from each other."""
        return figures

    @property
    def asked(self) -> float:
        """The part of the devices that says something about one figure."""
        return 1.0

    def likelihoods(self, rows: Matrix) -> Floats:
        """Return `likelihood` of each of some unpacked rows, as floats; a channel may have a faster way."""
        kinds, which = np.unique(rows, axis=0, return_inverse=True)
        each = (self.likelihood(int("".join("01"[int(bit)] for bit in row), 2)) for row in kinds)
        return np.array([[float(chance) for chance in row] for row in each])[which.reshape(-1)]


class CoinChannel(Channel):
    """A mechanism whose bits are 1 with p if they are true, and with q if not; as floats, computed once."""

    @property
    @abstractmethod
    def coin(self) -> tuple[Fraction, Fraction]:
        """P(1 | true) and P(1 | not true), exactly, of every bit that names an answer."""

    @property
    def mean_formula(self) -> str:
        return (
            "Means are the sum of score × share, without bias if the shares are, with these scores in the order of the"
            " answers: {scores}; displayed means are made of displayed shares."
        )

    @cached_property
    def p(self) -> float:
        """P(1 | true)."""
        return float(self.coin[0])

    @cached_property
    def q(self) -> float:
        """P(1 | not true)."""
        return float(self.coin[1])

    @cached_property
    def gap(self) -> float:
        """The difference of both."""
        p, q = self.coin
        return float(p - q)


def ones_of(bits: int, width: int) -> list[int]:
    """Return the places of the ones in a field's bits."""
    return [place for place in range(width) if bits >> (width - 1 - place) & 1]


def smallest(keys: Floats, count: int) -> Indices:
    """Return in each row the places of its `count` smallest keys, in no order."""
    if count == keys.shape[1]:
        return np.broadcast_to(np.arange(count), keys.shape)
    return np.argpartition(keys, count - 1, axis=1)[:, :count]


def rows_of(width: int, ones: Sequence[Sequence[int]]) -> Matrix:
    """Return a row of bits for each list of the places of its ones."""
    found = np.zeros((len(ones), width), dtype=np.uint8)
    np.put_along_axis(found, np.array(ones), 1, axis=1)
    return found
