"""Some options of a set, drawn on the device; each is counted among those who were asked about it."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, final

import numpy as np

from candor_client.definition import Field
from candor_client.description import NO_ANSWER
from candor_client.mechanisms import Drawn, Subset
from candor_client.question import Question
from candor_client.sampling import WHOLE
from survey_app.channels.channel import (
    AnswerPair,
    Assumed,
    BitMeaning,
    CoinChannel,
    Generator,
    Hits,
    Indices,
    Matrix,
    ScoreMap,
    SeenBit,
    ones_of,
    rows_of,
    smallest,
)
from survey_app.channels.design_variance import share_variance
from survey_app.channels.observations import Binomial, Counts
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.figures import Figure, Floats, Sets


@final
class DrawnChannel(CoinChannel):
    """Two bits for each option, asked and not reported, asked and reported; p and q are those of an asked option."""

    mechanism: Drawn
    reads_answers: ClassVar[bool] = True
    chances_from_integers = (
        "with s = 2^draw and o = (1 − keep/2^64)/(s − 1): p = keep/2^64 + (s/2 − 1)·o; q = (s/2)·o, for each option"
        " that was asked"
    )

    @cached_property
    def coin(self) -> tuple[Fraction, Fraction]:
        return self.mechanism.p, self.mechanism.q

    @property
    def asked(self) -> float:
        return self.mechanism.draw / self.mechanism.size

    @property
    def asked_options(self) -> tuple[int, int] | None:
        some, every = self.mechanism.draw, self.mechanism.size
        return (some, every) if some < every else None

    @property
    def kept(self) -> float:
        """The probability that the true set of the asked options is sent."""
        return self.mechanism.keep / WHOLE

    def bit_chances(self, symbol: int) -> Floats:
        yes = [self.p if symbol >> option & 1 else self.q for option in range(self.mechanism.size)]
        return np.array([self.asked * chance for one in yes for chance in (1 - one, one)])

    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        m, r, sets = self.mechanism.size, self.mechanism.draw, self.mechanism.sets
        option, other = first // 2, second // 2
        true = ((symbol >> option & 1) == first % 2) & ((symbol >> other & 1) == second % 2)
        reported = self.kept * true + (1 - self.kept) * (sets / 4 - true) / (sets - 1)
        found: Floats = np.where(option == other, 0.0, r * (r - 1) / (m * max(m - 1, 1)) * reported)
        return found

    def likelihood(self, bits: int) -> list[Fraction]:
        kept = Fraction(self.mechanism.keep, WHOLE)
        other = (1 - kept) / (self.mechanism.sets - 1)
        sent = [(place // 2, place % 2) for place in ones_of(bits, self.mechanism.width)]
        masks = range(1 << self.mechanism.size)
        return [kept if all(mask >> option & 1 == bit for option, bit in sent) else other for mask in masks]

    def outcomes(self, most: int) -> Matrix | None:
        m, r = self.mechanism.size, self.mechanism.draw
        if r == 1 or math.comb(m, r) * self.mechanism.sets > most:
            return None
        reported = list(product((0, 1), repeat=r))
        each = [
            [2 * option + bit for option, bit in zip(options, bits, strict=True)]
            for options in combinations(range(m), r)
            for bits in reported
        ]
        return rows_of(self.mechanism.width, each)

    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        other = (1 - self.kept) / (self.mechanism.sets - 1)
        found: Floats = np.where(self.truthful(rows, symbol), self.kept, other)
        return found / math.comb(self.mechanism.size, self.mechanism.draw)

    def truthful(self, rows: Matrix, symbol: int) -> Hits:
        no, yes = rows[:, 0::2] == 1, rows[:, 1::2] == 1
        mask = np.array([symbol >> option & 1 for option in range(self.mechanism.size)], dtype=bool)
        found: Hits = ~((no & mask) | (yes & ~mask)).any(axis=1)
        return found

    def alike_chance(self, symbol: int, other: int) -> float:
        """Return how likely two sets agree on the asked options: none is asked of those on which they differ."""
        m, r = self.mechanism.size, self.mechanism.draw
        return math.comb(m - (symbol ^ other).bit_count(), r) / math.comb(m, r)

    def truthful_chance(self, symbol: int, true: int) -> float:
        alike = self.alike_chance(symbol, true)
        return alike * self.kept + (1 - alike) * (1 - self.kept) / (self.mechanism.sets - 1)

    def telling_chances(self, symbol: int, other: int) -> tuple[float, float]:
        apart = self.kept * (1 - self.alike_chance(symbol, other))
        return apart, apart / float(self.mechanism.odds)

    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """What was selected among the asked options is one of their sets, kept or another one."""
        count = len(symbols)
        asked = smallest(rng.random((count, self.mechanism.size)), self.mechanism.draw)
        place = np.arange(self.mechanism.draw)
        truth = ((symbols[:, None] >> asked & 1) << place).sum(axis=1)
        held = rng.random(count) < self.kept
        other = rng.integers(0, self.mechanism.sets - 1, count)
        sent = np.where(held, truth, other + (other >= truth))
        bits = np.zeros((count, self.mechanism.width), dtype=np.uint8)
        np.put_along_axis(bits, 2 * asked + (sent[:, None] >> place & 1), 1, axis=1)
        return bits

    def options(self, field: Field) -> list[str]:
        """Return what can be drawn: the options, and no answer where people may skip."""
        return [*field.questions[0].labels, NO_ANSWER][: self.mechanism.size]

    def bits(self, field: Field) -> list[BitMeaning]:
        found: list[BitMeaning] = []
        for number, option in enumerate(self.options(field), 1):
            found.append(BitMeaning(f"{option}:no", f"_{number}_no", f"asked about {option}: no"))
            found.append(BitMeaning(f"{option}:yes", f"_{number}_yes", f"asked about {option}: yes", *self.coin))
        return found

    def seen(self, field: Field, counts: Counts, n: int) -> list[SeenBit]:
        by_option = zip(self.options(field), counts[0::2], counts[1::2], strict=True)
        return [SeenBit(option, int(yes), int(no + yes), self.q, self.p) for option, no, yes in by_option]

    def asked_counts(self, counts: Counts) -> Counts | None:
        asked: Counts = counts[0::2] + counts[1::2]
        return asked if self.mechanism.draw < self.mechanism.size else None

    def asked_places(self) -> Indices:
        return np.repeat(np.arange(self.mechanism.width).reshape(-1, 2), 2, axis=0)

    def estimator_sentence(self, n: str) -> str:
        return (
            "For an option, n is the ones in its two bits together; the share of those who chose it is (ones of its"
            " second bit/n − q)/(p − q)."
        )

    def methods_phrase(self, write: Callable[[float], str]) -> str:
        p, q, several = write(self.p), write(self.q), self.mechanism.draw > 1
        at_once = f" on their {self.mechanism.sets} sets" if several else ""
        each = " for each option" if several else ""
        return (
            f"by asking about {self.mechanism.draw} of {self.mechanism.size} options, drawn at random, by randomized"
            f" response{at_once} with P(sent | chosen) = p = {p} and P(sent | not chosen) = q = {q}{each}"
        )

    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        people, true = self.mechanism.blind_draw()
        sizes = {"draw": self.mechanism.draw, "size": self.mechanism.size, "sets": self.mechanism.sets}
        return [Sentence("privacy.drawn", {"people": people, "true": true, **sizes})]

    def explains_symbols(self, *, exact: bool) -> bool:
        return False  # a set is no answer here, but each of its options

    def observe(self, counts: Counts, n: int, figure: Figure) -> Binomial | None:
        """Only one answer at a time: which were reported together is not counted."""
        places = np.flatnonzero(figure.sum.weights)
        if len(places) != 1:
            return None
        place = int(places[0])
        no, yes = (int(count) for count in counts[2 * place : 2 * place + 2])
        everyone = self.mechanism.draw == self.mechanism.size
        slope, offset = float(figure.sum.weights[place]), figure.sum.constant
        return Binomial(yes, no + yes, *self.coin, slope, offset, everyone=everyone)

    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction]:
        return self.coin

    @property
    def named(self) -> int:
        return 1

    def variance(self, assumed: Assumed) -> float:
        return share_variance(self.p, self.q, float(assumed.shares[1]))

    def largest_shift(self, figure: Figure) -> float:
        most = float(np.abs(figure.sum.weights).max())
        return most * max(1 - self.q, self.p) / (self.p - self.q)

    def score_map(self, sets: Sets) -> ScoreMap:
        """An option counts as often as it is asked about seldom.

        The noise of options that are asked together is one draw; but each option alone is a coin with p and q, and
        what several say together is seen in the sums of a scan.
        """
        p, q, d, rare = self.p, self.q, self.p - self.q, self.mechanism.size / self.mechanism.draw
        slope, ones = np.zeros((self.mechanism.width, self.mechanism.size)), np.ones(self.mechanism.size)
        for i in range(self.mechanism.size):
            slope[2 * i : 2 * i + 2, i] = -q * rare / d, (1 - q) * rare / d
        still, gone = rare * q * (1 - q) / d**2, rare * (1 + p * (1 - p) / d**2)
        return ScoreMap(slope, 0 * ones, still * ones, (gone - still) * ones, None)

    @property
    def symbol_bits(self) -> None:
        return None  # two bits for each option

    def shares(self, counts: Counts, n: int) -> None:
        return None

    def union_coin(self, size: int) -> None:
        return None

    def named_symbols(self, counts: Counts, n: int) -> None:
        return None

    def answer_pair(self, first: int, second: int) -> AnswerPair | None:
        """What the 2^r sets are to two options: the same truth, with as much noise, on four cells of 2^(r−2) sets."""
        if self.mechanism.draw < 2:
            return None
        each = self.mechanism.sets // 4
        other = Fraction(WHOLE - self.mechanism.keep, self.mechanism.sets - 1)
        cells = Subset(size=4, weight=1, keep=round(self.mechanism.keep + (each - 1) * other))
        return AnswerPair(cells, tuple((2 * first + i, 2 * second + j) for i, j in product((0, 1), repeat=2)))
