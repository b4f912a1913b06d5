"""Asking some of the questions, and questions together."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from client.mechanism import Subset
from survey_app.authoring import build
from survey_app.plan.cross import Cross
from survey_app.plan.estimands import estimands, make_field
from survey_app.plan.people import Guess
from survey_app.plan.question import make_question
from survey_app.plan.survey import plan_survey
from tests.planning import Z, printed, total, two_choices, yes


@pytest.mark.parametrize(
    ("epsilon", "share", "everything", "best", "ask"),
    [
        ("1", 0.2, "100", "10.8", 1),
        ("4", 0.05, "6.21", "0.67", 1),
        ("4", 0.2, "6.33", "1.71", 2),
        ("8", 0.2, "1.64", "0.80", 3),
    ],
)
def test_ten_questions_of_which_some_are_asked(
    epsilon: str, share: float, everything: str, best: str, ask: int
) -> None:
    assert total(yes(epsilon, 10)(share)) == printed(everything)
    assert total(yes(epsilon, 10, ask)(share)) == printed(best)
    assert min(range(1, 11), key=lambda s: total(yes(epsilon, 10, s)(share))) == ask


def test_ten_choices_of_which_one_is_asked() -> None:
    found = []
    for ask in (None, 1):
        made = make_field((make_question("choice", options=5),), Decimal(4) / (ask or 10))
        (figure,) = estimands(made, made.questions[0], Guess(), asked=(ask or 10) / 10)
        found.append(total(figure.spread))
    assert found == [printed("15.8"), printed("1.91")]


def crossed(*size: Any, **more: Any) -> Cross:
    (found,) = plan_survey(two_choices(*size, **more), json_file=True).crosses
    return found


def times_n(half_width: float | None) -> float:
    assert half_width is not None
    return 1000 * (half_width / Z) ** 2


@pytest.mark.parametrize(
    ("first", "second", "epsilon", "together", "apart"),
    [(2, 20, "2", "7.06", "1.17"), (5, 5, "1", "14.2", "10.1"), (2, 2, "1", "2.77", "4.17")],
)
def test_margins_of_a_joint_field(first: int, second: int, epsilon: str, together: str, apart: str) -> None:
    found = crossed(first, second, epsilon)
    assert times_n(found.joint.lines[0].margin) == printed(together)
    assert times_n(found.separate.lines[0].margin) == printed(apart)
    assert found.cells == first * second
    written = crossed(first, second, epsilon, joint=[["a", "b"]])
    assert written == msgspec.structs.replace(found, is_joint=True)


@pytest.mark.parametrize(
    ("epsilon", "apart", "together"),
    [("0.5", "269.5", "9.38"), ("1", "19.5", "2.08"), ("2", "1.96", "0.50"), ("3", "0.69", "0.27")],
)
def test_cells_of_a_joint_field(epsilon: str, apart: str, together: str) -> None:
    found = crossed(2, 2, epsilon)
    assert times_n(found.separate.cell) == printed(apart)
    assert times_n(found.joint.cell) == printed(together)


def test_questions_that_no_device_answers_both_are_never_crossed() -> None:
    assert crossed(2, 2, "1", ask="1").separate.cell is None
    more = {"id": "c", "type": "yes_no", "text": "?"}
    said = json.loads(two_choices(2, 2, "2", ask="2"))
    said["questions"].append(more)
    plan = plan_survey(json.dumps(said).encode(), json_file=True, cross=[("a", "b")])
    (pair,) = plan.crosses
    mechanism = build(json.dumps(said).encode(), json_file=True).survey.fields[0].mechanism
    assert isinstance(mechanism, Subset)
    once = 0.25 / float(mechanism.p - mechanism.q) ** 2 + 0.25
    assert times_n(pair.separate.cell) == pytest.approx(3 * (once**2 - 1 / 16))
