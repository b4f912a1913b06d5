"""A whole survey: its advice, its alternatives, its crossings."""

from decimal import Decimal
from typing import Any

import pytest

from survey_app.authoring import build
from survey_app.authoring.yaml_source import parse_source
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.plan.remarks import Remedy
from survey_app.plan.report_variance import Target
from survey_app.plan.survey_plan import SurveyPlan, plan_survey
from survey_app.plan.target import Settings
from survey_app.plan.variants import build_variant
from tests.golden_files import Golden
from tests.published_plans import ROOT, two_choices

EIGHT = "options: [a, b, c, d, e, f, g, h]"


def planned(source: str, **more: Any) -> SurveyPlan:
    return plan_survey(source.encode(), Settings(**{"respondents": 1000, "margin": 0.05, **more}))


SEVEN = "slug: s\ntitle: S\nepsilon: 1\nquestions:\n" + "".join(
    f"  - {{id: q{i}, type: yes_no, text: '?'}}\n" for i in range(7)
)


THREE = "slug: s\ntitle: S\nepsilon: 2\nquestions:\n" + "".join(
    f"  - {{id: q{i}, type: yes_no, text: '?'}}\n" for i in range(3)
)


def test_what_ask_would_change_is_what_the_file_with_it_gives() -> None:
    plans = {ask: planned(f"{THREE}ask: {ask}\n") for ask in ("all", "one", "auto")}
    for ask, plan in plans.items():
        assert plan.ask == ask
        assert [way.ask for way in plan.ways] == ["all", "one", "auto"]
        for way in plan.ways:
            own = plans[way.ask]
            assert (way.lines, way.blocks, way.respondents) == (own.lines, own.blocks, own.respondents)
    assert plans["auto"].blocks == [["q0", "q1"], ["q2"]]
    assert plans["all"].ways == plans["one"].ways == plans["auto"].ways


def test_the_respondents_of_a_plan_are_those_of_its_design() -> None:
    """Where everything is planned at the share at which designs are judged."""
    for ask in ("auto", "one", "all"):
        source = f"{THREE}ask: {ask}\n"
        assert planned(source).respondents == build(source.encode()).design.respondents


def test_a_remedy_is_the_way_that_is_recommended(golden: Golden) -> None:
    seven, settings = SEVEN.replace("epsilon: 1\n", "epsilon: 1.4\n"), {"respondents": 1000}
    everything = planned(seven, **settings)
    assert everything.choice and everything.choice.ask == "auto"
    (best,) = (way for way in everything.ways if way.ask == "auto")
    assert Remedy("ask", "auto", best.lines[0].margin) in everything.remarks[0].remedies
    golden(everything.advice[0])
    blocks = planned(seven + "ask: auto\n", **settings)
    assert not [remedy for remark in blocks.remarks for remedy in remark.remedies if remedy.code == "ask"]


def test_more_respondents_are_needed_if_all_shares_are_one_half() -> None:
    """The blocks and their chances stay those that are published."""
    plan = planned(THREE)
    half = planned(THREE, guess=Guess(share=0.5))
    assert [way.at_half for way in plan.ways] == [way.respondents for way in half.ways]
    assert [way.at_half for way in plan.ways] == [way.at_half for way in half.ways]
    assert all((way.at_half or 0) > (way.respondents or 0) for way in plan.ways)


def test_a_survey_without_trouble_gets_no_advice() -> None:
    plan = planned("slug: s\ntitle: S\nepsilon: 2\nquestions: [{id: a, type: yes_no, text: '?'}]")
    assert not plan.advice and not plan.remarks


@pytest.mark.parametrize(
    ("question", "epsilon", "more", "code", "remedies"),
    [
        ("type: yes_no", "0.2", {}, "not_above_zero", ["epsilon", "respondents"]),
        ("type: yes_no", "0.05", {}, "uninformative", ["epsilon", "respondents"]),
        ("type: yes_no", "0.5", {"margin": 0.001}, "infeasible", []),
        ("type: yes_no", "0.5", {"target": Target(1000)}, "unreachable", ["epsilon"]),
        (f"type: choice, {EIGHT}", "0.8", {}, "not_above_zero", ["epsilon", "respondents"]),
        (f"type: multiple, {EIGHT}", "0.5", {}, "not_above_zero", ["fewer_options", "respondents"]),
        ("type: number, min: 0, max: 10, unit: h", "0.1", {}, "uninformative", ["epsilon", "respondents"]),
        ("type: number, min: 0, max: 100, mechanism: laplace", "0.1", {}, "uninformative", ["epsilon", "respondents"]),
    ],
    ids=["rare", "yes_no", "margin", "population", "choice", "multiple", "number", "laplace"],
)
def test_a_hopeless_question_gets_advice(
    question: str, epsilon: str, more: dict[str, Any], code: str, remedies: list[str], golden: Golden
) -> None:
    plan = planned(f"slug: s\ntitle: S\nepsilon: {epsilon}\nquestions: [{{id: a, text: '?', {question}}}]", **more)
    remark = plan.remarks[0]
    assert (remark.code, remark.about) == (code, ["a"])
    assert [remedy.code for remedy in remark.remedies] == remedies
    golden(plan.advice[0])


def test_remedies_have_numbers() -> None:
    plan = planned("slug: s\ntitle: S\nepsilon: 0.2\nquestions: [{id: a, text: '?', type: yes_no}]")
    epsilon, respondents = plan.remarks[0].remedies
    assert (epsilon.value, epsilon.margin) == (1.33, 0.05)
    assert respondents.value == pytest.approx(38_500, abs=500)


def test_help_for_a_rare_answer_tells_it_from_zero(golden: Golden) -> None:
    source = "slug: s\ntitle: S\nepsilon: 1\nquestions: [{id: a, text: '?', type: yes_no}]"
    plan = planned(source, guess=Guess(share=0.01))
    (remark,) = plan.remarks
    assert plan.lines[0].margin == pytest.approx(0.0598, abs=5e-5)
    assert [(remedy.code, remedy.margin) for remedy in remark.remedies] == [("respondents", 0.01)]
    golden(plan.advice[0])


def test_a_field_with_another_question_is_named_where_it_helps_most(golden: Golden) -> None:
    source = """{slug: s, title: S, epsilon: 2, ask: auto, %squestions: [
      {id: harassed, type: yes_no, text: '?'},
      {id: who, type: choice, text: '?', options: [a, b, c], show_if: {question: harassed, is: ['yes']}},
      {id: safe, type: scale, text: '?', points: [a, b, c, d]}]}"""
    plan = planned(source % "", respondents=800)
    joint, respondents = plan.remarks[0].remedies
    assert (joint.code, joint.value) == ("joint", ["harassed", "who"])
    assert (respondents.code, respondents.value) == ("respondents", 1570)
    golden(plan.advice[0])
    followed = planned(source % "joint: [[harassed, who]], ", respondents=800)
    assert followed.lines[1].margin == pytest.approx(joint.margin)
    assert not [remedy for remark in followed.remarks for remedy in remark.remedies if remedy.code == "joint"]


def test_the_advised_epsilon_is_enough_and_not_too_much() -> None:
    for question in (
        "type: yes_no",
        "type: choice, options: [a, b, c, d, e]",
        "type: number, min: 0, max: 100, bins: 8",
    ):
        source = "slug: s\ntitle: S\nepsilon: {}\nquestions: [{{id: a, text: '?', {}}}]"
        (remark, *_) = planned(source.format("0.1", question)).remarks
        (epsilon,) = (Decimal(str(remedy.value)) for remedy in remark.remedies if remedy.code == "epsilon")
        for change, enough in ((0, True), (Decimal("-0.02"), False)):
            (first, *_) = planned(source.format(epsilon + change, question)).lines
            assert (first.margin <= 0.05) is enough


def test_a_joint_field_that_ruins_its_margins_is_named(golden: Golden) -> None:
    source = two_choices(2, 20, "2", joint=[["a", "b"]])
    plan = plan_survey(source, Settings(respondents=10_000, margin=0.05), json_file=True)
    (place,) = (place for place, remark in enumerate(plan.remarks) if remark.code == "joint_cost")
    assert plan.remarks[place].about == ["a", "b"]
    golden(plan.advice[place])
    good = plan_survey(two_choices(2, 2, "2", joint=[["a", "b"]]), json_file=True)
    assert "joint_cost" not in [remark.code for remark in good.remarks]


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
    ("names", "code"),
    [
        (("q0",), "too_few_questions"),
        (("q0", "q0"), "too_few_questions"),
        (("q0", "x"), "unknown_question"),
        (("q0", "design"), "cannot_cross"),
        (("q0", "a"), "other_joint_field"),
    ],
    ids=["one", "same", "unknown", "design", "joint"],
)
def test_what_cannot_be_crossed_is_refused(names: tuple[str, ...], code: str, golden: Golden) -> None:
    source = SEVEN + "  - {id: design, type: yes_no, text: '?', epsilon: 0.1}\n"
    source = source.replace("epsilon: 1\n", "epsilon: 3\n", 1).replace("epsilon: 0.1", "design: coin")
    source += "".join(f"  - {{id: {name}, type: yes_no, text: '?'}}\n" for name in "ab") + "joint: [[a, b]]\n"
    with pytest.raises(PlanError) as refused:
        plan_survey(source.encode(), cross=[names])
    assert refused.value.code == code
    golden(refused.value)


def test_a_variant_changes_nothing_else() -> None:
    source = (ROOT / "tests" / "campus.yaml").read_bytes()
    same = build_variant(parse_source(source), joint=[["help", "fair"]])
    assert same is not None
    assert same.survey.source == build(source).survey.source
    assert build_variant(parse_source(source), joint=[["help", "nobody"]]) is None
