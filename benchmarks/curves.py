"""Lines and marks over two axes, linear or logarithmic: what theory says as a line, what was seen as marks.

Drawn on the paper of `survey_app.web.charts`, with its colours, as a file that works alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from survey_app.languages.number_format import Format, number_format
from survey_app.web.charts.axes import Scale, decimals_of, finite, linear, tick_format
from survey_app.web.charts.svg import LINE, frame, group, line, number, tag, text, width_of, wrap

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
    """The name of an axis, and its kind."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class LogScale(Scale):
    """Equal ratios at equal distances."""

    def __call__(self, value: float) -> float:
        """The place of a value; values beyond the ends lie on them."""
        value = min(max(value, self.low), self.high)
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.stop - self.start)


def logarithmic(low: float, high: float, start: float, stop: float) -> LogScale:
    """A logarithmic scale around these values, with ticks at 1, 2 and 5 where there is room."""
    if low <= 0:
        raise ValueError("a logarithmic axis has no place for zero")
    if low == high:
        low, high = low / 2, high * 2
    air = (high / low) ** 0.03
    low, high = low / air, high * air
    decades = math.log10(high / low)
    within = (1, 2, 5) if decades <= 2.4 else (1,)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    places = [multiple * 10.0**exponent for exponent in exponents for multiple in within]
    ticks = tuple(float(f"{tick:.6g}") for tick in places if low <= tick <= high)
    return LogScale(low, high, start, stop, ticks)


def lines(
    series: Sequence[Series],
    *,
    name: str,
    title: str,
    x: Axis,
    y: Axis,
    note: str,
) -> str:
    """A chart of up to six series, told apart by colour, dashes and marks, with a legend above."""
    if len(series) > SLOTS:
        raise ValueError(f"a chart has at most {SLOTS} series")
    legend, top = _legend(series)
    parts = [legend, text(y.label, MARGIN, top + 12, "tick name")]
    top += LINE + 8
    bottom = top + HEIGHT
    heights = finite(value for one in series for _, value in (*one.line, *one.marks))
    vertical = (logarithmic if y.log else linear)(min(heights), max(heights), bottom, top)
    ups = tick_words(vertical)
    left = MARGIN + max(width_of(ups(tick), SMALL) for tick in vertical.ticks) + 6
    sides = finite(value for one in series for value, _ in (*one.line, *one.marks))
    ends = (min(sides), max(sides), left, WIDTH)
    across = logarithmic(*ends) if x.log else linear(*ends, snapped=False)
    form = tick_words(across)
    half = width_of(form(across.ticks[-1]), SMALL) / 2
    across = replace(across, stop=WIDTH - MARGIN / 2 - half)
    parts += [line(left, vertical(tick), WIDTH - MARGIN, vertical(tick), "grid") for tick in vertical.ticks]
    parts += [text(ups(tick), left - 6, vertical(tick) + 4, "tick", "end") for tick in vertical.ticks]
    parts.append(line(left, bottom, WIDTH - MARGIN, bottom, "axis"))
    parts += [line(across(tick), bottom, across(tick), bottom + 4, "axis") for tick in across.ticks]
    parts += [text(form(tick), across(tick), bottom + 18, "tick", "middle") for tick in roomy(across, form)]
    parts.append(text(x.label, WIDTH - MARGIN, bottom + 36, "tick name", "end"))
    parts += [_series(one, place, across, vertical) for place, one in enumerate(series)]
    below = wrap(note, WIDTH - 2 * MARGIN, 4, SMALL)
    parts += [text(part, MARGIN, bottom + 54 + 16 * place, "note") for place, part in enumerate(below)]
    return frame(
        parts,
        WIDTH,
        bottom + 46 + 16 * len(below),
        kind="lines",
        name=name,
        title=title,
        description=_description(series, x, y, note),
        standalone=True,
    )


def tick_words(scale: Scale) -> Format:
    """As many decimals as tell the ticks apart; on a logarithmic axis each tick has its own."""
    if isinstance(scale, LogScale):
        return lambda value: number_format(decimals_of(value, percent=False), percent=False)(value)
    return tick_format(scale, percent=False)


def roomy(scale: Scale, form: Format) -> list[float]:
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
    return "M" + "L".join(f"{number(across(x))} {number(up(y))}" for x, y in one.line)


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
    return ". ".join([*said, note])
