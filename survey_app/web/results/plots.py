"""The plots of the results page, and how its numbers are written. Nothing is estimated here: all comes from the API's
documents, and a table writes a number with as many digits as the plot does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.estimate.group_estimates import Range
from survey_app.estimate.intervals import Options
from survey_app.figures import FigureKind
from survey_app.kinds import QuestionKind, kind_of
from survey_app.languages import numbers
from survey_app.languages.number_format import Format, number_format, precision
from survey_app.results.caution import INVENTED, largest_shift, worth
from survey_app.results.denominators import short_base
from survey_app.results.informativeness import NOTHING, SHARE, says_nothing
from survey_app.results.row_order import AMONG, OF_ALL, Reached, answer_name, in_order, main_answer, reached
from survey_app.results.survey_document import Line, QuestionPart, Results
from survey_app.web.charts import Row, Words, distribution, intervals

MOST_PLOTTED = 30
OFF = 1 / 8  # of an interval, from where on a displayed mean seems to sit wrong in it


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
    zoomed: bool = False  # every plot on a scale of its own

    def ends(self, line: Line) -> tuple[float, float]:
        """The interval to draw: for these respondents, if that is wanted and known."""
        if self.sample and line.sample_low is not None and line.sample_high is not None:
            return line.sample_low, line.sample_high
        return line.low, line.high

    def instead(self, line: Line, within: Range = SHARE) -> str:
        """What stands in place of an estimate whose interval says nothing; nothing for the others."""
        return NOTHING if says_nothing(line, within, self.ends(line)) else ""

    def note(self, lines: Sequence[Line], base: str = "", some: Reached | None = None) -> str:
        """What stands below a plot: n, whom it counts, and what its intervals are."""
        counts = sorted({line.n for line in lines})
        n = f"n: {some.among} {base}".rstrip() if some else f"n = {_from_to(counts)} {base}".rstrip()
        whom = "for the population"
        if self.sample:
            known = all(line.sample_low is not None for line in lines)
            whom = (
                "for these respondents" if known else "for the population; there are none for these respondents alone"
            )
        together = ", simultaneous," if self.options.simultaneous and len(lines) > 1 else ""
        return f"{n}; {numbers.percent(self.options.confidence)} intervals{together} {whom}."

    @property
    def words(self) -> Words:
        """The names of the marks."""
        return Words(interval=f"{numbers.percent(self.options.confidence)} interval")


def _from_to(counts: Sequence[int]) -> str:
    """The smallest and the largest, which may be the same."""
    return " to ".join(numbers.count(count) for count in (counts[0], counts[-1])[: len(counts)])


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def is_known(line: Line) -> bool:
    """Whether a line has numbers at all; where the row of a table may be empty there are none."""
    return all(map(math.isfinite, (line.estimate, line.low, line.high)))


def largest(lines: Sequence[Line], *, in_order: bool) -> list[Line]:
    """All lines in their order, or those with the largest unbiased estimates, by size or still in their order."""
    if len(lines) <= MOST_PLOTTED:
        return list(lines)
    by_size = sorted(range(len(lines)), key=lambda i: (-(lines[i].unbiased or 0.0), i))[:MOST_PLOTTED]
    return [lines[i] for i in (sorted(by_size) if in_order else by_size)]


def rows_of(
    lines: Sequence[Line], view: View, labels: Sequence[str] = (), *, reported: bool = False, within: Range = SHARE
) -> list[Row]:
    """The rows of a plot; n where it differs from row to row. `within` is from what to what they can be."""
    several = len({line.n for line in lines}) > 1
    names = labels or [line.option for line in lines]
    return [
        Row(
            name,
            line.estimate,
            *view.ends(line),
            line.reported if reported else None,
            line.n if several else None,
            view.instead(line, within),
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

    @property
    def kind(self) -> QuestionKind:
        """What is known of its type."""
        return kind_of(self.question)

    @cached_property
    def main_answer(self) -> str:
        """The one answer that the question is about, such as yes; empty if it is about several."""
        return main_answer(self.question)

    @cached_property
    def by_answer(self) -> bool:
        """Whether those who answered come first: the question was put to some only."""
        return bool(self.part.condition and self.part.answered)

    @cached_property
    def shares(self) -> list[Line]:
        """What is plotted, and looked at first."""
        if self.by_answer:
            return in_order([self.question], self.part.answered)
        return [line for line in in_order([self.question], self.part.estimates) if line.kind != FigureKind.MEAN]

    @cached_property
    def means(self) -> list[Line]:
        return [line for line in self.part.estimates if line.kind == FigureKind.MEAN]

    @cached_property
    def plotted(self) -> list[Line]:
        """The shares that the plot shows."""
        return largest(self.shares, in_order=self.kind.is_ordered(self.question))

    @cached_property
    def _share(self) -> Format:
        return share_format(self.plotted, self.view)

    @cached_property
    def _mean(self) -> Format:
        return mean_format(self.means, self.view, self.question.unit)

    @cached_property
    def _of_all(self) -> Format:
        return share_format([line for line in self.part.estimates if line.kind != FigureKind.MEAN], self.view)

    def form(self, line: Line) -> Format:
        """How the numbers of a line are written."""
        if line.kind == FigureKind.MEAN:
            return self._mean
        return self._of_all if self.by_answer and line in self.part.estimates else self._share

    def instead(self, line: Line) -> str:
        """What stands in place of an estimate that says nothing."""
        return self.view.instead(line, self.span if line.kind == FigureKind.MEAN else SHARE)

    @property
    def condition(self) -> str:
        """On what it depended whether it was asked, and how many were and answered, where it was not everybody."""
        if self.reached is None:
            return self.part.condition and f"{self.part.condition}."
        return f"{self.part.condition}: {self.reached.sentence(numbers.percent(self.view.options.confidence))}."

    @cached_property
    def reached(self) -> Reached | None:
        """How many were asked and answered, where it was not everybody."""
        return reached(self.part)

    def called(self, line: Line) -> str:
        """Our own word for an answer that is none of the author's; empty for theirs."""
        name = answer_name(self.part, line)
        return "" if name == line.option else name

    @property
    def plots(self) -> list[Plot]:
        """The shares, then the mean on its range."""
        plots: list[Plot] = []
        question, view = self.question, self.view
        if self.shares:
            draw = distribution if self.kind.is_ordered(question) else intervals
            svg = draw(
                rows_of(self.plotted, view),
                title=question.text,
                name=f"plot-{question.id}",
                note=self._note(self.plotted),
                words=view.words,
                zoomed=view.zoomed,
                standalone=view.standalone,
            )
            plots.append(Plot(question.id, svg))
        if self.means:
            svg = intervals(
                rows_of(self.means, view, within=self.span),
                title=f"{question.text} (mean)" if self.shares else question.text,
                name=f"mean-{question.id}",
                percent=False,
                unit=question.unit,
                span=self.span,
                note=self._note(self.means),
                words=view.words,
                standalone=view.standalone,
            )
            plots.append(Plot(f"{question.id}.mean" if self.shares else question.id, svg))
        return plots

    def _note(self, lines: Sequence[Line]) -> str:
        note = self.view.note(lines, short_base(self.survey, self.field), self.reached)
        if self.reached:
            note = f"{_sentence(AMONG)}; {note}"
        if len(lines) < len(self.shares) and lines is self.plotted:
            note = f"The {len(lines)} largest of {numbers.count(len(self.shares))}; the table has all. {note}"
        if self.part.lowered and lines is self.plotted:
            note = (
                f"Many answers share few reports: possible shares lie up to {numbers.size(self.part.lowered, True)}"
                f" below the unbiased estimates, which the table has. {note}"
            )
        if self.view.standalone:
            loss = numbers.epsilon(self.field.mechanism.epsilon)
            note += f" ε = {loss}. Survey {self.survey.slug}, {self.survey.digest[:12]}."
        return note

    @property
    def off(self) -> str:
        """Why a displayed mean sits off the middle of its interval, which is about the unbiased one; else nothing."""
        for line in self.means:
            if line.unbiased is not None and abs(line.estimate - line.unbiased) > OFF * (line.high - line.low):
                raw = self._mean(line.unbiased)
                return f"The mark is made of the nearest possible shares; unbiased, the mean would be {raw}."
        return ""

    @property
    def span(self) -> tuple[float, float]:
        """From where to where a mean may lie."""
        return self.kind.value_range(self.question)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Reports, ε, margin, and what to keep in mind."""
        lines = self.part.estimates
        others = [f"“{one.text}”" for one in self.field.questions if one is not self.question]
        loss = self.field.mechanism.epsilon
        epsilon = (
            f"{numbers.epsilon(loss)}: what is sent multiplies the odds of any guess by at most {numbers.times(loss)}"
        )
        epsilon += f"; together with {' and '.join(others)}" if others else ""
        if not lines:
            return [("Reports", "not enough"), ("ε", epsilon)]
        counts = sorted({line.n for line in lines})
        n = _from_to(counts)
        facts = [("n", f"{n}: {self.part.base}") if self.part.base else ("Reports", n), ("ε", epsilon)]
        if self.shares:
            facts.append(("Largest margin", numbers.margin(self._margin(self.shares), True)))
        if self.means:
            name = "Margin of the mean" if self.shares else "Margin"
            facts.append((name, numbers.margin(self._margin(self.means), False, self.question.unit)))
        if told := worth(self.field, self.question, lines):
            line, effective = told
            text = f"about {numbers.count(round(effective))}: so many answers without noise would tell as much"
            text += f" (design effect {line.n / effective:.1f}, for “{line.option}”)"
            facts.append(("Effective sample size", text))
        shift = largest_shift(self.survey, self.field, self.question)
        if shift is not None:
            moved = numbers.size(shift, self.kind.has_shares(self.question), self.question.unit)
            what = "a share of n" if self.by_answer else "a share" if self.shares else "the mean"
            facts.append((f"{numbers.percent(INVENTED)} of fake responses", f"could move {what} by up to {moved}"))
        return facts

    def _margin(self, lines: Sequence[Line]) -> float:
        return max((high - low) / 2 for low, high in (self.view.ends(line) for line in lines))

    @property
    def lists(self) -> list[tuple[str, str, tuple[Line, ...]]]:
        """The estimates and what follows from the shares, each with its heading; those who answered may come first."""
        found = {
            "estimates": (_sentence(OF_ALL) if self.by_answer else "Estimates", self._in_order(self.part.estimates)),
            "answered": (
                _sentence(AMONG) if self.by_answer else "Among those who answered",
                self._in_order(self.part.answered),
            ),
            "cumulative": ("Cumulative shares", self.part.cumulative),
            "totals": ("Totals", self.part.totals),
        }
        order = sorted(found, key=lambda key: key != "answered") if self.by_answer else list(found)
        return [(key, *found[key]) for key in order if found[key][1]]

    def _in_order(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        return tuple(in_order([self.question], lines))


def figures(survey: Survey, document: Results, view: View) -> list[Figure]:
    """All questions of the results, in their order."""
    fields = {question.id: field for field in survey.fields for question in field.questions}
    return [
        Figure(survey, fields[question.id], question, part, view)
        for question, part in zip(survey.questions, document.questions, strict=True)
    ]
