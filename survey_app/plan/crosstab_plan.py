"""Plans of crosstabs before a launch: questions randomized jointly, or separately and combined afterwards.

A joint field narrows the margins of cells, and can widen those of its questions. So both margins are planned for both
designs. Where each device answers one block, the cost in respondents is planned too.
"""

import math
from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from candor_client.definition import Field, Survey, possible_cells
from candor_client.question import Question
from survey_app.authoring import Built
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.blocks import joint_price
from survey_app.authoring.yaml_source import Node
from survey_app.channels import channel_of
from survey_app.channels.channel import Assumed
from survey_app.kinds import kind_of
from survey_app.kinds.assumptions import Guess, PlanError
from survey_app.languages import numbers
from survey_app.plan.assumed_people import answering, option_share
from survey_app.plan.forecast import Asked, Forecast, asked, forecast
from survey_app.plan.report_variance import Spread
from survey_app.plan.target import Settings
from survey_app.plan.variants import joint_of, variant

MOST_PAIRS = 6  # crossed by default
MOST_CELLS = 1000  # in a table that is still readable


class Side(Struct, frozen=True):
    """One design of a crosstab: the margin of a cell (None if it cannot be estimated) with a line for each question."""

    cell: float | None
    lines: list[Forecast]


class Cross(Struct, frozen=True):
    """A crosstab of some questions, planned with a joint field and with separate fields.

    `cells` is the number of combinations, `share` that of a typical one if answers are independent. `is_joint` tells
    whether the survey as written randomizes the questions jointly, `wished` whether the author's file asks for that.
    `price` is the number of respondents with a joint field, divided by the number without, if each device answers one
    block at the survey's ε. It is None if the questions do not share an ε.
    """

    questions: list[str]
    is_joint: bool
    wished: bool
    cells: int
    share: float
    price: float | None
    joint: Side
    separate: Side

    @property
    def name(self) -> str:
        """The ids of the questions, joined by plus signs."""
        return " + ".join(self.questions)

    @property
    def price_text(self) -> str:
        """The price of a joint field in words; below one it saves respondents."""
        if self.price is None:
            return "they have an ε of their own, and no respondents to share"
        if self.price < 1:
            return f"costs nothing, {numbers.price(self.price)} of the respondents that they need apart: a gift"
        return f"{numbers.price(self.price)} times the respondents that they need apart"


def crosses(tree: Node, survey: Survey, settings: Settings, wanted: Sequence[Sequence[str]]) -> list[Cross]:
    """Return plans for the joint fields and the requested crossings; without any, for the pairs of a short survey.

    Raise PlanError if a requested crossing is impossible.
    """
    groups = joint_of(tree)
    plans = [_cross(tree, survey, settings, group, groups) for group in groups]
    for names in wanted:
        _check(survey, names, groups)
        if set(names) in [set(group) for group in groups]:
            continue
        plan = _cross(tree, survey, settings, names, [*groups, list(names)])
        if plan is None:
            raise PlanError(
                f"{' and '.join(names)} cannot be one field: a design, Laplace noise or too many cells stand in the way"
            )
        plans.append(plan)
    if not plans:
        ids = [question.id for question in survey.questions if _cellular(asked(survey, question.id, settings.guess))]
        pairs = list(combinations(ids, 2))
        default_pairs = pairs if len(pairs) <= MOST_PAIRS else []
        plans = [_cross(tree, survey, settings, pair, [list(pair)]) for pair in default_pairs]
    return [cross for cross in plans if cross is not None and cross.cells <= MOST_CELLS]


def _check(survey: Survey, names: Sequence[str], joint: list[list[str]]) -> None:
    if len(names) < 2 or len(set(names)) < len(names):
        raise PlanError("name at least two different questions to cross, such as cheated,help")
    for name in names:
        if name not in survey.ids:
            raise PlanError(f"there is no question {name!r} to cross; there are {', '.join(sorted(survey.ids))}")
        if any(name in group and set(names) != set(group) for group in joint):
            raise PlanError(f"{name} is in a joint field with other questions already")


def _cellular(one: Asked) -> bool:
    """Return whether the symbols of a question can be rows of a table."""
    kind = kind_of(one.question)
    return kind.exclusive and kind.has_shares(one.question)


def _cross(
    tree: Node, survey: Survey, settings: Settings, names: Sequence[str], joint: list[list[str]]
) -> Cross | None:
    joint_survey = variant(tree, joint=joint)
    separate_survey = _apart(tree, names, [group for group in joint if set(group) != set(names)])
    if joint_survey is None or separate_survey is None:
        return None
    sides: list[Side] = []
    share = _typical(separate_survey.survey, names, settings.guess)
    for built in (joint_survey, separate_survey):
        entries = [asked(built.survey, name, settings.guess) for name in names]
        cell = _cell(built.survey, entries, share, settings.guess) if all(map(_cellular, entries)) else None
        lines = [forecast(entry, entry.estimands[0], settings) for entry in entries]
        sides.append(Side(settings.margin_of(cell) if cell else None, lines))
    return Cross(
        questions=list(names),
        is_joint=_held(survey, names),
        wished=set(names) in [set(group) for group in joint_of(tree)],
        cells=sum(
            1 for _ in possible_cells([question for question in joint_survey.survey.questions if question.id in names])
        ),
        share=share,
        price=_price(tree, names, joint),
        joint=sides[0],
        separate=sides[1],
    )


def _apart(tree: Node, names: Sequence[str], joint: list[list[str]]) -> Built | None:
    """Return the survey with these joint fields, and with the named questions in separate fields.

    Where the best blocks join the named questions anyway, take the same blocks without them.
    """
    built = variant(tree, joint=joint)
    if built is None or not _held(built.survey, names):
        return built
    blocks = [
        [question.id for question in field.questions if question.id not in names] for field in built.survey.fields
    ]
    return variant(tree, ask=Ask.ONE, joint=[block for block in blocks if len(block) > 1])


def _held(survey: Survey, names: Sequence[str]) -> bool:
    """Return whether one field contains all of these questions."""
    return any({*names} <= {question.id for question in field.questions} for field in survey.fields)


def _typical(survey: Survey, names: Sequence[str], guess: Guess) -> float:
    """Return the share of a combination if answers are independent, apart from conditions that hide questions."""
    questions = [question for question in survey.questions if question.id in names]
    # an answer to a follow-up implies the answer that it depends on
    implied = {question.show_if.question for question in questions if question.show_if}
    return math.prod(_share(survey, question, guess) for question in questions if question.id not in implied)


def _share(survey: Survey, question: Question, guess: Guess) -> float:
    return option_share(question, guess) * answering(survey, question, guess)


def _price(tree: Node, names: Sequence[str], joint: list[list[str]]) -> float | None:
    separate = variant(tree, ask=Ask.ONE, joint=[group for group in joint if set(group) != set(names)])
    if separate is None or separate.wishes.epsilon is None:
        return None
    items = [item for item in separate.wishes.items if item.question.id in names]
    if not all(item.weight for item in items):
        return None
    return joint_price([separate.wishes.asked[item.question.id] for item in items], float(separate.wishes.epsilon))


def _cell(survey: Survey, questions: Sequence[Asked], share: float, guess: Guess) -> Spread | None:
    """Return the spread of one combination at this share; None if no device answers all of its questions."""
    field, people = questions[0].field, share * (1 - share)
    if all(entry.field is field for entry in questions):
        total = channel_of(field.mechanism).variance(Assumed.event(share, _part(field, questions)))
        return Spread(people, total - people, float(survey.part(field)))
    if survey.ask:
        return None
    second_moment = math.prod(_second_moment(survey, entry, guess) for entry in questions)
    return Spread(people, max(second_moment - share**2 - people, 0.0))


def _part(field: Field, questions: Sequence[Asked]) -> float:
    """Return the fraction of a field's cells that contain one combination of these questions, all of them answered."""
    positions = [[member.id for member in field.questions].index(entry.question.id) for entry in questions]
    rows = [tuple(cell[position] for position in positions) for cell in field.cells]
    answered = [
        row
        for row in rows
        if all(symbol < entry.question.no_answer for symbol, entry in zip(row, questions, strict=True))
    ]
    return rows.count(answered[-1]) / len(rows)


def _second_moment(survey: Survey, one: Asked, guess: Guess) -> float:
    """Return E[u²] of u = (bit − q)/(p − q), at the planned share.

    For separate fields a cell is the mean of Π u, and for independent answers E[Πu²] = Π E[u²].
    """
    share = _share(survey, one.question, guess)
    return channel_of(one.field.mechanism).variance(Assumed.event(share, 1 / one.field.size)) + share**2
