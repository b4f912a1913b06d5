"""The results as a CSV table that researchers download: its columns, and the format of its cells.

The table has a column for every key of a `Line` except its names, so a new key of the document is a new column.
Results also have p and q: the chance that a device sends what `reported` counts if the option is the respondent's
answer, and if it is not. Both come from the published integers, and `unbiased` = (`reported` − q)/(p − q). They are
empty for a figure that is not one share of the sent symbols: a mean, a ratio, a difference, or a sum over several
symbols where a report names several. (`export` writes the raw data as another CSV.)
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import UNSET
from msgspec.structs import fields

from candor_client.definition import Field, Survey
from survey_app.channels import channel_of
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab
from survey_app.results.group_document import Study
from survey_app.results.regression_document import CoefficientLine, Regression
from survey_app.results.survey_document import Line, Results, TablePart, table_rows

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = tuple(field.name for field in fields(Line) if field.name not in ("option", "options"))
HEAD = ("list", "question", "option", *COLUMNS, "p", "q")
Row = list[Any]


def escape_formula(text: str) -> str:
    """Prefix text with an apostrophe if a spreadsheet could take it for a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text


def results_table(survey: Survey, document: Results) -> Iterator[Row]:
    """Yield the head, then a row for every estimate of a survey."""
    yield ["slug", "digest", *HEAD]
    for row in _rows(_map_fields(survey), document.parts):
        yield [survey.slug, survey.digest, *row]


def study_table(surveys: Sequence[Survey], study: Study) -> Iterator[Row]:
    """Yield the head, then a row for every estimate of each group, of the total and of the differences.

    The total and the differences belong to no single survey, so their slug and digest are empty.
    """
    yield ["group", "slug", "digest", *HEAD]
    field_maps = [_map_fields(survey) for survey in surveys]  # the surveys may randomize differently
    identities = [survey.slug for survey in surveys], [survey.digest for survey in surveys]
    for (name, parts), field_map, slug, digest in zip_longest(study.named_parts, field_maps, *identities):
        for row in _rows(field_map or field_maps[0], parts):
            yield [escape_formula(name), slug, digest, *row]


def _rows(field_map: Mapping[str, Field], parts: Iterable[TablePart]) -> Iterator[Row]:
    for list_name, name, line in table_rows(parts):
        yield [
            list_name,
            name,
            escape_formula(line.name),
            *list_cells(line),
            *find_coin_probabilities(field_map[name], line),
        ]


def _map_fields(survey: Survey) -> dict[str, Field]:
    """Return the field of each question, and the field of each set of questions that were randomized together."""
    by_question = {question.id: field for field in survey.fields for question in field.questions}
    return by_question | {
        " + ".join(question.id for question in field.questions): field for field in survey.fields if field.joint
    }


def find_coin_probabilities(field: Field, line: Line) -> tuple[float | None, float | None]:
    """Return p and q of a line, which turn its `reported` into its `unbiased`; None and None if it is not one share."""
    if line.reported is None or line.unbiased is None:
        return None, None
    coin = channel_of(field.mechanism).share_coin(line.reported, line.unbiased)
    return (float(coin[0]), float(coin[1])) if coin else (None, None)


def crosstab_table(rows: str, columns: str, document: Crosstab | EmptyCrosstab) -> Iterator[Row]:
    """Yield the head, then a row for every figure of a cross-tab."""
    yield ["list", rows, columns, *COLUMNS]
    for list_name, lines in document.lists.items():
        for line in lines:
            yield [list_name, *map(escape_formula, line.options), *list_cells(line)]


def regression_table(document: Regression) -> Iterator[Row]:
    """Yield the head, then a row for every coefficient of a regression."""
    names = [field.name for field in fields(CoefficientLine)]
    yield ["outcome", "answer", *names]
    for coefficient in document.coefficients:
        values = [getattr(coefficient, name) for name in names]
        yield [document.outcome, *(escape_formula(text) for text in (document.label, values[0])), *values[1:]]


def list_cells(line: Line) -> Row:
    """Return the values of a line in the order of COLUMNS; None where it has no value."""
    values = (getattr(line, name) for name in COLUMNS)
    return [None if value is UNSET else value for value in values]


def format_csv(rows: Iterable[Row]) -> str:
    """Format a table as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
