"""A form that came by plain http from another machine asks nothing and sends nothing: anyone on the way could read it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from survey_app.languages import LANGUAGES, Words
from survey_app.web.form.form_page import build_file
from tests.browser import PHONE, Site, overflows, violations, visit
from tests.definitions import COIN, define, field, simple, yes_no
from tests.form_browser import title

FAR = "survey.example"  # resolved to this machine by the browser, which does not count it as local
CODE = "a-code-of-22-characters"


def far(site: Site) -> str:
    return site.origin.replace("127.0.0.1", FAR)


def test_the_form_over_plain_http_from_another_host_sends_nothing(site: Site, browser: Browser) -> None:
    published = site.add(simple())
    with visit(browser, **PHONE) as device:
        page = device.open(f"{far(site)}/s/exam#sha256={published.survey.digest}")
        assert page.evaluate("isSecureContext") is False
        expect(title(page, "not_encrypted")).to_be_visible()
        assert page.locator("form, fieldset, input").count() == 0
        way = page.locator("#form a").get_attribute("href")
        assert way == f"https://{FAR}/s/exam#sha256={published.survey.digest}"
        assert page.evaluate("Object.keys(localStorage)") == []
        assert violations(page) == [] and overflows(page) == []
        assert not site.requests_of() and not device.requests_of()
        assert "/api/surveys/exam" not in [request.path for request in site.requests], "not even the questions"


def test_no_ticket_is_taken_there(site: Site, browser: Browser) -> None:
    site.invite(CODE, definition=define([yes_no()], [field(COIN, "cheated")]))
    with visit(browser) as device:
        page = device.open(f"{far(site)}/s/exam#code={CODE}")
        expect(page.locator("#form a")).to_have_attribute("href", f"https://{FAR}/s/exam#code={CODE}")
        assert page.get_by_role("button").count() == 0
        assert not site.requests_of()


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_says_so_in_every_language(site: Site, browser: Browser, language: str) -> None:
    site.add(simple() | ({} if language == "en" else {"language": language}))
    with visit(browser) as device:
        page = device.open(f"{far(site)}/s/exam")
        name, advice = Words(language)("trouble.not_encrypted").split("\n")
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        assert advice in device.text()


def test_a_file_that_sends_by_plain_http_asks_nothing(site: Site, browser: Browser, tmp_path: Path) -> None:
    """The page is trustworthy there, the way of the report is not."""
    published = site.add(simple())
    file = tmp_path / "form.html"
    file.write_bytes(build_file(published.survey.source, far(site)))
    with visit(browser) as device:
        device.page.goto(file.as_uri())
        expect(title(device.page, "not_encrypted")).to_be_visible()
        expect(device.page.locator("#form a")).to_have_attribute("href", f"https://{FAR}/s/exam")
        assert device.page.locator("form").count() == 0
        assert not site.requests


def test_the_interviewer_s_page_sends_nothing_either(site: Site, browser: Browser) -> None:
    site.add(simple())
    with visit(browser) as device:
        page = device.page
        page.goto(f"{far(site)}/s/exam/enter")
        expect(page.locator("#trouble")).to_have_text(Words("en")("paper.error_bad_address"))
        expect(page.locator("#enter")).to_be_hidden()
        assert not site.requests_of()
