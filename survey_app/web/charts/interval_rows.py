"""Dots and intervals, one row for each label. The label is above its strip, so that long labels fit a phone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Required, TypedDict, Unpack
from xml.sax.saxutils import escape

from survey_app.languages.number_format import Format, choose_decimals, make_format
from survey_app.web.charts.axes import Scale, linear_scale, require_finite, tick_format
from survey_app.web.charts.svg import (
    BOLD,
    LINE,
    clean_text,
    format_coordinate,
    frame,
    group,
    line,
    tag,
    text,
    width_of,
    wrap_text,
)

WIDTH, MARGIN = 340.0, 8.0  # about the width of a phone in pixels
STRIP = 22.0  # the height of the strip below a label
SMALL = 13.0
MOST_LINES = 3  # the most lines of a label
MOST_DESCRIBED = 40  # the most rows in the description


@dataclass(frozen=True)
class Row:
    """One label with its point and interval and, where known, the raw share of the stored bit and n.

    Where the interval is uninformative, `replacement` is shown instead of the point, which is not drawn.
    """

    label: str
    value: float
    low: float
    high: float
    reported: float | None = None
    n: int | None = None
    replacement: str = ""

    def css_class(self, mark: str) -> str:
        """Return the CSS class of one of its marks."""
        return f"{mark} open" if self.replacement else mark


@dataclass(frozen=True)
class Words:
    """The words for the marks in the key."""

    estimate: str = "estimate"
    interval: str = "interval"
    reported: str = "reported, with noise"
    more: str = "more"


WORDS = Words()


@dataclass(frozen=True)
class ChartOptions:
    """The options of a chart of rows."""

    title: str
    name: str = "chart"
    percent: bool = True
    unit: str = ""
    span: tuple[float, float] | None = None
    zoomed: bool = False
    note: str = ""
    words: Words = WORDS
    standalone: bool = False

    @property
    def ends(self) -> tuple[float, float] | None:
        """The range that the axis covers besides the values.

        For shares it is all possible values, unless the chart is zoomed.
        """
        return self.span or ((0.0, 1.0) if self.percent and not self.zoomed else None)


class ChartKeywords(TypedDict, total=False):
    """The chart options as keywords. All but the title are optional."""

    title: Required[str]
    name: str
    percent: bool
    unit: str
    span: tuple[float, float] | None
    zoomed: bool
    note: str
    words: Words
    standalone: bool


def intervals(rows: Sequence[Row], **options: Unpack[ChartKeywords]) -> str:
    """Return a chart with a dot for each estimate on a line for its interval, all on one axis.

    A diamond marks the raw share. The axis covers every value, and `span` too. For shares it goes from 0 to 100%
    unless it is `zoomed`. `note` is the text below the chart, for n and the confidence level.
    """
    return draw_rows(rows, "intervals", ChartOptions(**options))


def draw_rows(rows: Sequence[Row], kind: str, look: ChartOptions) -> str:
    """Return a chart of rows below each other, as dots, or as bars from zero if `kind` is distribution."""
    low, high = find_extent(rows, look.percent or kind == "distribution", look.ends)
    form = row_format(rows, look)
    scale = linear_scale(low, high, MARGIN, WIDTH - MARGIN)
    parts, y = [], 6.0
    for row in rows:
        value, between = row.replacement or form(row.value), _format_interval(row, look, form)
        width = WIDTH - 2 * MARGIN - width_of(value, 14 * BOLD) - width_of(between, SMALL) - 16
        label = wrap_text(row.label, width, MOST_LINES)
        top = y + LINE * len(label)
        marks = [text(part, MARGIN, y + LINE * index + 13, "label") for index, part in enumerate(label)]
        marks.append(_value_text(value, between, y + 13, row.css_class("estimate")))
        marks += [line(scale(tick), top + 3, scale(tick), top + STRIP, "grid") for tick in scale.ticks]
        marks += _draw_marks(row, scale, top + STRIP / 2 + 1, kind)
        parts.append(group("row", marks, describe_row(row, form)))
        y = top + STRIP + 8
    parts += _axis(scale, y - 6, tick_format(scale, look.percent))
    return finish_chart(rows, kind, look, form, parts, y + 20)


def finish_chart(rows: Sequence[Row], kind: str, look: ChartOptions, form: Format, parts: list[str], y: float) -> str:
    """Return the chart with its key and note below the axis, inside its frame."""
    if any(row.reported is not None for row in rows):
        key, y = _draw_key(look.words, y, kind)
        parts.append(key)
    below = wrap_text(look.note, WIDTH - 2 * MARGIN, 3, SMALL) if look.note else []
    parts += [text(part, MARGIN, y + LINE * index + 10, "note") for index, part in enumerate(below)]
    return frame(
        parts,
        WIDTH,
        y + LINE * len(below) + 4,
        kind=kind,
        name=look.name,
        title=look.title,
        description=_describe_chart(rows, form, look),
        standalone=look.standalone,
    )


def row_format(rows: Sequence[Row], look: ChartOptions) -> Format:
    """Return one number format for all rows."""
    return make_format(choose_decimals((row.high - row.low for row in rows), look.percent), look.percent, look.unit)


def find_extent(rows: Sequence[Row], from_zero: bool, span: tuple[float, float] | None) -> tuple[float, float]:
    """Return the range that holds every number of the rows."""
    values = [value for row in rows for value in (row.value, row.low, row.high, row.reported) if value is not None]
    if values and from_zero:
        values.append(0.0)
    if values and span:
        values += span
    numbers = require_finite(values)
    return min(numbers), max(numbers)


def describe_row(row: Row, form: Format) -> str:
    """Describe a row in words."""
    description = f"{row.label}: {row.replacement or form(row.value)}, {form(row.low)} to {form(row.high)}"
    if row.reported is not None:
        description += f"; reported {form(row.reported)}"
    return description + (f"; n = {row.n:,}" if row.n is not None else "")


def _describe_chart(rows: Sequence[Row], form: Format, look: ChartOptions) -> str:
    """Describe the chart in words, for readers who cannot see it."""
    sentences = [describe_row(row, form) for row in rows[:MOST_DESCRIBED]]
    if len(rows) > MOST_DESCRIBED:
        sentences.append(f"{len(rows) - MOST_DESCRIBED} {look.words.more}")
    return ". ".join([*sentences, look.note] if look.note else sentences)


def diamond(x: float, y: float) -> str:
    """Return the mark of a raw share."""
    return tag("path", d=f"M{format_coordinate(x)} {format_coordinate(y - 5)}l5 5l-5 5l-5 -5z", class_="reported")


def _format_interval(row: Row, look: ChartOptions, form: Format) -> str:
    """Format both ends of an interval, with one unit. A word joins them where a dash could be read as a minus."""
    low = form(row.low).removesuffix("%" if look.percent else f" {look.unit}")
    return f"{low}{'–' if row.low >= 0 else ' to '}{form(row.high)}"


def _value_text(value: str, between: str, y: float, class_: str) -> str:
    bold = tag("tspan", escape(clean_text(value)), class_=class_)
    return tag(
        "text",
        bold + tag("tspan", escape(clean_text(between)), class_="range", dx="6"),
        x=WIDTH - MARGIN,
        y=y,
        class_="value",
        text_anchor="end",
    )


def _draw_marks(row: Row, scale: Scale, y: float, kind: str) -> list[str]:
    marks = []
    if kind == "distribution":
        left, right = sorted((scale(0.0), scale(row.value)))
        if not row.replacement:
            marks.append(tag("rect", x=left, y=y - 7, width=right - left, height=14.0, class_="bar"))
        marks.append(_whisker(scale(row.low), scale(row.high), y, row.css_class("whisker")))
    else:
        marks.append(line(scale.start, y, scale.stop, y, "track"))
        marks.append(line(scale(row.low), y, scale(row.high), y, row.css_class("interval")))
        if not row.replacement:
            marks.append(tag("circle", cx=scale(row.value), cy=y, r=5.5, class_="point"))
    if row.reported is not None:
        marks.append(diamond(scale(row.reported), y))
    return marks


def _whisker(low: float, high: float, y: float, class_: str = "whisker") -> str:
    """Return an interval with end caps, drawn horizontally."""
    return tag(
        "path",
        d=f"M{format_coordinate(low)} {format_coordinate(y - 4)}v8m0 -4H{format_coordinate(high)}m0 -4v8",
        class_=class_,
    )


def _axis(scale: Scale, y: float, form: Format) -> list[str]:
    marks = [line(scale.start, y, scale.stop, y, "axis")]
    for place, tick in enumerate(scale.ticks):
        anchor = "start" if place == 0 else "end" if place == len(scale.ticks) - 1 else "middle"
        marks.append(text(form(tick), scale(tick), y + 16, "tick", anchor))
    return marks


def _draw_key(words: Words, y: float, kind: str) -> tuple[str, float]:
    """Return the key of the marks, and its lower edge."""
    x, middle = MARGIN, y + 6
    if kind == "distribution":
        marks = [tag("rect", x=x, y=middle - 5, width=16.0, height=10.0, class_="bar")]
        marks.append(_whisker(x + 8, x + 26, middle))
    else:
        marks = [line(x + 2, middle, x + 24, middle, "interval")]
        marks.append(tag("circle", cx=x + 13, cy=middle, r=5.0, class_="point"))
    label = f"{words.estimate}, {words.interval}"
    marks.append(text(label, x + 33, y + 10, "key"))
    x += 33 + width_of(label, SMALL) + 18
    if x + 17 + width_of(words.reported, SMALL) > WIDTH:
        x, y = MARGIN + 8, y + LINE
    marks += [diamond(x + 5, y + 6), text(words.reported, x + 17, y + 10, "key")]
    return group("legend", marks), y + LINE + 2
