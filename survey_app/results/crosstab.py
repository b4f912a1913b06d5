"""Two questions at once, as a document like the results."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from client.definition import Survey
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import Cell
from survey_app.results.document import TOO_FEW, numbers
from survey_app.tally import Bits, Tally


def crosstab_document(
    survey: Survey, tally: Tally, scan: Iterable[Bits], rows: str, columns: str, options: Options
) -> dict[str, Any]:
    """Two questions: cells, shares within rows, differences to the first row, a test of independence."""
    found = crosstab(survey, rows, columns, tally, scan, options)

    def lines(cells: Sequence[Cell]) -> list[dict[str, Any]]:
        return [{"options": list(cell.options), **numbers(cell.estimate)} for cell in cells]

    about = {"survey": survey.digest, "rows": rows, "columns": columns}
    if not found.cells:
        return {**about, "n": found.n, **TOO_FEW}
    return {
        **about,
        "n": found.n,
        "confidence": options.confidence,
        "row_options": list(found.rows),
        "column_options": list(found.columns),
        "estimates": lines(found.cells),
        "within_rows": lines(found.within),
        "differences": lines(found.differences),
        "test": found.test and asdict(found.test),
    }
