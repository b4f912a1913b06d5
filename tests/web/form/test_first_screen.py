"""What somebody who has never heard of ε reads before the first question, and what leaving a question out means."""

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Locator, Page, expect

from candor_client.report import from_base64url, unpack
from survey_app.languages import LANGUAGES, Words
from tests.browser import BY_LOOK, PHONE, Site, apply_look, overflows, violations, visit
from tests.definitions import COIN, choice, define, drawn, field, geometric, multiple, number, scale, subset, yes_no
from tests.fixtures import Installation
from tests.form_browser import option, press, randomize, send, shown_bytes

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


CASES = {
    "a block": (
        field(subset(4, 1), "copied", "stress"),
        "2 of 7 questions, chosen by your device Chance made the choice. "
        "Before anything leaves, your device rolls dice. In about 67 of 100 cases your device sends what "
        "you said, otherwise one of all 4 combinations of answers, drawn blindly. "
        "So what is sent never proves what you said. It can still be a hint: someone who thought the chance was "
        "5 in 100 that something is true of you could then think it at most about",
    ),
    "a yes or no": (field(COIN, "copied"), "In about 50 of 100 cases your device sends what you said, otherwise Yes or No, drawn blindly."),
    "a scale": (field(subset(3, 1), "fair"), "In about 63 of 100 cases your device sends what you said, otherwise one of all 3 possible answers, drawn blindly."),
    "a number": (
        field(subset(2, 1), "hours"),
        "Only rough numbers are sent: 0 h or 60 h. Chance turns yours into one of these, more often a nearer one; "
        "that counts as what you said. "
        "In about 50 of 100 cases your device sends what you said, otherwise 60 h or 0 h, drawn blindly.",
    ),
    "drawn options": (
        field(drawn(3, 2), "used"),
        "Your device picks 2 of the 3 options by chance and reports on nothing else: in about 67 of 100 cases what you said, "
        "otherwise yes or no for each, drawn blindly.",
    ),
    "a list": (
        field(subset(4, 2), "help"),
        "Your device names 2 of 4 possible answers. Of 100 people who gave an answer, about 75 devices name it; "
        "of 100 who gave another, about 41 do.",
    ),
}  # fmt: skip


def span(target: Locator) -> tuple[float, float]:
    """Where something begins and ends on the page, from top to bottom."""
    found = target.bounding_box()
    assert found is not None
    return found["y"], found["y"] + found["height"]


@pytest.mark.parametrize("case", CASES)
def test_before_the_first_question_it_says_what_the_device_does_in_numbers(
    site: Site, browser: Browser, case: str
) -> None:
    part, told = CASES[case]
    published = site.add(asked(part, description="About exams and study."))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        summary = page.locator("#promise")
        assert told in re.sub(r"\s+", " ", summary.inner_text())
        assert "could then think it at most about" in summary.inner_text()
        _, end = span(summary)
        start, _ = span(page.locator("legend:visible").first)
        assert end <= min(740, start)  # all of it on the first screen of a phone
        assert overflows(page) == []
        assert device.complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_screen_is_one_in_every_language(site: Site, browser: Browser, language: str) -> None:
    published = site.add(block(**({} if language == "en" else {"language": language})))
    words = Words(language)
    other = words("form.other_cells", size=4)
    told = [
        words("form.chosen", count=2, total=7), words("form.rolls"),
        words("form.odds_blind", p=67, people=100, other=other), words("form.never"),
    ]  # fmt: skip
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        shown = page.locator("#promise").inner_text()
        assert all(line in shown for line in told), shown
        assert span(page.locator("#promise"))[1] <= 740
        assert overflows(page) == []


@pytest.mark.parametrize(("percent", "deniable"), [(94, True), (96, False)])
def test_weak_protection_is_not_said_to_prove_nothing(
    installation: Installation, web: FlaskClient, percent: int, deniable: bool
) -> None:
    """From e^ε = 19 on, p = 95%, a suspicion of 1 in 20 can become more likely than not."""
    installation.publish(define([yes_no()], [field(weak(percent), "cheated")]))
    assert ("never proves what you said." in web.get("/s/exam").text.partition('id="words"')[0]) == deniable


def weak(percent: int) -> dict[str, Any]:
    one = 2**64 * percent // 100
    return {"kind": "flip", "one": str(one), "zero": str(2**64 - one)}


def test_weak_protection_is_not_said_to_prove_nothing_by_the_script_either(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no()], [field(weak(96), "cheated")]))
    with visit(browser) as device:
        shown = device.open(site.link(published)).locator("#promise").inner_text()
        assert "never proves" not in shown
        assert "at most about 56 in 100 (ε = 3.18)" in shown


def test_several_fields_tell_the_largest_chance_and_mixed_ones_no_number(site: Site, browser: Browser) -> None:
    two = [field(COIN, "a"), field(subset(3, 1), "fair")]
    plain = site.add(define([yes_no("a"), scale("fair")], two))
    noisy = [*two, field(geometric(7), "hours")]
    mixed = site.add(define([yes_no("a"), scale("fair"), number("hours", levels=7)], noisy, slug="mixed"))
    with visit(browser) as device:
        shown = device.open(site.link(plain)).locator("#promise").inner_text()
        assert "For each question, in at most about 63 of 100 cases it sends what you said" in shown
        assert "chosen by your device" not in shown
        shown = device.open(site.link(mixed)).locator("#promise").inner_text()
        assert Words("en")("form.promise") in shown
        assert "of 100 cases" not in shown


def test_with_scripts_off_it_is_still_true(
    site: Site, installation: Installation, web: FlaskClient, browser: Browser
) -> None:
    published = site.add(block())
    with visit(browser, java_script_enabled=False) as device:
        device.page.goto(site.link(published))
        shown = device.page.locator("#promise").inner_text()
        assert "Your device draws by itself which of the 7 questions you get." in shown
        assert f"{Words('en')('form.promise')} {Words('en')('form.never')}" in shown
        assert "chosen by your device" not in shown
        assert device.page.locator("form, input").count() == 0
    installation.publish(block(language="fr"))
    assert Words("fr")("form.draws", total=7) in web.get("/s/exam").text.replace("&#39;", "'")


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
            "1 of 2 Did you copy?", "2 of 2 Did you sleep badly?",
        ]  # fmt: skip
        assert page.locator("fieldset details").count() == 0
        page.get_by_text("How these answers are protected").click()
        told = page.locator("form details").inner_text()
        assert "They leave together, as one combination: Did you copy? + Did you sleep badly?" in told
        assert "one of all 4 combinations of answers, drawn blindly" in told
        for look, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
            apply_look(page, look)
            assert violations(page, *rules) == []
        page.get_by_role("button", name="One question at a time").click()
        expect(page.locator("form details")).to_be_visible()
        page.get_by_role("button", name="All questions on one page").click()
        answer(page, "Yes", "No")
        randomize(page)
        (part, *rest) = unpack(published.survey, from_base64url(json.loads(shown_bytes(page))["bits"]))
        assert part is not None and rest == [None] * 5
        cell = published.survey.fields[0].cells[4 - part.bit_length()]
        sent = ["Yes" if digit else "No" for digit in cell]
        rows = page.locator(".fields li p:has(.sent)").all_inner_texts()
        assert rows == [f"you: Yes → sent: {sent[0]}", f"you: No → sent: {sent[1]}"]
        assert "Nobody who sees this can tell for sure whether you said it or chance did." in device.text()
        assert "2 of 7 questions, chosen by your device" in device.text()
        assert Words("en")("form.promise") in page.locator("#promise").inner_text()  # the numbers are below now
        assert violations(page) == []
        send(page)
        receipt = page.locator(".fields").inner_text()
        assert [line for line in receipt.splitlines() if "sent:" in line] == [f"sent: {one}" for one in sent]
        assert "one of all 4 combinations of answers, drawn blindly" in receipt
        assert "2 of 7 questions, chosen by your device" in device.text()


def test_a_filter_is_marked_for_the_eye_and_the_ear_and_by_keyboard_leads_on(site: Site, browser: Browser) -> None:
    published = site.add(asked(field(subset(3, 1), "why")))
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        assert "1 of 7 questions, chosen by your device" in device.text()
        group = page.get_by_role("group", name="Did you copy?")
        expect(group).to_have_accessible_description(Words("en")("form.filter"))
        expect(group.locator(".filter")).to_be_visible()
        assert group.evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"
        nothing = page.get_by_text("That leads to no further question")
        expect(nothing).to_be_hidden()
        press(page, option(page, "No"))
        expect(nothing).to_be_visible()
        press(page, option(page, "Yes"))
        expect(nothing).to_be_hidden()
        why = page.get_by_role("group", name="1 of 1 Why?")
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
        option(page, "No").check()
        expect(page.get_by_text("it counts as “No answer”, and the dice are rolled all the same.")).to_be_visible()
        randomize(page)
        rows = page.locator(".fields").inner_text()
        assert "you: No answer → sent:" in rows
        assert "You were not asked this, so it counts as “No answer”." in rows
        assert "It is sent only if you press the button; you may also close the page." in device.text()
        send(page)
        assert "You were not asked this" not in device.text()  # nobody could tell any more
        assert "It may be what you said, or chance; nothing in it shows which." in device.text()
        assert "“sent: Yes” does not mean that you said Yes." in device.text()
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "Yes").check()
        option(page, "option 1").check()
        randomize(page)
        assert "You were not asked this" not in device.text()


def test_what_was_to_be_looked_at_again_goes_once_all_is_answered(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        page.get_by_role("button", name="Roll the dice").click()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 2
        option(page, "Yes").first.check()
        expect(page.get_by_role("alert")).to_be_visible()
        option(page, "No").last.check()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_an_optional_question_may_be_left_blank_and_says_so(site: Site, browser: Browser) -> None:
    questions = [
        yes_no("a", optional=True), multiple("used", optional=True), number("hours", max=40, unit="years", optional=True),
    ]  # fmt: skip
    fields = [field(subset(3, 1), "a"), field(drawn(4, 2), "used"), field(subset(3, 1), "hours")]
    published = site.add(define(questions, fields, epsilon=10))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert page.get_by_text("You may leave this blank; that counts as no answer.").count() == 3
        described = "A whole number from 0 to 40 years. You may leave this blank; that counts as no answer."
        expect(page.get_by_role("group", name="How many?")).to_have_accessible_description(described)
        page.get_by_role("textbox").fill("forty")
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="Please look at this again")).to_be_focused()
        assert page.locator("[aria-invalid=true]").count() == 1  # what is no number is no blank
        page.get_by_role("textbox").fill(" ")
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="You left this out.")).to_be_focused()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 1  # of the others it was said before
        randomize(page)
        assert page.locator(".fields").inner_text().count("you: No answer →") == 3
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_a_question_that_needs_an_answer_does_not_say_that_it_may_be_left_blank(site: Site, browser: Browser) -> None:
    published = site.add(define([yes_no()], [field(COIN, "cheated")]))
    with visit(browser) as device:
        page = device.open(site.link(published))
        assert page.get_by_text("leave this blank").count() == 0
        page.get_by_role("button", name="Roll the dice").click()
        assert page.get_by_role("alert").get_by_role("listitem").count() == 1


NUMBERS = {
    (0, 40, 1, "years"): "A whole number from 0 to 40 years.",
    (0, 10_000, 100, "€"): "A number from 0 to 10,000 €, in steps of 100.",
    ("0.5", "9.5", 1, ""): "A number from 0.5 to 9.5, in steps of 1.",
    (-10, 10, "0.5", "°C"): "A number from -10 to 10 °C, in steps of 0.5.",
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
