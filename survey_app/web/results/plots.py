"""The plots of the results page, and the number formats of its plots and tables.

Nothing is estimated here: all numbers come from the documents of the API. A table gives a number with as many digits
as its plot.
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
from survey_app.languages.number_format import Format, choose_decimals, make_format
from survey_app.results.caution import FAKE_SHARE, effective_sample_size, largest_shift
from survey_app.results.denominators import describe_base_briefly
from survey_app.results.informativeness import SHARE_RANGE, UNINFORMATIVE, is_uninformative
from survey_app.results.row_order import (
    AMONG_ANSWERED,
    OF_ALL,
    AnswerCount,
    answer_name,
    estimate_answer_count,
    main_answer,
    sort_lines,
)
from survey_app.results.survey_document import Line, QuestionPart, Results
from survey_app.web.charts import Row, Words, distribution, intervals

MOST_PLOTTED = 30
VISIBLE_SHIFT = 1 / 8  # of an interval: a displayed mean that is further from its middle looks wrong


class Plot(NamedTuple):
    """A plot as SVG text, and the name of its file without a suffix."""

    name: str
    svg: str


class Fact(NamedTuple):
    """A fact about a question: its code, its name and its text."""

    code: str
    name: str
    text: str


@dataclass(frozen=True)
class View:
    """The options of all plots: the target of their intervals, and whether they are files of their own."""

    options: Options
    sample: bool = False
    standalone: bool = False
    zoomed: bool = False  # every plot on a scale of its own

    def ends(self, line: Line) -> tuple[float, float]:
        """Return the interval to draw: for these respondents if the reader chose that and it is known."""
        if self.sample and line.sample_low is not None and line.sample_high is not None:
            return line.sample_low, line.sample_high
        return line.low, line.high

    def replacement(self, line: Line, within: Range = SHARE_RANGE) -> str:
        """Return the text that replaces an estimate with an uninformative interval; empty for others."""
        return UNINFORMATIVE if is_uninformative(line, within, self.ends(line)) else ""

    def note(self, lines: Sequence[Line], base: str = "", asked_and_answered: AnswerCount | None = None) -> str:
        """Return the note below a plot: n with its base, and the level and target of its intervals."""
        counts = sorted({line.n for line in lines})
        n = (
            f"n: {asked_and_answered.fraction} {base}".rstrip()
            if asked_and_answered
            else f"n = {_format_range(counts)} {base}".rstrip()
        )
        target = "for the population"
        if self.sample:
            has_sample = all(line.sample_low is not None for line in lines)
            target = (
                "for these respondents"
                if has_sample
                else "for the population; there are none for these respondents alone"
            )
        simultaneous = ", simultaneous," if self.options.simultaneous and len(lines) > 1 else ""
        return f"{n}; {numbers.format_percent(self.options.confidence)} intervals{simultaneous} {target}."

    @property
    def words(self) -> Words:
        """The words for the marks of a chart."""
        return Words(interval=f"{numbers.format_percent(self.options.confidence)} interval")


def _format_range(counts: Sequence[int]) -> str:
    """Format sorted counts as a range from smallest to largest, or as one number if there is only one."""
    return " to ".join(numbers.format_count(count) for count in (counts[0], counts[-1])[: len(counts)])


def _capitalize(words: str) -> str:
    return words[0].upper() + words[1:]


def is_known(line: Line) -> bool:
    """Return whether the estimate and its interval are finite. They are not if a row of a cross-tab may be empty."""
    return all(map(math.isfinite, (line.estimate, line.low, line.high)))


def largest(lines: Sequence[Line], *, in_order: bool) -> list[Line]:
    """Return all lines, or if there are too many those with the largest unbiased estimates.

    These are sorted by size, unless `in_order` keeps their order.
    """
    if len(lines) <= MOST_PLOTTED:
        return list(lines)
    by_size = sorted(range(len(lines)), key=lambda i: (-(lines[i].unbiased or 0.0), i))[:MOST_PLOTTED]
    return [lines[i] for i in (sorted(by_size) if in_order else by_size)]


def chart_rows(
    lines: Sequence[Line],
    view: View,
    labels: Sequence[str] = (),
    *,
    reported: bool = False,
    within: Range = SHARE_RANGE,
) -> list[Row]:
    """Return the rows of a plot, with n only if it differs between rows. `within` is the range of possible values."""
    several = len({line.n for line in lines}) > 1
    names = labels or [line.option for line in lines]
    return [
        Row(
            name,
            line.estimate,
            *view.ends(line),
            line.reported if reported else None,
            line.n if several else None,
            view.replacement(line, within),
        )
        for name, line in zip(names, lines, strict=True)
    ]


def share_format(lines: Sequence[Line], view: View) -> Format:
    """Return the number format for the shares of a plot and of its tables."""
    return make_format(_decimals(lines, view, True), True)


def point_format(lines: Sequence[Line], view: View) -> Format:
    """Return the number format for differences of shares, in percentage points."""
    form = make_format(_decimals(lines, view, True), False)
    return lambda value: form(100 * value)


def mean_format(lines: Sequence[Line], view: View, unit: str) -> Format:
    """Return the number format for means."""
    return make_format(_decimals(lines, view, False), False, unit)


def _decimals(lines: Sequence[Line], view: View, is_share: bool) -> int:
    widths = [high - low for low, high in (view.ends(line) for line in lines if is_known(line))]
    return choose_decimals(widths, is_share)


@dataclass(frozen=True)
class Figure:
    """The results of one question: its plots, its facts, and its number formats."""

    survey: Survey
    field: Field
    question: Question
    part: QuestionPart
    view: View

    @property
    def kind(self) -> QuestionKind:
        """The kind of its type."""
        return kind_of(self.question)

    @cached_property
    def main_answer(self) -> str:
        """The answer that the question is about, such as yes; empty if it is about several."""
        return main_answer(self.question)

    @cached_property
    def is_conditional(self) -> bool:
        """Whether shares among the people who answered come first, because the question has a condition."""
        return bool(self.part.condition and self.part.answered)

    @cached_property
    def shares(self) -> list[Line]:
        """The shares to show first: among the people who answered a conditional question, else among everybody."""
        if self.is_conditional:
            return sort_lines([self.question], self.part.answered)
        return [line for line in sort_lines([self.question], self.part.estimates) if line.kind != FigureKind.MEAN]

    @cached_property
    def means(self) -> list[Line]:
        return [line for line in self.part.estimates if line.kind == FigureKind.MEAN]

    @cached_property
    def plotted_shares(self) -> list[Line]:
        """The shares that the plot shows."""
        return largest(self.shares, in_order=self.kind.is_ordered(self.question))

    @cached_property
    def _share_format(self) -> Format:
        return share_format(self.plotted_shares, self.view)

    @cached_property
    def _mean_format(self) -> Format:
        return mean_format(self.means, self.view, self.question.unit)

    @cached_property
    def _overall_format(self) -> Format:
        return share_format([line for line in self.part.estimates if line.kind != FigureKind.MEAN], self.view)

    def form(self, line: Line) -> Format:
        """Return the number format of a line."""
        if line.kind == FigureKind.MEAN:
            return self._mean_format
        return self._overall_format if self.is_conditional and line in self.part.estimates else self._share_format

    def replacement(self, line: Line) -> str:
        """Return the text that replaces an uninformative estimate; empty for others."""
        return self.view.replacement(line, self.span if line.kind == FigureKind.MEAN else SHARE_RANGE)

    @property
    def condition(self) -> str:
        """The condition of the question with the number of people asked and answering; empty without a condition."""
        if self.asked_and_answered is None:
            return self.part.condition and f"{self.part.condition}."
        return (
            f"{self.part.condition}: "
            f"{self.asked_and_answered.describe(numbers.format_percent(self.view.options.confidence))}."
        )

    @cached_property
    def asked_and_answered(self) -> AnswerCount | None:
        """The numbers of people who were asked and who answered; None if everybody was asked."""
        return estimate_answer_count(self.part)

    def own_word(self, line: Line) -> str:
        """Return our own word for an answer that the author did not write, such as “no answer”; else empty."""
        name = answer_name(self.part, line)
        return "" if name == line.option else name

    @property
    def plots(self) -> list[Plot]:
        """The plot of the shares, then the plot of the mean on its range."""
        plots: list[Plot] = []
        question, view = self.question, self.view
        if self.shares:
            draw = distribution if self.kind.is_ordered(question) else intervals
            svg = draw(
                chart_rows(self.plotted_shares, view),
                title=question.text,
                name=f"plot-{question.id}",
                note=self._note(self.plotted_shares),
                words=view.words,
                zoomed=view.zoomed,
                standalone=view.standalone,
            )
            plots.append(Plot(question.id, svg))
        if self.means:
            svg = intervals(
                chart_rows(self.means, view, within=self.span),
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
        note = self.view.note(lines, describe_base_briefly(self.survey, self.field), self.asked_and_answered)
        if self.asked_and_answered:
            note = f"{_capitalize(AMONG_ANSWERED)}; {note}"
        if len(lines) < len(self.shares) and lines is self.plotted_shares:
            count = numbers.format_count(len(self.shares))
            note = f"The {len(lines)} largest of {count}; the table lists all. {note}"
        if self.part.lowered and lines is self.plotted_shares:
            note = (
                "There are many answers and few reports: the plotted shares, which are possible values, lie up to "
                f"{numbers.format_difference(self.part.lowered, True)}"
                f" below the unbiased estimates in the table. {note}"
            )
        if self.view.standalone:
            loss = numbers.format_epsilon(self.field.mechanism.epsilon)
            note += f" ε = {loss}. Survey {self.survey.slug}, {self.survey.digest[:12]}."
        return note

    @property
    def off_center_reason(self) -> str:
        """The reason why a displayed mean is not in the middle of its interval; empty if it is.

        The interval is centred on the unbiased mean.
        """
        for line in self.means:
            if line.unbiased is not None and abs(line.estimate - line.unbiased) > VISIBLE_SHIFT * (
                line.high - line.low
            ):
                raw = self._mean_format(line.unbiased)
                return f"The mark is computed from the nearest possible shares; the unbiased mean is {raw}."
        return ""

    @property
    def span(self) -> tuple[float, float]:
        """The range of possible means."""
        return self.kind.value_range(self.question)

    @property
    def facts(self) -> list[Fact]:
        """The facts about the question: reports, ε, margins, and cautions."""
        lines = self.part.estimates
        partners = [f"“{question.text}”" for question in self.field.questions if question is not self.question]
        loss = self.field.mechanism.epsilon
        epsilon = (
            f"{numbers.format_epsilon(loss)}: what a device sends multiplies the odds of any guess by at most "
            f"{numbers.format_odds_factor(loss)}"
        )
        epsilon += f"; together with {' and '.join(partners)}" if partners else ""
        if not lines:
            return [Fact("n", "Reports", "not enough"), Fact("epsilon", "ε", epsilon)]
        counts = sorted({line.n for line in lines})
        n = _format_range(counts)
        reports = Fact("n", "n", f"{n}: {self.part.base}") if self.part.base else Fact("n", "Reports", n)
        facts = [reports, Fact("epsilon", "ε", epsilon)]
        if self.shares:
            text = numbers.format_margin(self._margin(self.shares), True)
            facts.append(Fact("margin", "Largest margin", text))
        if self.means:
            text = numbers.format_margin(self._margin(self.means), False, self.question.unit)
            facts.append(Fact("mean_margin", "Margin of the mean" if self.shares else "Margin", text))
        if result := effective_sample_size(self.field, self.question, lines):
            line, effective = result
            text = f"about {numbers.format_count(round(effective))}: that many answers without noise would be as "
            text += f"informative (design effect {line.n / effective:.1f}, for “{line.option}”)"
            facts.append(Fact("effective_sample_size", "Effective sample size", text))
        shift = largest_shift(self.survey, self.field, self.question)
        if shift is not None:
            shift_text = numbers.format_difference(shift, self.kind.has_shares(self.question), self.question.unit)
            quantity = "a share of n" if self.is_conditional else "a share" if self.shares else "the mean"
            name = f"{numbers.format_percent(FAKE_SHARE)} of fake responses"
            facts.append(Fact("fakes", name, f"could move {quantity} by up to {shift_text}"))
        return facts

    def _margin(self, lines: Sequence[Line]) -> float:
        return max((high - low) / 2 for low, high in (self.view.ends(line) for line in lines))

    @property
    def lists(self) -> list[tuple[str, str, tuple[Line, ...]]]:
        """The tables that have lines, as key, heading and lines: estimates, and figures that follow from them.

        Shares among the people who answered come first for a conditional question.
        """
        lists = {
            "estimates": (
                _capitalize(OF_ALL) if self.is_conditional else "Estimates",
                self._in_order(self.part.estimates),
            ),
            "answered": (
                _capitalize(AMONG_ANSWERED) if self.is_conditional else "Among those who answered",
                self._in_order(self.part.answered),
            ),
            "cumulative": ("Cumulative shares", self.part.cumulative),
            "totals": ("Totals", self.part.totals),
        }
        order = sorted(lists, key=lambda key: key != "answered") if self.is_conditional else list(lists)
        return [(key, *lists[key]) for key in order if lists[key][1]]

    def _in_order(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        return tuple(sort_lines([self.question], lines))


def build_figures(survey: Survey, document: Results, view: View) -> list[Figure]:
    """Return the figure of each question of the results, in order."""
    fields = {question.id: field for field in survey.fields for question in field.questions}
    return [
        Figure(survey, fields[question.id], question, part, view)
        for question, part in zip(survey.questions, document.questions, strict=True)
    ]
