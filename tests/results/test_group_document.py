"""A study's document: its groups, their differences, tests, and a total that is covered as often as it says."""

import csv
import io
import itertools
from typing import Literal

import numpy as np
import pytest
from msgspec import UNSET
from scipy.stats import binom

from candor_client.definition import Survey
from survey_app.authoring import build
from survey_app.estimate.intervals import Method, Options
from survey_app.results.checklist import CautionCode, ItemCode, list_cautions, make_checklist
from survey_app.results.csv_columns import format_csv, study_table
from survey_app.results.group_document import TOTAL, Study, Total, compare_groups, make_study
from survey_app.results.methods import (
    SurveyStatus,
    count_intervals,
    describe_interval_methods,
    methods_paragraph,
)
from survey_app.results.results_text import format_study
from survey_app.results.survey_document import results
from survey_app.tally import Tally
from tests.golden_files import Golden

FILE = """\
slug: exam
title: Exam honesty
epsilon: {epsilon}
questions:
  - {{id: cheated, type: yes_no, text: Did you copy?}}
groups: {{north: {{label: North, size: {north}}}, south: {{label: South, size: {south}}}}}
"""


def surveys(epsilon: float = 2, north: int = 12000, south: int = 8000) -> tuple[Survey, ...]:
    return build(FILE.format(epsilon=epsilon, north=north, south=south).encode()).surveys


def study(
    ones: tuple[int, int], reports: tuple[int, int] = (400, 300), sizes: tuple[int | None, ...] = (12000, 8000)
) -> Study:
    members = [
        (survey, Tally(n, np.array([count])))
        for survey, n, count in zip(surveys(), reports, ones, strict=True)
    ]  # fmt: skip
    return make_study(members, sizes, Options())


def test_a_study_has_its_groups_their_sizes_and_what_each_shows_by_itself() -> None:
    found = study((150, 90))
    assert found.study == "exam"
    assert found.reports == 700
    for group, survey, size in zip(found.groups, surveys(), (12000, 8000), strict=True):
        assert (group.group, group.slug, group.size, group.survey) == (survey.group, survey.slug, size, survey.digest)
    alone = results(surveys()[0], Tally(400, np.array([150])))
    assert found.groups[0].questions == alone.questions
    assert [(one.of, one.to) for one in found.differences] == [("South", "North")]
    assert [one.id for one in found.tests] == ["cheated"]


def test_the_total_weighs_groups_by_their_people_and_not_by_their_reports() -> None:
    found = study((150, 90))
    assert found.total
    assert found.total.weights == {"North": 0.6, "South": 0.4}
    each = [group.questions[0].estimates[1] for group in found.groups]
    (whole,) = (line for line in found.total.questions[0].estimates if line.option == "yes")
    assert whole.unbiased == pytest.approx(0.6 * (each[0].unbiased or 0) + 0.4 * (each[1].unbiased or 0))
    assert whole.n == 700
    assert whole.low < whole.estimate < whole.high


@pytest.mark.parametrize(
    ("reports", "sizes", "missing"),
    [
        ((400, 300), (None, None), "sizes"),
        ((400, 0), (12000, 8000), "reports"),
        ((0, 0), (12000, 8000), "reports"),
        ((0, 0), (None, None), "sizes"),
    ],
    ids=["no-sizes", "one-empty", "both-empty", "neither"],
)
def test_where_there_is_no_total_a_note_says_why(
    reports: tuple[int, int], sizes: tuple[int | None, ...], missing: Literal["sizes", "reports"], golden: Golden
) -> None:
    found = study((reports[0] // 3, reports[1] // 3), reports, sizes)
    assert found.total
    note = found.total.note
    assert found.total == Total(missing=missing, note=note)
    golden(note)
    assert [group.size for group in found.groups] == [size or UNSET for size in sizes]
    if not all(reports):
        assert not found.differences[0].questions[0].estimates
        assert not found.tests
    assert note in format_study(surveys()[0], found)


def test_surveys_of_two_studies_are_called_by_their_slugs() -> None:
    north, south = ((survey, Tally(400, np.array([150]))) for survey in surveys())
    other = build(FILE.format(epsilon=2, north=1, south=1).replace("slug: exam", "slug: course").encode()).survey
    assert [group.group for group in compare_groups([north, south], Options()).groups] == ["North", "South"]
    mixed = compare_groups([north, (other, Tally(400, np.array([150])))], Options())
    assert [group.group for group in mixed.groups] == ["exam-north", "course-north"]
    assert (mixed.study, mixed.total) == (UNSET, UNSET)


def test_a_table_has_every_line_and_no_formula() -> None:
    found = study((150, 90))
    rows = list(csv.DictReader(io.StringIO(format_csv(study_table(surveys(), found)))))
    assert [row["group"] for row in rows[::2]] == ["North", "South", TOTAL, "South - North"]
    members = [(survey.slug, survey.digest) for survey in surveys()]
    assert [(row["slug"], row["digest"]) for row in rows[::2]] == [*members, ("", ""), ("", "")]
    assert [bool(row["p"] and row["q"]) for row in rows[::2]] == [True, True, False, False]
    assert all(row["n"] and float(row["low"]) < float(row["high"]) for row in rows)
    evil = [
        (survey, Tally(400, np.array([150])))
        for survey in build(FILE.format(epsilon=2, north=1, south=1).replace("North", '"=1+1"').encode()).surveys
    ]
    named = format_csv(study_table([one for one, _ in evil], make_study(evil, (1, 1), Options())))
    assert "\n=1" not in named
    assert "\n'=1+1,exam-north," in named


def test_people_read_the_groups_first_and_then_each_answer_in_all_of_them(golden: Golden) -> None:
    text = format_study(surveys()[0], study((150, 90)))
    rows = [line.split()[:2] for line in text.splitlines()]
    places = [rows.index(["North", "400"]), rows.index(["South", "300"]), rows.index(["yes", "North"])]
    assert places == sorted(places)
    answers = rows[places[-1] :]
    assert [row for row in answers if row[0] == "yes"] == [
        ["yes", "North"],
        ["yes", "South"],
        ["yes", TOTAL.split()[0]],
        ["yes", "South"],
    ]
    assert text.count(" n = ") == len(answers) == 8
    golden(text)


def test_a_paper_says_how_groups_were_known_and_weighed(golden: Golden) -> None:
    found, setting = study((150, 90)), SurveyStatus(Options(), False, True)
    said = methods_paragraph(surveys()[0], found, setting)
    assert all(number in said for number in ("400", "12,000", "300", "8,000", "North 60%", "South 40%"))
    words = describe_interval_methods(Options())
    assert words[Method.MOVER] in said and words[Method.SCORE] in said
    for survey in surveys():
        assert survey.digest in said
    items = {item.code: item for item in make_checklist(surveys()[0], found, setting)}
    assert items[ItemCode.WEIGHTS].open
    assert all(survey.digest in items[ItemCode.DEFINITION].text for survey in surveys())
    (passed_on,) = (one for one in list_cautions(found, setting) if one.code is CautionCode.GROUP_LINKS)
    assert count_intervals(found, setting) == 2 * 4
    bare = study((150, 90), sizes=(None, None))
    assert "60%" not in methods_paragraph(surveys()[0], bare, setting)
    unweighed = {item.code: item for item in make_checklist(surveys()[0], bare, setting)}
    assert not unweighed[ItemCode.WEIGHTS].open
    golden(said, "paragraph")
    golden("\n".join([items[ItemCode.WEIGHTS].text, items[ItemCode.DEFINITION].text, passed_on.text]), "checklist")


SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)


def covered(epsilon: float, reports: tuple[int, int], sizes: tuple[int, int], said: tuple[int, int]) -> float:
    """The worst coverage of the true total, weighted by `sizes`, by intervals made with the sizes that were `said`.

    By enumeration of both counts, so it is exact: no error rate, and no luck.
    """
    both = surveys(epsilon)
    mechanism = both[0].fields[0].mechanism
    p, q = float(mechanism.p), float(mechanism.q)  # type: ignore[union-attr]
    counts = [np.arange(n + 1) for n in reports]
    lows, highs = np.zeros((2, reports[0] + 1, reports[1] + 1))
    for i, j in itertools.product(*counts):
        tallies = [Tally(n, np.array([ones])) for n, ones in zip(reports, (i, j), strict=True)]
        total = make_study(list(zip(both, tallies, strict=True)), said, Options()).total
        assert total
        line = total.questions[0].estimates[1]
        lows[i, j], highs[i, j] = line.low, line.high
    worst = 1.0
    for one, other in itertools.product(SHARES, SHARES):
        truth = (sizes[0] * one + sizes[1] * other) / sum(sizes)
        chances = np.outer(*(
            binom.pmf(count, n, q + (p - q) * share)
            for count, n, share in zip(counts, reports, (one, other), strict=True)
        ))  # fmt: skip
        inside = (lows <= truth + 1e-12) & (truth - 1e-12 <= highs)
        worst = min(worst, float(chances[inside].sum()))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "reports", "sizes"),
    [
        (1, (24, 20), (12000, 8000)),
        (2, (40, 20), (12000, 8000)),
        (4, (24, 20), (1000, 1000)),
        (4, (24, 20), (19000, 1000)),
    ],
)
def test_the_interval_of_the_total_covers_as_often_as_it_says(
    epsilon: float, reports: tuple[int, int], sizes: tuple[int, int]
) -> None:
    assert covered(epsilon, reports, sizes, sizes) >= 0.94


def test_to_weigh_by_reports_would_not_cover() -> None:
    """That the enumeration would notice: weights as if both groups had as many people as they have reports."""
    assert covered(4, (24, 20), (1000, 19000), (24, 20)) < 0.8
