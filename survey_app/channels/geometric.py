"""The channel of `Geometric`: a level plus geometric noise, clamped to the range; only the mean can be estimated."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np

from candor_client.definition import Field
from candor_client.description import level_value, symbol_label
from candor_client.mechanisms import Geometric
from candor_client.question import Question
from candor_client.sampling import DENOMINATOR
from survey_app.channels.channel import (
    AssumedShares,
    BitMeaning,
    Channel,
    Generator,
    Hits,
    Indices,
    ItemCount,
    Matrix,
    find_ones,
)
from survey_app.channels.observations import Counts, Scores
from survey_app.channels.sentences import Sentence, SymbolWords
from survey_app.figures import Figure, FigureKind, Floats, Sets


@final
class GeometricChannel(Channel):
    """One bit for each level; a report sets the bit of its noisy level."""

    mechanism: Geometric
    coin = None
    chances_from_integers = (
        "with r = ratio/2^64, the score of a level is the level itself; the lowest level scores r/(1 − r) levels less,"
        " and the highest r/(1 − r) levels more"
    )

    @cached_property
    def scores(self) -> Floats:
        """The score of each noisy level; the mean score is an unbiased estimate of the mean level.

        The lowest and highest level stand for all values beyond them. Those lie r/(1−r) levels farther out on average,
        whatever the truth was, so clamping causes no bias.
        """
        ratio = self.mechanism.ratio / DENOMINATOR
        scores = np.arange(self.mechanism.size, dtype=float)
        scores[0] -= ratio / (1 - ratio)
        scores[-1] += ratio / (1 - ratio)
        return scores

    @cached_property
    def chances(self) -> Floats:
        """The matrix of P(noisy level | level), with a row for each level, from the published integers."""
        size, top = self.mechanism.size, self.mechanism.size - 1
        tails = [1.0, *(tail / DENOMINATOR for tail in self.mechanism.tails), 0.0]  # P(noise ≥ k), for k ≥ 1
        chances = np.zeros((size, size))
        for level in range(size):
            for noisy in range(size):
                distance = abs(noisy - level)
                chances[level, noisy] = tails[distance] - tails[distance + 1] if distance else 1 - 2 * tails[1]
            chances[level, 0] = tails[level] if level else 1 - tails[1]
            chances[level, top] = tails[top - level] if level < top else 1 - tails[1]
        return chances

    def bit_chances(self, symbol: int) -> Floats:
        chances: Floats = self.chances[symbol]
        return chances

    def pair_chances(self, symbol: int, first: Indices, second: Indices) -> Floats:
        return np.zeros(len(first))  # exactly one bit is 1

    def likelihood(self, bits: int) -> list[Fraction]:
        (noisy,) = find_ones(bits, self.mechanism.size)
        return [Fraction(float(chance)) for chance in self.chances[:, noisy]]

    def outcomes(self, most: int) -> None:
        return None

    def outcome_chances(self, rows: Matrix, symbol: int) -> Floats:
        chances: Floats = rows @ self.chances[symbol]
        return chances

    def match_symbol(self, rows: Matrix, symbol: int) -> Hits:
        matches: Hits = rows[:, symbol] == 1
        return matches

    def match_chance(self, symbol: int, true: int) -> float:
        return float(self.chances[true, symbol])

    def distinction_chances(self, symbol: int, other: int) -> tuple[float, float]:
        return self.match_chance(symbol, symbol), self.match_chance(symbol, other)

    def sample(self, symbols: Indices, rng: Generator) -> Matrix:
        """Return simulated bits by the device's own arithmetic.

        One random word decides both directions: its value counts tails for steps up, its complement for steps down.
        """
        rising = np.array(self.mechanism.tails[::-1], dtype=np.uint64)
        up = rng.integers(0, DENOMINATOR, len(symbols), dtype=np.uint64)
        down = np.uint64(DENOMINATOR - 1) - up
        above, below = (len(rising) - np.searchsorted(rising, word, side="right") for word in (up, down))
        noisy = np.clip(symbols + above - below, 0, self.mechanism.size - 1)
        bits: Matrix = (noisy[:, None] == np.arange(self.mechanism.size)).astype(np.uint8)
        return bits

    def bits(self, field: Field) -> list[BitMeaning]:
        """Return the meaning of every stored bit, with scores in the unit of the question."""
        question = field.questions[0]
        low, step = float(question.min), float(level_value(question, 1) - level_value(question, 0))
        meanings: list[BitMeaning] = []
        for level, score in enumerate(self.scores):
            label = symbol_label(field, level)
            meanings.append(BitMeaning(label, f"_{level + 1}", label, score=low + step * float(score)))
        return meanings

    def count_items(self, field: Field, counts: Counts, n: int) -> list[ItemCount]:
        ends = zip(counts, self.chances.min(axis=0), self.chances.max(axis=0), strict=True)
        return [
            ItemCount(symbol_label(field, level), int(ones), n, float(least), float(most))
            for level, (ones, least, most) in enumerate(ends)
        ]

    def estimator_sentence(self, n: str) -> str:
        return f"The mean is the sum of score × ones over all bits of the field, divided by n, where n is {n}."

    def methods_phrase(self, write: Callable[[float], str]) -> str:
        return (
            "by two-sided geometric noise, P(noise = k) ∝ r^|k| with r = "
            f"{write(self.mechanism.ratio / DENOMINATOR)}; values"
            f" outside the levels 0 to {self.mechanism.size - 1} were sent as the nearest of these levels"
        )

    def odds_sentences(self, question: Question, words: SymbolWords) -> list[Sentence]:
        distance = self.mechanism.median_noise(question)
        return [Sentence("privacy.geometric" if distance else "privacy.geometric_little", {"away": distance})]

    def needs_symbol_explanation(self, *, exact: bool) -> bool:
        return not exact  # noise is added to the number itself

    def asked_counts(self, counts: Counts) -> None:
        return None

    def observe(self, counts: Counts, n: int, figure: Figure) -> Scores | None:
        """Observe a mean; levels are equidistant, so the weights of the first and the last level determine it."""
        if figure.kind != FigureKind.MEAN:
            return None
        first, last = (figure.sum.constant + float(figure.sum.weights[place]) for place in (0, -1))
        step = (last - first) / (self.mechanism.size - 1)
        return Scores(self.scores, counts, n, -first / step, 1 / step)

    def share_coin(self, reported: float, unbiased: float) -> None:
        return None

    @property
    def answers_per_report(self) -> int:
        return 1

    @property
    def mean_formula(self) -> str:
        return (
            "With geometric noise, the mean was estimated without bias by the mean of the levels sent. The lowest level"
            " counted for r/(1 − r) levels less and the highest for r/(1 − r) levels more ({scores}). The displayed"
            " mean is the nearest possible mean."
        )

    def variance(self, assumed: AssumedShares) -> float:
        step, shares, scores = assumed.values[1] - assumed.values[0], assumed.shares, self.scores
        levels = float(shares @ (self.chances @ scores**2) - (shares @ (self.chances @ scores)) ** 2)
        return float(step**2) * levels

    def largest_shift(self, figure: Figure) -> float:
        values = figure.sum.weights
        scores = values[0] + (values[1] - values[0]) * self.scores
        return float(max(scores[-1] - values[0], values[-1] - scores[0]))

    def score_map(self, sets: Sets) -> None:
        return None

    @property
    def symbol_bits(self) -> None:
        return None  # the probability of a level depends on its distance from the true one

    def estimate_shares(self, counts: Counts, n: int) -> None:
        return None

    def union_coin(self, size: int) -> None:
        return None

    def named_symbols(self, counts: Counts, n: int) -> None:
        return None

    def answer_pair(self, first: int, second: int) -> None:
        return None

    def worst_variance(self, *, rounded: bool) -> float:
        """Return n·Var of a mean on [−1, 1] at the worst true value, for the sample as target.

        `rounded` means that numbers are rounded at random to a coarser grid. Between two levels that adds f(1 − f)
        squared steps, where f is the fraction of the way to the upper level.
        """
        spread = self.chances @ self.scores**2 - (self.chances @ self.scores) ** 2
        worst = float(spread.max())
        if rounded:
            for below, above in pairwise(spread):
                part = min(max((1 + float(above - below)) / 2, 0.0), 1.0)
                worst = max(worst, float(below + (above - below) * part) + part * (1 - part))
        return worst * (2 / (self.mechanism.size - 1)) ** 2
