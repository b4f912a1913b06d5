"""The results page: its numbers are the API's, its plots say what its tables say, and everybody sees what they may."""

import csv
import io
import json
import math
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet
import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect
from werkzeug.test import TestResponse

from client import Survey
from survey_app import create_app
from survey_app.accounts import hash_password, secret_hash
from survey_app.authoring import build
from survey_app.authoring.terms import Terms
from survey_app.estimate.intervals import Options
from survey_app.pages import access
from survey_app.pages.results.figures import MOST_PLOTTED
from survey_app.plan.people import draw_people
from survey_app.results.document import LISTS, NUMBERS
from survey_app.results.export import csv_chunks, ndjson_chunks, shown
from survey_app.results.groups import groups_document
from survey_app.simulate.devices import reports
from survey_app.store import STEP, Published, State, Store, Submission, now
from survey_app.store.sqlite import SqliteStore
from tests.browser import CAMPUS, PHONE, Site, overflows, violations, visit
from tests.definitions import (
    COIN,
    choice,
    define,
    field,
    geometric,
    multiple,
    number,
    sampled,
    scale,
    subset,
    survey,
    unary,
    yes_no,
)
from tests.tree import Node, parse

PASSWORD = "correct horse battery staple"  # noqa: S105  of made-up people
HASH = hash_password(PASSWORD)
TOKEN = "t" * 43
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;]]>"
ROUNDED = re.compile(r"−?[\d,]+(?:\.(\d+))?")
Line = Mapping[str, Any]


def campus(slug: str = "campus") -> Survey:
    return build(CAMPUS.read_bytes().replace(b"slug: campus", f"slug: {slug}".encode())).survey


def fill(store: Store, published: Published, count: int) -> None:
    """Reports of made-up people."""
    rng = np.random.default_rng()
    for rows in reports(published.survey, draw_people(published.survey, {}, count, rng), rng):
        made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
        store.write(made.copy)


class House:
    """A server with surveys of ada's; bob has none."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "candor.db")
        config = {"RATE_LIMIT": "off", "LOGIN_LIMIT": "off", "WTF_CSRF_ENABLED": False}
        self.app: Flask = create_app(config, self.store)
        self.ada, self.bob = (self.store.add_user(name, HASH) for name in ("ada", "bob"))
        self.store.add_token(self.ada, secret_hash(TOKEN))
        self._clients: dict[str, FlaskClient] = {}

    def add(self, made: Survey | dict[str, Any], count: int = 0, *, close: bool = False, **settings: Any) -> Published:
        kept = {key: settings.pop(key) for key in ("owner", "state", "invited") if key in settings}
        parsed, terms = survey(made) if isinstance(made, dict) else made, Terms(**{"public": True, **settings})
        published = self.store.add_survey(parsed, terms, **{"owner": self.ada.key, **kept})
        if count:
            fill(self.store, published, count)
        if close:
            self.store.set_state(published, State.CLOSED)
        return published

    def client(self, name: str = "") -> FlaskClient:
        if name not in self._clients:
            found = self._clients[name] = self.app.test_client()
            if name:
                assert found.post("/login", data={"name": name, "password": PASSWORD}).status_code == 302
        return self._clients[name]

    def get(self, address: str, status: int = 200, name: str = "") -> TestResponse:
        answer = self.client(name).get(address)
        assert answer.status_code == status, answer.text[:2000]
        return answer

    def page(self, address: str, status: int = 200, name: str = "") -> Node:
        return parse(self.get(address, status, name).text)


def other_mechanisms() -> dict[str, Any]:
    """What the campus does not have: unary bits, sampled options that may be skipped, levels, joint unary, ask."""
    questions = [
        choice("town", 8), multiple("used", 4, optional=True), number("hours", levels=3, max=6, unit="h"),
        scale("fair", optional=True), choice("left", 2), yes_no("right"), number("age", bins=3, max=8, optional=True),
        number("spend", levels=7, max=6),
    ]  # fmt: skip
    fields = [
        field(unary(8), "town"), field(sampled(5, 2), "used"), field(subset(3, 1), "hours"),
        field(subset(4, 2), "fair"), field(unary(4), "left", "right"), field(subset(4, 1), "age"),
        field(geometric(width=8), "spend"),
    ]  # fmt: skip
    return define(questions, fields, slug="others", ask=4)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Surveys that nobody changes."""
    made = House(tmp_path_factory.mktemp("house"))
    made.add(campus(), 1200)
    made.add(campus("west"), 800)
    made.add(other_mechanisms(), 900)
    made.add(campus("private"), 40, public=False)
    yield made
    made.store.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[House]:
    """An empty server of one's own."""
    made = House(tmp_path)
    yield made
    made.store.close()


def rounds(node: Node) -> bool:
    """Whether the text of a number is the number itself, to as many digits as it has; shares are in percent."""
    text, number = node.text, float(node.attributes["value"])
    match = ROUNDED.match(text)
    assert match, text
    seen = float(match[0].replace("−", "-").replace(",", ""))
    half = 0.5 * 10.0 ** -len(match[1] or "") * (1 + 1e-9)
    return min(abs(seen - number), abs(seen - 100 * number)) <= half


def told(row: Node) -> dict[str, Any]:
    """The numbers of a row, by the API's names."""
    return {one.attributes["data-key"]: float(one.attributes["value"]) for one in row.all("data", data_key=None)}


def same(row: Node, line: Line, keys: Sequence[str] = NUMBERS) -> None:
    """A row says what a line of the API says: each number exactly, each text its rounding."""
    numbers = {key: line[key] for key in keys if isinstance(line[key], int | float)}
    assert told(row) == {key: value for key, value in numbers.items() if not math.isnan(value)}
    assert all(rounds(one) for one in row.all("data"))
    if "coverage" in keys:
        assert line["coverage"] in [cell.text for cell in row.all("td")]


QUERIES = [
    "",
    "?confidence=0.8&simultaneous=1",
    "?narrow=1&confidence=0.99",
    "?population=5000",
    "?target=sample&view=table",
]


@pytest.mark.parametrize("slug", ["campus", "others"])
@pytest.mark.parametrize("query", QUERIES)
def test_every_number_on_the_page_is_the_apis(house: House, slug: str, query: str) -> None:
    page = house.page(f"/results/{slug}{query}")
    document = json.loads(house.get(f"/api/surveys/{slug}/results{query}").text)
    assert page.one("data", data_key="reports").attributes["value"] == str(document["reports"])
    seen = 0
    for part in document["questions"]:
        section = page.one("section", id=f"q-{part['id']}")
        for kind in LISTS:
            found = section.all("tbody", data_list=kind)
            assert len(found) == bool(part.get(kind))
            rows = [row for body in found for row in body.all("tr")]
            wanted = part.get(kind, [])
            assert [row.attributes["data-option"] for row in rows] == [line["option"] for line in wanted]
            for row, line in zip(rows, wanted, strict=True):
                same(row, line)
                seen += 1
        levels = {one["level"]: one["options"] for one in part.get("quantiles", [])}
        told_levels = {
            float(one.attributes["data-quantile"]): [member.text for member in one.all("span", class_="member")]
            for one in section.all("div", data_quantile=None)
        }
        assert told_levels == levels
    bodies = page.all("tbody", data_list="joint")
    assert len(bodies) == len(document["joint"])
    for body, part in zip(bodies, document["joint"], strict=True):
        for row, line in zip(body.all("tr"), part["estimates"], strict=True):
            assert [head.text for head in row.all("th")] == line["options"]
            same(row, line)
            seen += 1
    assert seen == sum(
        len(part.get(kind, [])) for part in [*document["questions"], *document["joint"]] for kind in LISTS
    )
    assert seen > 40


def test_a_wrong_number_would_be_noticed(house: House) -> None:
    page = house.page("/results/campus")
    line = json.loads(house.get("/api/surveys/campus/results").text)["questions"][0]["estimates"][0]
    row = page.all("tbody", data_list="estimates")[0].all("tr")[0]
    same(row, line)
    with pytest.raises(AssertionError):
        same(row, {**line, "low": line["low"] + 1e-9})
    row.one("data", data_key="high").children = ["99.99%"]
    with pytest.raises(AssertionError):
        same(row, line)


def drawing(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  our own text


def shown_intervals(page: Node) -> int:
    """How many intervals the page says that it shows."""
    found = re.search(r"([\d,]+) intervals of [\d.]+% are shown", page.one("ul", id="live-cautions").text)
    assert found
    return int(found[1].replace(",", ""))


def plot_rows(picture: Node) -> list[str]:
    """What a plot says of each of its rows."""
    return [group.all("title")[0].text for group in picture.all("g", class_="row")]


def said_by(row: Node, low: str, high: str) -> str:
    """What a plot should say of a row of the table."""
    texts = {one.attributes["data-key"]: one.text for one in row.all("data")}
    return f"{row.attributes['data-option']}: {texts['estimate']}, {texts[low]} to {texts[high]}"


@pytest.mark.parametrize("slug", ["campus", "others"])
@pytest.mark.parametrize("query", ["", "?confidence=0.8", "?target=sample"])
def test_the_table_and_the_plot_say_the_same(house: House, slug: str, query: str) -> None:
    page = house.page(f"/results/{slug}{query}")
    sample = 0
    for section in page.all("section", class_="question"):
        wanted: dict[str, list[str]] = {"mean": [], "share": []}
        for row in section.one("tbody", data_list="estimates").all("tr"):
            ends = ("low", "high")
            if "sample" in query and "sample_low" in told(row):
                ends, sample = ("sample_low", "sample_high"), sample + 1
            wanted["mean" if row.attributes["data-kind"] == "mean" else "share"].append(said_by(row, *ends))
        pictures = section.all("svg")
        assert len(pictures) == sum(bool(lines) for lines in wanted.values())
        for picture, rows in zip(pictures, [rows for rows in (wanted["share"], wanted["mean"]) if rows], strict=True):
            # where n differs by row, the plot says it too
            assert [row.split("; n =")[0] for row in plot_rows(picture)] == rows
            labels = [picture.one(id=name).text for name in picture.attributes["aria-labelledby"].split()]
            assert picture.attributes["role"] == "img"
            assert rows[0] in labels[1]  # the text alternative reads the same numbers
    assert (sample > 0) == ("sample" in query and slug == "campus")


@pytest.mark.parametrize("slug", ["campus", "others"])
def test_each_plot_is_a_file_that_says_the_same(house: House, slug: str) -> None:
    page = house.page(f"/results/{slug}?confidence=0.9&rows=fair&columns={'cheated' if slug == 'campus' else 'age'}")
    figures = page.all("figure")
    assert len(figures) >= 8
    for figure in figures:
        address = figure.one("a").attributes["href"]
        answer = house.get(address)
        assert answer.content_type == "image/svg+xml"
        name = re.fullmatch(r'attachment; filename="([a-z0-9_-]+\.svg)"', answer.headers["Content-Disposition"])
        assert name and name[1].startswith(f"{slug}-")
        alone = drawing(answer.text)
        assert alone.find("{http://www.w3.org/2000/svg}style") is not None
        titles = [
            one.findtext("{http://www.w3.org/2000/svg}title")
            for one in alone.iter("{http://www.w3.org/2000/svg}g")
            if one.get("class") == "row"
        ]
        assert titles == plot_rows(figure.one("svg"))
    house.get(f"/results/{slug}/plots/nothing.svg", 404)
    house.get(f"/results/{slug}/plots/fair.svg?confidence=7", 400)


def test_what_the_noise_did_is_told_once_with_its_numbers(house: House) -> None:
    page = house.page("/results/campus")
    (section,) = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == "noise"]
    yes = json.loads(house.get("/api/surveys/campus/results").text)["questions"][0]["estimates"][1]
    assert f"{100 * yes['reported']:.1f}%" in section.text
    assert "25.0% would still be sent; if everybody had it, about 75.0%" in section.text
    assert f"= {100 * yes['unbiased']:.1f}%".replace("-", "−") in section.text
    rows = plot_rows(section.one("svg"))
    assert f"reported {100 * yes['reported']:.1f}%" in rows[1]


def test_a_reader_may_choose_the_intervals_without_scripts(house: House) -> None:
    page = house.page("/results/campus?confidence=0.99&simultaneous=1&target=sample&population=2000&view=table")
    form = page.all("form")[0]
    assert form.attributes["method"] == "get"
    chosen = [option.attributes["value"] for option in form.all("option", selected=None)]
    assert chosen == ["0.99", "sample"]
    assert [option.text for option in form.all("select")[0].all("option")] == ["80%", "90%", "95%", "99%"]
    assert [box.attributes["name"] for box in form.all("input", checked=None)] == ["simultaneous", "view"]
    assert form.one("input", name="population").attributes["value"] == "2000"
    assert all("open" in details.attributes for details in page.all("details"))
    assert "these 1,200 respondents" in page.one("p", class_="target").text
    plain = house.page("/results/campus")
    assert not any("open" in details.attributes for section in plain.all("section", class_="question")
                   for details in section.all("details"))  # fmt: skip
    assert "random sample of" in plain.one("p", class_="target").text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("confidence=high", "A confidence level is a number from 0.5 to 0.9999"),
        ("confidence=2", "A confidence level"),
        ("confidence=nan", "A confidence level"),
        ("population=many", "A population is a number of people"),
        ("population=10", "1,200 reports cannot come from 10 people"),
        ("population=-5", "A population is a number"),
        ("population=" + "9" * 5000, "A population is a number"),
        ("target=everybody", "The target is"),
        ("view=upside", "The view is"),
        ("rows=cheated", "needs two questions"),
        ("rows=cheated&columns=cheated", "choose two different questions"),
        ("rows=cheated&columns=nothing", "there is no question"),
        ("rows=cheated&columns=hours", "hours is a number without bins"),
        ("with=nowhere", "There is no survey “nowhere” whose results you may see"),
        ("with=private", "There is no survey “private” whose results you may see"),
        ("with=others", "do not ask the same questions"),
        (urlencode({"with": EVIL, "rows": EVIL, "columns": "fair"}), "There is no survey"),
        (urlencode([("with", f"s{i}") for i in range(20)]), "At most 12"),
    ],
)
def test_a_bad_choice_is_a_message_on_a_page_that_still_shows_the_results(
    house: House, query: str, message: str
) -> None:
    page = house.page(f"/results/campus?{query}", 400)
    assert message in page.one(role="alert").text
    assert len(page.all("section", class_="question")) == 8
    assert not [one for one in page.all("script") if "src" not in one.attributes]


def test_empty_fields_of_the_form_are_no_choices(house: House) -> None:
    house.page("/results/campus?confidence=0.95&target=population&population=&rows=&columns=&with=")


@pytest.mark.parametrize("pair", [("cheated", "fair"), ("help", "fair"), ("why", "used"), ("income", "cheated")])
def test_a_cross_tab_is_the_apis(house: House, pair: tuple[str, str]) -> None:
    query = urlencode({"rows": pair[0], "columns": pair[1], "confidence": "0.9"})
    page = house.page(f"/results/campus?{query}")
    document = json.loads(house.get(f"/api/surveys/campus/crosstab?{query}").text)
    for kind in ("estimates", "within_rows", "differences"):
        body = page.one("tbody", id=f"cross-{kind}")
        cells = [cell for row in body.all("tr") for cell in row.all("td")]
        assert len(cells) == len(document[kind])
        for cell, line in zip(cells, document[kind], strict=True):
            assert cell.attributes["data-option"] == " + ".join(line["options"])
            same(cell, line, ("estimate", "low", "high"))
    test = page.one("p", data_test=None)
    found = told(test)
    assert {key: found[key] for key in ("statistic", "df", "p_value", "n")} == {
        key: document["test"][key] for key in ("statistic", "df", "p_value", "n")
    }
    assert document["test"]["name"][1:] in test.text
    alone, together = (shown_intervals(house.page(f"/results/campus{end}")) for end in ("?confidence=0.9", f"?{query}"))
    assert together - alone == sum(len(document[kind]) for kind in ("estimates", "within_rows", "differences"))
    titles = plot_rows(page.one("div", id=f"live-{pair[0]}-crosstab").one("svg"))
    assert len(titles) == len([line for line in document["within_rows"]])
    answer = house.get(f"/results/campus/crosstab.csv?{query}")
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows[0] == ["list", *pair, *NUMBERS]
    assert len(rows) == 1 + sum(len(document[kind]) for kind in ("estimates", "within_rows", "differences"))
    assert f'filename="campus-{pair[0]}-by-{pair[1]}.csv"' in answer.headers["Content-Disposition"]
    house.get("/results/campus/crosstab.csv?rows=cheated&columns=hours", 400)


def test_a_cross_tab_of_too_many_reports_is_left_to_the_command(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_SCANNED_FOR_ANYONE", 100)
    page = house.page("/results/campus?rows=cheated&columns=fair&confidence=0.77", 400)
    assert "the command candor crosstab does it" in page.one(role="alert").text


def test_surveys_stand_side_by_side(house: House) -> None:
    page = house.page("/results/campus?with=west&confidence=0.9&simultaneous=1")
    studies = [
        (one.survey, house.store.snapshot(one)) for slug in ("campus", "west") if (one := house.store.newest(slug))
    ]
    document = groups_document(studies, Options(0.9, simultaneous=True))
    for place, question in enumerate(campus().questions):
        body = page.one("tbody", data_question=question.id)
        rows = body.all("tr")
        parts = [stratum["questions"][place]["estimates"] for stratum in document["strata"]]
        differences = document["differences"][0]["questions"][place]["estimates"]
        assert len(rows) == len(parts[0]) == len(differences)
        for row, *beside in zip(rows, *parts, differences, strict=True):
            cells = row.all("td")
            for cell, line in zip(cells[:2], beside[:2], strict=True):
                same(cell, line, ("estimate", "low", "high", "n"))
            same(cells[2], beside[2], ("estimate", "low", "high"))
    assert len(page.one("div", id="live-cheated-strata").one("svg").all("g", class_="row")) == 4
    for figure in page.all("figure"):
        house.get(figure.one("a").attributes["href"])


def test_the_owner_is_offered_surveys_with_the_same_questions(house: House) -> None:
    page = house.page("/results/campus", name="ada")
    offered = [box.attributes["value"] for box in page.all("input", name="with", type="checkbox")]
    assert offered == ["private", "west"]
    assert not house.page("/results/campus").all("input", name="with", type="checkbox")
    page = house.page("/results/campus?with=private", name="ada")
    assert page.one("tbody", data_question="cheated")


def test_a_population_smaller_than_another_survey_is_a_message(fresh: House) -> None:
    fresh.add(campus(), 40)
    fresh.add(campus("west"), 400)
    page = fresh.page("/results/campus?with=west&population=100", 400)
    assert "has more than 100 reports" in page.one(role="alert").text


def test_who_may_see_what(house: House) -> None:
    assert house.page("/results/private", name="ada").one("h1").text == "Campus life"
    page = house.page("/results/private", 403, name="bob")
    assert "These results are private" in page.one("h1").text
    assert "bob" in page.text
    answer = house.get("/results/private?confidence=0.9&rows=fair", 302)
    where = urlsplit(answer.headers["Location"])
    assert where.path == "/login"
    assert parse_qs(where.query)["next"] == ["/results/private?confidence=0.9&rows=fair"]
    with_token = {"Authorization": f"Bearer {TOKEN}"}
    assert house.client().get("/results/private", headers=with_token).status_code == 200
    assert house.client().get("/results/private.csv", headers=with_token).status_code == 200
    assert house.client().get("/results/private", headers={"Authorization": f"Bearer {'x' * 43}"}).status_code == 401
    for address in ("/results/private.csv", "/results/private/plots/fair.svg", "/results/private/crosstab.csv"):
        house.get(address, 302)
        house.get(address, 403, name="bob")
    assert json.loads(house.get("/results/private/count", 401).text)["code"] == "unauthorized"
    house.get("/results/private/count", 403, name="bob")
    assert "Set-Cookie" not in house.get("/results/campus").headers


def test_signing_in_leads_back_to_the_results(house: House) -> None:
    client = house.app.test_client()
    target = client.get("/results/private?confidence=0.9").headers["Location"]
    answer = client.post(target, data={"name": "ada", "password": PASSWORD})
    assert answer.headers["Location"] == "/results/private?confidence=0.9"


def test_the_page_obeys_the_strict_policy(house: House) -> None:
    answer = house.get("/results/campus?rows=cheated&columns=fair&with=west")
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self'; style-src 'self'" in policy and "unsafe" not in policy
    assert answer.headers["Cache-Control"] == "no-store"
    page = parse(answer.text)
    assert all(one.attributes.get("src", "").startswith("/") for one in page.all("script"))
    everything = page.all()
    assert not [one for one in everything if "style" in one.attributes or one.tag == "style"]
    assert not [key for one in everything for key in one.attributes if key.startswith("on")]
    assert "@media screen and (prefers-color-scheme:dark)" in house.get("/static/charts.css").text


@pytest.mark.parametrize("address", ["/results/campus?rows=help&columns=fair&with=west&view=table", "/results/others"])
def test_ids_are_unique_and_headings_in_order(house: House, address: str) -> None:
    page = house.page(address, name="ada")
    ids = [one.attributes["id"] for one in page.all(id=None)]
    assert len(ids) == len(set(ids))
    known = set(ids)
    for one in page.all():
        for key in ("aria-labelledby", "aria-describedby", "for"):
            assert set(one.attributes.get(key, "").split()) <= known
    for link in page.all("a"):
        if link.attributes["href"].startswith("#"):
            assert link.attributes["href"][1:] in known
    heads = [int(one.tag[1]) for one in page.all("h1", "h2", "h3", "h4")]
    assert heads[0] == 1 and heads.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(heads))


def evil() -> dict[str, Any]:
    """Everything an author writes, hostile; options that a spreadsheet would run."""
    texts = [f"{mark}{EVIL}" for mark in ("=1+", "+", "-", "@", "")]
    pick = {"id": "pick", "type": "choice", "text": EVIL, "options": texts}
    many = {"id": "many", "type": "multiple", "text": EVIL + " ", "options": texts[:3]}
    points = {"id": "rate", "type": "scale", "text": EVIL, "points": texts[:3], "scores": [-3, -2, -1]}
    amount = number("amount", unit=EVIL, min=-6, max=0) | {"text": EVIL}
    questions: list[dict[str, Any]] = [
        pick,
        many,
        points,
        amount,
        yes_no("sure") | {"text": EVIL},
        choice("left", 2) | {"options": texts[:2], "text": EVIL},
    ]
    fields = [
        field(subset(5, 1), "pick"), field(sampled(3, 1), "many"), field(subset(3, 1), "rate"),
        field(subset(2, 1), "amount"), field(subset(4, 1), "sure", "left"),
    ]  # fmt: skip
    return define(
        questions, fields, slug="evil", title=EVIL, description=EVIL, consent=EVIL, contact=EVIL, language="de"
    )


def test_hostile_texts_stay_texts(fresh: House) -> None:
    fresh.add(evil(), 60)
    fresh.add(evil() | {"slug": "twin"}, 60)
    query = "rows=pick&columns=rate&with=twin&view=table"
    html = fresh.get(f"/results/evil?{query}", name="ada").text
    assert "<script>alert" not in html and "<img" not in html
    page = parse(html)
    assert [one.attributes["src"] for one in page.all("script")] == ["/static/results/page.js"]
    assert not page.all("img")
    assert page.one("h1").text == EVIL
    assert page.one("h1").attributes["lang"] == "de"
    assert {one.text for one in page.one("tbody", id="t-pick").all("th")} == set(evil()["questions"][0]["options"])
    for figure in page.all("figure"):
        picture = drawing(fresh.get(figure.one("a").attributes["href"], name="ada").text)
        names = {one.tag.rpartition("}")[2] for one in picture.iter()}
        assert not names & {"script", "img", "image", "foreignObject"}
        assert EVIL in (picture.findtext("{http://www.w3.org/2000/svg}title") or "")
    for page in (fresh.page("/results/evil", name="bob"), fresh.page("/results/evil?confidence=x", 400)):
        assert len(page.all("script")) == 1


def test_csv_texts_are_no_formulas_and_numbers_stay_numbers(fresh: House) -> None:
    fresh.add(evil(), 60)
    for address in ("/results/evil.csv", "/results/evil/crosstab.csv?rows=pick&columns=rate"):
        rows = list(csv.DictReader(io.StringIO(fresh.get(address).text)))
        assert any(EVIL in cell for row in rows for cell in row.values())
        negative = 0
        for row in rows:
            for key, cell in row.items():
                if key in NUMBERS and key not in ("kind", "coverage") and cell:
                    negative += float(cell) < 0
                else:
                    assert not cell.startswith(("=", "+", "-", "@"))
        assert negative > 0


def test_the_csv_has_every_line_of_the_api(house: House) -> None:
    answer = house.get("/results/campus.csv?confidence=0.8")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="campus-results.csv"'
    assert answer.content_type.startswith("text/csv")
    rows = iter(csv.DictReader(io.StringIO(answer.text)))
    document = json.loads(house.get("/api/surveys/campus/results?confidence=0.8").text)
    for part in [*document["questions"], *document["joint"]]:
        for kind in LISTS:
            for line in part.get(kind, []):
                row = next(rows)
                assert row["list"] == kind
                for key in NUMBERS:
                    assert row[key] == ("" if line[key] is None else str(line[key]))
    assert not list(rows)
    house.get("/results/campus.csv?confidence=5", 400)


def test_the_owner_takes_noisy_bits_and_the_log_keeps_it(fresh: House) -> None:
    published = fresh.add(campus(), 3 * STEP + 7)
    with shown(fresh.store, published) as (tally, rows):
        chunks = list(rows)
    assert tally.reports == 3 * STEP + 7
    before = len(fresh.store.events(fresh.ada.key))
    answer = fresh.get("/results/campus/reports.csv", name="ada")
    assert answer.data == b"".join(csv_chunks(published.survey, chunks))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="campus-reports.csv"'
    answer = fresh.get("/results/campus/reports.ndjson", name="ada")
    assert answer.data == b"".join(ndjson_chunks(published.survey, tally.reports, chunks))
    answer = fresh.get("/results/campus/reports.parquet", name="ada")
    table = pyarrow.parquet.read_table(io.BytesIO(answer.data))
    assert table.num_rows == tally.reports
    assert table.schema.metadata[b"candor.digest"].decode() == published.survey.digest
    events = fresh.store.events(fresh.ada.key, "campus")
    assert [event.what for event in events[:3]] == [
        f"exported noisy bits as {kind}" for kind in ("parquet", "ndjson", "csv")
    ]
    assert len(fresh.store.events(fresh.ada.key)) == before + 3
    assert fresh.client("ada").head("/results/campus/reports.csv").status_code == 200
    fresh.get("/results/campus/reports.csv", 403, name="bob")
    fresh.get("/results/campus/reports.csv", 302)
    fresh.get("/results/campus/reports.exe", 404, name="ada")
    assert len(fresh.store.events(fresh.ada.key)) == before + 3
    assert fresh.page("/results/campus", name="ada").text.count("Noisy bits as") == 3
    assert "Noisy bits as" not in fresh.page("/results/campus", name="bob").text


def test_reports_that_wait_for_their_step_are_not_exported(fresh: House) -> None:
    published = fresh.add(campus())
    for count in (STEP, 5):
        for _ in range(count):
            fill(fresh.store, published, 1)
    lines = fresh.get("/results/campus/reports.ndjson", name="ada").data.splitlines()
    assert len(lines) == 1 + STEP


def test_without_pyarrow_parquet_is_not_offered(fresh: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    fresh.add(campus(), 40)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "Parquet" not in fresh.page("/results/campus", name="ada").one("section", aria_labelledby="downloads").text
    page = fresh.page("/results/campus/reports.parquet", 400, name="ada")
    assert "needs pyarrow" in page.text
    assert not [event for event in fresh.store.events(fresh.ada.key) if "parquet" in event.what]


def test_every_state_has_a_page_of_its_own(fresh: House) -> None:
    fresh.add(campus("empty"))
    page = fresh.page("/results/empty")
    assert "No results yet" in page.text and "/s/empty" in page.text
    assert not page.all("svg")
    fresh.add(campus("few"), 1, close=True)
    assert "closed with one report" in fresh.page("/results/few").text
    fresh.add(campus("none"), close=True)
    assert "closed with no report" in fresh.page("/results/none").text
    fresh.add(campus("later"), opens=now() + timedelta(days=1))
    assert "Not open yet" in fresh.page("/results/later").text
    fresh.add(campus("closed"), 33, close=True)
    page = fresh.page("/results/closed")
    assert "These figures are final" in page.text
    assert "data-count" not in page.one(id="page").attributes
    fresh.add(campus("full"), 30, max_reports=30)
    page = fresh.page("/results/full")
    assert "all the reports it wants" in page.text and "closes with 30 reports" in page.text
    assert "data-count" not in page.one(id="page").attributes
    fresh.add(campus("draft"), state=State.READY)
    for slug in ("draft", "nothing", "No%20Slug"):
        page = fresh.page(f"/results/{slug}", 404)
        assert "There are no results here" in page.one("h1").text
        fresh.page(f"/results/{slug}", 404, name="ada")
    fresh.get("/results/nothing.csv", 404)


def test_one_report_of_an_open_survey_shows_nothing(fresh: House) -> None:
    fresh.add(campus(), 1)
    assert "No results yet" in fresh.page("/results/campus").text


def test_an_older_version_says_so(fresh: House) -> None:
    first = fresh.add(define([yes_no()], [field(COIN, "cheated")]), 40)
    fresh.add(define([yes_no() | {"text": "Again?"}], [field(COIN, "cheated")]), 20)
    page = fresh.page(f"/results/exam?digest={first.survey.digest}")
    assert "older version" in page.text
    assert page.one("data", data_key="reports").text == "40"
    link = next(a for a in page.all("a") if "CSV" in a.text)
    assert f"digest={first.survey.digest}" in link.attributes["href"]
    kept = [one.attributes["value"] for one in page.all("input", type="hidden", name="digest")]
    assert kept == [first.survey.digest] * 3  # every form stays with this version
    assert "older version" not in fresh.page("/results/exam").text
    fresh.page("/results/exam?digest=00", 404)


def test_a_question_that_too_few_were_asked_says_so(fresh: House) -> None:
    """With ask, one of two fields may have no report at all; the page tells and still shows the other."""
    made = fresh.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1))
    first_asked = bytes([0b11000000])
    fresh.store.write([Submission(made.key, secrets.token_bytes(16), first_asked) for _ in range(STEP)].copy)
    page = fresh.page("/results/exam")
    assert page.one("section", id="q-a").all("svg")
    assert "Not enough reports" in page.one("section", id="q-b").text


def test_new_reports_show_at_their_step(fresh: House) -> None:
    published = fresh.add(campus(), STEP)
    seen = []
    for _ in range(2):
        page = fresh.page("/results/campus")
        seen.append(page.one("data", data_key="reports").text)
        assert json.loads(fresh.get("/results/campus/count").text) == {"reports": int(seen[-1]), "state": "open"}
        fill(fresh.store, published, STEP)
    assert seen == ["20", "40"]


def test_the_page_reads_the_tally_and_no_bits(fresh: House, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.add(campus(), 100)

    def never(*_: Any) -> Iterator[Any]:
        raise AssertionError("the page scans")
        yield

    monkeypatch.setattr(SqliteStore, "scan", never)
    fresh.page("/results/campus?with=&target=sample")
    fresh.page("/results/campus?rows=help&columns=fair")  # a joint field needs no scan either
    fresh.page("/results/campus?rows=cheated&columns=fair", 500)


def test_a_choice_with_a_thousand_options_stays_usable(fresh: House) -> None:
    fresh.add(define([choice("town", 1000)], [field(subset(1000, 30, 2**62), "town")]), 400)
    page = fresh.page("/results/exam")
    assert len(page.one("tbody", id="t-town").all("tr")) == 1000
    picture = page.one("div", id="live-town").one("svg")
    assert len(picture.all("g", class_="row")) == MOST_PLOTTED
    assert f"The {MOST_PLOTTED} largest of 1,000; the table has all." in picture.text
    values = {row.attributes["data-option"]: told(row)["estimate"] for row in page.one("tbody", id="t-town").all("tr")}
    drawn = [title.split(":")[0] for title in plot_rows(picture)]
    assert min(values[name] for name in drawn) >= sorted(values.values())[-MOST_PLOTTED]


def test_a_survey_with_a_hundred_questions_has_contents_and_all_of_them(fresh: House) -> None:
    questions = [yes_no(f"q{i}") if i % 2 else scale(f"q{i}") for i in range(100)]
    fields = [field(COIN if i % 2 else subset(3, 1), f"q{i}") for i in range(100)]
    fresh.add(define(questions, fields), 60)
    page = fresh.page("/results/exam")
    sections = page.all("section", class_="question")
    assert [one.attributes["id"] for one in sections] == [f"q-q{i}" for i in range(100)]
    assert all(one.all("svg") and one.all("tbody") for one in sections)
    links = [one.attributes["href"] for one in page.one("nav").one("ol").all("a")]
    assert links == [f"#q-q{i}" for i in range(100)]


def scripted(site: Site, count: int = 400) -> Published:
    """The campus on the site, open, with some reports."""
    published = site.add(campus())
    fill(site.store, published, count)
    return published


def test_in_the_browser_a_reader_changes_the_confidence_and_crosses_two_questions(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser) as device:
        page = device.open(f"{site.origin}/results/campus")
        assert not page.locator("#t-cheated").is_visible()
        page.locator("#q-cheated summary").click()
        wide = page.inner_text("#t-cheated tr:nth-child(2) td:nth-child(3)")
        page.select_option("#confidence", "0.8")
        page.click("text=Show >> visible=true")
        page.wait_for_url("**confidence=0.8**")
        page.locator("#q-cheated summary").click()
        narrow = page.inner_text("#t-cheated tr:nth-child(2) td:nth-child(3)")
        assert wide != narrow and "80% interval" in page.inner_text("#q-cheated thead")
        page.select_option("#rows", "cheated")
        page.select_option("#columns", "fair")
        page.get_by_role("button", name="Cross").click()
        page.wait_for_url("**rows=cheated**columns=fair**")
        assert "confidence=0.8" in page.url
        assert page.locator("#cross-within_rows td").count() == 6
        assert "p" in page.inner_text("[data-test]")
        with page.expect_download() as kept:
            page.get_by_role("link", name="Results as CSV").click()
        assert kept.value.suggested_filename == "campus-results.csv"
        assert {urlsplit(one.url).netloc for one in device.requests} == {urlsplit(site.origin).netloc}
        assert device.complaints == []


def test_in_the_browser_the_page_follows_new_reports_without_a_reload(site: Site, browser: Browser) -> None:
    published = scripted(site, 2 * STEP)
    hide = "let gone = false; Object.defineProperty(document, 'hidden', {get: () => gone}); window.hide = (x) => { gone = x; };"
    with visit(browser, init=hide, **PHONE) as device:
        device.page.clock.install()
        page = device.open(f"{site.origin}/results/campus")
        page.evaluate("window.mine = true")
        page.locator("#q-help summary").click()
        page.locator("#q-help summary").focus()
        page.evaluate("scrollTo(0, document.getElementById('q-help').offsetTop)")
        place = page.evaluate("scrollY")
        old = page.inner_html("#live-cheated")
        asked = len(site.received)
        with page.expect_response("**/count"):
            page.clock.run_for(10_000)
        assert page.inner_text("#news") == ""
        fill(site.store, published, STEP)
        page.evaluate("hide(true)")
        page.clock.run_for(60_000)
        assert page.inner_text("#news") == ""  # nobody looks, so nothing is asked
        assert len([one for one in site.received[asked:] if "/count" in one.path]) == 1
        page.evaluate("hide(false); document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#news")).to_contain_text("60 reports")
        assert page.locator("#news").get_attribute("role") == "status"
        assert page.inner_text("[data-key=reports]") == "60"
        assert page.inner_html("#live-cheated") != old
        assert "n = 60" in page.inner_text("#live-cheated")
        assert page.locator("#t-help").is_visible()
        assert page.evaluate("document.activeElement.closest('#q-help') !== null")
        assert abs(page.evaluate("scrollY") - place) < 60
        assert page.evaluate("window.mine") is True
        site.store.set_state(published, State.CLOSED)
        page.clock.run_for(10_000)
        expect(page.locator("#news")).to_have_text("Final: 60 reports.")
        asked = len(site.received)
        page.clock.run_for(60_000)
        assert len(site.received) == asked
        assert device.complaints == []


def test_in_the_browser_an_empty_page_comes_to_life(site: Site, browser: Browser) -> None:
    published = site.add(campus())
    with visit(browser) as device:
        device.page.clock.install()
        page = device.open(f"{site.origin}/results/campus")
        assert "No results yet" in device.text()
        fill(site.store, published, STEP)
        page.clock.run_for(10_000)
        page.wait_for_selector("#live-cheated svg")
        assert "20 reports" in page.inner_text("#news")
        site.intercept = lambda request: (503, "text/plain", b"") if "/count" in request.path else None
        page.clock.run_for(10_000)
        expect(page.locator("#news")).to_contain_text("does not answer")
        site.intercept = lambda request: (404, "text/plain", b"") if "/count" in request.path else None
        page.clock.run_for(10_000)
        expect(page.locator("#news")).to_contain_text("no longer")


def test_in_the_browser_it_prints(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser, color_scheme="dark") as device:
        page = device.open(f"{site.origin}/results/campus?rows=cheated&columns=fair")
        printed = page.pdf(format="A4", prefer_css_page_size=True)
        assert printed.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
        page.emulate_media(media="print")
        for hidden in (".controls", ".contents", "figcaption", "#downloads", "#news", "#copy"):
            assert not any(one.is_visible() for one in page.locator(hidden).all())
        assert page.locator("#q-cheated svg").is_visible() and page.locator("#paragraph").is_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
        ink = page.evaluate("getComputedStyle(document.querySelector('.chart text')).fill")
        assert ink == "rgb(29, 35, 39)"  # dark on light, also for who reads light on dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_the_browser_axe_finds_nothing_and_nothing_sticks_out(site: Site, browser: Browser, scheme: str) -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitän" * 5
    fair = scale(optional=True) | {"text": long, "points": ["no", long, "yes"]}
    questions = [yes_no(), fair, number("age", bins=3, max=8), number(), choice()]
    fields = [
        field(COIN, "cheated"), field(subset(12, 1), "fair", "help"), field(subset(3, 1), "age"),
        field(subset(2, 1), "hours"),
    ]  # fmt: skip
    for slug in ("exam", "west"):
        fill(site.store, site.add(define(questions, fields, slug=slug)), 200)
    site.add(campus("empty"))
    addresses = ["exam?rows=cheated&columns=fair&with=west&view=table&confidence=7", "empty", "nothing"]
    with visit(browser, color_scheme=scheme, bypass_csp=True, **PHONE) as device:
        for address in addresses:
            page = device.open(f"{site.origin}/results/{address}")
            assert overflows(page) == []
            assert violations(page) == []


def test_in_the_browser_the_keyboard_is_enough(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser) as device:
        page = device.open(f"{site.origin}/results/campus")
        page.keyboard.press("Tab")
        assert focused(page) == "a"
        press_until(page, "#confidence")
        page.keyboard.press("ArrowUp")
        assert page.input_value("#confidence") == "0.9"
        press_until(page, "button.primary")
        page.keyboard.press("Enter")
        page.wait_for_url("**confidence=0.9**")
        press_until(page, "#q-cheated summary")
        page.keyboard.press("Enter")
        assert page.locator("#t-cheated").is_visible()


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.tagName.toLowerCase()")
    return found


def press_until(page: Page, selector: str) -> None:
    """Go from stop to stop until the focus is there."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached")
