"""Forecasts for the questions of a survey: margins at the planned respondents, respondents for the target margin."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.kinds.planning_assumptions import Guess
from survey_app.languages import numbers
from survey_app.plan.estimands import Estimand, format_mean_assumption, format_share_assumption, list_estimands
from survey_app.plan.simulated_people import compute_response_rate
from survey_app.plan.target import Settings


class PlannedQuestion(NamedTuple):
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
    def is_uninformative(self) -> bool:
        """Whether the interval can be as wide as the possible range."""
        return self.margin >= self.width / 2

    @property
    def assumption(self) -> str:
        """The figure in words, with its assumed value."""
        return format_share_assumption(self.type, self.planned)

    def margin_text(self, margin: float | None = None) -> str:
        """Return this margin, or another one of the same estimand, in points or in its unit."""
        return numbers.format_margin(self.margin if margin is None else margin, self.is_share, self.unit)


class MeanForecast(Forecast, frozen=True):
    """The forecast of a mean."""

    @property
    def is_share(self) -> bool:
        return False

    @property
    def assumption(self) -> str:
        return format_mean_assumption(self.figure, self.planned, self.unit)


def find_planned_question(survey: Survey, name: str, guess: Guess) -> PlannedQuestion:
    """Return a question of a survey by its id, with its field and its estimands."""
    field, question = next(
        (field, question) for field in survey.fields for question in field.questions if question.id == name
    )
    response_rate, asked_share = compute_response_rate(survey, question, guess), float(survey.answer_probability(field))
    return PlannedQuestion(
        question, field, list_estimands(field, question, guess, response_rate=response_rate, asked_share=asked_share)
    )


def forecast_survey(survey: Survey, settings: Settings) -> list[Forecast]:
    """Return forecasts for all estimands of all questions, in the order of the questions."""
    entries = (find_planned_question(survey, question.id, settings.guess) for question in survey.questions)
    return [forecast_estimand(entry, estimand, settings) for entry in entries for estimand in entry.estimands]


def find_sufficient_respondents(lines: Iterable[Forecast]) -> int | None:
    """Return the respondents for the target margin of every question's first estimand; None if there are too few."""
    first = {line.id: line.respondents for line in reversed([*lines])}
    return None if None in first.values() else max(count or 0 for count in first.values())


def forecast_estimand(entry: PlannedQuestion, estimand: Estimand, settings: Settings) -> Forecast:
    """Return the forecast of one estimand at these settings."""
    forecast_class = Forecast if estimand.is_share else MeanForecast
    return forecast_class(
        id=entry.question.id,
        type=entry.question.type,
        figure=estimand.name,
        planned=estimand.planned,
        low=estimand.low,
        high=estimand.high,
        unit="" if estimand.is_share else entry.question.unit,
        epsilon=float(entry.field.mechanism.epsilon),
        asked=estimand.spread.asked_share,
        margin=settings.margin_of(estimand.spread),
        respondents=settings.respondents_for(estimand.spread, estimand.width),
    )
