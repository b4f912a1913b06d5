"""The figures of the questions of a survey, at the respondents and for the margin that are planned."""

from dataclasses import dataclass, field
from typing import NamedTuple

from client.definition import Field, Question, Survey
from survey_app.plan.central import DELTA
from survey_app.plan.figures import Figure, figures
from survey_app.plan.guess import Guess, answering
from survey_app.plan.spread import POPULATION, PlanError, Spread, Target, margin, respondents_for_margin, z_score


@dataclass(frozen=True)
class Settings:
    """A number of respondents, a margin (as a part of the possible range), or both, and how sure to be."""

    respondents: int | None = None
    margin: float | None = None
    confidence: float = 0.95
    power: float = 0.8
    target: Target = POPULATION
    guess: Guess = field(default_factory=Guess)
    delta: float = DELTA

    def __post_init__(self) -> None:
        z_score(self.confidence)
        size = self.target.size
        if size is not None and self.respondents is not None and self.respondents > size:
            raise PlanError(f"{self.respondents:,} respondents are more than the population of {size:,}")
        if self.margin is not None and not 0 < self.margin < 1:
            raise PlanError(f"a margin is a part of the possible range, such as 0.05 for 5 points, not {self.margin:g}")

    def margin_of(self, spread: Spread) -> float:
        """At the planned respondents."""
        if self.respondents is None:
            raise PlanError("a margin needs a number of respondents")
        return margin(spread, self.respondents, self.confidence, self.target)

    def respondents_for(self, spread: Spread, width: float) -> int | None:
        """For the wanted margin, on a range of this width."""
        if self.margin is None:
            raise PlanError("a number of respondents needs a margin")
        return respondents_for_margin(spread, self.margin * width, self.confidence, self.target)


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
