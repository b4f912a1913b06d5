"""The charts of the reproductions: what they show, and that series differ without colour."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from benchmarks.curves import Axis, Series, draw_lines, logarithmic_scale
from survey_app.web.charts import STYLE

SVG = "{http://www.w3.org/2000/svg}"
X, Y = Axis("n", log=True), Axis("error")
SIX = [Series(f"series {i}", [(10.0**j, 2.0**-j + i) for j in range(5)], [(100.0, 1.0 + i)]) for i in range(6)]


def drawn(series: list[Series], x: Axis = X, y: Axis = Y, title: str = "Error", note: str = "Lines: theory.") -> str:
    return draw_lines(series, name="chart", title=title, x=x, y=y, note=note)


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  our own text


def test_a_chart_says_what_it_shows() -> None:
    root = parse(drawn(SIX))
    assert next(one.text for one in root.iter(f"{SVG}title")) == "Error"
    told = next(root.iter(f"{SVG}desc")).text or ""
    assert told.startswith("error against n. series 0: 1 at 1, 0.0625 at 1e+04. series 1: ")
    assert told.endswith("Lines: theory.")


def test_every_class_has_a_rule() -> None:
    ruled = set(re.findall(r"\.([a-z][a-z0-9]*)", STYLE))
    used = {name for element in parse(drawn(SIX)).iter() for name in element.get("class", "").split()}
    assert used <= ruled | {"series", "legend", "lines"}


def test_series_differ_without_colour() -> None:
    dashes = re.findall(r"\.s\d \.curve\{stroke-dasharray:([^}]*)\}", STYLE)
    assert len(dashes) == len(set(dashes)) == 5
    marks = [one for one in parse(drawn(SIX)).iter() if one.get("class") == "mark"]
    assert len({re.sub(r"M[-\d. ]+", "M", one.get("d", "") + one.get("r", "")) for one in marks}) == 6


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1e9))
def test_logarithmic_places_are_in_proportion(low: float, ratio: float) -> None:
    scale = logarithmic_scale(low, low * ratio, 0, 100)
    middle = scale(low * math.sqrt(ratio))
    assert middle == pytest.approx((scale(low) + scale(low * ratio)) / 2, abs=1e-6)
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


def test_ticks_of_a_logarithmic_axis_have_each_their_decimals() -> None:
    root = parse(drawn([Series("a", [(0.004, 1), (3000, 2)])]))
    ticks = ["".join(one.itertext()) for one in root.iter(f"{SVG}text") if one.get("text-anchor") == "middle"]
    assert ticks == ["0.01", "0.1", "1", "10", "100", "1,000"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: drawn([Series("a", [(0, 1), (1, 1)])]),
        lambda: drawn([Series("a")]),
        lambda: drawn([Series("a", [(1, math.nan)])]),
        lambda: drawn([Series("a", [(1, 1)])] * 7),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], str]) -> None:
    with pytest.raises(ValueError, match=r"chart|axis"):
        draw()


def test_one_point_can_be_drawn() -> None:
    parse(drawn([Series("a", [(1, 1)])], X, Axis("y", log=True)))


def test_words_stay_words() -> None:
    words = "</title></svg><img src=x onerror=alert(1)> \x00"
    root = parse(drawn([Series(words, [(1, 2), (2, 3)])], Axis(words), Axis(words), words, words))
    assert not {"script", "img", "image"} & {one.tag.removeprefix(SVG) for one in root.iter()}


def test_every_word_is_inside_the_picture(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 800})
    try:
        page.set_content(drawn(SIX))
        outside = page.evaluate(
            """() => { const frame = document.querySelector("svg").getBoundingClientRect();
            return [...document.querySelectorAll("svg text")].filter(one => { const box = one.getBoundingClientRect();
            return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom })
            .map(one => one.textContent) }"""
        )
        assert outside == []
    finally:
        page.close()
