"""The overview of the results page: the most important figure of each question, with all shares on a common scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from survey_app.figures import FigureKind
from survey_app.languages import numbers
from survey_app.results.survey_document import Line
from survey_app.web.charts import strip
from survey_app.web.results.plots import Figure


@dataclass(frozen=True)
class OverviewLine:
    """The line of one question, with its most important estimate; None if it has too few reports."""

    figure: Figure
    line: Line | None

    @property
    def option(self) -> str:
        """The label of the answer; empty for a mean."""
        return self.line.option if self.line and self.line.kind != FigureKind.MEAN else ""

    @property
    def description(self) -> str:
        """The description of the figure: rank of a share or range of a mean, and its base if not all were asked."""
        figure, line = self.figure, self.line
        if line is None:
            return "not enough reports"
        if line.kind == FigureKind.MEAN:
            low, high = figure.span
            ends = f"{numbers.format_quantity(low)} to {numbers.format_quantity(high, figure.question.unit)}"
            words = f"mean, range {ends.replace('-', '−')}"
        else:
            words = "" if figure.main_answer else f"largest of {len(_shares(figure))}"
        scope = ["of those asked"] if figure.asked_and_answered else []
        return ", ".join([*([words] if words else []), *scope])

    @property
    def svg(self) -> str:
        """The strip with the mark and the interval; empty without an estimate."""
        if self.line is None:
            return ""
        span = self.figure.span if self.line.kind == FigureKind.MEAN else None
        return strip(
            self.line.estimate, *self.figure.view.ends(self.line), span=span, uninformative=bool(self.replacement)
        )

    @property
    def replacement(self) -> str:
        """The text that replaces an uninformative estimate; empty for others."""
        return self.figure.replacement(self.line) if self.line else ""

    @property
    def value(self) -> str:
        """The formatted estimate."""
        return self.figure.form(self.line)(self.line.estimate) if self.line else ""

    @property
    def interval(self) -> str:
        """The formatted interval."""
        if self.line is None:
            return ""
        form = self.figure.form(self.line)
        low, high = self.figure.view.ends(self.line)
        return f"{form(low)} to {form(high)}"

    @property
    def n(self) -> str:
        """The number of reports behind the estimate, or of people who were asked and answered."""
        if self.line is None:
            return ""
        counts = self.figure.asked_and_answered
        return f"n: {counts.fraction}" if counts else f"n = {numbers.format_count(self.line.n)}"


def build_overview(figures: Sequence[Figure]) -> list[OverviewLine]:
    """Return a line for each question, in order."""
    return [OverviewLine(figure, _main_line(figure)) for figure in figures]


def _main_line(figure: Figure) -> Line | None:
    """Return the mean if there is one, else the main answer, such as yes, else the answer with the largest share."""
    if figure.means:
        return figure.means[0]
    shares = [line for line in _shares(figure) if figure.main_answer in ("", line.option)]
    return max(shares, key=lambda line: (line.estimate, line.unbiased or line.estimate), default=None)


def _shares(figure: Figure) -> list[Line]:
    return [line for line in figure.shares if line.kind == FigureKind.SHARE]
