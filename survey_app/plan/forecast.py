"""Forecasts for the questions of a survey: margins at the planned respondents, respondents for the target margin."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.kinds.assumptions import Guess
from survey_app.languages import numbers
from survey_app.plan.assumed_people import answering
from survey_app.plan.estimands import Estimand, estimands, mean_assumption, share_assumption
from survey_app.plan.target import Settings


class Asked(NamedTuple):
    """A question with the field that randomizes it, and its estimands."""

    question: Question
    field: Field
    estimands: list[Estimand]


class Forecast(Struct, frozen=True):
    """The forecast of a share: its margin at the planned respondents, and the respondents for the target margin."""

    id: str
    type: str
    figure: str
    planned: float
    low: float
    high: float
    unit: str
    epsilon: float
    asked: float
    margin: float
    respondents: int | None

    @property
    def is_share(self) -> bool:
        """Whether the figure is a share; otherwise it is a mean."""
        return True

    @property
    def width(self) -> float:
        """The length of the possible range."""
        return self.high - self.low

    @property
    def says_nothing(self) -> bool:
        """Whether the interval can be as wide as the possible range."""
        return self.margin >= self.width / 2

    @property
    def assumption(self) -> str:
        """The figure in words, with its assumed value."""
        return share_assumption(self.type, self.planned)

    def margin_text(self, other: float | None = None) -> str:
        """Return this margin, or another one of the same estimand, in points or in its unit."""
        return numbers.margin(self.margin if other is None else other, self.is_share, self.unit)


class MeanForecast(Forecast, frozen=True):
    """The forecast of a mean."""

    @property
    def is_share(self) -> bool:
        return False

    @property
    def assumption(self) -> str:
        return mean_assumption(self.figure, self.planned, self.unit)


def asked(survey: Survey, name: str, guess: Guess) -> Asked:
    """Return a question of a survey by its id, with its field and its estimands."""
    field, question = next(
        (field, question) for field in survey.fields for question in field.questions if question.id == name
    )
    response_rate, asked_share = answering(survey, question, guess), float(survey.part(field))
    return Asked(question, field, estimands(field, question, guess, answering=response_rate, asked=asked_share))


def forecasts(survey: Survey, settings: Settings) -> list[Forecast]:
    """Return forecasts for all estimands of all questions, in the order of the questions."""
    entries = (asked(survey, question.id, settings.guess) for question in survey.questions)
    return [forecast(entry, estimand, settings) for entry in entries for estimand in entry.estimands]


def enough(lines: Iterable[Forecast]) -> int | None:
    """Return the respondents for the target margin of every question's first estimand; None if there are too few."""
    first = {line.id: line.respondents for line in reversed([*lines])}
    return None if None in first.values() else max(count or 0 for count in first.values())


def forecast(one: Asked, estimand: Estimand, settings: Settings) -> Forecast:
    """Return the forecast of one estimand at these settings."""
    forecast_class = Forecast if estimand.is_share else MeanForecast
    return forecast_class(
        id=one.question.id,
        type=one.question.type,
        figure=estimand.name,
        planned=estimand.planned,
        low=estimand.low,
        high=estimand.high,
        unit="" if estimand.is_share else one.question.unit,
        epsilon=float(one.field.mechanism.epsilon),
        asked=estimand.spread.asked,
        margin=settings.margin_of(estimand.spread),
        respondents=settings.respondents_for(estimand.spread, estimand.width),
    )
