"""Lines and marks over two axes, linear or logarithmic: what theory says as a line, what was seen as marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from survey_app.charts.axes import Scale, finite, linear, logarithmic, tick_format
from survey_app.charts.frame import LINE, frame, group, line, number, tag, text, width_of, wrap

WIDTH, HEIGHT, MARGIN = 440.0, 240.0, 8.0
SMALL = 12.5
SLOTS = 6  # ways to draw a series

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Series:
    """A line, marks, or both under one name; `steps` draws the line as a staircase, as a histogram is drawn."""

    label: str
    line: Points = ()
    marks: Points = ()
    steps: bool = False


@dataclass(frozen=True)
class Axis:
    """The name of an axis, its kind, and a range that it holds besides the data."""

    label: str
    log: bool = False
    percent: bool = False
    span: tuple[float, float] | None = None


def lines(
    series: Sequence[Series],
    *,
    title: str,
    x: Axis,
    y: Axis,
    name: str = "chart",
    description: str = "",
    note: str = "",
    standalone: bool = False,
) -> str:
    """A chart of up to six series, told apart by colour, dashes and marks, with a legend above."""
    if len(series) > SLOTS:
        raise ValueError(f"a chart has at most {SLOTS} series")
    legend, top = _legend(series)
    parts = [legend, text(y.label, MARGIN, top + 12, "tick name")]
    top += LINE + 8
    bottom = top + HEIGHT
    heights = _values(y, [value for one in series for _, value in (*one.line, *one.marks)])
    vertical = (logarithmic if y.log else linear)(*heights, bottom, top)
    ups = tick_format(vertical, y.percent)
    left = MARGIN + max(width_of(ups(tick), SMALL) for tick in vertical.ticks) + 6
    sides = _values(x, [value for one in series for value, _ in (*one.line, *one.marks)])
    across = logarithmic(*sides, left, WIDTH) if x.log else linear(*sides, left, WIDTH, snapped=False)
    form = tick_format(across, x.percent)
    half = width_of(form(across.ticks[-1]), SMALL) / 2
    across = replace(across, stop=WIDTH - MARGIN / 2 - half)
    parts += [line(left, vertical(tick), WIDTH - MARGIN, vertical(tick), "grid") for tick in vertical.ticks]
    parts += [text(ups(tick), left - 6, vertical(tick) + 4, "tick", "end") for tick in vertical.ticks]
    parts.append(line(left, bottom, WIDTH - MARGIN, bottom, "axis"))
    parts += [line(across(tick), bottom, across(tick), bottom + 4, "axis") for tick in across.ticks]
    parts += [text(form(tick), across(tick), bottom + 18, "tick", "middle") for tick in _room(across, form)]
    parts.append(text(x.label, WIDTH - MARGIN, bottom + 36, "tick name", "end"))
    parts += [_series(one, place, across, vertical) for place, one in enumerate(series)]
    below = wrap(note, WIDTH - 2 * MARGIN, 4, SMALL) if note else []
    parts += [text(part, MARGIN, bottom + 54 + 16 * place, "note") for place, part in enumerate(below)]
    return frame(
        parts,
        WIDTH,
        bottom + 46 + 16 * len(below),
        kind="lines",
        name=name,
        title=title,
        description=description or _description(series, x, y, note),
        standalone=standalone,
    )


def _values(axis: Axis, values: list[float]) -> tuple[float, float]:
    """The range that an axis holds."""
    found = finite([*values, *(axis.span or ())]) if values else finite(values)
    return min(found), max(found)


def _room(scale: Scale, form: Callable[[float], str]) -> list[float]:
    """The ticks whose numbers do not run into each other."""
    kept: list[float] = []
    end = float("-inf")
    for tick in scale.ticks:
        half = width_of(form(tick), SMALL) / 2
        if scale(tick) - half > end + 4:
            kept.append(tick)
            end = scale(tick) + half
    return kept


def _series(one: Series, place: int, across: Scale, up: Scale) -> str:
    drawn = []
    if one.line:
        drawn.append(tag("path", d=_path(one, across, up), class_="curve"))
    drawn += [_mark(place, across(x), up(y)) for x, y in one.marks]
    return group(f"series s{place}", drawn, one.label)


def _path(one: Series, across: Scale, up: Scale) -> str:
    places = [(across(x), up(y)) for x, y in one.line]
    steps = [f"M{number(places[0][0])} {number(places[0][1])}"]
    for (_, before), (x, y) in pairwise(places):
        if one.steps:
            steps.append(f"H{number(x)}" + (f"V{number(y)}" if y != before else ""))
        else:
            steps.append(f"L{number(x)} {number(y)}")
    return "".join(steps)


def _mark(place: int, x: float, y: float) -> str:
    """A shape for each place: circle, square, triangle, diamond, and the first two again, small and turned."""
    if place in (0, 4):
        return tag("circle", cx=x, cy=y, r=4.0 if place == 0 else 3.0, class_="mark")
    shapes = {
        1: f"M{number(x - 3.6)} {number(y - 3.6)}h7.2v7.2h-7.2z",
        2: f"M{number(x)} {number(y - 4.6)}l4.6 8h-9.2z",
        3: f"M{number(x)} {number(y - 5)}l5 5l-5 5l-5 -5z",
        5: f"M{number(x)} {number(y + 4.6)}l4.6 -8h-9.2z",
    }
    return tag("path", d=shapes[place], class_="mark")


def _legend(series: Sequence[Series]) -> tuple[str, float]:
    """Names in as many lines as they need, and the height used."""
    drawn, x, y = [], MARGIN, 6.0
    for place, one in enumerate(series):
        width = 36 + width_of(one.label, SMALL) + 16
        if x > MARGIN and x + width > WIDTH:
            x, y = MARGIN, y + LINE
        sample = [tag("path", d=f"M{number(x)} {number(y + 6)}h28", class_="curve")] if one.line else []
        if one.marks:
            sample.append(_mark(place, x + 14, y + 6))
        drawn.append(group(f"s{place}", [*sample, text(one.label, x + 34, y + 10, "key")]))
        x += width
    return group("legend", drawn), y + LINE + 6


def _description(series: Sequence[Series], x: Axis, y: Axis, note: str) -> str:
    """Where each series begins and ends."""
    said = [f"{y.label} against {x.label}"]
    for one in series:
        points = one.line or one.marks
        if points:
            (first, low), (last, high) = points[0], points[-1]
            said.append(f"{one.label}: {low:.4g} at {first:.4g}, {high:.4g} at {last:.4g}")
    return ". ".join([*said, note] if note else said)
