"""One estimate in one line: a mark on its interval, without words, which stand beside it.

All strips below one another are of one width, so those from 0 to 100% can be compared by eye. Whatever has a range of
its own has another mark and a track without ticks.
"""

from survey_app.charts.axes import finite, linear
from survey_app.charts.frame import group, line, tag, text

WIDTH, HEIGHT, MARGIN = 240.0, 18.0, 7.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELLED = {0.0: ("0%", "start"), 0.5: ("50%", "middle"), 1.0: ("100%", "end")}


def strip(
    value: float, low: float, high: float, *, span: tuple[float, float] | None = None, silent: bool = False
) -> str:
    """A share on its interval from 0 to 100%, or another value within its own span; where it is silent, an interval
    that leaves everything open, there is no mark.
    """
    first, last = span or (0.0, 1.0)
    finite([value, low, high, first, last])
    scale = linear(first, last, MARGIN, WIDTH - MARGIN, snapped=False)
    y = HEIGHT / 2
    drawn = [] if span else [line(scale(tick), 1, scale(tick), HEIGHT - 1, "grid") for tick in TICKS]
    drawn.append(line(scale.start, y, scale.stop, y, "track"))
    drawn.append(line(scale(low), y, scale(high), y, "interval open" if silent else "interval"))
    x = scale(value)
    if not silent and span:
        drawn.append(tag("rect", x=x - 4.5, y=y - 4.5, width=9.0, height=9.0, class_="own"))
    elif not silent:
        drawn.append(tag("circle", cx=x, cy=y, r=5.0, class_="point"))
    return _image(drawn)


def strip_axis() -> str:
    """What the ticks of strips mean, to stand above them."""
    scale = linear(0.0, 1.0, MARGIN, WIDTH - MARGIN, snapped=False)
    ends = {"start": 0.0, "middle": scale(0.5), "end": WIDTH}
    return _image([text(words, ends[anchor], 13, "tick", anchor) for words, anchor in LABELLED.values()])


def _image(parts: list[str]) -> str:
    """The words beside it say the same, so it says nothing to those who do not see it."""
    return tag(
        "svg",
        group("row", parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        class_="chart strip",
        aria_hidden="true",
        direction="ltr",
    )
