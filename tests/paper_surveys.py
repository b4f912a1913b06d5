"""Surveys for coin and die, and the pages that explain them."""

import html
import re
from typing import Any

from flask.testing import FlaskClient
from playwright.sync_api import Page

from candor_client.sampling import DENOMINATOR
from tests.answers import SMALL
from tests.browser import Visit
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    subset,
    worked_example,
    yes_no,
)

PAGES = ("privacy", "paper", "enter")

DIE = {"kind": "flip", "one": str(DENOMINATOR * 5 // 6), "zero": str(DENOMINATOR // 6 + 1)}


ODD = {"kind": "flip", "one": str(DENOMINATOR * 7 // 10), "zero": str(DENOMINATOR * 3 // 10)}

KINDS = SMALL | {
    "worked": worked_example(),
    "geometric": define([number(levels=3, max=2)], [field(geometric(3), "hours")]),
    "weak": define([yes_no()], [field({"kind": "flip", "one": str(DENOMINATOR - 1), "zero": "1"}, "cheated")]),
    "odd": define([yes_no()], [field(ODD, "cheated")]),
}


def paper_survey(**more: Any) -> dict[str, Any]:
    """Return a survey with two questions for coin and die, and one optional question of every other kind."""
    questions = [
        yes_no("copied", text="Did you copy?"),
        choice("help", optional=True),
        yes_no("bought", text="Did you buy a text?"),
        multiple("used", optional=True),
        number("hours", optional=True),
        choice("why", 20, optional=True),
    ]
    fields = [
        field(COIN, "copied"),
        field(subset(4, 1), "help"),
        field(DIE, "bought"),
        field(drawn(4, 2), "used"),
        field(subset(3, 1), "hours"),
        field(subset(21, 1), "why"),
    ]
    return define(questions, fields) | more


def one_of_three_parts(**more: Any) -> dict[str, Any]:
    """Return a survey that asks one of three parts, one of them not for paper."""
    parts = [yes_no("copied"), yes_no("bought"), choice("help", optional=True)]
    return define(parts, [field(COIN, "copied"), field(DIE, "bought"), field(subset(4, 1), "help")], ask=1) | more


def read_page(web: FlaskClient, page: str, slug: str = "exam", status: int = 200) -> str:
    """Return a page as text, without tags, entities and repeated blanks."""
    response = web.get(f"/s/{slug}/{page}")
    assert response.status_code == status
    body = re.sub(r"<(script|style).*?</\1>", " ", response.text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def spread_cells(page: str) -> str:
    """Return a page with a space between the cells of a table, to be read as text."""
    return re.sub("</t[dh]>", " ", page)


def open_page(device: Visit, url: str) -> Page:
    """Open a page; wait until the interviewer's page has run its script."""
    device.page.goto(url)
    if device.page.locator("#enter").count():
        device.page.locator("#enter:visible, #trouble:visible").first.wait_for()
    return device.page
