"""What to do about a plan that promises too little: said plainly, with what would help and by how much."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal

from client.definition import Question, Survey
from client.errors import DefinitionError
from client.mechanism import Geometric
from survey_app.authoring import ADVISED_FIELD, ADVISED_TOTAL
from survey_app.plan.cross import Cross
from survey_app.plan.figures import figures, make_field
from survey_app.plan.lines import Asked, Line, asked, line, lines
from survey_app.plan.people import answering
from survey_app.plan.settings import Settings
from survey_app.plan.words import line_size, loss, what

TOO_MANY = 1_000_000
WORTHWHILE = 0.8  # a remedy is told if it leaves at most this part of the margin
RUINED = 1.1  # a margin is told to suffer if it grows at least so much
MANY_OPTIONS = 4
STEPS = 12  # of the search for an ε


def advise(
    survey: Survey, settings: Settings, narrower: tuple[int, Sequence[Line]] | None, crosses: Sequence[Cross]
) -> list[str]:
    """A sentence or two for every question without hope, for `ask`, and for joint fields that cost more than they give.

    `narrower` is the best number of fields to ask, and the lines of the survey with it.
    """
    found: list[str] = []
    best = {(one.id, one.figure): one for one in narrower[1]} if narrower else {}
    for question in survey.questions:
        one = asked(survey, question.id, settings.guess)
        planned = line(one, one.figures[0], settings)
        if why := _trouble(planned, settings):
            goal = _goal(planned, settings)
            helps = _remedies(
                survey, one, line(one, one.figures[0], goal), goal, narrower[0] if narrower else None, best
            )
            found.append(f"{question.id}, {what(planned.figure, planned.planned, planned.unit)}: {why}. {helps}")
    if narrower:
        found.append(_about_ask(survey, settings, narrower))
    found += [said for cross in crosses if (said := _about_joint(cross))]
    return found


def _trouble(planned: Line, settings: Settings) -> str | None:
    respondents = f"with {settings.respondents:,} respondents the margin is {line_size(planned)}"
    if planned.margin >= (planned.high - planned.low) / 2:
        return f"{respondents}, so the interval can be as wide as all that is possible and says nothing"
    wanted = line_size(planned, (settings.margin or 0) * (planned.high - planned.low))
    if planned.respondents is None:
        return f"even the whole population would not bring it to {wanted}"
    if planned.respondents > TOO_MANY:
        return f"{wanted} would take {planned.respondents:,} respondents"
    if planned.is_share and planned.margin >= planned.planned:
        return f"{respondents}, so such a share cannot be told from zero"
    return None


def _goal(planned: Line, settings: Settings) -> Settings:
    """The wanted margin, or for a rare answer one that tells it from zero."""
    if planned.is_share and settings.margin and 0 < planned.planned < settings.margin:
        return replace(settings, margin=planned.planned)
    return settings


def _remedies(
    survey: Survey,
    one: Asked,
    planned: Line,
    settings: Settings,
    ask: int | None,
    best: dict[tuple[str, str], Line],
) -> str:
    """What would narrow the margin by a fifth at least, or reach the wanted one."""
    helps: list[str] = []
    wanted = line_size(planned, (settings.margin or 0) * (planned.high - planned.low))
    other = best.get((planned.id, planned.figure))
    if other and other.margin <= WORTHWHILE * planned.margin:
        helps.append(f"ask: {ask} ({line_size(other)})")
    fewer = _with_fewer_options(survey, one, settings)
    if fewer and fewer.margin <= WORTHWHILE * planned.margin:
        helps.append(f"half as many {'bins' if one.question.bins else 'options'} ({line_size(fewer)})")
    epsilon = enough_epsilon(survey, one, settings)
    if epsilon is not None:
        much = ", more than is advised for a sensitive question" if epsilon > ADVISED_FIELD else ""
        helps.append(f"ε = {epsilon} for it instead of {planned.epsilon:.2f}{much} ({wanted})")
    if planned.respondents is not None and planned.respondents <= TOO_MANY:
        helps.append(f"{planned.respondents:,} respondents ({wanted})")
    if not helps:
        return "Leave it out, or give it a survey of its own."
    return f"What helps: {'; '.join(helps)}."


def enough_epsilon(survey: Survey, one: Asked, settings: Settings) -> Decimal | None:
    """The least ε of its field, to two digits, that gives a question's first figure the wanted margin; None above 4."""

    def enough(epsilon: Decimal) -> bool:
        found = _again(survey, one, one.field.questions, epsilon, settings)
        return found is not None and found.margin <= (settings.margin or 0) * (found.high - found.low)

    low, high = Decimal(one.field.mechanism.epsilon), Decimal(ADVISED_TOTAL)
    if low >= high or not enough(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high.quantize(Decimal("0.01"), rounding=ROUND_CEILING)


def _with_fewer_options(survey: Survey, one: Asked, settings: Settings) -> Line | None:
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
) -> Line | None:
    """The first figure of the same question, if its field were made of these questions at this ε."""
    try:
        made = make_field(questions, epsilon, laplace=isinstance(one.field.mechanism, Geometric))
    except DefinitionError:
        return None
    question = next(known for known in made.questions if known.id == one.question.id)
    reached = survey.ask / len(survey.fields) if survey.ask else 1.0
    shown = answering(survey, one.question, settings.guess)
    found = figures(made, question, settings.guess, answering=shown, asked=reached)
    return line(Asked(question, made, found), found[0], settings)


def _about_ask(survey: Survey, settings: Settings, narrower: tuple[int, Sequence[Line]]) -> str:
    ask, others = narrower
    now = {(one.id, one.figure): one for one in lines(survey, settings)}
    better = [one for one in others if one.margin < now[one.id, one.figure].margin]
    return (
        f"ask: {ask} lets each device answer {ask} of {len(survey.fields)} fields, drawn by its own coins, at the same "
        f"total ε: {len(better)} of {len(others)} margins would be narrower, and the form shorter. One answer then "
        f"spends up to ε = {loss(max(one.epsilon for one in others))}"
    )


def _about_joint(cross: Cross) -> str | None:
    if not cross.is_joint:
        return None
    pairs = zip(cross.joint.lines, cross.separate.lines, strict=True)
    ruined = [
        f"{alone.id} {line_size(together)} instead of {line_size(alone)}"
        for together, alone in pairs
        if together.margin >= RUINED * alone.margin
    ]
    if not ruined:
        return None
    return (
        f"{' and '.join(cross.questions)} are randomized together; for each alone that makes {', '.join(ruined)}. "
        "Keep it only if the combinations matter more"
    )
