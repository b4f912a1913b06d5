"""What stands beside the editor: what the chosen ε costs in precision, and what it means for a respondent.

The numbers are those of `survey_app.plan` and `survey_app.explain`. What asking fewer fields or randomizing together
would buy takes seconds for a long survey, so there it is worked out only when somebody wants it.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

from client.definition import Question
from client.words import odds_sentence
from survey_app.authoring import ADVISED_TOTAL, Built
from survey_app.authoring.faults import check
from survey_app.explain import chances
from survey_app.plan import guidance
from survey_app.plan.cross import Cross
from survey_app.plan.lines import Line, lines
from survey_app.plan.settings import Settings
from survey_app.plan.survey import Alternative, plan_survey
from survey_app.plan.words import at_most, line_size, people, what

RESPONDENTS = 500
MARGIN = 0.05
MOST_RESPONDENTS = 10_000_000
QUICK_FIELDS = 12  # up to so many, everything is worked out at once


@dataclass(frozen=True)
class Told:
    """One figure of a question, in words."""

    figure: str
    margin: str
    enough: str  # respondents for a margin of 5 points, or of 5% of the range
    hopeless: bool  # the interval can be as wide as all that is possible


@dataclass(frozen=True)
class Part:
    """A question: its ε, what it tells, and what a device does with an answer."""

    question: Question
    epsilon: float
    figures: list[Told]
    odds: str


@dataclass(frozen=True)
class Outlook:
    """All that is said about a draft for a number of respondents; `more` is None while it was not worked out."""

    respondents: int
    built: Built
    parts: list[Part]
    guess: str
    weak: bool
    more: "More | None"

    @property
    def total(self) -> object:
        """What the whole survey spends on one person."""
        return chances.total(self.built.survey)

    def part(self, question: str) -> Part | None:
        """What is said about one question."""
        return next((one for one in self.parts if one.question.id == question), None)


@dataclass(frozen=True)
class More:
    """What other surveys of the same questions would reach, and advice."""

    now: list[Line]
    alternatives: list[Alternative]
    crosses: list[Cross]
    notes: list[str]
    advice: list[str]


@lru_cache(maxsize=32)
def outlook(source: bytes, respondents: int, everything: bool = False) -> Outlook | None:
    """The outlook of a file; None if it is not a survey yet."""
    built = check(source).built
    if built is None:
        return None
    survey, settings = built.survey, Settings(respondents=respondents, margin=MARGIN)
    found = lines(survey, settings)
    fields = {question.id: field for field in survey.fields for question in field.questions}
    parts = [
        Part(
            question,
            float(fields[question.id].mechanism.epsilon),
            [_told(one) for one in found if one.id == question.id],
            odds_sentence(fields[question.id]),
        )
        for question in survey.questions
    ]
    total = chances.total(survey)
    more = None
    if everything or len(survey.fields) <= QUICK_FIELDS:
        plan = plan_survey(source, settings)
        more = More(found, plan.alternatives, plan.crosses, plan.notes, plan.advice)
    guess = at_most(guidance.guess(float(total)))
    return Outlook(respondents, built, parts, guess, total > ADVISED_TOTAL, more)


def _told(line: Line) -> Told:
    hopeless = line.margin >= (line.high - line.low) / 2
    return Told(what(line.figure, line.planned, line.unit), line_size(line), people(line.respondents), hopeless)


@cache
def levels() -> list[guidance.Level]:
    """What levels of ε cost and mean, for a yes or no."""
    return guidance.table()


def respondents_of(text: str | None, otherwise: int = RESPONDENTS) -> int:
    """A number of respondents that somebody typed, as near as it can be."""
    digits = (text or "").replace(",", "").replace(" ", "").strip()
    if not digits.isascii() or not digits.isdigit():
        return otherwise
    return min(max(int(digits[:12]), 2), MOST_RESPONDENTS)


def sentence(text: str) -> str:
    """Advice as a sentence: a period at its end, and a capital unless it begins with a key or an id."""
    return text if text.endswith((".", "?", "!")) else f"{text}."
