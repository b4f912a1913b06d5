"""A survey by invitation in a real browser: the ticket is pressed for, waits on the device, and goes with the report."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from candor_client.report import to_base64url
from survey_app.accounts import hash_secret
from survey_app.languages import LANGUAGES
from survey_app.store import PublishedSurvey, State, TicketFile, now
from tests.browser import BY_LOOK, Site, Visit, apply_look, overflows, violations, visit
from tests.definitions import simple
from tests.fixtures import Installation
from tests.form_browser import YES, button, option, randomize, send, text, title
from tests.paper_surveys import read_page
from tests.server_process import Server
from tests.ticket_surveys import invent_ticket, invitation_survey, key
from tests.words import word

CODE, OTHER = "a-code-of-22-characters", "b-code-of-22-characters"
FALLEN = "crypto.getRandomValues = (bytes) => bytes.fill({})"  # 0: every coin shows heads
KEPT = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"


def moment(ahead: timedelta) -> str:
    return (now() + ahead).strftime("%Y-%m-%dT%H:%MZ")


def moment_in(page: Page, when: datetime) -> str:
    """The moment as this browser writes it."""
    script = """at => [new Date(at).toLocaleDateString("en", { dateStyle: "full" }),
        new Date(at).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit" })]"""
    day, time = page.evaluate(script, when.isoformat())
    return word("form.moment", day=day, time=time)


def take(page: Page) -> None:
    button(page, "ticket_take").click()


def use(page: Page) -> None:
    """A ticket that a link brings."""
    button(page, "ticket_use").click()


def ticket_link(page: Page) -> Locator:
    return page.get_by_role("textbox", name=word("form.ticket_link"), exact=True)


def question(page: Page) -> Any:
    return page.get_by_role("group", name="Did you copy?")


def answer(page: Page) -> None:
    option(page, YES).check()
    randomize(page)
    send(page)


@contextmanager
def lost(page: Page) -> Iterator[list[str]]:
    """The issuer signs, and its replies get lost; what was sent to it."""
    bodies: list[str] = []

    def lose(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        route.fetch()
        route.abort()

    page.context.route("**/tickets", lose)
    yield bodies
    page.context.unroute("**/tickets")


def posts(site: Site, what: str) -> list[Any]:
    return [request for request in site.requests_of() if request.path.endswith(f"/{what}")]


@pytest.mark.essential
def test_an_invitation_buys_a_ticket_and_never_meets_the_report(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#sha256={published.survey.digest}&code={CODE}"))
        expect(title(page, "ticket")).to_be_visible()
        expect(text(page, "ticket_buys")).to_be_visible()
        closes = published.terms.closes
        assert closes is not None
        expect(text(page, "ticket_date")).to_have_text(word("form.ticket_date", moment=moment_in(page, closes)))
        assert not site.requests_of()  # programs that look through mail open links, and press nothing
        assert question(page).count() == 0
        take(page)
        expect(question(page)).to_be_visible()
        assert page.evaluate("() => location.hash") == f"#sha256={published.survey.digest}"
        assert CODE not in page.evaluate(KEPT)
        answer(page)
        (taking,), (sending,) = posts(site, "tickets"), posts(site, "reports")
        assert taking.headers["candor-invitation"] == CODE
        assert "candor-invitation" not in sending.headers
        ticket = json.loads(sending.body)["ticket"]
        assert not any(part in taking.body.decode() for part in ticket.values())
        assert not any(part in page.evaluate(KEPT) for part in ticket.values())
        assert not any(CODE in f"{request.path} {request.body!r}" for request in site.requests)
        assert len(site.stored_reports(published)) == 1
        page.goto(site.link(published, f"#code={CODE}"))  # the page starts anew by itself
        expect(title(page, "answered")).to_be_visible()
        assert len(posts(site, "tickets")) == 1
        assert device.complaints == []


def test_what_is_sent_shows_the_ticket_and_says_that_no_invitation_goes_along(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        expect(question(page)).to_be_visible()
        expect(text(page, "unlinked")).to_be_visible()
        option(page, YES).check()
        randomize(page)
        expect(text(page, "invited")).to_be_visible()
        expect(text(page, "review_all")).to_have_count(0)
        shown = page.locator("pre").text_content() or ""
        assert set(json.loads(shown)) == {"survey", "id", "bits", "ticket"}
        send(page)
        assert [request.body.decode() for request in posts(site, "reports")] == [shown]


def test_a_lost_reply_and_a_closed_page_cost_nobody_the_ticket(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        with lost(page) as bodies:
            take(page)
            expect(title(page, "ticket_unreachable")).to_be_focused()
            button(page, "ticket_again").click()
            expect(title(page, "ticket_unreachable")).to_be_focused()
            page.close()
            page = device.page.context.new_page()
            page.goto(site.link(published))  # the device knows the code, which the server has marked
            expect(text(page, "budget")).to_be_visible()
            assert site.installation.tickets.count_invitations(published.survey.digest) == (1, 1)
        button(page, "ticket_again").click()
        expect(question(page)).to_be_visible()
        bodies += [request.body.decode() for request in posts(site, "tickets")]
        assert len(bodies) >= 3
        assert len(set(bodies)) == 1  # the same z
        answer(page)
        assert len(site.stored_reports(published)) == 1


def test_two_tabs_take_one_ticket(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        first = device.open(site.link(published, f"#code={CODE}"))
        second = first.context.new_page()
        second.goto(site.link(published, f"#code={CODE}"))
        expect(button(second, "ticket_take")).to_be_visible()
        take(first)
        expect(question(first)).to_be_visible()
        expect(question(second)).to_be_visible()  # by itself
        answer(second)
        expect(title(first, "answered")).to_be_visible()
        assert len(site.stored_reports(published)) == 1


# what is refused, and what to do then


def test_without_code_and_ticket_the_page_says_what_to_open(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published))
        expect(title(page, "ticket_needed")).to_be_visible()
        assert "#ticket=…" in page.get_by_role("alert").inner_text()
        assert not site.requests_of()
        page.evaluate(f"location.hash = 'code={CODE}'")  # pasted behind the address: the page starts anew
        take(page)
        expect(question(page)).to_be_visible()


def test_a_code_that_buys_nothing_yields_to_the_right_one(site: Site, browser: Browser) -> None:
    published = site.invite(CODE, OTHER)
    with visit(browser) as device:
        page = device.open(site.link(published, "#code=nobody-knows-this-one"))
        take(page)
        expect(title(page, "not_invited")).to_be_focused()
        assert question(page).count() == 0  # nobody answers first, and hears of it then
        expect(text(page, "ticket_quiet")).to_have_count(0)
        page.evaluate(f"location.hash = 'code={CODE}'")
        expect(button(page, "ticket_take")).to_be_visible()
        expect(text(page, "ticket_pending")).to_have_count(0)
        take(page)
        expect(question(page)).to_be_visible()
        assert CODE not in page.url
        answer(page)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        expect(title(page, "already_issued")).to_be_focused()
        assert question(page).count() == 0
        page.evaluate(f"location.hash = 'code={OTHER}'")
        take(page)
        answer(page)
        assert len(site.stored_reports(published)) == 2


def test_a_pause_between_ticket_and_report_loses_nothing(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        site.store.set_state(published, State.PAUSED)
        take(page)
        expect(title(page, "survey_paused")).to_be_focused()
        site.store.set_state(published, State.OPEN)
        button(page, "ticket_again").click()
        option(page, YES).check()
        randomize(page)
        site.store.set_state(published, State.PAUSED)
        button(page, "send").click()
        expect(title(page, "survey_paused")).to_be_focused()
        site.store.set_state(published, State.OPEN)
        page.reload()
        expect(button(page, "send")).to_be_enabled()
        send(page)
        assert len(site.stored_reports(published)) == 1


def test_limits_are_told_before_a_ticket_is_taken(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser, init="""localStorage['candor-limits/2 1'] = '{"limit":1}'""") as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        expect(title(page, "above_limit")).to_be_visible()
        assert button(page, "ticket_take").count() == 0


# several people at one device


def test_a_second_person_s_link_waits_for_their_choice(site: Site, browser: Browser) -> None:
    published = site.invite(CODE, OTHER)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        expect(question(page)).to_be_visible()
        page.evaluate(f"location.hash = 'code={OTHER}'")
        expect(text(page, "ticket_guest")).to_be_visible()
        assert violations(page) == []
        button(page, "other_new").first.click()
        take(page)
        expect(question(page)).to_be_visible()
        assert OTHER not in page.url
        answer(page)
        text(page, "others").click()
        button(page, "person", number=1).click()
        answer(page)
        assert len(site.stored_reports(published)) == 2


def test_going_on_with_the_ticket_at_hand_drops_the_code(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        expect(question(page)).to_be_visible()
        page.evaluate(f"location.hash = 'code={CODE}'")  # the same link once more
        expect(text(page, "ticket_guest")).to_be_visible()
        expect(text(page, "others")).to_have_count(1)
        option(page, YES).check()
        assert CODE in page.url
        randomize(page)
        assert CODE not in page.url
        expect(text(page, "ticket_guest")).to_have_count(0)
        send(page)
        page.evaluate(f"location.hash = 'code={CODE}'")
        expect(text(page, "ticket_guest_late")).to_be_visible()
        keys = page.locator("#form [data-text]").evaluate_all("all => all.map(({ dataset }) => dataset.text)")
        assert keys.index("answered") < keys.index("ticket_guest_late")
        expect(text(page, "others")).to_have_count(1)


def test_a_ticket_that_somebody_else_asked_for_does_not_cost_the_second_their_code(
    site: Site, browser: Browser
) -> None:
    published = site.invite(CODE, OTHER)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        with lost(page):
            take(page)
            expect(title(page, "ticket_unreachable")).to_be_focused()
        page.evaluate(f"location.hash = 'code={OTHER}'")
        take(page)  # what is pending comes first
        expect(text(page, "ticket_guest")).to_be_visible()
        assert OTHER in page.url


def test_forgetting_a_ticket_offers_its_link_first_and_says_that_it_is_gone(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        expect(question(page)).to_be_visible()
        text(page, "budget").click()
        text(page, "forget").click()
        expect(text(page, "budget")).to_be_visible()
        link = ticket_link(page).input_value()
        button(page, "forget_yes").click()
        expect(title(page, "ticket_gone")).to_be_focused()
        expect(title(page, "forgotten")).to_have_count(0)
        page.goto("about:blank")
        device.open(link)
        use(page)
        answer(page)
        assert len(site.stored_reports(published)) == 1


def test_a_pause_lets_nobody_send_and_tells_of_a_report_only_where_there_is_one(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser) as device, visit(browser) as other:
        page = device.open(site.link(published))
        option(page, YES).check()
        randomize(page)
        site.store.set_state(published, State.PAUSED)
        page.reload()
        expect(text(page, "kept")).to_be_visible()
        assert button(page, "send").count() == 0
        other.open(site.link(published))
        expect(title(other.page, "survey_paused")).to_be_visible()
        expect(text(other.page, "kept")).to_have_count(0)


# another device, another time, another issuer


def test_a_ticket_goes_to_another_device_by_its_link(site: Site, browser: Browser) -> None:
    published = site.invite(CODE)
    with visit(browser, permissions=["clipboard-read", "clipboard-write"]) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        take(page)
        text(page, "ticket_elsewhere").click()
        button(page, "copy").click()
        expect(text(page, "copied").last).to_be_visible()
        link = page.evaluate("() => navigator.clipboard.readText()")
        assert link == ticket_link(page).input_value()
    with visit(browser, init=FALLEN.format(0)) as device:
        page = device.open(link)
        expect(title(page, "ticket_brought")).to_be_visible()
        assert question(page).count() == 0
        assert "entries" not in page.evaluate("() => JSON.stringify({...localStorage})"), "it is not kept yet"
        use(page)
        expect(question(page)).to_be_visible()
        assert "ticket=" not in page.url
        answer(page)
    with visit(browser, init=FALLEN.format(255)) as device:
        page = device.open(link)  # somebody else who has got hold of it
        use(page)
        option(page, YES).check()
        randomize(page)
        button(page, "send").click()
        expect(title(page, "id_taken")).to_be_focused()
        assert button(page, "retry").count() == 0
        (entry,) = page.evaluate("() => Object.values(JSON.parse(localStorage['candor-ledger/2']).ledger.entries)")
        assert set(entry) == {"slug", "study", "server", "epsilon", "day", "stored"}
        assert float(entry["epsilon"]) > 0  # a made report is never refunded
        assert len(site.stored_reports(published)) == 1
    with visit(browser) as device:
        page = device.open(f"{link[:-1]}{'A' if link[-1] != 'A' else 'B'}")
        expect(title(page, "bad_ticket")).to_be_visible()
        assert question(page).count() == 0


def test_in_phases_the_ticket_is_taken_now_and_waits(site: Site, browser: Browser) -> None:
    opens = now() + timedelta(days=2)
    published = site.invite(CODE, from_=f"{opens:%Y-%m-%dT%H:%MZ}")
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        expect(text(page, "ticket_phases")).to_have_text(word("form.ticket_phases", moment=moment_in(page, opens)))
        take(page)
        expect(title(page, "ticket_have")).to_be_focused()
        assert CODE not in page.url
        expect(text(page, "ticket_wait")).to_be_visible()
        device.open(site.link(published))  # any link will do, on this device
        expect(title(page, "ticket_have")).to_be_visible()
        assert violations(page) == []
        page.clock.set_fixed_time(now() + timedelta(days=3))  # a clock that goes wrong
        page.reload()
        option(page, YES).check()
        randomize(page)
        button(page, "send").click()
        expect(title(page, "too_early")).to_be_focused()
        assert site.stored_reports(published) == []


def test_in_phases_the_place_is_kept_until_answering_begins(site: Site, browser: Browser) -> None:
    """The server's clock is past the moment, the device's at first is not; the ticket came by a link."""
    published = site.invite(CODE, from_=moment(-timedelta(days=2)))
    ticket = invent_ticket(published.survey)
    link = site.link(published, f"#ticket={to_base64url(ticket.prefix)}.{to_base64url(ticket.signature)}")
    with visit(browser) as device:
        device.page.clock.set_fixed_time(now() - timedelta(days=3))
        page = device.open(link)
        use(page)
        expect(title(page, "ticket_have")).to_be_visible()
        page.clock.set_fixed_time(now())
        device.open(site.link(published))
        answer(page)
        assert len(site.stored_reports(published)) == 1
    with visit(browser) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        expect(title(page, "too_late")).to_be_visible()
        assert not posts(site, "tickets")


@contextmanager
def council(folder: Path) -> Iterator[tuple[Server, TicketFile]]:
    """`candor issuer serve` with a key of its own."""
    file = TicketFile(folder / "issuer.db")
    file.migrate()
    file.add_key("exam", key())
    server = Server(folder / "issuer.db", 1, serves=("issuer", "serve"))
    server.start()
    try:
        yield server, file
    finally:
        server.kill()
        file.close()


def test_another_issuer_sees_the_invitation_and_the_collector_never(
    site: Site, browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "council"
    folder.mkdir()
    with council(folder) as (server, file), visit(browser) as device:
        issuer = f"http://127.0.0.1:{server.port}"
        published = site.add(invitation_survey(issuer=issuer))
        survey = published.survey
        file.bind(file.active_keys("exam")[0], survey.digest, survey.source, site.link(published))
        file.invite("exam", [hash_secret(CODE)])
        page = device.open(site.link(published, f"#code={CODE}"))
        signer = word("form.ticket_issuer", issuer=f"127.0.0.1:{server.port}")
        expect(text(page, "ticket_issuer")).to_have_text(signer)
        take(page)
        expect(question(page)).to_be_visible()
        answer(page)
        assert len(site.stored_reports(published)) == 1
        assert file.count_invitations(survey.digest) == (1, 1)
        assert not posts(site, "tickets")
        assert not any(CODE in request.as_text for request in site.requests)
        assert device.complaints == []


def test_the_form_may_talk_to_its_issuer_and_to_nobody_else(installation: Installation) -> None:
    def connects(published: PublishedSurvey) -> str:
        policy = installation.client.get(f"/s/{published.survey.slug}").headers["Content-Security-Policy"]
        return policy.partition("connect-src ")[2].partition(";")[0]

    other = installation.publish(
        invitation_survey(definition=simple() | {"slug": "other"}, issuer="https://council.example.org")
    )
    assert connects(other) == "'self' https://council.example.org"
    assert connects(installation.invite(CODE)) == "'self'"
    assert connects(installation.publish(simple() | {"slug": "open"})) == "'self'"
    privacy = installation.client.get("/s/other/privacy").headers["Content-Security-Policy"]
    assert "council" not in privacy


# storage that keeps nothing, looks, words


def test_where_nothing_is_kept_the_link_saves_the_ticket(site: Site, browser: Browser) -> None:
    blocked = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    published = site.invite(CODE)
    with visit(browser, init=blocked) as device:
        page = device.open(site.link(published, f"#code={CODE}"))
        expect(text(page, "memory")).to_be_visible()
        take(page)
        text(page, "ticket_elsewhere").click()
        link = ticket_link(page).input_value()
        page.goto("about:blank")
        device.open(link)
        use(page)
        answer(page)
        assert len(site.stored_reports(published)) == 1


def test_the_screens_of_a_ticket_fit_and_pass_axe_light_and_dark(site: Site, browser: Browser) -> None:
    published = site.invite(CODE, from_=moment(timedelta(days=2)))

    def look(device: Visit) -> None:
        for name, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
            apply_look(device.page, name)
            assert violations(device.page, *rules) == [], name
            assert overflows(device.page) == [], name

    with visit(browser) as device:
        page = device.open(site.link(published, "#code=nobody-knows-this-one"))
        look(device)
        take(page)
        expect(title(page, "not_invited")).to_be_focused()
        assert question(page).count() == 0  # nobody answers first, and hears of it then
        look(device)
        page.evaluate(f"location.hash = 'code={CODE}'")
        take(page)
        text(page, "ticket_elsewhere").click()
        look(device)
        link = ticket_link(page).input_value()
    with visit(browser) as device:
        page = device.open(link)
        expect(title(page, "ticket_brought")).to_be_visible()
        look(device)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_say_openly_what_tickets_do_not_protect(installation: Installation, language: str) -> None:
    definition = simple() | ({} if language == "en" else {"language": language})
    installation.invite(CODE, definition=definition)
    told = read_page(installation.client, "privacy")
    for limit in ("tickets", "tickets_alone", "tickets_times", "tickets_visit", "tickets_addresses", "tickets_key"):
        assert word(f"privacy.{limit}", language) in told
    assert "58" in word("privacy.tickets_times", language) and "300" in word("privacy.tickets_times", language)
    assert "RFC 9474" in word("privacy.tickets", language)
    form = installation.client.get("/s/exam").text
    assert "ticket_guess" in form


def test_phases_and_another_issuer_are_told_where_they_are(installation: Installation) -> None:
    installation.publish(invitation_survey(issuer="https://council.example.org", from_="2027-01-10T08:00Z"))
    told = read_page(installation.client, "privacy")
    assert word("privacy.tickets_phases", moment="2027-01-10 08:00 UTC") in told
    assert word("privacy.tickets_issuer", issuer="https://council.example.org") in told
    assert word("privacy.tickets_visit") not in told


def test_a_survey_by_invitation_takes_no_paper_sheets(installation: Installation) -> None:
    installation.invite(CODE)
    for page in ("paper", "enter"):
        told = read_page(installation.client, page)
        assert word("paper.cannot_invited") in told
        assert "enter.js" not in installation.client.get(f"/s/exam/{page}").text
    told = read_page(installation.client, "privacy")
    assert word("privacy.coins_invited") in told


def test_a_survey_for_anybody_carries_no_words_about_taking_tickets(installation: Installation) -> None:
    installation.publish(simple())
    strings = json.loads(installation.client.get("/s/exam").text.partition('id="words">')[2].partition("</script>")[0])[
        "strings"
    ]
    assert not [name for name in strings if name.startswith("ticket")]
    assert not {"already_issued", "too_late", "bad_ticket", "invited"} & set(strings)


def test_a_group_is_told_whom_it_answers_as(site: Site, browser: Browser) -> None:
    published = site.add(simple() | {"slug": "exam-north", "study": "exam", "group": "North"})
    with visit(browser) as device:
        device.open(site.link(published))
        assert word("form.group", group="North") in device.text()
