"""The results of a study: what its page, its files and the API say of all groups, to people who may see them."""

import csv
import io
import json
from datetime import timedelta

import pytest

from survey_app.authoring import build
from survey_app.results.row_order import AMONG_ANSWERED, NOT_ASKED
from survey_app.store import Member, PublishedSurvey, State, now
from survey_app.web.results.reader_choices import ChoiceCode
from tests.golden_files import Golden
from tests.web.results.results_fixtures import (
    TOKEN,
    Installation,
    alert_codes,
    check_group_row,
    count_intervals,
    fill,
    hide_numbers,
)

FILE = """\
slug: {slug}
title: Life at work
epsilon: 4
results: {results}
groups: {groups}
questions:
  - {{id: slept, type: yes_no, text: Did you sleep well?}}
  - {{id: fair, type: scale, text: Pay is fair., points: [No, So-so, "Yes"]}}
  - {{id: hours, type: number, text: Hours of work?, min: 0, max: 60, step: 1, unit: h}}
"""
SIZED = "{north: {label: North, size: 12000}, south: {label: South, size: 8000}, west: {label: West <b>, size: 300}}"
BARE = "{a: {label: First}, b: {label: Second}}"


def study(
    installation: Installation,
    *counts: int,
    slug: str = "work",
    groups: str = SIZED,
    results: str = "public",
    **terms: object,
) -> list[PublishedSurvey]:
    """A study of ada's with so many reports in each group."""
    built = build(FILE.format(slug=slug, groups=groups, results=results).encode())
    kept = {key: terms.pop(key) for key in ("state",) if key in terms}
    members = [Member(survey, given.__class__(**{**given.__dict__, **terms})) for survey, given in built.members]
    added = installation.store.add_surveys(members, owner=installation.ada.key, **kept)  # type: ignore[arg-type]
    for published, count in zip(added, counts, strict=False):
        fill(installation.store, published, count)
    return added


def test_each_question_stands_once_with_all_groups_differences_and_total(fresh: Installation) -> None:
    study(fresh, 300, 200, 100)
    page = fresh.page("/results/work?confidence=0.9")
    document = json.loads(fresh.get("/api/surveys/work/results?confidence=0.9").text)
    assert document["study"] == "work"
    assert [group["group"] for group in document["groups"]] == ["North", "South", "West <b>"]
    assert [group["size"] for group in document["groups"]] == [12000, 8000, 300]
    assert document["total"]["weights"]["South"] == pytest.approx(8000 / 20300)
    for place, name in enumerate(("slept", "fair", "hours")):
        bodies = page.one("section", id=f"q-{name}").all("tbody", data_list="groups")
        if name == "slept":  # yes before no; documents keep the order of symbols
            assert [body.attributes["data-option"] for body in bodies] == ["yes", "no"]
            bodies.reverse()
        lines = [group["questions"][place]["estimates"] for group in document["groups"]]
        assert len(bodies) == len(lines[0])
        for i, body in enumerate(bodies):
            check_group_row(body.one("tr", data_group="North"), lines[0][i])
            for at, group in enumerate(("South", "West <b>")):
                gap = document["differences"][at]["questions"][place]["estimates"][i]
                check_group_row(body.one("tr", data_group=group), lines[at + 1][i], gap)
            check_group_row(body.one("tr", data_total=None), document["total"]["questions"][place]["estimates"][i])
    rows = page.one("tbody", id="live-members").all("tr")
    assert [row.one("a").attributes["href"] for row in rows] == [
        f"/results/work-{name}" for name in ("north", "south", "west")
    ]
    assert count_intervals(page) == sum(1 for _ in csv.reader(io.StringIO(fresh.get("/results/work.csv").text))) - 1
    assert "by group" in page.one("section", id="q-slept").text
    assert "12,000 people" in page.one("p", id="paragraph").text
    for figure in page.all("figure"):
        assert fresh.get(figure.one("a").attributes["href"]).text.startswith("<svg")


def test_a_question_that_not_everybody_was_asked_says_so_in_a_study(fresh: Installation, golden: Golden) -> None:
    """Elsewhere its shares are of those who were asked; here "no answer" would be taken for refusals."""
    more = """\
  - {id: woke, type: choice, text: What woke you?, options: [Noise, Worry], show_if: {question: slept, is: [no]}}
  - {id: naps, type: number, text: How many naps?, min: 0, max: 9, show_if: {question: slept, is: [no]}}
"""
    built = build((FILE.format(slug="work", groups=BARE, results="public") + more).encode())
    for published in fresh.store.add_surveys([Member(*one) for one in built.members], owner=fresh.ada.key):
        fill(fresh.store, published, 100)
    page = fresh.page("/results/work")
    woke = page.one("section", id="q-woke")
    document = json.loads(fresh.get("/api/surveys/work/results").text)
    place = next(i for i, one in enumerate(document["groups"][0]["questions"]) if one["id"] == "woke")
    answering = [(group["group"], group["questions"][place]["answering"]) for group in document["groups"]]
    told = ", ".join(f"{name} about {round(one['n'] * one['estimate'])} of {one['n']}" for name, one in answering)
    condition = woke.one("p", class_="condition").text
    assert told in condition
    golden(hide_numbers(condition), "shares")
    bodies = woke.all("tbody", data_list="among")
    assert [body.attributes["data-option"] for body in bodies] == ["Noise", "Worry"]
    for i, body in enumerate(bodies):
        for group in document["groups"]:
            check_group_row(body.one("tr", data_group=group["group"]), group["questions"][place]["answered"][i])
    assert [body.all("th")[0].text for body in woke.all("tbody", data_list="groups")] == [
        "Noise",
        "Worry",
        NOT_ASKED,
    ]
    assert AMONG_ANSWERED in woke.one("svg").text
    golden(page.one("section", id="q-naps").one("p", class_="condition").text, "a mean")
    assert not page.one("section", id="q-fair").all("p", class_="condition")


def test_a_group_shows_its_own_step_and_the_total_waits_for_the_last_group(fresh: Installation, golden: Golden) -> None:
    groups = study(fresh, 100, 100, 39)
    document = json.loads(fresh.get("/api/surveys/work/results").text)
    shown = [fresh.store.snapshot(group).reports for group in groups]
    assert [group["reports"] for group in document["groups"]] == shown
    assert shown[2] == 0
    assert (document["total"].keys(), document["total"]["missing"]) == ({"missing", "note"}, "reports")
    page = fresh.page("/results/work")
    total = page.one("p", id="live-total")
    assert total.attributes["data-missing"] == "reports"
    assert total.text[1:] == f"{document['total']['note'][1:]}."
    golden(total.text)
    assert page.one("section", id="q-slept").all("tr", data_group="South")
    assert not page.all("tr", data_total=None)
    count = json.loads(fresh.get("/results/work/count").text)
    assert count == {"reports": sum(shown), "state": "open", "text": str(sum(shown))}
    assert [row.one("data").text for row in page.one("tbody", id="live-members").all("tr")] == [
        *map(str, shown[:2]), "fewer than 40",
    ]  # fmt: skip
    assert page.one("div", id="page").attributes["data-count"] == "/results/work/count"
    fill(fresh.store, groups[2], 1)
    assert "note" not in json.loads(fresh.get("/api/surveys/work/results").text)["total"]


def test_closing_one_group_closes_all_and_the_page_says_so(fresh: Installation, golden: Golden) -> None:
    groups = study(fresh, 60, 30, 10)
    fresh.store.set_state(groups[1], State.CLOSED)
    page = fresh.page("/results/work")
    assert page.one("p", id="live-state").attributes["data-note"] == "closed"
    golden(page.one("p", id="live-state").text, "state")
    assert "data-count" not in page.one("div", id="page").attributes
    document = json.loads(fresh.get("/api/surveys/work/results").text)
    assert [group["reports"] for group in document["groups"]] == [60, 30, 0]
    assert document["total"]["missing"] == page.one("p", id="live-total").attributes["data-missing"] == "reports"
    golden(document["total"]["note"], "total")


def test_without_sizes_there_is_no_total(fresh: Installation, golden: Golden) -> None:
    study(fresh, 100, 100, slug="bare", groups=BARE)
    document = json.loads(fresh.get("/api/surveys/bare/results").text)
    assert (document["total"].keys(), document["total"]["missing"]) == ({"missing", "note"}, "sizes")
    assert all("size" not in group for group in document["groups"])
    total = fresh.page("/results/bare").one("p", id="live-total")
    assert total.attributes["data-missing"] == "sizes"
    golden(total.text)


def test_a_private_study_is_for_its_owner(fresh: Installation) -> None:
    study(fresh, 100, 100, 100, results="private")
    for address in ("/results/work", "/results/work.csv", "/results/work/plots/slept.groups.svg"):
        fresh.get(address, 302)
        fresh.get(address, 403, name="bob")
        fresh.get(address, name="ada")
    fresh.get("/results/work/count", 401)
    fresh.get("/api/surveys/work/results", 401)
    answer = fresh.client().get("/api/surveys/work/results", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    page = fresh.page("/results/work", name="ada")
    assert page.one("nav", aria_label="Console").all("a", href="/console/work")


def test_a_study_that_was_never_opened_is_not_there(fresh: Installation) -> None:
    study(fresh, slug="later", state=State.READY)
    for address in ("/results/later", "/results/later/count", "/api/surveys/later/results", "/results/later.csv"):
        fresh.get(address, 404, name="ada")


def test_a_study_that_opens_later_says_when(fresh: Installation) -> None:
    study(fresh, opens=now() + timedelta(days=1))
    page = fresh.page("/results/work")
    assert page.one("p", id="live-state").attributes["data-note"] == "ready"
    assert page.all("section", data_note="waiting")


def test_a_study_without_reports_has_an_empty_page_that_comes_to_life(fresh: Installation) -> None:
    groups = study(fresh)
    page = fresh.page("/results/work")
    assert page.all("section", data_note="waiting")
    assert page.one("div", id="page").attributes["data-reports"] == "0"
    fresh.store.set_state(groups[0], State.CLOSED)
    assert fresh.page("/results/work").all("section", data_note="too_few_reports")


def test_a_bad_choice_is_told(fresh: Installation, golden: Golden) -> None:
    study(fresh, 100, 100, 100)
    for query, code in (("confidence=2", ChoiceCode.CONFIDENCE), ("population=50000", ChoiceCode.STUDY_POPULATION)):
        page = fresh.page(f"/results/work?{query}", 400)
        assert alert_codes(page) == [code]
        refused = json.loads(fresh.get(f"/api/surveys/work/results?{query}", 400).text)
        assert refused["code"] == "malformed_request"
        assert page.one(role="alert").text.startswith(refused["detail"].removesuffix("."))
        assert refused["detail"] in fresh.get(f"/results/work.csv?{query}", 400).text
    golden(page.one(role="alert").text)
    assert not fresh.page("/results/work").all("input", name="population")


def test_the_page_of_a_group_leads_to_all_of_them(fresh: Installation) -> None:
    study(fresh, 100, 100, 100)
    page = fresh.page("/results/work-south")
    assert page.one("p", class_="group").one("a").attributes["href"] == "/results/work"
    assert "Group: South" in page.one("p", class_="group").text
    fresh.get("/results/work/crosstab.csv?rows=slept&columns=fair", 404)
    fresh.get("/results/work/reports.csv", 404, name="ada")


def test_many_groups_have_a_table_that_is_folded(fresh: Installation) -> None:
    many = ", ".join(f"g{i}: {{size: {i + 1}}}" for i in range(24))
    study(fresh, *[40] * 24, slug="many", groups=f"{{{many}}}")
    page = fresh.page("/results/many")
    details = page.one("section", id="q-slept").one("details")
    assert "open" not in details.attributes
    assert "open" in fresh.page("/results/many?view=table").one("section", id="q-slept").one("details").attributes
    assert len(page.one("section", id="q-slept").one("svg").all("g", class_="row")) == 2 * 25
