"""The sheet and the interviewer's page: recipes, boxes, and sheets that arrive as they were ticked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

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
from tests.golden_files import Golden, page_text
from tests.paper_surveys import KINDS, PAGES, one_of_three_parts, open_page, paper_survey, read_page, spread_cells
from tests.words import word

YES, NO = word("privacy.yes"), word("privacy.no")
PICKED, UNPICKED = word("paper.enter_picked"), word("paper.enter_unpicked")
PICKS = f"{word('paper.throw')} {word('paper.pick_question')}"  # the head of the table that picks a question


def undrawable() -> dict[str, Any]:
    """Return a survey of two parts, one of them a block, that no two throws of a die can pick."""
    parts = [yes_no("copied"), yes_no("bought"), yes_no("sold")]
    odd = [field(COIN, "copied", chance=612_345), field(subset(4, 1), "bought", "sold", chance=387_655)]
    return define(parts, odd, ask=1)


WORDS: dict[str, tuple[dict[str, Any], State]] = {
    "complete": (paper_survey(sections=[{"first": "copied", "title": "Your exam"}], consent="I agree."), State.OPEN),
    "picked": (one_of_three_parts(), State.OPEN),
    "incomplete": (worked_example(), State.OPEN),
    "impossible": (KINDS["odd"], State.OPEN),
    "undrawable": (undrawable(), State.OPEN),
    "closed": (simple(), State.CLOSED),
    "paused": (simple(), State.PAUSED),
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("page", ["paper", "enter"])
def test_sheets_in_words(installation: Installation, web: FlaskClient, golden: Golden, page: str, name: str) -> None:
    definition, state = WORDS[name]
    installation.publish(definition, state=state)
    golden(page_text(spread_cells(web.get(f"/s/exam/{page}").text)))


def test_the_interviewer_s_messages_in_words(installation: Installation, web: FlaskClient, golden: Golden) -> None:
    installation.publish(simple())
    data = web.get("/s/exam/enter").text.partition('id="sheet">')[2].partition("</script>")[0]
    golden("\n".join(f"{key}: {text}" for key, text in json.loads(data)["strings"].items()))


def test_the_sheet_has_a_recipe_and_boxes_for_each_question_that_coins_or_dice_can_make(
    installation: Installation, web: FlaskClient
) -> None:
    installation.publish(paper_survey())
    told = read_page(web, "paper")
    assert f"1. Did you copy? {word('paper.coin', throws=2)}" in told
    assert f"3. Did you buy a text? {word('paper.die_once')}" in told
    assert f"1–4 {word('paper.truth')} 5 {YES} 6 {NO} {word('paper.boxes')} {YES} {NO}" in told
    assert f"What helped? – {word('paper.reason_type')} {word('paper.reason_skipped')}" in told
    chances = {name: word("privacy.chance", cases=cases, of=100) for name, cases in (("before", 5), ("after", 45))}
    assert word("paper.spends", epsilon="2.71", **chances) in told  # ln 3 + ln 5: the others give nothing away
    assert web.get("/s/exam/paper").text.count('class="square"') == 4


def test_the_sheet_says_what_the_form_says_around_the_questions(installation: Installation, web: FlaskClient) -> None:
    headings = [{"first": "help", "title": "Your exam", "text": "Think of June.\u2029Only of June."}]
    headings += [{"first": "used", "title": "Never on paper"}]
    installation.publish(
        paper_survey(sections=headings, description="About exams.", consent="I am of age.\u2029Freely.")
    )
    told = read_page(web, "paper")
    assert f"{word('paper.title')} About exams. " in told
    assert f"I am of age. Freely. {word('form.agree')} 1. Did you copy?" in told
    assert "Your exam Think of June. Only of June. 3. Did you buy a text?" in told
    assert "Never on paper" not in told
    assert web.get("/s/exam/paper").text.count('class="square"') == 5


def test_a_sheet_that_cannot_be_entered_says_so_and_what_to_do(installation: Installation, web: FlaskClient) -> None:
    installation.publish(worked_example())
    for page in ("paper", "enter"):
        told = read_page(web, page)
        assert f"{word('paper.cannot_heading')} {word('paper.cannot_missing')}" in told
        assert "Hours of study a week?" in told
        assert word("paper.cannot_advice") in told
    assert "<input" not in web.get("/s/exam/enter").text
    assert word("paper.coin", throws=2) in read_page(web, "paper")


def test_a_survey_without_any_such_question_has_no_sheet(installation: Installation, web: FlaskClient) -> None:
    installation.publish(KINDS["odd"])
    told = read_page(web, "paper")
    assert word("paper.cannot_none") in told
    assert word("paper.reason_odds") in told
    assert 'class="square"' not in web.get("/s/exam/paper").text
    assert word("privacy.coins_none") in read_page(web, "privacy")


def test_a_choice_of_two_is_no_yes_or_no(installation: Installation, web: FlaskClient) -> None:
    installation.publish(define([choice("help", 2)], [field(COIN, "help")]))
    told = read_page(web, "paper")
    assert word("paper.reason_type") in told
    assert word("paper.reason_odds") not in told


def test_little_noise_and_exact_numbers_are_told_as_they_are(installation: Installation, web: FlaskClient) -> None:
    hours = number(max="1234567.125", step="0.125", levels=2, unit="h")
    installation.publish(define([hours], [field(subset(2, 1), "hours")]))
    assert word("privacy.levels", levels=2, low="0 h", high="1,234,567.125 h") in read_page(web, "privacy")
    installation.publish(define([number(levels=3, max=2)], [field(geometric(3, 2**62), "hours")], slug="calm"))
    told = read_page(web, "privacy", "calm")
    assert word("privacy.geometric_little") in told
    assert word("privacy.geometric", away="0") not in told


def test_a_die_picks_the_question_of_a_sheet(installation: Installation, web: FlaskClient) -> None:
    installation.publish(one_of_three_parts())
    told = read_page(web, "paper")
    assert f"{word('paper.how_pick')} {word('paper.die_once')} {PICKS} 1–2 1 3–4 2 5–6 3 " in told
    assert word("paper.pick_again") not in told
    assert f"{word('paper.reason_skipped_pick')} {PICKED}" in told


def test_a_die_picks_the_parts_of_a_sheet_with_their_chances(installation: Installation, web: FlaskClient) -> None:
    parts = [yes_no("copied"), yes_no("bought")]
    installation.publish(define(parts, [field(COIN, "copied", chance=3), field(COIN, "bought")], ask=1))
    told = read_page(web, "paper")
    assert f"{word('paper.die_once')} {PICKS} 1–3 1 4 2 5–6 {word('paper.pick_again')}" in told
    assert word("paper.cannot_heading") not in told
    assert "<input" in web.get("/s/exam/enter").text
    names = [f"q{i}" for i in range(7)]
    installation.publish(
        define([yes_no(name) for name in names], [field(COIN, name) for name in names], ask=1, slug="many")
    )
    told = read_page(web, "paper", "many")
    assert f"{word('paper.die', throws=2)} {PICKS} 1 · 1–5 1 1 · 6 2 · 1–4 2" in told
    assert f"6 · 6 {word('paper.pick_again')}" in told


def test_chances_that_no_two_dice_make_and_blocks_are_told_apart_and_what_to_do(
    installation: Installation, web: FlaskClient
) -> None:
    installation.publish(undrawable())
    for page in ("paper", "enter"):
        told = read_page(web, page)
        cannot = [word(f"paper.cannot_{key}", fields=2) for key in ("heading", "pick", "pick_advice")]
        assert " ".join(cannot) in told
        throws = (word("paper.die_once"), *(word("paper.die", throws=throws) for throws in (1, 2)))
        assert not any(unwanted in told for unwanted in (word("paper.print"), *throws))
    assert 'class="square"' not in web.get("/s/exam/paper").text
    assert word("paper.reason_block") in read_page(web, "paper")
    told = read_page(web, "privacy")
    for percent in ("61.2", "38.8"):
        assert word("privacy.ask_chance", percent=percent) in told


def shown(page: Page) -> dict[str, str]:
    """The exact bytes on the page."""
    report: dict[str, str] = json.loads(page.locator("#bytes code").text_content() or "")
    return report


def ticked(made: Survey, report: dict[str, str]) -> list[int | None]:
    """The bits of each field."""
    return unpack(made, from_base64url(report["bits"]))


def wait_for_count(page: Page, count: int) -> None:
    """Wait until so many sheets have been entered in this tab."""
    expect(page.locator("#count")).to_have_text(word("paper.enter_count", count=count))


def tick(page: Page, *answers: str) -> None:
    """Tick one label in each question, in order."""
    for fieldset, answer in zip(page.locator("fieldset").all(), answers, strict=True):
        fieldset.get_by_label(answer, exact=True).check()


@pytest.mark.essential
def test_two_sheets_entered_by_keyboard_arrive_as_they_were_shown(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        assert word("paper.enter_never") in device.text()
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
            wait_for_count(page, len(sent))
            expect(page.locator("#status")).to_have_attribute("data-text", "enter_stored")
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
        tick(page, NO, YES)
        report = shown(page)
        page.get_by_role("button", name=word("paper.enter_send"), exact=True).click()
        wait_for_count(page, 1)
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
        tick(page, YES, NO)
        report = shown(page)
        site.intercept = lambda request: down if request.method == "POST" else None
        page.get_by_role("button", name=word("paper.enter_send"), exact=True).click()
        expect(page.locator("#status")).to_have_attribute("data-text", "error_unreachable")
        assert page.locator("input:enabled").count() == 0
        (kept,) = page.evaluate("({ ...sessionStorage })").values()
        assert json.loads(kept) == {
            "id": report["id"], "bits": report["bits"],
            "values": ["1", "skipped", "0", "skipped", "skipped", "skipped"],
        }  # fmt: skip
        page.reload()
        page.locator("#kept").wait_for()
        assert word("paper.enter_kept") in device.text()
        assert page.locator("input:checked").count() == 2
        assert shown(page) == report
        site.intercept = lambda request: None
        page.get_by_role("button", name=word("paper.enter_again"), exact=True).dblclick()
        wait_for_count(page, 1)
        assert site.stored_reports(published) == [report]
        bodies = {request.body for request in site.requests_of()}
        assert len(bodies) == 1
        assert len(site.requests_of()) == 2


def test_a_double_click_sends_once_and_a_gap_sends_nothing(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        send = page.get_by_role("button", name=word("paper.enter_send"), exact=True)
        page.get_by_label(YES, exact=True).first.check()
        send.click()
        expect(page.locator("#status")).to_have_attribute("data-text", "enter_incomplete")
        expect(page.locator("#status")).to_have_text(word("paper.enter_incomplete"))
        assert page.evaluate("document.activeElement.name") == "field2"
        assert site.requests_of() == []
        page.get_by_label(NO, exact=True).last.check()
        send.dblclick()
        wait_for_count(page, 1)
        expect(page.locator("#status")).to_have_text(word("paper.enter_stored"))
        assert len(site.requests_of()) == len(site.stored_reports(published)) == 1


def test_a_sheet_that_was_given_up_is_gone(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        site.store.set_state(published, State.CLOSED)
        tick(page, YES, NO)
        page.get_by_role("button", name=word("paper.enter_send"), exact=True).click()
        expect(page.locator("#status")).to_have_text(word("paper.error_survey_closed"))
        page.get_by_role("button", name=word("paper.enter_drop"), exact=True).click()
        assert page.locator("input:checked").count() == 0
        assert page.evaluate("({ ...sessionStorage })") == {}
        assert site.stored_reports(published) == []


def test_only_the_picked_question_of_a_sheet_is_sent(site: Site, browser: Browser) -> None:
    published = site.add(one_of_three_parts())
    with visit(browser) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        assert word("paper.enter_pick", fields=3) in device.text()
        for answers in (
            (YES, UNPICKED, PICKED),
            (UNPICKED, UNPICKED, UNPICKED),
        ):
            tick(page, *answers)
            page.locator("#send").click()
            expect(page.locator("#status")).to_have_attribute("data-text", "enter_incomplete_pick")
        for answers, parts in (
            ((UNPICKED, YES, UNPICKED), (None, 1)),
            ((NO, UNPICKED, UNPICKED), (0, None)),
            ((UNPICKED, UNPICKED, PICKED), (None, None)),
        ):
            tick(page, *answers)
            made = ticked(published.survey, shown(page))
            assert tuple(made[:2]) == parts
            assert (made[2] is None) == (answers[2] == UNPICKED)
            before = len(site.stored_reports(published))
            page.locator("#send").click()
            wait_for_count(page, before + 1)


def test_a_definition_that_changed_is_refused(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    other = encode(paper_survey(title="Another title"))

    def changed(request: ServerRequest) -> tuple[int, str, bytes] | None:
        return (200, "application/json", other) if request.path == "/api/surveys/exam" else None

    with visit(browser) as device:
        site.intercept = changed
        page = open_page(device, f"{site.link(published)}/enter")
        expect(page.locator("#trouble")).to_have_attribute("data-text", "error_changed")
        assert page.locator("#enter").is_hidden()
        site.intercept = lambda request: None
        open_page(device, "about:blank")
        open_page(device, f"{site.link(published)}/enter#sha256={'0' * 64}")
        expect(page.locator("#trouble")).to_have_attribute("data-text", "error_changed")
        assert site.requests_of() == []


def test_a_browser_that_keeps_nothing_still_sends(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    blocked = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } });"
    with visit(browser, init=blocked) as device:
        page = open_page(device, f"{site.link(published)}/enter")
        tick(page, YES, YES)
        page.locator("#send").click()
        wait_for_count(page, 1)
        assert len(site.stored_reports(published)) == 1


def test_without_scripts_the_interviewers_page_says_so(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey())
    with visit(browser, java_script_enabled=False) as device:
        page = device.page
        page.goto(f"{site.link(published)}/enter")
        assert word("paper.enter_noscript") in device.text()
        assert page.locator("#send").is_hidden()
        page.goto(site.link(published))
        assert word("privacy.noscript_heading") in device.text()
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
