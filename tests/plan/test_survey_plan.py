"""A whole survey: its advice, its alternatives, its crossings."""

import re
from decimal import Decimal
from typing import Any

import pytest

from survey_app.authoring import build
from survey_app.authoring.yaml_source import parse_source
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.plan.report_variance import Target
from survey_app.plan.survey_plan import SurveyPlan, plan_survey
from survey_app.plan.target import Settings
from survey_app.plan.variants import build_variant
from tests.published_plans import ROOT, two_choices


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


def test_a_remedy_is_the_way_that_is_recommended() -> None:
    seven, settings = SEVEN.replace("epsilon: 1\n", "epsilon: 1.4\n"), {"respondents": 1000}
    everything = planned(seven, **settings)
    assert everything.choice and everything.choice.ask == "auto"
    (best,) = (way for way in everything.ways if way.ask == "auto")
    assert f"What helps: ask: auto ({best.lines[0].margin_text()})" in everything.advice[0]
    assert not any("ask: auto" in said for said in planned(seven + "ask: auto\n", **settings).advice)


def test_more_respondents_are_needed_if_all_shares_are_one_half() -> None:
    """The blocks and their chances stay those that are published."""
    plan = planned(THREE)
    half = planned(THREE, guess=Guess(share=0.5))
    assert [way.at_half for way in plan.ways] == [way.respondents for way in half.ways]
    assert [way.at_half for way in plan.ways] == [way.at_half for way in half.ways]
    assert all((way.at_half or 0) > (way.respondents or 0) for way in plan.ways)


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
        ("type: yes_no", "0.05", {}, "as wide as the possible range: uninformative"),
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


def test_a_field_with_another_question_is_named_where_it_helps_most() -> None:
    source = """{slug: s, title: S, epsilon: 2, ask: auto, %squestions: [
      {id: harassed, type: yes_no, text: '?'},
      {id: who, type: choice, text: '?', options: [a, b, c], show_if: {question: harassed, is: ['yes']}},
      {id: safe, type: scale, text: '?', points: [a, b, c, d]}]}"""
    (said,) = planned(source % "", respondents=800).advice
    told = re.search(r"What helps: joint: \[\[harassed, who\]\] \((.*?)\); 1,570 respondents", said)
    assert told, said
    followed = planned(source % "joint: [[harassed, who]], ", respondents=800)
    assert followed.lines[1].margin_text() == told[1]
    assert not any("What helps: joint" in more for more in followed.advice)


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
    same = build_variant(parse_source(source), joint=[["help", "fair"]])
    assert same is not None
    assert same.survey.source == build(source).survey.source
    assert build_variant(parse_source(source), joint=[["help", "nobody"]]) is None
