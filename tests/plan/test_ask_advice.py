"""The three ways to ask a survey: their numbers, and why a part of the questions is recommended, or is not."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.design import MIXED
from survey_app.authoring.ask import Ask
from survey_app.languages.plain_text import WIDTH
from survey_app.plan.ask_advice import AskRecommendation, format_saving
from survey_app.plan.plan_text import render_survey_plan
from survey_app.plan.report_variance import Target
from survey_app.plan.survey_plan import SurveyPlan, plan_survey
from survey_app.plan.target import Settings
from tests.authoring.test_design import yes_no
from tests.golden_files import Golden


def planned(
    questions: Sequence[dict[str, Any]], epsilon: float | None, respondents: int = 3000, **more: Any
) -> SurveyPlan:
    target = more.pop("target", Target())
    said = {"slug": "s", "title": "S", "questions": [*questions], **more}
    said |= {"epsilon": str(epsilon)} if epsilon else {}
    settings = Settings(respondents=respondents, margin=0.05, target=target)
    return plan_survey(json.dumps(said).encode(), settings, json_file=True)


def chosen(*wanted: Any, **more: Any) -> AskRecommendation:
    choice = planned(*wanted, **more).choice
    assert choice is not None
    return choice


# the numbers of docs/design.md


@pytest.mark.parametrize("ask", ["all", "one", "auto"])
@pytest.mark.parametrize(
    ("epsilon", "split", "best", "times"),
    [(1, 222_048, 19_802, "11.2"), (2, 56_099, 4_824, "11.6"), (4, 14_619, 1_523, "9.6")],
)
def test_respondents_of_six_mixed_questions(ask: str, epsilon: int, split: int, best: int, times: str) -> None:
    plan = planned(MIXED, epsilon, ask=ask)
    ways = {way.ask: way for way in plan.ways}
    assert (ways[Ask.ALL].respondents, ways[Ask.AUTO].respondents) == (split, best)
    assert format_saving(ways[Ask.AUTO], plan.ways).split()[0] == times
    page = render_survey_plan(plan)
    assert [f"{split:,}" in page, f"{best:,}" in page, format_saving(ways[Ask.AUTO], plan.ways) in page] == [True] * 3
    assert max(map(len, page.splitlines())) <= WIDTH


def test_a_plan_of_six_mixed_questions_in_words(golden: Golden) -> None:
    golden(render_survey_plan(planned(MIXED, 2)))


@pytest.mark.parametrize(("epsilon", "one", "best"), [(1, 9_964, 9_964), (2, 3_144, 2_633), (6, 1_499, 378)])
def test_respondents_of_six_yes_or_no_questions(epsilon: int, one: int, best: int) -> None:
    """Of the published chances, which are whole millionths: that may cost one respondent."""
    found = {way.ask: way.respondents for way in planned(yes_no(6), epsilon).ways}
    assert found[Ask.ONE] in (one, one + 1)
    assert found[Ask.AUTO] in (best, best + 1)


# what is recommended, and why


def numbers_in(sentence: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*(?:\.\d+)?\b", sentence)]


def test_blocks_are_recommended_with_what_they_save_and_what_they_cost(golden: Golden) -> None:
    choice = chosen(MIXED, 2)
    assert (choice.ask, choice.code) == (Ask.AUTO, "blocks")
    assert numbers_in(choice.why) == [4824, 5, 56_099, 11.6, 6]
    golden(choice.why)


def test_no_part_where_the_best_is_one_block(golden: Golden) -> None:
    choice = chosen(yes_no(3), 4)
    assert (choice.ask, choice.code, numbers_in(choice.why)) == (Ask.AUTO, "one_block", [2.68])
    golden(choice.why)


def test_no_part_where_it_saves_less_than_a_tenth(golden: Golden) -> None:
    """A coin asks for its share of ε and of the respondents, whatever is done about the other question."""
    coin, free = yes_no(2)
    choice = chosen([{**coin, "design": "coin"}, free], 2.2)
    assert (choice.ask, choice.code, numbers_in(choice.why)) == (Ask.ALL, "small_saving", [5, 1860, 1399])
    golden(choice.why)


def test_no_part_where_a_block_would_be_a_handful(golden: Golden) -> None:
    plan = planned(yes_no(12), 1, respondents=1000)
    assert plan.choice and (plan.choice.ask, plan.choice.code) == ("", "small_blocks")
    assert numbers_in(plan.choice.why) == [1000, 83, 100, 1201]
    assert f"{plan.choice.title}: {plan.choice.why[:10]}" in render_survey_plan(plan)
    golden(f"{plan.choice.title}: {plan.choice.why}")
    assert chosen(yes_no(12), 1, respondents=1201).ask == "auto"
    assert chosen(yes_no(12), 1, respondents=1200).ask == ""


def test_no_part_where_designs_are_fixed(golden: Golden) -> None:
    coins = [{**one, "design": "coin"} for one in yes_no(3)]
    choice = chosen(coins, None)
    assert (choice.ask, choice.code) == ("all", "fixed_epsilon")
    golden(choice.why)
    mixed = chosen([*coins, *MIXED], 5)
    assert mixed.code != "fixed_epsilon", "where some are free, the saving decides"


def test_a_way_that_cannot_be_gone_is_told_with_its_reason(golden: Golden) -> None:
    own = [{**one, "epsilon": "1"} for one in yes_no(2)]
    plan = planned(own, 1, ask="one")
    assert [way.ask for way in plan.ways] == ["one", "auto"]
    assert [(one.ask, one.code) for one in plan.refused] == [("all", "nothing_left")]
    golden(render_survey_plan(plan), "plan")
    pair = [{**yes_no(2)[0], "epsilon": "1"}, yes_no(2)[1]]
    stuck = planned(pair, 3, joint=[["q0", "q1"]])
    assert stuck.choice is not None
    assert (stuck.choice.ask, stuck.choice.code) == ("all", "no_blocks")
    assert [(one.ask, one.code) for one in stuck.refused] == [("one", "mixed_epsilon"), ("auto", "mixed_epsilon")]
    golden(stuck.choice.why, "stuck")


def test_a_single_question_leaves_nothing_to_choose() -> None:
    assert planned(yes_no(1), 1).choice is None


def test_in_a_population_too_small_for_any_way_the_margins_decide(golden: Golden) -> None:
    choice = chosen(yes_no(6), 1, respondents=900, target=Target(900))
    assert (choice.ask, choice.code) == ("auto", "blocks")
    golden(choice.why)
