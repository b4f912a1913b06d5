"""The results as a CSV table that researchers download: which columns it has, and how a cell is written.

A column for every key of a `Line` but its names; so a new key of the document is a new column, on the page and in the
terminal alike. (The CSV of noisy bits is another one: `export`.)
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import fields

from survey_app.results.crosstab import Crosstab, EmptyCrosstab
from survey_app.results.document import Line, Part, table_rows
from survey_app.results.groups import Study

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = tuple(field.name for field in fields(Line) if field.name not in ("option", "options"))
Row = list[Any]


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text


def results_table(named: Iterable[tuple[str, Sequence[Part]]], whose: str = "survey") -> Iterator[Row]:
    """Every estimate as a row, under the name of its survey, group or comparison; the head first."""
    yield [whose, "list", "question", "option", *COLUMNS]
    for name, parts in named:
        for which, question, line in table_rows(parts):
            yield [neutral(name), which, question, neutral(line.name), *cells(line)]


def study_table(study: Study) -> Iterator[Row]:
    """The same for groups, their total and their differences."""
    return results_table(study.named_parts, "group")


def crosstab_table(rows: str, columns: str, document: Crosstab | EmptyCrosstab) -> Iterator[Row]:
    """Every figure of a cross-tab as a row; the head first."""
    yield ["list", rows, columns, *COLUMNS]
    for which, lines in document.lists.items():
        for line in lines:
            yield [which, *map(neutral, line.options), *cells(line)]


def cells(line: Line) -> Row:
    """What a line has in each of COLUMNS."""
    values = (getattr(line, name) for name in COLUMNS)
    return [None if value is UNSET else value for value in values]


def csv_text(rows: Iterable[Row]) -> str:
    """A table as a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
