"""What the noise did to one answer of one question, to be told once: what was sent, and what that means."""

from collections.abc import Sequence
from dataclasses import dataclass

from survey_app.channels import channel_of
from survey_app.figures import FigureKind
from survey_app.languages.number_format import Format
from survey_app.results.csv_table import chances
from survey_app.results.denominators import short_base
from survey_app.results.survey_document import Line
from survey_app.web.charts import intervals
from survey_app.web.results.plots import Figure, Plot, rows_of

SAME_WIDTH = 9  # decimals: yes and no have one interval, mirrored
WIDEST = 0.5  # an interval that is wider teaches nothing but despair


@dataclass(frozen=True)
class Noise:
    """What the noise did to one answer of one question: what was reported, and what that means."""

    figure: Figure
    line: Line

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The shares that would be reported if nobody had this answer, and if everybody had."""
        p, q = chances(self.figure.field, self.line)
        return q, p

    @property
    def named(self) -> int:
        """How many answers a report names."""
        return channel_of(self.figure.field.mechanism).named

    @property
    def form(self) -> Format:
        return self.figure.form(self.line)

    @property
    def plot(self) -> Plot:
        """The shares with their raw marks."""
        view, question = self.figure.view, self.figure.question
        svg = intervals(
            rows_of(self.figure.plotted, view, reported=True),
            title=f"{question.text} (reported and estimated)",
            name=f"noise-{question.id}",
            note=view.note(self.figure.plotted, short_base(self.figure.survey, self.figure.field)),
            words=view.words,
            zoomed=view.zoomed,
            standalone=view.standalone,
        )
        return Plot(f"{question.id}.noise", svg)


def noise(figures: Sequence[Figure]) -> Noise | None:
    """The answer to show what the noise did: of a yes or no if one is clear, else of the share that is measured best.

    Nothing where all is too wide to learn from; never of a question that was put to some only, nor of no answer.
    """
    raw = [
        Noise(figure, line)
        for figure in figures
        if not figure.question.show_if
        for line in figure.plotted
        if line.reported is not None and line.kind == FigureKind.SHARE and line.high - line.low <= WIDEST
    ]

    def order(one: Noise) -> tuple[bool, float]:
        return not one.figure.main_answer, round(one.line.high - one.line.low, SAME_WIDTH)

    return min(raw, key=order, default=None)  # of equals the first: yes stands before no
