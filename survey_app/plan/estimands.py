"""The estimands of a question, shares and means, with the variance of one report about each.

The variances come from `survey_app.channels`. They depend on the mechanism's integers, and on how many combinations of
its field contain each symbol. Among several options, the least certain one is planned. The mean of an optional
question is the mean of the respondents who answer: a ratio Σ a f/Σ f, linearized.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from candor_client.definition import Field
from candor_client.question import Question
from survey_app.authoring import mechanism_choice
from survey_app.authoring.design.main_figures import count_cells, linearize_mean, list_main_parts, variance
from survey_app.authoring.fields import choose_single
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.channels.observations import Binomial
from survey_app.figures import FigureKind, make_share
from survey_app.kinds import kind_by_name, kind_of
from survey_app.kinds.planning_assumptions import SKIP_SHARE, Guess, PlannedMean
from survey_app.languages import numbers
from survey_app.plan.report_variance import Spread
from survey_app.plan.simulated_people import option_share


@dataclass(frozen=True)
class Estimand:
    """A share or a mean: its assumed value, its possible range, and its spread, also at other shares."""

    name: str
    kind: FigureKind
    planned: float
    low: float
    high: float
    spread: Spread
    spread_at: Callable[[float], Spread] = field(repr=False, compare=False)
    bits: tuple[Fraction, Fraction] | None = None  # p and q, if the share is a count of one stored bit

    @property
    def is_share(self) -> bool:
        """Whether the estimand is a share; otherwise it is a mean."""
        return self.kind == FigureKind.SHARE

    @property
    def width(self) -> float:
        """The length of the possible range."""
        return self.high - self.low


def format_share_assumption(type_name: str, planned: float) -> str:
    """Return a share in words, for a question of this type, with its assumed value."""
    return f"{kind_by_name(type_name).share_phrase} at {numbers.format_percent(planned, 3)}"


def format_mean_assumption(name: str, planned: float, unit: str = "") -> str:
    """Return a mean in words, with its assumed value."""
    return f"{name} at {numbers.format_quantity(planned, unit)}"


def make_field(
    questions: tuple[Question, ...], epsilon: Decimal, *, laplace: bool = False, response_rate: float | None = None
) -> Field:
    """Return the field that authoring would make of these questions at this ε.

    Pass `response_rate`, the share that answers, if each device answers one question. Raise DefinitionError if no
    mechanism fits.
    """
    if len(questions) == 1 and response_rate is not None and not laplace:
        mechanism_choice.check_epsilon(epsilon)
        mechanism, question = choose_single(questions[0], response_rate, epsilon)
        return Field((question,), mechanism, 1, "")
    choice = mechanism_choice.choose(questions, epsilon, laplace=laplace)
    return Field(choice.questions, choice.mechanism, 1, "")


def compute_skipping_price(question: Question, epsilon: Decimal, *, alone: bool) -> float:
    """Return how many times more respondents a question needs if it is optional; `alone` if it is a separate block.

    "No answer" is one more symbol to distinguish from the others, and fewer respondents answer.
    """

    def variance_if(optional: bool) -> float:
        response_rate = 1 - SKIP_SHARE if optional else 1.0
        variation = replace(question, optional=optional)
        field = make_field((variation,), epsilon, response_rate=response_rate if alone else None)
        return variance(field.questions[0], response_rate, field.mechanism)

    return variance_if(True) / variance_if(False)


def list_estimands(
    field: Field, question: Question, guess: Guess, *, response_rate: float = 1.0, asked_share: float = 1.0
) -> list[Estimand]:
    """Return the estimands of a question in a field: a share, a mean or both, the main one first.

    `response_rate` is the share of the asked respondents who answer; `asked_share` is the share of all respondents who
    are asked.
    """
    kind = kind_of(question)
    figures: list[Estimand] = []
    if kind.has_shares(question):
        figures.append(_make_share(field, question, response_rate * option_share(question, guess), asked_share))
    mean = kind.planned_mean(question, guess)
    if mean is not None:
        figures.insert(
            0 if mean.is_design_target else len(figures), _make_mean(field, question, mean, response_rate, asked_share)
        )
    return figures


def _make_share(field: Field, question: Question, share: float, asked_share: float) -> Estimand:
    """Return the share of the least certain answer.

    In a joint field, or where symbols are sets of answers, it is the share of all symbols that contain the answer.
    """
    channel, parts = channel_of(field.mechanism), list_main_parts(question, count_containing_symbols(field, question))

    def spread_at(share: float) -> Spread:
        people = share * (1 - share)
        total = max(channel.variance(AssumedShares.event(share, part)) for part in parts)
        return Spread(people, total - people, asked_share * channel.informative_share)

    name, bits = kind_of(question).share_name, _find_counted_bit(field, question)
    return Estimand(name, FigureKind.SHARE, share, 0.0, 1.0, spread_at(share), spread_at, bits)


def _find_counted_bit(field: Field, question: Question) -> tuple[Fraction, Fraction] | None:
    """Return p and q of the counted bit, if a share is a count of one bit; otherwise None."""
    kind, channel = kind_of(question), channel_of(field.mechanism)
    if field.joint or not (kind.exclusive or channel.reads_answers):
        return None
    answer = make_share(kind.share_name, kind.main_answers(question)[:1], kind.answer_count(question))
    observation = channel.observe(np.zeros(field.mechanism.width, dtype=np.int64), 1, answer)
    return (observation.p, observation.q) if isinstance(observation, Binomial) else None


def _make_mean(
    field: Field, question: Question, mean: PlannedMean, response_rate: float, asked_share: float
) -> Estimand:
    """Return the mean among respondents who answer."""
    channel, low, high = channel_of(field.mechanism), float(mean.values.min()), float(mean.values.max())
    scaled_variance = channel.variance(
        linearize_mean(mean, question, response_rate, count_containing_symbols(field, question))
    )
    people = mean.variance / response_rate
    spread = Spread(people, (high - low) ** 2 * scaled_variance - people, asked_share * channel.informative_share)
    return Estimand(mean.name, FigureKind.MEAN, mean.centre, low, high, spread, lambda _: spread)


def count_containing_symbols(field: Field, question: Question) -> list[int] | None:
    """Return how many symbols of a joint field contain each symbol of one question; None if the field is not joint."""
    if not field.joint:
        return None
    index = [member.id for member in field.questions].index(question.id)
    return count_cells(field.questions)[index]
