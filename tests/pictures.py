"""The pictures of the README and the docs, from the real pages: `python -m tests.pictures`.

Each is what a visitor of the demo sees. Browsers write their files without loss, and below 150 kB: more would slow down
a reader of the README on a phone.
"""

import base64
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from survey_app.assure.simulation import demo_survey
from survey_app.authoring import build_file
from survey_app.store import PublishedSurvey
from tests.browser import ROOT, Site
from tests.javascript import QUIET_CHROMIUM, find_chromium

SIZE: ViewportSize = {"width": 760, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}
DESKTOP: ViewportSize = {"width": 1120, "height": 760}
WIDE: ViewportSize = {"width": 1580, "height": 590}  # two pages at their own size
OVERVIEW = """<!doctype html><style>
body { margin: 0; padding: 0 20px 20px; display: flex; gap: 20px; background: #dfe5ea; font: 600 24px/56px sans-serif; color: #1b2733 }
figure { margin: 0 } div { height: 514px; overflow: hidden; border-radius: 12px } img { display: block }
</style>"""
PEOPLE = 3000
LARGEST = 150_000  # bytes
PAIR = ("Did you copy in an exam this year?", "Did stress keep you from sleeping last week?")
FOLDER = ROOT / "docs" / "pictures"


def _open_answered_form(browser: Browser, address: str) -> Page:
    """Return the form on a device that drew the pair, as one in five does, and whose dice have changed an answer."""
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
    """Answer yes to the first and no to the second question, up to the preview of what will be sent."""
    page.get_by_label("I agree").check()
    page.get_by_role("radio", name="Yes", exact=True).first.check()
    page.get_by_role("radio", name="No", exact=True).last.check()
    page.get_by_role("button", name="Roll the dice").click()
    page.wait_for_selector("section .primary:not([disabled])")
    page.get_by_role("heading", name="What will be sent").scroll_into_view_if_needed()


def _take(page: Page, name: str, above: str = "") -> str:
    """Save a picture of the window, from an element on. Return it as base64."""
    if above:
        page.evaluate(f"scrollTo(0, document.querySelector({above!r}).getBoundingClientRect().top + scrollY - 20)")
    file = FOLDER / f"{name}.png"
    page.screenshot(path=file)
    size = file.stat().st_size
    print(f"{file.relative_to(ROOT)}  {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{file.name} is larger than {LARGEST:,} bytes; show less of the page")
    return base64.b64encode(file.read_bytes()).decode()


@contextmanager
def _site() -> Iterator[tuple[Site, PublishedSurvey, str]]:
    """Yield the demo with its people, and the password of its account."""
    survey = build_file(demo_survey.example_path("campus.yaml")).survey
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # where `candor demo` would keep its file
        Path(".candor-demo").mkdir()
        site = Site(Path(".candor-demo"), DEMO=(survey.slug, survey.digest))
        try:
            published, password = demo_survey.prepare(site.store)
            for made in demo_survey.simulate_submissions(published, PEOPLE):
                site.store.write(made.copy)
            site.store.tidy(now=True)
            yield site, published, password
        finally:
            site.close()


def _editor(page: Page, site: Site, password: str) -> None:
    """Open a draft of the demo's own survey under another name, with its plan."""
    user = site.store.user_by_name(demo_survey.NAME)
    if user is None:
        raise SystemExit("the demo has no account")
    source = demo_survey.example_path("campus.yaml").read_bytes().replace(b"slug: campus", b"slug: my-campus")
    key = site.store.save_draft(user.key, source)
    page.goto(f"{site.origin}/login")
    page.get_by_label("Name").fill(demo_survey.NAME)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{site.origin}/console")
    page.goto(f"{site.origin}/console/drafts/{key}?respondents={PEOPLE}")
    page.wait_for_load_state("networkidle")


def _take_overview(page: Page, shown: Sequence[tuple[str, str]]) -> None:
    """Save the README's picture: pages next to each other, each below a line that says whose it is."""
    parts = "".join(
        f"<figure><figcaption>{caption}</figcaption><div><img src='data:image/png;base64,{picture}'></div></figure>"
        for caption, picture in shown
    )
    page.set_viewport_size(WIDE)
    page.set_content(OVERVIEW + parts)
    _take(page, "overview")


def main() -> None:
    """Write docs/pictures/*.png."""
    FOLDER.mkdir(exist_ok=True)
    with _site() as (site, published, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=QUIET_CHROMIUM, chromium_sandbox=os.geteuid() != 0
        )
        page = _open_answered_form(browser, site.link(published))
        form = _take(page, "form", "#form")
        page.goto(f"{site.origin}/results/{published.survey.slug}")
        page.wait_for_load_state("networkidle")
        results = _take(page, "results", ".overview")
        captions = (
            "The device changes answers before it sends them.",
            "The shares are still estimated, with intervals.",
        )
        _take_overview(browser.new_page(), list(zip(captions, (form, results), strict=True)))
        page.goto(f"{site.origin}/demo/administrator")
        _take(page, "administrator", "#disk")
        phone = browser.new_page(viewport=PHONE, color_scheme="dark")
        phone.goto(site.link(published))
        phone.wait_for_selector("#form[aria-busy=false]", state="attached")
        _take(phone, "phone")
        desktop = browser.new_page(viewport=DESKTOP)
        _editor(desktop, site, password)
        _take(desktop, "editor")
        browser.close()


if __name__ == "__main__":
    main()
