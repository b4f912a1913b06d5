"""Simulated numbers next to their theory, and the parts of the page that show them.

The Monte Carlo error is theoretical too: one standard error of such a simulation if the theory is right.
"""

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from benchmarks.curves import Axis, Series, draw_lines

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Number:
    """Theory, simulation, and one standard error of the simulation."""

    theory: float
    simulated: float
    error: float

    @property
    def distance(self) -> float:
        """The distance of the simulation from theory, in standard errors."""
        return abs(self.simulated - self.theory) / self.error

    @property
    def cells(self) -> tuple[str, str]:
        """The two cells of a table: theory, then simulation."""
        return format_figure(self.theory), format_measurement(self.simulated, self.error)


@dataclass
class Section:
    """One part of the page: its text, its numbers and its charts."""

    title: str
    parts: list[str] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    charts: dict[str, str] = field(default_factory=dict)

    def say(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        self.parts += [wrap_text(paragraph) for paragraph in paragraphs]

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str | Number]]) -> None:
        """Add a table; a Number fills two columns, theory and simulation."""
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for row in rows:
            cells: list[str] = []
            for cell in row:
                if isinstance(cell, Number):
                    self.numbers.append(cell)
                    cells += cell.cells
                else:
                    cells.append(cell)
            lines.append("| " + " | ".join(cells) + " |")
        self.parts.append("\n".join(lines))

    def draw(
        self, name: str, caption: str, series: Sequence[Series], *, title: str, x: Axis, y: Axis, note: str
    ) -> None:
        """Add a chart, in its own file."""
        self.charts[f"{name}.svg"] = draw_lines(series, name=name, title=title, x=x, y=y, note=note)
        self.parts.append(f"![{caption}](reproductions/{name}.svg)")

    @property
    def text(self) -> str:
        return "\n\n".join([f"## {self.title}", *self.parts])


def wrap_text(text: str) -> str:
    """Return the text in lines of at most 120 characters, with items of a list indented."""
    lines = text.split("\n")
    return "\n".join(
        textwrap.fill(line, 120, subsequent_indent="  " * line.startswith("- "), break_on_hyphens=False)
        for line in lines
    )


def format_figure(value: float, digits: int = 4) -> str:
    """Return a value with this number of significant digits, never in powers of ten."""
    return f"{value:,.{_decimals(value, digits)}f}".replace("-", "−")


def format_measurement(value: float, error: float) -> str:
    """Return a value ± its error: two digits of the error, and as many decimals in the value."""
    decimals = _decimals(error, 2)
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}".replace("-", "−")


def _decimals(value: float, digits: int) -> int:
    """Return the number of decimals that show this many significant digits."""
    rounded = abs(float(f"{value:.{digits}g}"))
    return max(digits - 1 - math.floor(math.log10(rounded)), 0) if rounded else 0


def histogram(values: Floats, edges: Floats) -> list[tuple[float, float]]:
    """Return the density of draws in bins of equal width, at the middle of each bin."""
    width = float(edges[1] - edges[0])
    heights = np.histogram(values, edges)[0] / len(values) / width
    return [(float(x) + width / 2, float(y)) for x, y in zip(edges, heights, strict=False)]


def mean_of(values: Floats, theory: float, sd: float) -> Number:
    """Return a simulated mean of draws whose standard deviation is `sd`."""
    return Number(theory, float(values.mean()), sd / math.sqrt(len(values)))


def share_of(hits: npt.NDArray[np.bool_], theory: float) -> Number:
    """Return a simulated probability."""
    return Number(theory, float(hits.mean()), math.sqrt(theory * (1 - theory) / len(hits)))


def spread_of(values: Floats, theory: float, excess: float) -> Number:
    """Return a simulated standard deviation of draws with this excess kurtosis.

    Its error is σ √((2 + excess)/(4 runs)).
    """
    return Number(theory, float(values.std(ddof=1)), theory * math.sqrt((2 + excess) / (4 * len(values))))
