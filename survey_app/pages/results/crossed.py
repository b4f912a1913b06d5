"""Two questions crossed, as tables and a plot, with yes before no as everywhere on the page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from client.definition import Survey
from client.question import Question
from survey_app.charts import intervals
from survey_app.charts.axes import Format
from survey_app.estimate.conditions import occurring
from survey_app.estimate.pairs import names_option
from survey_app.estimate.question import joint_members
from survey_app.pages.results.figures import (
    MOST_PLOTTED,
    Plot,
    View,
    is_known,
    point_format,
    rows_of,
    share_format,
)
from survey_app.results import reading
from survey_app.results.asked import EVERYBODY
from survey_app.results.crosstab import Crosstab
from survey_app.results.document import Line
from survey_app.tally import columns_of

Place = tuple[int, int]  # row and column


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
            form = point_format(within, self.view)  # as many decimals as the shares that they are made of
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
        return [(i, j) for i, j in np.argwhere(occurring(self.survey, self.rows, self.columns)).tolist()]

    @property
    def _compared(self) -> list[Place]:
        """Those that differ from one in the first row: not where a row has only one."""
        several = {i for i, count in Counter(i for i, _ in self._possible).items() if count > 1}
        return [(i, j) for i, j in self._possible if i and {i, 0} <= several and (0, j) in self._possible]

    def _by_row(self, places: Sequence[Place], lines: Sequence[Line]) -> list[tuple[str, list[Line | None]]]:
        """The rows that have lines; a row is told by its place, since two answers may have the same name."""
        at = dict(zip(places, lines, strict=True))
        names, filled = self.document.row_options, {i for i, _ in places}
        rows = [i for i in reading.places(self.rows, len(names)) if i in filled]
        return [(names[i], [at.get((i, j)) for j in self._columns]) for i in rows]

    @property
    def _columns(self) -> list[int]:
        return reading.places(self.columns, len(self.document.column_options))

    @property
    def column_options(self) -> list[str]:
        """The answers above the columns, as they are read."""
        return [self.document.column_options[j] for j in self._columns]

    @property
    def plot(self) -> Plot | None:
        """The shares within rows, if they are few enough."""
        within = self._by_row(self._possible, self.document.within_rows)
        lines = [line for _, row in within for line in row if line is not None and is_known(line)]
        if not 0 < len(lines) <= MOST_PLOTTED:
            return None
        svg = intervals(
            rows_of(lines, self.view, [" · ".join(line.options) for line in lines]),
            title=f"{self.columns.text} Within each answer to: {self.rows.text}",
            name="plot-crosstab",
            note=self.view.note(lines, "" if self.document.base == EVERYBODY else self.document.base),
            words=self.view.words,
            zoomed=self.view.zoomed,
            standalone=self.view.standalone,
        )
        return Plot(f"{self.rows.id.partition(':')[0]}.crosstab", svg)
