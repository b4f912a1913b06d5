"""A study before its launch: each group by itself, and the total with its weighted variance."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import ndtr

from survey_app.assure.simulation.trial import simulate_tally
from survey_app.authoring import build
from survey_app.cli import main
from survey_app.estimate.intervals import Options
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.plan.forecast import find_planned_question
from survey_app.plan.report_variance import Target, standard_error, z_score
from survey_app.plan.study_plan import split_respondents
from survey_app.plan.survey_plan import SurveyPlan, plan_survey
from survey_app.plan.target import Settings
from survey_app.results.group_document import make_study
from tests.golden_files import Golden

HEAD = """slug: exam
title: Exam honesty
epsilon: 1
questions:
  - {id: cheated, type: yes_no, text: Did you copy?}
"""
SIZED = f"{HEAD}groups: {{a: {{label: North, size: 6000}}, b: {{label: South, size: 3000}}, c: {{size: 1000}}}}\n"
BARE = f"{HEAD}groups: {{a: , b: , c: }}\n"


def plan(text: str, respondents: int = 4000, **more: float) -> SurveyPlan:
    return plan_survey(text.encode(), Settings(respondents=respondents, margin=0.05, **more))  # type: ignore[arg-type]


def test_respondents_are_split_by_size_and_none_is_lost() -> None:
    assert split_respondents(1000, [6000, 3000, 1000], 3) == [600, 300, 100]
    assert split_respondents(10, None, 3) == [4, 3, 3]
    assert split_respondents(7, [1, 1, 1000], 3) == [0, 0, 7]
    for respondents in range(200):
        parts = split_respondents(respondents, [5, 3, 1, 1], 4)
        assert sum(parts) == respondents
        assert all(abs(part - respondents * size / 10) < 1 for part, size in zip(parts, [5, 3, 1, 1], strict=True))


def test_a_group_by_itself_needs_what_a_survey_of_its_own_needs() -> None:
    alone, found = plan(HEAD).respondents, plan(SIZED)
    assert found.study is not None
    assert alone is not None
    assert (found.study.each, found.study.together) == (alone, 3 * alone)
    assert [group.respondents for group in found.study.groups] == [2400, 1200, 400]
    for group in found.study.groups:
        assert group.margins == [line.margin for line in plan(HEAD, group.respondents).lines]


def test_the_total_has_the_weighted_variance_of_its_groups() -> None:
    """Σ w² Var: in proportion to size as one survey of all; equally many of each, k Σ w² times as much."""
    found = plan(SIZED)
    assert found.study is not None
    assert found.study.margins is not None
    (margin,) = found.study.margins
    assert margin == pytest.approx(plan(HEAD).lines[0].margin, rel=1e-9)
    assert (found.study.total, found.slug) == (plan(HEAD).respondents, "exam")
    assert found.study.equal == math.ceil((found.study.total or 0) * 3 * (0.36 + 0.09 + 0.01))
    uneven = plan(SIZED, 4001)  # 2,401, 1,200 and 400: no exact proportion
    assert uneven.study is not None
    assert uneven.study.margins is not None
    parts = [weight * group.margins[0] for weight, group in zip((0.6, 0.3, 0.1), uneven.study.groups, strict=True)]
    assert uneven.study.margins[0] == pytest.approx(math.sqrt(sum(part**2 for part in parts)))


def test_the_difference_of_two_groups_has_the_variances_of_both_and_is_told_with_the_power_asked_for() -> None:
    """Of three groups it is that of the smallest and the largest; the smaller one lies above."""
    found = plan(SIZED, power=0.9)
    assert found.study is not None
    apart, (north, _, least) = found.study.difference, found.study.groups
    assert (apart.of, apart.to, apart.power) == ("c", "North", 0.9)
    assert apart.margins == [math.hypot(north.margins[0], least.margins[0])]
    (told,) = apart.told
    one = find_planned_question(build(HEAD.encode()).survey, "cheated", Guess()).estimands[0]
    error = math.hypot(standard_error(one.spread_at(0.2), 2400), standard_error(one.spread_at(0.2 + (told or 0)), 400))
    assert float(ndtr((told or 0) / error - z_score(0.95))) == pytest.approx(0.9)
    hopeless = plan(BARE.replace("epsilon: 1", "epsilon: 0.1"), 60).study
    assert hopeless is not None
    assert (hopeless.difference.told, hopeless.difference.to) == ([None], "a")


def test_the_margins_of_the_total_and_the_difference_are_about_the_half_widths_that_the_results_show() -> None:
    """20 studies of 4,000: mean half-widths are within 5% of the plan's; they vary by less than 2% themselves."""
    built, found = build(SIZED.encode()), plan(SIZED)
    assert found.study is not None
    assert found.study.margins is not None
    rng, widths, apart = np.random.default_rng(), list[float](), list[float]()
    for _ in range(20):
        members = []
        for survey, group in zip(built.surveys, found.study.groups, strict=True):
            said = {"cheated": (rng.random(group.respondents) < 0.2).astype(np.int64)}
            members.append((survey, simulate_tally(survey, said, group.respondents, rng)))
        document = make_study(members, built.sizes or (), Options())
        assert document.total
        assert (document.differences[1].of, document.differences[1].to) == ("c", "North")
        for kept, parts in ((widths, document.total.questions), (apart, document.differences[1].questions)):
            yes = parts[0].estimates[1]
            kept.append((yes.high - yes.low) / 2)
    assert float(np.mean(widths)) == pytest.approx(found.study.margins[0], rel=0.05)
    assert float(np.mean(apart)) == pytest.approx(found.study.difference.margins[0], rel=0.05)


def test_without_sizes_there_is_no_total_and_margins_are_those_of_one_group() -> None:
    found = plan(BARE, 3000)
    assert found.study is not None
    assert (found.study.total, found.study.equal, found.study.margins) == (None, None, None)
    assert [group.respondents for group in found.study.groups] == [1000, 1000, 1000]
    assert found.settings.respondents == 1000
    assert found.lines[0].margin == found.study.groups[0].margins[0] == plan(HEAD, 1000).lines[0].margin


def remarks_on_groups(found: SurveyPlan) -> list[tuple[str, list[str]]]:
    return [(remark.code, remark.about) for remark in found.remarks if remark.code.endswith("_group")]


def test_small_groups_are_told(golden: Golden) -> None:
    tiny = plan(SIZED.replace("size: 1000}", "size: 40}"), 1000)
    assert remarks_on_groups(tiny) == [("small_group", ["c"]), ("withheld_group", ["c"])]
    vague = plan(BARE.replace("epsilon: 1", "epsilon: 0.5"), 60)
    assert remarks_on_groups(vague) == [("uninformative_group", ["a", "b", "c"])]
    two = plan(f"{HEAD}groups: {{a: {{label: Operations, size: 450}}, b: {{label: Sales, size: 350}}}}", 800)
    assert remarks_on_groups(two) == [("small_group", ["Operations", "Sales"])]
    assert remarks_on_groups(plan(SIZED, 100_000)) == [("small_group", ["c"])]
    for name, found in (("tiny", tiny), ("vague", vague), ("two", two)):
        golden("\n".join(found.advice), name)


def test_what_does_not_go_with_groups_is_refused(golden: Golden) -> None:
    with pytest.raises(PlanError) as population:
        plan_survey(SIZED.encode(), Settings(respondents=500, margin=0.05, target=Target(10_000)))
    with pytest.raises(PlanError) as few:
        plan(SIZED, 5)
    assert (population.value.code, few.value.code) == ("population_of_groups", "too_few_respondents")
    golden(f"{population.value}\n{few.value}")


def test_the_command_plans_a_study_as_one(tmp_path: Path, golden: Golden) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(SIZED)
    said = CliRunner().invoke(main, ["plan", str(file), "--respondents", "4000"]).stdout
    golden(said, "plan")
    against = CliRunner().invoke(main, ["plan", str(file), "--against", "0.3"])
    assert against.exit_code == 2
    golden(against.output, "against")
    assert [line.split() for line in said.splitlines() if line.startswith(("North", "South", "c "))] == [
        ["North", "6,000", "60%", "2,400"],
        ["South", "3,000", "30%", "1,200"],
        ["c", "1,000", "10%", "400"],
    ]
    document = json.loads(CliRunner().invoke(main, ["plan", str(file), "--json"]).stdout)
    assert [group["respondents"] for group in document["study"]["groups"]] == [600, 300, 100]
    refused = CliRunner().invoke(main, ["plan", str(file), "--population", "9000"])
    assert refused.exit_code == 2
    golden(refused.output, "population")
    many = "".join(f" g{i}: {{size: {100 + i}}}," for i in range(9))
    file.write_text(f"{HEAD}groups: {{{many}}}\n")
    said = CliRunner().invoke(main, ["plan", str(file)]).stdout
    heads = [line.split()[-2:] for line in said.splitlines() if {"g0", "g8"} <= {*line.split()}]
    assert ["g0", "g8"] in heads, "two of nine"
    assert not any({"g1", "g7"} & {*line.split()[1:]} for line in said.splitlines())
