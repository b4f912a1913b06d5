"""The documents of the API: fixed keys in a fixed order, and everything else about them follows from the structs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from survey_app.estimate.intervals import Method, Options
from survey_app.results.csv_columns import COLUMNS, list_cells
from survey_app.results.survey_document import TOO_FEW, Line, Results, results, table_rows
from survey_app.tally import Tally
from survey_app.web.openapi import openapi_document as description
from tests.definitions import COIN, choice, define, field, number, scale, subset, survey, yes_no
from tests.results.figure_kinds import FIELDS, make_survey

KEYS = [
    "kind", "n", "estimate", "low", "high", "unbiased", "reported", "coverage", "sample_low", "sample_high",
    "sample_coverage", "method",
]  # fmt: skip


def plain(document: msgspec.Struct) -> Any:
    """What a reader of its JSON has."""
    return json.loads(msgspec.json.encode(document))


def test_the_results_document_has_its_fixed_keys_in_their_order() -> None:
    found = plain(results(make_survey(["joint of several"]), Tally(100, np.array([30, 40, 20, 50, 40, 20]))))
    assert list(found) == ["survey", "reports", "confidence", "targets", "questions", "joint"]
    assert [question["id"] for question in found["questions"]] == ["q0a", "q0b"]
    for question in found["questions"]:
        assert list(question)[:4] == ["id", "type", "epsilon", "estimates"]
        assert all(list(one) == ["option", *KEYS] for one in question["estimates"])
    assert list(found["joint"][0]) == ["questions", "estimates"]
    assert all(list(one) == ["options", *KEYS] for one in found["joint"][0]["estimates"])


def test_the_document_holds_only_combinations_that_can_occur() -> None:
    found = plain(results(make_survey(["joint, hidden"]), Tally(100, np.array([40, 20, 15, 15, 10]))))
    assert [line["options"] for line in found["joint"][0]["estimates"]] == [
        ["no", "no answer"], ["yes", "Disagree"], ["yes", "Neutral"], ["yes", "Agree"], ["yes", "no answer"],
    ]  # fmt: skip
    for question in found["questions"]:
        points = [line["estimate"] for line in question["estimates"] if line["kind"] != "mean"]
        assert sum(points) == pytest.approx(1)


def test_what_was_chosen_is_said_and_what_was_not_is_left_out() -> None:
    made, tally = survey(define([yes_no()], [field(COIN, "cheated")])), Tally(100, np.array([40]))
    chosen = Options(0.9, simultaneous=True, narrow=True, population=500)
    assert list(plain(results(made, tally, chosen)))[2:6] == ["confidence", "simultaneous", "narrow", "population"]
    assert not {"simultaneous", "narrow", "population", "slug"} & set(plain(results(made, tally)))


def test_lists_that_are_empty_are_left_out() -> None:
    questions = [scale(), choice(optional=True), number(bins=3)]
    fields = [field(subset(3, 1), "fair"), field(subset(4, 1), "help"), field(subset(3, 1), "hours")]
    counts = np.array([50, 30, 20, 40, 30, 20, 10, 50, 30, 20])
    found = plain(
        results(survey(define(questions, fields)), Tally(100, counts), totals={"fair": [["Neutral", "Agree"]]})
    )
    assert [list(question)[4:] for question in found["questions"]] == [
        ["totals", "cumulative", "quantiles"],
        ["answered"],
        ["cumulative", "quantiles"],
    ]
    assert list(found["questions"][0]["quantiles"][0]) == ["level", "options", "n", "coverage"]


@pytest.mark.parametrize("name", FIELDS)
def test_a_document_is_read_back_as_it_was(name: str) -> None:
    made = make_survey([name])
    document = results(made, Tally(50, np.full(made.width, 17)))
    assert msgspec.json.decode(msgspec.json.encode(document), type=Results) == document
    assert msgspec.convert(msgspec.to_builtins(document), Results) == document


def test_the_columns_of_a_table_are_the_fields_of_a_line() -> None:
    assert [name for name in COLUMNS if name != "raw"] == KEYS
    document = results(survey(define([yes_no()], [field(COIN, "cheated")])), Tally(100, np.array([40])))
    text = io.StringIO()
    csv.writer(text).writerows([line.name, *list_cells(line)] for _, _, line in table_rows(document.parts))
    rows = list(csv.reader(io.StringIO(text.getvalue())))
    for row, line in zip(rows, plain(document)["questions"][0]["estimates"], strict=True):
        assert row == ["" if value is None else str(value) for value in (line.get(key) for key in ("option", *COLUMNS))]


def test_the_schema_of_a_line_is_that_of_its_struct() -> None:
    schemas = description()["components"]["schemas"]
    assert schemas["Line"]["required"] == KEYS
    assert schemas["Method"]["enum"] == sorted(Method)
    assert set(schemas["Line"]["properties"]) == set(Line.__struct_fields__)
    assert {"Results", "QuestionPart", "JointPart", "Quantile", "Crosstab", "EmptyCrosstab", "Test"} <= set(schemas)


def test_every_method_is_explained_to_readers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    assert [method for method in Method if f"`{method}`" not in page] == []


def test_the_worked_line_of_the_design() -> None:
    """1240 reports, of which 35.6% say yes at coin odds: 21.3%, from 16.1% to 26.7%."""
    found = results(survey(define([yes_no()], [field(COIN, "cheated")])), Tally(1240, np.array([441])))
    no, yes = found.questions[0].estimates
    assert (yes.option, yes.kind, yes.n) == ("yes", "share", 1240)
    assert yes.estimate == pytest.approx(0.2113, abs=5e-4)
    assert (yes.low, yes.high) == pytest.approx((0.158, 0.266), abs=2e-3)
    assert no.estimate + yes.estimate == pytest.approx(1)


@pytest.mark.parametrize("reports", [0, 1])
def test_under_two_reports_there_is_no_estimate(reports: int) -> None:
    for made in (make_survey(["joint"]), make_survey(["drawn"]), make_survey(["coin", "one of three"], ask=True)):
        found = results(made, Tally(reports, np.zeros(made.width, dtype=np.int64)))
        for question in found.questions:
            assert question.estimates == ()
            assert question.note == TOO_FEW


def test_no_estimate_is_without_its_interval_and_n() -> None:
    for name in FIELDS:
        made = make_survey([name])
        for part in results(made, Tally(50, np.full(made.width, 17))).parts:
            for line in part.estimates:
                assert line.low <= line.high
                assert line.n >= 2
