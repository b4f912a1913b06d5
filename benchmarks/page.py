"""The page of all benchmarks: for each, what it measures, what it printed, and its ratios as dots.

A bar on a logarithmic scale would have no natural start, so the charts use dots.
They show ratios within one run where possible, since ratios say more about another machine than seconds do.
"""

import math
import os
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.curves import LogScale, logarithmic_scale, spaced_ticks, tick_labels
from survey_app.languages.number_format import make_format
from survey_app.web.charts.axes import require_finite
from survey_app.web.charts.svg import LINE, frame, group, line, tag, text, width_of, wrap_text

WIDTH, MARGIN, STRIP = 440.0, 8.0, 20.0
HEAD = """\
# Benchmarks

Written by `make bench`; do not edit it. Speed compared with the best possible, with other libraries,
and against the number of reports.

How to read it: the numbers of a section are from one run on one machine ({cores}, Python {python}), and contestants
took turns. Seconds and rates are that machine's. What can be read from here for another are the ratios, and even they
move by a tenth or two where a machine has other work; so the charts, on logarithmic scales, show ratios, except for
memory.
"""
SMALL = """
**This run was made with `--quick`:** it shows that all of it runs. Sizes are small, and the numbers mean little.
"""


@dataclass(frozen=True)
class Bars:
    """A chart: a number for each label."""

    name: str
    title: str
    unit: str
    values: tuple[tuple[str, float], ...]

    def describe(self) -> str:
        """Return the chart as text."""
        return f"{self.unit}: " + "; ".join(f"{label} {format_number(value)}" for label, value in self.values)

    def draw(self) -> str:
        """Return the chart as a standalone SVG: labelled dots on a logarithmic scale of whole decades."""
        scale = self._scale()
        parts, y = [], 6.0
        for label, value in self.values:
            number = format_number(value)
            label_lines = wrap_text(label, WIDTH - 3 * MARGIN - width_of(number), 2)
            shapes = [text(part, MARGIN, y + LINE * row + 13, "label") for row, part in enumerate(label_lines)]
            shapes.append(text(number, WIDTH - MARGIN, y + 13, "value", "end"))
            top = y + LINE * len(label_lines)
            shapes += [line(scale(tick), top + 2, scale(tick), top + STRIP, "grid") for tick in scale.ticks]
            shapes.append(line(scale.start, top + 11, scale.stop, top + 11, "track"))
            shapes.append(tag("circle", cx=scale(value), cy=top + 11, r=5.5, class_="point"))
            parts.append(group("row", shapes, f"{label}: {number}"))
            y = top + STRIP + 6
        parts.append(line(scale.start, y, scale.stop, y, "axis"))
        format_tick = tick_labels(scale)
        parts += [
            text(format_tick(tick), scale(tick), y + 16, "tick", "middle") for tick in spaced_ticks(scale, format_tick)
        ]
        parts.append(text(self.unit, WIDTH - MARGIN, y + 34, "tick name", "end"))
        description = self.describe()
        return frame(
            parts,
            WIDTH,
            y + 42,
            kind="bars",
            name=self.name,
            title=self.title,
            description=description,
            standalone=True,
        )

    def _scale(self) -> LogScale:
        values = require_finite(value for _, value in self.values)
        if min(values) <= 0:
            raise ValueError(f"{self.name}: a logarithmic axis has no place for zero")
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return logarithmic_scale(10.0**low, 10.0**high, 4 * MARGIN, WIDTH - 4 * MARGIN)


def format_number(value: float) -> str:
    """Return a number with three significant digits, or all digits of a large number."""
    return make_format(max(0, 2 - math.floor(math.log10(value))), percent=False)(value)


@dataclass(frozen=True)
class Section:
    """The part of the page for one benchmark that has run."""

    title: str
    about: str
    printed: str
    charts: Sequence[Bars]

    def markdown(self) -> str:
        """Return this section as Markdown."""
        pictures = "".join(
            f"\n![{chart.title}, {chart.describe()}](benchmarks/{chart.name}.svg)\n" for chart in self.charts
        )
        return f"\n## {self.title}\n\n{self.about}\n{pictures}\n```text\n{self.printed.strip()}\n```\n"


def write(folder: Path, sections: Sequence[Section], *, quick: bool) -> None:
    """Write `benchmarks.md` and its folder `benchmarks` of charts into `folder`; remove charts of an earlier run."""
    charts = {chart.name: chart.draw() for section in sections for chart in section.charts}
    pictures = folder / "benchmarks"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    for name, drawing in charts.items():
        (pictures / f"{name}.svg").write_text(drawing)
    cores = os.cpu_count() or 1
    head = HEAD.format(cores=f"{cores} core{'s' * (cores > 1)}", python=platform.python_version())
    parts = [head, SMALL if quick else "", *(section.markdown() for section in sections)]
    (folder / "benchmarks.md").write_text("".join(parts))
