"""Charts: what they show, that hostile text stays text, and how they look in a real browser."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from survey_app.languages.number_format import choose_decimals, make_format
from survey_app.web.charts import STYLE, Row, Words, distribution, intervals, strip, strip_axis
from survey_app.web.charts.axes import linear_scale, tick_format
from survey_app.web.charts.chart_style import DARK, LIGHT, SERIES_DARK, SERIES_LIGHT, contrast
from survey_app.web.charts.svg import clean_text, format_coordinate, width_of, wrap_text

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>", "</title></svg><img src=x onerror=alert(1)>", "]]> & &amp; &#60;", "\" onload=\"alert(1)", "'", "<style>*{}</style>",
    "\x00\x07\x1b[31m", "\ud800 alone", "\u202eright to left", "=1+1", "ε < 1 & δ > 0", "", "  ", "\n\n", "語" * 60, "x" * 300, "é̂" * 40,
]  # fmt: skip
SHARES = [Row("no", 0.787, 0.733, 0.839, 0.644, 1240), Row("yes", 0.213, 0.161, 0.267, 0.356, 1240)]
LONG = [
    Row("I prepared alone, with the lecture notes and the book that the library keeps", 0.412, 0.361, 0.463, 0.31),
    Row(
        "A neighbour who let me look, or who whispered, or passed a note that I copied word by word",
        0.02,
        0,
        0.058,
        0.2,
    ),
    Row("Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen", 0.11, 0.07, 0.15, 0.25),
    Row("المسيرات والحفلات والصحف اليومية", 0.2, 0.1, 0.3),
    Row("どのくらい勉強しましたか、正直に答えてください", 0.2, 0.1, 0.3),
]
SCALE = [Row(label, share, share - 0.05, share + 0.06, 0.2) for label, share in [("Not at all", 0.12), ("Hardly", 0.22), ("Partly", 0.31), ("Mostly", 0.25), ("Fully", 0.1)]]  # fmt: skip
BINS = [Row(f"{low}–{low + 1200}", 0.125, 0.08, 0.17) for low in range(0, 10_000, 1250)]
MEANS = [Row("hours", -3.4, -5.25, 9.5), Row("days", 12.5, 10, 14)]
KINDS: dict[str, Callable[[bool], str]] = {
    "shares": lambda alone: intervals(SHARES, title="Did you?", note="1,240 reports", name="a", standalone=alone),
    "long": lambda alone: intervals(LONG, title="What did you use in the exam of the winter term of last year?", name="b", standalone=alone),
    "means": lambda alone: intervals(MEANS, title="Mean", percent=False, unit="h", name="c", standalone=alone),
    "scale": lambda alone: distribution(SCALE, title="Fair", note="900 reports", name="d", standalone=alone),
    "bins": lambda alone: distribution(BINS, title="Income", name="e", standalone=alone),
}  # fmt: skip


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  our own text


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def places(root: ElementTree.Element, element: str, class_: str, attribute: str) -> list[float]:
    return [float(one.get(attribute, "nan")) for one in root.iter(f"{SVG}{element}") if one.get("class") == class_]


def titles(root: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{SVG}title")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alone", [False, True])
def test_a_chart_is_safe_under_a_strict_policy_and_says_what_it_shows(kind: str, alone: bool) -> None:
    svg = KINDS[kind](alone)
    assert svg == KINDS[kind](alone)
    root = parse(svg)
    names = [element.tag.removeprefix(SVG) for element in root.iter()]
    assert names.count("style") == alone
    assert set(names) <= {"svg", "title", "desc", "style", "rect", "g", "text", "tspan", "line", "path", "circle"}
    allowed = {
        "class",
        "id",
        "role",
        "aria-labelledby",
        "viewBox",
        "width",
        "height",
        "direction",
        "text-anchor",
        "d",
        "dx",
    }
    allowed |= {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"}
    assert {key for element in root.iter() for key in element.keys()} <= allowed  # noqa: SIM118  an element is no dict
    assert root.get("role") == "img"
    labelled = [root.find(f".//*[@id='{name}']") for name in root.get("aria-labelledby", "").split()]
    assert [one.tag for one in labelled if one is not None] == [f"{SVG}title", f"{SVG}desc"]
    assert all(one is not None and (one.text or "").strip() for one in labelled)
    assert "prefers-color-scheme" not in svg
    assert (root.get("width") is not None) == alone


@pytest.mark.parametrize("kind", KINDS)
def test_every_class_of_a_mark_has_a_rule(kind: str) -> None:
    ruled = set(re.findall(r"\.([a-z][a-z0-9]*)", STYLE))
    structure = {"row", "legend", "label", "intervals", "distribution"}
    used = {name for element in parse(KINDS[kind](True)).iter() for name in element.get("class", "").split()}
    assert used <= ruled | structure


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("alone", [False, True])
def test_whatever_an_author_writes_stays_text(words: str, alone: bool) -> None:
    key = Words(words, words, words, words)
    drawn = [
        draw([Row(words, 0.2, 0.1, 0.3, 0.2), Row("b", 0.2, 0.1, 0.3)], title=words, note=words, words=key, unit=words, percent=percent, standalone=alone)
        for draw in (intervals, distribution) for percent in (True, False)
    ]  # fmt: skip
    for svg in drawn:
        svg.encode()
        root = parse(svg)
        assert not {"script", "img", "image", "foreignObject"} & {one.tag.removeprefix(SVG) for one in root.iter()}
        assert titles(root)[0].strip() == clean_text(words)


def test_labels_that_do_not_fit_are_cut_with_the_whole_text_in_the_title() -> None:
    root = parse(KINDS["long"](False))
    assert any(words.endswith("…") for words in texts(root))
    for row in LONG:
        assert any(title.startswith(f"{row.label}: ") for title in titles(root))


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 4), min_size=1, max_size=8))
def test_marks_stand_where_their_numbers_are(values: list[tuple[float, float, float, float]]) -> None:
    rows = []
    for value, one, other, reported in values:
        low, high = sorted((one, other))
        rows.append(Row("row", min(max(value, low), high), low, high, reported))
    root = parse(intervals(rows, title="t"))
    points = places(root, "circle", "point", "cx")[: len(rows)]
    starts, ends = places(root, "line", "interval", "x1"), places(root, "line", "interval", "x2")
    axis = linear_scale(0, 1, 8, 332)
    for place, row in enumerate(rows):
        assert points[place] == pytest.approx(axis(row.value), abs=0.051)
        assert starts[place] == pytest.approx(axis(row.low), abs=0.051)
        assert ends[place] == pytest.approx(axis(row.high), abs=0.051)
        assert 8 <= starts[place] <= points[place] <= ends[place] <= 332


@pytest.mark.parametrize("draw", [intervals, distribution])
def test_shares_of_two_plots_stand_on_one_scale_unless_they_are_zoomed(draw: Callable[..., str]) -> None:
    few, many = [Row("a", 0.02, 0.01, 0.04)], [Row("a", 0.9, 0.8, 0.97)]
    for rows in (few, many):
        assert {"0%", "20%", "40%", "60%", "80%", "100%"} <= {*texts(parse(draw(rows, title="t")))}
    assert "100%" not in texts(parse(draw(few, title="t", zoomed=True)))


def test_a_file_for_paper_has_dark_ink_and_no_background() -> None:
    for draw in KINDS.values():
        root = parse(draw(True))
        sizes = [(one.get("width"), one.get("height")) for one in root.iter(f"{SVG}rect") if one.get("class") != "bar"]
        assert sizes == [] and 'class="paper"' not in draw(True)
        style = next(root.iter(f"{SVG}style")).text or ""
        assert LIGHT["ink"] in style and DARK["ink"] not in style
    assert min(contrast(LIGHT[name], "#ffffff") for name in ("ink", "faint", "accent")) >= 4.5


def test_a_strip_has_its_mark_where_its_number_is_and_says_nothing_twice() -> None:
    share, mean = parse(strip(0.25, 0.2, 0.3)), parse(strip(30.0, 20.0, 40.0, span=(0.0, 60.0)))
    assert places(share, "circle", "point", "cx") == [63.5]
    assert places(share, "line", "interval", "x1") == [52.2] and len(places(share, "line", "grid", "x1")) == 5
    assert places(mean, "rect", "own", "x") == [115.5] and not places(mean, "line", "grid", "x1")
    assert share.get("aria-hidden") == "true" and not texts(share)
    assert texts(parse(strip_axis())) == ["0%", "50%", "100%"]
    with pytest.raises(ValueError, match="chart"):
        strip(math.nan, 0, 1)


def test_bars_stand_on_zero_and_reach_their_value() -> None:
    root = parse(KINDS["scale"](False))
    tops, heights = places(root, "rect", "bar", "y")[:5], places(root, "rect", "bar", "height")[:5]
    assert {top + height for top, height in zip(tops, heights, strict=True)} == {160.0}
    for row, height in zip(SCALE, heights, strict=True):
        assert height == pytest.approx(heights[0] * row.value / SCALE[0].value, abs=0.2)


def test_bars_lie_where_their_labels_would_not_fit_below() -> None:
    standing = places(parse(KINDS["scale"](False)), "rect", "bar", "width")[:5]
    assert len(set(standing)) == 1
    lying = places(parse(distribution([*BINS[:-1], Row("last", 0.3, 0.2, 0.4)], title="t")), "rect", "bar", "x")
    assert set(lying) == {8.0}


def test_a_row_shows_its_interval_and_reads_out_its_n() -> None:
    svg = intervals(SHARES, title="t", note="95%")
    assert "21.3%16.1–26.7%" in texts(parse(svg))
    assert "yes: 21.3%, 16.1% to 26.7%; reported 35.6%; n = 1,240. 95%" in svg
    assert "−3.4 h−5.2 to 9.5 h" in texts(parse(KINDS["means"](False)))


def test_a_thousand_rows_have_a_short_description() -> None:
    svg = intervals([Row(f"option {i}", 0.1, 0.0, 0.2) for i in range(1000)], title="t")
    description = next(parse(svg).iter(f"{SVG}desc")).text or ""
    assert description.endswith("960 more")
    assert svg.count("<circle") == 1000


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_linear_ticks_are_round_and_few_and_hold_the_range(low: float, width: float) -> None:
    width = max(width, 1e-5 * abs(low))
    scale = linear_scale(low, low + width, 0, 100)
    assert 2 <= len(scale.ticks) <= 8
    assert scale.low <= low + 1e-6 * width and scale.high >= low + width * (1 - 1e-6)
    step = scale.ticks[1] - scale.ticks[0]
    assert f"{step:.3e}"[0] in "125"


def test_numbers_are_written_as_people_write_them() -> None:
    assert [make_format(1, True)(x) for x in (0.1234, -0.00001, 1)] == ["12.3%", "0.0%", "100.0%"]
    assert make_format(0, False, "€")(-12345.6) == "−12,346 €"
    assert [tick_format(linear_scale(0, 0.25, 0, 1), True)(x) for x in (0.05, 0.1)] == ["5%", "10%"]
    assert [choose_decimals([width], True) for width in (0.5, 0.1, 0.01, 0.0)] == [0, 1, 2, 0]
    assert [format_coordinate(x) for x in (-0.04, 1.0, -2.25, 3.14)] == ["0", "1", "-2.2", "3.1"]


@given(st.text(max_size=200), st.floats(30, 400), st.integers(1, 4))
def test_wrapped_lines_fit_and_lose_nothing_silently(words: str, width: float, most: int) -> None:
    found = wrap_text(words, width, most)
    assert 1 <= len(found) <= most
    assert all(width_of(line) <= width or len(line) <= 2 for line in found)
    if "".join(found).replace(" ", "") != clean_text(words).replace(" ", ""):
        assert found[-1].endswith("…")


@pytest.mark.parametrize("colours", [(LIGHT, SERIES_LIGHT), (DARK, SERIES_DARK)])
def test_text_and_marks_stand_out_from_the_paper(colours: tuple[dict[str, str], tuple[str, ...]]) -> None:
    inks, series = colours
    assert min(contrast(inks[name], inks["paper"]) for name in ("ink", "faint", "accent")) >= 4.5
    assert min(contrast(colour, inks["paper"]) for colour in series) >= 3
    assert contrast(inks["ink"], inks["bar"]) >= 4.5  # a whisker over its bar
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: intervals([], title="t"),
        lambda: distribution([], title="t"),
        lambda: intervals([Row("a", math.nan, 0, 1)], title="t"),
        lambda: intervals([Row("a", 0, 0, math.inf)], title="t"),
        lambda: intervals(SHARES, title="t", name="two words"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], str]) -> None:
    with pytest.raises(ValueError, match="chart"):
        draw()


def test_one_value_and_equal_values_can_be_drawn() -> None:
    for svg in (
        intervals([Row("a", 0, 0, 0)], title="t"),
        distribution([Row("a", 0, 0, 0)], title="t"),
        intervals([Row("a", 7, 7, 7)], title="t", percent=False),
    ):
        parse(svg)


BOXES = """() => [...document.querySelectorAll('svg')].map(svg => ({
  frame: svg.getBoundingClientRect().toJSON(),
  texts: [...svg.querySelectorAll('text')].map(t => ({
    words: t.textContent, box: t.getBoundingClientRect().toJSON(),
    size: parseFloat(getComputedStyle(t).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width}))}))"""


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_on_a_phone_every_word_is_inside_readable_and_free(browser: Browser, direction: str) -> None:
    """At 360 pixels, under the policy of the pages, whichever way the page reads."""
    page = browser.new_page(viewport={"width": 360, "height": 800})
    try:
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        body = "".join(draw(False) for draw in KINDS.values())
        page.route("https://charts.test/style.css", lambda route: route.fulfill(body=STYLE, content_type="text/css"))
        page.route(
            "https://charts.test/",
            lambda route: route.fulfill(
                body=f"<!doctype html><html dir={direction}><meta charset=utf-8><link rel=stylesheet href=/style.css><link rel=icon href=data:,>{body}",
                content_type="text/html",
                headers={"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:"},
            ),
        )
        page.goto("https://charts.test/")
        charts = page.evaluate(BOXES)
        assert len(charts) == len(KINDS)
        for chart in charts:
            frame, seen = chart["frame"], chart["texts"]
            assert frame["right"] <= 360
            for one in seen:
                box = one["box"]
                assert one["size"] >= 12, one
                assert box["left"] >= frame["left"] - 0.5 and box["right"] <= frame["right"] + 0.5, one
                assert box["top"] >= frame["top"] - 0.5 and box["bottom"] <= frame["bottom"] + 0.5, one
            for place, one in enumerate(seen):
                for other in seen[place + 1 :]:
                    assert not _overlap(one["box"], other["box"]), (one, other)
        assert problems == []
    finally:
        page.close()


def _overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes share more than the air of a line."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return across > 0.5 and down > 4
