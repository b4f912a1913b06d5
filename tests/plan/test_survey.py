"""A whole survey: its advice, its alternatives, its crossings."""

import re
from decimal import Decimal
from typing import Any

import pytest

from survey_app.authoring import build
from survey_app.authoring.source import read
from survey_app.plan.people import Guess
from survey_app.plan.settings import Settings
from survey_app.plan.spread import (
    PlanError,
    Target,
)
from survey_app.plan.survey import SurveyPlan, plan_survey
from survey_app.plan.variants import variant
from tests.planning import ROOT, two_choices


def planned(source: str, **more: Any) -> SurveyPlan:
    return plan_survey(source.encode(), Settings(**{"respondents": 1000, "margin": 0.05, **more}))


SEVEN = "slug: s\ntitle: S\nepsilon: 1\nquestions:\n" + "".join(
    f"  - {{id: q{i}, type: yes_no, text: '?'}}\n" for i in range(7)
)


THREE = "slug: s\ntitle: S\nepsilon: 2\nquestions:\n" + "".join(
    f"  - {{id: q{i}, type: yes_no, text: '?'}}\n" for i in range(3)
)


def test_what_ask_would_change_is_what_the_file_with_it_gives() -> None:
    plans = {ask: planned(f"{THREE}ask: {ask}\n") for ask in ("auto", "one", "all")}
    for ask, plan in plans.items():
        assert plan.ask == ask
        assert plan.lines == planned(THREE + f"ask: {ask}\n").lines
        others = {other.ask: other for other in plan.alternatives}
        assert set(others) == {"auto", "one", "all"} - {ask}
        for other, found in others.items():
            assert (found.lines, found.blocks, found.respondents) == (
                plans[other].lines,
                plans[other].blocks,
                plans[other].respondents,
            )
    assert plans["auto"].blocks == [["q0", "q1"], ["q2"]]


def test_the_respondents_of_a_plan_are_those_of_its_design() -> None:
    """Where everything is planned at the share at which designs are judged."""
    for ask in ("auto", "one", "all"):
        source = f"{THREE}ask: {ask}\n"
        assert planned(source).respondents == build(source.encode()).design.respondents


def test_another_ask_is_advised_where_it_saves_a_tenth() -> None:
    everything, auto = planned(THREE), planned(THREE + "ask: auto\n")
    (advised,) = [said for said in everything.advice if said.startswith("ask:")]
    assert advised == (
        "ask: auto lets each device answer one of 2 blocks of questions, drawn by its own coins, at the same total ε: "
        f"{auto.respondents:,} respondents for ±5% everywhere, not {everything.respondents:,}. Answers of two blocks "
        "cannot be crossed"
    )
    assert not any(said.startswith("ask:") for said in auto.advice)
    assert auto.notes == ["these are the blocks that need the fewest respondents"]


def test_where_ask_changes_nothing_nothing_is_said() -> None:
    one = planned("slug: s\ntitle: S\nepsilon: 1\nquestions: [{id: a, type: yes_no, text: '?'}]")
    assert not one.notes
    assert not one.alternatives
    block = planned(THREE.replace("epsilon: 2", "epsilon: 4") + "ask: auto\n")
    assert block.notes == ["every device answers everything, as one block"]
    fixed = plan_survey((ROOT / "examples" / "exam.yaml").read_bytes())
    assert [other.ask for other in fixed.alternatives] == ["auto"], "which is the same as one, and needs fewer"


def test_follow_ups_may_be_asked_alone() -> None:
    plan = plan_survey((ROOT / "tests" / "campus.yaml").read_bytes())
    assert {other.ask for other in plan.alternatives} == {"auto", "one"}


def test_a_survey_without_trouble_gets_no_advice() -> None:
    assert planned("slug: s\ntitle: S\nepsilon: 2\nquestions: [{id: a, type: yes_no, text: '?'}]").advice == []


@pytest.mark.parametrize(
    ("question", "epsilon", "more", "said"),
    [
        (
            "type: yes_no",
            "0.2",
            {},
            r"cannot be told from zero. What helps: ε = 1\.33 for it instead of 0\.20 \(±5 points\); 38,[0-9]{3} resp",
        ),
        ("type: yes_no", "0.05", {}, "as wide as all that is possible and says nothing"),
        ("type: yes_no", "0.5", {"margin": 0.001}, r"±0\.1 points would take [0-9,]+ respondents. Leave it out"),
        ("type: yes_no", "0.5", {"target": Target(1000)}, "even the whole population would not bring it to ±5 points"),
        (
            "type: choice, options: [a, b, c, d, e, f, g, h]",
            "0.8",
            {},
            "an option at 12.5%: with 1,000 respondents the margin is",
        ),
        ("type: multiple, options: [a, b, c, d, e, f, g, h]", "0.5", {}, r"half as many options \(±"),
        ("type: number, min: 0, max: 10, unit: h", "0.1", {}, r"±[0-9.]+ h, so the interval can be as wide"),
        ("type: number, min: 0, max: 100, mechanism: laplace", "0.1", {}, r"ε = 1\.[0-9]+ for it"),
    ],
)
def test_a_hopeless_question_gets_advice(question: str, epsilon: str, more: dict[str, Any], said: str) -> None:
    plan = planned(f"slug: s\ntitle: S\nepsilon: {epsilon}\nquestions: [{{id: a, text: '?', {question}}}]", **more)
    assert re.search(said, plan.advice[0]), plan.advice


def test_help_for_a_rare_answer_tells_it_from_zero() -> None:
    source = "slug: s\ntitle: S\nepsilon: 1\nquestions: [{id: a, text: '?', type: yes_no}]"
    (said,) = planned(source, guess=Guess(share=0.01)).advice
    assert "yes at 1%: with 1,000 respondents the margin is ±5.98 points" in said
    assert re.search(r"What helps: [0-9,]+ respondents \(±1 point\)", said)


def test_the_advised_epsilon_is_enough_and_not_too_much() -> None:
    for question in (
        "type: yes_no",
        "type: choice, options: [a, b, c, d, e]",
        "type: number, min: 0, max: 100, bins: 8",
    ):
        source = "slug: s\ntitle: S\nepsilon: {}\nquestions: [{{id: a, text: '?', {}}}]"
        (said, *_) = planned(source.format("0.1", question)).advice
        epsilon = Decimal(re.findall(r"ε = ([0-9.]+) for it", said)[0])
        for change, enough in ((0, True), (Decimal("-0.02"), False)):
            (first, *_) = planned(source.format(epsilon + change, question)).lines
            assert (first.margin <= 0.05) is enough


def test_a_joint_field_that_ruins_its_margins_is_named() -> None:
    source = two_choices(2, 20, "2", joint=[["a", "b"]])
    plan = plan_survey(source, Settings(respondents=10_000, margin=0.05), json_file=True)
    assert any(
        said.startswith("a and b are randomized together; for each alone that makes a ±") for said in plan.advice
    )
    good = plan_survey(two_choices(2, 2, "2", joint=[["a", "b"]]), json_file=True)
    assert not any("together" in said for said in good.advice)


def test_a_long_survey_is_crossed_on_demand_only() -> None:
    assert planned(SEVEN).crosses == []
    found = plan_survey(SEVEN.encode(), cross=[("q0", "q1"), ("q2", "q3", "q4")]).crosses
    assert [one.cells for one in found] == [4, 8]
    assert [one.share for one in found] == pytest.approx([0.04, 0.008])
    with_levels = SEVEN + "  - {id: n, type: number, text: '?', min: 0, max: 9}\n"
    (one,) = plan_survey(with_levels.encode(), cross=[("q0", "n")]).crosses
    assert one.joint.cell is None
    assert one.joint.lines[1].figure == "mean"


@pytest.mark.parametrize(
    ("names", "said"),
    [(("q0",), "at least two"), (("q0", "q0"), "two different"), (("q0", "x"), "no question 'x'"), (("q0", "design"), "cannot be one field"), (("q0", "a"), "with other questions already")],
)  # fmt: skip
def test_what_cannot_be_crossed_is_refused(names: tuple[str, ...], said: str) -> None:
    source = SEVEN + "  - {id: design, type: yes_no, text: '?', epsilon: 0.1}\n"
    source = source.replace("epsilon: 1\n", "epsilon: 3\n", 1).replace("epsilon: 0.1", "design: coin")
    source += "".join(f"  - {{id: {name}, type: yes_no, text: '?'}}\n" for name in "ab") + "joint: [[a, b]]\n"
    with pytest.raises(PlanError, match=said):
        plan_survey(source.encode(), cross=[names])


def test_a_variant_changes_nothing_else() -> None:
    source = (ROOT / "tests" / "campus.yaml").read_bytes()
    same = variant(read(source), joint=[["help", "fair"]])
    assert same is not None
    assert same.survey.source == build(source).survey.source
    assert variant(read(source), ask="3") is None
