"""The sidebar of the editor: what the chosen ε costs in precision, and what it means for a respondent.

The numbers come from `survey_app.plan` and `survey_app.channels`. Suggestions for a question, or for a joint field,
take seconds in a long survey, so they are computed there only on request.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

from candor_client.description import odds_sentence
from candor_client.question import Question
from survey_app.authoring import BuiltSurvey, is_weak
from survey_app.authoring.ask import Ask
from survey_app.authoring.diagnostics import check
from survey_app.channels import posterior
from survey_app.languages import numbers
from survey_app.plan import epsilon_guide
from survey_app.plan.advice import find_precision_warnings
from survey_app.plan.estimands import compute_skipping_price
from survey_app.plan.forecast import Forecast, find_sufficient_respondents, forecast_survey
from survey_app.plan.report_variance import LEAST_RESPONDENTS
from survey_app.plan.study_plan import StudyPlan, adapt_settings, plan_groups
from survey_app.plan.survey_plan import SurveyPlan, plan_built
from survey_app.plan.target import Settings

RESPONDENTS = 500
MARGIN = 0.05
MOST_RESPONDENTS = 10_000_000
QUICK_QUESTIONS = 12  # the most questions for which everything is computed at once
COMPARED_QUESTIONS = 100  # the most questions for which the three ways to ask are compared


@dataclass(frozen=True)
class QuestionOutlook:
    """A question: its ε, its first margin, how a device randomizes its answer, and the cost of making it optional."""

    question: Question
    epsilon: Decimal
    margin: str
    odds: str
    skipping_price: str


@dataclass(frozen=True)
class Outlook:
    """The forecast for a draft with a number of respondents.

    `plan` is None until it is computed. It has crossings and remedies only if it is `thorough`.
    """

    respondents: int
    built: BuiltSurvey
    lines: list[Forecast]
    parts: list[QuestionOutlook]
    guess: str
    weak: bool
    plan: SurveyPlan | None
    thorough: bool
    doubts: list[str]
    study: StudyPlan | None = None

    @property
    def total(self) -> Decimal:
        """The ε that the whole survey spends on one respondent."""
        return posterior.total_epsilon(self.built.survey)

    def blocks_of(self, names: Iterable[str]) -> int:
        """Return the number of blocks that contain any of these questions, of which a respondent answers one.

        Return 0 if respondents answer all questions.
        """
        survey, ids = self.built.survey, {*names}
        return (
            sum(any(question.id in ids for question in field.questions) for field in survey.fields) if survey.ask else 0
        )

    def question_outlook(self, question: str) -> QuestionOutlook | None:
        """Return the outlook of one question; None if there is none."""
        return next((part for part in self.parts if part.question.id == question), None)


@lru_cache(maxsize=32)
def forecast_draft(source: bytes, respondents: int, everything: bool = False) -> Outlook | None:
    """Return the outlook of a file; None if it is not a valid survey yet.

    Missing translations do not change it.
    """
    checked = check(source)
    built, content = checked.bare, checked.content
    if built is None or content is None:
        return None
    survey, least = built.survey, LEAST_RESPONDENTS * len(built.groups)
    expected = Settings(respondents=max(respondents, least), margin=MARGIN)
    settings = adapt_settings(built, expected)
    forecast_lines = forecast_survey(survey, settings)
    fields = {question.id: field for field in survey.fields for question in field.questions}
    parts = [
        QuestionOutlook(
            question,
            fields[question.id].mechanism.epsilon,
            next(line for line in forecast_lines if line.id == question.id).margin_text(),
            odds_sentence(fields[question.id]),
            _format_skipping_price(built, question),
        )
        for question in survey.questions
    ]
    total = posterior.total_epsilon(survey)
    thorough = everything or len(survey.questions) <= QUICK_QUESTIONS
    plan = None
    if thorough or len(survey.questions) <= COMPARED_QUESTIONS:
        plan = plan_built(content.tree, built, expected, thorough=thorough)
    study = plan_groups(built, expected, find_sufficient_respondents(forecast_lines))
    hopeless = find_precision_warnings(forecast_lines, settings, study)
    guess = numbers.format_largest_suspicion(posterior.EVEN_ODDS, total)
    return Outlook(respondents, built, forecast_lines, parts, guess, is_weak(total), plan, thorough, hopeless, study)


def _format_skipping_price(built: BuiltSurvey, question: Question) -> str:
    """Return the cost of making a question optional; empty where its author has no choice."""
    (item,) = (item for item in built.request.items if item.question.id == question.id)
    if item.design or item.is_laplace or question.show_if:
        return ""
    alone = built.design.ask is not Ask.ALL
    (field,) = (field for field in built.survey.fields if question in field.questions)
    return numbers.format_cost_factor(compute_skipping_price(question, field.mechanism.epsilon, alone=alone))


@cache
def epsilon_levels() -> list[epsilon_guide.PrivacyLevel]:
    """Return the costs and meanings of levels of ε, for a yes or no."""
    return epsilon_guide.list_levels()


def parse_respondents(text: str | None, default: int = RESPONDENTS) -> int:
    """Parse a number of respondents, clamped to the valid range; return `default` if it is no number."""
    digits = (text or "").replace(",", "").replace(" ", "").strip()
    if not digits.isascii() or not digits.isdigit():
        return default
    return min(max(int(digits[:12]), 2), MOST_RESPONDENTS)
