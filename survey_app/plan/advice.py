"""Advice on a plan with too little precision: the problem, each remedy, and the margin it would give."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from candor_client.errors import DefinitionError
from candor_client.mechanisms import round_up
from candor_client.question import Question
from survey_app.authoring import ADVISED_FIELD, ADVISED_TOTAL, BuiltSurvey
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.plan.crosstab_plan import CrosstabPlan
from survey_app.plan.estimands import list_estimands, make_field
from survey_app.plan.forecast import (
    Forecast,
    PlannedQuestion,
    find_planned_question,
    find_sufficient_respondents,
    forecast_estimand,
    forecast_survey,
)
from survey_app.plan.remarks import Remark, RemarkCode, Remedy, WordedRemark
from survey_app.plan.report_variance import LEAST_RESPONDENTS
from survey_app.plan.simulated_people import compute_response_rate
from survey_app.plan.study_plan import StudyPlan, adapt_settings, advise_groups, plan_groups
from survey_app.plan.target import Settings
from survey_app.plan.variants import Variant

FEASIBLE_RESPONDENTS = 1_000_000
WORTHWHILE_MARGIN_RATIO = 0.8  # suggest a remedy if the new margin is at most this fraction of the old one
WARNING_GROWTH = 1.1  # warn about a margin that grows at least by this factor
COARSE_MARGIN = 0.15  # half-width from which an interval is too wide to be useful for a share
MANY_OPTIONS = 4
BISECTION_STEPS = 12  # of the bisection for an ε
EPSILON_DIGITS = 2  # of the proposed ε and of the current one


def advise(
    built: BuiltSurvey, settings: Settings, current: Variant, best: Variant | None, crosses: Sequence[CrosstabPlan]
) -> list[WordedRemark]:
    """Return remarks about imprecise questions, and about joint fields that widen the margins of their questions.

    `current` is the variant of the author's file. `best` is the recommended variant, if it is another one.
    """
    survey, remarks = built.survey, list[WordedRemark]()
    best_lines = {(line.id, line.figure): line for line in best.lines} if best else {}
    for line, code, reason in find_imprecise_figures(current.lines, settings):
        entry, goal = find_planned_question(survey, line.id, settings.guess), _narrow_for_rare_answer(line, settings)
        goal_line = forecast_estimand(entry, entry.estimands[0], goal)
        remedies = _list_remedies(built, entry, goal_line, goal, best.ask if best else "", best_lines, crosses)
        words = "; ".join(sentence for _, sentence in remedies)
        help_text = f"What helps: {words}." if words else "Leave this question out, or ask it in a separate survey."
        remark = Remark(code, [line.id], [remedy for remedy, _ in remedies])
        remarks.append(WordedRemark(remark, f"{line.id}, {line.assumption}: {reason}. {help_text}"))
    return remarks + [
        WordedRemark(Remark("joint_cost", cross.questions), sentence)
        for cross in crosses
        if (sentence := _describe_joint_cost(cross))
    ]


class ImpreciseFigure(NamedTuple):
    """A figure that is too imprecise, with the code of the reason and the reason in words."""

    line: Forecast
    code: RemarkCode
    reason: str


class WordedRemedy(NamedTuple):
    """A remedy with its words."""

    remedy: Remedy
    sentence: str


def find_imprecise_figures(lines: Sequence[Forecast], settings: Settings) -> list[ImpreciseFigure]:
    """Return the first figure of each question that is too imprecise, with the reason."""
    first_lines = {line.id: line for line in reversed(lines)}
    return [
        ImpreciseFigure(first_lines[name], *reason)
        for name in reversed(first_lines)
        if (reason := _explain_imprecision(first_lines[name], settings))
    ]


def _explain_imprecision(line: Forecast, settings: Settings) -> tuple[RemarkCode, str] | None:
    respondents = (
        f"with {numbers.format_count(settings.respondents or 0)} respondents the margin is {line.margin_text()}"
    )
    if line.is_uninformative:
        return (
            "uninformative",
            f"{respondents}, so the interval can be as wide as the possible range and is uninformative",
        )
    target = line.margin_text((settings.margin or 0) * line.width)
    if line.respondents is None:
        return "unreachable", f"even the whole population would not be enough for {target}"
    if line.respondents > FEASIBLE_RESPONDENTS:
        return "infeasible", f"{target} would take {numbers.format_count(line.respondents)} respondents"
    if line.is_share and line.margin >= line.planned:
        return "not_above_zero", f"{respondents}, so a share of this size cannot be distinguished from zero"
    if line.is_share and line.margin >= COARSE_MARGIN:
        low, high = max(line.planned - line.margin, 0), min(line.planned + line.margin, 1)
        return "imprecise", (
            f"{respondents}, so the share could just as well be {numbers.format_rounded_percent(low)} or "
            f"{numbers.format_rounded_percent(high)}"
        )
    return None


def find_precision_warnings(lines: Sequence[Forecast], settings: Settings, study: StudyPlan | None = None) -> list[str]:
    """Return warnings for the author before publishing: imprecise figures, with the respondents they need.

    For a study, also warn about groups that are too small.
    """
    warnings = [
        f"{line.id}, {line.assumption}: {reason}{_format_respondents_needed(line, settings)}"
        for line, _, reason in find_imprecise_figures(lines, settings)
    ]
    return warnings + ([sentence for _, sentence in advise_groups(study, lines, settings)] if study else [])


def check_survey_precision(built: BuiltSurvey, respondents: int, margin: float) -> list[str]:
    """Return the warnings for a built survey, planned for this number of respondents and this margin."""
    study_settings = Settings(respondents=max(respondents, LEAST_RESPONDENTS * len(built.groups)), margin=margin)
    settings = adapt_settings(built, study_settings)
    lines = forecast_survey(built.survey, settings)
    return find_precision_warnings(
        lines, settings, plan_groups(built, study_settings, find_sufficient_respondents(lines))
    )


def _format_respondents_needed(line: Forecast, settings: Settings) -> str:
    if line.respondents is None or line.respondents > FEASIBLE_RESPONDENTS:
        return ""
    target = line.margin_text((settings.margin or 0) * line.width)
    return f". {target} takes {numbers.format_count(line.respondents)} respondents"


def _narrow_for_rare_answer(line: Forecast, settings: Settings) -> Settings:
    """Return the settings, with a margin that separates a rare answer from zero."""
    if line.is_share and settings.margin and 0 < line.planned < settings.margin:
        return replace(settings, margin=line.planned)
    return settings


def _list_remedies(
    built: BuiltSurvey,
    entry: PlannedQuestion,
    line: Forecast,
    settings: Settings,
    ask: str,
    best_lines: dict[tuple[str, str], Forecast],
    crosses: Sequence[CrosstabPlan],
) -> list[WordedRemedy]:
    """Return the remedies that narrow the margin by at least a fifth, or reach the target margin."""
    remedies: list[WordedRemedy] = []
    target_margin = (settings.margin or 0) * line.width
    target = line.margin_text(target_margin)
    best_line = best_lines.get((line.id, line.figure))
    if best_line and best_line.margin <= WORTHWHILE_MARGIN_RATIO * line.margin:
        remedy = Remedy("ask", ask, best_line.margin)
        remedies.append(WordedRemedy(remedy, f"ask: {ask} ({best_line.margin_text()})"))
    if suggestion := _suggest_joint_field(line, crosses):
        remedies.append(suggestion)
    fewer_options = _forecast_fewer_options(built, entry, settings)
    if fewer_options and fewer_options.margin <= WORTHWHILE_MARGIN_RATIO * line.margin:
        answers_name = kind_of(entry.question).answers_name
        remedy = Remedy("fewer_options", answers_name, fewer_options.margin)
        remedies.append(WordedRemedy(remedy, f"half as many {answers_name} ({fewer_options.margin_text()})"))
    epsilon = None if built.survey.ask else find_sufficient_epsilon(built, entry, settings)
    if epsilon is not None:
        caveat = ", more than is recommended for a sensitive question" if epsilon > ADVISED_FIELD else ""
        proposed, current = (
            numbers.format_epsilon(loss, EPSILON_DIGITS, fixed=True) for loss in (epsilon, line.epsilon)
        )
        remedy = Remedy("epsilon", float(epsilon), target_margin)
        remedies.append(
            WordedRemedy(remedy, f"ε = {proposed} for this question instead of {current}{caveat} ({target})")
        )
    if line.respondents is not None and line.respondents <= FEASIBLE_RESPONDENTS:
        remedy = Remedy("respondents", line.respondents, target_margin)
        remedies.append(WordedRemedy(remedy, f"{numbers.format_count(line.respondents)} respondents ({target})"))
    return remedies


def _suggest_joint_field(line: Forecast, crosses: Sequence[CrosstabPlan]) -> WordedRemedy | None:
    """Return the joint field that narrows the margin most, with its effect on other questions; None if none helps."""
    options = [(joint_line, cross) for cross in crosses if not cross.is_joint for joint_line in cross.joint.lines]
    matches = [
        (joint_line, cross)
        for joint_line, cross in options
        if joint_line.id == line.id and joint_line.figure == line.figure
    ]
    joint_line, cross = min(matches, key=lambda pair: pair[0].margin, default=(line, None))
    if cross is None or joint_line.margin > WORTHWHILE_MARGIN_RATIO * line.margin:
        return None
    side_effects = "".join(f"; then {widening}" for widening in _list_widened_margins(cross))
    return WordedRemedy(
        Remedy("joint", cross.questions, joint_line.margin),
        f"joint: [[{', '.join(cross.questions)}]] ({joint_line.margin_text()}{side_effects})",
    )


def find_sufficient_epsilon(built: BuiltSurvey, entry: PlannedQuestion, settings: Settings) -> Decimal | None:
    """Return the smallest field ε, to two digits, that gives the first estimand the target margin; None above 4."""

    def is_sufficient(epsilon: Decimal) -> bool:
        line = _forecast_redesign(built, entry, entry.field.questions, epsilon, settings)
        return line is not None and line.margin <= (settings.margin or 0) * line.width

    low, high = Decimal(entry.field.mechanism.epsilon), Decimal(ADVISED_TOTAL)
    if low >= high or not is_sufficient(high):
        return None
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_sufficient(middle) else (middle, high)
    return round_up(high, EPSILON_DIGITS)


def _forecast_fewer_options(built: BuiltSurvey, entry: PlannedQuestion, settings: Settings) -> Forecast | None:
    """Return the forecast with half of the options, points or bins at the same ε; None if they cannot be halved."""
    question, kind = entry.question, kind_of(entry.question)
    count = kind.answer_count(question) - question.optional
    if len(entry.field.questions) > 1 or not kind.has_shares(question) or count < MANY_OPTIONS:
        return None
    shortened = kind.truncate_answers(question, (count + 1) // 2)
    return _forecast_redesign(built, entry, (shortened,), entry.field.mechanism.epsilon, settings)


def _forecast_redesign(
    built: BuiltSurvey, entry: PlannedQuestion, questions: tuple[Question, ...], epsilon: Decimal, settings: Settings
) -> Forecast | None:
    """Return the forecast of the first estimand with a field of these questions at this ε; None if it is impossible."""
    survey = built.survey
    laplace = any(item.is_laplace for item in built.request.items if item.question.id == entry.question.id)
    try:
        field = make_field(questions, epsilon, laplace=laplace)
    except DefinitionError:
        return None
    question = next(member for member in field.questions if member.id == entry.question.id)
    response_rate, asked_share = (
        compute_response_rate(survey, entry.question, settings.guess),
        float(survey.answer_probability(entry.field)),
    )
    figures = list_estimands(field, question, settings.guess, response_rate=response_rate, asked_share=asked_share)
    return forecast_estimand(PlannedQuestion(question, field, figures), figures[0], settings)


def _describe_joint_cost(cross: CrosstabPlan) -> str | None:
    if not cross.wished:
        return None
    widened = _list_widened_margins(cross)
    if not widened:
        return None
    return (
        f"{' and '.join(cross.questions)} are randomized together. This widens their own margins:"
        f" {', '.join(widened)}. Keep the joint field only if the combinations matter more"
    )


def _list_widened_margins(cross: CrosstabPlan) -> list[str]:
    """Return the questions with a wider margin in the joint field, with both margins."""
    return [
        f"{line.id} {joint_line.margin_text()} instead of {line.margin_text()}"
        for joint_line, line in zip(cross.joint.lines, cross.separate.lines, strict=True)
        if joint_line.margin >= WARNING_GROWTH * line.margin
    ]
