"""The form in a browser: a survey with every type of question, and functions that answer it."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.definitions import COIN, define, drawn, field, number, subset, yes_no

MARKS = [f"mark{letter}{letter}7f3a91" for letter in "abcdef"]

NUMBER = "738291"


def options(name: str, kind: str, *labels: str, **more: Any) -> dict[str, Any]:
    key = "points" if kind == "scale" else "options"
    return {"id": name, "type": kind, "text": f"About {name}?", key: list(labels), **more}


def all_types_survey(**more: Any) -> dict[str, Any]:
    """Return a definition with a question of every type, with unique words, one of them conditional."""
    return define(
        [
            yes_no() | {"text": "Did you copy?"},
            options("why", "choice", MARKS[0], MARKS[1], show_if={"question": "cheated", "is": ["yes"]}),
            options("fair", "scale", "Disagree", MARKS[2]),
            options("used", "multiple", MARKS[3], MARKS[4], MARKS[5]),
            number("spent", max=999_999, unit="coins"),
            options("help", "choice", "none", "notes", optional=True),
        ],
        [
            field(COIN, "cheated"), field(subset(3, 1), "why"), field(subset(2, 1), "fair"),
            field(drawn(3, 1), "used"), field(subset(2, 1), "spent"), field(subset(3, 1), "help"),
        ],
        **({"epsilon": 10, "title": "Everything"} | more),
    )  # fmt: skip


def option(page: Page, label: str) -> Locator:
    return page.get_by_label(label, exact=True)


def click(page: Page, target: Locator) -> None:
    target.click()


def press(page: Page, target: Locator) -> None:
    """Reach something with the Tab and arrow keys alone, and press it."""
    wanted = target.element_handle()
    reached = "wanted => document.activeElement === wanted"
    for _ in range(80):
        if page.evaluate(reached, wanted):
            break
        group = "wanted => document.activeElement.type === 'radio' && document.activeElement.name === wanted.name"
        page.keyboard.press("ArrowDown" if page.evaluate(group, wanted) else "Tab")
    assert page.evaluate(reached, wanted), f"no key leads to {target}"
    if wanted.get_attribute("type") != "radio" or not wanted.is_checked():
        page.keyboard.press("Space")


Hand = Callable[[Page, Locator], None]


def fill(page: Page, hand: Hand = click) -> None:
    """Answer everything on one page."""
    for label in ("Yes", MARKS[1], MARKS[2], MARKS[3], MARKS[5]):
        hand(page, option(page, label))
    box = page.get_by_role("textbox")
    if hand is press:
        while not page.evaluate("wanted => document.activeElement === wanted", box.element_handle()):
            page.keyboard.press("Tab")
    else:
        box.click()
    page.keyboard.type(NUMBER)
    hand(page, option(page, "No answer").last)


def randomize(page: Page, hand: Hand = click) -> None:
    hand(page, page.get_by_role("button", name="Roll the dice"))
    expect(page.get_by_role("heading", name="What will be sent")).to_be_focused()
    expect(page.get_by_role("button", name="Send this")).to_be_enabled()


def send(page: Page, hand: Hand = click) -> None:
    hand(page, page.get_by_role("button", name="Send this"))
    expect(page.get_by_role("heading", name="Thank you. The server has it.")).to_be_focused()


def shown_bytes(page: Page) -> str:
    return page.locator("pre").text_content() or ""


def tokens(text: str) -> list[str]:
    """Return the words of a text for comparison: without commas, case or the spelling of numbers."""
    plain = text.replace("{}", "none of these").replace("none of them", "none of these").lower()
    found = re.findall(r"[^\s{},;()]+", re.sub(r"(\d),(\d)", r"\1\2", plain))
    number = re.compile(r"-?\d+(\.\d+)?")
    return [
        f"{Decimal(one).normalize():f}" if number.fullmatch(one) else one for one in found if one not in ("or", "and")
    ]
