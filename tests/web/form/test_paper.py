"""The sheet and the interviewer's page: recipes, boxes, and sheets that arrive as they were ticked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page

from candor_client import Survey
from candor_client.report import from_base64url, unpack
from survey_app.store import State
from tests.browser import ServerRequest, Site, visit
from tests.definitions import (
    COIN,
    choice,
    define,
    encode,
    field,
    geometric,
    number,
    simple,
    subset,
    worked_example,
    yes_no,
)
from tests.fixtures import Installation
from tests.paper_surveys import KINDS, PAGES, one_of_three_parts, open_page, paper_survey, read_page


def test_the_sheet_has_a_recipe_and_boxes_for_each_question_that_coins_or_dice_can_make(
    installation: Installation, web: FlaskClient
) -> None:
    installation.publish(paper_survey())
    told = read_page(web, "paper")
    assert "1. Did you copy? Flip a coin 2 times, one after the other." in told
    assert "3. Did you buy a text? Roll a die once." in told
    assert "1–4 your true answer 5 Yes 6 No What came out Yes No" in told
    assert (
        "What helped? – Coins and dice are for questions that take a plain Yes or No. It is sent as “no answer”" in told
    )
    assert "at most ε = 2.71" in told  # ln 3 + ln 5: the other questions give nothing away
    assert web.get("/s/exam/paper").text.count('class="square"') == 4


def test_the_sheet_says_what_the_form_says_around_the_questions(installation: Installation, web: FlaskClient) -> None:
    headings = [{"first": "help", "title": "Your exam", "text": "Think of June.\u2029Only of June."}]
    headings += [{"first": "used", "title": "Never on paper"}]
    installation.publish(
        paper_survey(sections=headings, description="About exams.", consent="I am of age.\u2029Freely.")
    )
    told = read_page(web, "paper")
    assert "Answer on paper, with coins or dice About exams. " in told
    assert "I am of age. Freely. I agree 1. Did you copy?" in told
    assert "Your exam Think of June. Only of June. 3. Did you buy a text?" in told
    assert "Never on paper" not in told
    assert web.get("/s/exam/paper").text.count('class="square"') == 5


def test_a_sheet_that_cannot_be_entered_says_so_and_what_to_do(installation: Installation, web: FlaskClient) -> None:
    installation.publish(worked_example())
    for page in ("paper", "enter"):
        told = read_page(web, page)
        assert "This survey cannot be answered on paper" in told
        assert "Hours of study a week?" in told
        assert "optional, or give a question" in told
    assert "<input" not in web.get("/s/exam/enter").text
    assert "Flip a coin" in read_page(web, "paper")


def test_a_survey_without_any_such_question_has_no_sheet(installation: Installation, web: FlaskClient) -> None:
    installation.publish(KINDS["odd"])
    told = read_page(web, "paper")
    assert "No question of it can be answered with coins or dice" in told
    assert "A few coins or dice cannot make the chances of this question" in told
    assert 'class="square"' not in web.get("/s/exam/paper").text
    assert "No question of this survey has chances" in read_page(web, "privacy")


def test_a_choice_of_two_is_no_yes_or_no(installation: Installation, web: FlaskClient) -> None:
    installation.publish(define([choice("help", 2)], [field(COIN, "help")]))
    told = read_page(web, "paper")
    assert "Coins and dice are for questions that take a plain Yes or No" in told
    assert "cannot make the chances" not in told


def test_little_noise_and_exact_numbers_are_told_as_they_are(installation: Installation, web: FlaskClient) -> None:
    hours = number(max="1234567.125", step="0.125", levels=2, unit="h")
    installation.publish(define([hours], [field(subset(2, 1), "hours")]))
    assert "levels from 0 h to 1,234,567.125 h" in read_page(web, "privacy")
    installation.publish(define([number(levels=3, max=2)], [field(geometric(3, 2**62), "hours")], slug="calm"))
    told = read_page(web, "privacy", "calm")
    assert "leaves the number as it is" in told
    assert "at least 0" not in told


def test_a_die_picks_the_question_of_a_sheet(installation: Installation, web: FlaskClient) -> None:
    installation.publish(one_of_three_parts())
    told = read_page(web, "paper")
    assert "First find your question with a die." in told
    assert "Roll a die once. You threw Your question 1–2 1 3–4 2 5–6 3 " in told
    assert "throw again" not in told
    assert "If the die picks it, tick only this box: Picked by the die" in told


def test_a_die_picks_the_parts_of_a_sheet_with_their_chances(installation: Installation, web: FlaskClient) -> None:
    parts = [yes_no("copied"), yes_no("bought")]
    installation.publish(define(parts, [field(COIN, "copied", chance=3), field(COIN, "bought")], ask=1))
    told = read_page(web, "paper")
    assert "Roll a die once. You threw Your question 1–3 1 4 2 5–6 throw again" in told
    assert "cannot be answered on paper" not in told
    assert "<input" in web.get("/s/exam/enter").text
    names = [f"q{i}" for i in range(7)]
    installation.publish(
        define([yes_no(name) for name in names], [field(COIN, name) for name in names], ask=1, slug="many")
    )
    told = read_page(web, "paper", "many")
    assert "Roll a die 2 times, one after the other. You threw Your question 1 · 1–5 1 1 · 6 2 · 1–4 2" in told
    assert "6 · 6 throw again" in told


def test_chances_that_no_two_dice_make_and_blocks_are_told_apart_and_what_to_do(
    installation: Installation, web: FlaskClient
) -> None:
    parts = [yes_no("copied"), yes_no("bought"), yes_no("sold")]
    odd = [field(COIN, "copied", chance=612_345), field(subset(4, 1), "bought", "sold", chance=387_655)]
    installation.publish(define(parts, odd, ask=1))
    for page in ("paper", "enter"):
        told = read_page(web, page)
        assert "This survey cannot be answered on paper" in told
        assert "only one of its 2 parts, and two throws of a die cannot pick each part with its chance" in told
        assert (
            "can publish a separate survey for paper, in which everybody answers every question (without ask)" in told
        )
        assert "Print this page" not in told and "Roll a die" not in told
    assert 'class="square"' not in web.get("/s/exam/paper").text
    assert "leave together, as one combination; coins and dice are for a single Yes or No" in read_page(web, "paper")
    told = read_page(web, "privacy")
    assert "Your device draws this part with a chance of 61.2%." in told
    assert "Your device draws this part with a chance of 38.8%." in told


def shown(page: Page) -> dict[str, str]:
    """The exact bytes on the page."""
    report: dict[str, str] = json.loads(page.locator("#bytes code").text_content() or "")
    return report


def ticked(made: Survey, report: dict[str, str]) -> list[int | None]:
    """The bits of each field."""
    return unpack(made, from_base64url(report["bits"]))


def tick(page: Page, *answers: str) -> None:
    """Tick one label in each question, in order."""
    for fieldset, answer in zip(page.locator("fieldset").all(), answers, strict=True):
        fieldset.get_by_label(answer, exact=True).check()


def test_two_sheets_entered_by_keyboard_arrive_as_they_were_shown(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        assert "Never ask for anybody's true answer" in device.text()
        sent = []
        for keys, bits in ((("Space", "Tab", "Space"), (1, 1)), (("ArrowRight", "Tab", "Space"), (0, 1))):
            page.locator("input").first.focus()
            for key in keys:
                page.keyboard.press(key)
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            assert page.locator("#bytes code").is_visible()
            sent.append(shown(page))
            parts = ticked(published.survey, sent[-1])
            assert (parts[0], parts[2]) == bits
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.get_by_text(f"Sheets entered in this tab: {len(sent)}").wait_for()
            assert "Stored. The next sheet" in device.text()
            assert page.locator("input:checked").count() == 0
            assert page.evaluate("document.activeElement.name") == "field0"
            page.locator("#bytes").evaluate("element => element.open = false")
        assert sorted(site.stored_reports(published), key=str) == sorted(sent, key=str)
        assert len({report["id"] for report in sent}) == 2
        assert [json.loads(request.body) for request in site.requests_of()] == sent
        assert device.complaints == []


def test_nothing_leaves_but_the_report(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        for name in PAGES:
            page = open_page(device, f"{site.link(published)}/{name}")
        tick(page, "No", "Yes")
        report = shown(page)
        page.get_by_role("button", name="Send this sheet").click()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert page.evaluate("JSON.stringify({ ...localStorage })") == "{}"
        assert list(page.evaluate("({ ...sessionStorage })").values()) == ["1"]
        assert page.context.cookies() == []
        page.goto("about:blank")
        assert all(request.url.startswith((site.origin, "data:")) for request in device.requests)
        seen = [(one.method, one.url) for one in device.requests if one.url.startswith(site.origin)]
        assert sorted(seen) == sorted((one.method, site.origin + one.path) for one in site.requests)
        assert [one.body for one in site.requests if one.method != "GET"] == [
            json.dumps(report, separators=(",", ":")).encode()
        ]
        assert not any("cookie" in one.headers for one in site.requests)
        assert device.complaints == []


def test_an_unacknowledged_sheet_is_sent_again_unchanged_also_after_a_reload(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    down = (503, "application/json", b"{}")
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        tick(page, "Yes", "No")
        report = shown(page)
        site.intercept = lambda request: down if request.method == "POST" else None
        page.get_by_role("button", name="Send this sheet").click()
        page.get_by_text("The server did not answer").wait_for()
        assert page.locator("input:enabled").count() == 0
        (kept,) = page.evaluate("({ ...sessionStorage })").values()
        assert json.loads(kept) == {
            "id": report["id"], "bits": report["bits"],
            "values": ["1", "skipped", "0", "skipped", "skipped", "skipped"],
        }  # fmt: skip
        page.reload()
        page.locator("#kept").wait_for()
        assert "was not acknowledged" in device.text()
        assert page.locator("input:checked").count() == 2
        assert shown(page) == report
        site.intercept = lambda request: None
        page.get_by_role("button", name="Send the same sheet again").dblclick()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert site.stored_reports(published) == [report]
        bodies = {request.body for request in site.requests_of()}
        assert len(bodies) == 1
        assert len(site.requests_of()) == 2


def test_a_double_click_sends_once_and_a_gap_sends_nothing(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        send = page.get_by_role("button", name="Send this sheet")
        page.get_by_label("Yes").first.check()
        send.click()
        assert "Tick an outcome for every question" in page.inner_text("#status")
        assert page.evaluate("document.activeElement.name") == "field2"
        assert site.requests_of() == []
        page.get_by_label("No").last.check()
        send.dblclick()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert "Stored." in page.inner_text("#status")
        assert len(site.requests_of()) == len(site.stored_reports(published)) == 1


def test_a_sheet_that_was_given_up_is_gone(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        site.store.set_state(published, State.CLOSED)
        tick(page, "Yes", "No")
        page.get_by_role("button", name="Send this sheet").click()
        page.get_by_text("The survey is closed. This sheet can no longer be stored.").wait_for()
        page.get_by_role("button", name="Give this sheet up").click()
        assert page.locator("input:checked").count() == 0
        assert page.evaluate("({ ...sessionStorage })") == {}
        assert site.stored_reports(published) == []


def test_only_the_picked_question_of_a_sheet_is_sent(site: Site, browser: Browser) -> None:
    published = site.add(one_of_three_parts())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        assert "has picked one of the 3 questions" in device.text()
        for answers in (
            ("Yes", "Not picked", "Picked by the die"),
            ("Not picked", "Not picked", "Not picked"),
        ):
            tick(page, *answers)
            page.locator("#send").click()
            assert "Mark exactly one question as picked" in page.inner_text("#status")
        for answers, parts in (
            (("Not picked", "Yes", "Not picked"), (None, 1)),
            (("No", "Not picked", "Not picked"), (0, None)),
            (("Not picked", "Not picked", "Picked by the die"), (None, None)),
        ):
            tick(page, *answers)
            made = ticked(published.survey, shown(page))
            assert tuple(made[:2]) == parts
            assert (made[2] is None) == (answers[2] == "Not picked")
            before = len(site.stored_reports(published))
            page.locator("#send").click()
            page.get_by_text(f"Sheets entered in this tab: {before + 1}").wait_for()


def test_a_definition_that_changed_is_refused(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    other = encode(paper_survey(title="Another title"))

    def changed(request: ServerRequest) -> tuple[int, str, bytes] | None:
        return (200, "application/json", other) if request.path == "/api/surveys/exam" else None

    with visit(browser) as device:
        site.intercept = changed
        page = open_page(device, f"{site.link(published)}/enter")
        assert "was changed after this page was loaded" in page.inner_text("#trouble")
        assert page.locator("#enter").is_hidden()
        site.intercept = lambda request: None
        open_page(device, "about:blank")
        open_page(device, f"{site.link(published)}/enter#sha256={'0' * 64}")
        assert "was changed after this page was loaded" in page.inner_text("#trouble")
        assert site.requests_of() == []


def test_a_browser_that_keeps_nothing_still_sends(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    blocked = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } });"
    with visit(browser, init=blocked) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        tick(page, "Yes", "Yes")
        page.locator("#send").click()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert len(site.stored_reports(published)) == 1


def test_without_scripts_the_interviewers_page_says_so(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser, java_script_enabled=False) as device:
        page = device.page
        page.goto(f"{site.link(published)}/enter")
        assert "This page needs scripts" in device.text()
        assert page.locator("#send").is_hidden()
        page.goto(site.link(published))
        assert "This form needs scripts" in device.text()
        assert page.locator("input, form").count() == 0
    assert site.requests_of() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sheet_prints_on_white_and_without_what_is_for_the_screen(
    site: Site, browser: Browser, tmp_path: Path, scheme: Any
) -> None:
    published = site.add(simple())
    with visit(browser, color_scheme=scheme) as device:
        page = open_page(device, f"{site.link(published)}/paper")
        for size in ("A4", "Letter"):
            printed = page.pdf(format=size, path=tmp_path / f"{size}.pdf")
            assert printed.startswith(b"%PDF")
            assert len(re.findall(rb"/Type /Page\b", printed)) == 1
        page.emulate_media(media="print")
        assert page.locator(".screen").is_hidden()
        assert page.locator(".square").count() == 2
        ink = page.evaluate("getComputedStyle(document.querySelector('.sheet h3')).color")
        assert ink == "rgb(0, 0, 0)"
