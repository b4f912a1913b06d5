"""What the questions of a survey will tell, at the respondents and for the margin that are planned."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from client.definition import Field, Survey
from client.question import Question
from survey_app.explain import written
from survey_app.kinds.assumptions import Guess
from survey_app.plan.estimands import Estimand, estimands, mean_assumption, share_assumption
from survey_app.plan.people import answering
from survey_app.plan.settings import Settings


class Asked(NamedTuple):
    """A question where it is randomized: its field, and what is estimated from it."""

    question: Question
    field: Field
    estimands: list[Estimand]


class Forecast(Struct, frozen=True):
    """A share of one question: its margin at the planned respondents, and the respondents for the wanted one."""

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
        """Whether it is a share; else it is a mean."""
        return True

    @property
    def width(self) -> float:
        """The length of its possible range."""
        return self.high - self.low

    @property
    def says_nothing(self) -> bool:
        """Whether its interval can be as wide as all that is possible."""
        return self.margin >= self.width / 2

    @property
    def assumption(self) -> str:
        """What it is, and what is assumed about it."""
        return share_assumption(self.type, self.planned)

    def margin_text(self, other: float | None = None) -> str:
        """Its margin, or another one of the same estimand, in points or in its unit."""
        return written.margin(self.margin if other is None else other, self.is_share, self.unit)


class MeanForecast(Forecast, frozen=True):
    """The same of a mean."""

    @property
    def is_share(self) -> bool:
        return False

    @property
    def assumption(self) -> str:
        return mean_assumption(self.figure, self.planned, self.unit)


def asked(survey: Survey, name: str, guess: Guess) -> Asked:
    """A question of a survey, by its id."""
    field, question = next(
        (field, question) for field in survey.fields for question in field.questions if question.id == name
    )
    shown, reached = answering(survey, question, guess), float(survey.part(field))
    return Asked(question, field, estimands(field, question, guess, answering=shown, asked=reached))


def forecasts(survey: Survey, settings: Settings) -> list[Forecast]:
    """All estimands of all questions, in the order of the questions."""
    questions = (asked(survey, question.id, settings.guess) for question in survey.questions)
    return [forecast(one, estimand, settings) for one in questions for estimand in one.estimands]


def enough(lines: Iterable[Forecast]) -> int | None:
    """The respondents at which every question's first estimand has the wanted margin; None if there are not so many."""
    first = {line.id: line.respondents for line in reversed([*lines])}
    return None if None in first.values() else max(needed or 0 for needed in first.values())


def forecast(one: Asked, estimand: Estimand, settings: Settings) -> Forecast:
    """One estimand at these settings."""
    made = Forecast if estimand.is_share else MeanForecast
    return made(
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
