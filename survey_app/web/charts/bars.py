"""Distributions: bars with whiskers, vertical where the labels fit below them, horizontal otherwise."""

from collections.abc import Sequence
from typing import Unpack

from survey_app.web.charts.axes import linear_scale, tick_format
from survey_app.web.charts.interval_rows import (
    MARGIN,
    MOST_LINES,
    SMALL,
    WIDTH,
    ChartKeywords,
    ChartOptions,
    Row,
    describe_row,
    diamond,
    draw_rows,
    find_extent,
    finish_chart,
    row_format,
)
from survey_app.web.charts.svg import LINE, format_coordinate, group, line, tag, text, width_of, wrap_text

HEIGHT = 160.0
MOST_BARS = 12


def distribution(rows: Sequence[Row], **options: Unpack[ChartKeywords]) -> str:
    """Return a chart with a bar from zero for each row, and its interval as a whisker; for scales and bins."""
    look = ChartOptions(**options)
    low, high = find_extent(rows, True, look.ends)
    scale = linear_scale(low, high, HEIGHT, 12.0)
    ticks = tick_format(scale, look.percent)
    left = MARGIN + max(width_of(ticks(tick), SMALL) for tick in scale.ticks) + 6
    band = (WIDTH - MARGIN - left) / len(rows)
    if len(rows) > MOST_BARS or not all(_fits(row.label, band - 4) for row in rows):
        return draw_rows(rows, "distribution", look)
    form = row_format(rows, look)
    parts = [line(left, scale(tick), WIDTH - MARGIN, scale(tick), "grid") for tick in scale.ticks]
    parts += [text(ticks(tick), left - 6, scale(tick) + 4, "tick", "end") for tick in scale.ticks]
    deepest = 1
    for index, row in enumerate(rows):
        middle = left + band * (index + 0.5)
        half = min(band * 0.36, 26.0)
        top, bottom = sorted((scale(row.value), scale(0.0)))
        bar = tag("rect", x=middle - half, y=top, width=2 * half, height=bottom - top, class_="bar")
        marks = [] if row.replacement else [bar]
        marks.append(_whisker(middle, scale(row.low), scale(row.high), row.css_class("whisker")))
        if row.reported is not None:
            marks.append(diamond(middle, scale(row.reported)))
        label = wrap_text(row.label, band - 4, MOST_LINES, SMALL)
        deepest = max(deepest, len(label))
        for down, part in enumerate(label):
            marks.append(text(part, middle, HEIGHT + 17 + 15 * down, "key", "middle"))
        parts.append(group("row", marks, describe_row(row, form)))
    parts.append(line(left, scale(0.0), WIDTH - MARGIN, scale(0.0), "axis"))
    return finish_chart(rows, "distribution", look, form, parts, HEIGHT + 15 * deepest + LINE)


def _fits(label: str, width: float) -> bool:
    """Return whether a label fits in a few lines of whole words."""
    lines = wrap_text(label, width, MOST_LINES, SMALL)
    return " ".join(lines) == " ".join(label.split())


def _whisker(x: float, low: float, high: float, class_: str) -> str:
    """Return an interval with end caps, drawn vertically."""
    return tag(
        "path",
        d=f"M{format_coordinate(x - 4)} {format_coordinate(low)}h8m-4 0V{format_coordinate(high)}m-4 0h8",
        class_=class_,
    )
