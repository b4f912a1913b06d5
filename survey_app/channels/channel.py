"""The interface of channels: how a mechanism changes shares, and how figures are observed in the counts of its bits.

The input of a channel is a symbol of its field, or a set of answers if it `reads_answers`. Figures are expanded to
these inputs first, so a channel does not depend on questions. Methods without a default are abstract, so that mypy
reports a channel without one of them.
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
from survey_app.channels.design_variance import Moments, compute_moments, event_moments
from survey_app.channels.observations import Counts, Observation
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.channels.symbol_bits import SymbolBits
from survey_app.figures import Figure, Floats, Sets

Indices = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.uint8]  # unpacked bits, a row for each report
Hits = npt.NDArray[np.bool_]
Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class AssumedShares:
    """The assumed distribution of a figure before the survey: its values, and the share of people with each value.

    `parts` are the fractions of the field's symbols that have each value. An event has the two values 0 and 1.
    """

    values: Floats
    shares: Floats
    parts: Floats

    @classmethod
    def event(cls, share: float, part: float) -> "Event":
        """Return an event that holds for this share of the people and for this fraction of all symbols."""
        return Event(np.array([0.0, 1.0]), np.array([1 - share, share]), np.array([1 - part, part]))

    @property
    def moments(self) -> Moments:
        """The moments on which the variance depends if the report is the true symbol or a uniformly drawn one."""
        return compute_moments(self.values, self.shares, self.parts)


class Event(AssumedShares):
    """An assumed share of people, whose moments have a closed form."""

    @property
    def moments(self) -> Moments:
        return event_moments(float(self.shares[1]), float(self.parts[1]))


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """Unbiased scores of some answers, as an affine map of the stored bits of a field: u = bits · slope + offset."""

    slope: Floats  # stored bits × answers
    offset: Floats
    noise_moment: Floats  # E(u²) for each answer if it is not the true one
    moment_gain: Floats  # increase of E(u²) if the answer is the true one
    table: tuple[Floats, float] | None  # (base, d) if every report names one answer: i is named if base_i + d · u_i = 1


@dataclass(frozen=True)
class AnswerPair:
    """Two answers on devices that were asked about both, as one mechanism with four symbols.

    The symbols are: neither is true, only the second, only the first, both. `places` has two stored bits for each
    symbol; the symbol was reported if both are 1.
    """

    mechanism: Mechanism
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class BitMeaning:
    """One stored bit of a field: its names and the meaning of a 1.

    A bit that names a symbol has p and q, the bit of a noisy level has a score, and any other bit has neither.
    """

    name: str  # follows the field's name in the column names of a file; empty if the field has only one bit
    suffix: str  # follows the field's name in the variable names of a statistics package
    meaning: str
    p: Fraction | None = None
    q: Fraction | None = None
    score: float | None = None


@dataclass(frozen=True)
class ItemCount:
    """How often an item was named: `ones` of `n` reports.

    `least` and `most` are the probabilities that a report names it if nobody and if everybody gave this answer.
    """

    label: str
    ones: int
    n: int
    least: float
    most: float


@dataclass(frozen=True)
class Channel(ABC):
    """The statistics of one mechanism.

    `reads_answers` means that the input is a set of answers, each randomized separately, instead of one symbol.
    """

    mechanism: Mechanism
    reads_answers: ClassVar[bool] = False

    # The distribution of a report.

    @abstractmethod
    def bit_chances(self, symbol: int) -> Floats:
        """Return P(bit = 1 | symbol) for each stored bit, on a device that was asked for the field."""

    @abstractmethod
    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        """Return P(both bits = 1 | symbol) for pairs of different stored bits."""

    @abstractmethod
    def likelihood(self, bits: int) -> list[Fraction]:
        """Return P(bits | symbol) for every symbol, up to a common factor."""

    @abstractmethod
    def outcomes(self, most: int) -> Matrix | None:
        """Return every possible row of bits.

        Return None if there are more than `most` rows, or if single bits have the same information.
        """

    @abstractmethod
    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        """Return the probability of each row of `outcomes`, given the true symbol."""

    @abstractmethod
    def match_symbol(self, rows: Matrix, symbol: int) -> Hits:
        """Return a mask of the reports that match this symbol: they name it, or contain nothing against it."""

    @abstractmethod
    def match_chance(self, symbol: int, true: int) -> float:
        """Return the probability that a report matches `symbol` if the true symbol is `true`."""

    @abstractmethod
    def distinction_chances(self, symbol: int, other: int) -> tuple[float, float]:
        """Return P(a report matches `symbol` but not `other`), if `symbol` is true and if `other` is true."""

    @abstractmethod
    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """Return simulated noisy bits for devices with these symbols; real clients never use this."""

    @abstractmethod
    def bits(self, field: Field) -> list[BitMeaning]:
        """Return the meaning of every stored bit, in order."""

    @abstractmethod
    def count_items(self, field: Field, counts: Counts, n: int) -> list[ItemCount]:
        """Return how often reports named each item that a device can name."""

    @abstractmethod
    def asked_counts(self, counts: Counts) -> Counts | None:
        """Return the number of devices that were asked about each option if devices draw options; otherwise None."""

    def asked_places(self) -> Indices | None:
        """Return for every stored bit the places of two bits, either of which is 1 on devices that were asked for it.

        Return None if every device is asked for every bit.
        """
        return None

    # Descriptions for archives, papers and respondents.

    @property
    @abstractmethod
    def coin(self) -> tuple[Fraction, Fraction] | None:
        """The exact P(1 | true) and P(1 | not true) of a bit that names an answer; None if no bit names one."""

    @property
    @abstractmethod
    def chances_from_integers(self) -> str:
        """The formulas for p and q, or for the scores, from the published integers."""

    @abstractmethod
    def estimator_sentence(self, n: str) -> str:
        """Return a sentence with the formula of an estimate; `n` is a phrase for the number of devices asked."""

    @abstractmethod
    def methods_phrase(self, write: Callable[[float], str]) -> str:
        """Return how answers were randomized, for a methods paragraph; `write` formats a probability."""

    @abstractmethod
    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        """Return sentences that say with which odds a device changes an answer; `question` is the field's first."""

    @abstractmethod
    def needs_symbol_explanation(self, *, exact: bool) -> bool:
        """Return whether respondents need an explanation of what counts as their answer.

        `exact` means that each answer has its own symbol.
        """

    def forced_response(self) -> tuple[Fraction, Fraction, Fraction] | None:
        """Return the probabilities of the truth, of a forced yes and of a forced no.

        Return None if forced response does not produce the bits of this mechanism.
        """
        return None

    # Estimation of a figure from counts.

    @abstractmethod
    def observe(self, counts: Counts, n: int, figure: Figure) -> Observation | None:
        """Return the observation of a figure in the counts, or None if the counts do not determine the figure.

        The figure is not a ratio, and is expanded to the channel's inputs.
        """

    @abstractmethod
    def variance(self, assumed: AssumedShares) -> float:
        """Return n·Var of a figure's estimate, where n counts the devices that are asked about it."""

    @abstractmethod
    def largest_shift(self, figure: Figure) -> float:
        """Return how much more a fabricated report can shift n times the figure than an honest report."""

    @abstractmethod
    def score_map(self, sets: Sets) -> ScoreMap | None:
        """Return unbiased scores of answers, each given as a set of symbols; None if reports have no single answers.

        A channel that reads answers ignores `sets` and scores all answers.
        """

    @abstractmethod
    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction] | None:
        """Return P(sent | true) and P(sent | not true) of a share, given its `reported` and its `unbiased` value.

        Return None if the mechanism has no p and q.
        """

    @property
    @abstractmethod
    def answers_per_report(self) -> int:
        """The number of answers that a report names."""

    @property
    @abstractmethod
    def mean_formula(self) -> str:
        """The formula of means, for a paper; {scores} stands for the scores of the answers."""

    @abstractmethod
    def union_coin(self, size: int) -> tuple[Fraction, Fraction] | None:
        """Return the probabilities that a report names any of `size` symbols: if one of them is true, and if none is.

        Return None if a set of symbols is not observed as a single count.
        """

    @property
    def asked_options(self) -> tuple[int, int] | None:
        """The number of options that each device is asked about, and that of all options; None if they are equal."""
        return None

    @property
    @abstractmethod
    def symbol_bits(self) -> SymbolBits | None:
        """The probabilities of the stored bits if each symbol has its own bit; otherwise None."""

    @abstractmethod
    def answer_pair(self, first: int, second: int) -> AnswerPair | None:
        """Return how devices report two answers at once.

        Return None if no device is asked about both, or if the input is a symbol.
        """

    @abstractmethod
    def estimate_shares(self, counts: Counts, n: int) -> Floats | None:
        """Return the unbiased shares of the field's symbols; None if symbols do not have a bit each."""

    @abstractmethod
    def named_symbols(self, counts: Counts, n: int) -> Counts | None:
        """Return how often each symbol was named; None unless every report names exactly one."""

    def comparison_count(self, figures: int) -> int:
        """Return by what number of intervals to correct the error of this number of shares (Bonferroni)."""
        return figures

    @property
    def informative_share(self) -> float:
        """The fraction of devices whose reports are informative about one figure."""
        return 1.0

    def row_likelihoods(self, rows: Matrix) -> Floats:
        """Return the `likelihood` of each unpacked row, as floats; a channel may override this with a faster way."""
        distinct, index = np.unique(rows, axis=0, return_inverse=True)
        chances = (self.likelihood(int("".join("01"[int(bit)] for bit in row), 2)) for row in distinct)
        return np.array([[float(chance) for chance in row] for row in chances])[index.reshape(-1)]


class CoinChannel(Channel):
    """A mechanism whose bits are 1 with probability p if they are true and q if not; the floats are cached."""

    @property
    @abstractmethod
    def coin(self) -> tuple[Fraction, Fraction]:
        """The exact P(1 | true) and P(1 | not true) of every bit that names an answer."""

    @property
    def mean_formula(self) -> str:
        return (
            "Means are the sum of score × share, and are unbiased if the shares are. The scores, in the order of the"
            " answers, are: {scores}. Displayed means are computed from displayed shares."
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
        """The difference p − q, exact before it is rounded."""
        p, q = self.coin
        return float(p - q)


def find_ones(bits: int, width: int) -> list[int]:
    """Return the places of the ones in a field's bits, given as an integer of `width` bits."""
    return [place for place in range(width) if bits >> (width - 1 - place) & 1]


def find_smallest(keys: Floats, count: int) -> Indices:
    """Return for each row the places of its `count` smallest keys, in no particular order."""
    if count == keys.shape[1]:
        return np.broadcast_to(np.arange(count), keys.shape)
    return np.argpartition(keys, count - 1, axis=1)[:, :count]


def make_bit_rows(width: int, ones: Sequence[Sequence[int]]) -> Matrix:
    """Return a row of `width` bits for each list of places of ones."""
    rows = np.zeros((len(ones), width), dtype=np.uint8)
    np.put_along_axis(rows, np.array(ones), 1, axis=1)
    return rows
