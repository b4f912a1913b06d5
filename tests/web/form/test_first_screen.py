"""What somebody who has never heard of ε reads before the first question, and what leaving a question out means."""

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Locator, Page, expect

from candor_client import Survey
from candor_client.report import from_base64url, unpack
from survey_app.channels.posterior import SUSPICION, posterior_chance, total_epsilon
from survey_app.languages import LANGUAGES
from survey_app.languages.numbers import format_epsilon
from tests.browser import BY_LOOK, PHONE, Site, apply_look, overflows, violations, visit
from tests.definitions import COIN, choice, define, drawn, field, geometric, multiple, number, scale, subset, yes_no
from tests.fixtures import Installation
from tests.form_browser import (
    NO,
    NO_ANSWER,
    YES,
    button,
    option,
    press,
    randomize,
    review_line,
    send,
    shown_bytes,
    text,
    title,
)
from tests.words import word

FIRST = 999_990  # of a million: the other parts are drawn once in 100,000 visits


def asked(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Seven questions, of which each device is asked the first part."""
    named = {name for part in parts for name in part["questions"]}
    known = {
        "copied": yes_no("copied", text="Did you copy?"),
        "stress": yes_no("stress", text="Did you sleep badly?"),
        "why": choice("why", 2, show_if={"question": "copied", "is": ["yes"]}, text="Why?"),
        "fair": scale("fair"),
        "hours": number("hours", max=60, unit="h"),
        "help": choice("help", optional=True),
        "used": multiple("used"),
    }
    alone = {
        "copied": COIN, "stress": COIN, "why": subset(3, 1), "fair": subset(3, 1), "hours": subset(2, 1),
        "help": subset(4, 1), "used": drawn(3, 2),
    }  # fmt: skip
    rest = [field(mechanism, name) for name, mechanism in alone.items() if name not in named]
    first, *others = parts
    return define(list(known.values()), [first | {"chance": FIRST}, *others, *rest], ask=1, epsilon=10, **more)


def block(**more: Any) -> dict[str, Any]:
    return asked(field(subset(4, 1), "copied", "stress"), **more)


def blind(p: int, other: str) -> str:
    """Return the sentence on a blind draw, with its numbers."""
    return word("form.odds_blind", p=p, people=100, other=other)


CELLS = blind(67, word("form.other_cells", size=4))  # of a block of two questions
ROUNDED = word("form.rounded", values="0 h or 60 h")
DRAWN = {"draw": 2, "size": 3, "p": 67, "people": 100}
NAMED = {"weight": 2, "size": 4, "people": 100, "p": 75, "q": 41}
CASES = {  # a field, the number of its questions, and how it is randomized
    "a block": (field(subset(4, 1), "copied", "stress"), 2, CELLS),
    "a yes or no": (field(COIN, "copied"), 1, blind(50, f"{YES} or {NO}")),
    "a scale": (field(subset(3, 1), "fair"), 1, blind(63, word("form.other_answers", size=3))),
    "a number": (field(subset(2, 1), "hours"), 1, f"{ROUNDED} {blind(50, '60 h or 0 h')}"),
    "drawn options": (field(drawn(3, 2), "used"), 1, word("form.odds_drawn", **DRAWN)),
    "a list": (field(subset(4, 2), "help"), 1, word("form.odds_several", **NAMED)),
}


def hint(made: Survey) -> str:
    """Return the sentence on what a report can still raise a suspicion of 1 in 20 to."""
    after = posterior_chance(SUSPICION, total_epsilon(made))
    return word("form.total", part=after.cases, whole=after.of, epsilon=format_epsilon(total_epsilon(made), 2))


def span(target: Locator) -> tuple[float, float]:
    """Where something begins and ends on the page, from top to bottom."""
    found = target.bounding_box()
    assert found is not None
    return found["y"], found["y"] + found["height"]


@pytest.mark.parametrize("case", CASES)
def test_before_the_first_question_it_says_what_the_device_does_in_numbers(
    site: Site, browser: Browser, case: str
) -> None:
    part, count, odds = CASES[case]
    published = site.add(asked(part, description="About exams and study."))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        summary = page.locator("#promise")
        chosen, luck = word("form.chosen", count=count, total=7), word("form.luck")
        assert re.sub(r"\s+", " ", summary.inner_text()) == (
            f"{chosen} {luck} {word('form.rolls')} {odds} {word('form.never')} {hint(published.survey)}"
        )
        _, end = span(summary)
        start, _ = span(page.locator("legend:visible").first)
        assert end <= min(740, start)  # all of it on the first screen of a phone
        assert overflows(page) == []
        assert device.complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_screen_is_one_in_every_language(site: Site, browser: Browser, language: str) -> None:
    published = site.add(block(**({} if language == "en" else {"language": language})))
    other = word("form.other_cells", language, size=4)
    told = [
        word("form.chosen", language, count=2, total=7), word("form.rolls", language),
        word("form.odds_blind", language, p=67, people=100, other=other), word("form.never", language),
    ]  # fmt: skip
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        shown = " ".join(page.locator("#promise").inner_text().split())
        assert all(line in shown for line in told), shown
        assert span(page.locator("#promise"))[1] <= 740
        assert overflows(page) == []


@pytest.mark.parametrize(("percent", "deniable"), [(94, True), (96, False)])
def test_weak_protection_is_not_said_to_prove_nothing(
    installation: Installation, web: FlaskClient, percent: int, deniable: bool
) -> None:
    """From e^ε = 19 on, p = 95%, a suspicion of 1 in 20 can become more likely than not."""
    installation.publish(define([yes_no()], [field(weak(percent), "cheated")]))
    page = web.get("/s/exam").text.partition('id="words"')[0]
    assert (word("form.never") in page) == (word("form.cannot") in page) == deniable
    assert (word("form.mixed") in page) == (not deniable)


def weak(percent: int) -> dict[str, Any]:
    one = 2**64 * percent // 100
    return {"kind": "flip", "one": str(one), "zero": str(2**64 - one)}


def test_weak_protection_is_not_said_to_prove_nothing_by_the_script_either(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no()], [field(weak(96), "cheated")]))
    with visit(browser) as device:
        shown = device.open(site.link(published)).locator("#promise").inner_text()
        assert word("form.never") not in shown
        assert word("form.total", part=56, whole=100, epsilon="3.18") in shown


def test_several_fields_tell_the_largest_chance_and_mixed_ones_no_number(site: Site, browser: Browser) -> None:
    two = [field(COIN, "a"), field(subset(3, 1), "fair")]
    plain = site.add(define([yes_no("a"), scale("fair")], two))
    noisy = [*two, field(geometric(7), "hours")]
    mixed = site.add(define([yes_no("a"), scale("fair"), number("hours", levels=7)], noisy, slug="mixed"))
    with visit(browser) as device:
        shown = device.open(site.link(plain)).locator("#promise").inner_text()
        assert word("form.rolls_each", p=63, people=100) in shown
        assert text(device.page, "chosen").count() == 0
        shown = device.open(site.link(mixed)).locator("#promise").inner_text()
        assert word("form.promise") in shown
        assert re.findall(r"\d+", shown.replace(hint(mixed.survey), "")) == []


def test_with_scripts_off_it_is_still_true(
    site: Site, installation: Installation, web: FlaskClient, browser: Browser
) -> None:
    published = site.add(block())
    with visit(browser, java_script_enabled=False) as device:
        device.page.goto(site.link(published))
        shown = device.page.locator("#promise").inner_text()
        assert shown == f"{word('form.draws', total=7)} {word('form.promise')} {word('form.never')}"
        assert device.page.locator("form, input").count() == 0
    installation.publish(block(language="fr"))
    assert word("form.draws", "fr", total=7) in html.unescape(web.get("/s/exam").text)


def answer(page: Page, *labels: str) -> None:
    for question, label in zip(page.locator("fieldset").all(), labels, strict=True):
        question.get_by_label(label, exact=True).check()


def test_a_block_is_explained_once_and_its_combination_is_shown_question_by_question(
    site: Site, browser: Browser
) -> None:
    published = site.add(block())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert [re.sub(r"\s+", " ", text) for text in page.locator("legend").all_inner_texts()] == [
            f"{word('form.progress', at=1, total=2)} Did you copy?",
            f"{word('form.progress', at=2, total=2)} Did you sleep badly?",
        ]  # fmt: skip
        assert page.locator("fieldset details").count() == 0
        text(page, "protection_block").click()
        told = page.locator("form details").inner_text()
        assert word("form.joint", questions="Did you copy? + Did you sleep badly?") in told
        assert CELLS in told
        for look, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
            apply_look(page, look)
            assert violations(page, *rules) == []
        button(page, "single").click()
        expect(page.locator("form details")).to_be_visible()
        button(page, "together").click()
        answer(page, YES, NO)
        randomize(page)
        (part, *rest) = unpack(published.survey, from_base64url(json.loads(shown_bytes(page))["bits"]))
        assert part is not None and rest == [None] * 5
        cell = published.survey.fields[0].cells[4 - part.bit_length()]
        sent = [YES if digit else NO for digit in cell]
        rows = page.locator(".fields li p:has(.sent)").all_inner_texts()
        assert rows == [f"{review_line(YES)} {sent[0]}", f"{review_line(NO)} {sent[1]}"]
        expect(text(page, "review_made")).to_be_visible()
        expect(text(page, "chosen")).to_have_text(word("form.chosen", count=2, total=7))
        assert word("form.promise") in page.locator("#promise").inner_text()  # the numbers are below now
        assert violations(page) == []
        send(page)
        receipt = page.locator(".fields").inner_text()
        lead = word("form.sent")
        assert [line for line in receipt.splitlines() if line.startswith(lead)] == [f"{lead} {one}" for one in sent]
        assert CELLS in receipt
        expect(text(page, "chosen")).to_have_text(word("form.chosen", count=2, total=7))


def test_a_filter_is_marked_for_the_eye_and_the_ear_and_by_keyboard_leads_on(site: Site, browser: Browser) -> None:
    published = site.add(asked(field(subset(3, 1), "why")))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        expect(text(page, "chosen")).to_have_text(word("form.chosen", count=1, total=7))
        group = page.get_by_role("group", name="Did you copy?")
        expect(group).to_have_accessible_description(word("form.filter"))
        expect(group.locator(".filter")).to_be_visible()
        assert group.evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"
        nothing = text(page, "hidden")
        expect(nothing).to_be_hidden()
        press(page, option(page, NO))
        expect(nothing).to_be_visible()
        press(page, option(page, YES))
        expect(nothing).to_be_hidden()
        why = page.get_by_role("group", name=f"{word('form.progress', at=1, total=1)} Why?")
        expect(why).to_be_visible()
        assert why.evaluate("e => getComputedStyle(e).borderTopStyle") == "solid"
        assert violations(page) == []
        press(page, option(page, "option 1"))
        randomize(page, press)
        assert "Did you copy?" not in page.locator(".fields").inner_text()


def test_a_drawn_question_that_the_filter_hides_counts_as_no_answer_and_the_review_says_so(
    site: Site, browser: Browser
) -> None:
    published = site.add(asked(field(subset(3, 1), "why")))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, NO).check()
        expect(text(page, "hidden")).to_be_visible()
        randomize(page)
        rows = page.locator(".fields").inner_text()
        assert review_line(NO_ANSWER) in rows
        assert word("form.unasked") in rows
        expect(text(page, "final")).to_be_visible()
        send(page)
        expect(text(page, "unasked")).to_have_count(0)  # nobody could tell any more
        expect(text(page, "receipt_more")).to_be_visible()
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, YES).check()
        option(page, "option 1").check()
        randomize(page)
        expect(text(page, "unasked")).to_have_count(0)


def test_what_was_to_be_looked_at_again_goes_once_all_is_answered(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        button(page, "randomize").click()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 2
        option(page, YES).first.check()
        expect(page.get_by_role("alert")).to_be_visible()
        option(page, NO).last.check()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_an_optional_question_may_be_left_blank_and_says_so(site: Site, browser: Browser) -> None:
    questions = [
        yes_no("a", optional=True), multiple("used", optional=True), number("hours", max=40, unit="years", optional=True),
    ]  # fmt: skip
    fields = [field(subset(3, 1), "a"), field(drawn(4, 2), "used"), field(subset(3, 1), "hours")]
    published = site.add(define(questions, fields, epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert text(page, "leave").count() == 3
        described = f"{word('form.whole', low=0, high='40 years')} {word('form.leave')}"
        expect(page.get_by_role("group", name="How many?")).to_have_accessible_description(described)
        page.get_by_role("textbox").fill("forty")
        button(page, "randomize").click()
        expect(title(page, "errors")).to_be_focused()
        assert page.locator("[aria-invalid=true]").count() == 1  # what is no number is no blank
        page.get_by_role("textbox").fill(" ")
        button(page, "randomize").click()
        expect(title(page, "left")).to_be_focused()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 1  # of the others it was said before
        randomize(page)
        assert page.locator(".fields").inner_text().count(review_line(NO_ANSWER)) == 3
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_a_question_that_needs_an_answer_does_not_say_that_it_may_be_left_blank(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no()], [field(COIN, "cheated")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert text(page, "leave").count() == 0
        button(page, "randomize").click()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 1


NUMBERS = {
    (0, 40, 1, "years"): word("form.whole", low=0, high="40 years"),
    (0, 10_000, 100, "€"): word("form.number", low=0, high="10,000 €", step=100),
    ("0.5", "9.5", 1, ""): word("form.number", low="0.5", high="9.5", step=1),
    (-10, 10, "0.5", "°C"): word("form.number", low=-10, high="10 °C", step="0.5"),
}


def test_a_number_says_its_unit_once_and_steps_only_where_they_matter(site: Site, browser: Browser) -> None:
    questions = [
        number(f"n{i}", min=low, max=high, step=step, **({"unit": unit} if unit else {}))
        for i, (low, high, step, unit) in enumerate(NUMBERS)
    ]
    published = site.add(define(questions, [field(subset(2, 1), one["id"]) for one in questions], epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert page.locator("fieldset > .hint").all_inner_texts() == list(NUMBERS.values())
