"""The form in a real browser: what is shown is what is sent, and nothing else leaves the device."""

import gzip
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from client import Survey, words
from client import randomize as draw
from client.report import from_text, unpack
from survey_app.explain.languages import LANGUAGES, Words
from survey_app.store import Published
from tests.browser import CAMPUS, DESKTOP, LOOKS, PHONE, ROOT, Site, Visit, overflows, violations, visit
from tests.client.test_vectors import REPORTS, check_keyed, check_refusals, check_replay
from tests.definitions import COIN, define, encode, field, geometric, number, sampled, scale, subset, unary, yes_no
from tests.javascript import HARNESS, QUIET_CHROMIUM, Chromium, find_chromium

MARKS = [f"mark{letter}{letter}7f3a91" for letter in "abcdef"]
NUMBER = "738291"
FORM = ROOT / "static" / "form"
SENT = re.compile(r"/(s/[\w-]+|static/style\.css|static/form/\w+\.js|client/js/\w+\.js|api/surveys/[\w-]+)")


def options(name: str, kind: str, *labels: str, **more: Any) -> dict[str, Any]:
    key = "points" if kind == "scale" else "options"
    return {"id": name, "type": kind, "text": f"About {name}?", key: list(labels), **more}


def everything(**more: Any) -> dict[str, Any]:
    """One question of every type, with words that occur nowhere else, and one that depends on another."""
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
            field(sampled(3, 1), "used"), field(subset(2, 1), "spent"), field(subset(3, 1), "help"),
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
    hand(page, page.get_by_role("button", name="Add the noise"))
    expect(page.get_by_role("heading", name="What will be sent")).to_be_focused()
    expect(page.get_by_role("button", name="Send this")).to_be_enabled()


def send(page: Page, hand: Hand = click) -> None:
    hand(page, page.get_by_role("button", name="Send this"))
    expect(page.get_by_role("heading", name="Thank you. The server has it.")).to_be_focused()


def shown_bytes(page: Page) -> str:
    return page.locator("pre").text_content() or ""


def tokens(text: str) -> list[str]:
    """The words that matter: lists differ in their commas, numbers in their spelling, and ours begin with capitals."""
    plain = text.replace("{}", "none of these").replace("none of them", "none of these").lower()
    found = re.findall(r"[^\s{},;()]+", re.sub(r"(\d),(\d)", r"\1\2", plain))
    number = re.compile(r"-?\d+(\.\d+)?")
    return [
        f"{Decimal(one).normalize():f}" if number.fullmatch(one) else one for one in found if one not in ("or", "and")
    ]


# answering


@pytest.mark.parametrize("hand", [click, press])
def test_every_type_of_question_by_mouse_and_by_keyboard(site: Site, browser: Browser, hand: Hand) -> None:
    published = site.add(everything())
    survey = published.survey
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.locator("input:checked").count() == 0
        fill(page, hand)
        randomize(page, hand)
        rows = page.locator(".fields li p:has(.sent)").all_inner_texts()
        said = [row.partition(" → sent: ")[0] for row in rows]
        assert said == [
            "you: Yes", f"you: {MARKS[1]}", f"you: {MARKS[2]}", f"you: {MARKS[3]} and {MARKS[5]}",
            "you: 738,291 coins", "you: No answer",
        ]  # fmt: skip
        report = json.loads(shown_bytes(page))
        parts = unpack(survey, from_text(report["bits"]))
        for row, part, one in zip(rows, parts, survey.fields, strict=True):
            assert part is not None
            assert tokens(row.partition("sent: ")[2]) == tokens(words.describe(one, part))
        assert not site.stored(published)
        send(page, hand)
        assert site.stored(published) == [report]
        assert [json.loads(request.body) for request in site.sent()] == [report]
        assert device.complaints == []


def test_one_question_a_screen(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        page.get_by_role("button", name="One question at a time").click()
        asked: list[str] = []
        for label in ("No", MARKS[2], "None of these", None, "No answer"):
            question = page.locator("fieldset:visible")
            expect(question).to_have_count(1)
            asked.append(re.sub(r"\s+", " ", question.locator("legend").inner_text()))
            if label is None:
                page.get_by_role("textbox").fill("5")
                page.keyboard.press("Enter")
            else:
                option(page, label).locator("visible=true").check()
                page.get_by_role("button", name=re.compile("Next|Add the noise")).click()
        texts = ("Did you copy?", "About fair?", "About used?", "How many?", "About help?")
        assert asked == [f"{i} of 5 {text}" for i, text in enumerate(texts, 1)]
        expect(page.get_by_role("heading", name="What will be sent")).to_be_focused()
        assert "you: No answer" in page.locator(".fields li").nth(1).inner_text()


def test_a_branch_opens_and_closes_on_the_device(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        why = page.get_by_role("group", name="About why?")
        expect(why).to_be_hidden()
        option(page, "Yes").check()
        expect(why).to_be_visible()
        expect(page.locator("legend").first).to_contain_text("1 of 6")
        option(page, MARKS[0]).check()
        option(page, "No").check()
        expect(why).to_be_hidden()
        option(page, MARKS[2]).check()
        option(page, "None of these").check()
        page.get_by_role("textbox").fill("5")
        option(page, "No answer").last.check()
        randomize(page)
        assert "you: No answer" in page.locator(".fields li").nth(1).inner_text()
        assert MARKS[0] not in page.locator(".fields li").nth(1).locator("b").first.inner_text()


def test_a_hidden_question_with_an_unlucky_name(site: Site, browser: Browser) -> None:
    unlucky = yes_no("constructor", show_if={"question": "cheated", "is": ["yes"]})
    published = site.add(define([yes_no(), unlucky], [field(COIN, "cheated"), field(subset(3, 1), "constructor")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "No").locator("visible=true").check()
        randomize(page)
        send(page)
        assert len(site.stored(published)) == 1


def test_exclusive_choices_exclude(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, MARKS[3]).check()
        option(page, MARKS[4]).check()
        option(page, "None of these").check()
        expect(option(page, MARKS[3])).not_to_be_checked()
        option(page, MARKS[5]).check()
        expect(option(page, "None of these")).not_to_be_checked()


NUMBERS = {
    "12": "12", " 12 ": "12", "12.0": "12", "+12": "12", "12.5": "12.5", "12,5": "12.5", "−3": "-3", "-3": "-3",
    "1,000": None, "1.000": None, "1e1": None, "12.3": None, "61": None, "-11": None, "twelve": None, "1 2": None, "١٢": None,
}  # fmt: skip


def test_numbers_go_through_decimal_text(site: Site, browser: Browser) -> None:
    asked = [number(f"n{i}", min=-10, max=60, step="0.5", unit="h") for i in range(len(NUMBERS))]
    published = site.add(define(asked, [field(subset(2, 1, 2**63 + 2**60), one["id"]) for one in asked], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        page.get_by_role("button", name="All questions on one page").click()
        assert "A number from -10 h to 60 h, in steps of 0.5 h." in device.text()
        boxes = page.get_by_role("textbox").all()
        for box, text in zip(boxes, NUMBERS, strict=True):
            box.fill(text)
        page.get_by_role("button", name="Add the noise").click()
        refused = [box.get_attribute("aria-invalid") == "true" for box in boxes]
        assert refused == [meaning is None for meaning in NUMBERS.values()]
        assert "without thousands separators" in page.locator(".error:visible").first.inner_text()
        for box, bad in zip(boxes, refused, strict=True):
            if bad:
                box.fill("0")
        randomize(page)
        said = page.locator(".fields b:not(.sent)").all_inner_texts()
        assert said == [f"{meaning or 0} h" for meaning in NUMBERS.values()]


THOUSANDS: dict[tuple[int, int, Any], dict[str, str | None]] = {
    (0, 5000, "0.001"): {"1,000": None, "1.234": None, "0.125": "0.125", "1234.5": "1,234.5", "1,5": "1.5", "12.3456": None},
    (0, 60, "0.001"): {"1.234": "1.234", "1,000": "1"},  # a thousand is no answer here
    (0, 5000, 1): {"1,000": None, "1.000": None, "1000": "1,000"},
}  # fmt: skip


@pytest.mark.parametrize("grid", THOUSANDS)
def test_a_thousand_is_never_taken_for_one(site: Site, browser: Browser, grid: tuple[int, int, Any]) -> None:
    low, high, step = grid
    site.add(define([number("n", min=low, max=high, step=step)], [field(subset(2, 1), "n")], epsilon=10))
    with visit(browser) as device:
        for text, meaning in THOUSANDS[grid].items():
            page = device.open(f"{site.origin}/s/exam?{urllib.parse.quote(text)}")
            box = page.get_by_role("textbox")
            box.fill(text)
            page.get_by_role("button", name="Add the noise").click()
            if meaning is None:
                expect(box).to_have_attribute("aria-invalid", "true")
                expect(box).to_have_accessible_description(re.compile("without thousands separators"))
                continue
            assert page.locator(".fields b:not(.sent)").inner_text() == meaning
            page.evaluate("() => localStorage.clear()")


def test_names_that_look_like_our_own(site: Site, browser: Browser) -> None:
    asked = [number("x"), number("x-hint"), number("x-error")]
    published = site.add(define(asked, [field(subset(2, 1), one["id"]) for one in asked], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
        assert len(set(ids)) == len(ids)
        for box in page.get_by_role("textbox").all():
            expect(box).to_have_accessible_name(re.compile("How many"))
        assert page.get_by_role("status").inner_text() == "The questions are here."
        assert violations(page) == []


def test_very_many_options(site: Site, browser: Browser) -> None:
    """More sets of them than a float can count."""
    many = options("used", "multiple", *[f"option {i}" for i in range(1030)])
    published = site.add(define([many], [field(sampled(1030, 1), "used")], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "option 1029").check()
        randomize(page)
        send(page)
        assert len(site.stored(published)) == 1


def test_a_long_word_stays_on_a_phone(site: Site, browser: Browser) -> None:
    labels = ["a" * 120, "b" * 120]
    published = site.add(define([options("c", "choice", *labels)], [field(subset(2, 1), "c")], epsilon=10))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        option(page, labels[0]).check()
        randomize(page)
        assert overflows(page) == []


def test_errors_are_summed_up_and_lead_to_their_questions(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        page.get_by_role("button", name="Add the noise").click()
        expect(page.get_by_role("heading", name="Please look at this again")).to_be_focused()
        lines = page.get_by_role("alert").get_by_role("listitem")
        assert lines.count() == 5
        assert not site.sent()
        lines.nth(3).get_by_role("button").press("Enter")
        expect(page.get_by_role("textbox")).to_be_focused()
        expect(page.get_by_role("textbox")).to_have_accessible_name("4 of 5 How many?")
        page.keyboard.type("7")
        expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "false")
        assert page.locator(".error:visible").count() == 4


def test_with_ask_only_the_asked_questions_appear_and_the_page_says_so(site: Site, browser: Browser) -> None:
    asked = [yes_no(f"q{i}") | {"text": f"Question {i}?"} for i in range(6)]
    published = site.add(define(asked, [field(COIN, f"q{i}") for i in range(6)], epsilon=10, ask=2))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert "Your device answers only 2 of 6 parts of this survey" in device.text()
        questions = page.locator("legend").all_inner_texts()
        assert len(questions) == 2
        device.open(site.link(published))
        assert page.locator("legend").all_inner_texts() == questions
        for box in page.get_by_label("No", exact=True).all():
            box.check()
        randomize(page)
        assert page.get_by_text("Not asked on this device.").count() == 4
        send(page)
        assert len(site.stored(published)) == 1


# what leaves the device


def traffic(site: Site, device: Visit) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """What the browser says it asked for, and what the server was asked for."""
    told = Counter(
        (request.method, request.url.removeprefix(site.origin).partition("#")[0]) for request in device.requests
    )
    return told, Counter((request.method, request.path) for request in site.received)


def check_nothing_leaks(site: Site, device: Visit) -> None:
    told, heard = traffic(site, device)
    assert heard == told
    assert all(SENT.fullmatch(path) for method, path in heard if method == "GET")
    for request in site.received:
        for mark in (*MARKS, NUMBER, "Did you", "coins", "Disagree"):
            assert mark not in request.everything, request.everything
        assert not {"cookie", "referer", "authorization"} & set(request.headers)


def test_the_only_thing_that_leaves_is_the_report(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        randomize(page)
        shown = shown_bytes(page)
        send(page)
        page.reload()
        device.settle()
        page.goto("about:blank")
        device.open(site.link(published))  # whatever was sent while leaving has arrived before this
        check_nothing_leaks(site, device)
        assert [request.body.decode() for request in site.sent()] == [shown]
        assert [request.post_data for request in device.sent()] == [shown]
        assert page.context.cookies() == []
        assert page.evaluate("() => Object.keys(localStorage)") == ["candor-ledger/1"]
        kept = page.evaluate("() => JSON.stringify([localStorage, document.cookie])")
        assert not any(mark in kept for mark in (*MARKS, NUMBER))
        assert device.complaints == []


def test_a_beacon_on_leaving_would_be_seen(site: Site, browser: Browser) -> None:
    """The check above has teeth: the server's record holds what a page sends while it is left."""
    published = site.add(everything())
    spy = f"addEventListener('pagehide', () => navigator.sendBeacon('/s/exam', '{MARKS[0]}'))"
    with visit(browser, init=spy) as device:
        device.open(site.link(published))
        device.page.goto("about:blank")
        device.open(site.link(published))
        with pytest.raises(AssertionError):
            check_nothing_leaks(site, device)


# once and for all


def test_reload_back_and_double_click_send_the_same_bytes_once(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        page.get_by_role("button", name="Add the noise").dblclick()
        expect(page.get_by_role("button", name="Send this")).to_be_enabled()
        assert not site.sent()
        shown = shown_bytes(page)
        page.reload()
        expect(page.get_by_text("It does not show your answers a second time.")).to_be_visible()
        assert page.get_by_text("you:").count() == 0
        page.goto(f"{site.link(published)}/privacy")
        page.go_back()
        device.settle()
        assert shown_bytes(page) == shown
        button = page.get_by_role("button", name="Send this")
        expect(button).to_be_enabled()
        button.dblclick()
        expect(page.get_by_role("link", name="Save the receipt")).to_be_visible()
        page.goto("about:blank")
        page.go_back()
        expect(page.get_by_role("link", name="Save the receipt")).to_be_visible()
        page.reload()
        expect(page.get_by_role("link", name="Save the receipt")).to_be_visible()
        assert page.locator("form").count() == 0
        assert [request.body.decode() for request in site.sent()] == [shown]
        assert site.stored(published) == [json.loads(shown)]


def test_a_second_tab_cannot_draw_again(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        first = device.open(site.link(published))
        second = first.context.new_page()
        second.goto(site.link(published))
        for page in (second, first):
            page.bring_to_front()
            fill(page)
        randomize(first)
        second.bring_to_front()
        expect(second.get_by_role("heading", name="What will be sent")).to_be_visible()  # by itself
        assert shown_bytes(second) == shown_bytes(first)
        assert second.get_by_text("you:").count() == 0  # those answers were not used
        first.bring_to_front()
        assert first.get_by_text("you:").count() == 6
        send(first)
        expect(second.get_by_role("link", name="Save the receipt")).to_be_visible()
        second.bring_to_front()
        second.get_by_text("Forget all this").click()
        second.get_by_role("button", name="Yes, forget").click()
        for page in (first, second):
            expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()


@pytest.fixture
def remembering(browser: Browser) -> Iterator[Browser]:
    """A browser that brings pages back as they were left; under automation it usually does not."""
    running = browser.browser_type.launch(
        executable_path=find_chromium(),
        args=QUIET_CHROMIUM,
        chromium_sandbox=os.geteuid() != 0,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield running
    running.close()


@pytest.mark.parametrize("left_at", ["questions", "review"])
def test_the_back_button_shows_nobody_what_was_answered(site: Site, remembering: Browser, left_at: str) -> None:
    published = site.add(everything())
    with visit(remembering) as device:
        page = device.open(site.link(published))
        page.evaluate("() => addEventListener('pageshow', ({ persisted }) => (window.persisted = persisted))")
        fill(page)
        if left_at == "review":
            randomize(page)
        page.get_by_role("link", name="How your answers are protected").click()
        page.get_by_role("link", name="To the survey").last.click()
        device.settle()
        if left_at == "questions":
            fill(page)
            randomize(page)
        expect(page.get_by_role("button", name="Send this")).to_be_enabled()
        send(page)
        page.go_back(wait_until="commit")
        page.go_back(wait_until="commit")
        page.wait_for_function("() => window.persisted")
        expect(page.get_by_role("link", name="Save the receipt")).to_be_visible()
        assert page.locator("form, input:checked").count() == 0
        assert page.get_by_text("you:").count() == 0


def test_a_page_that_was_left_half_filled_in_comes_back_empty(site: Site, remembering: Browser) -> None:
    published = site.add(everything())
    with visit(remembering) as device:
        page = device.open(site.link(published))
        page.evaluate("() => addEventListener('pageshow', ({ persisted }) => (window.persisted = persisted))")
        fill(page)
        page.get_by_role("link", name="How your answers are protected").click()
        page.wait_for_url("**/privacy")
        page.go_back(wait_until="commit")
        page.wait_for_function("() => window.persisted")
        assert page.locator("input:checked").count() == 0
        assert page.get_by_role("textbox").input_value() == ""


def test_failure_keeps_the_report_also_over_a_reload(site: Site, browser: Browser) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        randomize(page)
        down = (503, "application/problem+json", b'{"code":"unavailable"}')
        site.intercept = lambda request: down if request.method == "POST" else None
        page.get_by_role("button", name="Send this").click()
        expect(page.get_by_role("heading", name="The server has not confirmed it")).to_be_focused()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="The server has not confirmed it")).to_be_focused()
        page.reload()
        button = page.get_by_role("button", name="Send this")
        expect(button).to_be_enabled()
        site.intercept = lambda request: None
        send(page)
        bodies = [request.body for request in site.sent()]
        assert len(bodies) == 3
        assert len(set(bodies)) == 1
        assert len(site.stored(published)) == 1


def test_the_receipt_is_a_file(site: Site, browser: Browser, tmp_path: Path) -> None:
    published = site.add(everything())
    with visit(browser) as device:
        page = device.open(site.link(published))
        fill(page)
        randomize(page)
        send(page)
        with page.expect_download() as saving:
            page.get_by_role("link", name="Save the receipt").click()
        assert saving.value.suggested_filename == "receipt-exam.json"
        saving.value.save_as(tmp_path / "receipt.json")
        receipt = json.loads((tmp_path / "receipt.json").read_text())
        assert [{key: receipt[key] for key in ("survey", "id", "bits")}] == site.stored(published)
        assert (receipt["slug"], receipt["status"]) == ("exam", "stored")
        assert device.complaints == []


# protection, in words


def test_the_odds_are_those_of_the_integers(site: Site, browser: Browser) -> None:
    asked = yes_no("cheated"), yes_no("again", show_if={"question": "cheated", "is": ["yes"]})
    published = site.add(define([*asked], [field(COIN, "cheated"), field(subset(3, 1), "again")], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        text = device.text()
        assert "1 in 20" in text
        assert "at most about 1 in 2 (ε = 2.9)" in text  # ln 3 + ln 6 = ln 18: 1/(1 + 19/18)
        page.get_by_text("How this answer is protected").first.click()
        text = device.text()
        assert (
            "Of 100 people whose answer is Yes, about 75 devices send Yes; of 100 whose answer is No, about 25 do."
            in text
        )
        assert "This costs ε = 1.1." in text
        assert "together ε = 2.9" in text
        assert "Yes: 75 of 100" in text
        option(page, "Yes").first.check()
        page.get_by_text("How this answer is protected").last.click()  # what follows tells about what went before
        assert device.text().count("together ε = 2.9") == 2
        shares = (
            page.locator("fieldset")
            .first.locator("path.on")
            .evaluate_all("all => all.map(p => p.getAttribute('d').split('M').length - 1)")
        )
        assert shares == [75, 25]


MORE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (define([number("n", max=2, levels=3, unit="h")], [field(geometric(2**62, 16), "n")]), {"n": 1}),
    (
        define([number("n", min="-1234567.5", max="7654321.25", step="0.25", bins=7)], [field(subset(7, 3), "n")]),
        {"n": "0.25"},
    ),
    (
        define([number("n", min="-1.001", max="0.002", step="0.001", levels=8)], [field(subset(8, 4), "n")]),
        {"n": "-0.5"},
    ),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**63), "zero": str(2**64 // 10)}, "cheated")]),
        {"cheated": True},
    ),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**63), "zero": str(2**64 * 51 // 10000)}, "cheated")]),
        {"cheated": True},
    ),
    (define([yes_no()], [field({"kind": "flip", "one": str(2**64 - 1), "zero": "1"}, "cheated")]), {"cheated": True}),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(5 * 2**61), "zero": str(3 * 2**61)}, "cheated")]),
        {"cheated": True},
    ),
    (define([number("n", max=60, levels=61, unit="h")], [field(geometric(2**63 + 2**62, 9), "n")]), {"n": 12}),
    (define([number("n", max=91, levels=4, unit="h")], [field(subset(4, 2), "n")]), {"n": 12}),
    (define([number("n", max=10, bins=4, min=1)], [field(subset(4, 1), "n")]), {"n": 5}),
    (
        define([options("c", "choice", *"abcdefghijklmnopqrst")], [field(unary(20, 2**63, 2**62 + 2**61), "c")]),
        {"c": "f"},
    ),
    (define([scale("s"), yes_no("y", optional=True)], [field(subset(9, 1), "s", "y")]), {"s": "Agree"}),
    (
        define([yes_no()], [field({"kind": "flip", "one": str(2**64 - 2**52), "zero": str(2**52)}, "cheated")]),
        {"cheated": True},
    ),
]


@pytest.fixture
def speech(site: Site, browser: Browser) -> Any:
    """The form's own words for a definition and bits."""
    published = site.add(everything())
    script = """async ([source, all]) => {
        const { Survey } = await import("/client/js/index.js");
        const { unpack } = await import("/client/js/report.js");
        const { describe, oddsSentence } = await import("/client/js/words.js");
        const { speech } = await import("/static/form/strings.js");
        const survey = Survey.fromJson(new TextEncoder().encode(source));
        const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
        const told = (field, part) => part && describe(field, part, speech);
        const odds = survey.fields.map((field) => oddsSentence(field, speech));
        return [odds, all.map((hex) => unpack(survey, bytes(hex)).map((part, i) => told(survey.fields[i], part)))];
    }"""
    with visit(browser) as device:
        device.open(site.link(published))
        yield lambda source, all_bits: device.page.evaluate(
            script, [source.decode(), [bits.hex() for bits in all_bits]]
        )


def test_the_form_says_what_the_terminal_says(speech: Any) -> None:
    cases = [
        (vector["source"].encode(), [bytes.fromhex(case["bits"]) for case in vector["cases"]]) for vector in REPORTS
    ]
    for definition, answers in MORE:
        survey = Survey.from_json(encode(definition))
        cases.append((survey.source, [draw(survey, answers).bits for _ in range(20)]))
    for source, all_bits in cases:
        survey = Survey.from_json(source)
        odds, told = speech(source, all_bits)
        for one, sentence in zip(survey.fields, odds, strict=True):
            expected = re.findall(r"[\d.,]*\d", words.odds_sentence(one))
            assert re.findall(r"[\d.,]*\d", sentence)[-len(expected) :] == expected, sentence
        for bits, spoken in zip(all_bits, told, strict=True):
            for one, part, text in zip(survey.fields, unpack(survey, bits), spoken, strict=True):
                assert (part is None) == (text is None)
                if part is not None:
                    assert tokens(text) == tokens(words.describe(one, part))


# the page itself


def test_the_page_weighs_little_and_asks_nobody_else(site: Site, browser: Browser, tmp_path: Path) -> None:
    weights = {}
    for language in LANGUAGES:
        source = tmp_path / f"{language}.yaml"
        source.write_text(CAMPUS.read_text().replace("slug: campus", f"slug: campus-{language}\nlanguage: {language}"))
        published = site.add(source)
        with visit(browser, **DESKTOP) as device:
            bodies: dict[str, float] = {}

            def weigh(event: dict[str, Any], bodies: dict[str, float] = bodies) -> None:
                bodies[event["requestId"]] = event["encodedDataLength"]

            network = device.page.context.new_cdp_session(device.page)
            network.on("Network.loadingFinished", weigh)
            network.send("Network.enable")
            device.open(site.link(published))
            device.page.wait_for_load_state("networkidle")
            assert device.page.locator("fieldset").count() == 8
            assert len(bodies) == len(device.requests) >= 15
            assert all(request.url.startswith(site.origin) for request in device.requests)
            assert device.complaints == []
            weights[language] = sum(bodies.values())
            assert weights[language] > 10_000, "headers and bodies, as they came over the wire"
    assert max(weights.values()) <= 60_000, weights


def test_the_vectors_run_against_the_files_that_the_form_loads(site: Site, browser: Browser) -> None:
    with visit(browser) as device:
        page = device.page
        for path in (HARNESS, "tests/js/blank.html"):
            page.route(f"{site.origin}/{path}", lambda route, _, path=path: route.fulfill(path=str(ROOT / path)))
        javascript = Chromium(page, site.origin)
        for check in (check_replay, check_refusals, check_keyed):
            check(javascript)
        loaded = {request.path for request in site.received}
        device.open(site.link(site.add(everything())))
        assert {path for path in {request.path for request in site.received} if "/client/js/" in path} <= loaded
    assert {f"/client/js/{file.name}" for file in (ROOT / "client" / "js").glob("*.js")} <= loaded


def ask(url: str, **headers: str) -> tuple[int, Any, bytes]:
    """Status, headers and body of an answer, as they are on the wire."""
    asked = urllib.request.Request(url, headers={key.replace("_", "-"): value for key, value in headers.items()})  # noqa: S310
    try:
        with urllib.request.urlopen(asked) as answer:  # noqa: S310
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_everything_is_served_as_it_is_and_by_gzip_to_those_who_accept_it(site: Site) -> None:
    published = site.add(everything())
    expected = {f"/static/form/{file.name}": file.read_bytes() for file in FORM.glob("*.js")}
    expected |= {f"/client/js/{file.name}": file.read_bytes() for file in (ROOT / "client" / "js").glob("*.js")}
    expected |= {f"/static/{name}.css": (ROOT / "static" / f"{name}.css").read_bytes() for name in ("style", "explain")}
    expected["/s/exam"] = ask(f"{site.origin}/s/exam")[2]
    for path, body in expected.items():
        url = site.origin + path
        _, plain, whole = ask(url)
        _, packed, small = ask(url, Accept_Encoding="br, gzip;q=0.5")
        assert (whole, plain["Content-Encoding"]) == (body, None), path
        assert (gzip.decompress(small), packed["Content-Encoding"]) == (body, "gzip"), path
        assert ask(url, Accept_Encoding="gzip;q=0")[2] == body
        assert plain["Content-Type"] == packed["Content-Type"]
        assert plain["ETag"] != packed["ETag"]
        for headers in (plain, packed):
            assert "Accept-Encoding" in headers["Vary"].split(", ")
            assert headers["Cache-Control"] == "no-cache"
        assert ask(url, If_None_Match=plain["ETag"])[::2] == (304, b"")
        assert ask(url, If_None_Match=packed["ETag"], Accept_Encoding="gzip")[::2] == (304, b"")
        assert ask(url, If_None_Match=packed["ETag"])[2] == body
    _, headers, body = ask(f"{site.origin}/api/surveys/exam", Accept_Encoding="gzip")  # its ETag is its digest
    assert (headers["Content-Encoding"], headers["ETag"]) == (None, f'"{published.survey.digest}"')
    assert body == published.survey.source
    for page in ("privacy", "paper", "enter"):
        _, headers, body = ask(f"{site.origin}/s/exam/{page}", Accept_Encoding="gzip")
        assert (headers["Content-Encoding"], headers["Cache-Control"]) == ("gzip", "no-store")
        assert gzip.decompress(body).endswith(b"</html>")
    for path in ("/login", "/console", "/s/nothing", "/api/surveys/exam/results"):  # may stand beside a secret
        assert ask(site.origin + path, Accept_Encoding="gzip")[1]["Content-Encoding"] is None


def test_the_scripts_make_no_html_of_text_and_draw_nothing_themselves() -> None:
    for file in FORM.glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|Math\.random", file.read_text()
        )


def test_every_string_the_scripts_use_is_there_and_every_string_is_used() -> None:
    scripts = [FORM / f"{name}.js" for name in ("dom", "page", "questions", "review", "strings")]
    source = "".join(file.read_text() for file in (*scripts, ROOT / "client" / "js" / "words.js"))
    calls = r"""(?:say|details|heading|notice|problem)\("(\w+)"|(?:ours|button)\("[\w.]+", "(\w+)\""""
    used = {first or second for first, second in re.findall(calls, source)}
    strings = {
        key for section in ("form", "trouble") for key in Words("en").section(section) if not key.startswith("page_")
    }
    assert used <= strings
    codes = set(Words("en").section("trouble"))
    named = {key for key in strings if f'"{key}"' in source or f"strings.{key}" in source}
    assert strings - named - codes == set()


PAYLOADS = [
    '<img src=x onerror="window.pwned=1">', "</script><script>window.pwned=1</script>", "{{7*7}}{% raw %}", "\"'><b>&amp;",
    "</title></textarea></noscript><svg onload=window.pwned=1>", "javascript:window.pwned=1", "${window.pwned=1}",
]  # fmt: skip


def test_an_author_s_text_stays_text(site: Site, browser: Browser) -> None:
    tagged = [f"{i} {payload}" for i, payload in enumerate(PAYLOADS)]
    questions = [
        yes_no() | {"text": tagged[0]},
        options("help", "choice", *tagged, show_if={"question": "cheated", "is": ["yes"]}) | {"text": tagged[1]},
        options("fair", "scale", *tagged) | {"text": tagged[2]},
        options("used", "multiple", *tagged[:3], optional=True) | {"text": tagged[3]},
        number("hours", unit=tagged[4]) | {"text": tagged[5]},
    ]
    fields = [
        field(COIN, "cheated"), field(subset(8, 1), "help"), field(subset(7, 1), "fair"), field(sampled(4, 1), "used"),
        field(subset(2, 1), "hours"),
    ]  # fmt: skip
    texts = {"title": tagged[1], "description": tagged[0], "consent": tagged[4], "contact": tagged[1]}
    published = site.add(define(questions, fields, epsilon=10, **texts))
    with visit(browser) as device:
        page = device.open(site.link(published))

        def check() -> None:
            assert page.evaluate("() => window.pwned") is None
            assert page.locator("main img, main b:not([class]):has(*), main svg[onload]").count() == 0
            assert page.locator("script").count() == 2

        check()
        assert page.title() == tagged[1]
        for i in (0, 1, 4):
            assert tagged[i] in device.text()
        page.get_by_label("Yes", exact=True).check()
        for question in page.get_by_role("group").filter(has=page.get_by_role("radio")).all()[1:]:
            assert [line.strip() for line in question.locator("label").all_inner_texts()][: len(tagged)] == tagged
            question.get_by_role("radio").nth(1).check()
        page.get_by_role("checkbox").nth(1).check()
        page.get_by_role("textbox").fill("nonsense")
        page.get_by_role("button", name="Add the noise").click()
        check()
        page.get_by_role("textbox").fill("3")
        randomize(page)
        check()
        assert tagged[1] in page.locator(".fields").inner_text()
        send(page)
        check()
        assert device.complaints == []


# looks


def states(site: Site, device: Visit, published: Published) -> Any:
    """The form in every state, one after the other."""
    page = device.open(site.link(published))
    yield "empty"
    for summary in page.locator("form summary:visible").all():
        summary.click()
    yield "protection"
    page.get_by_role("button", name="Add the noise").click()
    yield "errors"
    page.get_by_role("button", name="One question at a time").click()
    yield "single"
    page.get_by_role("button", name="All questions on one page").click()
    fill(page)
    randomize(page)
    page.get_by_text("The exact bytes").click()
    yield "review"
    site.intercept = lambda request: (503, "text/plain", b"") if request.method == "POST" else None
    page.get_by_role("button", name="Send this").click()
    expect(page.get_by_role("button", name="Try again")).to_be_enabled()
    yield "failed"
    site.intercept = lambda request: None
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("This device", exact=True).click()
    page.get_by_text("Forget all this").click()
    yield "receipt"


def test_axe_finds_nothing_in_any_state_at_any_size_light_or_dark(site: Site, browser: Browser) -> None:
    published = site.add(everything(description="A sample.", consent="Please read.", contact="ada@example.org"))
    with visit(browser) as device:
        for state in states(site, device, published):
            for look, options_ in LOOKS.items():
                device.page.set_viewport_size(options_["viewport"])
                device.page.emulate_media(color_scheme=options_["color_scheme"])
                some = () if look in ("phone-light", "zoomed-dark") else ("color-contrast", "target-size")
                assert violations(device.page, *some) == [], (state, look)
                assert overflows(device.page) == [], (state, look)


# languages


def test_a_german_survey_speaks_german(site: Site, browser: Browser) -> None:
    published = site.add(everything(language="de", title="Alles"))
    german = Words("de")
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.get_attribute("html", "lang") == "de"
        assert german("form.page_promise") in device.text()
        option(page, "Nein").check()
        option(page, MARKS[2]).check()
        option(page, "Nichts davon").check()
        page.get_by_role("textbox").fill("1234,5")
        page.get_by_role("button", name="Antworten verrauschen").click()
        assert "ohne Tausendertrennzeichen" in page.locator(".error:visible").first.inner_text()
        page.get_by_role("textbox").fill("738291")
        option(page, "Keine Angabe").last.check()
        page.get_by_role("button", name="Antworten verrauschen").click()
        assert "Sie: 738.291 coins → gesendet:" in device.text()
        expect(page.get_by_role("button", name="So senden")).to_be_enabled()
        page.get_by_role("button", name="So senden").click()
        expect(page.get_by_role("heading", name="Danke. Der Server hat es.")).to_be_focused()
        assert len(site.stored(published)) == 1
        assert device.complaints == []


def test_a_survey_from_right_to_left_in_a_language_we_lack(site: Site, browser: Browser) -> None:
    texts = {"title": "استبيان", "description": "هل هذا يعمل؟"}
    asked = [
        yes_no() | {"text": "هل نسخت من أحد؟"},
        options("help", "choice", "لا شيء", "الهاتف") | {"text": "ماذا استخدمت؟"},
    ]
    published = site.add(
        define(asked, [field(COIN, "cheated"), field(subset(2, 1), "help")], epsilon=10, language="ar", **texts)
    )
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.locator("html[lang=ar][dir=rtl]").count() == 1
        for text in ("Add the noise", "How this answer is protected", Words("en")("form.page_promise")):
            assert (
                page.get_by_text(text).first.evaluate("e => e.closest('[lang]').lang + e.closest('[dir]').dir")
                == "enltr"
            )
        assert page.get_by_text("هل نسخت من أحد؟").evaluate("e => e.closest('[lang]').lang") == "ar"
        box, label = (
            page.locator(".option").first.locator("input").bounding_box(),
            page.locator(".option span").first.bounding_box(),
        )
        assert box is not None
        assert label is not None
        assert box["x"] > label["x"]
        assert overflows(page) == []
        assert violations(page) == []
