"""The form in a browser: a survey with every type of question, and functions that answer it."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from playwright.sync_api import Locator, Page, expect

from candor_client import Survey, question
from tests.definitions import COIN, define, drawn, field, number, subset, yes_no
from tests.words import word

MARKS = [f"mark{letter}{letter}7f3a91" for letter in "abcdef"]

NUMBER = "738291"

NUMERIC = re.compile(r"-?\d+(\.\d+)?")

YES, NO, NO_ANSWER, NONE = (word(f"form.{key}") for key in ("yes", "no", "no_answer", "none"))


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


def text(page: Page | Locator, key: str) -> Locator:
    """Return where the form shows one of its strings, by the string's key: a sentence, a summary, a button."""
    return page.locator(f'[data-text="{key}"]')


def title(page: Page | Locator, key: str) -> Locator:
    """Return the heading of a screen or of a notice by the key of its string, which is the code of an error."""
    return page.get_by_role("heading").and_(text(page, key))


def button(page: Page, key: str, **values: object) -> Locator:
    return page.get_by_role("button", name=word(f"form.{key}", **values), exact=True)


def review_line(answer: str) -> str:
    """Return the begin of a line of the review, with what the respondent answered."""
    return f"{word('form.you')} {answer} → {word('form.sent')}"


def budget(spent: str, on_server: str, *, limits: tuple[str, str] = ("8", "24"), person: int = 0) -> str:
    """Return the summary of the panel about this device: the sums of a survey and of a server, and their limits."""
    device = word("form.device_person", number=person) if person else word("form.device")
    limit, server_limit = limits
    values = {"device": device, "spent": spent, "limit": limit, "server_spent": on_server, "server_limit": server_limit}
    return word("form.budget", host="127.0.0.1", **values)


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
    for label in (YES, MARKS[1], MARKS[2], MARKS[3], MARKS[5]):
        hand(page, option(page, label))
    box = page.get_by_role("textbox")
    if hand is press:
        while not page.evaluate("wanted => document.activeElement === wanted", box.element_handle()):
            page.keyboard.press("Tab")
    else:
        box.click()
    page.keyboard.type(NUMBER)
    hand(page, option(page, NO_ANSWER).last)


def randomize(page: Page, hand: Hand = click) -> None:
    hand(page, button(page, "randomize"))
    expect(title(page, "review")).to_be_focused()
    expect(button(page, "send")).to_be_enabled()


def send(page: Page, hand: Hand = click) -> None:
    hand(page, button(page, "send"))
    expect(title(page, "receipt")).to_be_focused()


def shown_bytes(page: Page) -> str:
    return page.locator("pre").text_content() or ""


def tokens(description: str, survey: Survey) -> list[str]:
    """Return the labels, units and numbers of a description in their order, without the words between them."""
    for ours, mark in ((NO_ANSWER, "∅"), (question.NO_ANSWER, "∅"), (YES, "yes"), (NO, "no")):
        description = re.sub(rf"\b{re.escape(ours)}\b", mark, description)
    texts = [text for one in survey.questions for text in (*one.labels, one.unit)]
    known = {"∅", "yes", "no"}.union(*(split_words(text) for text in texts))
    return [word for word in split_words(description) if word in known or NUMERIC.fullmatch(word)]


def split_words(text: str) -> list[str]:
    """Return the words of a text, with numbers in one spelling."""
    found = re.findall(r"[^\s{},;:()]+", re.sub(r"(\d),(\d)", r"\1\2", text))
    return [f"{Decimal(one).normalize():f}" if NUMERIC.fullmatch(one) else one for one in found]
