"""What to do about a plan that promises too little: said plainly, with what would help and by how much."""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from client.definition import Survey
from client.errors import DefinitionError
from client.mechanism import Geometric, round_up
from client.question import Question
from survey_app.authoring import ADVISED_FIELD, ADVISED_TOTAL
from survey_app.explain import written
from survey_app.plan.cross import Cross
from survey_app.plan.estimands import estimands, make_field
from survey_app.plan.forecast import Asked, Forecast, asked, forecast
from survey_app.plan.people import answering
from survey_app.plan.settings import Settings
from survey_app.plan.variants import Alternative

TOO_MANY = 1_000_000
WORTHWHILE = 0.8  # a remedy is told if it leaves at most this part of the margin
FEWER = 0.9  # another `ask` is told if it takes at most this part of the respondents
RUINED = 1.1  # a margin is told to suffer if it grows at least so much
MANY_OPTIONS = 4
STEPS = 12  # of the search for an ε
DIGITS = 2  # of an ε that is proposed, and of the one beside it


def advise(
    survey: Survey,
    settings: Settings,
    now: Alternative,
    others: Sequence[Alternative],
    crosses: Sequence[Cross],
) -> list[str]:
    """What to say of every question without hope, of `ask`, and of joint fields that cost more than they give."""
    sentences: list[str] = []
    better = min((other for other in others if _fewer(other, now)), key=_needed, default=None)
    best = {(line.id, line.figure): line for line in better.lines} if better else {}
    first = {planned.id: planned for planned in reversed(now.lines)}
    for question in survey.questions:
        planned = first[question.id]
        if why := _trouble(planned, settings):
            one, goal = asked(survey, question.id, settings.guess), _goal(planned, settings)
            wanted = forecast(one, one.estimands[0], goal)
            helps = _remedies(survey, one, wanted, goal, better.ask if better else "", best)
            sentences.append(f"{question.id}, {planned.assumption}: {why}. {helps}")
    if better:
        sentences.append(_about_ask(now, better, settings))
    return sentences + [sentence for cross in crosses if (sentence := _about_joint(cross))]


def _trouble(planned: Forecast, settings: Settings) -> str | None:
    respondents = f"with {written.count(settings.respondents or 0)} respondents the margin is {planned.margin_text()}"
    if planned.says_nothing:
        return f"{respondents}, so the interval can be as wide as all that is possible and says nothing"
    wanted = planned.margin_text((settings.margin or 0) * planned.width)
    if planned.respondents is None:
        return f"even the whole population would not bring it to {wanted}"
    if planned.respondents > TOO_MANY:
        return f"{wanted} would take {written.count(planned.respondents)} respondents"
    if planned.is_share and planned.margin >= planned.planned:
        return f"{respondents}, so such a share cannot be told from zero"
    return None


def _goal(planned: Forecast, settings: Settings) -> Settings:
    """The wanted margin, or for a rare answer one that tells it from zero."""
    if planned.is_share and settings.margin and 0 < planned.planned < settings.margin:
        return replace(settings, margin=planned.planned)
    return settings


def _remedies(
    survey: Survey,
    one: Asked,
    planned: Forecast,
    settings: Settings,
    ask: str,
    best: dict[tuple[str, str], Forecast],
) -> str:
    """What would narrow the margin by a fifth at least, or reach the wanted one."""
    helps: list[str] = []
    wanted = planned.margin_text((settings.margin or 0) * planned.width)
    other = best.get((planned.id, planned.figure))
    if other and other.margin <= WORTHWHILE * planned.margin:
        helps.append(f"ask: {ask} ({other.margin_text()})")
    fewer = _with_fewer_options(survey, one, settings)
    if fewer and fewer.margin <= WORTHWHILE * planned.margin:
        helps.append(f"half as many {'bins' if one.question.bins else 'options'} ({fewer.margin_text()})")
    epsilon = None if survey.ask else enough_epsilon(survey, one, settings)
    if epsilon is not None:
        much = ", more than is advised for a sensitive question" if epsilon > ADVISED_FIELD else ""
        proposed, spent = (written.epsilon(loss, DIGITS, fixed=True) for loss in (epsilon, planned.epsilon))
        helps.append(f"ε = {proposed} for it instead of {spent}{much} ({wanted})")
    if planned.respondents is not None and planned.respondents <= TOO_MANY:
        helps.append(f"{written.count(planned.respondents)} respondents ({wanted})")
    if not helps:
        return "Leave it out, or give it a survey of its own."
    return f"What helps: {'; '.join(helps)}."


def enough_epsilon(survey: Survey, one: Asked, settings: Settings) -> Decimal | None:
    """The least ε of its field, to two digits, that gives its first estimand the wanted margin; None above 4."""

    def enough(epsilon: Decimal) -> bool:
        planned = _again(survey, one, one.field.questions, epsilon, settings)
        return planned is not None and planned.margin <= (settings.margin or 0) * planned.width

    low, high = Decimal(one.field.mechanism.epsilon), Decimal(ADVISED_TOTAL)
    if low >= high or not enough(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return round_up(high, DIGITS)


def _with_fewer_options(survey: Survey, one: Asked, settings: Settings) -> Forecast | None:
    """The same question with half of its options, points or bins, at the same ε."""
    question = one.question
    if len(one.field.questions) > 1 or max(len(question.labels), question.bins) < MANY_OPTIONS:
        return None
    half = (max(len(question.labels), question.bins) + 1) // 2
    kept = (
        replace(question, bins=half)
        if question.bins
        else replace(question, labels=question.labels[:half], scores=question.scores[:half])
    )
    return _again(survey, one, (kept,), one.field.mechanism.epsilon, settings)


def _again(
    survey: Survey, one: Asked, questions: tuple[Question, ...], epsilon: Decimal, settings: Settings
) -> Forecast | None:
    """The first estimand of the same question, if its field were made of these questions at this ε."""
    try:
        made = make_field(questions, epsilon, laplace=isinstance(one.field.mechanism, Geometric))
    except DefinitionError:
        return None
    question = next(known for known in made.questions if known.id == one.question.id)
    shown, reached = answering(survey, one.question, settings.guess), float(survey.part(one.field))
    given = estimands(made, question, settings.guess, answering=shown, asked=reached)
    return forecast(Asked(question, made, given), given[0], settings)


def _needed(plan: Alternative) -> float:
    return math.inf if plan.respondents is None else plan.respondents


def _fewer(other: Alternative, now: Alternative) -> bool:
    return _needed(other) <= FEWER * _needed(now) and _needed(other) < math.inf


def _about_ask(now: Alternative, better: Alternative, settings: Settings) -> str:
    asked = {
        "auto": f"lets each device answer one of {len(better.blocks)} blocks of questions, drawn by its own coins",
        "one": f"lets each device answer one of {len(better.blocks)} fields, drawn by its own coins",
        "all": "lets each device answer everything",
    }[better.ask]
    if len(better.blocks) == 1:
        asked = "randomizes all questions together, as one block"
    part = written.quantity(100 * (settings.margin or 0))
    return (
        f"ask: {better.ask} {asked}, at the same total ε: {written.respondents(better.respondents)} respondents for "
        f"±{part}% everywhere, not {written.respondents(now.respondents)}. Answers of two blocks cannot be crossed"
    )


def _about_joint(cross: Cross) -> str | None:
    if not cross.is_joint:
        return None
    pairs = zip(cross.joint.lines, cross.separate.lines, strict=True)
    ruined = [
        f"{alone.id} {together.margin_text()} instead of {alone.margin_text()}"
        for together, alone in pairs
        if together.margin >= RUINED * alone.margin
    ]
    if not ruined:
        return None
    return (
        f"{' and '.join(cross.questions)} are randomized together; for each alone that makes {', '.join(ruined)}. "
        "Keep it only if the combinations matter more"
    )
