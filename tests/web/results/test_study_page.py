"""The results of a study: what its page, its files and the API say of all groups, to people who may see them."""

import csv
import io
import json
from datetime import timedelta

import pytest

from survey_app.authoring import build
from survey_app.store import Member, PublishedSurvey, State, now
from tests.web.results.results_fixtures import TOKEN, Installation, check_group_row, count_intervals, fill

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


def test_a_question_that_not_everybody_was_asked_says_so_in_a_study(fresh: Installation) -> None:
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
    assert woke.one("p", class_="condition").text == (
        f"Asked if “Did you sleep well?” is “no”: {told} were asked and answered."
    )
    bodies = woke.all("tbody", data_list="among")
    assert [body.attributes["data-option"] for body in bodies] == ["Noise", "Worry"]
    for i, body in enumerate(bodies):
        for group in document["groups"]:
            check_group_row(body.one("tr", data_group=group["group"]), group["questions"][place]["answered"][i])
    assert [body.all("th")[0].text for body in woke.all("tbody", data_list="groups")] == [
        "Noise",
        "Worry",
        "not asked or no answer",
    ]
    assert "among those who were asked and answered" in woke.one("svg").text
    assert page.one("section", id="q-naps").one("p", class_="condition").text == (
        "Asked if “Did you sleep well?” is “no”. Means are of those who were asked and answered."
    )
    assert not page.one("section", id="q-fair").all("p", class_="condition")


def test_a_group_shows_its_own_step_and_the_total_waits_for_the_last_group(fresh: Installation) -> None:
    groups = study(fresh, 100, 100, 39)
    document = json.loads(fresh.get("/api/surveys/work/results").text)
    shown = [fresh.store.snapshot(group).reports for group in groups]
    assert [group["reports"] for group in document["groups"]] == shown
    assert shown[2] == 0
    assert document["total"] == {"note": "no total until West <b> has 40 reports, or 20 at closing"}
    page = fresh.page("/results/work")
    assert "No total until West <b> has 40 reports, or 20 at closing." in page.one("p", id="live-total").text
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


def test_closing_one_group_closes_all_and_the_page_says_so(fresh: Installation) -> None:
    groups = study(fresh, 60, 30, 10)
    fresh.store.set_state(groups[1], State.CLOSED)
    page = fresh.page("/results/work")
    assert "These figures are final" in page.one("p", id="live-state").text
    assert "data-count" not in page.one("div", id="page").attributes
    document = json.loads(fresh.get("/api/surveys/work/results").text)
    assert [group["reports"] for group in document["groups"]] == [60, 30, 0]
    assert document["total"]["note"] == "no total: fewer than 20 reports came from West <b>"


def test_without_sizes_there_is_no_total(fresh: Installation) -> None:
    study(fresh, 100, 100, slug="bare", groups=BARE)
    document = json.loads(fresh.get("/api/surveys/bare/results").text)
    assert document["total"] == {"note": "no total: the sizes of the groups are not known"}
    assert all("size" not in group for group in document["groups"])
    assert "sizes of the groups are not known" in fresh.page("/results/bare").one("p", id="live-total").text


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
    assert "opens at" in page.one("p", id="live-state").text
    assert "No results yet" in page.text


def test_a_study_without_reports_has_an_empty_page_that_comes_to_life(fresh: Installation) -> None:
    groups = study(fresh)
    page = fresh.page("/results/work")
    assert "when it has 40 reports" in page.text
    assert page.one("div", id="page").attributes["data-reports"] == "0"
    fresh.store.set_state(groups[0], State.CLOSED)
    assert "Too few reports" in fresh.page("/results/work").text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("population=50000", "A population is for one survey: the sizes of groups only weigh their total"),
        ("confidence=2", "A confidence level"),
    ],
)
def test_a_bad_choice_is_told(fresh: Installation, query: str, words: str) -> None:
    study(fresh, 100, 100, 100)
    assert words in fresh.page(f"/results/work?{query}", 400).one("div", role="alert").text
    for address in ("/api/surveys/work/results", "/results/work.csv"):
        assert words in fresh.get(f"{address}?{query}", 400).text
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
