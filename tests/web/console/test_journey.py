"""One study from nothing to its end, in a real browser: write, plan, invite, answer, read, change, close, archive, delete."""

import csv
import io
import json
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyreadstat
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

import candor_client
from candor_client.ledger import Ledger
from survey_app.assure.simulation import devices
from survey_app.cli import main
from survey_app.languages import Words
from survey_app.plan.simulated_people import draw_people
from survey_app.store import EventCode, PublishedSurvey, Submission
from tests.browser import DESKTOP, PHONE, Site, visit
from tests.clock import make_fast_clock
from tests.console import complaints, press, sign_in_by_keyboard

POINTS = ("Disagree", "Neither", "Agree")
PEOPLE = 1018
SAID = {"copied": True, "fair": "Agree", "long": "Neither", "help": "phone"}
TRUTH = {"copied": 0.4}


def write(page: Page) -> None:
    """A question, a battery, and a question that depends on the first; everybody is asked all of it, once invited."""
    page.fill("#new-title", "Exams and you")
    press(page, "Start empty")
    page.wait_for_selector("text=No questions yet")
    for place, (kind, fields) in enumerate(
        {
            "Yes or no": {"text": "Did you copy?", "id": "copied"},
            "Battery": {
                "text": "How was the exam?",
                "statements": "fair: It was fair.\nlong: It was long.",
                "points": "\n".join(POINTS),
            },
            "Section": {"section": "And then"},
            "Single choice": {"text": "What helped?", "id": "help", "options": "notes\nphone"},
        }.items()
    ):
        press(page, kind)  # what was typed before is saved first
        page.wait_for_selector(f"#q{place}.open :is(input, textarea):focus")
        for field, text in fields.items():
            page.fill(f"#q{place}-{field}", text)
    page.get_by_text("Privacy and conditions").click()
    page.select_option("#q3-show_if", "copied")
    page.get_by_label("Yes", exact=True).check()
    expect(page.locator("#q3-name")).to_have_text("What helped?")  # before it is saved
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#said")).to_have_text("Saved.")
    expect(page.locator("#q3 .head")).to_contain_text("only if copied")


def settle(page: Page) -> None:
    page.get_by_role("link", name="2 Settings").click()
    page.fill("#s-slug", "exams")
    page.fill("#s-consent", "I take part freely.")
    page.fill("#s-thanks", "That was a help.")
    page.fill("#s-epsilon", "4")
    page.select_option("#s-invitations", "own")
    page.get_by_label("Everything split").check()  # what was typed is saved first
    expect(page.locator("#said")).to_have_text("Saved.")
    expect(page.get_by_label("Everything split")).to_be_checked()
    expect(page.locator("#s-thanks")).to_have_value("That was a help.")


def translate(page: Page) -> None:
    """Every text into German: its own words with a mark before them."""
    page.get_by_role("link", name="Languages", exact=True).click()
    page.select_option("#l-known", "de")
    press(page, "Add it")
    expect(page.locator(".spoken")).to_contain_text("missing")
    for pair in page.locator(".pair.lacking").all():
        pair.locator("input, textarea").fill(f"«de» {pair.locator('.original [lang]').inner_text()}")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".spoken")).to_contain_text("complete")


def plan_and_publish(page: Page) -> str:
    """The precision of so many respondents, the dossier for a board, and the survey; the dossier."""
    page.fill("#respondents", str(PEOPLE))
    page.get_by_role("link", name="5 Publish").click()  # at once: what was typed is remembered first
    expect(page.locator("#for-you")).to_have_text(f"For you, with {PEOPLE:,} respondents")
    expect(page.locator("[data-fact=who]")).to_have_attribute("data-value", "invited")
    dossier = saved(page, "the dossier")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/console/exams")
    return dossier


def saved(page: Page, link: str) -> str:
    """What a link downloads."""
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).click()
    return download.value.path().read_text("utf-8-sig")


def invite(page: Page) -> list[str]:
    """A link for each of two people."""
    page.get_by_role("link", name="Make invitations", exact=True).click()
    page.fill("#names", "Kim\nBo")
    with page.expect_download() as download:
        page.get_by_role("button", name="Make and download them").click()
    rows = csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig")))
    return [row["link"] for row in rows]


def answer(page: Page) -> None:
    """Agree, take the ticket, read on in German, answer all of it and send; the author's thanks."""
    german = Words("de")
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Take my ticket").click()
    expect(page.get_by_role("group", name="Did you copy?")).to_be_visible()
    page.get_by_role("button", name="Deutsch", exact=True).click()
    expect(page.get_by_role("heading", name="«de» How was the exam?")).to_be_visible()
    for question, option in {
        "«de» Did you copy?": "Ja",
        "«de» It was fair.": "«de» Agree",
        "«de» It was long.": "«de» Neither",
        "«de» What helped?": "«de» phone",
    }.items():
        page.get_by_role("group", name=question).get_by_label(option, exact=True).check()
    page.get_by_role("button", name=german("form.randomize")).click()
    page.locator("section .primary:not([disabled])").click()
    expect(page.get_by_role("heading", name=german("form.receipt"))).to_be_focused()
    expect(page.get_by_text("«de» That was a help.")).to_be_visible()


def others(site: Site, published: PublishedSurvey, link: str, ledger: Path) -> None:
    """The second invitation is used by a program, and many more as if they had been."""
    receipt = candor_client.respond(link, SAID, ledger=Ledger(ledger), clock=make_fast_clock())
    assert receipt.status == "stored"
    rng = np.random.default_rng()
    for rows in devices.reports(published.survey, draw_people(published.survey, TRUTH, PEOPLE, rng), rng):
        made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
        site.store.write(made.copy)


def read(page: Page, site: Site) -> None:
    """The estimates first, then another confidence, and a table of two questions."""
    page.goto(f"{site.origin}/results/exams")
    expect(page.locator(".glance .figure").first).to_be_visible()
    expect(page.locator("#condition-help")).to_contain_text("Did you copy?")
    page.get_by_text("Settings: confidence").click()
    page.select_option("#confidence", "0.99")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**confidence=0.99**")
    found = json.loads(page.request.get(f"{site.origin}/api/surveys/exams/results?confidence=0.99").text())
    assert found["reports"] == PEOPLE + 2
    expect(page.locator("[data-key=reports]").first).to_have_text("1,020")
    yes = next(one for one in found["questions"][0]["estimates"] if one["option"] == "yes")
    expect(page.locator(f"data[data-key=estimate][value='{yes['estimate']!r}']").first).to_be_attached()
    page.select_option("#rows", "copied")
    page.select_option("#columns", "fair")
    page.get_by_role("button", name="Cross").first.click()
    page.wait_for_url("**rows=copied**columns=fair**")
    expect(page.locator("[data-test]")).to_contain_text("Pearson")
    assert page.pdf().startswith(b"%PDF")


def look_too_early(page: Page, site: Site) -> None:
    """Nothing is shown before its date, to its owner neither."""
    page.goto(f"{site.origin}/results/exams")
    expect(page.get_by_role("heading", name="No results yet")).to_be_visible()
    assert json.loads(page.request.get(f"{site.origin}/api/surveys/exams/results").text())["reports"] == 0


def change_terms(page: Page, site: Site, published: PublishedSurvey) -> None:
    """While it runs, and it stays the survey that it is."""
    page.goto(f"{site.origin}/console/exams")
    page.select_option("#t-results", "public")
    page.fill("#t-closes", "2099-03-31T12:00")
    page.locator("form:has(#t-closes)").get_by_role("button", name="Save").click()
    expect(page.locator("dl.facts")).to_contain_text("31 Mar 2099, 12:00 UTC")
    now = site.store.newest_version("exams")
    assert now is not None
    assert (now.survey.digest, now.terms.public) == (published.survey.digest, True)


def archive(page: Page, site: Site, published: PublishedSurvey, folder: Path) -> None:
    """Codebook, DDI, estimates and raw data from the page, .sav by the command, all of them read back."""
    survey = published.survey
    page.goto(f"{site.origin}/results/exams")
    expect(page.locator("#live-state")).to_have_attribute("data-note", "closed")  # and shown
    reports = json.loads(page.request.get(f"{site.origin}/api/surveys/exams/results").text())
    codebook = saved(page, "Codebook")
    assert survey.digest in codebook and all(question.text in codebook for question in survey.questions)
    ddi = ElementTree.fromstring(saved(page, "DDI-Codebook 2.5"))  # noqa: S314 — what we have just written
    space = {"ddi": "ddi:codebook:2_5"}
    assert ddi.findtext(".//ddi:caseQnty", namespaces=space) == str(reports["reports"])
    assert len(ddi.findall(".//ddi:var", space)) == survey.width
    lines = list(csv.DictReader(io.StringIO(saved(page, "Results as CSV"))))
    assert {line["question"] for line in lines} == set(SAID)
    rows = list(csv.reader(io.StringIO(saved(page, "Raw data as CSV"))))[1:]

    file = folder / "exams.sav"
    made = CliRunner().invoke(main, ["--db", f"sqlite:///{site.store.path}", "export", "exams", str(file)])
    assert made.exit_code == 0, made.output
    table, about = pyreadstat.read_sav(file)
    assert about.file_label == survey.digest
    assert sorted(table.astype(int).astype(str).values.tolist()) == sorted(rows)
    found = re.search(r"\[p=(\S+) q=(\S+)\]$", about.column_names_to_labels["copied"] or "")
    assert found is not None
    p, q = map(float, found.groups())
    yes = next(one for one in reports["questions"][0]["estimates"] if one["option"] == "yes")
    assert (table["copied"].mean() - q) / (p - q) == pytest.approx(yes["unbiased"], abs=1e-12)


def test_one_study_from_nothing_to_its_end(site: Site, browser: Browser, tmp_path: Path) -> None:
    with visit(browser, **DESKTOP) as device:
        page = sign_in_by_keyboard(device, site)
        write(page)
        settle(page)
        translate(page)
        dossier = plan_and_publish(page)
        published = site.store.newest_version("exams")
        assert published is not None
        survey: Any = json.loads(published.survey.source)
        assert [question["id"] for question in survey["questions"]] == list(SAID)
        assert survey["questions"][3]["show_if"] == {"question": "copied", "is": ["yes"]}
        assert list(survey["translations"]) == ["de"]
        assert all(
            text in dossier for text in ("It was long.", "I take part freely.", f"Planned for {PEOPLE:,} respondents")
        )
        kim, bo = invite(page)
        with visit(browser, **PHONE) as respondent:
            answer(respondent.open(kim))
            assert respondent.complaints == []
        others(site, published, bo, tmp_path / "ledger.json")
        assert len(site.stored_reports(published)) == PEOPLE + 2
        expect(page.locator("#invited")).to_have_text("2")
        look_too_early(page, site)
        change_terms(page, site, published)

        page.get_by_role("link", name="Close…").click()
        page.get_by_role("button", name="Close it for good").click()
        page.wait_for_url("**/console/exams")
        look_too_early(page, site)
        site.store.clock = lambda: datetime(2099, 3, 31, 12, tzinfo=UTC)
        read(page, site)
        archive(page, site, published, tmp_path)
        page.goto(f"{site.origin}/console/exams")
        page.get_by_role("link", name="Delete…").click()
        page.fill("#typed", "exams")
        page.get_by_role("button", name="Delete it for good").click()
        page.wait_for_url(f"{site.origin}/console")
        assert site.store.newest_version("exams") is None
        codes = [event.code for event in site.store.events(published.owner, "exams")]
        assert codes == [
            EventCode.DELETED, EventCode.EXPORTED, EventCode.CLOSED, EventCode.TERMS_CHANGED,
            EventCode.INVITATIONS_MADE, EventCode.PUBLISHED,
        ]  # fmt: skip
        assert complaints(device) == []
