"""What `candor results`, `crosstab` and `regress` print for a person: the document's numbers, and whom n counts."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import UNSET

from candor_client import Survey
from survey_app.estimate.intervals import APPROXIMATE, Method, Options
from survey_app.results.crosstab_document import make_crosstab
from survey_app.results.csv_columns import format_csv, regression_table
from survey_app.results.group_document import compare_groups
from survey_app.results.regression_document import CoefficientLine, Regression
from survey_app.results.results_text import format_crosstab, format_regression, format_results, format_study
from survey_app.results.survey_document import results
from survey_app.tally import Tally
from tests.block_survey import blocks
from tests.definitions import COIN, choice, define, field, number, scale, subset, survey, yes_no
from tests.results.figure_kinds import FIELDS, make_survey


def two_blocks() -> tuple[Survey, Tally]:
    """A yes or no with its follow-up, and a scale: 100 devices drew the first, 50 the other."""
    after = {"question": "cheated", "is": ["yes"]}
    questions = [yes_no(), choice(options=2, show_if=after), scale()]
    made = survey(define(questions, [field(subset(4, 1), "cheated", "help"), field(subset(3, 1), "fair")], ask=1))
    return made, Tally(150, np.array([100, 55, 20, 15, 10, 50, 30, 10, 10]))


def test_results_are_a_page_that_a_person_can_read() -> None:
    made, tally = two_blocks()
    assert format_results(made, results(made, tally)).splitlines()[:17] == [
        f"Exam honesty (exam), version {made.digest[:12]}",
        "150 reports; 95% intervals for the population, coverage guaranteed unless they are called approximate.",
        "",
        "cheated: Did you copy?",
        "  ε 2.1973; n = 100: devices that drew this block (50% expected)",
        "  yes  30%  15% to 45%",
        "  no   70%  55% to 85%",
        "",
        "help: What helped?",
        "  Asked if “Did you copy?” is “yes”: about 27 of 100 were asked and answered (95% interval 14 to 43).",
        "  ε 2.1973; n = 100: devices that drew this block (50% expected), also those to whom it was not put",
        "  among those who were asked and answered, about 27 of 100",
        "    option 0  64%  29% to 98%  approximate",
        "    option 1  36%  2% to 71%   approximate",
        "  of all, asked or not",
        "    option 0                18%  6% to 31%",
        "    option 1                10%  0% to 23%",
    ]  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_every_kind_of_question_has_its_numbers_in_the_text(name: str) -> None:
    made = make_survey([name])
    document = results(made, Tally(50, np.full(made.width, 17)))
    text = format_results(made, document)
    for part in document.parts:
        for line in (line for lines in part.lists.values() for line in lines):
            assert line.name in text
    assert text.count(APPROXIMATE) == 1 + sum(
        line.coverage == APPROXIMATE for part in document.parts for lines in part.lists.values() for line in lines
    )


def test_a_follow_up_leads_with_those_who_answered() -> None:
    made, tally = two_blocks()
    text = format_results(made, results(made, tally))
    section = text.partition("help: ")[2].partition("\n\n")[0]
    assert "Asked if “Did you copy?” is “yes”: about 27 of 100 were asked and answered" in section
    places = ["among those who were asked and answered", "of all, asked or not", "not asked or no answer"]
    assert sorted(places, key=section.index) == places


def test_a_follow_up_leads_with_those_who_answered_in_a_study_too() -> None:
    made, tally = two_blocks()
    study = compare_groups([(replace(made, slug=slug), tally) for slug in ("north", "south")], Options())
    section = format_study(made, study).partition("help: ")[2].partition("\n\n")[0]
    assert "is “yes”: north about 27 of 100, south about 27 of 100 were asked and answered." in " ".join(
        section.split()
    )
    places = ["among those who were asked and answered", "of all, asked or not", "not asked or no answer"]
    assert sorted(places, key=section.index) == places
    assert not [line for line in section.splitlines() if line.split()[:2] == ["no", "answer"]]


def test_a_thousand_options_are_cut_and_said_to_be() -> None:
    made = survey(define([choice(options=40)], [field(subset(40, 1), "help")]))
    text = format_results(made, results(made, Tally(400, np.arange(40) % 19)))
    assert "… and 10 smaller ones: --csv has all" in text


def test_blocks_stand_in_a_table_with_what_it_means() -> None:
    made, tally = two_blocks()
    found = format_results(made, results(made, tally)).splitlines()
    at = found.index("block           chance  expected  drawn")
    assert found[at + 1 :] == [
        "cheated + help     50%        75    100",
        "fair               50%        75     50",
        "Devices did not draw the blocks as often as their chances say (χ² = 16.67, df = 1, p < 0.0001, n = 150);",
        "cheated + help came too often most of all (100 of about 75 expected). Either people broke off after they saw",
        "what they were asked, and the figures are of those who stayed, or reports were made up, or it is chance, which",
        "strays so far in fewer than 1 of 10,000 surveys.",
    ]


def test_a_crosstab_is_a_grid_and_a_wide_one_a_list() -> None:
    made, tally = two_blocks()
    text = format_crosstab(made, make_crosstab(made, tally, [], "cheated", "help", Options()))
    assert "n = 100: devices that drew this block (50% expected), also those to whom some of it was not put" in text
    assert "cells: shares of those who were asked (guaranteed)" in text
    assert "there is nothing to test" in text
    wide = survey(define([yes_no(), choice(options=12)], [field(subset(24, 1), "cheated", "help")]))
    text = format_crosstab(wide, make_crosstab(wide, Tally(480, np.full(24, 20)), [], "cheated", "help", Options()))
    assert max(map(len, text.splitlines())) <= 110
    assert "Likelihood ratio of independent cells: χ² = 0.00, df = 11, p = 1, n = 480." in text
    empty = format_crosstab(wide, make_crosstab(wide, Tally.empty(wide), [], "cheated", "help", Options()))
    assert empty.endswith("not enough reports answer both (n = 0)")


def test_groups_stand_below_each_other() -> None:
    members = [
        (survey(define([scale()], [field(subset(3, 1), "fair")], slug=slug)), Tally(100, np.array(counts)))
        for slug, counts in (("north", [50, 30, 20]), ("south", [20, 30, 50]))
    ]
    study = compare_groups(members, Options())
    lines = format_study(members[0][0], study).splitlines()
    assert lines[0] == "200 reports in 2 groups; 95% intervals, differences in points."
    assert [line.split() for line in lines[2:5]] == [
        ["group", "reports", "people", "weight"],
        ["north", "100", "-", "-"],
        ["south", "100", "-", "-"],
    ]
    assert [line.split()[:2] for line in lines[7:10]] == [
        ["Disagree", "north"],
        ["Disagree", "south"],
        ["Disagree", "south"],
    ]
    assert lines[-1].lstrip().startswith("mean")


def test_coefficients_stand_in_a_table() -> None:
    line = CoefficientLine(
        name="year", n=500, estimate=-0.5, standard_error=0.1, low=-0.7, high=-0.3, odds_ratio=0.6065,
        coverage=APPROXIMATE, method=Method.WALD,
    )  # fmt: skip
    found = Regression(outcome="cheated", label="yes", confidence=0.95, coefficients=(line,))
    assert format_regression(found).splitlines() == [
        "log odds of cheated = yes (approximate)",
        "      log odds ratio  95% interval    odds ratio    n",
        "year           −0.50  −0.70 to −0.30       0.607  500",
    ]


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
    assert f"about {400 * line.estimate:.0f} of 400 were asked and answered (95% interval" in format_results(
        made, document
    )


def test_a_survey_of_blocks_fits_a_terminal() -> None:
    made = blocks()
    for tally in (Tally.empty(made), Tally(600, np.full(made.width, 100))):
        assert max(map(len, format_results(made, results(made, tally)).splitlines())) <= 110


def test_a_yes_by_coin_is_guaranteed_and_says_so_by_saying_nothing() -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")]))
    text = format_results(made, results(made, Tally(1240, np.array([441]))))
    assert "  yes  21.1%  15.8% to 26.6%" in text.splitlines()
