"""Two questions at once, as a document like the results."""

from collections.abc import Iterable
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from client.definition import Survey
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.results.document import TOO_FEW, Line, Note, cell_line
from survey_app.tally import Bits, Tally

TestNote = Literal["too few reports for a test"]
TOO_FEW_TO_TEST: TestNote = "too few reports for a test"


class Crosstab(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cells, shares within rows, differences to the first row, a test of independence.

    Where one question hides the other in a joint field, some combinations cannot occur: these have no lines, and there
    is no test. Nor is there one where too few reports name some combination; then `note` says so.
    """

    survey: str
    rows: str
    columns: str
    n: int
    confidence: float
    row_options: tuple[str, ...]
    column_options: tuple[str, ...]
    estimates: tuple[Line, ...]
    within_rows: tuple[Line, ...]
    differences: tuple[Line, ...]
    test: Test | None
    note: TestNote | UnsetType = UNSET

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """Its lines, by the lists they are in."""
        return {"estimates": self.estimates, "within_rows": self.within_rows, "differences": self.differences}


class EmptyCrosstab(Struct, frozen=True, kw_only=True):
    """Too few reports answer both questions."""

    survey: str
    rows: str
    columns: str
    n: int
    estimates: tuple[Line, ...]
    note: Note

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """No lines."""
        return {}


def crosstab_document(
    survey: Survey, tally: Tally, scan: Iterable[Bits], rows: str, columns: str, options: Options
) -> Crosstab | EmptyCrosstab:
    """Two questions of a survey; EmptyCrosstab where there is nothing to tell."""
    crossed = crosstab(survey, rows, columns, tally, scan, options)
    if not crossed.cells:
        return EmptyCrosstab(survey=survey.digest, rows=rows, columns=columns, n=crossed.n, estimates=(), note=TOO_FEW)
    untested = len(crossed.cells) == len(crossed.rows) * len(crossed.columns)
    return Crosstab(
        survey=survey.digest,
        rows=rows,
        columns=columns,
        n=crossed.n,
        confidence=options.confidence,
        row_options=crossed.rows,
        column_options=crossed.columns,
        estimates=tuple(map(cell_line, crossed.cells)),
        within_rows=tuple(map(cell_line, crossed.within)),
        differences=tuple(map(cell_line, crossed.differences)),
        test=crossed.test,
        note=TOO_FEW_TO_TEST if crossed.test is None and untested else UNSET,
    )
