"""One question compared across groups, or across surveys that ask the same questions, on one scale with a total."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.group_estimates import GroupsError, Range, check_same_questions, possible_range
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.figures import FigureKind
from survey_app.kinds import kind_of
from survey_app.languages import numbers
from survey_app.languages.number_format import Format
from survey_app.problems import Problem
from survey_app.results.denominators import describe_condition
from survey_app.results.group_document import TOTAL, Study, compare_groups
from survey_app.results.row_order import AMONG_ANSWERED, NOT_ASKED, OF_ALL, sort_lines
from survey_app.results.survey_document import Line, QuestionPart
from survey_app.store import PublishedSurvey, State
from survey_app.web.access import find_visible, reader, require_readable, store
from survey_app.web.charts import intervals
from survey_app.web.results.plots import Plot, View, chart_rows, is_known, mean_format, point_format, share_format
from survey_app.web.results.reader_choices import MOST_GROUPS, Choices, Notice
from survey_app.web.results.results_cache import Snapshot
from survey_app.web.results.weights import Weights, parse_weights

GROUPS_PLOTTED = 60  # rows of one plot
AnswerName = tuple[str, str]  # an answer and its kind
LinesByName = Mapping[AnswerName, Line]


class AnswerByGroup(NamedTuple):
    """One answer in all groups: for each group its name, its estimate, and its difference from the first group.

    Estimate and difference are None where the group has none.
    """

    option: str
    kind: str
    groups: list[tuple[str, Line | None, Line | None]]
    total: Line | None

    @property
    def lines(self) -> list[tuple[str, Line]]:
        """The estimates with the names of their groups; the total is last."""
        pairs = [(name, line) for name, line, _ in self.groups if line]
        return [*pairs, (TOTAL, self.total)] if self.total else pairs

    @property
    def differences(self) -> list[Line]:
        """The differences from the first group."""
        return [difference for _, _, difference in self.groups if difference]


@dataclass(frozen=True)
class GroupComparison:
    """The comparison of one question across several groups."""

    survey: Survey
    question: Question
    document: Study
    view: View

    @property
    def first_group(self) -> str:
        """The name of the first group, to which the other groups are compared."""
        return self.document.groups[0].group

    @property
    def condition(self) -> str:
        """The condition of the question, and the base of its figures; empty if everybody was asked."""
        text = describe_condition(self.survey, self.question)
        if not text:
            return ""
        if not kind_of(self.question).has_shares(self.question):
            return f"{text}. Means are among those who were asked and answered."
        return self.document.describe_condition(self._place) if self.answers_among_asked else f"{text}."

    @property
    def intervals(self) -> int:
        """The number of intervals shown, except those of the first group."""
        return sum(
            len(answer.lines) - 1 + len(answer.differences)
            for answer in [*self.answers_among_asked, *self.answers]
            if answer.lines
        )

    @cached_property
    def _place(self) -> int:
        return self.survey.questions.index(self.question)

    @property
    def _parts(self) -> list[QuestionPart]:
        """The question in each group."""
        return [group.questions[self._place] for group in self.document.groups]

    @cached_property
    def answers_among_asked(self) -> list[AnswerByGroup]:
        """The answers of a conditional question, among the people who were asked and answered; otherwise empty.

        These shares are ratios within a group, so they have no total weighted by group size.
        """
        if self.question.show_if is None:
            return []
        groups = [_lines_by_name(part.answered) for part in self._parts]
        return self._by_answer(groups, [{} for _ in groups], {})

    @property
    def lists(self) -> list[tuple[str, list[AnswerByGroup]]]:
        """The tables of answers, each with its heading. A single table has no heading."""
        if not self.answers_among_asked:
            return [("", self.answers)]
        return [
            (f"{AMONG_ANSWERED[0].upper()}{AMONG_ANSWERED[1:]}", self.answers_among_asked),
            (f"{OF_ALL[0].upper()}{OF_ALL[1:]}", self.answers),
        ]

    def own_word(self, answer: AnswerByGroup) -> str:
        """Return our own word for an answer that the author did not write, such as “not asked”; else empty."""
        return NOT_ASKED if self.question.show_if and answer.kind == FigureKind.NO_ANSWER else ""

    @property
    def test(self) -> Test | None:
        """The test whether chance explains the differences of the groups; None where there is no test."""
        return next((test.test for test in self.document.tests if test.id == self.question.id), None)

    @cached_property
    def answers(self) -> list[AnswerByGroup]:
        """All answers for which at least one group has an estimate."""
        groups = [_lines_by_name(part.estimates) for part in self._parts]
        total = self.document.total
        total_lines = _lines_by_name(total.questions[self._place].estimates) if total and total.questions else {}
        differences = [
            dict(_differences_by_answer(groups[0], other, document.questions[self._place].estimates))
            for other, document in zip(groups[1:], self.document.differences, strict=True)
        ]
        return self._by_answer(groups, [{}, *differences], total_lines)

    def _by_answer(
        self, groups: Sequence[LinesByName], differences: Sequence[LinesByName], total: LinesByName
    ) -> list[AnswerByGroup]:
        """Return the answers in reading order, given the estimates of each group, its differences, and the total."""
        names = [group.group for group in self.document.groups]
        lines = sort_lines([self.question], [line for lines_by_name in groups for line in lines_by_name.values()])
        return [
            AnswerByGroup(
                *name,
                [
                    (group, lines_by_name.get(name), gaps.get(name))
                    for group, lines_by_name, gaps in zip(names, groups, differences, strict=True)
                ],
                total.get(name),
            )
            for name in _lines_by_name(lines)
        ]

    @property
    def total_name(self) -> str:
        """The label of the row of the total."""
        total = self.document.total
        return "Total, by these weights" if total and total.given else "Total, by size"

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(len(answer.groups) + bool(answer.total) for answer in [*self.answers_among_asked, *self.answers])

    def value_range(self, kind: str) -> Range:
        """Return the range of possible values of figures of a kind."""
        return possible_range(self.question, kind)

    def replacement(self, answer: AnswerByGroup, line: Line | None) -> str:
        """Return the text that replaces an uninformative estimate or difference; empty for others."""
        return self.view.replacement(line, self.value_range(answer.kind)) if line else ""

    def forms(self, kind: str) -> tuple[Format, Format]:
        """Return the formats for figures of a kind and for their differences, with the same number of decimals."""
        mean = FigureKind.MEAN
        answers = [
            answer for answer in [*self.answers_among_asked, *self.answers] if (answer.kind == mean) == (kind == mean)
        ]
        lines = [line for answer in answers for _, line in answer.lines]
        if kind == mean:
            return (mean_format(lines, self.view, self.question.unit),) * 2
        return share_format(lines, self.view), point_format(lines, self.view)

    @property
    def plots(self) -> Iterator[Plot]:
        """Yield a plot of the shares and a plot of the means of all groups, except where there are too many rows.

        The shares of a conditional question are those among the people who were asked and answered.
        """
        means = [answer for answer in self.answers if answer.kind == FigureKind.MEAN]
        shares = self.answers_among_asked or [answer for answer in self.answers if answer.kind != FigureKind.MEAN]
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
                    chart_rows(lines, self.view, [label for label, _ in rows], within=self.value_range(kind)),
                    title=f"{self.question.text} (by group)",
                    name=f"groups-{kind}-{self.question.id}",
                    percent=not is_mean,
                    unit=self.question.unit if is_mean else "",
                    note=f"{f'{AMONG_ANSWERED}; ' if self.answers_among_asked else ''}{self.view.note(lines)}",
                    words=self.view.words,
                    zoomed=self.view.zoomed,
                    standalone=self.view.standalone,
                )
                yield Plot(f"{self.question.id}.{suffix}", svg)


def _lines_by_name(lines: Sequence[Line]) -> dict[AnswerName, Line]:
    return {(line.option, line.kind): line for line in lines}


def _differences_by_answer(
    first: LinesByName, other: LinesByName, differences: Sequence[Line]
) -> Iterator[tuple[AnswerName, Line]]:
    """Return differences with the answers they compare: those of both groups, in the order of the first group."""
    return zip((name for name in first if name in other), differences, strict=True)


def build_comparisons(survey: Survey, document: Study, view: View) -> list[GroupComparison]:
    """Return a comparison for each question of a study, in order."""
    return [GroupComparison(survey, question, document, view) for question in survey.questions]


@lru_cache(maxsize=4)
def _read_comparison(snapshots: tuple[Snapshot, ...], options: Options, weights: Weights | None) -> Study:
    members = [(snapshot.published.survey, snapshot.tally) for snapshot in snapshots]
    return compare_groups(members, options, dict(weights) if weights else None)


def compare_surveys(snapshot: Snapshot, choices: Choices, view: View) -> tuple[list[GroupComparison], list[Notice]]:
    """Return the comparison of a survey with the surveys that the reader chose, and messages about problems.

    The comparison is empty if no other survey was chosen, or if the surveys cannot be compared.
    """
    snapshots, messages = [snapshot], list[Notice]()
    if len(choices.other_slugs) > MOST_GROUPS:
        text = f"At most {MOST_GROUPS} surveys can be compared with this one; only the first are shown."
        messages.append(Notice(RefusalCode.TOO_MANY_SURVEYS, text))
    for slug in choices.other_slugs[:MOST_GROUPS]:
        try:
            other = require_readable(find_visible(slug))
        except Problem:
            text = f"There is no survey “{slug}”, or you may not see its results."
            messages.append(Notice(RefusalCode.UNKNOWN_SURVEY, text))
            continue
        if other.survey.slug != snapshot.published.survey.slug:
            snapshots.append(Snapshot.of(other))
    if len(snapshots) == 1:
        return [], messages
    population = choices.options.population
    if population is not None and population < max(item.reports for item in snapshots):
        text = f"No comparison: one survey has more reports than the population of {numbers.format_count(population)}."
        return [], [*messages, Notice(RefusalCode.SMALL_POPULATION, text)]
    slugs = [item.published.survey.slug for item in snapshots]
    weights = None
    try:
        weights = parse_weights(choices.typed_weights, [(slug, slug) for slug in slugs])
    except GroupsError as error:
        messages.append(Notice(error.code, f"No total: {error}."))
    try:
        document = _read_comparison(tuple(snapshots), choices.options, weights)
    except GroupsError as error:
        return [], [*messages, Notice(error.code, f"No comparison: {error}.")]
    return build_comparisons(snapshot.published.survey, document, view), messages


def comparable_surveys(published: PublishedSurvey) -> list[PublishedSurvey]:
    """Return the other surveys of the reader, or shared with the reader, that ask the same questions."""
    user = reader()
    matches: list[PublishedSurvey] = []
    for other in (*store().surveys(user.key), *store().shared_with(user.key)) if user else ():
        if other.survey.slug == published.survey.slug or other.state is State.READY:
            continue
        try:
            check_same_questions([published.survey, other.survey])
        except GroupsError:
            continue
        matches.append(other)
    return matches
