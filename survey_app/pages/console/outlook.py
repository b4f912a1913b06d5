"""What stands beside the editor: what the chosen ε costs in precision, and what it means for a respondent.

The numbers are those of `survey_app.plan` and `survey_app.explain`. What would help a question, or randomizing some
together, takes seconds for a long survey, so there it is worked out only when somebody wants it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

from client.question import Question
from client.words import odds_sentence
from survey_app.authoring import Built, is_weak
from survey_app.authoring.ask import Ask
from survey_app.authoring.faults import check
from survey_app.explain import chances, written
from survey_app.plan import guidance
from survey_app.plan.advice import doubts
from survey_app.plan.estimands import price_of_skipping
from survey_app.plan.forecast import Forecast, enough, forecasts
from survey_app.plan.groups import StudyPlan, as_one, plan_groups
from survey_app.plan.settings import Settings
from survey_app.plan.spread import LEAST_RESPONDENTS
from survey_app.plan.survey import SurveyPlan, plan_built

RESPONDENTS = 500
MARGIN = 0.05
MOST_RESPONDENTS = 10_000_000
QUICK_QUESTIONS = 12  # up to so many, everything is worked out at once
COMPARED_QUESTIONS = 100  # up to so many, at least the three ways to ask them


@dataclass(frozen=True)
class Part:
    """A question: its ε, its first margin, what a device does with an answer, and what leaving it out would cost."""

    question: Question
    epsilon: Decimal
    margin: str
    odds: str
    skipping: str


@dataclass(frozen=True)
class Outlook:
    """All that is said about a draft for a number of respondents.

    `plan` is None while it was not worked out, and has neither crossings nor remedies unless it is `thorough`.
    """

    respondents: int
    built: Built
    lines: list[Forecast]
    parts: list[Part]
    guess: str
    weak: bool
    plan: SurveyPlan | None
    thorough: bool
    hopeless: list[str]
    study: StudyPlan | None = None

    @property
    def total(self) -> Decimal:
        """What the whole survey spends on one person."""
        return chances.total(self.built.survey)

    def blocks_of(self, names: Iterable[str]) -> int:
        """Over how many blocks questions are spread, of which a person answers one; none where all are answered."""
        survey, wanted = self.built.survey, {*names}
        return sum(any(one.id in wanted for one in field.questions) for field in survey.fields) if survey.ask else 0

    def part(self, question: str) -> Part | None:
        """What is said about one question."""
        return next((part for part in self.parts if part.question.id == question), None)


@lru_cache(maxsize=32)
def outlook(source: bytes, respondents: int, everything: bool = False) -> Outlook | None:
    """The outlook of a file; None if it is not a survey yet. What is still to be translated changes nothing here."""
    checked = check(source)
    built, content = checked.bare, checked.content
    if built is None or content is None:
        return None
    survey, least = built.survey, LEAST_RESPONDENTS * len(built.groups)
    expected = Settings(respondents=max(respondents, least), margin=MARGIN)
    settings = as_one(built, expected)
    now = forecasts(survey, settings)
    fields = {question.id: field for field in survey.fields for question in field.questions}
    parts = [
        Part(
            question,
            fields[question.id].mechanism.epsilon,
            next(planned for planned in now if planned.id == question.id).margin_text(),
            odds_sentence(fields[question.id]),
            _skipping(built, question),
        )
        for question in survey.questions
    ]
    total = chances.total(survey)
    thorough = everything or len(survey.questions) <= QUICK_QUESTIONS
    plan = None
    if thorough or len(survey.questions) <= COMPARED_QUESTIONS:
        plan = plan_built(content.tree, built, expected, thorough=thorough)
    study = plan_groups(built, expected, enough(now))
    hopeless = doubts(now, settings, study)
    guess = written.at_most(chances.EVEN, total)
    return Outlook(respondents, built, now, parts, guess, is_weak(total), plan, thorough, hopeless, study)


def _skipping(built: Built, question: Question) -> str:
    """What it costs that a question may be left out; nothing where its author cannot choose."""
    (item,) = (item for item in built.wishes.items if item.question.id == question.id)
    if item.design or item.laplace or question.show_if:
        return ""
    alone = built.design.ask is not Ask.ALL
    (field,) = (field for field in built.survey.fields if question in field.questions)
    return written.price(price_of_skipping(question, field.mechanism.epsilon, alone=alone))


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
