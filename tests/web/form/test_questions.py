"""The questions of the form in a real browser: every type, by mouse and by keyboard."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from candor_client import Survey, description
from candor_client.report import from_base64url, unpack
from tests.browser import PHONE, Site, overflows, violations, visit
from tests.definitions import COIN, define, drawn, field, number, subset, yes_no
from tests.form_browser import (
    MARKS,
    NO,
    NO_ANSWER,
    NONE,
    YES,
    Hand,
    all_types_survey,
    button,
    click,
    fill,
    option,
    options,
    press,
    randomize,
    review_line,
    send,
    shown_bytes,
    text,
    title,
    tokens,
)
from tests.words import word


@pytest.mark.essential
@pytest.mark.parametrize("hand", [click, press])
def test_every_type_of_question_by_mouse_and_by_keyboard(site: Site, browser: Browser, hand: Hand) -> None:
    published = site.add(all_types_survey())
    survey = published.survey
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert page.locator("input:checked").count() == 0
        fill(page, hand)
        randomize(page, hand)
        rows = page.locator(".fields li p:has(.sent)").all_inner_texts()
        said = [YES, MARKS[1], MARKS[2], f"{MARKS[3]} and {MARKS[5]}", "738,291 coins", NO_ANSWER]
        leads = [review_line(answer) for answer in said]
        assert [row[: len(lead)] for row, lead in zip(rows, leads, strict=True)] == leads
        report = json.loads(shown_bytes(page))
        parts = unpack(survey, from_base64url(report["bits"]))
        for row, lead, part, one in zip(rows, leads, parts, survey.fields, strict=True):
            assert part is not None
            assert tokens(row.removeprefix(lead), survey) == tokens(description.describe(one, part), survey)
        assert not site.stored_reports(published)
        send(page, hand)
        assert site.stored_reports(published) == [report]
        assert [json.loads(request.body) for request in site.requests_of()] == [report]
        assert device.complaints == []


def test_one_question_a_screen(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        button(page, "single").click()
        asked: list[str] = []
        for label in (NO, MARKS[2], NONE, None, NO_ANSWER):
            question = page.locator("fieldset:visible")
            expect(question).to_have_count(1)
            asked.append(re.sub(r"\s+", " ", question.locator("legend").inner_text()))
            if label is None:
                page.get_by_role("textbox").fill("5")
                page.keyboard.press("Enter")
            else:
                option(page, label).locator("visible=true").check()
                button(page, "next").or_(button(page, "randomize")).click()
        texts = ("Did you copy?", "About fair?", "About used?", "How many?", "About help?")
        assert asked == [f"{word('form.progress', at=i, total=5)} {text}" for i, text in enumerate(texts, 1)]
        expect(title(page, "review")).to_be_focused()
        assert review_line(NO_ANSWER) in page.locator(".fields li").nth(1).inner_text()


def test_a_branch_opens_and_closes_on_the_device(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        why = page.get_by_role("group", name="About why?")
        expect(why).to_be_hidden()
        option(page, YES).check()
        expect(why).to_be_visible()
        expect(page.locator("legend").first).to_contain_text(word("form.progress", at=1, total=6))
        option(page, MARKS[0]).check()
        option(page, NO).check()
        expect(why).to_be_hidden()
        option(page, MARKS[2]).check()
        option(page, NONE).check()
        page.get_by_role("textbox").fill("5")
        option(page, NO_ANSWER).last.check()
        randomize(page)
        assert review_line(NO_ANSWER) in page.locator(".fields li").nth(1).inner_text()
        assert MARKS[0] not in page.locator(".fields li").nth(1).locator("b").first.inner_text()


def test_a_hidden_question_with_an_unlucky_name(site: Site, browser: Browser) -> None:
    unlucky = yes_no("constructor", show_if={"question": "cheated", "is": ["yes"]})
    published = site.add(define([yes_no(), unlucky], [field(COIN, "cheated"), field(subset(3, 1), "constructor")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, NO).locator("visible=true").check()
        randomize(page)
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_exclusive_choices_exclude(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, MARKS[3]).check()
        option(page, MARKS[4]).check()
        option(page, NONE).check()
        expect(option(page, MARKS[3])).not_to_be_checked()
        option(page, MARKS[5]).check()
        expect(option(page, NONE)).not_to_be_checked()


NUMBERS = {
    "12": "12", " 12 ": "12", "12.0": "12", "+12": "12", "12.5": "12.5", "12,5": "12.5", "−3": "-3", "-3": "-3",
    "1,000": None, "1.000": None, "1e1": None, "12.3": None, "61": None, "-11": None, "twelve": None, "1 2": None, "١٢": None,
}  # fmt: skip


def test_numbers_go_through_decimal_text(site: Site, browser: Browser) -> None:
    asked = [number(f"n{i}", min=-10, max=60, step="0.5", unit="h") for i in range(len(NUMBERS))]
    published = site.add(define(asked, [field(subset(2, 1, 2**63 + 2**60), one["id"]) for one in asked], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        button(page, "together").click()
        assert word("form.number", low=-10, high="60 h", step="0.5") in device.text()
        boxes = page.get_by_role("textbox").all()
        for box, text in zip(boxes, NUMBERS, strict=True):
            box.fill(text)
        button(page, "randomize").click()
        refused = [box.get_attribute("aria-invalid") == "true" for box in boxes]
        assert refused == [meaning is None for meaning in NUMBERS.values()]
        assert page.locator(".error:visible").first.inner_text() == word("form.bad_number")
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
            button(page, "randomize").click()
            if meaning is None:
                expect(box).to_have_attribute("aria-invalid", "true")
                expect(box).to_have_accessible_description(re.compile(re.escape(word("form.bad_number"))))
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
        assert page.get_by_role("status").inner_text() == word("form.loaded")
        assert violations(page) == []


def test_very_many_options(site: Site, browser: Browser) -> None:
    """As many as there may be: 2^1024 sets of them are more than a float can count."""
    many = options("used", "multiple", *[f"option {i}" for i in range(1024)])
    published = site.add(define([many], [field(drawn(1024, 1), "used")], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "option 1023").check()
        randomize(page)
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_a_long_word_stays_on_a_phone(site: Site, browser: Browser) -> None:
    labels = ["a" * 120, "b" * 120]
    published = site.add(define([options("c", "choice", *labels)], [field(subset(2, 1), "c")], epsilon=10))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        option(page, labels[0]).check()
        randomize(page)
        assert overflows(page) == []


def test_errors_are_summed_up_and_lead_to_their_questions(site: Site, browser: Browser) -> None:
    published = site.add(all_types_survey())
    with visit(browser) as device:
        page = device.open(site.link(published))
        button(page, "randomize").click()
        expect(title(page, "errors")).to_be_focused()
        lines = page.get_by_role("alert").get_by_role("listitem")
        assert lines.count() == 5  # the last one may be left blank, and is not wrong
        assert page.locator("[aria-invalid=true]").count() == 3 + 2 + 4 + 1 - 1
        assert not site.requests_of()
        lines.nth(3).get_by_role("button").press("Enter")
        expect(page.get_by_role("textbox")).to_be_focused()
        expect(page.get_by_role("textbox")).to_have_accessible_name(f"{word('form.progress', at=4, total=5)} How many?")
        page.keyboard.type("7")
        expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "false")
        assert page.locator(".error:visible").count() == 3


def test_with_ask_the_questions_of_one_field_appear_and_the_page_says_so(site: Site, browser: Browser) -> None:
    asked = [yes_no(f"q{i}") | {"text": f"Question {i}?"} for i in range(6)]
    fields = [field(COIN, "q0"), field(subset(4, 1), "q1", "q2"), field(subset(8, 1), "q3", "q4", "q5")]
    published = site.add(define(asked, fields, epsilon=10, ask=1))
    with visit(browser) as device:
        page = device.open(site.link(published))
        questions = page.locator("legend").all_inner_texts()
        chosen = word("form.chosen", count=len(questions), total=6)
        expect(text(page, "chosen")).to_have_text(chosen)
        device.open(site.link(published))
        assert page.locator("legend").all_inner_texts() == questions
        assert text(page, "filter").count() == 0
        for box in page.get_by_label(NO, exact=True).all():
            box.check()
        randomize(page)
        drawn = [place for place, part in enumerate(parts(page, published.survey)) if part is not None]
        (place,) = drawn
        wanted = [f"Question {name[1:]}?" for name in fields[place]["questions"]]
        assert [legend.partition("Question")[1:] for legend in questions] == [
            one.partition("Question")[1:] for one in wanted
        ]
        assert page.locator(".fields li").count() == 1
        assert len(wanted) == len(questions)
        expect(text(page, "chosen")).to_have_text(chosen)
        told = page.locator(".fields li").inner_text()
        assert [line for line in told.splitlines() if line.startswith("Question")] == wanted
        assert told.count(review_line(NO)) == len(wanted)
        send(page)
        assert len(site.stored_reports(published)) == 1


def filtered(chances: tuple[int, int, int]) -> dict[str, Any]:
    """Questions that depend on one another, each in a field of its own, and a third."""
    asked = [
        options("used", "multiple", "notes", "phone") | {"text": "What did you use?"},
        options("when", "choice", "before", "after", show_if={"question": "used", "is": ["phone"]}) | {"text": "When?"},
        number("often", show_if={"question": "when", "is": ["after"]}) | {"text": "How often?"},
    ]
    mechanisms = [drawn(2, 1), subset(3, 1), subset(3, 1)]
    fields = [
        field(mechanism, one["id"], chance=chance)
        for one, mechanism, chance in zip(asked, mechanisms, chances, strict=True)
    ]
    return define(asked, fields, epsilon=10, ask=1)


LAST = (2, 2, 999_996)  # the last field but once in 250,000


def parts(page: Page, survey: Survey) -> list[int | None]:
    """The bits on the page, field by field."""
    return unpack(survey, from_base64url(json.loads(shown_bytes(page))["bits"]))


def test_a_filter_is_asked_and_marked_and_not_sent(site: Site, browser: Browser) -> None:
    published = site.add(filtered(LAST))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        expect(page.locator("legend:visible")).to_have_text("What did you use?")  # it is not one of those counted
        expect(text(page, "chosen")).to_have_text(word("form.chosen", count=1, total=3))
        first = page.get_by_role("group", name="What did you use?")
        expect(first).to_have_accessible_description(re.compile(re.escape(word("form.filter"))))
        assert text(first, "protection").count() == 0
        button(page, "randomize").click()  # a filter needs an answer like any question
        assert page.get_by_role("alert").get_by_role("listitem").count() == 1
        option(page, "phone").check()
        option(page, "after").check()
        assert text(page, "filter").locator("visible=true").count() == 2
        last = page.get_by_role("group", name=f"{word('form.progress', at=1, total=1)} How often?")
        text(last, "protection").click()
        expect(text(last, "costs")).to_be_visible()
        assert text(last, "depends").count() == 0  # what it depends on is not sent
        page.get_by_role("textbox").fill("5")
        assert violations(page) == []
        randomize(page)
        assert page.locator(".fields li").count() == 1
        told = page.locator(".fields").inner_text()
        assert "How often?" in told
        assert review_line("5") in told
        assert "What did you use?" not in device.text()
        assert [part is None for part in parts(page, published.survey)] == [True, True, False]
        send(page)
        assert site.stored_reports(published) == [json.loads(request.body) for request in site.requests_of()]
        assert device.complaints == []


def test_an_asked_question_that_a_filter_hides_is_sent_as_no_answer(site: Site, browser: Browser) -> None:
    published = site.add(filtered(LAST))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "notes").check()
        randomize(page)
        assert review_line(NO_ANSWER) in page.locator(".fields").inner_text()
        send(page)
        assert len(site.stored_reports(published)) == 1
