"""The pages that explain, the sheet and the interviewer's page: what they say, in which state, and what leaves them."""

import html
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page

from client import Survey, randomize
from client.report import from_text, unpack
from client.sampling import WHOLE
from survey_app import create_app
from survey_app.authoring import build_file
from survey_app.explain.languages import LANGUAGES
from survey_app.pages.form.explanation import Explanation
from survey_app.store import STEP, State, Submission, now
from tests.browser import CAMPUS, LOOKS, PHONE, Received, Site, Visit, overflows, violations, visit
from tests.client.test_mechanism import SMALL
from tests.definitions import (
    COIN,
    choice,
    define,
    encode,
    field,
    geometric,
    multiple,
    number,
    sampled,
    simple,
    subset,
    survey,
    unary,
    worked,
    yes_no,
)

HOUR = timedelta(hours=1)
PAGES = ("privacy", "paper", "enter")
DIE = {"kind": "flip", "one": str(WHOLE * 5 // 6), "zero": str(WHOLE // 6 + 1)}
ODD = {"kind": "flip", "one": str(WHOLE * 7 // 10), "zero": str(WHOLE * 3 // 10)}
KINDS = SMALL | {
    "worked": worked(),
    "geometric": define([number(levels=3, max=2)], [field(geometric(), "hours")]),
    "unary": define([choice()], [field(unary(3), "help")]),
    "weak": define([yes_no()], [field({"kind": "flip", "one": str(WHOLE - 1), "zero": "1"}, "cheated")]),
    "odd": define([yes_no()], [field(ODD, "cheated")]),
}


def on_paper(**more: Any) -> dict[str, Any]:
    """Two questions for coin and die, and one optional question of every other kind."""
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
        field(sampled(4, 2), "used"),
        field(subset(3, 1), "hours"),
        field(unary(21), "why"),
    ]
    return define(questions, fields) | more


def asked(**more: Any) -> dict[str, Any]:
    """Two of three parts, one of them not for paper."""
    parts = [yes_no("copied"), yes_no("bought"), choice("help", optional=True)]
    return define(parts, [field(COIN, "copied"), field(DIE, "bought"), field(subset(4, 1), "help")], ask=2) | more


@pytest.fixture
def web(site: Site) -> Iterator[FlaskClient]:
    """The same store through Flask's own client."""
    yield create_app({"RATE_LIMIT": "off"}, site.store).test_client()


def read(web: FlaskClient, page: str, slug: str = "exam", status: int = 200) -> str:
    """A page as text: tags taken out, entities read, blanks folded."""
    response = web.get(f"/s/{slug}/{page}")
    assert response.status_code == status
    body = re.sub(r"<(script|style).*?</\1>", " ", response.text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_speaks_the_language_and_stays_at_home(site: Site, web: FlaskClient, language: str) -> None:
    campus = json.loads(build_file(CAMPUS).survey.source)
    kinds = [*KINDS.values(), campus, on_paper(), asked()]
    for place, definition in enumerate(kinds):
        more = {"slug": f"survey-{place}"} | ({} if language == "en" else {"language": language})
        published = site.add(definition | more)
        for page in PAGES:
            response = web.get(f"/s/{published.survey.slug}/{page}")
            assert response.status_code == 200
            assert response.headers.get("Set-Cookie") is None
            assert "form-action 'none'" in response.headers["Content-Security-Policy"]
            assert f'<html lang="{language}"' in response.text
            assert not re.search(r"\sstyle=|<form|<style|\son\w+=|nobody can tell", response.text)
            enterable = Explanation(published.survey).sheet.enterable
            assert ("<script" in response.text) == (page == "enter" and enterable)
            shown = re.sub(r"<script.*?</script>", "", response.text, flags=re.DOTALL)
            assert not re.search(r"\{\w*\}|None|Undefined", shown)
            links = re.findall(r'(?:href|src)="([^"]*)"', response.text)
            assert all(link.startswith(("/", "data:,", "http://localhost/")) for link in links), links


def test_an_unknown_survey_and_a_draft_are_not_there(site: Site, web: FlaskClient) -> None:
    site.add(simple(), state=State.READY)
    for page in PAGES:
        read(web, page, "exam", 404)
        read(web, page, "nothing", 404)


def test_a_closed_survey_still_explains_itself(site: Site, web: FlaskClient) -> None:
    site.add(on_paper(), state=State.CLOSED)
    told = read(web, "privacy")
    assert "This survey is closed" in told
    assert "1 in 7" in told
    assert "Sheets can no longer be entered" in read(web, "paper")
    assert "Sheets can no longer be entered" in read(web, "enter")
    assert "<input" not in web.get("/s/exam/enter").text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"opens": now() + HOUR}, "not open yet"),
        ({"closes": now() - HOUR}, "is closed"),
        ({"max_reports": STEP}, "has all the reports it wants"),
        ({"max_reports": STEP + 1}, ""),
    ],
)
def test_sheets_are_entered_only_while_the_survey_takes_them(
    site: Site, web: FlaskClient, state: dict[str, Any], said: str
) -> None:
    published = site.add(on_paper(), **state)
    answers = {"copied": True, "bought": False}
    reports = [randomize(published.survey, answers) for _ in range(STEP)]
    site.store.write(lambda: [Submission(published.key, one.id, one.bits) for one in reports])
    assert said in read(web, "enter")
    assert ("<input" in web.get("/s/exam/enter").text) == (not said)
    assert "Did you copy?" in read(web, "paper")


def test_privacy_says_what_the_guidance_says(site: Site, web: FlaskClient) -> None:
    published = site.add(simple())
    told = read(web, "privacy")
    assert (
        "Of 100 people whose answer is Yes, about 75 devices send Yes; of 100 whose answer is No, about 25 do." in told
    )
    assert (
        "if someone thought the chance was 1 in 20, this part of your report could raise it to at most about 1 in 7"
        in told
    )
    assert "at most ε = 1.1." in told  # ln 3 = 1.0986, rounded up
    assert "1 in 100 1 in 34" in told  # 99/3 + 1 = 34
    assert "1 in 2 75 in 100" in told
    assert "2 2.2 1 in 3" in told  # two people: 2 ln 3
    assert "10 10.99" in told
    digest = published.survey.digest
    assert "curl -s http://localhost/api/surveys/exam | sha256sum" in told
    assert f"http://localhost/s/exam#sha256={digest}" in told
    assert f"python -m client http://localhost/s/exam#sha256={digest}" in told
    assert "one 13835058055282163712, zero 4611686018427387904" in told
    assert "cannot be taken back" in told
    assert "Researchers are advised" not in told
    assert "heads · any your true answer tails · heads Yes tails · tails No" in told


def test_privacy_warns_of_much(site: Site, web: FlaskClient) -> None:
    site.add(KINDS["weak"])
    told = read(web, "privacy")
    assert "Researchers are advised" in told
    assert "as good as certain" in told


def test_privacy_counts_questions_that_depend_on_one_together(site: Site, web: FlaskClient) -> None:
    site.add(CAMPUS)
    told = read(web, "privacy", "campus")
    assert "About the answer to each of Did you copy from somebody? Why? ε together 1.97" in told
    site.add(simple())
    assert "depend on one another" not in read(web, "privacy")


def test_privacy_tells_about_ask_and_invitations(site: Site, web: FlaskClient) -> None:
    site.add(asked(), codes=["a" * 22])
    told = read(web, "privacy")
    assert "only 2 of the 3 parts" in told
    assert "Which invitation belongs to which report" in told


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_a_possible_report_of_nobody(name: str) -> None:
    made = survey(KINDS[name])
    told = Explanation(made)
    digest, identity, bits = told.example_row
    assert (digest, len(from_text(identity))) == (made.digest, 16)
    data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    assert len(unpack(made, data)) == len(told.example_bits)
    assert Explanation(made).example_row != told.example_row


def test_epsilon_is_never_rounded_down() -> None:
    told = Explanation(survey(simple()))
    assert told.epsilon(Decimal("1.0900000001")) == "1.1"
    assert Explanation(survey(simple() | {"language": "de"})).epsilon(Decimal("1.0861")) == "1,09"
    assert Explanation(survey(simple() | {"language": "fr"})).whole(10_000) == "10\u202f000"
    assert Explanation(survey(simple() | {"language": "es"})).whole(1000) == "1000"


def test_without_scripts_the_form_asks_nothing(site: Site, web: FlaskClient) -> None:
    published = site.add(worked())
    body = web.get("/s/exam").text
    (told,) = re.findall(r"<noscript>(.*?)</noscript>", body, re.DOTALL)
    assert f"python -m client http://localhost/s/exam#sha256={published.survey.digest}" in told
    assert "Flip a coin 2 times" in told
    assert "heads\u00a0·\u00a0any" in told
    assert 'href="http://localhost/s/exam/paper"' in told
    assert not re.search("<form|<input|<button|<script", told)


def test_the_sheet_has_a_recipe_and_boxes_for_each_question_that_coins_or_dice_can_make(
    site: Site, web: FlaskClient
) -> None:
    site.add(on_paper())
    told = read(web, "paper")
    assert "1. Did you copy? Flip a coin 2 times, one after the other." in told
    assert "3. Did you buy a text? Roll a die once." in told
    assert "1–4 your true answer 5 Yes 6 No What came out Yes No" in told
    assert (
        "What helped? – Coins and dice are for questions that take a plain Yes or No. It is sent as “no answer”" in told
    )
    assert "at most ε = 2.71" in told  # ln 3 + ln 5: the other questions give nothing away
    assert web.get("/s/exam/paper").text.count('class="square"') == 4


def test_a_sheet_that_cannot_be_entered_says_so_and_what_to_do(site: Site, web: FlaskClient) -> None:
    site.add(worked())
    for page in ("paper", "enter"):
        told = read(web, page)
        assert "This survey cannot be answered on paper" in told
        assert "Hours of study a week?" in told
        assert "optional, or give a question" in told
    assert "<input" not in web.get("/s/exam/enter").text
    assert "Flip a coin" in read(web, "paper")


def test_a_survey_without_any_such_question_has_no_sheet(site: Site, web: FlaskClient) -> None:
    site.add(KINDS["odd"])
    told = read(web, "paper")
    assert "No question of it can be answered with coins or dice" in told
    assert "A few coins or dice cannot make the chances of this question" in told
    assert 'class="square"' not in web.get("/s/exam/paper").text
    assert "No question of this survey has chances" in read(web, "privacy")


def test_a_choice_of_two_is_no_yes_or_no(site: Site, web: FlaskClient) -> None:
    site.add(define([choice("help", 2)], [field(COIN, "help")]))
    told = read(web, "paper")
    assert "Coins and dice are for questions that take a plain Yes or No" in told
    assert "cannot make the chances" not in told


def test_little_noise_and_exact_numbers_are_told_as_they_are(site: Site, web: FlaskClient) -> None:
    hours = number(max="1234567.125", step="0.125", levels=2, unit="h")
    site.add(define([hours], [field(subset(2, 1), "hours")]))
    assert "levels from 0 h to 1,234,567.125 h" in read(web, "privacy")
    site.add(define([number(levels=3, max=2)], [field(geometric(2**62, 16), "hours")], slug="calm"))
    told = read(web, "privacy", "calm")
    assert "leaves the number as it is" in told
    assert "at least 0" not in told


def test_a_die_picks_the_questions_of_a_sheet(site: Site, web: FlaskClient) -> None:
    site.add(asked(), codes=["a" * 22])
    told = read(web, "paper")
    assert "First roll a die to find your questions" in told
    assert "until you have 2" in told
    assert "If the die picks it, tick only this box: Picked by the die" in told
    assert "Invitation code" in told
    names = [f"q{i}" for i in range(7)]
    site.add(define([yes_no(name) for name in names], [field(COIN, name) for name in names], ask=2, slug="many"))
    assert "only 2 of its 7 parts, and a die can pick from six at most" in read(web, "enter", "many")


def go(device: Visit, url: str) -> Page:
    """Open a page; the interviewer's is there when its script has said something."""
    device.page.goto(url)
    if device.page.locator("#enter").count():
        device.page.locator("#enter:visible, #trouble:visible").first.wait_for()
    return device.page


EVIL = '<img src=x onerror="window.hit=1">"\'</script></title><script>window.hit=1</script>{{7*7}}{cases}'


def poisoned() -> dict[str, Any]:
    """Every string that an author controls."""
    parts = [
        yes_no("a", text=f"a {EVIL}"),
        choice("b", optional=True) | {"text": f"b {EVIL}", "options": [f"x {EVIL}", f"y {EVIL}"]},
        number("c", optional=True, unit=f"u {EVIL}", text=f"c {EVIL}"),
        choice("d", show_if={"question": "b", "is": [f"x {EVIL}"]}, text=f"d {EVIL}"),
    ]
    fields = [field(COIN, "a"), field(subset(3, 1), "b"), field(subset(3, 1), "c"), field(subset(4, 1), "d")]
    texts = {name: f"{name} {EVIL}" for name in ("title", "description", "consent", "contact")}
    return define(parts, fields, **texts)


def test_what_an_author_wrote_stays_text(site: Site, web: FlaskClient, browser: Browser) -> None:
    published = site.add(poisoned())
    for page in (*PAGES, ""):
        body = web.get(f"/s/exam/{page}".rstrip("/")).text
        assert "<img" not in body
        assert body.count("<script") == body.count("</script>") <= 2
        assert "{{7*7}}{cases}" in html.unescape(body)
    with visit(browser, **PHONE) as device:
        for page in PAGES:
            go(device, f"{site.link(published)}/{page}")
            assert EVIL in device.page.inner_text("main")
            assert device.page.evaluate("window.hit") is None
            assert overflows(device.page) == []
        device.page.get_by_label("Yes").check()
        assert EVIL in device.page.inner_text("#preview")
        assert device.page.evaluate("window.hit") is None
        assert device.complaints == []


def shown(page: Page) -> dict[str, str]:
    """The exact bytes on the page."""
    report: dict[str, str] = json.loads(page.locator("#bytes code").text_content() or "")
    return report


def ticked(made: Survey, report: dict[str, str]) -> list[int | None]:
    """The bits of each field."""
    return unpack(made, from_text(report["bits"]))


def tick(page: Page, *answers: str) -> None:
    """Tick one label in each question, in order."""
    for fieldset, answer in zip(page.locator("fieldset").all(), answers, strict=True):
        fieldset.get_by_label(answer, exact=True).check()


def test_two_sheets_entered_by_keyboard_arrive_as_they_were_shown(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter")
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
        assert sorted(site.stored(published), key=str) == sorted(sent, key=str)
        assert len({report["id"] for report in sent}) == 2
        assert [json.loads(request.body) for request in site.sent()] == sent
        assert device.complaints == []


def test_nothing_leaves_but_the_report(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    with visit(browser) as device:
        for name in PAGES:
            page = go(device, f"{site.link(published)}/{name}")
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
        assert sorted(seen) == sorted((one.method, site.origin + one.path) for one in site.received)
        assert [one.body for one in site.received if one.method != "GET"] == [
            json.dumps(report, separators=(",", ":")).encode()
        ]
        assert not any("cookie" in one.headers for one in site.received)
        assert device.complaints == []


def test_an_unacknowledged_sheet_is_sent_again_unchanged_also_after_a_reload(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    down = (503, "application/json", b"{}")
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter")
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
        assert site.stored(published) == [report]
        bodies = {request.body for request in site.sent()}
        assert len(bodies) == 1
        assert len(site.sent()) == 2


def test_a_double_click_sends_once_and_a_gap_sends_nothing(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter")
        send = page.get_by_role("button", name="Send this sheet")
        page.get_by_label("Yes").first.check()
        send.click()
        assert "Tick an outcome for every question" in page.inner_text("#status")
        assert page.evaluate("document.activeElement.name") == "field2"
        assert site.sent() == []
        page.get_by_label("No").last.check()
        send.dblclick()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert "Stored." in page.inner_text("#status")
        assert len(site.sent()) == len(site.stored(published)) == 1


def test_a_sheet_that_was_given_up_is_gone(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter")
        site.store.set_state(published, State.CLOSED)
        tick(page, "Yes", "No")
        page.get_by_role("button", name="Send this sheet").click()
        page.get_by_text("The survey is closed. This sheet can no longer be stored.").wait_for()
        page.get_by_role("button", name="Give this sheet up").click()
        assert page.locator("input:checked").count() == 0
        assert page.evaluate("({ ...sessionStorage })") == {}
        assert site.stored(published) == []


def test_each_sheet_needs_an_invitation_that_travels_in_the_header_only(site: Site, browser: Browser) -> None:
    codes = ["A" * 22, "B" * 22, "C" * 22]
    published = site.add(on_paper(), codes=codes[:2])
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter#code={codes[0]}")
        tick(page, "Yes", "No")
        first = shown(page)
        send = page.locator("#send")
        send.click()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        tick(page, "No", "No")
        send.click()
        assert "Enter the invitation code" in page.inner_text("#status")
        page.fill("#code", codes[2])
        second = shown(page)
        send.click()
        page.get_by_text("This invitation code is not known").wait_for()
        page.fill("#code", codes[0])
        send.click()
        page.get_by_text("This invitation code was used already").wait_for()
        page.fill("#code", "not a code ä")
        send.click()
        page.get_by_text("This invitation code is not known").wait_for()
        page.fill("#code", codes[1])
        send.click()
        page.get_by_text("Sheets entered in this tab: 2").wait_for()
        assert sorted(site.stored(published), key=str) == sorted([first, second], key=str)
    posted = site.sent()
    assert [one.headers["candor-invitation"] for one in posted] == [codes[0], codes[2], codes[0], codes[1]]
    for request in site.received:
        rest = request.path + request.body.decode() + str({**request.headers, "candor-invitation": ""})
        assert not any(code in rest for code in codes)


def test_only_the_picked_questions_of_a_sheet_are_sent(site: Site, browser: Browser) -> None:
    published = site.add(asked())
    with visit(browser) as device:
        page = go(device, f"{site.link(published)}/enter")
        tick(page, "Yes", "No", "Picked by the die")
        page.locator("#send").click()
        assert "Mark 2 questions as picked" in page.inner_text("#status")
        for answers, parts in (
            (("Not picked", "Yes", "Picked by the die"), (None, 1)),
            (("No", "Yes", "Not picked"), (0, 1)),
        ):
            tick(page, *answers)
            made = ticked(published.survey, shown(page))
            assert tuple(made[:2]) == parts
            assert (made[2] is None) == (answers[2] == "Not picked")
            before = len(site.stored(published))
            page.locator("#send").click()
            page.get_by_text(f"Sheets entered in this tab: {before + 1}").wait_for()


def test_a_definition_that_changed_is_refused(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    other = encode(on_paper(title="Another title"))

    def changed(request: Received) -> tuple[int, str, bytes] | None:
        return (200, "application/json", other) if request.path == "/api/surveys/exam" else None

    with visit(browser) as device:
        site.intercept = changed
        page = go(device, f"{site.link(published)}/enter")
        assert "was changed after this page was loaded" in page.inner_text("#trouble")
        assert page.locator("#enter").is_hidden()
        site.intercept = lambda request: None
        go(device, "about:blank")
        go(device, f"{site.link(published)}/enter#sha256={'0' * 64}")
        assert "was changed after this page was loaded" in page.inner_text("#trouble")
        assert site.sent() == []


def test_a_browser_that_keeps_nothing_still_sends(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    blocked = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } });"
    with visit(browser, init=blocked) as device:
        page = go(device, f"{site.link(published)}/enter")
        tick(page, "Yes", "Yes")
        page.locator("#send").click()
        page.get_by_text("Sheets entered in this tab: 1").wait_for()
        assert len(site.stored(published)) == 1


def test_without_scripts_the_interviewers_page_says_so(site: Site, browser: Browser) -> None:
    published = site.add(on_paper())
    with visit(browser, java_script_enabled=False) as device:
        page = device.page
        page.goto(f"{site.link(published)}/enter")
        assert "This page needs scripts" in device.text()
        assert page.locator("#send").is_hidden()
        page.goto(site.link(published))
        assert "This form needs scripts" in device.text()
        assert page.locator("input, form").count() == 0
    assert site.sent() == []


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_and_nothing_sticks_out(site: Site, browser: Browser, look: str) -> None:
    campus, paper = site.add(CAMPUS), site.add(on_paper(language="de"), codes=["a" * 22])
    with visit(browser, bypass_csp=True, **LOOKS[look]) as device:
        for published, pages in ((campus, ("privacy", "paper")), (paper, ("paper", "enter"))):
            for name in pages:
                page = go(device, f"{site.link(published)}/{name}")
                if name == "enter" and published is paper:
                    for label in page.get_by_label("Ja", exact=True).all():
                        label.check()
                    page.fill("#code", "b" * 22)
                    page.locator("#send").click()
                    page.locator("#kept").wait_for()
                assert violations(page) == []
                assert overflows(page) == []


def test_axe_finds_nothing_where_the_survey_speaks_a_language_of_its_own(site: Site, browser: Browser) -> None:
    published = site.add(on_paper(language="ar", title="الأمانة في الامتحان"))
    with visit(browser, bypass_csp=True, **PHONE) as device:
        for name in PAGES:
            page = go(device, f"{site.link(published)}/{name}")
            assert page.get_attribute("html", "lang") == "en"
            assert page.locator("[lang=ar]").first.get_attribute("dir") == "auto"
            assert violations(page) == []
            assert overflows(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sheet_prints_on_white_and_without_what_is_for_the_screen(
    site: Site, browser: Browser, tmp_path: Path, scheme: Any
) -> None:
    published = site.add(simple())
    with visit(browser, color_scheme=scheme) as device:
        page = go(device, f"{site.link(published)}/paper")
        for size in ("A4", "Letter"):
            printed = page.pdf(format=size, path=tmp_path / f"{size}.pdf")
            assert printed.startswith(b"%PDF")
            assert len(re.findall(rb"/Type /Page\b", printed)) == 1
        page.emulate_media(media="print")
        assert page.locator(".screen").is_hidden()
        assert page.locator(".square").count() == 2
        ink = page.evaluate("getComputedStyle(document.querySelector('.sheet h3')).color")
        assert ink == "rgb(0, 0, 0)"
