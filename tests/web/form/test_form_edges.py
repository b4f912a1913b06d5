"""Where there is no form, or the report does not get through: each time a page or message of its own, and nothing lost."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from candor_client import randomize as draw
from survey_app.languages import Words
from survey_app.store import State, Submission, Unavailable, now
from tests.browser import BY_LOOK, PHONE, Reply, ServerRequest, Site, apply_look, overflows, violations, visit
from tests.definitions import COIN, define, encode, field, simple, subset, yes_no
from tests.form_browser import option, randomize, send, shown_bytes

BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"

FULL = """Object.defineProperty(window, 'localStorage', { value: new Proxy({}, { set() { throw new Error('full'); } }) })"""

OPAQUE = "localStorage['candor-ledger/2'] ??= 'nonsense'"

DAY = timedelta(days=1)


def open_device(page: Any) -> None:
    page.get_by_text(re.compile("^This device")).click()


def no_form(site: Site, page: Any) -> None:
    assert page.locator("form, fieldset, input[type=radio]").count() == 0
    assert not site.requests_of()


def prepare(page: Any) -> None:
    """Answer the one question and see what would be sent."""
    option(page, "Yes").check()
    randomize(page)


# the server says it


@pytest.mark.parametrize(
    ("title", "more"),
    [
        ("This survey is closed", {"state": State.CLOSED}),
        ("This survey is closed", {"closes": now() - DAY}),
        ("This survey is not open yet", {"opens": now() + DAY}),
        ("This survey is full", {"max_reports": 1}),
    ],
)
def test_a_survey_that_takes_no_reports(site: Site, browser: Browser, title: str, more: dict[str, Any]) -> None:
    published = site.add(simple(), **more)
    if published.terms.max_reports:
        report = draw(published.survey, {"cheated": True})
        site.store.write(lambda: [Submission(published.key, report.id, report.bits)])
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        no_form(site, page)
        if published.terms.opens:
            assert f"{published.terms.opens:%Y}" in page.locator("time").inner_text()
            assert "UTC" not in page.locator("time").inner_text()
        assert violations(page) == []
        assert device.complaints == []


@pytest.mark.parametrize(("language", "words"), [("en", Words("en")), ("de-CH", Words("de")), ("ja", Words("en"))])
def test_a_link_that_leads_nowhere(site: Site, browser: Browser, language: str, words: Words) -> None:
    with visit(browser, locale=language) as device:
        answer = device.page.goto(f"{site.origin}/s/nothing")
        assert answer is not None
        assert answer.status == 404
        title, advice = words("trouble.page_not_found").split("\n")
        assert device.text() == f"Candor {title} {advice} {words('front.home')}"
        assert device.page.get_attribute("html", "lang") == words.language
        assert violations(device.page) == []


def test_a_store_that_does_not_answer(site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(slug: str) -> None:
        raise Unavailable

    monkeypatch.setattr(site.store, "current_key_and_digest", fail)
    with visit(browser) as device:
        answer = device.page.goto(f"{site.origin}/s/exam")
        assert answer is not None
        assert answer.status == 503
        assert "The server cannot show the survey now" in device.text()


def test_what_was_answered_is_told_after_closing_too(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        site.store.set_state(published, State.CLOSED)
        page.get_by_role("button", name="Send this").click()
        expect(page.get_by_role("heading", name="This survey is closed")).to_be_focused()
        page.reload()
        expect(page.get_by_role("heading", name="What will be sent")).to_be_visible()
    with visit(browser) as device:
        another = site.add(define([yes_no()], [field(COIN, "cheated")], epsilon=2, slug="other"))
        page = device.open(site.link(another))
        prepare(page)
        send(page)
        site.store.set_state(another, State.CLOSED)
        page.reload()
        expect(page.get_by_role("heading", name="You answered this survey on")).to_be_visible()
        expect(page.get_by_role("heading", name="This survey is closed")).to_be_visible()


# a definition this page refuses


def tamper(body: bytes) -> Callable[[ServerRequest], Reply | None]:
    return lambda request: (200, "application/json", body) if request.path.startswith("/api/surveys/") else None


LYING = simple() | {"epsilon": "1.09"}


REFUSED: list[tuple[str, str, bytes | None]] = [
    ("This is not the survey your link names", "#sha256={digest}", encode(simple() | {"title": "Changed"})),
    ("This is not the survey your link names", "#sha256=" + "0" * 64, None),
    ("This is not the survey your link names", "", encode(simple() | {"slug": "other"})),
    ("This survey would give away more than it says", "", encode(LYING)),
    ("This page refuses the survey", "", b"<html>"),
    ("This page refuses the survey", "", encode(simple() | {"more": 1})),
    ("This page refuses the survey", "", encode(simple()) + b"\n"),
    ("This page refuses the survey", "", b"x" * 256_001),
    ("This link is not complete", "#sha256=", None),
    ("This link is not complete", "#somewhere", None),
]


def test_a_refused_definition_is_never_asked(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser, **PHONE) as device:
        for place, (title, fragment, body) in enumerate(REFUSED):
            site.intercept = tamper(body) if body is not None else lambda request: None
            page = device.open(site.link(published, f"?{place}" + fragment.format(digest=published.survey.digest)))
            expect(page.get_by_role("alert").get_by_role("heading", name=title)).to_be_visible()
            no_form(site, page)
            assert overflows(page) == []
        assert device.complaints == []


def test_a_new_version_under_a_pinned_link(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        pinned = site.link(published, f"#sha256={published.survey.digest}")
        page = device.open(pinned)
        prepare(page)
        site.add(simple() | {"title": "Changed"})
        page.get_by_role("button", name="Send this").click()
        expect(page.get_by_role("heading", name="The survey has changed meanwhile")).to_be_focused()
        page.reload()
        expect(page.get_by_role("heading", name="This is not the survey your link names")).to_be_visible()
        device.open(site.link(published, "?again"))
        assert "This includes ε = 1.1 that earlier versions have cost." in device.text()
        assert "at most about 33 in 100 (ε = 2.2)" in device.text()  # both versions: ln 9, 9/(19 + 9)


# the network


def test_the_questions_cannot_be_loaded(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    site.intercept = lambda request: (503, "text/plain", b"") if request.path.startswith("/api/") else None
    with visit(browser) as device:
        page = device.open(site.link(published))
        expect(page.get_by_role("heading", name="The questions could not be loaded")).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        site.intercept = lambda request: None
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "code", "title"),
    [
        (429, "too_many_requests", "The server has not confirmed it"),
        (500, "internal_error", "The server has not confirmed it"),
        (410, "survey_full", "This survey is full"),
        (409, "id_taken", "The server refused the report"),
        (422, "impossible_bits", "The server refused the report"),
        (400, "constructor", "The server refused the report"),
    ],
)
def test_whatever_the_server_says_the_same_report_can_be_sent_again(
    site: Site, browser: Browser, status: int, code: str, title: str
) -> None:
    published = site.add(simple())
    problem = json.dumps({"code": code, "detail": "<b>no</b>"}).encode()
    site.intercept = lambda request: (status, "application/problem+json", problem) if request.method == "POST" else None
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        page.get_by_role("button", name="Send this").click()
        expect(page.get_by_role("heading", name=title)).to_be_focused()
        site.intercept = lambda request: None
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Thank you. The server has it.")).to_be_focused()
        assert len({request.body for request in site.requests_of()}) == 1
        assert len(site.stored_reports(published)) == 1


def test_a_device_without_a_network_keeps_its_report(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        page.context.set_offline(True)
        page.get_by_role("button", name="Send this").click()
        expect(page.get_by_role("heading", name="The server has not confirmed it")).to_be_focused()
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Thank you. The server has it.")).to_be_focused()
        assert len(site.stored_reports(published)) == 1


# the device


@pytest.mark.parametrize("storage", [BLOCKED, FULL])
def test_without_storage_the_form_works_and_says_so(site: Site, browser: Browser, storage: str) -> None:
    published = site.add(simple())
    with visit(browser, init=storage) as device:
        page = device.open(site.link(published))
        expect(page.get_by_text("This browser lets the page keep nothing")).to_be_visible()
        expect(page.get_by_text("Answer only once")).to_be_visible()
        assert violations(page) == []
        prepare(page)
        expect(page.get_by_text("This browser lets the page keep nothing")).to_be_visible()
        send(page)
        assert len(site.stored_reports(published)) == 1
        assert device.complaints == []


def test_storage_that_fills_up_meanwhile(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        page.evaluate("() => { Object.getPrototypeOf(localStorage).setItem.call(localStorage, 'x', 'x'.repeat(5e6)); }")
        page.evaluate(
            """() => { for (let n = 2e5; n > 1; n /= 2) try { localStorage['y' + n] = 'y'.repeat(n); } catch {} }"""
        )
        option(page, "Yes").check()
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="This browser could not write down the report")).to_be_focused()
        expect(option(page, "Yes")).to_be_checked()
        page.evaluate(
            "() => { for (const key of Object.keys(localStorage)) if (/^[xy]/.test(key)) delete localStorage[key]; }"
        )
        randomize(page)


def test_a_damaged_ledger_answers_nothing_until_it_is_forgotten(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser, init=OPAQUE) as device:
        page = device.open(site.link(published))
        expect(page.get_by_role("heading", name="What this device remembers is damaged")).to_be_visible()
        no_form(site, page)
        assert page.evaluate("() => localStorage['candor-ledger/2']") == "nonsense"
        assert violations(page) == []
        page.get_by_text("Forget all this", exact=True).click()
        expect(page.get_by_text("it could learn more than its ε")).to_be_visible()
        page.get_by_role("button", name="Yes, forget").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()


def test_a_person_s_limit(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        open_device(page)
        expect(page.get_by_text("ε (epsilon) says how much what you send can give away")).to_be_visible()
        limit = page.get_by_role("spinbutton").first
        assert limit.input_value() == "8"
        for nonsense in ("", "-3"):
            limit.fill(nonsense)
            limit.press("Tab")
            assert limit.input_value() == "8"
            expect(page.get_by_text("Not such a number; it stays 8.")).to_be_visible()
        title = page.get_by_role("heading", name="This survey costs more than your limit")
        limit.fill("1")
        limit.press("Tab")
        expect(title).to_be_visible()  # while the questions are open
        limit.fill("2")
        limit.press("Tab")
        expect(title).to_be_hidden()
        limit.fill("1")
        limit.press("Tab")
        option(page, "Yes").check()
        page.get_by_role("button", name="Roll the dice").click()
        expect(title.last).to_be_focused()
        assert "It costs ε = 1.1; you allow at most 1 for one survey" in device.text()
        expect(option(page, "Yes")).to_be_checked()
        page.reload()
        expect(title).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        page.get_by_role("spinbutton").first.fill("1.05")
        page.get_by_role("spinbutton").first.press("Tab")
        expect(page.get_by_text("you allow at most 1.05")).to_be_visible()
        page.get_by_role("spinbutton").first.fill("1.5")
        page.get_by_role("spinbutton").first.press("Tab")
        prepare(page)


def test_a_person_s_limit_for_a_server(site: Site, browser: Browser) -> None:
    """Both sums stand above the first question, and new slugs add up."""
    surveys = [site.add(simple() | {"slug": slug}) for slug in ("one", "two", "three")]
    with visit(browser) as device:
        for spent, published in zip(("0", "1.1"), surveys, strict=False):
            page = device.open(site.link(published))
            told = page.get_by_text(f"This device: ε = 0 of 8 used for this survey, {spent} of 24 for 127.0.0.1")
            expect(told).to_be_visible()
            question = page.get_by_role("group", name="Did you copy?")
            above, below = told.bounding_box(), question.bounding_box()
            assert above and below and above["y"] < below["y"]
            prepare(page)
        page = device.open(site.link(surveys[2]))
        open_device(page)
        page.get_by_role("spinbutton").nth(1).fill("3")
        page.get_by_role("spinbutton").nth(1).press("Tab")
        expect(page.get_by_text("2.2 of 3 for 127.0.0.1")).to_be_visible()
        option(page, "Yes").check()
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="This server has had as much as you allow").last).to_be_focused()
        assert "This survey costs ε = 1.1; you allow at most 3 for all surveys of 127.0.0.1" in device.text()
        assert not site.requests_of()


def test_a_person_s_limit_holds_also_where_storage_takes_nothing(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    full = FULL.replace("new Proxy({}", """new Proxy({ 'candor-limits/2 1': '{"limit":1}' }""")
    with visit(browser, init=full) as device:
        page = device.open(site.link(published))
        expect(page.get_by_role("heading", name="This survey costs more than your limit")).to_be_visible()
        expect(page.get_by_text("This browser lets the page keep nothing")).to_be_visible()
        no_form(site, page)


@pytest.mark.parametrize("change", ["forgotten", "replaced"])
def test_only_what_the_ledger_holds_is_sent(site: Site, browser: Browser, change: str) -> None:
    """A page hears nothing of what its own window does to the storage: the difference is found at the click."""
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        shown = shown_bytes(page)
        page.evaluate("() => localStorage.removeItem('candor-ledger/2')")
        if change == "replaced":
            page.evaluate(
                """async (url) => {
                    const { Ledger, fetch } = await import("/client/js/index.js");
                    await new Ledger().make(await fetch(url), { cheated: false }, { server: location.origin });
                }""",
                site.link(published),
            )
        page.get_by_role("button", name="Send this").click()
        if change == "forgotten":
            expect(page.get_by_role("heading", name="Forgotten")).to_be_focused()
            no_form(site, page)
            assert violations(page) == []
            return
        expect(page.get_by_text("It does not show your answers a second time")).to_be_visible()
        assert not site.requests_of()
        assert shown_bytes(page) != shown
        shown = shown_bytes(page)
        expect(page.get_by_role("button", name="Send this")).to_be_enabled()
        send(page)
        assert site.stored_reports(published) == [json.loads(shown)]


def test_other_questions_than_those_shown_are_not_answered(site: Site, browser: Browser) -> None:
    names = [f"q{i}" for i in range(40)]
    asked = [yes_no(name, optional=True) | {"text": f"Question {name}?"} for name in names]
    fields = [field(subset(3, 1), name) for name in names]
    published = site.add(define(asked, fields, epsilon=10, ask=1))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "Yes").check()
        draw_others = """async (url) => {
            const { Ledger, fetch } = await import("/client/js/index.js");
            const [ledger, survey] = [new Ledger(), await fetch(url)];
            const before = (await ledger.begin(survey, location.origin)).asked;
            while ((await ledger.begin(survey, location.origin)).asked === before) await ledger.forget();
        }"""
        page.evaluate(draw_others, site.link(published))
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="This device has forgotten meanwhile")).to_be_focused()
        assert page.evaluate("() => localStorage['candor-ledger/2'].includes('bits')") is False
        page.reload()
        option(page, "Yes").check()
        randomize(page)


def test_a_report_that_cannot_be_made_is_no_refusal_of_the_server(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, "Yes").check()
        page.evaluate("() => { crypto.getRandomValues = () => { throw new Error('broken'); }; }")
        page.get_by_role("button", name="Roll the dice").click()
        expect(page.get_by_role("heading", name="The report could not be made")).to_be_focused()
        assert "undefined" not in device.text()
        assert not site.requests_of()


def test_the_receipt_offers_to_forget(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        open_device(page)
        page.get_by_role("spinbutton").first.fill("3")
        page.get_by_role("spinbutton").first.press("Tab")
        prepare(page)
        send(page)
        assert "tells that you answered this survey, and on which day; not what you said" in device.text()
        page.get_by_text("Forget all this").click()
        assert "Your limits stay." in device.text()
        page.get_by_role("button", name="Yes, forget").click()
        expect(page.get_by_role("heading", name="Forgotten")).to_be_focused()
        kept = page.evaluate("() => Object.keys(localStorage).sort()")
        assert kept == ["candor-changes/2", "candor-limits/2 1"]
        assert page.evaluate("() => JSON.parse(localStorage['candor-limits/2 1']).limit") == 3
        assert page.locator("form").count() == 0


def test_after_sending_nothing_on_the_device_names_the_report(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        sent = json.loads(shown_bytes(page))
        kept = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"
        assert sent["id"] in page.evaluate(kept)  # the test could fail
        send(page)
        assert sent["id"] not in page.evaluate(kept)
        entry = page.evaluate("() => Object.values(JSON.parse(localStorage['candor-ledger/2']).ledger.entries)[0]")
        assert set(entry) == {"slug", "study", "server", "epsilon", "day", "stored"}
        assert sent["id"] not in device.text()  # the receipt does not name it either
        assert sent["bits"] in (page.locator("pre").text_content() or "")
        page.reload()
        expect(page.get_by_role("heading", name="You answered this survey on")).to_be_visible()
        assert "It cost ε = 1.1." in device.text()
        assert "neither what you said nor what was sent" in device.text()


def test_a_ledger_of_the_old_format_is_forgotten_first(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(f"{site.link(published)}/privacy")
        page.evaluate("() => { localStorage['candor-ledger/1'] = 'of an earlier version'; }")
        page = device.open(site.link(published))
        title = page.get_by_role("heading", name="What this device remembers is of an earlier version")
        expect(title).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        page.get_by_role("button", name="Forget the old one").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        assert page.evaluate("() => localStorage['candor-ledger/1']") is None


def test_somebody_else_has_a_profile_of_their_own(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        send(page)
        assert "Does somebody else want to answer here?" in device.text()
        page.get_by_text("Somebody else answers here").click()
        page.get_by_role("button", name="New profile").click()
        expect(page.get_by_text("ε = 0 of 8 used for this survey, 0 of 24")).to_be_visible()
        page.reload()  # the tab remembers whose turn it is
        prepare(page)
        send(page)
        assert len(site.stored_reports(published)) == 2
        page.get_by_text("Somebody else answers here").click()
        expect(page.get_by_text("This device, person 2: ε = 1.1 of 8")).to_be_visible()
        page.get_by_role("button", name="Back to person 1").click()
        expect(page.get_by_role("heading", name="You answered this survey on")).to_be_visible()
        assert page.evaluate("() => sessionStorage['candor-book/2']") == "1"
        other = page.context.new_page()
        other.goto(site.link(published))  # another tab begins with the first
        expect(other.get_by_role("heading", name="You answered this survey on")).to_be_visible()
        assert violations(page) == []


def test_a_survey_above_the_usual_limit(site: Site, browser: Browser) -> None:
    asked = [yes_no(f"q{i}") | {"text": f"Question {i}?"} for i in range(10)]
    published = site.add(define(asked, [field(COIN, f"q{i}") for i in range(10)], epsilon=12))
    with visit(browser) as device:
        page = device.open(site.link(published))
        expect(page.get_by_role("heading", name="This survey costs more than your limit")).to_be_visible()
        no_form(site, page)


def test_the_device_adds_up_what_it_spends_and_can_forget(site: Site, browser: Browser) -> None:
    with visit(browser) as device:
        for slug in ("one", "two"):
            page = device.open(site.link(site.add(simple() | {"slug": slug})))
            prepare(page)
        open_device(page)
        text = device.text()
        assert "ε = 1.1 of 8 used for this survey, 2.2 of 24 for 127.0.0.1" in text
        assert re.search(r"one: ε = 1.1\b.*two: ε = 1.1\b", text)
        assert "finds where and when you took part, not what you said" in text
        page.get_by_text("Forget all this").click()
        page.get_by_role("button", name="Yes, forget").click()
        expect(page.get_by_role("heading", name="Forgotten")).to_be_focused()
        no_form(site, page)
        page.get_by_role("button", name="Answer all the same").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        assert "ε = 0 of 8 used for this survey, 0 of 24" in device.text()
        assert not site.requests_of()


def test_earlier_versions_are_counted_in_full(site: Site, browser: Browser) -> None:
    with visit(browser) as device:
        page = device.open(site.link(site.add(simple())))
        prepare(page)
        page = device.open(site.link(site.add(simple() | {"title": "Once more"})))
        assert "This includes ε = 1.1 that earlier versions have cost." in device.text()
        assert "(ε = 2.2)" in device.text()
        assert "ε = 1.1 of 8 used for this survey" in device.text()


def test_edges_fit_and_pass_axe_light_and_dark(site: Site, browser: Browser) -> None:
    """Rendered by the server alone, a notice of the script, and a notice with the device's panel."""
    closed = site.add(simple(), state=State.CLOSED)
    invited = site.invite("code", definition=simple() | {"slug": "invited"})
    damaged = site.add(simple() | {"slug": "damaged"})
    with visit(browser, init=f"if (location.pathname === '/s/damaged') {OPAQUE}") as device:
        for address in (site.link(closed), site.link(invited), site.link(damaged), f"{site.origin}/s/nothing"):
            device.open(address)
            for look, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
                apply_look(device.page, look)
                assert violations(device.page, *rules) == [], (address, look)
                assert overflows(device.page) == [], (address, look)
