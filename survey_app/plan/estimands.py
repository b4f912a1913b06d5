"""What a question will estimate, shares and means, and how much one report says about each.

Any option of a question stands for all of them, since they have the same p and q. Means are linear in the shares, and
their variances come from `survey_app.channel`; of an optional question the mean is that of those who answer, a ratio
Σ a f/Σ f, whose variance is that of Σ (a − ratio) f, divided by the squared share of those who answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from client.definition import Field, Question
from client.mechanism import Flip, Geometric, Sampled, Subset, Unary
from client.sampling import WHOLE
from client.words import bin_range, level_value
from survey_app.authoring import choose
from survey_app.channel import Floats, score_variance, share_variance
from survey_app.explain import written
from survey_app.plan.people import Guess, numbers, option_share
from survey_app.plan.spread import Spread

SHARES = {"yes_no": "yes", "choice": "option", "scale": "point", "multiple": "option", "number": "bin"}
SPOKEN = {"yes": "yes", "option": "an option", "point": "a point", "bin": "a bin"}


@dataclass(frozen=True)
class Estimand:
    """A share or a mean: what is assumed about it, its possible range, and its spread, also at other shares."""

    name: str
    planned: float
    low: float
    high: float
    spread: Spread
    at: Callable[[float], Spread] = field(repr=False, compare=False)
    bits: tuple[Fraction, Fraction] | None = None  # p and q, where it is one stored bit that is counted

    @property
    def is_share(self) -> bool:
        """Whether it is a share; else it is a mean."""
        return self.name in SHARES.values()

    @property
    def width(self) -> float:
        """The length of its possible range."""
        return self.high - self.low


def assumption(name: str, planned: float, unit: str = "") -> str:
    """An estimand in words, and what is assumed about it."""
    if name in SPOKEN:
        return f"{SPOKEN[name]} at {written.percent(planned, 3)}"
    return f"{name} at {written.quantity(planned, unit)}"


def make_field(questions: tuple[Question, ...], epsilon: Decimal, *, laplace: bool = False) -> Field:
    """The field that authoring would make of these questions at this ε."""
    choice = choose.choose(questions, epsilon, laplace=laplace)
    known = tuple(
        replace(question, levels=levels) if levels else question
        for question, levels in zip(questions, choice.levels, strict=True)
    )
    return Field(known, choice.mechanism, "")


def estimands(
    field: Field, question: Question, guess: Guess, *, answering: float = 1.0, asked: float = 1.0
) -> list[Estimand]:
    """What a question of a field gives: a share, a mean or both, the one that is usually wanted first.

    `answering` of those asked answer it, `asked` of all respondents are asked.
    """
    if question.levels:
        return [_number(field, question, guess, answering, asked)]
    share = _share(field, question, answering * option_share(question, guess), asked)
    if question.type == "scale":
        scores = [float(score) for score in question.scores] or [float(i + 1) for i in range(len(question.labels))]
        even = np.full(len(scores), 1 / len(scores))
        return [_mean("mean", field, question, np.array(scores), even, answering, asked), share]
    if question.bins:
        middles = np.array([float(sum(bin_range(question, i))) / 2 for i in range(question.bins)])
        positions, chances = numbers(question, guess)
        index = np.rint(positions * question.steps).astype(np.int64) * question.bins // (question.steps + 1)
        shares = _sums(index, chances, question.bins)
        return [share, _mean("mean of bins", field, question, middles, shares, answering, asked)]
    return [share]


def _share(field: Field, question: Question, share: float, asked: float) -> Estimand:
    at, mechanism = partial(_share_spread, field, question, asked), field.mechanism
    several = len(field.questions) > 1 or (question.type == "multiple" and not isinstance(mechanism, Sampled))
    bits = None if several or isinstance(mechanism, Geometric) else (mechanism.p, mechanism.q)
    return Estimand(SHARES[question.type], share, 0.0, 1.0, at(share), at, bits)


def _share_spread(field: Field, question: Question, asked: float, share: float) -> Spread:
    """Of one option; in a joint field, or where sets of options are symbols, of all symbols that hold it."""
    mechanism, people = field.mechanism, share * (1 - share)
    if isinstance(mechanism, Geometric):
        raise ValueError("noise on a number gives no shares")
    if isinstance(mechanism, Flip | Sampled):
        drawn = mechanism.draw / mechanism.size if isinstance(mechanism, Sampled) else 1.0
        total = share_variance(float(mechanism.p), float(mechanism.q), share)
        return Spread(people, total - people, asked * drawn)
    symbols = np.arange(question.size)
    sets = question.type == "multiple"
    holds = (symbols & 1 == 1) & (symbols < question.no_answer) if sets else symbols == 1
    inside = _over_field(field, question, holds.astype(float))
    shares = np.where(inside == 1, share / inside.sum(), (1 - share) / (1 - inside).sum())
    return Spread(people, score_variance(mechanism, inside.tolist(), shares.tolist()), asked)


def _number(field: Field, question: Question, guess: Guess, answering: float, asked: float) -> Estimand:
    """The mean of numbers that are rounded at random to levels."""
    positions, chances = numbers(question, guess)
    low, width = float(question.min), float(question.max - question.min)
    mean = float(chances @ positions)
    people = width**2 * float(chances @ (positions - mean) ** 2)
    position = positions * (question.levels - 1)
    lower = np.minimum(np.floor(position + 1e-9).astype(np.int64), question.levels - 2)
    up = np.clip(position - lower, 0.0, 1.0)
    shares = _sums(lower, chances * (1 - up), question.levels) + _sums(lower + 1, chances * up, question.levels)
    if isinstance(field.mechanism, Geometric):
        step = width / (question.levels - 1)
        ratio = field.mechanism.ratio / WHOLE
        rounding = step**2 * float(chances @ (up * (1 - up)))
        spread = Spread(people, step**2 * 2 * ratio / (1 - ratio) ** 2 + rounding, asked)
        return Estimand("mean", low + width * mean, low, low + width, spread, lambda _: spread)
    values = np.array([float(level_value(question, level)) for level in range(question.levels)])
    of_levels = _mean("mean", field, question, values, shares, answering, asked)
    total = of_levels.spread.people + of_levels.spread.coins
    spread = Spread(people / answering, total - people / answering, asked)
    return replace(of_levels, spread=spread, at=lambda _: spread)


def _mean(
    name: str, field: Field, question: Question, scores: Floats, shares: Floats, answering: float, asked: float
) -> Estimand:
    """The mean score of those who answer; `shares` are among them."""
    mechanism = field.mechanism
    if not isinstance(mechanism, Subset | Unary):
        raise ValueError("a mean of scores needs symbols")
    mean = float(shares @ scores)
    people = float(shares @ (scores - mean) ** 2) / answering
    apart, among = (scores - mean) / answering, shares * answering
    if question.optional:
        apart, among = np.append(apart, 0.0), np.append(among, 1 - answering)
    by_symbol = _over_field(field, question, apart)
    evenly = _over_field(field, question, among) * question.size / field.size
    spread = Spread(people, score_variance(mechanism, by_symbol.tolist(), evenly.tolist()), asked)
    return Estimand(name, mean, float(scores.min()), float(scores.max()), spread, lambda _: spread)


def _sums(indices: npt.NDArray[np.int64], chances: Floats, size: int) -> Floats:
    """The chance of each index."""
    sums: Floats = np.bincount(indices, chances, size).astype(np.float64)
    return sums


def _over_field(field: Field, question: Question, values: Floats) -> Floats:
    """A value for each symbol of a question, as one for each symbol of its field (mixed radix)."""
    own = [member.id for member in field.questions].index(question.id)
    sizes = [member.size for member in field.questions]
    shape = [size if i == own else 1 for i, size in enumerate(sizes)]
    spread: Floats = np.broadcast_to(values.reshape(shape), sizes).reshape(-1)
    return spread
