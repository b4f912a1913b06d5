"""Asking some of the questions, and questions together."""

import json
import math
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from survey_app.authoring import build
from survey_app.kinds.planning_assumptions import Guess
from survey_app.plan.crosstab_plan import CrosstabPlan
from survey_app.plan.estimands import list_estimands, make_field
from survey_app.plan.plan_text import render_survey_plan
from survey_app.plan.question_plan import make_question
from survey_app.plan.survey_plan import plan_survey
from tests.golden_files import Golden
from tests.published_plans import Z, approx_figure, total, two_choices, yes_spread


@pytest.mark.parametrize(
    ("epsilon", "share", "everything", "one"), [("1", 0.2, "100", "10.8"), ("4", 0.05, "6.21", "0.67")]
)
def test_ten_questions_of_which_one_is_asked(epsilon: str, share: float, everything: str, one: str) -> None:
    assert total(yes_spread(epsilon, 10)(share)) == approx_figure(everything)
    assert total(yes_spread(epsilon, 10, ask="one")(share)) == approx_figure(one)


def test_ten_choices_of_which_one_is_asked() -> None:
    found = []
    for answered in (10, 1):
        made = make_field((make_question("choice", options=5),), Decimal(4) / answered)
        (figure,) = list_estimands(made, made.questions[0], Guess(), asked_share=answered / 10)
        found.append(total(figure.spread))
    assert found == [approx_figure("15.8"), approx_figure("1.91")]


def crossed(*size: Any, **more: Any) -> CrosstabPlan:
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
    assert times_n(found.joint.lines[0].margin) == approx_figure(together)
    assert times_n(found.separate.lines[0].margin) == approx_figure(apart)
    assert found.cells == first * second
    written = crossed(first, second, epsilon, joint=[["a", "b"]])
    assert written == msgspec.structs.replace(found, is_joint=True, wished=True)


@pytest.mark.parametrize(
    ("epsilon", "apart", "together"),
    [("0.5", "269.5", "9.38"), ("1", "19.5", "2.08"), ("2", "1.96", "0.50"), ("3", "0.69", "0.27")],
)
def test_cells_of_a_joint_field(epsilon: str, apart: str, together: str) -> None:
    found = crossed(2, 2, epsilon)
    assert times_n(found.separate.cell) == approx_figure(apart)
    assert times_n(found.joint.cell) == approx_figure(together)


def test_questions_of_two_blocks_are_never_crossed(golden: Golden) -> None:
    apart = crossed(3, 3, "1", ask="one")
    assert apart.separate.cell is None
    assert apart.joint.cell is not None
    assert apart.price == pytest.approx(2.61, abs=0.005), "options of 30%"
    assert crossed(3, 3, "1").price == apart.price, "which is that of blocks also where ε is still split"
    merged = crossed(2, 2, "3", ask="auto")
    assert (merged.is_joint, merged.wished) == (True, False), "the best blocks hold them together, unasked"
    assert merged.joint.cell is not None and merged.separate.cell is None, "apart is really apart"
    assert merged.separate == crossed(2, 2, "3", ask="one").separate
    assert merged.price is not None and merged.price < 1
    golden(render_survey_plan(plan_survey(two_choices(2, 2, "3", ask="auto"), json_file=True)))


@pytest.mark.parametrize(
    ("first", "second", "prices"),
    [
        ("yes_no", "yes_no", ("1.24", "0.84", "0.64", "0.56")),
        ("scale, points: [a, b, c]", "scale, points: [a, b, c]", ("2.58", "1.34", "0.81", "0.61")),
        ("yes_no", "scale, points: [a, b, c, d, e]", ("3.86", "2.11", "1.18", "0.80")),
        ("scale, points: [a, b, c, d, e]", "scale, points: [a, b, c, d, e]", ("7.91", "3.80", "1.68", "0.90")),
    ],
)  # docs/design.md has the same
@pytest.mark.parametrize("ask", ["all", "one", "auto"])
def test_the_price_of_a_wished_pair_is_told(first: str, second: str, prices: tuple[str, ...], ask: str) -> None:
    for epsilon, price in zip((1, 2, 3, 4), prices, strict=True):
        source = (
            f"slug: s\ntitle: S\nepsilon: {epsilon}\nask: {ask}\njoint: [[a, b]]\n"
            f"questions: [{{id: a, text: '?', type: {first}}}, {{id: b, text: '?', type: {second}}}]"
        )
        plan = plan_survey(source.encode())
        (pair,) = plan.crosses
        assert pair.price == pytest.approx(float(price), abs=0.006)
        assert price in pair.price_text.split()
        assert pair.price_text in " ".join(render_survey_plan(plan).split())


def test_prices_in_words(golden: Golden) -> None:
    for epsilon in ("1", "3"):
        (pair,) = plan_survey(two_choices(2, 2, epsilon, joint=[["a", "b"]]), json_file=True).crosses
        golden(pair.price_text, epsilon)


def test_questions_with_an_epsilon_of_their_own_have_no_price(golden: Golden) -> None:
    source = b"slug: s\ntitle: S\njoint: [[a, b]]\nquestions: [%b]" % b", ".join(
        b"{id: %b, type: yes_no, text: '?', epsilon: 1}" % name for name in (b"a", b"b")
    )
    (pair,) = plan_survey(source).crosses
    assert pair.price is None
    golden(pair.price_text)


def test_a_pair_in_a_larger_block_is_crossed_there() -> None:
    """Three in one block, two of them crossed: a cell of the pair is two of the block's eight."""
    said = json.loads(two_choices(2, 2, "4", ask="auto"))
    said["questions"].append({"id": "c", "type": "choice", "text": "?", "options": ["c0", "c1"]})
    (pair,) = plan_survey(json.dumps(said).encode(), json_file=True, cross=[("a", "b")]).crosses
    tau = 8 / (math.exp(4) - 1)
    assert times_n(pair.joint.cell) == pytest.approx((0.25 + tau / 4) * (0.75 + 3 * tau / 4), rel=1e-6)


def test_a_follow_up_is_crossed_with_its_question() -> None:
    said = {
        "slug": "s", "title": "S", "epsilon": "2", "ask": "one", "joint": [["a", "b"]],
        "questions": [
            {"id": "a", "type": "yes_no", "text": "?"},
            {"id": "b", "type": "choice", "text": "?", "options": ["x", "y"], "show_if": {"question": "a", "is": ["yes"]}},
            {"id": "c", "type": "yes_no", "text": "?"},
        ],
    }  # fmt: skip
    (pair,) = plan_survey(json.dumps(said).encode(), json_file=True).crosses
    assert pair.cells == 4
    assert pair.share == pytest.approx(0.1), "all who answer the follow-up have said yes"
    survey = build(json.dumps(said).encode(), json_file=True).survey
    tau, asked = 4 / (math.exp(2) - 1), float(survey.answer_probability(survey.fields[0]))
    assert asked * times_n(pair.joint.cell) == pytest.approx((0.1 + tau / 4) * (0.9 + 3 * tau / 4), rel=1e-6)
