"""What a question will estimate, shares and means, and how much one report says about each.

The variances are those of `survey_app.channels`, from the mechanism's own integers and from how many combinations of
its field hold each symbol. Of several options it is the least certain; of an optional question the mean is that of
those who answer, a ratio Σ a f/Σ f, taken as linear.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from client.definition import Field
from client.question import Question
from survey_app.authoring import choose
from survey_app.authoring.fields import best_single
from survey_app.authoring.figures import answered_mean, cell_counts, main_parts, variance
from survey_app.channels import channel_of
from survey_app.channels.base import Assumed
from survey_app.channels.observations import Binomial
from survey_app.explain import written
from survey_app.figures import FigureKind, share_of
from survey_app.kinds import kind_named, kind_of
from survey_app.kinds.assumptions import SKIPPING, Guess, PlannedMean
from survey_app.plan.people import option_share
from survey_app.plan.spread import Spread


@dataclass(frozen=True)
class Estimand:
    """A share or a mean: what is assumed about it, its possible range, and its spread, also at other shares."""

    name: str
    kind: FigureKind
    planned: float
    low: float
    high: float
    spread: Spread
    at: Callable[[float], Spread] = field(repr=False, compare=False)
    bits: tuple[Fraction, Fraction] | None = None  # p and q, where it is one stored bit that is counted

    @property
    def is_share(self) -> bool:
        """Whether it is a share; else it is a mean."""
        return self.kind == FigureKind.SHARE

    @property
    def width(self) -> float:
        """The length of its possible range."""
        return self.high - self.low


def share_assumption(type_name: str, planned: float) -> str:
    """Return the share of an answer to a question of a type in words, and what is assumed about it."""
    return f"{kind_named(type_name).share_phrase} at {written.percent(planned, 3)}"


def mean_assumption(name: str, planned: float, unit: str = "") -> str:
    """Return a mean in words, and what is assumed about it."""
    return f"{name} at {written.quantity(planned, unit)}"


def make_field(
    questions: tuple[Question, ...], epsilon: Decimal, *, laplace: bool = False, answering: float | None = None
) -> Field:
    """The field that authoring would make of these questions at this ε; with `answering`, if a device answers one."""
    if len(questions) == 1 and answering is not None and not laplace:
        choose.check(epsilon)
        mechanism, question = best_single(questions[0], answering, epsilon)
        return Field((question,), mechanism, 1, "")
    choice = choose.choose(questions, epsilon, laplace=laplace)
    return Field(choice.questions, choice.mechanism, 1, "")


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
    kind = kind_of(question)
    found: list[Estimand] = []
    if kind.has_shares(question):
        found.append(_share(field, question, answering * option_share(question, guess), asked))
    mean = kind.planned_mean(question, guess)
    if mean is not None:
        found.insert(0 if mean.leads else len(found), _mean(field, question, mean, answering, asked))
    return found


def _share(field: Field, question: Question, share: float, asked: float) -> Estimand:
    """Of the least certain answer; in a joint field, or where sets of answers are symbols, of all that hold it."""
    channel, parts = channel_of(field.mechanism), main_parts(question, cells_of(field, question))

    def at(share: float) -> Spread:
        people = share * (1 - share)
        total = max(channel.variance(Assumed.event(share, part)) for part in parts)
        return Spread(people, total - people, asked * channel.asked)

    name, bits = kind_of(question).share_name, _one_bit(field, question)
    return Estimand(name, FigureKind.SHARE, share, 0.0, 1.0, at(share), at, bits)


def _one_bit(field: Field, question: Question) -> tuple[Fraction, Fraction] | None:
    """Return p and q of the bit that is counted for a share, where it is one bit."""
    kind, channel = kind_of(question), channel_of(field.mechanism)
    if field.joint or not (kind.exclusive or channel.reads_answers):
        return None
    answer = share_of(kind.share_name, kind.main_answers(question)[:1], kind.count(question))
    seen = channel.observe(np.zeros(field.mechanism.width, dtype=np.int64), 1, answer)
    return (seen.p, seen.q) if isinstance(seen, Binomial) else None


def _mean(field: Field, question: Question, mean: PlannedMean, answering: float, asked: float) -> Estimand:
    """The mean of those who answer."""
    channel, low, high = channel_of(field.mechanism), float(mean.values.min()), float(mean.values.max())
    of_range = channel.variance(answered_mean(mean, question, answering, cells_of(field, question)))
    people = mean.variance / answering
    spread = Spread(people, (high - low) ** 2 * of_range - people, asked * channel.asked)
    return Estimand(mean.name, FigureKind.MEAN, mean.centre, low, high, spread, lambda _: spread)


def cells_of(field: Field, question: Question) -> list[int] | None:
    """How many symbols of a joint field hold each symbol of one of its questions."""
    if not field.joint:
        return None
    own = [member.id for member in field.questions].index(question.id)
    return cell_counts(field.questions)[own]
