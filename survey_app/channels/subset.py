"""The channel of `Subset`: a random set of `weight` symbols, or one symbol if the weight is 1."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np

from candor_client.definition import Field
from candor_client.description import symbol_label
from candor_client.mechanisms import Subset
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
    find_ones,
    find_smallest,
    make_bit_rows,
)
from survey_app.channels.design_variance import Moments, subset_variance
from survey_app.channels.observations import Binomial, Counts, Observation, Scores, Spread, Sums
from survey_app.channels.sentences import Sentence, SymbolWords, coin_sentence
from survey_app.channels.symbol_bits import SymbolBits
from survey_app.figures import Figure, FigureKind, Floats, Sets


@final
class SubsetChannel(CoinChannel):
    """A set that contains the true symbol with probability p, and each other symbol with probability q."""

    mechanism: Subset
    chances_from_integers = "p = keep/2^64; q = (weight − p)/(size − 1)"

    @cached_property
    def coin(self) -> tuple[Fraction, Fraction]:
        return self.mechanism.p, self.mechanism.q

    @cached_property
    def symbol_bits(self) -> SymbolBits:
        k, w, p = self.mechanism.size, self.mechanism.weight, self.p
        neither = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / max((k - 1) * (k - 2), 1)
        return SymbolBits(p, self.q, self.gap, p * (w - 1) / (k - 1), neither, w == 1)

    def union_coin(self, size: int) -> tuple[Fraction, Fraction] | None:
        """Return P = p + (c − 1)q and Q = cq for a set of c symbols; None if c > 1 and reports name several symbols."""
        p, q = self.coin
        if size == 1:
            return p, q
        return None if self.mechanism.weight > 1 else (p + (size - 1) * q, size * q)

    def share_coin(self, reported: float, unbiased: float) -> tuple[Fraction, Fraction] | None:
        """Return P and Q of a share, after finding the number c of symbols that contain the answer.

        If nobody gave the answer, each of these symbols would still be sent with q. So c is the noise part of
        `reported`, divided by q.
        """
        noise = reported - unbiased * self.gap
        return self.union_coin(min(max(round(noise / self.q), 1), self.mechanism.size))

    @property
    def answers_per_report(self) -> int:
        return self.mechanism.weight

    def bit_chances(self, symbol: int) -> Floats:
        return np.where(np.arange(self.mechanism.size) == symbol, self.p, self.q)

    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        bits = self.symbol_bits
        chances: Floats = np.where((first == symbol) | (second == symbol), bits.pair_p, bits.pair_q)
        return chances

    def likelihood(self, bits: int) -> list[Fraction]:
        (p, _), k, w = self.coin, self.mechanism.size, self.mechanism.weight
        chances, ones = (p / w, (1 - p) / (k - w)), set(find_ones(bits, k))
        return [chances[symbol not in ones] for symbol in range(k)]

    def outcomes(self, most: int) -> Matrix | None:
        k, w = self.mechanism.size, self.mechanism.weight
        if w == 1 or math.comb(k, w) > most:
            return None
        return make_bit_rows(k, list(combinations(range(k), w)))

    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        k, w = self.mechanism.size, self.mechanism.weight
        included, excluded = self.p / math.comb(k - 1, w - 1), (1 - self.p) / math.comb(k - 1, w)
        chances: Floats = np.where(rows[:, symbol] == 1, included, excluded)
        return chances

    def match_symbol(self, rows: Matrix, symbol: int) -> Hits:
        matches: Hits = rows[:, symbol] == 1
        return matches

    def match_chance(self, symbol: int, true: int) -> float:
        return self.p if symbol == true else self.q

    def distinction_chances(self, symbol: int, other: int) -> tuple[float, float]:
        chance = self.p * (self.mechanism.size - self.mechanism.weight) / (self.mechanism.size - 1)
        return chance, chance / float(self.mechanism.odds)

    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """Return simulated bits: the symbols with the smallest random keys.

        The true symbol's key is the smallest with probability p, otherwise the largest.
        """
        count = len(symbols)
        is_included = rng.random(count) < self.p
        keys = rng.random((count, self.mechanism.size))
        keys[np.arange(count), symbols] = np.where(is_included, -1.0, 2.0)
        bits = np.zeros(keys.shape, dtype=np.uint8)
        np.put_along_axis(bits, find_smallest(keys, self.mechanism.weight), 1, axis=1)
        return bits

    def bits(self, field: Field) -> list[BitMeaning]:
        labels = [symbol_label(field, symbol) for symbol in range(self.mechanism.size)]
        return [BitMeaning(label, f"_{number}", label, *self.coin) for number, label in enumerate(labels, 1)]

    def count_items(self, field: Field, counts: Counts, n: int) -> list[ItemCount]:
        ones_by_symbol = enumerate(counts)
        return [ItemCount(symbol_label(field, symbol), int(ones), n, self.q, self.p) for symbol, ones in ones_by_symbol]

    def estimator_sentence(self, n: str) -> str:
        return f"A share is (ones/n − q)/(p − q), where n is {n}."

    def methods_phrase(self, write: Callable[[float], str]) -> str:
        p, q, size, weight = write(self.p), write(self.q), self.mechanism.size, self.mechanism.weight
        if size == 2:
            return (
                f"by randomized response: the true one of the two answers was sent with probability p = {p}, and the"
                f" other one with q = {q}"
            )
        if weight == 1:
            return (
                f"by {size}-ary randomized response: the true answer was kept with probability p = {p}, and each"
                f" other one was sent with probability q = {q}"
            )
        return (
            f"by subset selection: {weight} of {size} answers were sent, with the true one among them with probability"
            f" p = {p}, and each other one with probability q = {q}"
        )

    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        odds = coin_sentence(self.mechanism.blind_draw(), self.coin, words)
        weight_sentence = Sentence("privacy.several", {"weight": self.mechanism.weight, "size": self.mechanism.size})
        return [odds, weight_sentence] if self.mechanism.weight > 1 else [odds]

    def needs_symbol_explanation(self, *, exact: bool) -> bool:
        return True

    def asked_counts(self, counts: Counts) -> None:
        return None

    def observe(self, counts: Counts, n: int, figure: Figure) -> Observation:
        if figure.kind != FigureKind.MEAN:
            return self._share(counts, n, figure)
        values = figure.sum.weights + figure.sum.constant
        if figure.is_rounded and self.mechanism.size == 2:
            return Binomial(int(counts[1]), n, *self.coin, float(values[1] - values[0]), float(values[0]))
        if self.mechanism.weight > 1:
            return self._sums(counts, n, values)
        return Scores(values, counts, n, self.q * float(values.sum()), self.p - self.q)

    def variance(self, assumed: AssumedShares) -> float:
        return figure_variance(assumed.moments, self.mechanism)

    def largest_shift(self, figure: Figure) -> float:
        """Return how much more a fabricated report can shift n times a figure than an honest report.

        An honest report shifts it by one score, a fabricated one by (S − q Σa)/(p − q); S sums the scores it names.
        """
        w, values = self.mechanism.weight, np.sort(figure.sum.weights)
        ends = float(values[:w].sum()), float(values[-w:].sum())
        low, high = ((end - self.q * float(values.sum())) / (self.p - self.q) for end in ends)
        return max(high - float(values[0]), float(values[-1]) - low)

    def score_map(self, sets: Sets) -> ScoreMap:
        """Return unbiased scores: for a set of m symbols, u = (Σ b − mq)/(p − q) over its bits."""
        q, d, pair_p, pair_q = self.q, self.p - self.q, self.symbol_bits.pair_p, self.symbol_bits.pair_q
        slope, m = np.zeros((self.mechanism.size, len(sets))), np.array([float(len(symbols)) for symbols in sets])
        for i, symbols in enumerate(sets):
            slope[symbols, i] = 1 / d
        noise = (m * q + m * (m - 1) * pair_q - (m * q) ** 2) / d**2
        gain = (d + 2 * (m - 1) * (pair_p - pair_q) - 2 * m * q * d) / d**2
        return ScoreMap(slope, -m * q / d, noise, gain, (m * q, d) if self.mechanism.weight == 1 else None)

    def estimate_shares(self, counts: Counts, n: int) -> Floats:
        shares: Floats = (counts / n - self.q) / self.gap
        return shares

    def named_symbols(self, counts: Counts, n: int) -> Counts | None:
        return counts if self.mechanism.weight == 1 else None

    def row_likelihoods(self, rows: Matrix) -> Floats:
        k, w = self.mechanism.size, self.mechanism.weight
        return np.where(rows > 0, self.p / w, (1 - self.p) / (k - w))

    def answer_pair(self, first: int, second: int) -> None:
        return None

    def union_variance(self, size: int, share: float) -> float:
        """Return n·Var of the share of a union of `size` symbols."""
        reported = self.symbol_bits.covariance(np.array([share]), size)[0, 0]
        return float(reported) / (self.p - self.q) ** 2

    def score_moments(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return E[S | truth] and E[S² | truth] for every true symbol; S sums the scores of the reported symbols.

        r of the k − 1 other symbols are drawn without replacement, so the variance of their sum is
        r(k−1−r)/((k−1)(k−2)) (B − A²/(k−1)), where A and B are the sums of their scores and of the squares.
        """
        k, w, p, q = self.mechanism.size, self.mechanism.weight, self.p, self.q
        other_sums, squares = scores.sum() - scores, (scores**2).sum() - scores**2
        scatter = (squares - other_sums**2 / (k - 1)) / ((k - 1) * max(k - 2, 1))
        included = (scores + (w - 1) * other_sums / (k - 1)) ** 2 + (w - 1) * (k - w) * scatter
        excluded = (w * other_sums / (k - 1)) ** 2 + w * (k - 1 - w) * scatter
        return p * scores + q * other_sums, p * included + (1 - p) * excluded

    def _share(self, counts: Counts, n: int, figure: Figure) -> Observation:
        symbols = np.flatnonzero(figure.sum.weights)
        slope, offset, size = float(figure.sum.weights[symbols[0]]), figure.sum.constant, len(symbols)
        if coin := self.union_coin(size):
            return Binomial(int(counts[symbols].sum()), n, *coin, slope, offset)
        sums = self._sums(counts, n, (figure.sum.weights != 0).astype(float))
        spread = self._spread(size, n).map_affine(slope, offset)
        scale = sums.scale / slope
        return replace(sums, base=sums.base - offset * scale, scale=scale, spread=spread)

    def _sums(self, counts: Counts, n: int, values: Floats) -> Sums:
        """Observe the sum of the scores of the reported symbols, with the variance at the estimated shares."""
        k, w = self.mechanism.size, self.mechanism.weight
        ordered = np.sort(values)
        mean = float(values @ counts / n)
        shares = np.clip(self.estimate_shares(counts, n), 0, None)
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(k, 1 / k)
        first, second = self.score_moments(values)
        variance = max(float(shares @ second) - mean * mean, float((second - first**2).min()))
        least, most = float(ordered[:w].sum()), float(ordered[k - w :].sum())
        return Sums(mean, variance, least, most, n, self.q * float(values.sum()), self.p - self.q)

    def _spread(self, size: int, n: int) -> Spread:
        """Return n·Var of the share of a union of symbols: quadratic in the share, so three values determine it."""
        at_zero, at_half, at_one = (self.union_variance(size, share) for share in (0.0, 0.5, 1.0))
        bend = 2 * (at_zero + at_one) - 4 * at_half
        return Spread(at_zero, at_one - at_zero - bend, bend, 1 / (n * self.gap))


def figure_variance(figure: Moments, mechanism: Subset) -> float:
    """Return n·Var of an estimated Σ a f, from the published integers."""
    return subset_variance(figure, mechanism.size, mechanism.weight, float(mechanism.p))
