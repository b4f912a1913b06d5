"""Advice on a plan with too little precision: the problem, each remedy, and the margin it would give."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from candor_client.errors import DefinitionError
from candor_client.mechanisms import round_up
from candor_client.question import Question
from survey_app.authoring import ADVISED_FIELD, ADVISED_TOTAL, Built
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.plan.assumed_people import answering
from survey_app.plan.crosstab_plan import Cross
from survey_app.plan.estimands import estimands, make_field
from survey_app.plan.forecast import Asked, Forecast, asked, enough, forecast, forecasts
from survey_app.plan.report_variance import LEAST_RESPONDENTS
from survey_app.plan.study_plan import StudyPlan, advise_groups, as_one, plan_groups
from survey_app.plan.target import Settings
from survey_app.plan.variants import Way

TOO_MANY = 1_000_000
WORTHWHILE = 0.8  # suggest a remedy if the new margin is at most this fraction of the old one
RUINED = 1.1  # warn about a margin that grows at least by this factor
COARSE = 0.15  # half-width from which an interval is too wide to be useful for a share
MANY_OPTIONS = 4
STEPS = 12  # of the bisection for an ε
DIGITS = 2  # of the proposed ε and of the current one


def advise(built: Built, settings: Settings, now: Way, best: Way | None, crosses: Sequence[Cross]) -> list[str]:
    """Return sentences about imprecise questions, and about joint fields that widen the margins of their questions.

    `current` is the variant of the author's file. `best` is the recommended variant, if it is another one.
    """
    survey, sentences = built.survey, list[str]()
    best_lines = {(line.id, line.figure): line for line in best.lines} if best else {}
    for line, reason in troubles(now.lines, settings):
        entry, goal = asked(survey, line.id, settings.guess), _goal(line, settings)
        goal_line = forecast(entry, entry.estimands[0], goal)
        remedies = _remedies(built, entry, goal_line, goal, best.ask if best else "", best_lines, crosses)
        sentences.append(f"{line.id}, {line.assumption}: {reason}. {remedies}")
    return sentences + [sentence for cross in crosses if (sentence := _about_joint(cross))]


def troubles(lines: Sequence[Forecast], settings: Settings) -> list[tuple[Forecast, str]]:
    """Return the first figure of each question that is too imprecise, with the reason."""
    first_lines = {line.id: line for line in reversed(lines)}
    return [
        (first_lines[name], reason)
        for name in reversed(first_lines)
        if (reason := _trouble(first_lines[name], settings))
    ]


def _trouble(planned: Forecast, settings: Settings) -> str | None:
    respondents = f"with {numbers.count(settings.respondents or 0)} respondents the margin is {planned.margin_text()}"
    if planned.says_nothing:
        return f"{respondents}, so the interval can be as wide as all that is possible and says nothing"
    target = planned.margin_text((settings.margin or 0) * planned.width)
    if planned.respondents is None:
        return f"even the whole population would not bring it to {target}"
    if planned.respondents > TOO_MANY:
        return f"{target} would take {numbers.count(planned.respondents)} respondents"
    if planned.is_share and planned.margin >= planned.planned:
        return f"{respondents}, so such a share cannot be told from zero"
    if planned.is_share and planned.margin >= COARSE:
        low, high = max(planned.planned - planned.margin, 0), min(planned.planned + planned.margin, 1)
        return f"{respondents}, so it could as well be {numbers.about(low)} or {numbers.about(high)}"
    return None


def doubts(lines: Sequence[Forecast], settings: Settings, study: StudyPlan | None = None) -> list[str]:
    """Return warnings for the author before publishing: imprecise figures, with the respondents they need.

    For a study, also warn about groups that are too small.
    """
    warnings = [
        f"{line.id}, {line.assumption}: {reason}{_needed(line, settings)}" for line, reason in troubles(lines, settings)
    ]
    return warnings + (advise_groups(study, lines, settings) if study else [])


def doubts_of(built: Built, respondents: int, margin: float) -> list[str]:
    """Return the warnings for a built survey, planned for this number of respondents and this margin."""
    study_settings = Settings(respondents=max(respondents, LEAST_RESPONDENTS * len(built.groups)), margin=margin)
    settings = as_one(built, study_settings)
    lines = forecasts(built.survey, settings)
    return doubts(lines, settings, plan_groups(built, study_settings, enough(lines)))


def _needed(planned: Forecast, settings: Settings) -> str:
    if planned.respondents is None or planned.respondents > TOO_MANY:
        return ""
    target = planned.margin_text((settings.margin or 0) * planned.width)
    return f". {target} takes {numbers.count(planned.respondents)} respondents"


def _goal(planned: Forecast, settings: Settings) -> Settings:
    """Return the settings, with a margin that separates a rare answer from zero."""
    if planned.is_share and settings.margin and 0 < planned.planned < settings.margin:
        return replace(settings, margin=planned.planned)
    return settings


def _remedies(
    built: Built,
    one: Asked,
    planned: Forecast,
    settings: Settings,
    ask: str,
    best: dict[tuple[str, str], Forecast],
    crosses: Sequence[Cross],
) -> str:
    """Return a sentence with the remedies that narrow the margin by at least a fifth, or reach the target margin."""
    remedies: list[str] = []
    target = planned.margin_text((settings.margin or 0) * planned.width)
    best_line = best.get((planned.id, planned.figure))
    if best_line and best_line.margin <= WORTHWHILE * planned.margin:
        remedies.append(f"ask: {ask} ({best_line.margin_text()})")
    if suggestion := _together(planned, crosses):
        remedies.append(suggestion)
    fewer_options = _with_fewer_options(built, one, settings)
    if fewer_options and fewer_options.margin <= WORTHWHILE * planned.margin:
        remedies.append(f"half as many {kind_of(one.question).answers_name} ({fewer_options.margin_text()})")
    epsilon = None if built.survey.ask else enough_epsilon(built, one, settings)
    if epsilon is not None:
        caveat = ", more than is advised for a sensitive question" if epsilon > ADVISED_FIELD else ""
        proposed, current = (numbers.epsilon(loss, DIGITS, fixed=True) for loss in (epsilon, planned.epsilon))
        remedies.append(f"ε = {proposed} for it instead of {current}{caveat} ({target})")
    if planned.respondents is not None and planned.respondents <= TOO_MANY:
        remedies.append(f"{numbers.count(planned.respondents)} respondents ({target})")
    if not remedies:
        return "Leave it out, or give it a survey of its own."
    return f"What helps: {'; '.join(remedies)}."


def _together(planned: Forecast, crosses: Sequence[Cross]) -> str:
    """Return the joint field that narrows the margin most, with its effect on other questions; empty if none helps."""
    options = [(joint_line, cross) for cross in crosses if not cross.is_joint for joint_line in cross.joint.lines]
    matches = [
        (joint_line, cross)
        for joint_line, cross in options
        if joint_line.id == planned.id and joint_line.figure == planned.figure
    ]
    joint_line, cross = min(matches, key=lambda pair: pair[0].margin, default=(planned, None))
    if cross is None or joint_line.margin > WORTHWHILE * planned.margin:
        return ""
    side_effects = "".join(f"; then {widening}" for widening in _ruined(cross))
    return f"joint: [[{', '.join(cross.questions)}]] ({joint_line.margin_text()}{side_effects})"


def enough_epsilon(built: Built, one: Asked, settings: Settings) -> Decimal | None:
    """Return the smallest field ε, to two digits, that gives the first estimand the target margin; None above 4."""

    def is_sufficient(epsilon: Decimal) -> bool:
        line = _again(built, one, one.field.questions, epsilon, settings)
        return line is not None and line.margin <= (settings.margin or 0) * line.width

    low, high = Decimal(one.field.mechanism.epsilon), Decimal(ADVISED_TOTAL)
    if low >= high or not is_sufficient(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_sufficient(middle) else (middle, high)
    return round_up(high, DIGITS)


def _with_fewer_options(built: Built, one: Asked, settings: Settings) -> Forecast | None:
    """Return the forecast with half of the options, points or bins at the same ε; None if they cannot be halved."""
    question, kind = one.question, kind_of(one.question)
    count = kind.count(question) - question.optional
    if len(one.field.questions) > 1 or not kind.has_shares(question) or count < MANY_OPTIONS:
        return None
    shortened = kind.shortened(question, (count + 1) // 2)
    return _again(built, one, (shortened,), one.field.mechanism.epsilon, settings)


def _again(
    built: Built, one: Asked, questions: tuple[Question, ...], epsilon: Decimal, settings: Settings
) -> Forecast | None:
    """Return the forecast of the first estimand with a field of these questions at this ε; None if it is impossible."""
    survey = built.survey
    laplace = any(item.laplace for item in built.wishes.items if item.question.id == one.question.id)
    try:
        field = make_field(questions, epsilon, laplace=laplace)
    except DefinitionError:
        return None
    question = next(member for member in field.questions if member.id == one.question.id)
    response_rate, asked_share = answering(survey, one.question, settings.guess), float(survey.part(one.field))
    figures = estimands(field, question, settings.guess, answering=response_rate, asked=asked_share)
    return forecast(Asked(question, field, figures), figures[0], settings)


def _about_joint(cross: Cross) -> str | None:
    if not cross.wished:
        return None
    widened = _ruined(cross)
    if not widened:
        return None
    return (
        f"{' and '.join(cross.questions)} are randomized together; for each alone that makes {', '.join(widened)}. "
        "Keep it only if the combinations matter more"
    )


def _ruined(cross: Cross) -> list[str]:
    """Return the questions with a wider margin in the joint field, with both margins."""
    return [
        f"{line.id} {joint_line.margin_text()} instead of {line.margin_text()}"
        for joint_line, line in zip(cross.joint.lines, cross.separate.lines, strict=True)
        if joint_line.margin >= RUINED * line.margin
    ]
