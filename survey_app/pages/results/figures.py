"""The plots of the results page, and how its numbers are written. Nothing is estimated here: all comes from the API's
documents, and a table writes a number with as many digits as the plot does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from client.definition import Field, Survey
from client.mechanism import Geometric, Subset
from client.question import Question
from survey_app.charts import Row, Words, distribution, intervals
from survey_app.charts.axes import Format, number_format, precision
from survey_app.estimate.derived import has_order
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import scores_of
from survey_app.explain import written
from survey_app.results.caution import INVENTED, largest_shift, worth
from survey_app.results.document import Line, QuestionPart, Results

MOST_PLOTTED = 30


class Plot(NamedTuple):
    """A plot and the name of its file."""

    name: str
    svg: str


@dataclass(frozen=True)
class View:
    """For whom the intervals are, and where the plot goes."""

    options: Options
    sample: bool = False
    standalone: bool = False

    def ends(self, line: Line) -> tuple[float, float]:
        """The interval to draw: for these respondents, if that is wanted and known."""
        if self.sample and line.sample_low is not None and line.sample_high is not None:
            return line.sample_low, line.sample_high
        return line.low, line.high

    def note(self, lines: Sequence[Line]) -> str:
        """What stands below a plot: n, and what its intervals are."""
        counts = sorted({line.n for line in lines})
        n = f"n = {_from_to(counts)}"
        whom = "for the population"
        if self.sample:
            known = all(line.sample_low is not None for line in lines)
            whom = (
                "for these respondents" if known else "for the population; there are none for these respondents alone"
            )
        together = ", simultaneous," if self.options.simultaneous and len(lines) > 1 else ""
        return f"{n}; {written.percent(self.options.confidence)} intervals{together} {whom}."

    @property
    def words(self) -> Words:
        """The names of the marks."""
        return Words(interval=f"{written.percent(self.options.confidence)} interval")


def _from_to(counts: Sequence[int]) -> str:
    """The smallest and the largest, which may be the same."""
    return " to ".join(written.count(count) for count in (counts[0], counts[-1])[: len(counts)])


def is_known(line: Line) -> bool:
    """Whether a line has numbers at all; where the row of a table may be empty there are none."""
    return all(map(math.isfinite, (line.estimate, line.low, line.high)))


def largest(lines: Sequence[Line], *, in_order: bool) -> list[Line]:
    """All lines in their order, or those with the largest unbiased estimates, by size or still in their order."""
    if len(lines) <= MOST_PLOTTED:
        return list(lines)
    by_size = sorted(range(len(lines)), key=lambda i: (-(lines[i].unbiased or 0.0), i))[:MOST_PLOTTED]
    return [lines[i] for i in (sorted(by_size) if in_order else by_size)]


def rows_of(lines: Sequence[Line], view: View, labels: Sequence[str] = (), *, reported: bool = False) -> list[Row]:
    """The rows of a plot; n where it differs from row to row."""
    several = len({line.n for line in lines}) > 1
    names = labels or [line.option for line in lines]
    return [
        Row(
            name,
            line.estimate,
            *view.ends(line),
            line.reported if reported else None,
            line.n if several else None,
        )
        for name, line in zip(names, lines, strict=True)
    ]


def share_format(lines: Sequence[Line], view: View) -> Format:
    """How the shares of a plot are written; the tables beside it do the same."""
    return number_format(_decimals(lines, view, True), True)


def point_format(lines: Sequence[Line], view: View) -> Format:
    """Differences of shares, in points of a hundred."""
    form = number_format(_decimals(lines, view, True), False)
    return lambda value: form(100 * value)


def mean_format(lines: Sequence[Line], view: View, unit: str) -> Format:
    """How means are written."""
    return number_format(_decimals(lines, view, False), False, unit)


def _decimals(lines: Sequence[Line], view: View, is_share: bool) -> int:
    widths = [high - low for low, high in (view.ends(line) for line in lines if is_known(line))]
    return precision(widths, is_share)


@dataclass(frozen=True)
class Figure:
    """One question with its plots, its facts, and how its numbers are written."""

    survey: Survey
    field: Field
    question: Question
    part: QuestionPart
    view: View

    @cached_property
    def shares(self) -> list[Line]:
        return [line for line in self.part.estimates if line.kind != "mean"]

    @cached_property
    def means(self) -> list[Line]:
        return [line for line in self.part.estimates if line.kind == "mean"]

    @cached_property
    def plotted(self) -> list[Line]:
        """The shares that the plot shows."""
        return largest(self.shares, in_order=has_order(self.question))

    @cached_property
    def _share(self) -> Format:
        return share_format(self.plotted, self.view)

    @cached_property
    def _mean(self) -> Format:
        return mean_format(self.means, self.view, self.question.unit)

    def form(self, line: Line) -> Format:
        """How the numbers of a line are written."""
        return self._mean if line.kind == "mean" else self._share

    @property
    def plots(self) -> list[Plot]:
        """The shares, then the mean on its range."""
        plots: list[Plot] = []
        question, view = self.question, self.view
        if self.shares:
            draw = distribution if has_order(question) else intervals
            svg = draw(
                rows_of(self.plotted, view),
                title=question.text,
                name=f"plot-{question.id}",
                note=self._note(self.plotted),
                words=view.words,
                standalone=view.standalone,
            )
            plots.append(Plot(question.id, svg))
        if self.means:
            svg = intervals(
                rows_of(self.means, view),
                title=f"{question.text} (mean)" if self.shares else question.text,
                name=f"mean-{question.id}",
                percent=False,
                unit=question.unit,
                span=self._span,
                note=self._note(self.means),
                words=view.words,
                standalone=view.standalone,
            )
            plots.append(Plot(f"{question.id}.mean" if self.shares else question.id, svg))
        return plots

    def _note(self, lines: Sequence[Line]) -> str:
        note = self.view.note(lines)
        if len(lines) < len(self.shares) and lines is self.plotted:
            note = f"The {len(lines)} largest of {written.count(len(self.shares))}; the table has all. {note}"
        if self.part.lowered and lines is self.plotted:
            note = (
                f"Many answers share few reports: possible shares lie up to {written.size(self.part.lowered, True)}"
                f" below the unbiased estimates, which the table has. {note}"
            )
        if self.view.standalone:
            loss = written.epsilon(self.field.mechanism.epsilon)
            note += f" ε = {loss}. Survey {self.survey.slug}, {self.survey.digest[:12]}."
        return note

    @property
    def _span(self) -> tuple[float, float]:
        if self.question.type == "number":
            return float(self.question.min), float(self.question.max)
        scores = scores_of(self.question)
        return min(scores), max(scores)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Reports, ε, margin, and what to keep in mind."""
        lines = self.part.estimates
        others = [f"“{one.text}”" for one in self.field.questions if one is not self.question]
        epsilon = written.epsilon(self.field.mechanism.epsilon)
        epsilon += f", together with {' and '.join(others)}" if others else ""
        if not lines:
            return [("Reports", "not enough"), ("ε", epsilon)]
        counts = sorted({line.n for line in lines})
        facts = [
            ("Reports", _from_to(counts)),
            ("ε", epsilon),
        ]
        if self.shares:
            facts.append(("Largest margin", written.margin(self._margin(self.shares), True)))
        if self.means:
            name = "Margin of the mean" if self.shares else "Margin"
            facts.append((name, written.margin(self._margin(self.means), False, self.question.unit)))
        if told := worth(self.field, self.question, lines):
            line, effective = told
            text = f"about {written.count(round(effective))} reports"
            text += f" (design effect {line.n / effective:.1f}, for “{line.option}”)"
            facts.append(("Worth without noise", text))
        shift = largest_shift(self.survey, self.field, self.question)
        if shift is not None:
            moved = written.size(shift, not self.question.levels, self.question.unit)
            what = "a share" if self.shares else "the mean"
            facts.append((f"{written.percent(INVENTED)} of invented reports", f"could move {what} by up to {moved}"))
        return facts

    def _margin(self, lines: Sequence[Line]) -> float:
        return max((high - low) / 2 for low, high in (self.view.ends(line) for line in lines))

    @property
    def lists(self) -> list[tuple[str, str, tuple[Line, ...]]]:
        """What follows from the shares, each with its heading."""
        found = [
            ("answered", "Among those who answered", self.part.answered),
            ("cumulative", "Cumulative shares", self.part.cumulative),
            ("totals", "Totals", self.part.totals),
        ]
        return [(key, heading, lines) for key, heading, lines in found if lines]


def figures(survey: Survey, document: Results, view: View) -> list[Figure]:
    """All questions of the results, in their order."""
    fields = {question.id: field for field in survey.fields for question in field.questions}
    return [
        Figure(survey, fields[question.id], question, part, view)
        for question, part in zip(survey.questions, document.questions, strict=True)
    ]


@dataclass(frozen=True)
class Noise:
    """What the noise did to one answer of one question: what was reported, and what that means."""

    figure: Figure
    line: Line

    @property
    def bounds(self) -> tuple[float, float]:
        """The shares that would be reported if nobody had this answer, and if everybody had."""
        mechanism = self.figure.field.mechanism
        if isinstance(mechanism, Geometric):
            raise ValueError("a number with geometric noise has no share")
        return float(mechanism.q), float(mechanism.p)

    @property
    def named(self) -> int:
        """How many answers a report names."""
        mechanism = self.figure.field.mechanism
        return mechanism.weight if isinstance(mechanism, Subset) else 1

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
            note=self.figure.view.note(self.figure.plotted),
            words=view.words,
            standalone=view.standalone,
        )
        return Plot(f"{question.id}.noise", svg)


def noise(figures: Sequence[Figure]) -> Noise | None:
    """A question to show what the noise did: a yes or no if there is one, else whichever has raw shares."""
    shown = [figure for figure in figures if any(line.reported is not None for line in figure.shares)]
    if not shown:
        return None
    figure = next((figure for figure in shown if figure.question.type == "yes_no"), shown[0])
    raw = [line for line in figure.plotted if line.reported is not None]
    if figure.question.type == "yes_no" and not figure.question.optional:
        return Noise(figure, raw[-1])
    return Noise(figure, max(raw, key=lambda line: line.estimate))
