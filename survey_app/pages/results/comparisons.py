"""Two questions crossed, and surveys side by side, as tables and plots; from the documents of `study`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, zip_longest
from typing import NamedTuple

from client.definition import Survey
from client.question import Question
from survey_app.charts import intervals
from survey_app.charts.axes import Format
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.pairs import names_option
from survey_app.estimate.question import joint_members
from survey_app.pages.results.figures import (
    MOST_PLOTTED,
    Plot,
    View,
    is_known,
    mean_format,
    point_format,
    rows_of,
    share_format,
)
from survey_app.results.asked import EVERYBODY
from survey_app.results.crosstab import Crosstab
from survey_app.results.document import Line
from survey_app.results.groups import Study
from survey_app.tally import columns_of

Place = tuple[int, int]  # row and column
STRATA_PLOTTED = 60  # rows of one plot


class Table(NamedTuple):
    """Lines by row and column, None where there is nothing to estimate, and how their numbers are written."""

    key: str
    heading: str
    rows: list[tuple[str, list[Line | None]]]
    form: Format


@dataclass(frozen=True)
class Crossed:
    """Two questions at once."""

    survey: Survey
    rows: Question
    columns: Question
    document: Crosstab
    view: View

    @property
    def intervals(self) -> int:
        """How many there are to see."""
        return sum(map(len, self.document.lists.values()))

    @property
    def gaps(self) -> bool:
        """Whether some combinations cannot occur."""
        return len(self.document.estimates) < len(self.document.row_options) * len(self.document.column_options)

    @property
    def tables(self) -> list[Table]:
        """Cells, shares within rows, differences to the first row."""
        cells, within, differences = self.document.lists.values()
        tables = [
            Table("estimates", f"Cells: shares of {self.document.base}",
                  self._by_row(self._possible, cells), share_format(cells, self.view)),
            Table("within_rows", "Within rows: of those in a row, the share in each column",
                  self._by_row(self._possible, within), share_format(within, self.view)),
        ]  # fmt: skip
        if differences:
            first = self.document.row_options[0]
            told = f"Differences: each row's shares minus those of “{first}”, in percentage points"
            form = point_format(differences, self.view)
            tables.append(Table("differences", told, self._by_row(self._compared, differences), form))
        return tables

    @cached_property
    def _possible(self) -> list[Place]:
        """The combinations that can occur, by row and column."""
        if names_option(self.rows.id):
            rows, columns = self.document.row_options, self.document.column_options
            return [(rows.index(line.options[0]), columns.index(line.options[1])) for line in self.document.estimates]
        field = columns_of(self.survey, self.rows.id).field
        if self.columns in field.questions:
            return [(i, j) for i, j in joint_members(field, (self.rows, self.columns))]
        return list(product(range(len(self.document.row_options)), range(len(self.document.column_options))))

    @property
    def _compared(self) -> list[Place]:
        """Those that differ from one in the first row: not where a row has only one."""
        several = {i for i, count in Counter(i for i, _ in self._possible).items() if count > 1}
        return [(i, j) for i, j in self._possible if i and {i, 0} <= several and (0, j) in self._possible]

    def _by_row(self, places: Sequence[Place], lines: Sequence[Line]) -> list[tuple[str, list[Line | None]]]:
        """The rows that have lines; a row is told by its place, since two answers may have the same name."""
        at = dict(zip(places, lines, strict=True))
        names, width = self.document.row_options, len(self.document.column_options)
        return [(names[i], [at.get((i, j)) for j in range(width)]) for i in sorted({i for i, _ in places})]

    @property
    def plot(self) -> Plot | None:
        """The shares within rows, if they are few enough."""
        lines = [line for line in self.document.within_rows if is_known(line)]
        if not 0 < len(lines) <= MOST_PLOTTED:
            return None
        svg = intervals(
            rows_of(lines, self.view, [" · ".join(line.options) for line in lines]),
            title=f"{self.columns.text} Within each answer to: {self.rows.text}",
            name="plot-crosstab",
            note=self.view.note(lines, "" if self.document.base == EVERYBODY else self.document.base),
            words=self.view.words,
            standalone=self.view.standalone,
        )
        return Plot(f"{self.rows.id.partition(':')[0]}.crosstab", svg)


class Beside(NamedTuple):
    """One answer in several surveys: a line for each, and differences to the first."""

    option: str
    kind: str
    lines: list[Line | None]
    differences: list[Line | None]


@dataclass(frozen=True)
class Compared:
    """One question in several surveys."""

    survey: Survey
    question: Question
    document: Study
    view: View

    @property
    def intervals(self) -> int:
        """How many there are to see, besides those of the first survey."""
        return sum(bool(line) for one in self.answers for line in (*one.lines[1:], *one.differences))

    @property
    def test(self) -> Test | None:
        """Whether chance explains how the groups differ, where that can be tested."""
        return next((one.test for one in self.document.tests if one.id == self.question.id), None)

    @property
    def slugs(self) -> list[str]:
        return [stratum.slug for stratum in self.document.strata]

    @cached_property
    def answers(self) -> list[Beside]:
        """Every line of the first survey, with what the others have."""
        place = self.survey.questions.index(self.question)
        by_name: list[dict[tuple[str, str], Line]] = [
            {(line.option, line.kind): line for line in stratum.questions[place].estimates}
            for stratum in self.document.strata
        ]
        differences = [
            dict(_named(by_name[0], others, one.questions[place].estimates))
            for others, one in zip(by_name[1:], self.document.differences, strict=True)
        ]
        return [
            Beside(*name, [lines.get(name) for lines in by_name], [one.get(name) for one in differences])
            for name in by_name[0]
        ]

    def forms(self, kind: str) -> tuple[Format, Format]:
        """How the figures of a kind and their differences are written."""
        answers = [answer for answer in self.answers if (answer.kind == "mean") == (kind == "mean")]
        lines = [line for answer in answers for line in answer.lines if line]
        differences = [line for answer in answers for line in answer.differences if line]
        if kind == "mean":
            unit = self.question.unit
            return mean_format(lines, self.view, unit), mean_format(differences, self.view, unit)
        return share_format(lines, self.view), point_format(differences, self.view)

    @property
    def plots(self) -> Iterator[Plot]:
        """All surveys in one plot, shares and means apart; nothing where they are too many to look at."""
        for kind, suffix in (("share", "strata"), ("mean", "mean.strata")):
            lines, labels = [], []
            for answer in self.answers:
                if (answer.kind == "mean") != (kind == "mean"):
                    continue
                for slug, line in zip_longest(self.slugs, answer.lines):
                    if line and is_known(line):
                        lines.append(line)
                        labels.append(slug if kind == "mean" else f"{answer.option} · {slug}")
            if 0 < len(lines) <= STRATA_PLOTTED:
                svg = intervals(
                    rows_of(lines, self.view, labels),
                    title=f"{self.question.text} ({', '.join(self.slugs)})",
                    name=f"strata-{kind}-{self.question.id}",
                    percent=kind != "mean",
                    unit="" if kind != "mean" else self.question.unit,
                    note=self.view.note(lines),
                    words=self.view.words,
                    standalone=self.view.standalone,
                )
                yield Plot(f"{self.question.id}.{suffix}", svg)


def _named(
    first: Mapping[tuple[str, str], Line], other: Mapping[tuple[str, str], Line], differences: Sequence[Line]
) -> Iterator[tuple[tuple[str, str], Line]]:
    """Differences with the names of what they compare: the lines that both surveys have, in the order of the first."""
    return zip((name for name in first if name in other), differences, strict=True)
