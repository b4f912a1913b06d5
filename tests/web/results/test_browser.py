"""The results page in a real browser: alive, printable, within reach of the keyboard."""

import base64
import re
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from survey_app.authoring import build
from survey_app.store import STEP, PublishedSurvey, State
from tests.block_survey import blocks
from tests.browser import BY_LOOK, DESKTOP, PHONE, Site, overflows, stop_the_clock, violations, visit
from tests.definitions import (
    COIN,
    choice,
    define,
    field,
    number,
    scale,
    subset,
    yes_no,
)
from tests.web.results.results_fixtures import campus, fill

THE_OTHERS: tuple[tuple[dict[str, Any], Literal["light", "dark"]], ...] = (
    (PHONE, "dark"),
    (DESKTOP, "dark"),
    (DESKTOP, "light"),
)


FOUR = b"""\
slug: four
title: Work
epsilon: 4
questions:
  - {id: claimed, type: yes_no, text: Did you claim hours that you did not work?}
  - {id: stress, type: scale, text: How stressed were you?, points: [never, sometimes, often, always]}
"""


def scripted(site: Site, count: int = 400) -> PublishedSurvey:
    """The campus on the site, open, with some reports."""
    published = site.add(campus())
    fill(site.store, published, count)
    return published


def test_in_the_browser_a_reader_changes_the_confidence_and_crosses_two_questions(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser) as device:
        page = device.open(f"{site.origin}/results/campus")
        assert not page.locator("#t-cheated").is_visible()
        page.locator("#q-cheated summary").click()
        wide = page.inner_text("#t-cheated tr:nth-child(1) td:nth-child(3)")
        page.get_by_text("Settings: confidence").click()
        page.select_option("#confidence", "0.8")
        page.click("text=Show >> visible=true")
        page.wait_for_url("**confidence=0.8**")
        page.locator("#q-cheated summary").click()
        narrow = page.inner_text("#t-cheated tr:nth-child(1) td:nth-child(3)")
        assert wide != narrow and "80% interval" in page.inner_text("#q-cheated thead")
        page.select_option("#rows", "cheated")
        page.select_option("#columns", "fair")
        page.get_by_role("button", name="Cross").first.click()
        page.wait_for_url("**rows=cheated**columns=fair**")
        assert "confidence=0.8" in page.url
        assert page.locator("#cross-within_rows td").count() == 6
        assert "p" in page.inner_text("[data-test]")
        with page.expect_download() as kept:
            page.get_by_role("link", name="Results as CSV").click()
        assert kept.value.suggested_filename == "campus-results.csv"
        assert {urlsplit(one.url).netloc for one in device.requests} == {urlsplit(site.origin).netloc}
        assert device.complaints == []


def test_in_the_browser_a_desktop_shows_all_columns_of_a_cross_tab(site: Site, browser: Browser) -> None:
    fill(site.store, site.add(build(FOUR).survey), 400)
    with visit(browser, **DESKTOP) as device:
        page = device.open(f"{site.origin}/results/four?rows=claimed&columns=stress")
        table = page.locator("table:has(#cross-within_rows)")
        assert table.locator("thead th").count() == 4
        hidden = "(one) => one.parentElement.scrollWidth - one.parentElement.clientWidth"
        assert table.evaluate(hidden) == 0


@pytest.mark.essential
def test_in_the_browser_the_page_follows_new_reports_without_a_reload(site: Site, browser: Browser) -> None:
    published = scripted(site, 3 * STEP)
    hide = "let gone = false; Object.defineProperty(document, 'hidden', {get: () => gone}); window.hide = (x) => { gone = x; };"
    with visit(browser, init=hide, **PHONE) as device:
        stop_the_clock(device.page)
        page = device.open(f"{site.origin}/results/campus")
        page.evaluate("window.mine = true")
        page.locator("#q-help summary").click()
        page.locator("#q-help summary").focus()
        page.evaluate("scrollTo(0, document.getElementById('q-help').offsetTop)")
        place = "document.getElementById('q-help').getBoundingClientRect().top"
        assert abs(page.evaluate(place)) < 2
        old = page.inner_html("#live-cheated")
        asked = len(site.requests)
        with page.expect_response("**/count") as counted:
            page.clock.run_for(10_000)
        counted.value.finished()
        assert page.inner_text("#news") == ""
        fill(site.store, published, STEP)
        page.evaluate("hide(true)")
        page.clock.run_for(60_000)
        assert page.inner_text("#news") == ""  # nobody looks, so nothing is asked
        assert len([one for one in site.requests[asked:] if "/count" in one.path]) == 1
        page.evaluate("hide(false); document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("#news")).to_contain_text("60 reports")
        assert page.locator("#news").get_attribute("role") == "status"
        assert page.inner_text("[data-key=reports]") == "60"
        assert page.inner_html("#live-cheated") != old
        assert "n = 60" in page.inner_text("#live-cheated")
        assert page.locator("#t-help").is_visible()
        assert page.evaluate("document.activeElement.closest('#q-help') !== null")
        assert abs(page.evaluate(place)) < 2  # though figures above it may have become taller
        assert page.evaluate("window.mine") is True
        site.store.set_state(published, State.CLOSED)
        page.clock.run_for(10_000)
        expect(page.locator("#news")).to_contain_text("80 reports")
        asked = len(site.requests)
        page.clock.run_for(60_000)
        assert len(site.requests) == asked
        assert device.complaints == []


def test_in_the_browser_an_empty_page_comes_to_life(site: Site, browser: Browser) -> None:
    published = site.add(campus())
    with visit(browser) as device:
        stop_the_clock(device.page)
        page = device.open(f"{site.origin}/results/campus")
        assert "No results yet" in device.text()
        fill(site.store, published, 2 * STEP)
        page.clock.run_for(10_000)
        page.wait_for_selector("#live-cheated svg")
        news = page.inner_text("#news")
        assert "20 reports" in news
        site.intercept = lambda request: (503, "text/plain", b"") if "/count" in request.path else None
        page.clock.run_for(10_000)
        expect(page.locator("#news")).not_to_have_text(news)
        news = page.inner_text("#news")
        site.intercept = lambda request: (404, "text/plain", b"") if "/count" in request.path else None
        page.clock.run_for(10_000)
        expect(page.locator("#news")).not_to_have_text(news)
        expect(page.locator("#page[data-count]")).to_have_count(0)  # it does not ask again


def test_in_the_browser_it_prints(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser, color_scheme="dark") as device:
        page = device.open(f"{site.origin}/results/campus?rows=cheated&columns=fair")
        printed = page.pdf(format="A4", prefer_css_page_size=True)
        assert printed.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
        page.emulate_media(media="print")
        for hidden in (".controls", ".contents", "figcaption", "#downloads", "#news", "#copy"):
            assert not any(one.is_visible() for one in page.locator(hidden).all())
        shown = ("#overview", "#q-cheated svg", "#noise", "#live-noise", "#paragraph", "#live-checklist")
        assert all(page.locator(one).is_visible() for one in shown)  # also what is folded on a screen
        assert page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
        ink = page.evaluate("getComputedStyle(document.querySelector('#q-cheated .chart text')).fill")
        assert ink == "rgb(29, 35, 39)"  # dark on light, also for who reads light on dark


def test_in_the_browser_the_page_is_short_and_a_plot_comes_as_png(site: Site, browser: Browser) -> None:
    """Before it was 10,600 pixels at 1440 and 18,000 at 360 without a regression, and settings before the first number."""
    scripted(site)
    with visit(browser, **DESKTOP) as device:
        page = device.open(f"{site.origin}/results/campus")
        tall = "document.documentElement.scrollHeight"
        assert page.evaluate(tall) < 8000
        assert page.evaluate("document.querySelector('.glance .figure').getBoundingClientRect().bottom") < 900
        page.get_by_role("link", name="What the noise did").click()
        expect(page.locator("#live-noise")).to_be_visible()
        with page.expect_download() as kept:
            page.locator("#q-cheated").get_by_role("button", name="as PNG").click()
        assert kept.value.suggested_filename == "campus-cheated.png"
        data = kept.value.path().read_bytes()
        assert data.startswith(b"\x89PNG") and int.from_bytes(data[16:20]) == 4 * 544  # the width in its head
        ink = page.evaluate(INK, f"data:image/png;base64,{base64.b64encode(data).decode()}")
        assert ink["white"] > 0.7 and ink["dark"] > 0.005 and ink["blue"] > 0.005  # paper, words, marks
        page.set_viewport_size(PHONE["viewport"])
        assert page.evaluate(tall) < 12_500
        assert device.complaints == []


INK = """async (address) => {
  const image = new Image(); image.src = address; await image.decode();
  const canvas = document.createElement("canvas"); canvas.width = image.width; canvas.height = image.height;
  const paper = canvas.getContext("2d"); paper.drawImage(image, 0, 0);
  const dots = paper.getImageData(0, 0, canvas.width, canvas.height).data;
  const found = {white: 0, dark: 0, blue: 0}, all = dots.length / 4;
  for (let i = 0; i < dots.length; i += 4) {
    const [red, green, blue] = dots.slice(i, i + 3);
    if (red + green + blue > 750) found.white += 1 / all;
    else if (Math.max(red, green, blue) < 80) found.dark += 1 / all;
    else if (blue > red + 60) found.blue += 1 / all;
  }
  return found;
}"""


def test_without_scripts_the_page_has_all_but_the_pictures(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser, java_script_enabled=False, **PHONE) as device:
        page = device.open(f"{site.origin}/results/campus")
        assert page.locator(".glance .figure").first.is_visible()
        assert page.locator("figcaption a").first.is_visible()
        assert not any(one.is_visible() for one in page.locator("[data-png]").all())


def test_in_the_browser_axe_finds_nothing_and_nothing_sticks_out(site: Site, browser: Browser) -> None:
    """A page as most see it in four looks, on a phone and a desktop, light and dark; what is rare or unfolded once."""
    long = "Donaudampfschifffahrtsgesellschaftskapitän" * 5
    fair = scale(optional=True) | {"text": long, "points": ["no", long, "yes"]}
    questions = [yes_no(), fair, number("age", bins=3, max=8), number(), choice()]
    fields = [
        field(COIN, "cheated"), field(subset(12, 1), "fair", "help"), field(subset(3, 1), "age"),
        field(subset(2, 1), "hours"),
    ]  # fmt: skip
    for slug in ("exam", "west"):
        fill(site.store, site.add(define(questions, fields, slug=slug)), 200)
    site.add(campus("empty"))
    fill(site.store, site.add(blocks()), 600)
    addresses = ["exam?rows=cheated&columns=fair&with=west&weight-exam=1&weight-west=2&outcome=cheated=yes&on=age&view=table&confidence=7", "empty", "nothing",
                 "blocks?rows=used:notes&columns=used:phone&view=table", "blocks?rows=cheated&columns=fair&with=nowhere"]  # fmt: skip
    with visit(browser, color_scheme="light", bypass_csp=True, **PHONE) as device:
        for address in addresses:
            page = device.open(f"{site.origin}/results/{address}")
            assert overflows(page) == []
            assert violations(page) == []
        page = device.open(f"{site.origin}/results/exam?rows=cheated&columns=fair")
        for size, scheme in THE_OTHERS:
            page.set_viewport_size(size["viewport"])
            page.emulate_media(color_scheme=scheme)
            assert overflows(page) == []
            assert violations(page, *BY_LOOK) == [], (size, scheme)


@pytest.mark.essential
def test_in_the_browser_the_keyboard_is_enough(site: Site, browser: Browser) -> None:
    scripted(site)
    with visit(browser) as device:
        page = device.open(f"{site.origin}/results/campus")
        page.keyboard.press("Tab")
        assert focused(page) == "a"
        press_until(page, ".settings summary")
        page.keyboard.press("Enter")
        press_until(page, "#confidence")
        page.keyboard.press("ArrowUp")
        assert page.input_value("#confidence") == "0.9"
        press_until(page, "button.primary")
        page.keyboard.press("Enter")
        page.wait_for_url("**confidence=0.9**")
        press_until(page, "#q-cheated summary")
        page.keyboard.press("Enter")
        assert page.locator("#t-cheated").is_visible()


def test_in_the_browser_a_refused_cross_tab_is_in_sight_of_the_reader(site: Site, browser: Browser) -> None:
    fill(site.store, site.add(blocks()), 600)
    with visit(browser, **PHONE) as device:
        page = device.open(f"{site.origin}/results/blocks")
        page.select_option("#rows", "cheated")
        page.select_option("#columns", "cheated")
        page.get_by_role("button", name="Cross").first.click()
        page.wait_for_url("**rows=cheated**#crossed")
        expect(page.get_by_role("alert").locator("[data-code=repeated]")).to_be_visible()
        expect(page.get_by_role("alert")).to_be_in_viewport()
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_role("heading", name="Cross two questions")).to_be_in_viewport()


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.tagName.toLowerCase()")
    return found


def press_until(page: Page, selector: str) -> None:
    """Go from stop to stop until the focus is there."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached")
