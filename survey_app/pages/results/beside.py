"""One question in several groups, or in other surveys that ask it too: all on one scale, with their total."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from client.definition import Survey
from client.question import Question
from survey_app.charts import intervals
from survey_app.charts.axes import Format
from survey_app.estimate.groups import Range, possible
from survey_app.estimate.hypotheses import Test
from survey_app.kinds import kind_of
from survey_app.pages.results.figures import (
    Plot,
    View,
    is_known,
    mean_format,
    point_format,
    rows_of,
    share_format,
)
from survey_app.results.asked import condition
from survey_app.results.document import Line, QuestionPart
from survey_app.results.groups import TOTAL, Study
from survey_app.results.reading import AMONG, NOT_ASKED, OF_ALL, in_order, reached

GROUPS_PLOTTED = 60  # rows of one plot
Name = tuple[str, str]  # an answer and its kind


class Answer(NamedTuple):
    """One answer: by the name of each group its line, None where it has none, and its difference to the first."""

    option: str
    kind: str
    groups: list[tuple[str, Line | None, Line | None]]
    total: Line | None

    @property
    def lines(self) -> list[tuple[str, Line]]:
        """Whatever is known of it, by name, the total last."""
        known = [(name, line) for name, line, _ in self.groups if line]
        return [*known, (TOTAL, self.total)] if self.total else known

    @property
    def differences(self) -> list[Line]:
        """To the first group."""
        return [difference for _, _, difference in self.groups if difference]


@dataclass(frozen=True)
class Beside:
    """One question in several groups."""

    survey: Survey
    question: Question
    document: Study
    view: View

    @property
    def first(self) -> str:
        """To which the others are compared."""
        return self.document.groups[0].group

    @property
    def condition(self) -> str:
        """On what it depended whether it was asked, and of whom the figures are; empty where it was of everybody."""
        asked = condition(self.survey, self.question)
        if not asked:
            return ""
        if not self.has_shares:
            return f"{asked}. Means are of those who were asked and answered."
        if not self.among:
            return f"{asked}."
        parts = zip(self.document.groups, self._parts, strict=True)
        told = [f"{group.group} {some.among}" for group, part in parts if (some := reached(part))]
        return f"{asked}: {', '.join(told)} were asked and answered."

    @property
    def has_shares(self) -> bool:
        """Whether the shares of its answers mean something."""
        return kind_of(self.question).has_shares(self.question)

    @property
    def intervals(self) -> int:
        """How many there are to see, besides those of the first group."""
        return sum(len(one.lines) - 1 + len(one.differences) for one in [*self.among, *self.answers] if one.lines)

    @cached_property
    def _parts(self) -> list[QuestionPart]:
        """The question in each group."""
        place = self.survey.questions.index(self.question)
        return [group.questions[place] for group in self.document.groups]

    @cached_property
    def among(self) -> list[Answer]:
        """Of a question that was put to some only, every answer among those who were asked and answered, by group.

        Such shares are ratios within a group: they have no total by weights of all people.
        """
        if self.question.show_if is None:
            return []
        groups = [_named(part.answered) for part in self._parts]
        called = [group.group for group in self.document.groups]
        return [
            Answer(*name, [(group, lines.get(name), None) for group, lines in zip(called, groups, strict=True)], None)
            for name in _named(in_order([self.question], [line for lines in groups for line in lines.values()]))
        ]

    @property
    def lists(self) -> list[tuple[str, list[Answer]]]:
        """What the tables show, each with its heading, which one alone does not need."""
        if not self.among:
            return [("", self.answers)]
        return [(f"{AMONG[0].upper()}{AMONG[1:]}", self.among), (f"{OF_ALL[0].upper()}{OF_ALL[1:]}", self.answers)]

    def called(self, answer: Answer) -> str:
        """Our own word for an answer that is none of the author's; empty for theirs."""
        return NOT_ASKED if self.question.show_if and answer.kind == "no_answer" else ""

    @property
    def test(self) -> Test | None:
        """Whether chance explains how the groups differ, where that can be tested."""
        return next((one.test for one in self.document.tests if one.id == self.question.id), None)

    @cached_property
    def answers(self) -> list[Answer]:
        """Every answer that some group has a line for."""
        place = self.survey.questions.index(self.question)
        groups = [_named(part.estimates) for part in self._parts]
        total = self.document.total
        whole = _named(total.questions[place].estimates) if total and total.questions else {}
        gaps: list[dict[Name, Line]] = [{}]
        gaps += [
            dict(_compared(groups[0], other, one.questions[place].estimates))
            for other, one in zip(groups[1:], self.document.differences, strict=True)
        ]
        called = [group.group for group in self.document.groups]
        return [
            Answer(
                *name,
                [
                    (group, lines.get(name), gap.get(name))
                    for group, lines, gap in zip(called, groups, gaps, strict=True)
                ],
                whole.get(name),
            )
            for name in _named(in_order([self.question], [line for lines in groups for line in lines.values()]))
        ]

    @property
    def total_name(self) -> str:
        """What the row of the total is called."""
        total = self.document.total
        return "All together, by these weights" if total and total.given else "All groups, by size"

    @property
    def rows(self) -> int:
        """How many the table has."""
        return sum(len(answer.groups) + bool(answer.total) for answer in [*self.among, *self.answers])

    def within(self, kind: str) -> Range:
        """From what to what the figures of a kind can be."""
        return possible(self.question, kind)

    def instead(self, answer: Answer, line: Line | None) -> str:
        """What stands in place of an estimate, or of a difference, that says nothing."""
        return self.view.instead(line, self.within(answer.kind)) if line else ""

    def forms(self, kind: str) -> tuple[Format, Format]:
        """How the figures of a kind and their differences are written: with the same number of decimals."""
        answers = [answer for answer in [*self.among, *self.answers] if (answer.kind == "mean") == (kind == "mean")]
        lines = [line for answer in answers for _, line in answer.lines]
        if kind == "mean":
            return (mean_format(lines, self.view, self.question.unit),) * 2
        return share_format(lines, self.view), point_format(lines, self.view)

    @property
    def plots(self) -> Iterator[Plot]:
        """All groups in one plot, shares and means apart; nothing where they are too many to look at.

        Of a question that was put to some only, the shares are of those.
        """
        means = [answer for answer in self.answers if answer.kind == "mean"]
        shares = self.among or [answer for answer in self.answers if answer.kind != "mean"]
        for kind, suffix in (("share", "groups"), ("mean", "mean.groups")):
            shown = [
                (name if kind == "mean" else f"{answer.option} · {name}", line)
                for answer in (means if kind == "mean" else shares)
                for name, line in answer.lines
                if is_known(line)
            ]
            lines = [line for _, line in shown]
            if 0 < len(lines) <= GROUPS_PLOTTED:
                svg = intervals(
                    rows_of(lines, self.view, [label for label, _ in shown], within=self.within(kind)),
                    title=f"{self.question.text} (by group)",
                    name=f"groups-{kind}-{self.question.id}",
                    percent=kind != "mean",
                    unit="" if kind != "mean" else self.question.unit,
                    note=f"{f'{AMONG}; ' if self.among else ''}{self.view.note(lines)}",
                    words=self.view.words,
                    zoomed=self.view.zoomed,
                    standalone=self.view.standalone,
                )
                yield Plot(f"{self.question.id}.{suffix}", svg)


def _named(lines: Sequence[Line]) -> dict[Name, Line]:
    return {(line.option, line.kind): line for line in lines}


def _compared(
    first: Mapping[Name, Line], other: Mapping[Name, Line], differences: Sequence[Line]
) -> Iterator[tuple[Name, Line]]:
    """Differences with the names of what they compare: the lines that both groups have, in the order of the first."""
    return zip((name for name in first if name in other), differences, strict=True)


def beside(survey: Survey, document: Study, view: View) -> list[Beside]:
    """All questions, in their order."""
    return [Beside(survey, question, document, view) for question in survey.questions]
