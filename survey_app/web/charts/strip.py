"""One estimate on one line: a mark on its interval, without words. The words are next to it.

All strips below one another have the same width, so strips from 0 to 100% can be compared. An estimate with a range of
its own has another mark and a track without ticks.
"""

from survey_app.web.charts.axes import linear_scale, require_finite
from survey_app.web.charts.svg import group, line, tag, text

WIDTH, HEIGHT, MARGIN = 240.0, 18.0, 7.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELLED = {0.0: ("0%", "start"), 0.5: ("50%", "middle"), 1.0: ("100%", "end")}


def strip(
    value: float, low: float, high: float, *, span: tuple[float, float] | None = None, uninformative: bool = False
) -> str:
    """Return a share on its interval from 0 to 100%, or another value within its own span.

    An `uninformative` estimate has no mark.
    """
    first, last = span or (0.0, 1.0)
    require_finite([value, low, high, first, last])
    scale = linear_scale(first, last, MARGIN, WIDTH - MARGIN, rounded=False)
    y = HEIGHT / 2
    marks = [] if span else [line(scale(tick), 1, scale(tick), HEIGHT - 1, "grid") for tick in TICKS]
    marks.append(line(scale.start, y, scale.stop, y, "track"))
    marks.append(line(scale(low), y, scale(high), y, "interval open" if uninformative else "interval"))
    x = scale(value)
    if not uninformative and span:
        marks.append(tag("rect", x=x - 4.5, y=y - 4.5, width=9.0, height=9.0, class_="own"))
    elif not uninformative:
        marks.append(tag("circle", cx=x, cy=y, r=5.0, class_="point"))
    return _image(marks)


def strip_axis() -> str:
    """Return the labels of the ticks, to be shown above strips."""
    scale = linear_scale(0.0, 1.0, MARGIN, WIDTH - MARGIN, rounded=False)
    ends = {"start": 0.0, "middle": scale(0.5), "end": WIDTH}
    return _image([text(words, ends[anchor], 13, "tick", anchor) for words, anchor in LABELLED.values()])


def _image(parts: list[str]) -> str:
    """Return the image, hidden from screen readers, because the words next to it say the same."""
    return tag(
        "svg",
        group("row", parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        class_="chart strip",
        aria_hidden="true",
        direction="ltr",
    )
