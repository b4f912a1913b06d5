"""The explanation of noise on the results page, for one answer: the reported share and the estimate from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from survey_app.channels import channel_of
from survey_app.figures import FigureKind
from survey_app.languages.number_format import Format
from survey_app.results.csv_columns import find_coin_probabilities
from survey_app.results.denominators import describe_base_briefly
from survey_app.results.survey_document import Line
from survey_app.web.charts import intervals
from survey_app.web.results.plots import Figure, Plot, chart_rows

WIDTH_DECIMALS = 9  # decimals: yes and no have one interval, mirrored
WIDEST = 0.5  # wider intervals explain nothing


@dataclass(frozen=True)
class Noise:
    """One answer of one question, with its reported share and its estimate."""

    figure: Figure
    line: Line

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The shares that would be reported if nobody had this answer, and if everybody had it."""
        p, q = find_coin_probabilities(self.figure.field, self.line)
        return q, p

    @property
    def named_count(self) -> int:
        """The number of answers that one report names."""
        return channel_of(self.figure.field.mechanism).answers_per_report

    @property
    def form(self) -> Format:
        return self.figure.form(self.line)

    @property
    def plot(self) -> Plot:
        """The plot of the shares, with marks for the reported shares."""
        view, question = self.figure.view, self.figure.question
        svg = intervals(
            chart_rows(self.figure.plotted_shares, view, reported=True),
            title=f"{question.text} (reported and estimated)",
            name=f"noise-{question.id}",
            note=view.note(self.figure.plotted_shares, describe_base_briefly(self.figure.survey, self.figure.field)),
            words=view.words,
            zoomed=view.zoomed,
            standalone=view.standalone,
        )
        return Plot(f"{question.id}.noise", svg)


def find_noise(figures: Sequence[Figure]) -> Noise | None:
    """Return the answer that best explains the noise; None if all intervals are too wide.

    Prefer a question with a main answer, such as yes or no, then the share with the narrowest interval. Conditional
    questions and “no answer” are left out.
    """
    raw = [
        Noise(figure, line)
        for figure in figures
        if not figure.question.show_if
        for line in figure.plotted_shares
        if line.reported is not None and line.kind == FigureKind.SHARE and line.high - line.low <= WIDEST
    ]

    def sort_key(candidate: Noise) -> tuple[bool, float]:
        return not candidate.figure.main_answer, round(candidate.line.high - candidate.line.low, WIDTH_DECIMALS)

    return min(raw, key=sort_key, default=None)  # the first of equals, because yes comes before no
