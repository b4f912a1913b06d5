"""SVG primitives for charts: elements, escaped text, and the frame with its title and description.

All text of an author passes through `clean_text` and an escape here, so that it stays text.
"""

import re
import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from survey_app.web.charts.chart_style import PAPER

NAME = re.compile(r"[A-Za-z0-9_-]+")
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SCALE = 1.6  # pixels per unit in a standalone file
BOLD = 1.13  # how much wider bold text is
LINE = 18.0  # the distance between two lines of text
NARROW, WIDE = frozenset("iljtfrI1.,:;|!'()[]·’ "), frozenset("mwMW@%—")


def clean_text(text: str) -> str:
    """Return text that XML can hold, on one line."""
    return " ".join(NOT_XML.sub("\ufffd", text).split())


def format_coordinate(value: float) -> str:
    """Format a coordinate to a tenth of a unit, without a trailing zero."""
    digits = f"{value:.1f}".removesuffix(".0")
    return "0" if digits == "-0" else digits


def tag(element: str, content: str = "", **attributes: str | float) -> str:
    """Return one element. `content` is markup; `class_` and `text_anchor` become the attributes of SVG."""
    texts = {key: value if isinstance(value, str) else format_coordinate(value) for key, value in attributes.items()}
    attribute_text = "".join(f" {key.rstrip('_').replace('_', '-')}={quoteattr(text)}" for key, text in texts.items())
    return f"<{element}{attribute_text}>{content}</{element}>" if content else f"<{element}{attribute_text}/>"


def text(words: str, x: float, y: float, class_: str, anchor: str = "start") -> str:
    """Return a text element at a position."""
    alignment = {} if anchor == "start" else {"text_anchor": anchor}
    return tag("text", escape(clean_text(words)), x=x, y=y, class_=class_, **alignment)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def group(class_: str, parts: Sequence[str], title: str = "") -> str:
    """Return elements in a group. The title is its tooltip."""
    tooltip = tag("title", escape(clean_text(title))) if title else ""
    return tag("g", tooltip + "".join(parts), class_=class_)


def width_of(words: str, size: float = 14.0) -> float:
    """Return the approximate width of text.

    It is a little too large rather than too small, because the reader's font is unknown.
    """
    total = 0.0
    for character in words:
        if unicodedata.combining(character):
            continue
        if unicodedata.east_asian_width(character) in "WF":
            total += 1.0
        elif character in NARROW:
            total += 0.36
        elif character in WIDE:
            total += 0.97
        elif character.isupper():
            total += 0.72
        else:
            total += 0.61
    return total * size


def wrap_text(words: str, width: float, most: int, size: float = 14.0) -> list[str]:
    """Return at most `most` lines of text. Text that does not fit is cut with an ellipsis."""
    lines, current = [], ""
    for word in clean_text(words).split(" "):
        for piece in _split_word(word, width, size):
            longer = f"{current} {piece}" if current else piece
            if not current or width_of(longer, size) <= width:
                current = longer
            else:
                lines.append(current)
                current = piece
    lines.append(current)
    if len(lines) > most:
        last = lines[most - 1]
        while last and width_of(last + "…", size) > width:
            last = last.rpartition(" ")[0] or last[:-1]
        lines = [*lines[: most - 1], last + "…"]
    return lines


def _split_word(word: str, width: float, size: float) -> list[str]:
    """Split a word that is too long for a line into pieces that fit."""
    pieces, current = [], ""
    for character in word:
        if current and width_of(current + character, size) > width:
            pieces.append(current)
            current = ""
        current += character
    return [*pieces, current]


def frame(
    parts: Sequence[str],
    width: float,
    height: float,
    *,
    kind: str,
    name: str,
    title: str,
    description: str,
    standalone: bool,
) -> str:
    """Return the whole image. `name` begins its ids, so two charts on one page need two names."""
    if not NAME.fullmatch(name):
        raise ValueError(f"a chart's name may have only letters, digits, - and _, not {name!r}")
    labels = tag("title", escape(clean_text(title)) or "&#160;", id=f"{name}-title")
    labels += tag("desc", escape(clean_text(description)) or "&#160;", id=f"{name}-desc")
    top, style, size = 0.0, "", {}
    if standalone:
        heading = wrap_text(title, width - 16, 3, 15 * BOLD)
        top = 12.0 + LINE * len(heading)
        style = tag("style", escape(PAPER))
        style += "".join(text(words, 8, LINE * (row + 1) - top, "heading") for row, words in enumerate(heading))
        size = {"width": width * SCALE, "height": (height + top) * SCALE}
    return tag(
        "svg",
        labels + style + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 {format_coordinate(-top)} {format_coordinate(width)} {format_coordinate(height + top)}",
        **size,
        class_=f"chart {kind}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        direction="ltr",
    )
