"""The pictures of the README, from the real pages: `python -m tests.pictures`."""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from survey_app.simulate import demo
from tests.browser import ROOT, Site
from tests.javascript import QUIET_CHROMIUM, find_chromium

SIZE: ViewportSize = {"width": 760, "height": 900}
PAIR = ("Did you copy in an exam this year?", "Did stress keep you from sleeping last week?")


def _asked(browser: Browser, address: str) -> Page:
    """The form on a device that drew the pair, as one in five does, and whose dice have changed an answer."""
    while True:
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.wait_for_selector("#form[aria-busy=false]", state="attached")
        if all(page.get_by_text(text).count() for text in PAIR):
            _answer(page)
            if page.locator("b.sent").all_inner_texts() != ["Yes", "No"]:
                return page
        page.close()


def _answer(page: Page) -> None:
    """Yes to the first, no to the second, up to the look at what will be sent."""
    page.get_by_label("I agree").check()
    page.get_by_role("radio", name="Yes", exact=True).first.check()
    page.get_by_role("radio", name="No", exact=True).last.check()
    page.get_by_role("button", name="Roll the dice").click()
    page.wait_for_selector("section .primary:not([disabled])")
    page.get_by_role("heading", name="What will be sent").scroll_into_view_if_needed()


def main() -> None:
    """Write docs/pictures/*.png."""
    target = ROOT / "docs" / "pictures"
    target.mkdir(exist_ok=True)
    site = Site(Path(tempfile.mkdtemp()))
    published, _ = demo.prepare(site.store)
    for made in demo.respondents(published, 3000):
        site.store.write(made.copy)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=QUIET_CHROMIUM, chromium_sandbox=os.geteuid() != 0
        )
        page = _asked(browser, site.link(published))
        page.evaluate("scrollTo(0, document.querySelector('#form').offsetTop - 20)")
        page.screenshot(path=target / "form.png")
        page.goto(f"{site.origin}/results/{published.survey.slug}")
        page.wait_for_load_state("networkidle")
        page.evaluate("scrollTo(0, document.querySelector('.overview').offsetTop - 20)")
        page.screenshot(path=target / "results.png")
        browser.close()
    site.close()


if __name__ == "__main__":
    main()
