"""One question in several groups, or in other surveys that ask it too: all on one scale, with their total."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.group_estimates import GroupsError, Range, check_same, possible
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.languages.number_format import Format
from survey_app.problems import Problem
from survey_app.results.denominators import condition
from survey_app.results.group_document import TOTAL, Study, groups_document
from survey_app.results.row_order import AMONG, NOT_ASKED, OF_ALL, in_order
from survey_app.results.survey_document import Line, QuestionPart
from survey_app.store import Published, State
from survey_app.web.access import readable, reader, store, visible
from survey_app.web.charts import intervals
from survey_app.web.results.plots import Plot, View, is_known, mean_format, point_format, rows_of, share_format
from survey_app.web.results.query_options import MOST_GROUPS, Choices
from survey_app.web.results.results_cache import Snapshot
from survey_app.web.results.weights import Weights, weights_of

GROUPS_PLOTTED = 60  # rows of one plot
Name = tuple[str, str]  # an answer and its kind
Named = Mapping[Name, Line]


class AnswerByGroup(NamedTuple):
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
class GroupComparison:
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
        if not kind_of(self.question).has_shares(self.question):
            return f"{asked}. Means are of those who were asked and answered."
        return self.document.condition(self._place) if self.among else f"{asked}."

    @property
    def intervals(self) -> int:
        """How many there are to see, besides those of the first group."""
        return sum(len(one.lines) - 1 + len(one.differences) for one in [*self.among, *self.answers] if one.lines)

    @cached_property
    def _place(self) -> int:
        return self.survey.questions.index(self.question)

    @property
    def _parts(self) -> list[QuestionPart]:
        """The question in each group."""
        return [group.questions[self._place] for group in self.document.groups]

    @cached_property
    def among(self) -> list[AnswerByGroup]:
        """Of a question that was put to some only, every answer among those who were asked and answered, by group.

        Such shares are ratios within a group: they have no total by weights of all people.
        """
        if self.question.show_if is None:
            return []
        groups = [_named(part.answered) for part in self._parts]
        return self._by_answer(groups, [{} for _ in groups], {})

    @property
    def lists(self) -> list[tuple[str, list[AnswerByGroup]]]:
        """What the tables show, each with its heading, which one alone does not need."""
        if not self.among:
            return [("", self.answers)]
        return [(f"{AMONG[0].upper()}{AMONG[1:]}", self.among), (f"{OF_ALL[0].upper()}{OF_ALL[1:]}", self.answers)]

    def called(self, answer: AnswerByGroup) -> str:
        """Our own word for an answer that is none of the author's; empty for theirs."""
        return NOT_ASKED if self.question.show_if and answer.kind == FigureKind.NO_ANSWER else ""

    @property
    def test(self) -> Test | None:
        """Whether chance explains how the groups differ, where that can be tested."""
        return next((one.test for one in self.document.tests if one.id == self.question.id), None)

    @cached_property
    def answers(self) -> list[AnswerByGroup]:
        """Every answer that some group has a line for."""
        groups = [_named(part.estimates) for part in self._parts]
        total = self.document.total
        whole = _named(total.questions[self._place].estimates) if total and total.questions else {}
        differences = [
            dict(_compared(groups[0], other, one.questions[self._place].estimates))
            for other, one in zip(groups[1:], self.document.differences, strict=True)
        ]
        return self._by_answer(groups, [{}, *differences], whole)

    def _by_answer(self, groups: Sequence[Named], differences: Sequence[Named], total: Named) -> list[AnswerByGroup]:
        """Return the answers in the order in which they are read, from the named lines of each group."""
        called = [group.group for group in self.document.groups]
        lines = in_order([self.question], [line for named in groups for line in named.values()])
        return [
            AnswerByGroup(
                *name,
                [
                    (group, named.get(name), gaps.get(name))
                    for group, named, gaps in zip(called, groups, differences, strict=True)
                ],
                total.get(name),
            )
            for name in _named(lines)
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

    def instead(self, answer: AnswerByGroup, line: Line | None) -> str:
        """What stands in place of an estimate, or of a difference, that says nothing."""
        return self.view.instead(line, self.within(answer.kind)) if line else ""

    def forms(self, kind: str) -> tuple[Format, Format]:
        """How the figures of a kind and their differences are written: with the same number of decimals."""
        mean = FigureKind.MEAN
        answers = [answer for answer in [*self.among, *self.answers] if (answer.kind == mean) == (kind == mean)]
        lines = [line for answer in answers for _, line in answer.lines]
        if kind == mean:
            return (mean_format(lines, self.view, self.question.unit),) * 2
        return share_format(lines, self.view), point_format(lines, self.view)

    @property
    def plots(self) -> Iterator[Plot]:
        """All groups in one plot, shares and means apart; nothing where they are too many to look at.

        Of a question that was put to some only, the shares are of those.
        """
        means = [answer for answer in self.answers if answer.kind == FigureKind.MEAN]
        shares = self.among or [answer for answer in self.answers if answer.kind != FigureKind.MEAN]
        for kind, suffix in ((FigureKind.SHARE, "groups"), (FigureKind.MEAN, "mean.groups")):
            is_mean = kind is FigureKind.MEAN
            rows = [
                (name if is_mean else f"{answer.option} · {name}", line)
                for answer in (means if is_mean else shares)
                for name, line in answer.lines
                if is_known(line)
            ]
            lines = [line for _, line in rows]
            if 0 < len(lines) <= GROUPS_PLOTTED:
                svg = intervals(
                    rows_of(lines, self.view, [label for label, _ in rows], within=self.within(kind)),
                    title=f"{self.question.text} (by group)",
                    name=f"groups-{kind}-{self.question.id}",
                    percent=not is_mean,
                    unit=self.question.unit if is_mean else "",
                    note=f"{f'{AMONG}; ' if self.among else ''}{self.view.note(lines)}",
                    words=self.view.words,
                    zoomed=self.view.zoomed,
                    standalone=self.view.standalone,
                )
                yield Plot(f"{self.question.id}.{suffix}", svg)


def _named(lines: Sequence[Line]) -> dict[Name, Line]:
    return {(line.option, line.kind): line for line in lines}


def _compared(first: Named, other: Named, differences: Sequence[Line]) -> Iterator[tuple[Name, Line]]:
    """Differences with the names of what they compare: the lines that both groups have, in the order of the first."""
    return zip((name for name in first if name in other), differences, strict=True)


def compare_groups(survey: Survey, document: Study, view: View) -> list[GroupComparison]:
    """Return all questions, in their order."""
    return [GroupComparison(survey, question, document, view) for question in survey.questions]


@lru_cache(maxsize=4)
def _read_comparison(snapshots: tuple[Snapshot, ...], options: Options, weights: Weights | None) -> Study:
    members = [(one.published.survey, one.tally) for one in snapshots]
    return groups_document(members, options, dict(weights) if weights else None)


def compare_surveys(snapshot: Snapshot, choices: Choices, view: View) -> tuple[list[GroupComparison], list[str]]:
    """Return a survey side by side with those that the reader chose, or why it is not."""
    snapshots, messages = [snapshot], []
    if len(choices.others) > MOST_GROUPS:
        messages.append(f"At most {MOST_GROUPS} surveys can stand beside this one; these are the first.")
    for slug in choices.others[:MOST_GROUPS]:
        try:
            other = readable(visible(slug))
        except Problem:
            messages.append(f"There is no survey “{slug}” whose results you may see.")
            continue
        if other.survey.slug != snapshot.published.survey.slug:
            snapshots.append(Snapshot.of(other))
    if len(snapshots) == 1:
        return [], messages
    population = choices.options.population
    if population is not None and population < max(one.reports for one in snapshots):
        fewer = numbers.count(population)
        return [], [*messages, f"Not side by side: one of the surveys has more than {fewer} reports."]
    slugs = [one.published.survey.slug for one in snapshots]
    weights = None
    try:
        weights = weights_of(choices.typed, [(slug, slug) for slug in slugs])
    except GroupsError as error:
        messages.append(f"No total: {error}.")
    try:
        document = _read_comparison(tuple(snapshots), choices.options, weights)
    except GroupsError as error:
        return [], [*messages, f"Not side by side: {error}."]
    return compare_groups(snapshot.published.survey, document, view), messages


def comparable_surveys(published: Published) -> list[Published]:
    """Return surveys of the reader, or shared with them, that ask the same questions."""
    user = reader()
    alike: list[Published] = []
    for other in (*store().surveys(user.key), *store().shared_with(user.key)) if user else ():
        if other.survey.slug == published.survey.slug or other.state is State.READY:
            continue
        try:
            check_same([published.survey, other.survey])
        except GroupsError:
            continue
        alike.append(other)
    return alike
