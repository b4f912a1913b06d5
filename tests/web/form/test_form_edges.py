"""Where there is no form, or the report does not get through: each time a page or message of its own, and nothing lost."""

import json
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
from tests.form_browser import YES, budget, button, option, randomize, send, shown_bytes, text, title
from tests.words import first_line, word

BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"

FULL = """Object.defineProperty(window, 'localStorage', { value: new Proxy({}, { set() { throw new Error('full'); } }) })"""

OPAQUE = "localStorage['candor-ledger/2'] ??= 'nonsense'"

DAY = timedelta(days=1)


def open_device(page: Any) -> None:
    text(page, "budget").click()


def no_form(site: Site, page: Any) -> None:
    assert page.locator("form, fieldset, input[type=radio]").count() == 0
    assert not site.requests_of()


def prepare(page: Any) -> None:
    """Answer the one question and see what would be sent."""
    option(page, YES).check()
    randomize(page)


# the server says it


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("survey_closed", {"state": State.CLOSED}),
        ("survey_closed", {"closes": now() - DAY}),
        ("survey_not_open", {"opens": now() + DAY}),
        ("survey_full", {"max_reports": 1}),
    ],
)
def test_a_survey_that_takes_no_reports(site: Site, browser: Browser, code: str, more: dict[str, Any]) -> None:
    published = site.add(simple(), **more)
    if published.terms.max_reports:
        report = draw(published.survey, {"cheated": True})
        site.store.write(lambda: [Submission(published.key, report.id, report.bits)])
    with visit(browser, **PHONE) as device:
        page = device.open(site.link(published))
        expect(title(page, code)).to_have_text(first_line(f"trouble.{code}"))
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
        assert device.text() == f"Candor {word('trouble.page_not_found', language)} {words('front.home')}"
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
        assert word("trouble.page_unavailable") in device.text()


def test_what_was_answered_is_told_after_closing_too(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        site.store.set_state(published, State.CLOSED)
        button(page, "send").click()
        expect(title(page, "survey_closed")).to_be_focused()
        page.reload()
        expect(title(page, "review")).to_be_visible()
    with visit(browser) as device:
        another = site.add(define([yes_no()], [field(COIN, "cheated")], epsilon=2, slug="other"))
        page = device.open(site.link(another))
        prepare(page)
        send(page)
        site.store.set_state(another, State.CLOSED)
        page.reload()
        expect(title(page, "answered")).to_be_visible()
        expect(title(page, "survey_closed")).to_be_visible()


# a definition this page refuses


def tamper(body: bytes) -> Callable[[ServerRequest], Reply | None]:
    return lambda request: (200, "application/json", body) if request.path.startswith("/api/surveys/") else None


LYING = simple() | {"epsilon": "1.09"}


REFUSED: list[tuple[str, str, bytes | None]] = [
    ("wrong_definition", "#sha256={digest}", encode(simple() | {"title": "Changed"})),
    ("wrong_definition", "#sha256=" + "0" * 64, None),
    ("wrong_definition", "", encode(simple() | {"slug": "other"})),
    ("above_claim", "", encode(LYING)),
    ("bad_definition", "", b"<html>"),
    ("bad_definition", "", encode(simple() | {"more": 1})),
    ("bad_definition", "", encode(simple()) + b"\n"),
    ("bad_definition", "", b"x" * 256_001),
    ("bad_address", "#sha256=", None),
    ("bad_address", "#somewhere", None),
]


def test_a_refused_definition_is_never_asked(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser, **PHONE) as device:
        for place, (code, fragment, body) in enumerate(REFUSED):
            site.intercept = tamper(body) if body is not None else lambda request: None
            page = device.open(site.link(published, f"?{place}" + fragment.format(digest=published.survey.digest)))
            expect(title(page.get_by_role("alert"), code)).to_be_visible()
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
        button(page, "send").click()
        expect(title(page, "wrong_survey")).to_be_focused()
        page.reload()
        expect(title(page, "wrong_definition")).to_be_visible()
        device.open(site.link(published, "?again"))
        expect(text(page, "earlier")).to_have_text(word("form.earlier", epsilon="1.1"))
        both = word("form.total", part=33, whole=100, epsilon="2.2")  # of both versions: ln 9, 9/(19 + 9)
        assert both in device.text()


# the network


def test_the_questions_cannot_be_loaded(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    site.intercept = lambda request: (503, "text/plain", b"") if request.path.startswith("/api/") else None
    with visit(browser) as device:
        page = device.open(site.link(published))
        expect(title(page, "no_definition")).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        site.intercept = lambda request: None
        button(page, "retry").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "code", "shown"),
    [
        (429, "too_many_requests", "unreachable"),
        (500, "internal_error", "unreachable"),
        (410, "survey_full", "survey_full"),
        (409, "id_taken", "refused"),
        (422, "impossible_bits", "refused"),
        (400, "constructor", "refused"),
    ],
)
def test_whatever_the_server_says_the_same_report_can_be_sent_again(
    site: Site, browser: Browser, status: int, code: str, shown: str
) -> None:
    published = site.add(simple())
    problem = json.dumps({"code": code, "detail": "<b>no</b>"}).encode()
    site.intercept = lambda request: (status, "application/problem+json", problem) if request.method == "POST" else None
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        button(page, "send").click()
        expect(title(page, shown)).to_be_focused()
        site.intercept = lambda request: None
        button(page, "retry").click()
        expect(title(page, "receipt")).to_be_focused()
        assert len({request.body for request in site.requests_of()}) == 1
        assert len(site.stored_reports(published)) == 1


def test_a_device_without_a_network_keeps_its_report(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        page.context.set_offline(True)
        button(page, "send").click()
        expect(title(page, "unreachable")).to_be_focused()
        page.context.set_offline(False)
        button(page, "retry").click()
        expect(title(page, "receipt")).to_be_focused()
        assert len(site.stored_reports(published)) == 1


# the device


@pytest.mark.essential
@pytest.mark.parametrize("storage", [BLOCKED, FULL])
def test_without_storage_the_form_works_and_says_so(site: Site, browser: Browser, storage: str) -> None:
    published = site.add(simple())
    with visit(browser, init=storage) as device:
        page = device.open(site.link(published))
        expect(text(page, "memory")).to_be_visible()
        assert violations(page) == []
        prepare(page)
        expect(text(page, "memory")).to_be_visible()
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
        option(page, YES).check()
        button(page, "randomize").click()
        expect(title(page, "ledger_unavailable")).to_be_focused()
        expect(option(page, YES)).to_be_checked()
        page.evaluate(
            "() => { for (const key of Object.keys(localStorage)) if (/^[xy]/.test(key)) delete localStorage[key]; }"
        )
        randomize(page)


def test_a_damaged_ledger_answers_nothing_until_it_is_forgotten(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser, init=OPAQUE) as device:
        page = device.open(site.link(published))
        expect(title(page, "ledger_corrupt")).to_be_visible()
        no_form(site, page)
        assert page.evaluate("() => localStorage['candor-ledger/2']") == "nonsense"
        assert violations(page) == []
        text(page, "forget").click()
        expect(text(page, "forget_more")).to_be_visible()
        button(page, "forget_yes").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()


@pytest.mark.essential
def test_a_person_s_limit(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        open_device(page)
        expect(text(page, "spending")).to_be_visible()
        limit = page.get_by_role("spinbutton").first
        assert limit.input_value() == "8"
        for nonsense in ("", "-3"):
            limit.fill(nonsense)
            limit.press("Tab")
            assert limit.input_value() == "8"
            expect(text(page, "limit_stays")).to_have_text(word("form.limit_stays", limit=8))
        above = title(page, "above_limit")
        limit.fill("1")
        limit.press("Tab")
        expect(above).to_be_visible()  # while the questions are open
        limit.fill("2")
        limit.press("Tab")
        expect(above).to_be_hidden()
        limit.fill("1")
        limit.press("Tab")
        option(page, YES).check()
        button(page, "randomize").click()
        expect(above.last).to_be_focused()
        assert word("trouble.above_limit", epsilon="1.1", limit=1) in device.text()
        expect(option(page, YES)).to_be_checked()
        page.reload()
        expect(above).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        page.get_by_role("spinbutton").first.fill("1.05")
        page.get_by_role("spinbutton").first.press("Tab")
        expect(page.get_by_role("alert").filter(has=above)).to_contain_text("1.05")
        page.get_by_role("spinbutton").first.fill("1.5")
        page.get_by_role("spinbutton").first.press("Tab")
        prepare(page)


def test_a_person_s_limit_for_a_server(site: Site, browser: Browser) -> None:
    """Both sums stand above the first question, and new slugs add up."""
    surveys = [site.add(simple() | {"slug": slug}) for slug in ("one", "two", "three")]
    with visit(browser) as device:
        for spent, published in zip(("0", "1.1"), surveys, strict=False):
            page = device.open(site.link(published))
            told = text(page, "budget")
            expect(told).to_have_text(budget("0", spent))
            question = page.get_by_role("group", name="Did you copy?")
            above, below = told.bounding_box(), question.bounding_box()
            assert above and below and above["y"] < below["y"]
            prepare(page)
        page = device.open(site.link(surveys[2]))
        open_device(page)
        page.get_by_role("spinbutton").nth(1).fill("3")
        page.get_by_role("spinbutton").nth(1).press("Tab")
        expect(text(page, "budget")).to_have_text(budget("0", "2.2", limits=("8", "3")))
        option(page, YES).check()
        button(page, "randomize").click()
        expect(title(page, "above_server_limit").last).to_be_focused()
        assert word("trouble.above_server_limit", epsilon="1.1", server_limit=3, host="127.0.0.1") in device.text()
        assert not site.requests_of()


def test_a_person_s_limit_holds_also_where_storage_takes_nothing(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    full = FULL.replace("new Proxy({}", """new Proxy({ 'candor-limits/2 1': '{"limit":1}' }""")
    with visit(browser, init=full) as device:
        page = device.open(site.link(published))
        expect(title(page, "above_limit")).to_be_visible()
        expect(text(page, "memory")).to_be_visible()
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
        button(page, "send").click()
        if change == "forgotten":
            expect(title(page, "forgotten")).to_be_focused()
            no_form(site, page)
            assert violations(page) == []
            return
        expect(text(page, "review_again")).to_be_visible()
        assert not site.requests_of()
        assert shown_bytes(page) != shown
        shown = shown_bytes(page)
        expect(button(page, "send")).to_be_enabled()
        send(page)
        assert site.stored_reports(published) == [json.loads(shown)]


def test_other_questions_than_those_shown_are_not_answered(site: Site, browser: Browser) -> None:
    names = [f"q{i}" for i in range(40)]
    asked = [yes_no(name, optional=True) | {"text": f"Question {name}?"} for name in names]
    fields = [field(subset(3, 1), name) for name in names]
    published = site.add(define(asked, fields, epsilon=10, ask=1))
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, YES).check()
        draw_others = """async (url) => {
            const { Ledger, fetch } = await import("/client/js/index.js");
            const [ledger, survey] = [new Ledger(), await fetch(url)];
            const before = (await ledger.begin(survey, location.origin)).asked;
            while ((await ledger.begin(survey, location.origin)).asked === before) await ledger.forget();
        }"""
        page.evaluate(draw_others, site.link(published))
        button(page, "randomize").click()
        expect(title(page, "other_questions")).to_be_focused()
        assert page.evaluate("() => localStorage['candor-ledger/2'].includes('bits')") is False
        page.reload()
        option(page, YES).check()
        randomize(page)


def test_a_report_that_cannot_be_made_is_no_refusal_of_the_server(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        option(page, YES).check()
        page.evaluate("() => { crypto.getRandomValues = () => { throw new Error('broken'); }; }")
        button(page, "randomize").click()
        expect(title(page, "not_made")).to_be_focused()
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
        expect(text(page, "shared")).to_be_visible()
        text(page, "forget").click()
        expect(text(page, "forget_more")).to_be_visible()
        button(page, "forget_yes").click()
        expect(title(page, "forgotten")).to_be_focused()
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
        expect(title(page, "answered")).to_be_visible()
        expect(text(page, "answered_more")).to_have_text(word("form.answered_more", epsilon="1.1"))
        expect(text(page, "answered_kept")).to_be_visible()


def test_a_ledger_of_the_old_format_is_forgotten_first(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(f"{site.link(published)}/privacy")
        page.evaluate("() => { localStorage['candor-ledger/1'] = 'of an earlier version'; }")
        page = device.open(site.link(published))
        expect(title(page, "ledger_old")).to_be_visible()
        no_form(site, page)
        assert violations(page) == []
        button(page, "forget_old").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        assert page.evaluate("() => localStorage['candor-ledger/1']") is None


def test_somebody_else_has_a_profile_of_their_own(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device:
        page = device.open(site.link(published))
        prepare(page)
        send(page)
        expect(text(page, "next_person")).to_be_visible()
        text(page, "others").click()
        button(page, "other_new").click()
        expect(text(page, "budget")).to_have_text(budget("0", "0", person=2))
        page.reload()  # the tab remembers whose turn it is
        prepare(page)
        send(page)
        assert len(site.stored_reports(published)) == 2
        text(page, "others").click()
        expect(text(page, "budget")).to_have_text(budget("1.1", "1.1", person=2))
        button(page, "person", number=1).click()
        expect(title(page, "answered")).to_be_visible()
        assert page.evaluate("() => sessionStorage['candor-book/2']") == "1"
        other = page.context.new_page()
        other.goto(site.link(published))  # another tab begins with the first
        expect(title(other, "answered")).to_be_visible()
        assert violations(page) == []


def test_a_survey_above_the_usual_limit(site: Site, browser: Browser) -> None:
    asked = [yes_no(f"q{i}") | {"text": f"Question {i}?"} for i in range(10)]
    published = site.add(define(asked, [field(COIN, f"q{i}") for i in range(10)], epsilon=12))
    with visit(browser) as device:
        page = device.open(site.link(published))
        expect(title(page, "above_limit")).to_be_visible()
        no_form(site, page)


def test_the_device_adds_up_what_it_spends_and_can_forget(site: Site, browser: Browser) -> None:
    with visit(browser) as device:
        for slug in ("one", "two"):
            page = device.open(site.link(site.add(simple() | {"slug": slug})))
            prepare(page)
        open_device(page)
        expect(text(page, "budget")).to_have_text(budget("1.1", "2.2"))
        entries = page.locator("details:has([data-text=budget]) li").all_inner_texts()
        assert [entry.partition(",")[0] for entry in entries] == ["one: ε = 1.1", "two: ε = 1.1"]
        expect(text(page, "thief")).to_be_visible()
        text(page, "forget").click()
        button(page, "forget_yes").click()
        expect(title(page, "forgotten")).to_be_focused()
        no_form(site, page)
        button(page, "anew").click()
        expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
        expect(text(page, "budget")).to_have_text(budget("0", "0"))
        assert not site.requests_of()


def test_earlier_versions_are_counted_in_full(site: Site, browser: Browser) -> None:
    with visit(browser) as device:
        page = device.open(site.link(site.add(simple())))
        prepare(page)
        page = device.open(site.link(site.add(simple() | {"title": "Once more"})))
        expect(text(page, "earlier")).to_have_text(word("form.earlier", epsilon="1.1"))
        assert word("form.total", part=33, whole=100, epsilon="2.2") in device.text()
        expect(text(page, "budget")).to_have_text(budget("1.1", "1.1"))


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
