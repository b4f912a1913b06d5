"""Inviting people from the console: links once, exact numbers for the owner alone, names that stay in the browser."""

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect

from candor_client.address import Address
from survey_app.accounts import hash_secret
from survey_app.authoring.terms import Terms
from survey_app.store import Member, State
from tests.browser import BY_LOOK, DESKTOP, Site, apply_look, overflows, violations, visit
from tests.console import EXAM, complaints, draft, notices, part, post, publish, read_log, sign_in_by_keyboard
from tests.definitions import simple
from tests.fixtures import Installation
from tests.golden_files import Golden, hide_moments, page_text
from tests.ticket_surveys import invitation_survey
from tests.tree import Node, parse

CODES = [f"code-{i:02}-with-enough-characters" for i in range(45)]


def taken(installation: Installation, code: str) -> None:
    """As if a ticket had been signed for this code."""
    published = installation.store.newest_version("exam")
    assert published is not None
    kept = installation.tickets.private_key(published.survey.digest)
    assert kept is not None
    installation.tickets.mark(kept[0], hash_secret(code), hashlib.sha256(code.encode()).digest())


def invited(browser: FlaskClient) -> Any:
    return json.loads(browser.get("/console/exam/invited.json").data)


def fact(page: str, name: str) -> Node:
    return parse(page).one("dd", data_fact=name)


def test_the_page_of_a_survey_by_invitation_leads_to_invitations(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    installation.invite()
    page = ada.get("/console/exam").text
    assert 'href="/console/exam/invitations"' in page
    assert 'class="primary" href="/console/exam/invitations"' in page
    assert "qr.svg" not in page
    assert 'id="pinned"' not in page
    assert "#sha256=" not in part(page, "mail")
    golden(hide_moments(page_text(page, '<section class="box" aria-labelledby="share"', "</section>")))


@pytest.mark.parametrize(("language", "words"), [("en", "58% of 300"), ("de", "58 % von 300"), ("fr", "58 % de 300")])
def test_what_it_does_not_protect_is_said_as_respondents_read_it(
    installation: Installation, ada: FlaskClient, language: str, words: str
) -> None:
    spoken = {} if language == "en" else {"language": language}
    installation.invite(definition=simple() | spoken)
    for path in ("/console/exam", "/console/exam/invitations"):
        assert words in ada.get(path).text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_invitations_are_a_file_of_links_once_and_hashes_are_kept(installation: Installation, ada: FlaskClient) -> None:
    installation.invite()
    made = post(ada, "/console/exam/invitations", count="3")
    assert made.status_code == 200
    assert "attachment" in made.headers["Content-Disposition"]
    codes = [Address.parse(line).invitation for line in made.text.split()]
    assert len(set(codes)) == 3
    assert all(code is not None for code in codes)
    hashes = sorted(hash_secret(code or "").hex() for code in codes)
    assert invited(ada) == {"invited": 3, "taken": 0, "not_taken": hashes}
    assert read_log(ada)[0] == "invitations_made"
    assert installation.store.events(installation.owner.key)[0].data.count == 3
    on_disk = b"".join(path.read_bytes() for path in installation.store.path.parent.iterdir() if path.is_file())
    assert not any((code or "").encode() in on_disk for code in codes)


def test_a_closed_survey_offers_no_sharing(installation: Installation, ada: FlaskClient, golden: Golden) -> None:
    for add in (installation.publish, installation.invite):
        installation.store.set_state(add(), State.CLOSED)
        page = ada.get("/console/exam").text
        assert not any(part in page for part in ("qr.svg", 'id="link"', 'id="mail"', 'class="primary" href="/console'))
        assert 'href="/results/exam"' in page
    page = ada.get("/console/exam/invitations").text
    assert 'id="invite"' not in page
    golden(page_text(page, 'aria-labelledby="make"', "</section>"), "page")
    refused = post(ada, "/console/exam/invitations", count="3")
    assert refused.status_code == 410
    golden(page_text(refused.text), "refused")


def test_counts_are_exact_on_the_owner_s_page_and_in_steps_for_everybody(
    installation: Installation, ada: FlaskClient
) -> None:
    installation.invite(*CODES)
    for code in CODES[:21]:
        taken(installation, code)
    page = ada.get("/console/exam/invitations").text
    for name, count in (("invited", 45), ("taken", 21), ("missing", 24)):
        assert f'<dd class="big" id="{name}">{count}</dd>' in page
    assert 'id="mail"' in page
    assert 'id="taken"' not in ada.get("/console/exam").text
    page = ada.get("/results/exam").text
    for name, exact in (("invited", "45"), ("taken", "21")):  # the last 20 to 39 of each wait
        assert fact(page, name).text != exact


def test_a_few_invited_people_are_not_told_to_be_none(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    installation.invite(*CODES[:3])
    page = ada.get("/results/exam").text
    for name in ("invited", "taken"):
        assert re.findall(r"\d+", fact(page, name).text) == ["60"]
    golden(page_text(page, "<dl", "</dl>"))


def test_results_that_wait_offer_no_link_that_lets_nobody_in(installation: Installation, ada: FlaskClient) -> None:
    installation.publish()
    assert ">http://localhost/s/exam</a>" in ada.get("/results/exam").text
    installation.invite()
    page = ada.get("/results/exam").text
    assert ">http://localhost/s/exam</a>" not in page


def test_nobody_is_invited_when_answering_has_begun(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    installation.invite(from_="2026-01-01T00:00Z")
    page = ada.get("/console/exam/invitations").text
    assert 'id="invite"' not in page
    golden(page_text(page, 'aria-labelledby="make"', "</section>"), "page")
    refused = post(ada, "/console/exam/invitations", count="3")
    assert refused.status_code == 409
    golden(page_text(refused.text), "refused")
    assert invited(ada)["invited"] == 0


def test_what_waited_for_longer_than_its_first_phase_is_not_opened(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    ready = Member(invitation_survey(from_="2026-01-01T00:00Z"), Terms())
    installation.store.add_surveys([ready], owner=installation.owner.key, state=State.READY)
    refused = post(ada, "/console/exam/open")
    assert refused.status_code == 409
    assert [one.state for one in installation.store.surveys()] == [State.READY]
    golden(page_text(refused.text))


def test_publishing_says_who_may_answer_and_leads_to_the_invitations(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM + b"invitations: {from: 2099-01-01T00:00Z}\n")
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert fact(page, "who").attributes["data-value"] == "invited"
    moment = "2099-01-01T00:00:00+00:00"
    assert fact(page, "phases").one("time").attributes["datetime"] == moment
    golden(page_text(page, '<dl class="facts"', "</dl>"), "before")
    publish(ada, key)
    page = ada.get("/console/exam").text
    (flash,) = parse(page).one("div", id="said").all("a")
    assert flash.attributes["href"] == "/console/exam/invitations"
    golden(notices(page), "published")
    assert fact(page, "phases").one("time").attributes["datetime"] == moment
    golden(page_text(page, '<dl class="facts"', "</dl>").partition("\n")[0], "reports")
    assert f'<time datetime="{moment}"' in ada.get("/console/exam/invitations").text


def test_nobody_else_sees_or_makes_invitations(installation: Installation, eve: FlaskClient) -> None:
    installation.invite(*CODES)
    for path in ("/console/exam/invitations", "/console/exam/invited.json"):
        assert installation.client.get(path).status_code == 302
        assert eve.get(path).status_code == 403
    assert post(eve, "/console/exam/invitations", count="3").status_code == 403


def test_a_survey_for_anybody_has_no_invitations(installation: Installation, ada: FlaskClient) -> None:
    installation.publish()
    assert ada.get("/console/exam/invitations").status_code == 404
    assert post(ada, "/console/exam/invitations", count="3").status_code == 404


def test_bad_numbers_and_another_issuer_are_refused(installation: Installation, ada: FlaskClient) -> None:
    installation.invite()
    for count in ("", "0", "-1", "1.5", "x", "100001", "9" * 30, "٣"):
        assert post(ada, "/console/exam/invitations", count=count).status_code == 400
    other = installation.invite(number=1, issuer="https://council.example")
    assert "https://council.example" in ada.get("/console/exam/invitations").text
    assert post(ada, "/console/exam/invitations", count="3").status_code == 400
    assert installation.tickets.count_invitations(other.survey.digest) == (0, 0)


def test_names_and_links_meet_in_the_browser_alone(site: Site, browser: Browser, tmp_path: Path) -> None:
    installation = site.installation
    installation.invite()
    sent: list[str] = []
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
        page.goto(f"{site.origin}/console/exam/invitations")
        page.fill("#names", 'Kim\nO\'Neil, "Bo"\n\n@zoë\nKim')
        page.locator("#invite button.primary").click()
        expect(page.locator("#invite-said")).to_contain_text("Kim")
        assert page.evaluate("document.querySelector('#names').value").count("Kim") == 2, "nothing was made"
        page.fill("#names", 'Kim\nO\'Neil, "Bo"\n\n@zoë')
        assert page.input_value("#count") == "3"
        with page.expect_download() as saved:
            page.locator("#invite button.primary").click()
        assert saved.value.suggested_filename == "exam-invitations.csv"
        expect(page.locator("#invited")).to_have_text("3")
        assert (page.input_value("#names"), page.input_value("#count")) == ("", "20")
        table = Path(tmp_path / "table.csv")
        saved.value.save_as(table)
        rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
        assert table.read_bytes().startswith(b"\xef\xbb\xbf")
        assert [row["name"] for row in rows] == ["Kim", 'O\'Neil, "Bo"', " @zoë"]  # no formula
        taken(installation, Address.parse(rows[0]["link"]).invitation or "")
        page.set_input_files("#table", table)
        expect(page.locator("#absent-list li")).to_have_text(['O\'Neil, "Bo"', "@zoë"])
        assert re.findall(r"\d+", page.locator("#absent-said").inner_text()) == ["2", "3"]
        with page.expect_download() as saved:
            page.locator("#absent-save").click()
        reminders = Path(tmp_path / "reminders.csv")
        saved.value.save_as(reminders)
        assert list(csv.DictReader(io.StringIO(reminders.read_text("utf-8-sig")))) == rows[1:]
        assert not any(name in one for one in sent for name in ("Kim", "Neil", "zo"))
        assert complaints(device) == []


def test_the_page_of_invitations_is_for_everybody(site: Site, browser: Browser) -> None:
    site.installation.invite(*CODES)
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        for path in ("/console/exam/invitations", "/console/exam"):
            page.goto(f"{site.origin}{path}")
            for look, rules in (("phone-light", ()), ("desktop-dark", BY_LOOK)):
                apply_look(page, look)
                assert violations(page, *rules) == []
                assert overflows(page) == []
