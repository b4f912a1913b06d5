"""The pages that explain: what they say, in which state, in which language, and to everybody."""

import html
import json
import re
import secrets
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser

from candor_client import randomize
from candor_client.report import from_base64url, unpack
from survey_app.authoring import build_file
from survey_app.languages import LANGUAGES, Words
from survey_app.store import STEP, State, Submission, now
from survey_app.web.form.privacy_text import Explanation
from tests.browser import BY_LOOK, CAMPUS, PHONE, Site, apply_look, overflows, violations, visit
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    simple,
    subset,
    survey,
    worked_example,
    yes_no,
)
from tests.fixtures import Installation
from tests.golden_files import Golden, page_text
from tests.paper_surveys import KINDS, PAGES, one_of_three_parts, open_page, paper_survey, read_page, spread_cells
from tests.ticket_surveys import invitation_survey
from tests.words import word

HOUR = timedelta(hours=1)
YES, NO = word("privacy.yes"), word("privacy.no")
YES_OR_NO = word("privacy.blind_two", yes=YES, no=NO)


def chance(cases: int) -> str:
    return word("privacy.chance", cases=cases, of=100)


def together(questions: str, epsilon: str) -> str:
    """Return what the page says of questions that depend on one another."""
    return f"{word('privacy.together_question')} {questions} {word('privacy.together_epsilon')} {epsilon}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_speaks_the_language_and_stays_at_home(
    installation: Installation, web: FlaskClient, language: str
) -> None:
    campus = json.loads(build_file(CAMPUS).survey.source)
    kinds = [*KINDS.values(), campus, paper_survey(), one_of_three_parts()]
    for place, definition in enumerate(kinds):
        more = {"slug": f"survey-{place}"} | ({} if language == "en" else {"language": language})
        published = installation.publish(definition | more)
        for page in PAGES:
            response = web.get(f"/s/{published.survey.slug}/{page}")
            assert response.status_code == 200
            assert response.headers.get("Set-Cookie") is None
            assert "form-action 'none'" in response.headers["Content-Security-Policy"]
            assert f'<html lang="{language}"' in response.text
            assert not re.search(r"\sstyle=|<form|<style|\son\w+=|nobody can tell", response.text)
            enterable = Explanation(published.survey).sheet.can_be_entered
            assert ("<script" in response.text) == (page == "enter" and enterable)
            shown = re.sub(r"<script.*?</script>", "", response.text, flags=re.DOTALL)
            assert not re.search(r"\{\w*\}|None|Undefined", shown)
            links = re.findall(r'(?:href|src)="([^"]*)"', response.text)
            assert all(link.startswith(("/", "data:image/svg+xml;", "http://localhost/")) for link in links), links


@pytest.mark.parametrize("language", LANGUAGES)
def test_privacy_tells_of_a_link_for_one_person(installation: Installation, web: FlaskClient, language: str) -> None:
    sentence = html.escape(Words(language)("privacy.unprotected_link"))
    spoken = {} if language == "en" else {"language": language}
    installation.publish(simple() | spoken)
    installation.publish(simple() | spoken | {"slug": "study-north", "study": "study", "group": "North"})
    assert web.get("/s/exam/privacy").text.count(sentence) == 1
    assert web.get("/s/study-north/privacy").text.count(sentence) == 1
    assert sentence in web.get("/s/study-north").text, "also on the form"


@pytest.mark.parametrize("language", LANGUAGES)
def test_by_invitation_it_tells_of_a_group_for_one_person_instead(
    installation: Installation, web: FlaskClient, language: str
) -> None:
    """All links are for one person there, and tell nobody which report is whose; a group of one does."""
    words = Words(language)
    spoken = {} if language == "en" else {"language": language}
    grouped = {"slug": "study-north", "study": "study", "group": "North"}
    installation.publish(invitation_survey(definition=simple() | spoken | grouped))
    for page in ("/s/study-north", "/s/study-north/privacy"):
        assert html.escape(words("privacy.unprotected_link")) not in web.get(page).text
    assert html.escape(words("privacy.tickets_alone")) in web.get("/s/study-north/privacy").text
    assert words("form.ticket_alone") in web.get("/s/study-north").text


def filtered() -> dict[str, Any]:
    """Return a survey of which each device is asked one question, the second with the first as its filter."""
    after = {"question": "cheated", "is": ["yes"]}
    parts = [yes_no(), choice("why", 2, show_if=after) | {"text": "Why?"}]
    return define(parts, [field(COIN, "cheated"), field(subset(3, 1), "why", chance=2)], ask=1)


def blocks() -> dict[str, Any]:
    """Return a survey with a block, a number, a list, and a coin that favours yes, of which one is asked."""
    questions = [yes_no("a"), yes_no("b"), number("hours", unit="h"), choice("help", 4), yes_no("c")]
    favours_yes = {"kind": "flip", "one": str(3 * 2**62), "zero": str(2**63)}
    fields = [field(subset(4, 1), "a", "b"), field(subset(2, 1), "hours"), field(subset(4, 2), "help")]
    return define(questions, [*fields, field(favours_yes, "c")], ask=1)


def noisy(levels: int, **more: str) -> dict[str, Any]:
    """Return a survey with a number of hours to which noise is added."""
    return define([number(max=60, levels=levels, unit="h")], [field(geometric(levels, 15 * 2**60), "hours")], **more)


WORDS: dict[str, dict[str, Any]] = {
    "coin": simple(),
    "blocks": blocks(),
    "filter": filtered(),
    "noise": noisy(7),
    "options": define([multiple()], [field(drawn(3, 2), "used")]),
    "weak": KINDS["weak"],
    "group": simple() | {"slug": "exam-north", "study": "exam", "group": "North"},
}


@pytest.mark.parametrize("name", WORDS)
def test_privacy_in_words(
    installation: Installation, web: FlaskClient, monkeypatch: pytest.MonkeyPatch, golden: Golden, name: str
) -> None:
    monkeypatch.setattr(secrets, "token_bytes", bytes)  # the example would be another one each time
    published = installation.publish(WORDS[name])
    page = spread_cells(web.get(f"/s/{published.survey.slug}/privacy").text)
    part = () if name == "coin" else ("<h1", '<h2 id="surveys"')  # the rest is the same words for every survey
    golden(page_text(page, *part))


def test_privacy_by_invitation_in_words(
    installation: Installation, web: FlaskClient, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(secrets, "token_bytes", bytes)
    installation.publish(invitation_survey(issuer="https://council.example.org", from_="2027-01-10T08:00Z"))
    page = web.get("/s/exam/privacy").text
    golden(page_text(page, '<h2 id="invitation"', '<h2 id="unprotected"'), "tickets")
    golden(page_text(page, '<h2 id="coins"'), "coins")


def test_an_unknown_survey_and_a_draft_are_not_there(installation: Installation, web: FlaskClient) -> None:
    installation.publish(simple(), state=State.READY)
    for page in PAGES:
        read_page(web, page, "exam", 404)
        read_page(web, page, "nothing", 404)


def test_a_closed_survey_still_explains_itself(installation: Installation, web: FlaskClient) -> None:
    installation.publish(paper_survey(), state=State.CLOSED)
    told = read_page(web, "privacy")
    assert word("privacy.closed") in told
    assert chance(14) in told
    assert word("paper.survey_closed") in read_page(web, "paper")
    assert word("paper.survey_closed") in read_page(web, "enter")
    assert "<input" not in web.get("/s/exam/enter").text


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"opens": now() + HOUR}, "survey_not_open"),
        ({"closes": now() - HOUR}, "survey_closed"),
        ({"max_reports": STEP}, "survey_full"),
        ({"max_reports": STEP + 1}, ""),
    ],
)
def test_sheets_are_entered_only_while_the_survey_takes_them(
    installation: Installation, web: FlaskClient, state: dict[str, Any], code: str
) -> None:
    published = installation.publish(paper_survey(), **state)
    answers = {"copied": True, "bought": False}
    reports = [randomize(published.survey, answers) for _ in range(STEP)]
    installation.store.write(lambda: [Submission(published.key, one.id, one.bits) for one in reports])
    for page in ("enter", "paper"):
        told = read_page(web, page)
        shown = [
            state for state in ("survey_not_open", "survey_closed", "survey_full") if word(f"paper.{state}") in told
        ]
        assert shown == ([code] if code else [])
    assert ("<input" in web.get("/s/exam/enter").text) == (not code)
    assert "Did you copy?" in read_page(web, "paper")


def test_privacy_says_what_the_guidance_says(installation: Installation, web: FlaskClient) -> None:
    published = installation.publish(simple())
    told = read_page(web, "privacy")
    assert word("privacy.blind", true=50, people=100, other=YES_OR_NO) in told
    assert word("privacy.alone", epsilon="1.1", before=chance(5), after=chance(14)) in told
    assert word("privacy.total", epsilon="1.1") in told  # ln 3 = 1.0986, rounded up
    assert f"{chance(1)} {chance(3)}" in told  # 3/(99 + 3) = .0294
    assert f"{chance(50)} {chance(75)}" in told
    assert f"2 2.2 {chance(33)}" in told  # two people: 2 ln 3
    assert "10 10.99" in told
    digest = published.survey.digest
    assert "curl -s http://localhost/api/surveys/exam | sha256sum" in told
    assert f"http://localhost/s/exam#sha256={digest}" in told
    assert f'python -m candor_client "http://localhost/s/exam#sha256={digest}"' in told
    assert "one 13835058055282163712, zero 4611686018427387904" in told
    assert word("privacy.withdraw") in told
    assert word("privacy.caution") not in told
    heads, tails, either, truth = (word(f"paper.{key}") for key in ("heads", "tails", "any", "truth"))
    table = f"{heads} · {either} {truth} {tails} · {heads} {YES} {tails} · {tails} {NO}"
    assert table in told


def test_privacy_warns_of_much(installation: Installation, web: FlaskClient) -> None:
    installation.publish(KINDS["weak"])
    told = read_page(web, "privacy")
    assert word("privacy.caution") in told
    assert word("privacy.alone_certain", epsilon="44.37", before=chance(5)) in told
    assert told.count(word("privacy.certain")) > 2


def test_privacy_counts_questions_that_depend_on_one_together(installation: Installation, web: FlaskClient) -> None:
    installation.publish(CAMPUS)
    told = read_page(web, "privacy", "campus")
    assert together("Did you copy from somebody? Why?", "1.97") in told
    installation.publish(simple())
    assert word("privacy.together_heading") not in read_page(web, "privacy")


def test_privacy_tells_about_ask_and_invitations(installation: Installation, web: FlaskClient) -> None:
    installation.invite("a" * 22, definition=one_of_three_parts())
    told = read_page(web, "privacy")
    assert word("privacy.ask", questions=3, fields=3) in told
    assert word("privacy.unstored_invitation") in told
    assert word("privacy.ask_chance", percent="33.3") not in told  # each is as likely as any other


def test_privacy_tells_of_filters_which_are_asked_and_not_sent(installation: Installation, web: FlaskClient) -> None:
    installation.publish(filtered())
    told = read_page(web, "privacy")
    assert word("privacy.together_ask") in told
    assert word("privacy.together") not in told
    assert together("Did you copy? Why?", "1.8") in told  # ln 6, the larger of the two
    for percent in ("33.3", "66.7"):
        assert word("privacy.ask_chance", percent=percent) in told


@pytest.mark.parametrize(("draw", "cases", "sets"), [(1, 50, 2), (2, 67, 4)])
def test_privacy_tells_of_the_options_that_are_drawn(
    installation: Installation, web: FlaskClient, draw: int, cases: int, sets: int
) -> None:
    """A set of two options is kept with ¾: (4·¾ − 1)/3 of the devices send it as it was said, the others any set."""
    installation.publish(define([multiple()], [field(drawn(3, draw), "used")]))
    told = read_page(web, "privacy")
    assert word("privacy.drawn", draw=draw, size=3, true=cases, people=100, sets=sets) in told


def test_privacy_tells_of_blocks_numbers_and_lists_in_their_own_words(
    installation: Installation, web: FlaskClient
) -> None:
    installation.publish(blocks())
    told = read_page(web, "privacy")
    assert word("privacy.ask", questions=5, fields=4) in told
    cells, levels = (word(f"privacy.blind_{kind}", size=size) for kind, size in (("cells", 4), ("answers", 2)))
    assert f"{word('privacy.joint')} {word('privacy.blind', true=67, people=100, other=cells)}" in told
    rounded = word("privacy.levels", levels=2, low="0 h", high="6 h")
    assert f"{rounded} {word('privacy.blind', true=50, people=100, other=levels)}" in told
    assert word("privacy.option", people=100, true=75, other=41) in told
    assert word("privacy.several", weight=2, size=4) in told
    assert word("privacy.flip", people=100, true=75, other=50, yes=YES, no=NO) in told
    legends = [told.count(word(f"privacy.{key}")) for key in ("picture_legend", "picture_legend_named")]
    assert legends == [1, 1]  # once for each kind of picture


def test_privacy_tells_how_a_noisy_number_is_cut(installation: Installation, web: FlaskClient) -> None:
    installation.publish(noisy(61))
    told = read_page(web, "privacy")
    assert word("privacy.geometric", away="11 h") in told
    assert word("privacy.levels", levels=61, low="0 h", high="60 h") not in told  # every whole number is a level
    installation.publish(noisy(7, slug="coarse"))
    assert word("privacy.levels", levels=7, low="0 h", high="60 h") in read_page(web, "privacy", "coarse")


@pytest.mark.parametrize("name", KINDS)
def test_the_example_is_a_possible_report_of_nobody(name: str) -> None:
    made = survey(KINDS[name])
    told = Explanation(made)
    digest, identity, bits = told.example_row
    assert (digest, len(from_base64url(identity))) == (made.digest, 16)
    data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    assert len(unpack(made, data)) == len(told.example_bits)
    assert Explanation(made).example_row != told.example_row


def test_epsilon_is_never_rounded_down() -> None:
    told = Explanation(survey(simple()))
    assert told.epsilon(Decimal("1.0900000001")) == "1.1"
    assert Explanation(survey(simple() | {"language": "de"})).epsilon(Decimal("1.0861")) == "1,09"
    assert Explanation(survey(simple() | {"language": "fr"})).format_whole(10_000) == "10\u202f000"
    assert Explanation(survey(simple() | {"language": "es"})).format_whole(1000) == "1000"


def test_without_scripts_the_form_asks_nothing(installation: Installation, web: FlaskClient, golden: Golden) -> None:
    published = installation.publish(worked_example())
    body = web.get("/s/exam").text
    (told,) = re.findall(r"<noscript>(.*?)</noscript>", body, re.DOTALL)
    assert f'python -m candor_client "http://localhost/s/exam#sha256={published.survey.digest}"' in told
    assert word("paper.coin", throws=2) in told
    assert f"{word('paper.heads')}\u00a0·\u00a0{word('paper.any')}" in told
    assert 'href="http://localhost/s/exam/paper"' in told
    assert not re.search("<form|<input|<button|<script", told)
    golden(page_text(spread_cells(told)))


def test_without_scripts_an_invitation_goes_to_the_terminal_and_no_coin_is_offered(
    installation: Installation, golden: Golden
) -> None:
    installation.invite("a-code-of-22-characters")
    (told,) = re.findall(r"<noscript>(.*?)</noscript>", installation.client.get("/s/exam").text, re.DOTALL)
    assert f'python -m candor_client "{word("privacy.python_link")}"' in told
    assert word("privacy.python_invited") in told
    assert word("privacy.coins_heading") not in told and word("paper.coin", throws=2) not in told
    assert installation.client.get("/s/exam/privacy").text.count(word("privacy.unprotected_heading")) == 1
    golden(page_text(spread_cells(told)))


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


def test_what_an_author_wrote_stays_text(
    site: Site, installation: Installation, web: FlaskClient, browser: Browser
) -> None:
    installation.publish(poisoned())
    published = site.add(poisoned())
    for page in (*PAGES, ""):
        body = web.get(f"/s/exam/{page}".rstrip("/")).text
        assert "<img" not in body
        assert body.count("<script") == body.count("</script>") <= 2
        assert "{{7*7}}{cases}" in html.unescape(body)
    with visit(browser, **PHONE) as device:
        for page in PAGES:
            open_page(device, f"{site.link(published)}/{page}")
            assert EVIL in device.page.inner_text("main")
            assert device.page.evaluate("window.hit") is None
            assert overflows(device.page) == []
        device.page.get_by_label(YES).check()
        assert EVIL in device.page.inner_text("#preview")
        assert device.page.evaluate("window.hit") is None
        assert device.complaints == []


@pytest.mark.parametrize("speaks", ["English", "German"])
def test_axe_finds_nothing_and_nothing_sticks_out(site: Site, browser: Browser, speaks: str) -> None:
    if speaks == "English":
        published, pages = site.add(CAMPUS), ("privacy", "paper")
    else:
        published, pages = site.add(paper_survey(language="de")), ("paper", "enter")
    with visit(browser, bypass_csp=True) as device:
        for name in pages:
            page = open_page(device, f"{site.link(published)}/{name}")
            if name == "enter":
                for label in page.get_by_label(word("privacy.yes", "de"), exact=True).all():
                    label.check()
                site.store.set_state(published, State.PAUSED)
                page.locator("#send").click()
                page.locator("#kept").wait_for()
            for look, rules in (("phone-light", ()), ("zoomed-dark", BY_LOOK)):
                apply_look(page, look)
                assert violations(page, *rules) == [], look
                assert overflows(page) == [], look


def test_axe_finds_nothing_where_the_survey_speaks_a_language_of_its_own(site: Site, browser: Browser) -> None:
    published = site.add(paper_survey(language="ar", title="الأمانة في الامتحان"))
    with visit(browser, bypass_csp=True, **PHONE) as device:
        for name in PAGES:
            page = open_page(device, f"{site.link(published)}/{name}")
            assert page.get_attribute("html", "lang") == "en"
            assert page.locator("[lang=ar]").first.get_attribute("dir") == "auto"
            assert violations(page) == []
            assert overflows(page) == []
