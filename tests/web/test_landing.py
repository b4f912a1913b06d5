"""The front door: what this server is, what is open, the way to the console; and no page that leads nowhere."""

import re
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from flask import Flask
from playwright.sync_api import Browser

from survey_app.languages import LANGUAGES, Words
from survey_app.store import PublishedSurvey, State
from survey_app.web import landing
from tests.browser import BY_LOOK, LOOKS, PHONE, Site, apply_look, overflows, violations, visit
from tests.console import EVIL
from tests.definitions import simple
from tests.fixtures import HOUR, Installation
from tests.sign_in import attempt, signed_in
from tests.tree import Node, parse
from tests.words import word

TICKETS = {"key": "_" * 511 + "9"}


def listed(page: Node) -> list[str]:
    return [title.text for title in page.all("h3")]


def links(page: Node) -> list[str]:
    return [link.attributes["href"] for link in page.all("a")]


def test_the_front_page_says_what_this_is_and_leads_to_what_is_open_and_to_the_console(
    installation: Installation,
) -> None:
    installation.publish(simple() | {"title": "Exam honesty"})
    response = installation.client.get("/")
    assert (response.status_code, response.mimetype) == (200, "text/html")
    page = parse(response.text)
    assert page.one("h1").text == word("front.title")
    assert page.one("p", class_="lead").text == word("front.what")
    assert listed(page) == ["Exam honesty"]
    assert {"/s/exam", "/results/exam", "/s/exam/privacy", "/console", "/client/js/index.js"} <= set(links(page))
    assert page.one("h2", id="researchers").text == word("front.researchers_heading")
    assert page.one("h2", id="check").text == word("privacy.check_heading")


def test_every_link_of_the_front_page_leads_somewhere(installation: Installation) -> None:
    installation.publish(simple())
    for link in links(parse(installation.client.get("/").text)):
        assert installation.client.get(link, buffered=True).status_code in (200, 302), link


def test_only_what_is_open_and_public_is_listed(installation: Installation) -> None:
    later, past = datetime.now(UTC) + HOUR, datetime.now(UTC) - HOUR
    for slug, options in (
        ("open", {}),
        ("private", {"public": False}),
        ("ready", {"state": State.READY}),
        ("closed", {"state": State.CLOSED}),
        ("later", {"opens": later}),
        ("over", {"closes": past}),
    ):
        installation.publish(simple() | {"slug": slug, "title": f"It is {slug}"}, **options)
    for client in (installation.client, signed_in(installation.app)):
        page = client.get("/")
        assert listed(parse(page.text)) == ["It is open"]
        for hidden in ("private", "ready", "closed", "later", "over"):
            assert hidden not in "".join(links(parse(page.text)))


def test_a_study_is_listed_once_and_its_groups_are_not(installation: Installation) -> None:
    for group in ("north", "south"):
        installation.publish(
            simple() | {"slug": f"exam-{group}", "study": "exam", "group": group, "title": "The study"}
        )
    page = parse(installation.client.get("/").text)
    assert listed(page) == ["The study"]
    assert "/results/exam" in links(page)
    assert not [link for link in links(page) if "exam-" in link]


def test_a_survey_by_invitation_offers_no_form_to_visitors(installation: Installation) -> None:
    installation.publish(simple() | {"tickets": TICKETS})
    page = parse(installation.client.get("/").text)
    assert word("front.invited") in page.text
    assert "/s/exam" not in links(page) and "/results/exam" in links(page)


def test_with_nothing_open_the_front_page_says_so(installation: Installation) -> None:
    page = parse(installation.client.get("/").text)
    assert word("front.open_none") in page.text and listed(page) == []


def test_a_server_with_very_many_surveys_lists_some(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "MOST_LISTED", 2)
    for slug in ("c", "b", "a"):
        installation.publish(simple() | {"slug": slug, "title": slug.upper()})
    page = parse(installation.client.get("/").text)
    assert listed(page) == ["A", "B"] and word("front.open_more", count=1) in page.text


def test_a_server_that_takes_long_to_read_its_surveys_does_so_seldom(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, read, surveys = [0.0], [], installation.store.surveys

    def slowly(owner: int | None = None) -> list[PublishedSurvey]:
        moment[0] += 1.0
        read.append(moment[0])
        return surveys(owner)

    monkeypatch.setattr(landing, "clock", lambda: moment[0])
    monkeypatch.setattr(installation.store, "surveys", slowly)
    for seconds in (0.0, 10.0, 9.9, 0.2):
        moment[0] += seconds
        assert installation.client.get("/").status_code == 200
    assert len(read) == 2  # at once, and after twenty times the second that it took


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_page_speaks_the_readers_language_or_the_one_that_is_asked_for(
    installation: Installation, language: str
) -> None:
    words = Words(language)
    installation.publish(simple() | {"language": "fr"} if language != "fr" else simple())
    by_header = installation.client.get("/", headers={"Accept-Language": f"{language}, en;q=0.1"})
    by_link = installation.client.get(f"/?language={language}")
    for response in (by_header, by_link):
        page = parse(response.text)
        assert page.one("html").attributes["lang"] == language
        assert page.one("h1").text == words("front.title")
        assert words("front.researchers_heading") in page.text
        assert "Accept-Language" in response.headers["Vary"]
        assert page.one("h3").attributes["lang"] == ("fr" if language != "fr" else "en")
    assert installation.client.get("/?language=xx").status_code == 200


def test_a_title_is_shown_in_a_language_it_was_translated_into(installation: Installation) -> None:
    german = {"title": "Ehrlich geprüft", "questions": {"cheated": {"text": "Abgeschrieben?"}}}
    installation.publish(simple() | {"title": "Exam honesty", "translations": {"de": german}})
    found = [listed(parse(installation.client.get(f"/?language={language}").text)) for language in ("de", "en", "fr")]
    assert found == [["Ehrlich geprüft"], ["Exam honesty"], ["Exam honesty"]]


def test_the_front_page_knows_nobody(installation: Installation) -> None:
    seen = [client.get("/") for client in (installation.client, signed_in(installation.app))]
    assert seen[0].text == seen[1].text
    for response in seen:
        assert "Set-Cookie" not in response.headers
        assert "<script" not in response.text and "http" not in response.text
        assert "form-action 'none'" in response.headers["Content-Security-Policy"]


def test_a_title_is_text_on_the_front_page_too(installation: Installation) -> None:
    installation.publish(simple() | {"title": EVIL})
    page = installation.client.get("/").text
    assert "<script" not in page and "<img" not in page and "{{ 7*7 }}" in page


@pytest.mark.parametrize("path", ["/s", "/results", "/docs", "/s/nothing", "/s/nothing/privacy", "/anything/at/all", "/x.php", "/static/nothing.css"])  # fmt: skip
def test_a_page_that_is_not_there_leads_to_the_front_page(installation: Installation, path: str) -> None:
    response = installation.client.get(path)
    assert response.status_code == 404
    assert "/" in links(parse(response.text))


@pytest.mark.parametrize("path", ["/console/nothing", "/account/nothing", "/results/nothing", "/console/drafts/1"])
def test_a_researchers_page_that_is_not_there_leads_back_to_the_console(installation: Installation, path: str) -> None:
    response = signed_in(installation.app).get(path)
    assert response.status_code == 404
    assert "/console" in links(parse(response.text))


def test_a_refusal_speaks_the_language_of_the_page_it_leads_to(installation: Installation) -> None:
    page = parse(installation.client.get("/s/nothing", headers={"Accept-Language": "de"}).text)
    assert page.one("a", href="/").text == "Zur Startseite dieses Servers"


def test_the_page_where_one_signs_in_leads_to_the_front_page(installation: Installation) -> None:
    assert "/" in links(parse(installation.client.get("/login").text))


def test_too_many_attempts_say_when_to_try_again_and_lead_back(limited_app: Flask) -> None:
    browser = limited_app.test_client()
    for guess in range(11):
        response = attempt(browser, "ada", f"guess {guess}", "/console/exam")
    assert response.status_code == 429
    wait = int(response.headers["Retry-After"])
    assert 1 <= wait <= 61  # whole seconds, rounded up
    page = parse(response.text)
    assert f"in {wait} second" in page.text
    (back,) = (link for link in links(page) if link.startswith("/login"))
    assert browser.get(back).status_code == 200
    assert unquote(back).endswith("next=/console/exam")


BEYOND = (2**63, 2**64, 10**40)


@pytest.mark.parametrize("key", BEYOND)
def test_a_key_that_no_store_can_count_is_not_found(app: Flask, key: int) -> None:
    browser = signed_in(app)
    tried = 0
    for rule in app.url_map.iter_rules():
        if "<int:" in rule.rule:
            path = re.sub(r"<int:\w+>", str(key), rule.rule).replace("<slug>", "exam")
            for method in (rule.methods or set()) & {"GET", "POST"}:
                assert browser.open(path, method=method).status_code == 404, (method, path)
                tried += 1
    assert tried >= 15
    assert browser.get(f"/console/drafts/{2**63 - 1}").status_code == 404


@pytest.mark.essential
@pytest.mark.parametrize("scripts", [True, False])
def test_the_front_page_can_be_used_by_everybody(site: Site, browser: Browser, scripts: bool) -> None:
    site.add(simple() | {"title": "Exam honesty among students of all faculties, in the second year"})
    site.add(simple() | {"slug": "invited", "title": "By invitation", "tickets": TICKETS})
    site.add(simple() | {"slug": "rtl", "title": "استبيان", "language": "ar"})
    with visit(browser, java_script_enabled=scripts, **PHONE) as device:
        for path in ("/?language=de", "/", "/nothing", "/s"):
            page = device.open(site.origin + path)
            for look in LOOKS if scripts else ():
                apply_look(page, look)
                rules = BY_LOOK if look != "phone-light" else ()
                assert violations(page, *rules) == [], (path, look)
                assert overflows(page) == [], (path, look)
        device.open(site.origin + "/")
        page.get_by_role("link", name="Take part").first.click()
        page.wait_for_url("**/s/exam")
        assert page.context.cookies() == []
        assert [one for one in device.complaints if "404" not in one] == []
