"""What a question will estimate, shares and means, and how much one report says about each.

The variances are those of `survey_app.channel`, from the mechanism's own integers and from how many combinations of its
field hold each symbol. Of several options it is the least certain; of an optional question the mean is that of those
who answer, a ratio Σ a f/Σ f, taken as linear.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np

from client.definition import Field
from client.mechanisms import Drawn, Flip, Geometric, Subset
from client.question import Question
from client.words import bin_range, level_value
from survey_app.authoring import choose
from survey_app.authoring.fields import best_single
from survey_app.authoring.figures import cell_counts, is_mean, mean_moments, option_parts, variance
from survey_app.authoring.imagined import SKIPPING, level_shares
from survey_app.channel import Floats, event_moments, figure_variance, noisy_mean_variance, share_variance
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


def make_field(
    questions: tuple[Question, ...], epsilon: Decimal, *, laplace: bool = False, answering: float | None = None
) -> Field:
    """The field that authoring would make of these questions at this ε; with `answering`, if a device answers one."""
    if len(questions) == 1 and answering is not None and not laplace:
        choose.check(epsilon)
        mechanism, levels = best_single(questions[0], answering, epsilon)
        return Field((replace(questions[0], levels=levels[0]),), mechanism, 1, "")
    choice = choose.choose(questions, epsilon, laplace=laplace)
    known = tuple(
        replace(question, levels=levels) if levels else question
        for question, levels in zip(questions, choice.levels, strict=True)
    )
    return Field(known, choice.mechanism, 1, "")


def price_of_skipping(question: Question, epsilon: Decimal, *, alone: bool) -> float:
    """How many times the respondents a question takes by itself if it may be left out; `alone`, if a device asks it so.

    "No answer" is one more symbol to be told from the others, and fewer people answer.
    """

    def need(optional: bool) -> float:
        answering = 1 - SKIPPING if optional else 1.0
        asked = replace(question, optional=optional)
        made = make_field((asked,), epsilon, answering=answering if alone else None)
        return variance(made.questions[0], answering, made.mechanism)

    return need(True) / need(False)


def estimands(
    field: Field, question: Question, guess: Guess, *, answering: float = 1.0, asked: float = 1.0
) -> list[Estimand]:
    """What a question of a field gives: a share, a mean or both, the one that is usually wanted first.

    `answering` of those asked answer it, `asked` of all respondents are asked.
    """
    if question.levels:
        return [_number(field, question, guess, answering, asked)]
    share = _share(field, question, answering * option_share(question, guess), asked)
    if question.type == "scale" and is_mean(question):
        scores = [float(score) for score in question.scores] or [float(i + 1) for i in range(len(question.labels))]
        even = np.full(len(scores), 1 / len(scores))
        return [_mean("mean", field, question, np.array(scores), even, answering, asked), share]
    if question.bins:
        middles = np.array([float(sum(bin_range(question, i))) / 2 for i in range(question.bins)])
        positions, chances = numbers(question, guess)
        index = np.rint(positions * question.steps).astype(np.int64) * question.bins // (question.steps + 1)
        shares = np.bincount(index, chances, question.bins).astype(np.float64)
        return [share, _mean("mean of bins", field, question, middles, shares, answering, asked)]
    return [share]


def _share(field: Field, question: Question, share: float, asked: float) -> Estimand:
    at, mechanism = partial(_share_spread, field, question, asked), field.mechanism
    several = field.joint or (question.type == "multiple" and not isinstance(mechanism, Drawn))
    bits = None if several or isinstance(mechanism, Geometric) else (mechanism.p, mechanism.q)
    return Estimand(SHARES[question.type], share, 0.0, 1.0, at(share), at, bits)


def _share_spread(field: Field, question: Question, asked: float, share: float) -> Spread:
    """Of one option; in a joint field, or where sets of options are symbols, of all symbols that hold it."""
    mechanism, people = field.mechanism, share * (1 - share)
    if isinstance(mechanism, Geometric):
        raise ValueError("noise on a number gives no shares")
    if isinstance(mechanism, Flip | Drawn):
        drawn = mechanism.draw / mechanism.size if isinstance(mechanism, Drawn) else 1.0
        total = share_variance(float(mechanism.p), float(mechanism.q), share)
        return Spread(people, total - people, asked * drawn)
    parts = option_parts(question, cells_of(field, question))
    total = max(figure_variance(event_moments(share, part), mechanism) for part in parts)
    return Spread(people, total - people, asked)


def cells_of(field: Field, question: Question) -> list[int] | None:
    """How many symbols of a joint field hold each symbol of one of its questions."""
    if not field.joint:
        return None
    own = [member.id for member in field.questions].index(question.id)
    return cell_counts(field.questions)[own]


def _number(field: Field, question: Question, guess: Guess, answering: float, asked: float) -> Estimand:
    """The mean of numbers that are rounded at random to levels."""
    positions, chances = numbers(question, guess)
    low, width = float(question.min), float(question.max - question.min)
    mean = float(chances @ positions)
    people = width**2 * float(chances @ (positions - mean) ** 2) / answering
    shares = level_shares(positions, chances, question.levels)
    if isinstance(field.mechanism, Geometric):
        step = width / (question.levels - 1)
        spread = Spread(people, step**2 * noisy_mean_variance(field.mechanism, shares) - people, asked)
        return Estimand("mean", low + width * mean, low, low + width, spread, lambda _: spread)
    values = np.array([float(level_value(question, level)) for level in range(question.levels)])
    of_levels = _mean("mean", field, question, values, shares, answering, asked)
    total = of_levels.spread.people + of_levels.spread.coins
    spread = Spread(people, total - people, asked)
    return replace(of_levels, spread=spread, at=lambda _: spread)


def _mean(
    name: str, field: Field, question: Question, scores: Floats, shares: Floats, answering: float, asked: float
) -> Estimand:
    """The mean score of those who answer; `shares` are among them."""
    mechanism = field.mechanism
    if not isinstance(mechanism, Subset):
        raise ValueError("a mean of scores needs symbols")
    figure = mean_moments(scores, shares, question, answering, cells_of(field, question))
    spread = Spread(figure.true, figure_variance(figure, mechanism) - figure.true, asked)
    return Estimand(name, float(shares @ scores), float(scores.min()), float(scores.max()), spread, lambda _: spread)
