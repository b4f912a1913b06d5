"""The results as a CSV table that researchers download: which columns it has, and how a cell is written.

A column for every key of a `Line` but its names; so a new key of the document is a new column, on the page and in the
terminal alike. Results also have p and q: the chance that a device sends what `reported` counts if the option is its
person's answer, and if it is not. Both come from the published integers, and `unbiased` = (`reported` − q)/(p − q).
They stand where `reported` does, and are empty for whatever is not one share of what was sent: a mean, a ratio, a
difference, a sum over several symbols of reports that name several. (The raw data are another CSV: `export`.)
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
from survey_app.results.survey_document import Line, Part, Results, table_rows

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
COLUMNS = tuple(field.name for field in fields(Line) if field.name not in ("option", "options"))
HEAD = ("list", "question", "option", *COLUMNS, "p", "q")
Row = list[Any]


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text


def results_table(survey: Survey, document: Results) -> Iterator[Row]:
    """Every estimate as a row; the head first."""
    yield ["slug", "digest", *HEAD]
    for row in _rows(_fields(survey), document.parts):
        yield [survey.slug, survey.digest, *row]


def study_table(surveys: Sequence[Survey], study: Study) -> Iterator[Row]:
    """The same for groups, each with its survey, then for their total and differences, which are of no survey alone."""
    yield ["group", "slug", "digest", *HEAD]
    held = [_fields(survey) for survey in surveys]  # surveys side by side may randomize differently
    named = [survey.slug for survey in surveys], [survey.digest for survey in surveys]
    for (name, parts), fields_of, slug, digest in zip_longest(study.named_parts, held, *named):
        for row in _rows(fields_of or held[0], parts):
            yield [neutral(name), slug, digest, *row]


def _rows(held: Mapping[str, Field], parts: Iterable[Part]) -> Iterator[Row]:
    for which, name, line in table_rows(parts):
        yield [which, name, neutral(line.name), *cells(line), *chances(held[name], line)]


def _fields(survey: Survey) -> dict[str, Field]:
    """The field behind each question, and behind those that were randomized together."""
    found = {question.id: field for field in survey.fields for question in field.questions}
    return found | {" + ".join(one.id for one in field.questions): field for field in survey.fields if field.joint}


def chances(field: Field, line: Line) -> tuple[float | None, float | None]:
    """Return p and q of a line, by which its `reported` becomes its `unbiased`; None where it has no such share."""
    if line.reported is None or line.unbiased is None:
        return None, None
    coin = channel_of(field.mechanism).share_coin(line.reported, line.unbiased)
    return (float(coin[0]), float(coin[1])) if coin else (None, None)


def crosstab_table(rows: str, columns: str, document: Crosstab | EmptyCrosstab) -> Iterator[Row]:
    """Every figure of a cross-tab as a row; the head first."""
    yield ["list", rows, columns, *COLUMNS]
    for which, lines in document.lists.items():
        for line in lines:
            yield [which, *map(neutral, line.options), *cells(line)]


def regression_table(document: Regression) -> Iterator[Row]:
    """Every coefficient as a row; the head first."""
    names = [field.name for field in fields(CoefficientLine)]
    yield ["outcome", "answer", *names]
    for one in document.coefficients:
        values = [getattr(one, name) for name in names]
        yield [document.outcome, *(neutral(text) for text in (document.label, values[0])), *values[1:]]


def cells(line: Line) -> Row:
    """What a line has in each of COLUMNS."""
    values = (getattr(line, name) for name in COLUMNS)
    return [None if value is UNSET else value for value in values]


def csv_text(rows: Iterable[Row]) -> str:
    """A table as a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
