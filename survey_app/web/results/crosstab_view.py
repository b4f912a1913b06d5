"""A cross-tab on the results page: tables and a plot, with yes before no as everywhere on the page."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.contingency import PairError
from survey_app.estimate.intervals import Options
from survey_app.estimate.option_pairs import is_option_name, option_question
from survey_app.estimate.possible_pairs import possible_cells
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.languages.number_format import Format
from survey_app.results import row_order
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab, make_crosstab
from survey_app.results.denominators import EVERYBODY
from survey_app.results.survey_document import Line
from survey_app.web.access import check_scan
from survey_app.web.charts import intervals
from survey_app.web.results.plots import MOST_PLOTTED, Plot, View, chart_rows, is_known, point_format, share_format
from survey_app.web.results.reader_choices import Choices, Notice
from survey_app.web.results.results_cache import Snapshot

Place = tuple[int, int]  # row and column


class CrosstabTable(NamedTuple):
    """Estimates by row and column, None where there is nothing to estimate, and their number format."""

    key: str
    heading: str
    rows: list[tuple[str, list[Line | None]]]
    form: Format


@dataclass(frozen=True)
class CrosstabView:
    """A cross-tab of two questions, or of two options of one question, which are each treated as a yes or no."""

    survey: Survey
    rows: Question
    columns: Question
    document: Crosstab
    view: View

    @classmethod
    def of(cls, survey: Survey, document: Crosstab, view: View) -> "CrosstabView":
        """Return the view of a document."""
        return cls(survey, _find_side(survey, document.rows), _find_side(survey, document.columns), document, view)

    @property
    def intervals(self) -> int:
        """The number of intervals that the tables show."""
        return sum(map(len, self.document.lists.values()))

    @property
    def tables(self) -> list[CrosstabTable]:
        """The tables of cells, of shares within rows, and of differences from the first row."""
        cells, within, differences = self.document.lists.values()
        tables = [
            CrosstabTable("estimates", f"Cells: shares of {self.document.base}",
                          self._by_row(self._possible_places, cells), share_format(cells, self.view)),
            CrosstabTable("within_rows", "Within rows: of those in a row, the share in each column",
                          self._by_row(self._possible_places, within), share_format(within, self.view)),
        ]  # fmt: skip
        if differences:
            first = self.document.row_options[0]
            heading = f"Differences: each row's shares minus those of “{first}”, in percentage points"
            form = point_format(within, self.view)  # as many decimals as the shares that they are made of
            tables.append(
                CrosstabTable("differences", heading, self._by_row(self._comparable_places, differences), form)
            )
        return tables

    @cached_property
    def _possible_places(self) -> list[Place]:
        """The combinations that can occur, by row and column."""
        if is_option_name(self.rows.id):
            rows, columns = self.document.row_options, self.document.column_options
            return [(rows.index(line.options[0]), columns.index(line.options[1])) for line in self.document.estimates]
        return [(i, j) for i, j in np.argwhere(possible_cells(self.survey, self.rows, self.columns)).tolist()]

    @property
    def _comparable_places(self) -> list[Place]:
        """The places whose share has a difference from the first row.

        A row with only one possible cell, and a column whose first cell is impossible, have no differences.
        """
        several = {i for i, count in Counter(i for i, _ in self._possible_places).items() if count > 1}
        return [(i, j) for i, j in self._possible_places if i and {i, 0} <= several and (0, j) in self._possible_places]

    def _by_row(self, places: Sequence[Place], lines: Sequence[Line]) -> list[tuple[str, list[Line | None]]]:
        """Return the rows that have lines. A row is identified by its place, because two answers may share a name."""
        at = dict(zip(places, lines, strict=True))
        names, filled = self.document.row_options, {i for i, _ in places}
        rows = [i for i in row_order.order_answers(self.rows, len(names)) if i in filled]
        return [(names[i], [at.get((i, j)) for j in self._columns]) for i in rows]

    @property
    def _columns(self) -> list[int]:
        return row_order.order_answers(self.columns, len(self.document.column_options))

    @property
    def column_options(self) -> list[str]:
        """The answers above the columns, in reading order."""
        return [self.document.column_options[j] for j in self._columns]

    @property
    def plot(self) -> Plot | None:
        """The plot of the shares within rows; None if there are none or too many."""
        within = self._by_row(self._possible_places, self.document.within_rows)
        lines = [line for _, row in within for line in row if line is not None and is_known(line)]
        if not 0 < len(lines) <= MOST_PLOTTED:
            return None
        svg = intervals(
            chart_rows(lines, self.view, [" · ".join(line.options) for line in lines]),
            title=f"{self.columns.text} Within each answer to: {self.rows.text}",
            name="plot-crosstab",
            note=self.view.note(lines, self.document.base if self.document.base != EVERYBODY else ""),
            words=self.view.words,
            zoomed=self.view.zoomed,
            standalone=self.view.standalone,
        )
        return Plot(f"{self.rows.id.partition(':')[0]}.crosstab", svg)

    @property
    def file_name(self) -> str:
        """The name of the file of this cross-tab, without a suffix."""
        return crosstab_file_name(self.document.rows, self.document.columns)


def _find_side(survey: Survey, name: str) -> Question:
    """Return the question of the rows or columns. An option, named QUESTION:OPTION, becomes a yes-or-no question."""
    if is_option_name(name):
        return option_question(survey, name)
    return next(question for question in survey.questions if question.id == name)


def crosstab_file_name(rows: str, columns: str) -> str:
    """Return the name of a cross-tab's file, without the characters that a file name cannot hold."""
    return "-by-".join(re.sub(r"[^\w-]+", "-", name) for name in (rows, columns))


def read_crosstab(snapshot: Snapshot, rows: str, columns: str, options: Options) -> Crosstab | EmptyCrosstab:
    """Return a cross-tab as the API returns it. Raise PairError if it is impossible or has too many reports."""
    check_scan(snapshot.published, snapshot.reports)
    return _scan_crosstab(snapshot, rows, columns, options)


@lru_cache(maxsize=8)
def _scan_crosstab(snapshot: Snapshot, rows: str, columns: str, options: Options) -> Crosstab | EmptyCrosstab:
    published = snapshot.published
    with snapshot.store.open_snapshot(published) as (tally, bits):
        return make_crosstab(published.survey, tally, bits, rows, columns, options)


def view_crosstab(snapshot: Snapshot, choices: Choices, view: View) -> tuple[CrosstabView | None, list[Notice]]:
    """Return the cross-tab that the reader chose, or None with the reasons why there is none."""
    if not choices.rows and not choices.columns:
        return None, []
    if not choices.rows or not choices.columns:
        lacking, code = ("columns", RefusalCode.MISSING_COLUMNS) if choices.rows else ("rows", RefusalCode.MISSING_ROWS)
        text = f"A cross-tab needs two questions. Choose one for the {lacking} too."
        return None, [Notice(code, text)]
    if choices.rows == choices.columns:
        text = "Rows and columns are the same. Choose two different questions, or two different options of one."
        return None, [Notice(RefusalCode.REPEATED, text)]
    try:
        document = read_crosstab(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        return None, [Notice(error.code, f"No cross-tab: {error}.")]
    if isinstance(document, EmptyCrosstab):
        text = f"No cross-tab: too few reports answer both questions ({document.n})."
        return None, [Notice(RefusalCode.TOO_FEW_REPORTS, text)]
    return CrosstabView.of(snapshot.published.survey, document, view), []
