"""Cross-tabs before a launch: questions randomized together, or each on its own and crossed afterwards.

One field for several questions helps their cells, and can ruin the margins of its questions. So both are shown, for
both ways.
"""

import math
from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from client.definition import Survey
from client.mechanism import Flip, Subset, Unary
from survey_app.authoring.source import Node
from survey_app.channel import bit_variance
from survey_app.plan.forecast import Asked, Forecast, asked, forecast
from survey_app.plan.people import Guess, answering, option_share
from survey_app.plan.settings import Settings
from survey_app.plan.spread import PlanError, Spread
from survey_app.plan.variants import joint_of, variant

MOST_PAIRS = 6  # that are crossed without being asked for
MOST_CELLS = 1000  # that anybody would look at


class Way(Struct, frozen=True):
    """The margin of a cell (None where none is seen), and that of each question's first estimand."""

    cell: float | None
    lines: list[Forecast]


class Cross(Struct, frozen=True):
    """Questions whose combinations matter: `cells` of them, a typical one at `share` if they are independent."""

    questions: list[str]
    is_joint: bool
    cells: int
    share: float
    joint: Way
    separate: Way


def crosses(tree: Node, survey: Survey, settings: Settings, wanted: Sequence[Sequence[str]]) -> list[Cross]:
    """The joint fields, then what was asked for; if there is neither, the pairs of a short survey."""
    joint = joint_of(tree)
    crossed = [_cross(tree, settings, group, joint) for group in joint]
    for names in wanted:
        _check(survey, names, joint)
        if set(names) in [set(group) for group in joint]:
            continue
        made = _cross(tree, settings, names, [*joint, list(names)])
        if made is None:
            raise PlanError(
                f"{' and '.join(names)} cannot be one field: a design, Laplace noise or too many cells stand in the way"
            )
        crossed.append(made)
    if not crossed:
        simple = [question.id for question in survey.questions if _cellular(asked(survey, question.id, settings.guess))]
        pairs = list(combinations(simple, 2))
        crossed = [_cross(tree, settings, pair, [list(pair)]) for pair in pairs] if len(pairs) <= MOST_PAIRS else []
    return [cross for cross in crossed if cross is not None and cross.cells <= MOST_CELLS]


def _check(survey: Survey, names: Sequence[str], joint: list[list[str]]) -> None:
    if len(names) < 2 or len(set(names)) < len(names):
        raise PlanError("name at least two different questions to cross, such as cheated,help")
    for name in names:
        if name not in survey.ids:
            raise PlanError(f"there is no question {name!r} to cross; there are {', '.join(sorted(survey.ids))}")
        if any(name in group and set(names) != set(group) for group in joint):
            raise PlanError(f"{name} is in a joint field with other questions already")


def _cellular(one: Asked) -> bool:
    """Whether a question alone gives one bit for each of its symbols."""
    question, mechanism = one.question, one.field.mechanism
    return isinstance(mechanism, Flip | Subset | Unary) and question.type != "multiple" and not question.levels


def _cross(tree: Node, settings: Settings, names: Sequence[str], joint: list[list[str]]) -> Cross | None:
    together = variant(tree, joint=joint)
    apart = variant(tree, joint=[group for group in joint if set(group) != set(names)])
    if together is None or apart is None:
        return None
    both = [[asked(built.survey, name, settings.guess) for name in names] for built in (together, apart)]
    shares = [_typical(apart.survey, one, settings.guess) for one in both[1]]
    cells: list[Spread | None] = [None, None]
    if all(_cellular(one) for one in both[1]):
        cells = [_joint_cell(both[0][0], math.prod(shares)), _separate_cell(apart.survey, both[1], shares)]
    ways = [
        Way(
            settings.margin_of(cell) if cell else None, [forecast(one, one.estimands[0], settings) for one in questions]
        )
        for cell, questions in zip(cells, both, strict=True)
    ]
    return Cross(
        questions=list(names),
        is_joint=list(names) in joint_of(tree),
        cells=both[0][0].field.size,
        share=math.prod(shares),
        joint=ways[0],
        separate=ways[1],
    )


def _typical(survey: Survey, one: Asked, guess: Guess) -> float:
    return option_share(one.question, guess) * answering(survey, one.question, guess)


def _joint_cell(one: Asked, share: float) -> Spread | None:
    mechanism, people = one.field.mechanism, share * (1 - share)
    if not isinstance(mechanism, Subset | Unary):
        return None
    return Spread(people, bit_variance(mechanism, share) - people, one.estimands[0].spread.asked)


def _separate_cell(survey: Survey, questions: Sequence[Asked], shares: Sequence[float]) -> Spread | None:
    """Of the mean of Π u, u = (bit − q)/(p − q): for independent answers E[Πu²] = Π (V + f²), V = n·Var of one share.

    All the fields must have been asked: with `ask: s` of F, Π (s − i)/(F − i) of the devices.
    """
    second, seen = 1.0, 1.0
    for already, (one, share) in enumerate(zip(questions, shares, strict=True)):
        if not isinstance(one.field.mechanism, Flip | Subset | Unary):
            return None
        second *= bit_variance(one.field.mechanism, share) + share**2
        if survey.ask:
            seen *= max(survey.ask - already, 0) / (len(survey.fields) - already)
    share = math.prod(shares)
    people = share * (1 - share)
    return Spread(people, second - share**2 - people, seen) if seen else None
