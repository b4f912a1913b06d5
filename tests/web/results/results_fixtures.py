"""A server with surveys to look at, and functions that read the numbers of a page."""

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from candor_client import Survey
from survey_app import create_app
from survey_app.accounts import hash_password, hash_secret
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import build
from survey_app.authoring.terms import Terms
from survey_app.plan.simulated_people import draw_people
from survey_app.results.informativeness import UNINFORMATIVE
from survey_app.store import STEP, PublishedSurvey, State, Store, Submission
from survey_app.store.sqlite import SqliteStore
from tests.browser import CAMPUS
from tests.definitions import (
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)
from tests.fixtures import add as publish
from tests.tree import Node, parse

PASSWORD = "correct horse battery staple"  # noqa: S105  of made-up people
HASH = hash_password(PASSWORD, "ada")
TOKEN = "t" * 43
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;]]>"
ROUNDED = re.compile(r"−?[\d,]+(?:\.(\d+))?")
Line = Mapping[str, Any]
LISTS = ("estimates", "answered", "totals", "cumulative")
NUMBERS = (
    "kind", "n", "estimate", "low", "high", "unbiased", "raw", "reported", "coverage", "sample_low", "sample_high",
    "sample_coverage", "method",
)  # fmt: skip


def campus(slug: str = "campus") -> Survey:
    return build(CAMPUS.read_bytes().replace(b"slug: campus", f"slug: {slug}".encode())).survey


def fill(store: Store, published: PublishedSurvey, count: int) -> None:
    """Store reports of simulated people."""
    rng = np.random.default_rng()
    for rows in reports(published.survey, draw_people(published.survey, {}, count, rng), rng):
        made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
        store.write(made.copy)


class Installation:
    """A server with surveys of ada's; bob has none."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "candor.db")
        config = {"RATE_LIMIT": "off", "LOGIN_LIMIT": "off", "WTF_CSRF_ENABLED": False}
        self.app: Flask = create_app(config, self.store)
        self.ada, self.bob = (self.store.add_user(name, HASH) for name in ("ada", "bob"))
        self.store.add_token(self.ada, hash_secret(TOKEN))
        self._clients: dict[str, FlaskClient] = {}

    def add(
        self, made: Survey | dict[str, Any], count: int = 0, *, close: bool = False, **settings: Any
    ) -> PublishedSurvey:
        """Publish a survey whose results show so many reports; while it is open, one more step of reports comes in."""
        kept = {key: settings.pop(key) for key in ("owner", "state") if key in settings}
        parsed, terms = survey(made) if isinstance(made, dict) else made, Terms(**{"public": True, **settings})
        published = publish(self.store, parsed, terms, **{"owner": self.ada.key, **kept})
        if count >= STEP and not close and terms.max_reports is None:
            count += STEP
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
    """Return a survey with everything that the campus lacks.

    That is: optional drawn options, levels, and a joint field where one question hides the other. Each device answers
    one field, by its chance.
    """
    questions = [
        choice("town", 8), multiple("used", 4, optional=True), number("hours", levels=3, max=6, unit="h"),
        scale("fair", optional=True), choice("left", 3), yes_no("right", show_if={"question": "left", "is": ["option 0"]}),
        number("age", bins=3, max=8, optional=True), number("spend", levels=7, max=6),
    ]  # fmt: skip
    fields = [
        field(subset(8, 2), "town"), field(drawn(5, 2), "used", chance=3), field(subset(3, 1), "hours"),
        field(subset(4, 2), "fair"), field(subset(5, 1), "left", "right", chance=2), field(subset(4, 1), "age"),
        field(geometric(7), "spend"),
    ]  # fmt: skip
    return define(questions, fields, slug="others", ask=1)


def is_rounded(node: Node) -> bool:
    """Return whether a number's text is the number itself, rounded to its digits; shares are in percent.

    Where the interval is uninformative, the text has to say so instead.
    """
    text, number = node.text, float(node.attributes["value"])
    if text == UNINFORMATIVE:
        return node.attributes["class"] == "silent"
    match = ROUNDED.match(text)
    assert match, text
    seen = float(match[0].replace("−", "-").replace(",", ""))
    half = 0.5 * 10.0 ** -len(match[1] or "") * (1 + 1e-9)
    return min(abs(seen - number), abs(seen - 100 * number)) <= half


def row_numbers(row: Node) -> dict[str, Any]:
    """Return the numbers of a row, by the API's names."""
    return {one.attributes["data-key"]: float(one.attributes["value"]) for one in row.all("data", data_key=None)}


def check_row(row: Node, line: Line, keys: Sequence[str] = NUMBERS) -> None:
    """Check a row against a line of the API: each number is equal, each text is its rounding."""
    numbers = {key: line[key] for key in keys if isinstance(line.get(key), int | float)}
    assert row_numbers(row) == {key: value for key, value in numbers.items() if not math.isnan(value)}
    assert all(is_rounded(one) for one in row.all("data"))
    if "coverage" in keys:
        assert line["coverage"] in [cell.text for cell in row.all("td")]


def check_group_row(row: Node, line: Line, difference: Line | None = None) -> None:
    """Check the row of a group against its line, and against the difference to the first group."""
    gap = [one for cell in row.all("td", data_difference=None) for one in cell.all("data")]
    own = [one for one in row.all("data") if one not in gap]
    for found, wanted, keys in (
        (own, line, ("estimate", "low", "high", "n")),
        (gap, difference, ("estimate", "low", "high")),
    ):
        expected = [] if wanted is None else [wanted[key] for key in keys]
        assert [float(one.attributes["value"]) for one in found] == expected
        assert all(is_rounded(one) for one in found)


def in_page_order(part: Mapping[str, Any], kind: str) -> list[Line]:
    """Return the lines of a list in the order of the page: yes before no."""
    lines: list[Line] = part.get(kind, [])
    return sorted(lines, key=lambda line: part["type"] == "yes_no" and line["option"] != "yes")


def alert_codes(part: Node) -> list[str]:
    """Return the codes of the messages in the alerts of a page, or of a part of it."""
    return [one.attributes["data-code"] for alert in part.all(role="alert") for one in alert.all("p")]


def hide_numbers(text: str) -> str:
    """Return a text with N for every number, for pages about random reports."""
    return re.sub(r"\d+(?:,\d{3})*(?:\.\d+)?", "N", text)


def parse_svg(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  our own text


def count_intervals(page: Node) -> int:
    """Return how many intervals the page says that it shows."""
    cautions = page.one("ul", id="live-cautions")
    count = int(cautions.attributes["data-intervals"])
    assert f"{count:,} " in cautions.text
    return count


def plot_rows(picture: Node) -> list[str]:
    """Return what a plot says of each of its rows."""
    return [group.all("title")[0].text for group in picture.all("g", class_="row")]


def describe_row(row: Node, low: str, high: str) -> str:
    """Return what a plot should say of a row of the table."""
    texts = {one.attributes["data-key"]: one.text for one in row.all("data")}
    return f"{row.attributes['data-option']}: {texts['estimate']}, {texts[low]} to {texts[high]}"


def hostile_survey() -> dict[str, Any]:
    """Return a survey whose author's texts are all hostile; some options would run in a spreadsheet."""
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
        field(subset(5, 1), "pick"), field(drawn(3, 2), "many"), field(subset(3, 1), "rate"),
        field(subset(2, 1), "amount"), field(subset(4, 1), "sure", "left"),
    ]  # fmt: skip
    return define(
        questions, fields, slug="evil", title=EVIL, description=EVIL, consent=EVIL, contact=EVIL, language="de"
    )
