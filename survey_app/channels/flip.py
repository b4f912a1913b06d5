"""The channel of `Flip`: one bit for two symbols."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from candor_client.definition import Field
from candor_client.description import symbol_label
from candor_client.mechanisms import Flip
from candor_client.question import Question
from survey_app.channels.channel import (
    AssumedShares,
    BitMeaning,
    CoinChannel,
    Generator,
    Hits,
    Indices,
    ItemCount,
    Matrix,
    ScoreMap,
)
from survey_app.channels.design_variance import share_variance
from survey_app.channels.observations import Binomial, Counts
from survey_app.channels.sentences import Sentence, SymbolWords, coin_sentence
from survey_app.figures import Figure, Floats, Sets


@final
class FlipChannel(CoinChannel):
    """One bit whose value 1 names the second symbol. `p` and `q` are floats; `coin` has them as exact fractions."""

    mechanism: Flip
    chances_from_integers = "p = one/2^64; q = zero/2^64"

    @cached_property
    def coin(self) -> tuple[Fraction, Fraction]:
        return self.mechanism.p, self.mechanism.q

    def bit_chances(self, symbol: int) -> Floats:
        return np.array([self.p if symbol else self.q])

    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        return np.zeros(len(first))  # there is no second bit

    def likelihood(self, bits: int) -> list[Fraction]:
        p, q = self.coin
        return [q, p] if bits else [1 - q, 1 - p]

    def outcomes(self, most: int) -> None:
        return None

    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        heads: Floats = np.where(rows[:, 0] == 1, self.bit_chances(symbol)[0], 1 - self.bit_chances(symbol)[0])
        return heads

    def match_symbol(self, rows: Matrix, symbol: int) -> Hits:
        matches: Hits = rows[:, 0] == symbol
        return matches

    def match_chance(self, symbol: int, true: int) -> float:
        heads = float(self.bit_chances(true)[0])
        return heads if symbol else 1 - heads

    def distinction_chances(self, symbol: int, other: int) -> tuple[float, float]:
        return self.match_chance(symbol, symbol), self.match_chance(symbol, other)

    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        chances = np.where(symbols == 1, self.p, self.q)
        return (rng.random(len(symbols)) < chances).astype(np.uint8)[:, None]

    def bits(self, field: Field) -> list[BitMeaning]:
        return [BitMeaning("", "", symbol_label(field, 1), *self.coin)]

    def count_items(self, field: Field, counts: Counts, n: int) -> list[ItemCount]:
        return [ItemCount(symbol_label(field, 1), int(counts[0]), n, least=self.q, most=self.p)]

    def estimator_sentence(self, n: str) -> str:
        return f"A share is (ones/n − q)/(p − q), where n is {n}."

    def methods_phrase(self, write: Callable[[float], str]) -> str:
        p, q = write(self.p), write(self.q)
        return f"by randomized response, with P(yes sent | yes) = p = {p} and P(yes sent | no) = q = {q}"

    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        return [coin_sentence(self.mechanism.blind_draw(), self.coin, words)]

    def needs_symbol_explanation(self, *, exact: bool) -> bool:
        return True

    def forced_response(self) -> tuple[Fraction, Fraction, Fraction]:
        p, q = self.coin
        return p - q, q, 1 - p

    def asked_counts(self, counts: Counts) -> None:
        return None

    def observe(self, counts: Counts, n: int, figure: Figure) -> Binomial:
        first, second = (figure.sum.constant + float(weight) for weight in figure.sum.weights)
        return Binomial(int(counts[0]), n, *self.coin, second - first, first)

    def variance(self, assumed: AssumedShares) -> float:
        width = assumed.values[1] - assumed.values[0]
        return float(width**2) * share_variance(self.p, self.q, float(assumed.shares[1]))

    def largest_shift(self, figure: Figure) -> float:
        first, second = figure.sum.weights
        return float(abs(second - first)) * max(1 - self.q, self.p) / (self.p - self.q)

    def score_map(self, sets: Sets) -> ScoreMap:
        p, q, gap = self.p, self.q, self.p - self.q
        noise = np.array([p * (1 - p), q * (1 - q)]) / gap**2
        return ScoreMap(
            slope=np.array([[-1.0, 1.0]]) / gap,
            offset=np.array([p, -q]) / gap,
            noise_moment=noise,
            moment_gain=1 + noise[::-1] - noise,
            table=(np.array([1 - p, q]), gap),
        )

    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction]:
        """Return p and q of the symbol that fits the reported share.

        The one stored bit counts the second symbol, its complement the first.
        """
        p, q = self.coin
        coins = (p, q), (1 - q, 1 - p)
        return min(coins, key=lambda coin: abs(float(coin[1]) + self.gap * unbiased - reported))

    @property
    def answers_per_report(self) -> int:
        return 1

    @property
    def symbol_bits(self) -> None:
        return None  # one bit for both

    def estimate_shares(self, counts: Counts, n: int) -> None:
        return None

    def union_coin(self, size: int) -> None:
        return None

    def answer_pair(self, first: int, second: int) -> None:
        return None

    def named_symbols(self, counts: Counts, n: int) -> Counts:
        return np.array([n - counts[0], counts[0]], dtype=np.int64)

    def row_likelihoods(self, rows: Matrix) -> Floats:
        return np.where(rows > 0, np.array([self.q, self.p]), np.array([1 - self.q, 1 - self.p]))

    def comparison_count(self, figures: int) -> int:
        return 1  # all figures follow from one bit
