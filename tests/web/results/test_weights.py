"""Weights that a reader types: totals by them on the page, in its files and in the API, as the command computes them."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.results.group_document import compare_groups
from survey_app.results.regression_document import regress_on_groups
from survey_app.web.results.weights import parse_weights
from tests.definitions import COIN, choice, define, field, subset, yes_no
from tests.golden_files import Golden
from tests.tree import Node
from tests.web.results.results_fixtures import Installation, alert_codes, check_group_row, in_page_order, is_rounded
from tests.web.results.test_study_page import study

QUESTIONS = [yes_no(), choice()]
FIELDS = [field(COIN, "cheated"), field(subset(3, 1), "help")]
BARE = "{north: {label: north}, south: {label: south}}"
BOTH = {"weight-exam-north": "9000", "weight-exam-south": "1000"}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A study of two groups without sizes, and two surveys that ask the same."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    study(made, 300, 200, slug="exam", groups=BARE)
    for slug in ("east", "west"):
        made.add(define(QUESTIONS, FIELDS, slug=slug), 200)
    yield made
    made.store.close()


def computed(installation: Installation, slugs: tuple[str, ...], weights: dict[str, float]) -> Any:
    """What `candor results A B --weights FILE` is made of."""
    members = [
        (one.survey, installation.store.snapshot(one))
        for slug in slugs
        if (one := installation.store.newest_version(slug))
    ]
    return json.loads(msgspec.json.encode(compare_groups(members, Options(), weights)))["total"]


def totals(page: Node) -> list[Node]:
    return [row for body in page.all("tbody", data_list="groups") for row in body.all("tr", data_total=None)]


def test_a_study_is_weighed_as_the_reader_says(installation: Installation) -> None:
    query = urlencode(BOTH)
    page = installation.page(f"/results/exam?{query}")
    total = computed(installation, ("exam-north", "exam-south"), {"exam-north": 9.0, "exam-south": 1.0})
    shown = [line for part in total["questions"] for line in in_page_order(part, "estimates")]
    for row, line in zip(totals(page), shown, strict=True):
        check_group_row(row, line)
        assert "by these weights" in row.text
    assert "90%" in page.one("tbody", id="live-members").text
    assert "(north 90%, south 10%)" in page.one("p", id="paragraph").text
    document = json.loads(installation.get(f"/api/surveys/exam/results?{query}").text)["total"]
    assert document == total and document["weights"] == {"north": 0.9, "south": 0.1}
    link = next(one.attributes["href"] for one in page.all("a") if one.text == "Results as CSV")
    rows = list(csv.DictReader(io.StringIO(installation.get(link).text)))
    assert [float(row["estimate"]) for row in rows if row["group"] == "all groups"] == [
        one["estimate"] for part in total["questions"] for one in part["estimates"]
    ]
    for figure in page.all("figure"):
        assert "all groups" in installation.get(figure.one("a").attributes["href"]).text
    assert not totals(installation.page("/results/exam"))  # no sizes, no weights: no total
    kept = {one.attributes["name"]: one.attributes["value"] for one in page.one(id="weights").all("input")}
    assert kept == BOTH


def test_surveys_side_by_side_are_weighed_too(installation: Installation) -> None:
    page = installation.page("/results/east?with=west&weight-east=1&weight-west=3")
    total = computed(installation, ("east", "west"), {"east": 1.0, "west": 3.0})
    shown = [line for part in total["questions"] for line in in_page_order(part, "estimates")]
    for row, line in zip(totals(page), shown, strict=True):
        check_group_row(row, line)
    assert not totals(installation.page("/results/east?with=west"))
    fields = [one.attributes["name"] for one in page.all("input") if one.attributes["name"].startswith("weight-")]
    assert {"weight-east", "weight-west"} <= set(fields)


BAD_WEIGHTS = {
    "missing": ({"weight-exam-north": "1"}, RefusalCode.MISSING_NUMBER),
    "a word": (BOTH | {"weight-exam-south": "many"}, RefusalCode.INVALID_NUMBER),
    "negative": (BOTH | {"weight-exam-south": "-1"}, RefusalCode.INVALID_NUMBER),
    "not a number": (BOTH | {"weight-exam-south": "nan"}, RefusalCode.INVALID_NUMBER),
    "infinite": (BOTH | {"weight-exam-south": "1e999"}, RefusalCode.INVALID_NUMBER),
    "zero": (dict.fromkeys(BOTH, "0"), RefusalCode.ZERO_WEIGHTS),
    "another survey": (BOTH | {"weight-west": "1"}, RefusalCode.UNEXPECTED_NUMBER),
}


def test_weights_that_do_not_do_are_told_beside_their_fields(installation: Installation, golden: Golden) -> None:
    reasons = {}
    for name, (query, code) in BAD_WEIGHTS.items():
        page = installation.page(f"/results/exam?{urlencode(query)}", 400)
        (alert,) = page.all(role="alert")
        assert alert_codes(page) == [code] and page.one("section", aria_labelledby="groups").one(role="alert") is alert
        assert (alert.attributes["id"], alert.attributes["tabindex"]) == ("weighed", "-1")
        assert len(page.all("section", class_="question")) == 3 and not totals(page)
        refused = json.loads(installation.get(f"/api/surveys/exam/results?{urlencode(query)}", 400).text)
        assert alert.text.endswith(refused["detail"])
        reasons[name] = alert.text
    golden("\n".join(f"{name}: {reason}" for name, reason in reasons.items()))


def test_a_survey_without_a_weight_stands_beside_all_the_same(installation: Installation) -> None:
    page = installation.page("/results/east?with=west&weight-east=1", 400)
    alert = page.one("section", aria_labelledby="compare").one(role="alert")
    assert alert_codes(page) == [RefusalCode.MISSING_NUMBER] and "west" in alert.text
    assert page.all("tr", data_group="west") and not totals(page)


def test_no_weights_are_no_choice() -> None:
    named = [("a", "A"), ("b", "B")]
    assert parse_weights([], named) is None
    assert parse_weights([("b", "0.5"), ("a", "2")], named) == (("a", 2.0), ("b", 0.5))
    with pytest.raises(GroupsError, match="A and B"):
        parse_weights([("c", "1")], [("a", "A"), ("b", "B"), ("c", "C")])


def test_what_is_known_of_groups_explains_an_answer_as_the_command_does(installation: Installation) -> None:
    numbers = {"exam-north": 1.0, "exam-south": 3.5}
    known = urlencode({"outcome": "slept=yes", **{f"known-{slug}": number for slug, number in numbers.items()}})
    page = installation.page(f"/results/exam?{known}&confidence=0.9")
    members = [
        (one.survey, installation.store.snapshot(one))
        for slug in numbers
        if (one := installation.store.newest_version(slug))
    ]
    covariates = {slug: {"number": number} for slug, number in numbers.items()}
    computed = regress_on_groups(members, "slept", "yes", covariates, Options(0.9))
    told = page.one("section", aria_labelledby="regression")
    for line in computed.coefficients:
        shown = told.one("tr", data_name=line.name).all("data")
        found = {one.attributes["data-key"]: float(one.attributes["value"]) for one in shown}
        assert found == {key: getattr(line, key) for key in ("estimate", "low", "high", "standard_error")}
        assert all(map(is_rounded, shown))
    assert told.one("p", id="live-fitted-n").one("data").attributes["value"] == str(computed.coefficients[0].n)
    ids = [node.attributes["id"] for node in page.all(id=None)]
    assert len(ids) == len(set(ids))


def test_what_cannot_be_explained_by_groups_is_said_in_its_section(installation: Installation, golden: Golden) -> None:
    reasons = {}
    for query, code in (
        ("outcome=slept=yes&known-exam-north=1", RefusalCode.MISSING_NUMBER),
        ("outcome=slept=yes&known-exam-north=1&known-exam-south=1", RefusalCode.UNDETERMINED),
        ("outcome=slept=yes&known-exam-north=1&known-exam-south=x", RefusalCode.INVALID_NUMBER),
        ("outcome=hours=yes&known-exam-north=1&known-exam-south=2", RefusalCode.NO_OWN_FIELD),
        ("known-exam-north=1&known-exam-south=2", RefusalCode.MISSING_OUTCOME),
    ):
        page = installation.page(f"/results/exam?{query}", 400)
        alert = page.one("section", aria_labelledby="regression").one(role="alert")
        assert alert_codes(page) == [code] and alert.attributes["id"] == "fitted"
        reasons[code] = alert.text
    golden("\n".join(f"{code}: {reason}" for code, reason in reasons.items()))
