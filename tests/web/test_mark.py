"""One mark and one accent, on every page and in every picture of ours."""

import re
from base64 import b64encode

import pytest
from playwright.sync_api import Browser, expect

from survey_app.languages import LANGUAGES, Words
from survey_app.web.charts import chart_style
from survey_app.web.charts.chart_style import contrast
from survey_app.web.form.form_page import build_file
from tests.browser import ROOT, Site, visit
from tests.definitions import COIN, define, encode, field, yes_no
from tests.fixtures import Installation
from tests.form_browser import title
from tests.sign_in import signed_in
from tests.tree import parse

MARK = (ROOT / "static" / "mark.svg").read_text()
SHAPE = re.findall(r'd="([^"]+)"', MARK)[0]
ICON = f"data:image/svg+xml;base64,{b64encode(MARK.encode()).decode()}"
STYLE = (ROOT / "static" / "style.css").read_text()
COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", STYLE)}


def whole(colour: str) -> str:
    return colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])


@pytest.mark.parametrize("path", ["/", "/s/exam/privacy", "/s/exam/paper", "/results/exam", "/login", "/nothing", "/s/nothing", "/results/nothing", "/s/exam"])  # fmt: skip
def test_every_page_bears_the_mark_and_names_it_as_its_icon(installation: Installation, path: str) -> None:
    installation.publish()
    page = parse(installation.client.get(path).text)
    assert page.one("link", rel="icon").attributes["href"] == ICON
    (mark,) = page.all("svg", class_="mark")
    assert mark.one("path").attributes["d"] == SHAPE and mark.attributes["aria-hidden"] == "true"


@pytest.mark.parametrize("path", ["/console", "/results/exam", "/account", "/console/nothing"])
def test_so_does_the_console(installation: Installation, path: str) -> None:
    installation.publish()
    assert len(parse(signed_in(installation.app).get(path).text).all("svg", class_="mark")) == 1


def test_the_icon_is_a_picture_that_loads_and_runs_nothing_wherever_it_is_asked_for(installation: Installation) -> None:
    for path in ("/static/mark.svg", "/favicon.ico"):
        answer = installation.client.get(path)
        assert (answer.status_code, answer.mimetype, answer.text) == (200, "image/svg+xml", MARK)
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert not re.search(r"<script|href=|@import|url\(|\son\w+=", MARK) and len(MARK) < 500


def test_the_form_in_a_file_has_it_inside() -> None:
    page = build_file(encode(define([yes_no()], [field(COIN, "cheated")])), "https://example.org").decode()
    assert f'<link rel="icon" href="{ICON}"' in page
    assert page.count(f'd="{SHAPE}"') == 1


def test_there_is_one_accent_in_pages_charts_pictures_and_mark() -> None:
    light, dark = COLOURS["accent"]
    assert (chart_style.LIGHT["accent"], chart_style.DARK["accent"]) == (light, dark)
    assert (chart_style.SERIES_LIGHT[0], chart_style.SERIES_DARK[0]) == (light, dark)
    for picture in (MARK, (ROOT / "docs" / "architecture.svg").read_text()):
        before, _, after = picture.partition("prefers-color-scheme")
        assert light in before and dark in after
    for sheet in ROOT.glob("static/*.css"):
        strays = set(re.findall(r"#[0-9a-f]{3,8}\b", sheet.read_text())) - {
            "#fff",
            "#000",
            "#999",
        }  # of paper, QR codes
        assert not strays or sheet.name == "style.css", sheet.name
    for chart in (*ROOT.glob("docs/benchmarks/*.svg"), *ROOT.glob("docs/reproductions/*.svg")):
        assert light in chart.read_text(), chart.name


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_the_accent_can_be_read_on_everything_it_stands_on(place: int) -> None:
    accent = COLOURS["accent"][place]
    grounds = [COLOURS[name][place] for name in ("paper", "card", "soft", "on-accent")]
    assert min(contrast(accent, whole(ground)) for ground in grounds) >= 4.5
    assert contrast("#7cc7e6", "#ffffff") < 4.5, "the dark one would not do on white"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_form_says_at_a_glance_what_it_cannot_do_and_leads_to_why(
    installation: Installation, language: str
) -> None:
    installation.publish(
        define([yes_no()], [field(COIN, "cheated")], **({} if language == "en" else {"language": language}))
    )
    page = parse(installation.client.get("/s/exam").text)
    assert page.one("a", href="/s/exam/privacy").text == Words(language)("form.cannot").replace("\u00a0", " ")


def test_the_script_says_it_of_a_verified_definition_only_and_weaker_where_it_is_weak(
    site: Site, browser: Browser
) -> None:
    strong = site.add(define([yes_no()], [field(COIN, "cheated")]))
    one = 2**64 * 96 // 100
    mechanism = {"kind": "flip", "one": str(one), "zero": str(2**64 - one)}
    weak = site.add(define([yes_no()], [field(mechanism, "cheated")], slug="weak"))
    with visit(browser) as device:
        line = device.page.locator("#mark")
        device.open(site.link(strong))
        expect(line.get_by_role("link", name=Words("en")("form.cannot"))).to_have_attribute(
            "href", f"{site.origin}/s/exam/privacy"
        )
        device.open(site.link(weak))
        expect(line).to_have_text(Words("en")("form.mixed"))
        device.open(site.link(strong, f"#sha256={'0' * 64}"))
        expect(title(device.page, "wrong_definition")).to_be_visible()
        expect(line).to_have_text("")
        assert line.locator("svg").count() == 1
