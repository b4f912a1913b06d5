"""The channel of `Drawn`: devices draw some options, and each option is counted among the devices asked about it."""

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
from candor_client.sampling import DENOMINATOR
from survey_app.channels.channel import (
    AnswerPair,
    AssumedShares,
    BitMeaning,
    CoinChannel,
    Generator,
    Hits,
    Indices,
    ItemCount,
    Matrix,
    ScoreMap,
    find_ones,
    find_smallest,
    make_bit_rows,
)
from survey_app.channels.design_variance import share_variance
from survey_app.channels.observations import Binomial, Counts
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.figures import Figure, Floats, Sets


@final
class DrawnChannel(CoinChannel):
    """Two bits for each option: asked and no reported, asked and yes reported; p and q are those of an asked option."""

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
    def informative_share(self) -> float:
        return self.mechanism.draw / self.mechanism.size

    @property
    def asked_options(self) -> tuple[int, int] | None:
        drawn, total = self.mechanism.draw, self.mechanism.size
        return (drawn, total) if drawn < total else None

    @property
    def truth_chance(self) -> float:
        """The probability that a device sends the true set of the options it was asked about."""
        return self.mechanism.keep / DENOMINATOR

    def bit_chances(self, symbol: int) -> Floats:
        yes_chances = [self.p if symbol >> option & 1 else self.q for option in range(self.mechanism.size)]
        return np.array([self.informative_share * chance for yes in yes_chances for chance in (1 - yes, yes)])

    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        m, r, sets = self.mechanism.size, self.mechanism.draw, self.mechanism.sets
        option, other = first // 2, second // 2
        true = ((symbol >> option & 1) == first % 2) & ((symbol >> other & 1) == second % 2)
        reported = self.truth_chance * true + (1 - self.truth_chance) * (sets / 4 - true) / (sets - 1)
        chances: Floats = np.where(option == other, 0.0, r * (r - 1) / (m * max(m - 1, 1)) * reported)
        return chances

    def likelihood(self, bits: int) -> list[Fraction]:
        truth_chance = Fraction(self.mechanism.keep, DENOMINATOR)
        other_chance = (1 - truth_chance) / (self.mechanism.sets - 1)
        pairs = [(place // 2, place % 2) for place in find_ones(bits, self.mechanism.width)]
        masks = range(1 << self.mechanism.size)
        return [
            truth_chance if all(mask >> option & 1 == bit for option, bit in pairs) else other_chance for mask in masks
        ]

    def outcomes(self, most: int) -> Matrix | None:
        m, r = self.mechanism.size, self.mechanism.draw
        if r == 1 or math.comb(m, r) * self.mechanism.sets > most:
            return None
        bit_rows = list(product((0, 1), repeat=r))
        ones = [
            [2 * option + bit for option, bit in zip(options, bits, strict=True)]
            for options in combinations(range(m), r)
            for bits in bit_rows
        ]
        return make_bit_rows(self.mechanism.width, ones)

    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        other_chance = (1 - self.truth_chance) / (self.mechanism.sets - 1)
        chances: Floats = np.where(self.match_symbol(rows, symbol), self.truth_chance, other_chance)
        return chances / math.comb(self.mechanism.size, self.mechanism.draw)

    def match_symbol(self, rows: Matrix, symbol: int) -> Hits:
        no, yes = rows[:, 0::2] == 1, rows[:, 1::2] == 1
        mask = np.array([symbol >> option & 1 for option in range(self.mechanism.size)], dtype=bool)
        matches: Hits = ~((no & mask) | (yes & ~mask)).any(axis=1)
        return matches

    def agreement_chance(self, symbol: int, other: int) -> float:
        """Return the probability that two sets agree on all asked options: no option on which they differ is asked."""
        m, r = self.mechanism.size, self.mechanism.draw
        return math.comb(m - (symbol ^ other).bit_count(), r) / math.comb(m, r)

    def match_chance(self, symbol: int, true: int) -> float:
        agreement = self.agreement_chance(symbol, true)
        return agreement * self.truth_chance + (1 - agreement) * (1 - self.truth_chance) / (self.mechanism.sets - 1)

    def distinction_chances(self, symbol: int, other: int) -> tuple[float, float]:
        chance = self.truth_chance * (1 - self.agreement_chance(symbol, other))
        return chance, chance / float(self.mechanism.odds)

    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """Return simulated bits: the selected ones of the asked options, with `truth_chance`, otherwise another set."""
        count = len(symbols)
        options = find_smallest(rng.random((count, self.mechanism.size)), self.mechanism.draw)
        place = np.arange(self.mechanism.draw)
        truth = ((symbols[:, None] >> options & 1) << place).sum(axis=1)
        is_truth = rng.random(count) < self.truth_chance
        other_set = rng.integers(0, self.mechanism.sets - 1, count)
        sets = np.where(is_truth, truth, other_set + (other_set >= truth))
        bits = np.zeros((count, self.mechanism.width), dtype=np.uint8)
        np.put_along_axis(bits, 2 * options + (sets[:, None] >> place & 1), 1, axis=1)
        return bits

    def options(self, field: Field) -> list[str]:
        """Return the names of all that can be drawn: the options, and no answer where people may skip."""
        return [*field.questions[0].labels, NO_ANSWER][: self.mechanism.size]

    def bits(self, field: Field) -> list[BitMeaning]:
        meanings: list[BitMeaning] = []
        for number, option in enumerate(self.options(field), 1):
            meanings.append(BitMeaning(f"{option}:no", f"_{number}_no", f"asked about {option}: no"))
            meanings.append(BitMeaning(f"{option}:yes", f"_{number}_yes", f"asked about {option}: yes", *self.coin))
        return meanings

    def count_items(self, field: Field, counts: Counts, n: int) -> list[ItemCount]:
        by_option = zip(self.options(field), counts[0::2], counts[1::2], strict=True)
        return [ItemCount(option, int(yes), int(no + yes), self.q, self.p) for option, no, yes in by_option]

    def asked_counts(self, counts: Counts) -> Counts | None:
        devices: Counts = counts[0::2] + counts[1::2]
        return devices if self.mechanism.draw < self.mechanism.size else None

    def asked_places(self) -> Indices:
        return np.repeat(np.arange(self.mechanism.width).reshape(-1, 2), 2, axis=0)

    def estimator_sentence(self, n: str) -> str:
        return (
            "For an option, n is the number of ones in its two bits together. The share of people who chose it is (ones"
            " in its second bit/n − q)/(p − q)."
        )

    def methods_phrase(self, write: Callable[[float], str]) -> str:
        p, q, several = write(self.p), write(self.q), self.mechanism.draw > 1
        target = f"their {self.mechanism.sets} possible subsets" if several else "this option"
        suffix = " for each option" if several else ""
        return (
            f"by drawing {self.mechanism.draw} of {self.mechanism.size} options at random and applying randomized"
            f" response to {target}, with P(sent | chosen) = p = {p} and P(sent | not chosen) = q = {q}{suffix}"
        )

    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        people, true = self.mechanism.blind_draw()
        sizes = {"draw": self.mechanism.draw, "size": self.mechanism.size, "sets": self.mechanism.sets}
        return [Sentence("privacy.drawn", {"people": people, "true": true, **sizes})]

    def needs_symbol_explanation(self, *, exact: bool) -> bool:
        return False  # here an answer is a single option, not a set

    def observe(self, counts: Counts, n: int, figure: Figure) -> Binomial | None:
        """Observe a figure of a single answer; return None for others, because the tally has no joint counts."""
        places = np.flatnonzero(figure.sum.weights)
        if len(places) != 1:
            return None
        place = int(places[0])
        no, yes = (int(count) for count in counts[2 * place : 2 * place + 2])
        is_complete = self.mechanism.draw == self.mechanism.size
        slope, offset = float(figure.sum.weights[place]), figure.sum.constant
        return Binomial(yes, no + yes, *self.coin, slope, offset, is_complete=is_complete)

    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction]:
        return self.coin

    @property
    def answers_per_report(self) -> int:
        return 1

    def variance(self, assumed: AssumedShares) -> float:
        return share_variance(self.p, self.q, float(assumed.shares[1]))

    def largest_shift(self, figure: Figure) -> float:
        most = float(np.abs(figure.sum.weights).max())
        return most * max(1 - self.q, self.p) / (self.p - self.q)

    def score_map(self, sets: Sets) -> ScoreMap:
        """Return scores for all options, weighted by size/draw because each device is asked about only some of them.

        Options that are asked together share one draw of noise. Each option alone is a coin with p and q, and their
        dependence shows in the sums of a scan.
        """
        p, q, d, factor = self.p, self.q, self.p - self.q, self.mechanism.size / self.mechanism.draw
        slope, ones = np.zeros((self.mechanism.width, self.mechanism.size)), np.ones(self.mechanism.size)
        for i in range(self.mechanism.size):
            slope[2 * i : 2 * i + 2, i] = -q * factor / d, (1 - q) * factor / d
        noise, true_moment = factor * q * (1 - q) / d**2, factor * (1 + p * (1 - p) / d**2)
        return ScoreMap(slope, 0 * ones, noise * ones, (true_moment - noise) * ones, None)

    @property
    def symbol_bits(self) -> None:
        return None  # two bits for each option

    def estimate_shares(self, counts: Counts, n: int) -> None:
        return None

    def union_coin(self, size: int) -> None:
        return None

    def named_symbols(self, counts: Counts, n: int) -> None:
        return None

    def answer_pair(self, first: int, second: int) -> AnswerPair | None:
        """Return two options as a mechanism with four cells: each combines 2^(r−2) of the 2^r sets of asked options."""
        if self.mechanism.draw < 2:
            return None
        set_count = self.mechanism.sets // 4
        other_weight = Fraction(DENOMINATOR - self.mechanism.keep, self.mechanism.sets - 1)
        cells = Subset(size=4, weight=1, keep=round(self.mechanism.keep + (set_count - 1) * other_weight))
        return AnswerPair(cells, tuple((2 * first + i, 2 * second + j) for i, j in product((0, 1), repeat=2)))
