"""What a definition holds for the eye, in a real browser: consent, sections, batteries, order, thanks, completion."""

import json
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import BY_LOOK, PHONE, Site, apply_look, overflows, violations, visit
from tests.definitions import COIN, define, field, subset, yes_no
from tests.display_survey import ADDRESS, DRINKS, POINTS, STATEMENTS, study
from tests.form_browser import (
    NO,
    NO_ANSWER,
    YES,
    budget,
    button,
    option,
    options,
    press,
    randomize,
    review_line,
    send,
    text,
    title,
)
from tests.words import word

FALLEN = "crypto.getRandomValues = (bytes) => bytes.fill(0)"  # every coin shows heads: what is said is sent
KEPT = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"


def agree(page: Page) -> Locator:
    return page.get_by_role("checkbox", name=word("form.agree"), exact=True)


def row(page: Page, statement: str) -> Locator:
    return page.get_by_role("group", name=STATEMENTS[statement])


def roll(page: Page) -> None:
    button(page, "randomize").click()


def fits(page: Page, state: str) -> None:
    """Nothing is amiss on a phone in light colours or on a desktop in dark ones."""
    for look, rules in (("desktop-dark", BY_LOOK), ("phone-light", ())):
        apply_look(page, look)
        assert violations(page, *rules) == [], (state, look)
        assert overflows(page) == [], (state, look)


def test_the_form_waits_for_consent_and_tells_nobody_of_it(site: Site, browser: Browser) -> None:
    published = site.add(study())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert "You may stop at any time." in device.text()
        assert page.locator("fieldset:visible, form:visible").count() == 0
        assert page.get_by_role("status").inner_text() == ""
        before = page.evaluate(KEPT)
        press(page, button(page, "next"))
        expect(agree(page)).to_be_focused()
        described = f"{word('form.agree_more')} {word('form.agree_first')}"
        expect(agree(page)).to_have_accessible_description(described)
        fits(page, "consent")
        page.keyboard.press("Space")
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        assert page.get_by_role("status").inner_text() == word("form.loaded")
        assert text(page, "agree_first").count() == 0
        agree(page).uncheck()
        assert page.locator("fieldset:visible").count() == 0
        assert page.evaluate(KEPT) == before
        device.open(site.link(published))  # nothing remembers it
        expect(agree(page)).not_to_be_checked()


def test_consent_comes_before_the_ticket_and_is_asked_of_everybody(site: Site, browser: Browser) -> None:
    code = "a-code-of-22-characters"
    published = site.invite(code, definition=study())
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={code}"))
        take = button(page, "ticket_take")
        expect(take).to_be_hidden()
        agree(page).check()
        take.click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        expect(agree(page)).to_be_checked()  # once is enough, as long as the same person sits here
        text(page, "budget").click()
        text(page, "others").click()
        button(page, "other_new").click()
        expect(title(page, "ticket_needed")).to_be_visible()
        expect(text(page, "budget")).to_have_text(budget("0", "0", person=2))
        text(page, "budget").click()
        text(page, "others").click()
        button(page, "person", number=1).click()
        expect(agree(page)).not_to_be_checked()


def test_what_may_be_left_out_is_left_out_by_pressing_twice(site: Site, browser: Browser) -> None:
    published = site.add(study())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        agree(page).check()
        option(page, YES).check()
        for statement in ("calm", "tense"):
            row(page, statement).get_by_label("Agree", exact=True).check()
        roll(page)
        expect(title(page, "left")).to_be_focused()
        texts = ["I am tired.", "What do you drink?", "How many hours?"]  # the last one is conditional
        assert page.get_by_role("alert").get_by_role("listitem").all_inner_texts() == texts
        assert text(page, "missing").count() == 0
        assert page.locator("[aria-invalid=true]").count() == 0
        last = page.get_by_role("group", name=texts[-1])
        expect(last.locator("[data-text=left]")).to_have_text(word("form.left"))
        fits(page, "left out")
        page.get_by_role("button", name=texts[-1]).click()
        expect(page.get_by_role("textbox")).to_be_focused()
        page.keyboard.type("4")
        expect(last.locator("[data-text=left]")).to_have_count(0)
        randomize(page)
        told = page.locator(".fields").inner_text()
        assert [told.count(review_line(said)) for said in (YES, "Agree", NO_ANSWER, "4")] == [1, 2, 2, 1]


def test_one_at_a_time_a_question_left_out_is_hinted_at_once(site: Site, browser: Browser) -> None:
    questions = [options("a", "choice", "x", "y", optional=True), yes_no("b")]
    published = site.add(define(questions, [field(subset(3, 1), "a"), field(COIN, "b")], epsilon=10))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        button(page, "single").click()
        button(page, "next").click()
        expect(title(page, "left")).to_be_focused()
        button(page, "next").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()


def centre(radio: Locator) -> tuple[int, int]:
    box = radio.bounding_box()
    assert box is not None
    return round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)


def test_sections_have_headings_and_a_battery_is_a_table_on_a_wide_screen(site: Site, browser: Browser) -> None:
    published = site.add(study())
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        agree(page).check()
        assert page.get_by_role("heading", level=2).all_inner_texts() == ["How do you feel?", "Habits"]
        assert f"Think of the last week. {word('form.progress', at=2, total=5)} I am calm." in device.text()
        first = [centre(row(page, "calm").get_by_role("radio", name=point, exact=True)) for point in POINTS]
        assert len({x for x, _ in first}) == 1  # one below the other
        apply_look(page, "desktop-dark")
        table = {
            statement: [centre(row(page, statement).get_by_role("radio", name=point, exact=True)) for point in POINTS]
            for statement in STATEMENTS
        }
        for places in table.values():
            assert len({y for _, y in places}) == 1
            assert [x for x, _ in places] == [x for x, _ in table["calm"]]
        assert [x for x, _ in table["calm"]] == sorted({x for x, _ in table["calm"]})
        heads = page.locator(".points span").all_inner_texts()
        assert heads == [*POINTS, NO_ANSWER]
        skips = [row(page, statement).get_by_role("radio", name=NO_ANSWER).count() for statement in STATEMENTS]
        assert skips == [0, 0, 1]
        press(page, row(page, "calm").get_by_role("radio", name="Agree", exact=True))
        text(page, "protection_block").click()
        told = " ".join(page.locator(".battery + details").inner_text().split())
        assert "I am calm. + I feel tense before an exam." in told  # what is protected alike is told once
        assert page.locator(".battery + details [data-text=costs_each]").count() == 2
        fits(page, "battery")
        apply_look(page, "desktop-dark")
        button(page, "single").click()
        option(page, NO).check()
        button(page, "next").click()
        expect(page.get_by_role("heading", name="How do you feel?")).to_be_focused()
        assert page.locator("fieldset:visible").count() == 3  # a whole table
        roll_on = button(page, "next")
        roll_on.click()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 2
        row(page, "tense").get_by_role("radio", name="Neither").check()
        row(page, "tired").get_by_role("radio", name=NO_ANSWER).check()
        roll_on.click()
        expect(page.get_by_role("heading", name="Habits")).to_be_focused()
        expect(page.get_by_role("heading", name="How do you feel?")).to_be_hidden()
        assert device.complaints == []


def test_with_ask_only_sections_with_something_to_ask_are_shown(site: Site, browser: Browser) -> None:
    questions = [yes_no("a"), yes_no("b") | {"text": "And you?"}]
    fields = [field(COIN, "a", chance=2), field(COIN, "b", chance=999_998)]  # the second but once in 500,000
    sections = [{"first": "a", "title": "One"}, {"first": "b", "title": "Two"}]
    published = site.add(define(questions, fields, epsilon=10, ask=1, sections=sections))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert page.get_by_role("heading", level=2).all_inner_texts() == ["Two"]
        option(page, YES).check()
        randomize(page)


def drinks(page: Page) -> list[str]:
    return page.get_by_role("group", name="What do you drink?").locator("label").all_inner_texts()


def test_shuffled_options_stay_as_they_are_while_the_page_is_open_and_mean_the_same(
    site: Site, browser: Browser
) -> None:
    published = site.add(study())
    order = list(DRINKS)
    for i in range(len(order) - 1, 0, -1):  # by Fisher and Yates, with a source that gives zeros
        order[i], order[0] = order[0], order[i]
    with visit(browser, init=FALLEN) as device:
        page = device.open(site.link(published))
        agree(page).check()
        assert drinks(page) == [*order, NO_ANSWER]
        page.evaluate("() => { crypto.getRandomValues = (bytes) => bytes.fill(1) }")
        text(page, "budget").click()
        text(page, "others").click()
        button(page, "other_new").click()
        expect(agree(page)).not_to_be_checked()  # the questions are new, for somebody else
        agree(page).check()
        assert drinks(page) == [*order, NO_ANSWER]  # drawn once for all
        page.evaluate(f"() => {{ {FALLEN} }}")
        option(page, NO).first.check()
        for statement in STATEMENTS:
            row(page, statement).get_by_label("Neither", exact=True).check()
        option(page, "milk").check()
        randomize(page)
        assert f"{review_line('milk')} milk" in " ".join(page.locator(".fields").inner_text().split())


def test_shuffled_options_are_drawn_anew_for_everybody(site: Site, browser: Browser) -> None:
    """Four orders of 720 are all the same about once in 370,000,000."""
    published = site.add(study(slug="many"))
    with visit(browser) as device:
        seen = set()
        for _ in range(4):
            page = device.open(site.link(published))
            agree(page).check()
            seen.add(tuple(drinks(page)))
        assert len(seen) > 1
        assert {order[-1] for order in seen} == {NO_ANSWER}


def answer(page: Page) -> None:
    agree(page).check()
    option(page, NO).first.check()
    for statement in STATEMENTS:
        row(page, statement).get_by_label("Neither", exact=True).check()
    option(page, "milk").check()
    randomize(page)
    send(page)


def completed(site: Site, browser: Browser, published: Any, check: Any) -> None:
    """Answer, check what is shown, and come back to see it again."""
    with visit(browser, **PHONE, permissions=["clipboard-read", "clipboard-write"]) as device:
        page = device.open(site.link(published))
        answer(page)
        for state in ("receipt", "back"):
            assert "That was a great help. Come again!" in device.text()
            check(page)
            fits(page, state)
            device.open(site.link(published))
            expect(title(page, "answered")).to_be_visible()
        (report,) = [json.loads(request.body) for request in site.requests_of() if request.path.endswith("reports")]
        assert set(report) == {"survey", "id", "bits"}
        assert all(request.url.startswith(site.origin) for request in device.requests)
        assert device.complaints == []


def test_the_author_s_thanks_and_an_address_that_nothing_follows(site: Site, browser: Browser) -> None:
    def check(page: Page) -> None:
        link = page.get_by_role("link", name=ADDRESS)
        assert [link.get_attribute(name) for name in ("href", "rel", "target")] == [ADDRESS, "noreferrer", "_blank"]
        for key in ("completion_address", "completion_follow"):
            expect(text(page, key)).to_have_text(word(f"form.{key}"))

    completed(site, browser, site.add(study()), check)


def test_a_completion_code_is_there_to_copy_also_when_somebody_comes_back(site: Site, browser: Browser) -> None:
    def check(page: Page) -> None:
        expect(page.get_by_label(word("form.completion"), exact=True)).to_have_value("C1A2B3")
        button(page, "copy").click()
        expect(text(page, "copied")).to_be_visible()
        assert page.evaluate("() => navigator.clipboard.readText()") == "C1A2B3"
        for key in ("completion_code", "completion_same"):
            expect(text(page, key)).to_have_text(word(f"form.{key}"))

    completed(site, browser, site.add(study(completion="C1A2B3")), check)
