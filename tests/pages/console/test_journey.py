"""One study from nothing to its end, in a real browser: author, answer, read, compare, download, print, close, delete."""

import json
import secrets
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page

import client
from client.ledger import Ledger
from survey_app.plan.people import draw_people
from survey_app.simulate import devices
from survey_app.store import Published, Submission
from tests.browser import DESKTOP, Site, visit
from tests.clock import hurried
from tests.console import complaints, enter, press

TYPES = ("Yes or no", "One of several", "Scale", "Several of them", "Number")


def author(page: Page) -> None:
    """A survey of all types, from nothing to its link."""
    press(page, "Start empty")
    page.wait_for_selector("text=No questions yet")
    for place, name in enumerate(TYPES):
        press(page, name)
        page.wait_for_selector(f"#q{place}.open textarea:focus")
        page.keyboard.press("Control+A")
        page.keyboard.type(f"{name}, really?")
    page.get_by_role("link", name="2 Settings").click()
    page.fill("#s-title", "All types")
    page.fill("#s-slug", "all-types")
    page.get_by_label("Everything split").check()  # what was typed is saved first
    page.wait_for_selector("body:has(#ask-all:checked) #said:has-text('Saved.')")
    page.get_by_role("link", name="6 Publish").click()
    page.wait_for_selector("h1:has-text('All types')")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/console/all-types")


def answer(page: Page, published: Published) -> None:
    """The form, by mouse."""
    for question in published.survey.questions:
        if question.type == "number":
            page.get_by_role("textbox").first.fill(f"{question.min:f}")
        else:
            name = question.labels[0].capitalize() if question.type == "yes_no" else question.labels[0]
            page.get_by_role("group", name=question.text).get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Roll the dice").click()
    page.locator("section .primary:not([disabled])").click()
    page.wait_for_selector("a[download]")


def test_one_study_from_nothing_to_its_end(site: Site, browser: Browser, tmp_path: Path) -> None:
    with visit(browser, accept_downloads=True, **DESKTOP) as device:
        page = enter(device, site)
        author(page)
        published = site.store.newest("all-types")
        assert published is not None
        with visit(browser, **DESKTOP) as respondent:
            answer(respondent.open(site.link(published)), published)
            assert respondent.complaints == []
        said = {
            question.id: {"yes_no": True, "multiple": [], "number": question.min}.get(
                question.type, question.labels[:1]
            )
            for question in published.survey.questions
        }
        said = {name: value[0] if isinstance(value, tuple) else value for name, value in said.items()}
        receipt = client.respond(site.link(published), said, ledger=Ledger(tmp_path / "ledger.json"), clock=hurried())
        assert receipt.status == "stored"
        assert len(site.stored(published)) == 2
        rng = np.random.default_rng()
        for rows in devices.reports(published.survey, draw_people(published.survey, {}, 1018, rng), rng):
            made = [Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows]
            site.store.write(made.copy)

        page.goto(f"{site.origin}/console/all-types")
        page.get_by_role("link", name="See the results").click()
        page.wait_for_selector("svg.chart")
        first, second = published.survey.questions[0].id, published.survey.questions[2].id
        page.select_option("[name=confidence]", "0.99")
        page.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url("**confidence=0.99**")
        shown = page.inner_text("main")
        found = json.loads(page.request.get(f"{site.origin}/api/surveys/all-types/results?confidence=0.99").text())
        assert found["reports"] == 1000
        assert "1,000" in shown
        yes = next(one for one in found["questions"][0]["estimates"] if one["option"] == "yes")
        assert page.locator(f"data[data-key=estimate][value='{yes['estimate']!r}']").count()
        page.select_option("[name=rows]", first)
        page.select_option("[name=columns]", second)
        page.locator("form:has([name=rows]) button").last.click()
        page.wait_for_url(f"**rows={first}**")
        assert "Pearson" in page.inner_text("main")
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").first.click()
        table = Path(download.value.path()).read_text()
        assert table.splitlines()[0].startswith(("survey,list,question,option", "list,"))
        assert page.pdf().startswith(b"%PDF")

        page.goto(f"{site.origin}/console/all-types")
        page.get_by_role("link", name="Close…").click()
        page.get_by_role("button", name="Close it for good").click()
        page.wait_for_url("**/console/all-types")
        page.get_by_role("link", name="Delete…").click()
        page.fill("#typed", "all-types")
        page.get_by_role("button", name="Delete it for good").click()
        page.wait_for_url("**/console")
        assert site.store.newest("all-types") is None
        done = [event.what.split()[0].strip(",") for event in site.store.events(published.owner, "all-types")]
        assert done == ["deleted", "closed", "published"]
        assert complaints(device) == []
