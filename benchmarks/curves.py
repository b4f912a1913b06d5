"""Charts with two axes, linear or logarithmic: theory as lines, measurements as marks.

The charts use the elements and colours of `survey_app.web.charts` and are standalone files.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from survey_app.languages.number_format import Format, make_format
from survey_app.web.charts.axes import Scale, decimals_of, linear_scale, require_finite, tick_format
from survey_app.web.charts.svg import LINE, format_coordinate, frame, group, line, tag, text, width_of, wrap_text

WIDTH, HEIGHT, MARGIN = 440.0, 240.0, 8.0
SMALL = 12.5
SLOTS = 6  # ways to draw a series

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Series:
    """A line, marks, or both under one name."""

    label: str
    line: Points = ()
    marks: Points = ()


@dataclass(frozen=True)
class Axis:
    """The name of an axis, and whether it is logarithmic."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class LogScale(Scale):
    """A scale on which equal ratios have equal distances."""

    def __call__(self, value: float) -> float:
        """Return the position of a value; values beyond the ends are placed at the ends."""
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.stop - self.start)


def logarithmic_scale(low: float, high: float, start: float, stop: float) -> LogScale:
    """Return a logarithmic scale around these values, with ticks at 1, 2 and 5 where there is space.

    Raise ValueError if `low` is not positive.
    """
    if low <= 0:
        raise ValueError("a logarithmic axis has no place for zero")
    if low == high:
        low, high = low / 2, high * 2
    padding = (high / low) ** 0.03
    low, high = low / padding, high * padding
    decades = math.log10(high / low)
    multiples = (1, 2, 5) if decades <= 2.4 else (1,)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    candidates = [multiple * 10.0**exponent for exponent in exponents for multiple in multiples]
    ticks = tuple(float(f"{tick:.6g}") for tick in candidates if low <= tick <= high)
    return LogScale(low, high, start, stop, ticks)


def draw_lines(
    series: Sequence[Series],
    *,
    name: str,
    title: str,
    x: Axis,
    y: Axis,
    note: str,
) -> str:
    """Return a chart of up to six series, which differ in colour, dashes and marks, with a legend above.

    Raise ValueError if there are more series.
    """
    if len(series) > SLOTS:
        raise ValueError(f"a chart has at most {SLOTS} series")
    legend, top = _draw_legend(series)
    parts = [legend, text(y.label, MARGIN, top + 12, "tick name")]
    top += LINE + 8
    bottom = top + HEIGHT
    ys = require_finite(value for item in series for _, value in (*item.line, *item.marks))
    vertical = (logarithmic_scale if y.log else linear_scale)(min(ys), max(ys), bottom, top)
    format_y = tick_labels(vertical)
    left = MARGIN + max(width_of(format_y(tick), SMALL) for tick in vertical.ticks) + 6
    xs = require_finite(value for item in series for value, _ in (*item.line, *item.marks))
    ends = (min(xs), max(xs), left, WIDTH)
    horizontal = logarithmic_scale(*ends) if x.log else linear_scale(*ends, rounded=False)
    format_x = tick_labels(horizontal)
    half_width = width_of(format_x(horizontal.ticks[-1]), SMALL) / 2
    horizontal = replace(horizontal, stop=WIDTH - MARGIN / 2 - half_width)
    parts += [line(left, vertical(tick), WIDTH - MARGIN, vertical(tick), "grid") for tick in vertical.ticks]
    parts += [text(format_y(tick), left - 6, vertical(tick) + 4, "tick", "end") for tick in vertical.ticks]
    parts.append(line(left, bottom, WIDTH - MARGIN, bottom, "axis"))
    parts += [line(horizontal(tick), bottom, horizontal(tick), bottom + 4, "axis") for tick in horizontal.ticks]
    parts += [
        text(format_x(tick), horizontal(tick), bottom + 18, "tick", "middle")
        for tick in spaced_ticks(horizontal, format_x)
    ]
    parts.append(text(x.label, WIDTH - MARGIN, bottom + 36, "tick name", "end"))
    parts += [_draw_series(item, place, horizontal, vertical) for place, item in enumerate(series)]
    note_lines = wrap_text(note, WIDTH - 2 * MARGIN, 4, SMALL)
    parts += [text(part, MARGIN, bottom + 54 + 16 * place, "note") for place, part in enumerate(note_lines)]
    return frame(
        parts,
        WIDTH,
        bottom + 46 + 16 * len(note_lines),
        kind="lines",
        name=name,
        title=title,
        description=_describe(series, x, y, note),
        standalone=True,
    )


def tick_labels(scale: Scale) -> Format:
    """Return a format with enough decimals to distinguish the ticks; on a logarithmic axis they differ by tick."""
    if isinstance(scale, LogScale):
        return lambda value: make_format(decimals_of(value, percent=False), percent=False)(value)
    return tick_format(scale, percent=False)


def spaced_ticks(scale: Scale, form: Format) -> list[float]:
    """Return the ticks whose labels do not overlap."""
    ticks: list[float] = []
    end = float("-inf")
    for tick in scale.ticks:
        half = width_of(form(tick), SMALL) / 2
        if scale(tick) - half > end + 4:
            ticks.append(tick)
            end = scale(tick) + half
    return ticks


def _draw_series(series: Series, place: int, horizontal: Scale, vertical: Scale) -> str:
    shapes = []
    if series.line:
        shapes.append(tag("path", d=_line_path(series, horizontal, vertical), class_="curve"))
    shapes += [_draw_mark(place, horizontal(x), vertical(y)) for x, y in series.marks]
    return group(f"series s{place}", shapes, series.label)


def _line_path(series: Series, horizontal: Scale, vertical: Scale) -> str:
    return "M" + "L".join(
        f"{format_coordinate(horizontal(x))} {format_coordinate(vertical(y))}" for x, y in series.line
    )


def _draw_mark(position: int, x: float, y: float) -> str:
    """Return the mark of a series: circle, square, triangle, diamond, small circle, or small turned triangle."""
    if position in (0, 4):
        return tag("circle", cx=x, cy=y, r=4.0 if position == 0 else 3.0, class_="mark")
    shapes = {
        1: f"M{format_coordinate(x - 3.6)} {format_coordinate(y - 3.6)}h7.2v7.2h-7.2z",
        2: f"M{format_coordinate(x)} {format_coordinate(y - 4.6)}l4.6 8h-9.2z",
        3: f"M{format_coordinate(x)} {format_coordinate(y - 5)}l5 5l-5 5l-5 -5z",
        5: f"M{format_coordinate(x)} {format_coordinate(y + 4.6)}l4.6 -8h-9.2z",
    }
    return tag("path", d=shapes[position], class_="mark")


def _draw_legend(series: Sequence[Series]) -> tuple[str, float]:
    """Return the legend, with names in as many lines as they need, and the height used."""
    items, x, y = [], MARGIN, 6.0
    for place, item in enumerate(series):
        width = 36 + width_of(item.label, SMALL) + 16
        if x > MARGIN and x + width > WIDTH:
            x, y = MARGIN, y + LINE
        sample = (
            [tag("path", d=f"M{format_coordinate(x)} {format_coordinate(y + 6)}h28", class_="curve")]
            if item.line
            else []
        )
        if item.marks:
            sample.append(_draw_mark(place, x + 14, y + 6))
        items.append(group(f"s{place}", [*sample, text(item.label, x + 34, y + 10, "key")]))
        x += width
    return group("legend", items), y + LINE + 6


def _describe(series: Sequence[Series], x: Axis, y: Axis, note: str) -> str:
    """Return the chart as text: where each series begins and ends."""
    sentences = [f"{y.label} against {x.label}"]
    for item in series:
        points = item.line or item.marks
        if points:
            (first, low), (last, high) = points[0], points[-1]
            sentences.append(f"{item.label}: {low:.4g} at {first:.4g}, {high:.4g} at {last:.4g}")
    return ". ".join([*sentences, note])
