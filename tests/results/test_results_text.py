"""What `candor results`, `crosstab` and `regress` print for a person: the document's numbers, and whom n counts."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import UNSET

from candor_client import Survey
from candor_client.description import NO_ANSWER
from survey_app.estimate.hypotheses import LIKELIHOOD_RATIO
from survey_app.estimate.intervals import APPROXIMATE, Method, Options
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab, make_crosstab
from survey_app.results.csv_columns import format_csv, regression_table
from survey_app.results.denominators import DrawVerdict, describe_condition, describe_draws
from survey_app.results.group_document import compare_groups
from survey_app.results.regression_document import CoefficientLine, Regression
from survey_app.results.results_text import (
    MOST_LINES,
    describe_independence_test,
    format_crosstab,
    format_regression,
    format_results,
    format_study,
)
from survey_app.results.row_order import AMONG_ANSWERED, NOT_ASKED, OF_ALL, estimate_answer_count
from survey_app.results.survey_document import results
from survey_app.tally import Tally
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, field, number, scale, subset, survey, yes_no
from tests.golden_files import Golden
from tests.results.figure_kinds import FIELDS, make_survey


def two_blocks() -> tuple[Survey, Tally]:
    """A yes or no with its follow-up, and a scale: 100 devices drew the first, 50 the other."""
    after = {"question": "cheated", "is": ["yes"]}
    questions = [yes_no(), choice(options=2, show_if=after), scale()]
    made = survey(define(questions, [field(subset(4, 1), "cheated", "help"), field(subset(3, 1), "fair")], ask=1))
    return made, Tally(150, np.array([100, 55, 20, 15, 10, 50, 30, 10, 10]))


def test_results_are_a_page_that_a_person_can_read(golden: Golden) -> None:
    made, tally = two_blocks()
    golden(format_results(made, results(made, tally)).replace(made.digest[:12], "DIGEST"))


@pytest.mark.parametrize("name", FIELDS)
def test_every_kind_of_question_has_its_numbers_in_the_text(name: str) -> None:
    made = make_survey([name])
    document = results(made, Tally(50, np.full(made.width, 17)))
    text = format_results(made, document)
    for part in document.parts:
        for line in (line for lines in part.lists.values() for line in lines):
            assert line.name in text
    rows = [line for line in text.splitlines() if line.endswith(f"  {APPROXIMATE}")]
    assert len(rows) == sum(
        line.coverage == APPROXIMATE for part in document.parts for lines in part.lists.values() for line in lines
    )


def test_a_follow_up_leads_with_those_who_answered() -> None:
    made, tally = two_blocks()
    text = format_results(made, results(made, tally))
    section = text.partition("help: ")[2].partition("\n\n")[0]
    answers = estimate_answer_count(results(made, tally).questions[1])
    assert answers and (answers.estimate, answers.n) == (27, 100)
    assert describe_condition(made, made.questions[1]) in section and section.count(answers.fraction) == 2
    places = [AMONG_ANSWERED, OF_ALL, NOT_ASKED]
    assert sorted(places, key=section.index) == places


def test_a_follow_up_leads_with_those_who_answered_in_a_study_too(golden: Golden) -> None:
    made, tally = two_blocks()
    study = compare_groups([(replace(made, slug=slug), tally) for slug in ("north", "south")], Options())
    section = format_study(made, study).partition("help: ")[2].partition("\n\n")[0]
    assert study.describe_condition(1) in " ".join(section.split())
    assert study.describe_condition(1).count("27 of 100") == 2
    places = [AMONG_ANSWERED, OF_ALL, NOT_ASKED]
    assert sorted(places, key=section.index) == places
    assert not [line for line in section.splitlines() if line.strip().startswith(NO_ANSWER)]
    golden(section)


def test_a_thousand_options_are_cut_and_said_to_be(golden: Golden) -> None:
    made = survey(define([choice(options=40)], [field(subset(40, 1), "help")]))
    lines = format_results(made, results(made, Tally(400, np.arange(40) % 19))).splitlines()
    assert sum("option " in line for line in lines) == MOST_LINES == 30
    (rest,) = (line for line in lines if line.strip().startswith("…"))
    assert f" {40 - MOST_LINES} " in rest
    golden(rest)


def test_blocks_stand_in_a_table_with_what_it_means() -> None:
    made, tally = two_blocks()
    document = results(made, tally)
    found = format_results(made, document).splitlines()
    rows = [line.split() for line in found]
    first, second = rows.index(["cheated", "+", "help", "50%", "75", "100"]), rows.index(["fair", "50%", "75", "50"])
    assert second == first + 1 and len(rows[first - 1]) == 4, "a head of four columns"
    assert document.asked and document.asked.verdict is DrawVerdict.SUSPICIOUS
    assert " ".join(found[second + 1 :]) == describe_draws(document.asked)


def test_a_crosstab_is_a_grid_and_a_wide_one_a_list(golden: Golden) -> None:
    made, tally = two_blocks()
    document = make_crosstab(made, tally, [], "cheated", "help", Options())
    assert isinstance(document, Crosstab) and document.test is None and document.has_gaps
    text = format_crosstab(made, document)
    assert f"n = 100: {document.base}" in " ".join(text.split())
    golden(text, "grid")
    wide = survey(define([yes_no(), choice(options=12)], [field(subset(24, 1), "cheated", "help")]))
    crossed = make_crosstab(wide, Tally(480, np.full(24, 20)), [], "cheated", "help", Options())
    text = format_crosstab(wide, crossed)
    assert max(map(len, text.splitlines())) <= 110
    assert isinstance(crossed, Crosstab) and crossed.test and crossed.test.name == LIKELIHOOD_RATIO
    assert text.splitlines()[-1] == describe_independence_test(crossed)
    golden(describe_independence_test(crossed), "test")
    empty = make_crosstab(wide, Tally.empty(wide), [], "cheated", "help", Options())
    assert isinstance(empty, EmptyCrosstab)
    golden(format_crosstab(wide, empty), "empty")


def test_groups_stand_below_each_other() -> None:
    members = [
        (survey(define([scale()], [field(subset(3, 1), "fair")], slug=slug)), Tally(100, np.array(counts)))
        for slug, counts in (("north", [50, 30, 20]), ("south", [20, 30, 50]))
    ]
    study = compare_groups(members, Options())
    lines = format_study(members[0][0], study).splitlines()
    rows = [line.split() for line in lines]
    first = rows.index(["north", "100", "-", "-"])
    assert rows[first + 1] == ["south", "100", "-", "-"] and len(rows[first - 1]) == 4
    assert [row[1] for row in rows if row[:1] == ["Disagree"]] == ["north", "south", "south"]
    mean = study.groups[0].questions[0].estimates[-1]
    assert mean.kind == "mean" and lines[-1].lstrip().startswith(mean.option)


def test_coefficients_stand_in_a_table(golden: Golden) -> None:
    line = CoefficientLine(
        name="year", n=500, estimate=-0.5, standard_error=0.1, low=-0.7, high=-0.3, odds_ratio=0.6065,
        coverage=APPROXIMATE, method=Method.WALD,
    )  # fmt: skip
    found = Regression(outcome="cheated", label="yes", confidence=0.95, coefficients=(line,))
    row = format_regression(found).splitlines()[-1].split()
    assert [cell for cell in row if cell[-1].isdigit()] == ["−0.50", "−0.70", "−0.30", "0.607", "500"]
    golden(format_regression(found))


def test_coefficients_are_a_table_for_programs_too() -> None:
    line = CoefficientLine(
        name="=year", n=500, estimate=-0.5, standard_error=0.1, low=-0.7, high=-0.3, odds_ratio=None,
        coverage=APPROXIMATE, method=Method.WALD,
    )  # fmt: skip
    found = Regression(outcome="cheated", label="yes", confidence=0.95, coefficients=(line,))
    assert format_csv(regression_table(found)).splitlines() == [
        "outcome,answer,name,n,estimate,standard_error,low,high,odds_ratio,coverage,method",
        f"cheated,yes,'=year,500,-0.5,0.1,-0.7,-0.3,,approximate,{Method.WALD}",
    ]


def test_a_follow_up_that_is_a_number_says_among_how_many_its_mean_is() -> None:
    after = {"question": "cheated", "is": ["yes"]}
    questions = [yes_no(), number("hours", levels=3, max=6, show_if=after)]
    made = survey(define(questions, [field(COIN, "cheated"), field(subset(4, 1), "hours")]))
    document = results(made, Tally(400, np.array([150, 60, 60, 60, 220])))
    line = document.questions[1].answering
    assert line is not UNSET and line.coverage == "guaranteed" and line.low < line.estimate < line.high
    answers = estimate_answer_count(document.questions[1])
    assert answers and (answers.estimate, answers.n) == (round(400 * line.estimate), 400)
    assert answers.describe("95%") in " ".join(format_results(made, document).split())


def test_a_survey_of_blocks_fits_a_terminal() -> None:
    made = blocks()
    for tally in (Tally.empty(made), Tally(600, np.full(made.width, 100))):
        assert max(map(len, format_results(made, results(made, tally)).splitlines())) <= 110


def test_a_yes_by_coin_is_guaranteed_and_says_so_by_saying_nothing() -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")]))
    text = format_results(made, results(made, Tally(1240, np.array([441]))))
    (row,) = (line.split() for line in text.splitlines() if line.strip().startswith("yes"))
    assert (row[1], row[2], row[-1]) == ("21.1%", "15.8%", "26.6%"), "no word about its coverage"
