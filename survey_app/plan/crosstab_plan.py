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
from survey_app.authoring import BuiltSurvey
from survey_app.authoring.ask import Ask
from survey_app.authoring.design.blocks import compute_joint_cost_ratio
from survey_app.authoring.yaml_source import Node
from survey_app.channels import channel_of
from survey_app.channels.channel import AssumedShares
from survey_app.kinds import kind_of
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.languages import numbers
from survey_app.plan.forecast import Forecast, PlannedQuestion, find_planned_question, forecast_estimand
from survey_app.plan.report_variance import Spread
from survey_app.plan.simulated_people import compute_response_rate, option_share
from survey_app.plan.target import Settings
from survey_app.plan.variants import build_variant, read_joint_fields

MOST_PAIRS = 6  # crossed by default
MOST_CELLS = 1000  # in a table that is still readable


class CrosstabDesign(Struct, frozen=True):
    """One design of a crosstab: the margin of a cell (None if it cannot be estimated) with a line for each question."""

    cell: float | None
    lines: list[Forecast]


class CrosstabPlan(Struct, frozen=True):
    """A crosstab of some questions, planned with a joint field and with separate fields.

    `cells` is the number of combinations, and `share` that of a typical one if answers are independent. `is_joint`
    means that the survey as written randomizes the questions jointly, `wished` that the author's file asks for it.
    `price` is the number of respondents with a joint field, divided by the number without, if each device answers one
    block at the survey's ε. It is None if the questions do not share an ε.
    """

    questions: list[str]
    is_joint: bool
    wished: bool
    cells: int
    share: float
    price: float | None
    joint: CrosstabDesign
    separate: CrosstabDesign

    @property
    def name(self) -> str:
        """The ids of the questions, joined by plus signs."""
        return " + ".join(self.questions)

    @property
    def price_text(self) -> str:
        """The price of a joint field in words; below one it saves respondents."""
        if self.price is None:
            return "no price, because the questions have their own ε and share no respondents"
        if self.price < 1:
            return f"free: {numbers.format_cost_factor(self.price)} times the respondents that they need apart"
        return f"{numbers.format_cost_factor(self.price)} times the respondents that they need apart"


def plan_crosstabs(
    tree: Node, survey: Survey, settings: Settings, crossings: Sequence[Sequence[str]]
) -> list[CrosstabPlan]:
    """Return plans for the joint fields and the requested crossings; without any, for the pairs of a short survey.

    Raise PlanError if a requested crossing is impossible.
    """
    groups = read_joint_fields(tree)
    plans = [_plan_crosstab(tree, survey, settings, group, groups) for group in groups]
    for names in crossings:
        _check_crossing(survey, names, groups)
        if set(names) in [set(group) for group in groups]:
            continue
        plan = _plan_crosstab(tree, survey, settings, names, [*groups, list(names)])
        if plan is None:
            raise PlanError(
                "cannot_cross",
                f"{' and '.join(names)} cannot be one field: a question has a design or Laplace noise, or there are too"
                " many combinations",
            )
        plans.append(plan)
    if not plans:
        ids = [
            question.id
            for question in survey.questions
            if _can_be_crossed(find_planned_question(survey, question.id, settings.guess))
        ]
        pairs = list(combinations(ids, 2))
        default_pairs = pairs if len(pairs) <= MOST_PAIRS else []
        plans = [_plan_crosstab(tree, survey, settings, pair, [list(pair)]) for pair in default_pairs]
    return [cross for cross in plans if cross is not None and cross.cells <= MOST_CELLS]


def _check_crossing(survey: Survey, names: Sequence[str], joint: list[list[str]]) -> None:
    if len(names) < 2 or len(set(names)) < len(names):
        raise PlanError("too_few_questions", "name at least two different questions to cross, such as cheated,help")
    for name in names:
        if name not in survey.ids:
            raise PlanError(
                "unknown_question",
                f"there is no question {name!r} to cross; the questions are {', '.join(sorted(survey.ids))}",
            )
        if any(name in group and set(names) != set(group) for group in joint):
            raise PlanError("other_joint_field", f"{name} is already in a joint field with other questions")


def _can_be_crossed(entry: PlannedQuestion) -> bool:
    """Return whether the symbols of a question can be rows of a table."""
    kind = kind_of(entry.question)
    return kind.exclusive and kind.has_shares(entry.question)


def _plan_crosstab(
    tree: Node, survey: Survey, settings: Settings, names: Sequence[str], joint: list[list[str]]
) -> CrosstabPlan | None:
    joint_survey = build_variant(tree, joint=joint)
    separate_survey = _build_separately(tree, names, [group for group in joint if set(group) != set(names)])
    if joint_survey is None or separate_survey is None:
        return None
    sides: list[CrosstabDesign] = []
    share = _compute_cell_share(separate_survey.survey, names, settings.guess)
    for built in (joint_survey, separate_survey):
        entries = [find_planned_question(built.survey, name, settings.guess) for name in names]
        cell = (
            _compute_cell_spread(built.survey, entries, share, settings.guess)
            if all(map(_can_be_crossed, entries))
            else None
        )
        lines = [forecast_estimand(entry, entry.estimands[0], settings) for entry in entries]
        sides.append(CrosstabDesign(settings.margin_of(cell) if cell else None, lines))
    return CrosstabPlan(
        questions=list(names),
        is_joint=_has_joint_field(survey, names),
        wished=set(names) in [set(group) for group in read_joint_fields(tree)],
        cells=sum(
            1 for _ in possible_cells([question for question in joint_survey.survey.questions if question.id in names])
        ),
        share=share,
        price=_compute_price(tree, names, joint),
        joint=sides[0],
        separate=sides[1],
    )


def _build_separately(tree: Node, names: Sequence[str], joint: list[list[str]]) -> BuiltSurvey | None:
    """Return the survey with these joint fields, and with the named questions in separate fields.

    Where the best blocks join the named questions anyway, take the same blocks without them.
    """
    built = build_variant(tree, joint=joint)
    if built is None or not _has_joint_field(built.survey, names):
        return built
    blocks = [
        [question.id for question in field.questions if question.id not in names] for field in built.survey.fields
    ]
    return build_variant(tree, ask=Ask.ONE, joint=[block for block in blocks if len(block) > 1])


def _has_joint_field(survey: Survey, names: Sequence[str]) -> bool:
    """Return whether one field contains all of these questions."""
    return any({*names} <= {question.id for question in field.questions} for field in survey.fields)


def _compute_cell_share(survey: Survey, names: Sequence[str], guess: Guess) -> float:
    """Return the share of a combination if answers are independent, apart from conditions that hide questions."""
    questions = [question for question in survey.questions if question.id in names]
    # an answer to a follow-up implies the answer that it depends on
    implied = {question.show_if.question for question in questions if question.show_if}
    return math.prod(
        _compute_option_share(survey, question, guess) for question in questions if question.id not in implied
    )


def _compute_option_share(survey: Survey, question: Question, guess: Guess) -> float:
    return option_share(question, guess) * compute_response_rate(survey, question, guess)


def _compute_price(tree: Node, names: Sequence[str], joint: list[list[str]]) -> float | None:
    separate = build_variant(tree, ask=Ask.ONE, joint=[group for group in joint if set(group) != set(names)])
    if separate is None or separate.request.epsilon is None:
        return None
    items = [item for item in separate.request.items if item.question.id in names]
    if not all(item.weight for item in items):
        return None
    return compute_joint_cost_ratio(
        [separate.request.design_questions[item.question.id] for item in items], float(separate.request.epsilon)
    )


def _compute_cell_spread(
    survey: Survey, entries: Sequence[PlannedQuestion], share: float, guess: Guess
) -> Spread | None:
    """Return the spread of one combination at this share; None if no device answers all of its questions."""
    field, people = entries[0].field, share * (1 - share)
    if all(entry.field is field for entry in entries):
        total = channel_of(field.mechanism).variance(AssumedShares.event(share, _compute_cell_fraction(field, entries)))
        return Spread(people, total - people, float(survey.answer_probability(field)))
    if survey.ask:
        return None
    second_moment = math.prod(_second_moment(survey, entry, guess) for entry in entries)
    return Spread(people, max(second_moment - share**2 - people, 0.0))


def _compute_cell_fraction(field: Field, entries: Sequence[PlannedQuestion]) -> float:
    """Return the fraction of a field's cells that contain one combination of these questions, all of them answered."""
    positions = [[member.id for member in field.questions].index(entry.question.id) for entry in entries]
    rows = [tuple(cell[position] for position in positions) for cell in field.cells]
    answered = [
        row
        for row in rows
        if all(symbol < entry.question.no_answer for symbol, entry in zip(row, entries, strict=True))
    ]
    return rows.count(answered[-1]) / len(rows)


def _second_moment(survey: Survey, entry: PlannedQuestion, guess: Guess) -> float:
    """Return E[u²] of u = (bit − q)/(p − q), at the planned share.

    For separate fields a cell is the mean of Π u, and for independent answers E[Πu²] = Π E[u²].
    """
    share = _compute_option_share(survey, entry.question, guess)
    return channel_of(entry.field.mechanism).variance(AssumedShares.event(share, 1 / entry.field.size)) + share**2
