"""The fields of a survey: the questions that are randomized jointly, the ε, the mechanism, and the chance of each.

With `ask: all` every device answers everything, and the total ε is split among the fields (`budget`). Otherwise a
device answers one field, and each field has the whole total unless its ε or its design is fixed. With `auto` the fields
are also formed here (`design`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import prod
from typing import assert_never

from candor_client import definition
from candor_client.definition import possible_cells
from candor_client.errors import DefinitionError
from candor_client.mechanisms import Mechanism
from candor_client.question import Question
from survey_app.authoring import mechanism_choice
from survey_app.authoring.ask import Ask
from survey_app.authoring.authored_question import AuthoredQuestion
from survey_app.authoring.budget import Claim, split_epsilon
from survey_app.authoring.design.blocks import (
    RESPONDENTS,
    Block,
    Design,
    DesignQuestion,
    choose_randomization,
    compute_chances,
    find_best_blocks,
    join_questions,
)
from survey_app.authoring.design.main_figures import count_cells, variance
from survey_app.authoring.mechanism_choice import PRECISE
from survey_app.authoring.response_rate import predict_response_rate
from survey_app.authoring.yaml_source import Node
from survey_app.languages import numbers

MOST_CELLS = 1000  # in a joint group of the author's
LEAST_WEIGHT = 1e-9  # smaller weights are raised to this

QuestionGroup = tuple[AuthoredQuestion, ...]


@dataclass(frozen=True)
class BuiltField:
    """A field: its mechanism, its questions with the levels they are rounded to, and the respondents it needs."""

    items: QuestionGroup
    mechanism: Mechanism
    questions: tuple[Question, ...]
    need: float
    chance: int = 1


@dataclass(frozen=True)
class DesignRequest:
    """The author's request for a design: the questions, the groups to randomize jointly, and the total ε."""

    items: QuestionGroup
    groups: tuple[QuestionGroup, ...]
    total: Node | None

    def build_fields(self, ask: Ask) -> list[BuiltField]:
        """Build the fields in the order of their first questions. Raise AuthoringError if that is impossible."""
        match ask:
            case Ask.ALL:
                return [
                    self._build_share(*group_share)
                    for group_share in zip(self.groups, self._split_total(), strict=True)
                ]
            case Ask.ONE:
                units = self._list_units()
            case Ask.AUTO:
                units = self._merge_units(self._list_units())
            case _:
                assert_never(ask)
        fields = [self._build_block(*unit) for unit in units]
        weights = compute_chances([field.need for field in fields]) if len(fields) > 1 else [1]
        return [replace(field, chance=chance) for field, chance in zip(fields, weights, strict=True)]

    def build_design(self, ask: Ask) -> Design:
        """Build the fields for an `ask`, as a design that can be compared with others."""
        return design_of(ask, self.build_fields(ask))

    def build_joint_design(self) -> Design | None:
        """Build the design with all questions in one joint group.

        Return None if a question has a fixed ε, a design or laplace, or if there are too many combinations.
        """
        has_fixed = any(item.fixed_epsilon or item.is_laplace for item in self.items)
        if self.epsilon is None or has_fixed or has_too_many_cells([item.question for item in self.items]):
            return None
        return replace(self, groups=(self.items,)).build_design(Ask.ONE)

    @cached_property
    def design_questions(self) -> dict[str, DesignQuestion]:
        """Every question by its id, with the numbers from which designs are computed."""
        questions = [item.question for item in self.items]
        weights = [max(float(item.need), LEAST_WEIGHT) for item in self.items]
        return {
            question.id: DesignQuestion(question, position, predict_response_rate(question, questions), weight)
            for position, (question, weight) in enumerate(zip(questions, weights, strict=True))
        }

    @cached_property
    def epsilon(self) -> Fraction | None:
        """The survey's own ε, or None if every question has its own. Raises AuthoringError if a question has no ε."""
        unfixed = [item for item in self.items if item.weight]
        if self.total:  # fixed designs are not rounded: they only have to fit
            return self.total.epsilon() if unfixed else Fraction(self.total.positive("ε"))
        if unfixed:
            raise unfixed[0].node.error("no_epsilon", "has no ε; add epsilon or design here, or epsilon to the survey")
        return None

    def _split_total(self) -> list[Fraction]:
        claims = [
            Claim(
                sum((item.fixed_epsilon for item in group), Fraction(0)),
                sum((item.weight for item in group), Fraction(0)),
            )
            for group in self.groups
        ]
        if self.epsilon is None or self.total is None:
            return [claim.fixed for claim in claims]
        shares = split_epsilon(claims, self.epsilon)
        if shares is None:
            raise self.total.error(
                "nothing_left",
                "designs and questions with their own epsilon leave nothing of this total; raise the total, or change "
                "them",
            )
        return shares

    def _list_units(self) -> list[tuple[QuestionGroup, Fraction]]:
        return [(group, self._unit_epsilon(group)) for group in self.groups]

    def _unit_epsilon(self, group: QuestionGroup) -> Fraction:
        """Return the ε of a group that a device answers alone: the sum of its questions' own ε, or the survey's."""
        fixed = [item for item in group if item.fixed_epsilon]
        if not fixed and self.epsilon is not None:
            return self.epsilon
        if len(fixed) < len(group):
            free_item = next(item for item in group if not item.fixed_epsilon)
            raise free_item.node.error(
                "mixed_epsilon",
                f"{free_item.question.id} is in a joint field with {fixed[0].question.id}, which has its own ε; with"
                " ask, give an ε to all questions of the field, or to none",
            )
        epsilon = sum((item.fixed_epsilon for item in fixed), Fraction(0))
        if self.epsilon is not None and epsilon > self.epsilon:
            spent, total = (numbers.format_requested_epsilon(float(value)) for value in (epsilon, self.epsilon))
            place = fixed[0].node.members()["design" if fixed[0].design else "epsilon"]
            raise place.error("above_total", f"its own ε = {spent} is more than the survey's total of {total}")
        return epsilon

    def _merge_units(self, units: Sequence[tuple[QuestionGroup, Fraction]]) -> list[tuple[QuestionGroup, Fraction]]:
        """Return the questions in the best blocks. A unit with its own ε, design or mechanism stays by itself."""
        free_units = [unit for unit in units if all(item.weight and not item.is_laplace for item in unit[0])]
        if not free_units:
            return list(units)
        self._to_decimal(*free_units[0])
        blocks = find_best_blocks(
            [[self.design_questions[item.question.id] for item in group] for group, _ in free_units],
            float(free_units[0][1]),
        )
        members = [{item.question.id for i in block for item in free_units[i][0]} for block in blocks]
        merged = [(tuple(item for item in self.items if item.question.id in ids), free_units[0][1]) for ids in members]
        fixed_units = [unit for unit in units if unit not in free_units]
        return sorted([*merged, *fixed_units], key=lambda unit: self.design_questions[unit[0][0].question.id].place)

    def _to_decimal(self, group: QuestionGroup, epsilon: Fraction) -> Decimal:
        """Return ε as the decimal from which mechanisms are built. Raise AuthoringError if no mechanism has it."""
        with localcontext(PRECISE):
            exact = Decimal(epsilon.numerator) / epsilon.denominator
        try:
            mechanism_choice.check_epsilon(exact)
        except DefinitionError as error:
            place = group[0].node.members().get("epsilon", self.total) or group[0].node
            raise place.error(
                "no_mechanism",
                f"no mechanism exists at ε = {numbers.format_requested_epsilon(float(epsilon))}: {error.reason}",
            ) from None
        return exact

    def _build_share(self, group: QuestionGroup, epsilon: Fraction) -> BuiltField:
        """Build the field of a group at its share of ε."""
        if field := self._build_prescribed_field(group, epsilon):
            return field
        choice = mechanism_choice.choose([item.question for item in group], self._to_decimal(group, epsilon))
        return self._make_field(group, choice.mechanism, choice.questions)

    def _build_block(self, group: QuestionGroup, epsilon: Fraction) -> BuiltField:
        """Build the field of a group that a device answers alone, with the best mechanism for its main figures."""
        if field := self._build_prescribed_field(group, epsilon):
            return field
        exact, questions = self._to_decimal(group, epsilon), [item.question for item in group]
        if len(group) > 1:
            cells = join_questions(self.design_questions[question.id] for question in questions).cells
            return self._make_field(
                group, mechanism_choice.make_subset(cells, 1, exact), mechanism_choice.set_joint_levels(questions)
            )
        mechanism, question = choose_single(questions[0], self.design_questions[questions[0].id].response_rate, exact)
        return self._make_field(group, mechanism, (question,))

    def _build_prescribed_field(self, group: QuestionGroup, epsilon: Fraction) -> BuiltField | None:
        """Build the field of a question whose mechanism the author has chosen. Return None for other questions."""
        first = group[0]
        if first.design:
            return self._make_field(group, first.design, (first.question,))
        if not first.is_laplace:
            return None
        choice = mechanism_choice.choose([first.question], self._to_decimal(group, epsilon), laplace=True)
        return self._make_field(group, choice.mechanism, choice.questions)

    def _make_field(self, group: QuestionGroup, mechanism: Mechanism, questions: tuple[Question, ...]) -> BuiltField:
        """Build a field. Its need is that of its most demanding question."""
        counts = count_cells(questions) if len(questions) > 1 else [None]
        needs = [
            self.design_questions[question.id].weight
            * variance(question, self.design_questions[question.id].response_rate, mechanism, cells)
            for question, cells in zip(questions, counts, strict=True)
        ]
        return BuiltField(group, mechanism, questions, RESPONDENTS * max(needs))


def choose_single(question: Question, response_rate: float, epsilon: Decimal) -> tuple[Mechanism, Question]:
    """Return the best mechanism for the main figures of a question that a device answers alone.

    The question is returned too, with the levels to which it is rounded.
    """
    randomization = choose_randomization(question, response_rate, float(epsilon.exp()))
    return mechanism_choice.make_single(
        randomization.question, epsilon, weight=randomization.weight, draw=randomization.draw
    ), randomization.question


def design_of(ask: Ask, fields: Sequence[BuiltField]) -> Design:
    """Return a design that consists of these fields."""
    blocks = [Block(tuple(item.question.id for item in field.items), field.chance, field.need) for field in fields]
    return Design(ask, tuple(blocks))


def has_too_many_cells(questions: Sequence[Question]) -> bool:
    """Return whether questions have more combinations than an author may randomize jointly."""
    return (
        prod(question.size for question in questions) > definition.MOST_CELLS
        or sum(1 for _ in islice(possible_cells(questions), MOST_CELLS + 1)) > MOST_CELLS
    )


def read_joint_groups(joint: Node | None, items: Sequence[AuthoredQuestion]) -> tuple[QuestionGroup, ...]:
    """Return the questions of every field as the author groups them, in the order of the definition.

    Raise AuthoringError if a joint group is invalid.
    """
    by_id = {item.question.id: item for item in items}
    member: dict[str, QuestionGroup] = {}
    for group in joint.items() if joint else ():
        names = group.items()
        if len(names) < 2:
            raise group.error("too_few", "needs at least two questions")
        for name in names:
            item = by_id.get(name.text())
            if item is None:
                raise name.error("unknown_question", f"there is no question {name.text()!r}")
            if item.question.id in member:
                raise name.error("duplicate", f"{item.question.id} is already in a joint field")
            if item.design or item.is_laplace:
                raise name.error(
                    "cannot_join", "a question with a design or with mechanism: laplace cannot be in a joint field"
                )
            member[item.question.id] = ()
        group_ids = {name.text() for name in names}
        group_members = tuple(item for item in items if item.question.id in group_ids)
        if has_too_many_cells([item.question for item in group_members]):
            raise group.error(
                "too_many_cells",
                f"these questions have more than {numbers.format_count(MOST_CELLS)} combinations, too many to"
                " distinguish; use fewer options or fewer questions",
            )
        member |= dict.fromkeys(group_ids, group_members)
    groups: list[QuestionGroup] = []
    for item in items:
        group_items = member.get(item.question.id, (item,))
        if group_items not in groups:
            groups.append(group_items)
    return tuple(groups)
