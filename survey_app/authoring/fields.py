"""The fields of a survey: which questions are randomized together, at which ε, by which mechanism, and how often.

Where every device answers everything, the total is split among the fields (`budget`). With `ask` a device answers one
of them, so that each has the whole total, unless its own ε or its design is fixed; `auto` also forms the fields
(`design`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import prod
from typing import assert_never

from client import definition
from client.definition import possible_cells
from client.errors import DefinitionError
from client.mechanisms import Mechanism
from client.question import Question
from survey_app.authoring import choose
from survey_app.authoring.answering import answering
from survey_app.authoring.ask import Ask
from survey_app.authoring.budget import Claim, split
from survey_app.authoring.choose import PRECISE
from survey_app.authoring.design import RESPONDENTS, Asked, Block, Design, best_blocks, best_way, chances, joint
from survey_app.authoring.figures import cell_counts, variance
from survey_app.authoring.questions import Item
from survey_app.authoring.source import Node
from survey_app.explain import written

MOST_CELLS = 1000  # of a group that its author wants joint
LEAST_WEIGHT = 1e-9  # nothing needs less

Group = tuple[Item, ...]


@dataclass(frozen=True)
class Made:
    """A field: its mechanism, its questions with the levels they are rounded to, and its need of respondents."""

    items: Group
    mechanism: Mechanism
    questions: tuple[Question, ...]
    need: float
    chance: int = 1


@dataclass(frozen=True)
class Wishes:
    """What an author wants randomized, and how: the questions, those of a joint group together, and the total ε."""

    items: Group
    groups: tuple[Group, ...]
    total: Node | None

    def fields(self, ask: Ask) -> list[Made]:
        """The fields in the order of their first questions; AuthoringError tells what stands in the way."""
        match ask:
            case Ask.ALL:
                return [self._all(*given) for given in zip(self.groups, self._shares(), strict=True)]
            case Ask.ONE:
                units = self._units()
            case Ask.AUTO:
                units = self._merged(self._units())
            case _:
                assert_never(ask)
        made = [self._one(*unit) for unit in units]
        drawn = chances([one.need for one in made]) if len(made) > 1 else [1]
        return [replace(one, chance=chance) for one, chance in zip(made, drawn, strict=True)]

    def design(self, ask: Ask) -> Design:
        """The fields as a design that can be compared with others."""
        return design_of(ask, self.fields(ask))

    def together(self) -> Design | None:
        """All questions as one joint group; None where a design stands in the way, or the number of combinations."""
        fixed = any(item.fixed or item.laplace for item in self.items)
        if self.epsilon is None or fixed or has_too_many_cells([item.question for item in self.items]):
            return None
        return replace(self, groups=(self.items,)).design(Ask.ONE)

    @cached_property
    def asked(self) -> dict[str, Asked]:
        """Every question as designs see it."""
        questions = [item.question for item in self.items]
        weights = [max(float(item.need), LEAST_WEIGHT) for item in self.items]
        return {
            one.id: Asked(one, place, answering(one, questions), weight)
            for place, (one, weight) in enumerate(zip(questions, weights, strict=True))
        }

    @cached_property
    def epsilon(self) -> Fraction | None:
        """The survey's own ε; None where every question has one."""
        unfixed = [item for item in self.items if item.weight]
        if self.total:  # designs alone are what they are, and only have to fit
            return self.total.epsilon() if unfixed else Fraction(self.total.positive("ε"))
        if unfixed:
            raise unfixed[0].node.error("has no ε: give it epsilon or design, or give the survey an epsilon")
        return None

    def _shares(self) -> list[Fraction]:
        claims = [
            Claim(sum((item.fixed for item in group), Fraction(0)), sum((item.weight for item in group), Fraction(0)))
            for group in self.groups
        ]
        if self.epsilon is None or self.total is None:
            return [claim.fixed for claim in claims]
        shares = split(claims, self.epsilon)
        if shares is None:
            raise self.total.error("designs and questions with their own epsilon leave nothing of this total")
        return shares

    def _units(self) -> list[tuple[Group, Fraction]]:
        return [(group, self._whole(group)) for group in self.groups]

    def _whole(self, group: Group) -> Fraction:
        """The ε of a group that a device answers alone: the survey's, or what its questions have of their own."""
        own = [item for item in group if item.fixed]
        if not own and self.epsilon is not None:
            return self.epsilon
        if len(own) < len(group):
            stranger = next(item for item in group if not item.fixed)
            raise stranger.node.error(
                f"is joint with {own[0].question.id}, which has its own ε; with ask, give all of them one, or none"
            )
        epsilon = sum((item.fixed for item in own), Fraction(0))
        if self.epsilon is not None and epsilon > self.epsilon:
            spent, total = (written.requested_epsilon(float(value)) for value in (epsilon, self.epsilon))
            place = own[0].node.members()["design" if own[0].design else "epsilon"]
            raise place.error(f"ε = {spent} of its own is more than the survey's {total}")
        return epsilon

    def _merged(self, units: Sequence[tuple[Group, Fraction]]) -> list[tuple[Group, Fraction]]:
        """The same questions in the best blocks; what has an ε, a design or a mechanism of its own stays by itself."""
        free = [unit for unit in units if all(item.weight and not item.laplace for item in unit[0])]
        if not free:
            return list(units)
        self._exact(*free[0])
        blocks = best_blocks([[self.asked[item.question.id] for item in group] for group, _ in free], float(free[0][1]))
        members = [{item.question.id for i in block for item in free[i][0]} for block in blocks]
        merged = [(tuple(item for item in self.items if item.question.id in ids), free[0][1]) for ids in members]
        alone = [unit for unit in units if unit not in free]
        return sorted([*merged, *alone], key=lambda unit: self.asked[unit[0][0].question.id].place)

    def _exact(self, group: Group, epsilon: Fraction) -> Decimal:
        """ε as mechanisms are made of it."""
        with localcontext(PRECISE):
            exact = Decimal(epsilon.numerator) / epsilon.denominator
        try:
            choose.check(exact)
        except DefinitionError as error:
            place = group[0].node.members().get("epsilon", self.total) or group[0].node
            raise place.error(
                f"no mechanism at ε = {written.requested_epsilon(float(epsilon))}: {error.reason}"
            ) from None
        return exact

    def _all(self, group: Group, epsilon: Fraction) -> Made:
        """The field of a group, at its share of ε."""
        if made := self._by_author(group, epsilon):
            return made
        choice = choose.choose([item.question for item in group], self._exact(group, epsilon))
        return self._judged(group, choice.mechanism, choice.questions)

    def _one(self, group: Group, epsilon: Fraction) -> Made:
        """The field of a group that a device answers alone: the best for its main figures."""
        if made := self._by_author(group, epsilon):
            return made
        exact, questions = self._exact(group, epsilon), [item.question for item in group]
        if len(group) > 1:
            cells = joint(self.asked[question.id] for question in questions).cells
            return self._judged(group, choose.subset(cells, 1, exact), choose.joint_questions(questions))
        mechanism, question = best_single(questions[0], self.asked[questions[0].id].answering, exact)
        return self._judged(group, mechanism, (question,))

    def _by_author(self, group: Group, epsilon: Fraction) -> Made | None:
        """The field of a question whose mechanism its author has chosen."""
        first = group[0]
        if first.design:
            return self._judged(group, first.design, (first.question,))
        if not first.laplace:
            return None
        choice = choose.choose([first.question], self._exact(group, epsilon), laplace=True)
        return self._judged(group, choice.mechanism, choice.questions)

    def _judged(self, group: Group, mechanism: Mechanism, questions: tuple[Question, ...]) -> Made:
        """A field with its need: that of its most demanding question."""
        counts = cell_counts(questions) if len(questions) > 1 else [None]
        needs = [
            self.asked[one.id].weight * variance(one, self.asked[one.id].answering, mechanism, cells)
            for one, cells in zip(questions, counts, strict=True)
        ]
        return Made(group, mechanism, questions, RESPONDENTS * max(needs))


def best_single(question: Question, answering: float, epsilon: Decimal) -> tuple[Mechanism, Question]:
    """The best mechanism for the main figures of a question that a device answers alone, and it with its levels."""
    way = best_way(question, answering, float(epsilon.exp()))
    return choose.single(way.question, epsilon, weight=way.weight, draw=way.draw), way.question


def design_of(ask: Ask, fields: Sequence[Made]) -> Design:
    """What was made, as a design."""
    blocks = [Block(tuple(item.question.id for item in one.items), one.chance, one.need) for one in fields]
    return Design(ask, tuple(blocks))


def has_too_many_cells(questions: Sequence[Question]) -> bool:
    """Whether questions have more combinations together than an author may wish for."""
    return (
        prod(question.size for question in questions) > definition.MOST_CELLS
        or sum(1 for _ in islice(possible_cells(questions), MOST_CELLS + 1)) > MOST_CELLS
    )


def groups_of(joint: Node | None, items: Sequence[Item]) -> tuple[Group, ...]:
    """The questions of every field as the author has them, in the order of the definition."""
    by_id = {item.question.id: item for item in items}
    member: dict[str, Group] = {}
    for group in joint.items() if joint else ():
        names = group.items()
        if len(names) < 2:
            raise group.error("at least two questions are randomized together")
        for name in names:
            item = by_id.get(name.text())
            if item is None:
                raise name.error(f"there is no question {name.text()!r}")
            if item.question.id in member:
                raise name.error(f"{item.question.id} is in a joint field already")
            if item.design or item.laplace:
                raise name.error("a question with a design or with mechanism: laplace cannot be joint")
            member[item.question.id] = ()
        wanted = {name.text() for name in names}
        together = tuple(item for item in items if item.question.id in wanted)
        if has_too_many_cells([item.question for item in together]):
            raise group.error(
                f"these have more than {written.count(MOST_CELLS)} combinations, too many to tell apart; "
                "use fewer options or fewer questions"
            )
        member |= dict.fromkeys(wanted, together)
    groups: list[Group] = []
    for item in items:
        group_items = member.get(item.question.id, (item,))
        if group_items not in groups:
            groups.append(group_items)
    return tuple(groups)
