"""Regression on the page: what the API says and the command computes, for people who may read, and bounded."""

import json
import math
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import numpy as np
import pytest

from survey_app.assure.simulation.devices import reports
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.estimate.regression import FitError
from survey_app.results.informativeness import UNINFORMATIVE, is_uninformative_coefficient
from survey_app.results.regression_document import PAGE_LIMITS, list_outcomes, regress_on_questions
from survey_app.store import Submission
from survey_app.web import access
from survey_app.web.results import regression_view
from survey_app.web.results.menus import MissingReason
from tests.definitions import COIN, choice, define, field, multiple, number, scale, subset, survey, yes_no
from tests.golden_files import Golden
from tests.tree import Node
from tests.web.results.results_fixtures import Installation, alert_codes, count_intervals, is_rounded

SHARP = {"kind": "flip", "one": str(2**64 - 2**60), "zero": str(2**60)}
QUERY = [("outcome", "cheated=yes"), ("on", "help"), ("on", "fair")]
LOG_ODDS = (-1.0, 1.5)  # of copying without help, and how much more with option 1


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(tmp_path_factory.mktemp("installation"))
    questions = [yes_no(), choice(), scale(), number("hours"), choice("left", 2), yes_no("right"), multiple(options=2)]
    fields = [
        field(SHARP, "cheated"), field(subset(3, 1), "help"), field(subset(3, 1), "fair"), field(subset(2, 1), "hours"),
        field(subset(4, 1), "left", "right"), field({"kind": "drawn", "size": 2, "draw": 1, "keep": subset(2, 1)["keep"]}, "used"),
    ]  # fmt: skip
    for slug, public in (("exam", True), ("secret", False)):
        published = made.add(define(questions, fields, slug=slug), public=public)
        rng = np.random.default_rng()
        n = 4000
        people = {question.id: rng.integers(0, 2, n) for question in published.survey.questions}
        people |= {"help": rng.integers(0, 3, n), "fair": rng.integers(0, 3, n)}
        odds = np.exp(LOG_ODDS[0] + LOG_ODDS[1] * (people["help"] == 1))
        people["cheated"] = (rng.random(n) < odds / (1 + odds)).astype(int)
        for rows in reports(published.survey, people, rng):
            bits = [Submission(published.key, rng.bytes(16), row.tobytes()) for row in rows]
            made.store.write(bits.copy)
    yield made
    made.store.close()


def part(page: Node) -> Node:
    return page.one("section", aria_labelledby="regression")


def test_the_page_has_what_the_api_has_and_the_command_computes(installation: Installation) -> None:
    query = urlencode([*QUERY, ("confidence", "0.9")])
    document = json.loads(installation.get(f"/api/surveys/exam/regression?{query}").text)
    published = installation.store.newest_version("exam")
    assert published
    with installation.store.open_snapshot(published) as (_, bits):
        computed = regress_on_questions(published.survey, bits, "cheated", "yes", ["help", "fair"], Options(0.9))
    names = ["intercept", "help: option 1", "help: option 2", "fair: agree", "fair: neutral"]
    assert [one["name"] for one in document["coefficients"]] == [one.name for one in computed.coefficients]
    assert len(names) == len(document["coefficients"])
    page = installation.page(f"/results/exam?{query}")
    rows = {row.attributes["data-name"]: row for row in part(page).all("tr", data_name=None)}
    for line, one in zip(document["coefficients"], computed.coefficients, strict=True):
        assert [line[key] for key in ("estimate", "low", "high", "n")] == pytest.approx(
            [one.estimate, one.low, one.high, one.n], rel=1e-6
        )
        shown = {data.attributes["data-key"]: data for data in rows[line["name"]].all("data")}
        assert {key: float(data.attributes["value"]) for key, data in shown.items()} == {
            key: line[key] for key in ("estimate", "low", "high", "standard_error")
        }
        assert all(map(is_rounded, shown.values()))
        ratio = rows[line["name"]].all("td")[0].text
        assert is_uninformative_coefficient(one) or float(ratio.split()[0]) == pytest.approx(
            math.exp(line["estimate"]), rel=6e-3
        )
    assert part(page).one("p", id="live-fitted-n").one("data").attributes["value"] == str(computed.coefficients[0].n)
    assert count_intervals(page) == count_intervals(installation.page("/results/exam?confidence=0.9")) + 5
    ids = [node.attributes["id"] for node in page.all(id=None)]
    assert len(ids) == len(set(ids))
    link = next(one for one in part(page).all("a") if "JSON" in one.text)
    assert json.loads(installation.get(link.attributes["href"]).text) == document


def test_effects_are_found_through_the_coins(installation: Installation) -> None:
    """Within five standard errors, which chance leaves less than once in a million; and no effect would be noticed."""
    lines = json.loads(installation.get(f"/api/surveys/exam/regression?{urlencode(QUERY)}").text)["coefficients"]
    found = {line["name"]: line for line in lines}["help: option 1"]
    assert abs(found["estimate"] - LOG_ODDS[1]) < 5 * found["standard_error"] < LOG_ODDS[1]


def test_menus_are_those_of_the_command_and_words_say_what_is_missing(
    installation: Installation, golden: Golden
) -> None:
    told = part(installation.page("/results/exam"))
    published = installation.store.newest_version("exam")
    assert published
    answers = [option.attributes["value"] for option in told.one("select").all("option")[1:]]
    assert answers == [
        f"{question.id}={label}" for question, labels in list_outcomes(published.survey) for label in labels
    ]
    assert answers[0] == "cheated=yes" and "cheated=no" not in answers  # the command wants the signs turned round
    assert [box.attributes["value"] for box in told.all("input", name="on")] == ["cheated", "help", "fair"]
    hints = told.all("p", data_missing=None)
    assert [(one.attributes["data-missing"], one.attributes["data-questions"].split()) for one in hints] == [
        (MissingReason.ROUNDED, ["hours"]),
        (MissingReason.SHARED_FIELD, ["left", "right", "used"]),
    ]
    golden("\n".join(one.text for one in hints))
    for answer in answers:
        other = "help" if answer.startswith("cheated") else "cheated"
        response = installation.app.test_client().get(f"/results/exam?{urlencode({'outcome': answer, 'on': other})}")
        codes = re.findall(
            r'data-code="(\w+)"', response.text.partition('id="fitted" role="alert"')[2].partition("</div>")[0]
        )
        assert response.status_code == 200 or codes in ([RefusalCode.DIVERGING], [RefusalCode.UNDETERMINED])


def test_what_cannot_be_fitted_is_said_on_the_page_and_by_the_api(installation: Installation, golden: Golden) -> None:
    reasons = {}
    for query, code in (
        ("outcome=cheated=no&on=help", RefusalCode.REFERENCE_ANSWER),
        ("outcome=cheated=yes&on=left", RefusalCode.NO_OWN_FIELD),
        ("outcome=nothing=yes&on=help", RefusalCode.UNKNOWN_QUESTION),
        ("outcome=help=magic&on=fair", RefusalCode.UNKNOWN_ANSWER),
        ("outcome=cheated=yes", RefusalCode.MISSING_PREDICTOR),
        ("on=help", RefusalCode.MISSING_OUTCOME),
    ):
        told = part(installation.page(f"/results/exam?{query}", 400))
        assert alert_codes(told) == [code]
        refused = json.loads(installation.get(f"/api/surveys/exam/regression?{query}", 400).text)
        assert refused["code"] == "malformed_request"
        assert told.one(role="alert").text == f"No regression: {refused['detail']}"
        reasons[code] = refused["detail"]
    golden("\n".join(f"{code}: {reason}" for code, reason in reasons.items()))


def test_only_who_may_read_the_results_may_fit_them(installation: Installation) -> None:
    query = urlencode(QUERY)
    installation.get(f"/api/surveys/secret/regression?{query}", 401)
    installation.get(f"/api/surveys/secret/regression?{query}", 403, name="bob")
    installation.get(f"/api/surveys/secret/regression?{query}", name="ada")


def test_work_is_bounded_and_the_rest_left_to_the_command(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    with monkeypatch.context() as fewer:
        fewer.setattr(access, "MOST_SCANNED_FOR_ANYONE", 100)
        told = part(installation.page(f"/results/exam?{urlencode([*QUERY, ('confidence', '0.77')])}", 400))
        assert alert_codes(told) == [RefusalCode.TOO_MANY_REPORTS]
        assert "candor regress" in told.one(role="alert").text
    names = [f"x{i}" for i in range(4)]
    made = survey(define([yes_no("y"), *(choice(name, 5) for name in names)],
                         [field(COIN, "y"), *(field(subset(5, 1), name) for name in names)]))  # fmt: skip
    people = {"y": np.zeros(50, dtype=int), **{name: np.zeros(50, dtype=int) for name in names}}
    rows = list(reports(made, people, np.random.default_rng()))
    with pytest.raises(FitError) as page_limit:
        regress_on_questions(made, rows, "y", "yes", names[:3], Options(), PAGE_LIMITS)
    with pytest.raises(FitError) as limit:
        regress_on_questions(made, rows, "y", "yes", names, Options())
    assert {page_limit.value.code, limit.value.code} == {RefusalCode.TOO_MANY_CELLS}
    golden(f"on the page: {page_limit.value}\nby the command: {limit.value}")


def test_a_fit_is_made_once_for_all_who_read_it(installation: Installation) -> None:
    query = urlencode([*QUERY, ("confidence", "0.83")])
    installation.page(f"/results/exam?{query}")
    before = regression_view._scan_regression.cache_info()
    installation.page(f"/results/exam?{query}&view=table")
    after = regression_view._scan_regression.cache_info()
    assert (after.hits, after.misses) == (before.hits + 1, before.misses)


def test_a_coefficient_that_says_nothing_has_no_number(fresh: Installation) -> None:
    """Twenty reports: from odds of a ninth to nine times, or nothing identified at all."""
    made = fresh.add(
        define([yes_no(), choice(options=2)], [field(SHARP, "cheated"), field(SHARP, "help")]), close=False
    )
    rows = [(0, 0)] * 14 + [(1, 0)] * 7 + [(0, 1)] * 13 + [(1, 1)] * 8
    bits = [np.packbits(np.array(row, dtype=np.uint8)).tobytes() for row in rows]
    fresh.store.write([Submission(made.key, bytes([i] * 16), one) for i, one in enumerate(bits)].copy)
    told = part(fresh.page("/results/exam?outcome=cheated=yes&on=help&confidence=0.999"))
    silent = told.one("tr", data_name="help: option 1")
    assert silent.text.count(UNINFORMATIVE) == 2
