"""The figures of the questions of a survey, at the respondents and for the margin that are planned."""

from dataclasses import dataclass
from typing import NamedTuple

from client.definition import Field, Question, Survey
from survey_app.plan.figures import Figure, figures
from survey_app.plan.people import Guess, answering
from survey_app.plan.settings import Settings


class Asked(NamedTuple):
    """A question where it is randomized: its field, and the figures it gives."""

    question: Question
    field: Field
    figures: list[Figure]


@dataclass(frozen=True)
class Line:
    """One figure of one question: its margin at the planned respondents, and the respondents for the wanted margin."""

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
        return not self.figure.startswith("mean")


def asked(survey: Survey, name: str, guess: Guess) -> Asked:
    """A question of a survey, by its id."""
    place = next(one for one in survey.fields if name in {question.id for question in one.questions})
    question = next(one for one in place.questions if one.id == name)
    reached = survey.ask / len(survey.fields) if survey.ask else 1.0
    found = figures(place, question, guess, answering=answering(survey, question, guess), asked=reached)
    return Asked(question, place, found)


def lines(survey: Survey, settings: Settings) -> list[Line]:
    """All figures of all questions, in the order of the questions."""
    found = (asked(survey, question.id, settings.guess) for question in survey.questions)
    return [line(one, figure, settings) for one in found for figure in one.figures]


def line(one: Asked, figure: Figure, settings: Settings) -> Line:
    """One figure at these settings."""
    return Line(
        id=one.question.id,
        type=one.question.type,
        figure=figure.name,
        planned=figure.planned,
        low=figure.low,
        high=figure.high,
        unit="" if figure.is_share else one.question.unit,
        epsilon=float(one.field.mechanism.epsilon),
        asked=figure.spread.asked,
        margin=settings.margin_of(figure.spread),
        respondents=settings.respondents_for(figure.spread, figure.width),
    )
