"""All questions at a glance: of each the one figure to look at first, on a scale that all shares have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

from survey_app.figures import FigureKind
from survey_app.languages import numbers
from survey_app.results.survey_document import Line
from survey_app.web.charts import strip
from survey_app.web.results.plots import Figure


@dataclass(frozen=True)
class Glance:
    """One question in one line."""

    figure: Figure
    line: Line | None

    @property
    def option(self) -> str:
        """The author's word for the answer, if it is one of theirs."""
        return self.line.option if self.line and self.line.kind != FigureKind.MEAN else ""

    @property
    def told(self) -> str:
        """What the figure is of: an answer of how many, or a mean on its own range; and among whom."""
        figure, line = self.figure, self.line
        if line is None:
            return "not enough reports"
        if line.kind == FigureKind.MEAN:
            low, high = figure.span
            ends = f"{numbers.quantity(low)} to {numbers.quantity(high, figure.question.unit)}"
            words = f"mean, range {ends.replace('-', '−')}"
        else:
            words = "" if figure.main_answer else f"largest of {len(_shares(figure))}"
        some = ["of those asked"] if figure.reached else []
        return ", ".join([*([words] if words else []), *some])

    @property
    def svg(self) -> str:
        """Mark and interval."""
        if self.line is None:
            return ""
        span = self.figure.span if self.line.kind == FigureKind.MEAN else None
        return strip(self.line.estimate, *self.figure.view.ends(self.line), span=span, silent=bool(self.instead))

    @property
    def instead(self) -> str:
        """What stands in place of an estimate that says nothing."""
        return self.figure.instead(self.line) if self.line else ""

    @property
    def value(self) -> str:
        """The estimate."""
        return self.figure.form(self.line)(self.line.estimate) if self.line else ""

    @property
    def between(self) -> str:
        """Its interval."""
        if self.line is None:
            return ""
        form = self.figure.form(self.line)
        low, high = self.figure.view.ends(self.line)
        return f"{form(low)} to {form(high)}"

    @property
    def n(self) -> str:
        """What it rests on."""
        if self.line is None:
            return ""
        some = self.figure.reached
        return f"n: {some.among}" if some else f"n = {numbers.count(self.line.n)}"


def overview(figures: Sequence[Figure]) -> list[Glance]:
    """A line for each question, in their order."""
    return [Glance(figure, _first(figure)) for figure in figures]


def _first(figure: Figure) -> Line | None:
    """The mean of what has one, the answer that is asked about, such as yes, else the one with the largest share."""
    if figure.means:
        return figure.means[0]
    shares = [line for line in _shares(figure) if figure.main_answer in ("", line.option)]
    return max(shares, key=lambda line: (line.estimate, line.unbiased or line.estimate), default=None)


def _shares(figure: Figure) -> list[Line]:
    return [line for line in figure.shares if line.kind == FigureKind.SHARE]
