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

    `now` is the variant of the author's file. `best` is the recommended variant, if it is another one.
    """
    survey, sentences = built.survey, list[str]()
    others = {(line.id, line.figure): line for line in best.lines} if best else {}
    for planned, why in troubles(now.lines, settings):
        one, goal = asked(survey, planned.id, settings.guess), _goal(planned, settings)
        wanted = forecast(one, one.estimands[0], goal)
        helps = _remedies(built, one, wanted, goal, best.ask if best else "", others, crosses)
        sentences.append(f"{planned.id}, {planned.assumption}: {why}. {helps}")
    return sentences + [sentence for cross in crosses if (sentence := _about_joint(cross))]


def troubles(lines: Sequence[Forecast], settings: Settings) -> list[tuple[Forecast, str]]:
    """Return the first figure of each question that is too imprecise, with the reason."""
    first = {planned.id: planned for planned in reversed(lines)}
    return [(first[name], why) for name in reversed(first) if (why := _trouble(first[name], settings))]


def _trouble(planned: Forecast, settings: Settings) -> str | None:
    respondents = f"with {numbers.count(settings.respondents or 0)} respondents the margin is {planned.margin_text()}"
    if planned.says_nothing:
        return f"{respondents}, so the interval can be as wide as all that is possible and says nothing"
    wanted = planned.margin_text((settings.margin or 0) * planned.width)
    if planned.respondents is None:
        return f"even the whole population would not bring it to {wanted}"
    if planned.respondents > TOO_MANY:
        return f"{wanted} would take {numbers.count(planned.respondents)} respondents"
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
    told = [
        f"{planned.id}, {planned.assumption}: {why}{_needed(planned, settings)}"
        for planned, why in troubles(lines, settings)
    ]
    return told + (advise_groups(study, lines, settings) if study else [])


def doubts_of(built: Built, respondents: int, margin: float) -> list[str]:
    """Return the warnings for a built survey, planned for this number of respondents and this margin."""
    expected = Settings(respondents=max(respondents, LEAST_RESPONDENTS * len(built.groups)), margin=margin)
    settings = as_one(built, expected)
    lines = forecasts(built.survey, settings)
    return doubts(lines, settings, plan_groups(built, expected, enough(lines)))


def _needed(planned: Forecast, settings: Settings) -> str:
    if planned.respondents is None or planned.respondents > TOO_MANY:
        return ""
    wanted = planned.margin_text((settings.margin or 0) * planned.width)
    return f". {wanted} takes {numbers.count(planned.respondents)} respondents"


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
    helps: list[str] = []
    wanted = planned.margin_text((settings.margin or 0) * planned.width)
    other = best.get((planned.id, planned.figure))
    if other and other.margin <= WORTHWHILE * planned.margin:
        helps.append(f"ask: {ask} ({other.margin_text()})")
    if together := _together(planned, crosses):
        helps.append(together)
    fewer = _with_fewer_options(built, one, settings)
    if fewer and fewer.margin <= WORTHWHILE * planned.margin:
        helps.append(f"half as many {kind_of(one.question).answers_name} ({fewer.margin_text()})")
    epsilon = None if built.survey.ask else enough_epsilon(built, one, settings)
    if epsilon is not None:
        much = ", more than is advised for a sensitive question" if epsilon > ADVISED_FIELD else ""
        proposed, spent = (numbers.epsilon(loss, DIGITS, fixed=True) for loss in (epsilon, planned.epsilon))
        helps.append(f"ε = {proposed} for it instead of {spent}{much} ({wanted})")
    if planned.respondents is not None and planned.respondents <= TOO_MANY:
        helps.append(f"{numbers.count(planned.respondents)} respondents ({wanted})")
    if not helps:
        return "Leave it out, or give it a survey of its own."
    return f"What helps: {'; '.join(helps)}."


def _together(planned: Forecast, crosses: Sequence[Cross]) -> str:
    """Return the joint field that narrows the margin most, with its effect on other questions; empty if none helps."""
    known = [(line, cross) for cross in crosses if not cross.is_joint for line in cross.joint.lines]
    better = [(line, cross) for line, cross in known if line.id == planned.id and line.figure == planned.figure]
    line, cross = min(better, key=lambda pair: pair[0].margin, default=(planned, None))
    if cross is None or line.margin > WORTHWHILE * planned.margin:
        return ""
    worse = "".join(f"; then {told}" for told in _ruined(cross))
    return f"joint: [[{', '.join(cross.questions)}]] ({line.margin_text()}{worse})"


def enough_epsilon(built: Built, one: Asked, settings: Settings) -> Decimal | None:
    """Return the smallest field ε, to two digits, that gives the first estimand the target margin; None above 4."""

    def enough(epsilon: Decimal) -> bool:
        planned = _again(built, one, one.field.questions, epsilon, settings)
        return planned is not None and planned.margin <= (settings.margin or 0) * planned.width

    low, high = Decimal(one.field.mechanism.epsilon), Decimal(ADVISED_TOTAL)
    if low >= high or not enough(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return round_up(high, DIGITS)


def _with_fewer_options(built: Built, one: Asked, settings: Settings) -> Forecast | None:
    """Return the forecast with half of the options, points or bins at the same ε; None if they cannot be halved."""
    question, kind = one.question, kind_of(one.question)
    count = kind.count(question) - question.optional
    if len(one.field.questions) > 1 or not kind.has_shares(question) or count < MANY_OPTIONS:
        return None
    kept = kind.shortened(question, (count + 1) // 2)
    return _again(built, one, (kept,), one.field.mechanism.epsilon, settings)


def _again(
    built: Built, one: Asked, questions: tuple[Question, ...], epsilon: Decimal, settings: Settings
) -> Forecast | None:
    """Return the forecast of the first estimand with a field of these questions at this ε; None if it is impossible."""
    survey = built.survey
    laplace = any(item.laplace for item in built.wishes.items if item.question.id == one.question.id)
    try:
        made = make_field(questions, epsilon, laplace=laplace)
    except DefinitionError:
        return None
    question = next(known for known in made.questions if known.id == one.question.id)
    shown, reached = answering(survey, one.question, settings.guess), float(survey.part(one.field))
    given = estimands(made, question, settings.guess, answering=shown, asked=reached)
    return forecast(Asked(question, made, given), given[0], settings)


def _about_joint(cross: Cross) -> str | None:
    if not cross.wished:
        return None
    ruined = _ruined(cross)
    if not ruined:
        return None
    return (
        f"{' and '.join(cross.questions)} are randomized together; for each alone that makes {', '.join(ruined)}. "
        "Keep it only if the combinations matter more"
    )


def _ruined(cross: Cross) -> list[str]:
    """Return the questions with a wider margin in the joint field, with both margins."""
    return [
        f"{alone.id} {together.margin_text()} instead of {alone.margin_text()}"
        for together, alone in zip(cross.joint.lines, cross.separate.lines, strict=True)
        if together.margin >= RUINED * alone.margin
    ]
