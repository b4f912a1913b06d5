"""Cross-tabs of two questions, or of two options of one question, as documents like the results."""

from collections.abc import Iterable
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from candor_client.definition import Survey
from survey_app.authoring.design.blocks import DesignQuestion, compute_joint_cost_ratio
from survey_app.authoring.fields import has_too_many_cells
from survey_app.authoring.response_rate import predict_response_rate
from survey_app.channels import channel_of
from survey_app.estimate.contingency import SeparateBlocksError
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.option_pairs import find_option, is_option_name
from survey_app.languages.numbers import format_quantity
from survey_app.results.denominators import EVERYBODY, describe_base
from survey_app.results.survey_document import TOO_FEW, Line, Note, cell_line
from survey_app.tally import Bits, Tally, columns_of

TestNote = Literal["too few reports for a test"]
TOO_FEW_TO_TEST: TestNote = "too few reports for a test"


class Crosstab(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Cells, shares within rows, differences from the first row, and a test of independence.

    `base` describes the devices that n counts. Where one question hides the other, some combinations cannot occur:
    these have no lines, and there is no test. There is no test either if too few reports name some combination; then
    `note` says so.
    """

    survey: str
    rows: str
    columns: str
    n: int
    base: str
    confidence: float
    row_options: tuple[str, ...]
    column_options: tuple[str, ...]
    estimates: tuple[Line, ...]
    within_rows: tuple[Line, ...]
    differences: tuple[Line, ...]
    test: Test | None
    note: TestNote | UnsetType = UNSET

    @property
    def has_gaps(self) -> bool:
        """Return whether some combinations cannot occur."""
        return len(self.estimates) < len(self.row_options) * len(self.column_options)

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """Return the lines of the cross-tab, by list."""
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
        """Return no lists."""
        return {}


def make_crosstab(
    survey: Survey, tally: Tally, scan: Iterable[Bits], rows: str, columns: str, options: Options
) -> Crosstab | EmptyCrosstab:
    """Return the cross-tab of two questions, or of two options of one; an EmptyCrosstab if too few reports answer both.

    Raise SeparateBlocksError with the cost of a joint design if the two questions are not randomized together.
    """
    try:
        result = crosstab(survey, rows, columns, tally, scan, options)
    except SeparateBlocksError as error:
        raise SeparateBlocksError(f"{error}{_describe_joint_cost(survey, rows, columns)}") from None
    if not result.cells:
        return EmptyCrosstab(survey=survey.digest, rows=rows, columns=columns, n=result.n, estimates=(), note=TOO_FEW)
    document = Crosstab(
        survey=survey.digest,
        rows=rows,
        columns=columns,
        n=result.n,
        base=_describe_crosstab_base(survey, rows, columns),
        confidence=options.confidence,
        row_options=result.rows,
        column_options=result.columns,
        estimates=tuple(map(cell_line, result.cells)),
        within_rows=tuple(map(cell_line, result.within)),
        differences=tuple(map(cell_line, result.differences)),
        test=result.test,
    )
    is_untested = document.test is None and not document.has_gaps
    return replace(document, note=TOO_FEW_TO_TEST) if is_untested else document


def _describe_joint_cost(survey: Survey, *names: str) -> str:
    """Describe how many respondents two questions need jointly, relative to separately."""
    questions = [
        DesignQuestion(question, place, predict_response_rate(question, survey.questions), 1.0)
        for place, question in enumerate(survey.questions)
        if question.id in names
    ]
    if has_too_many_cells([question.question for question in questions]):
        return ", and give them fewer options: they have too many combinations"
    price = compute_joint_cost_ratio(questions, float(survey.epsilon))
    saving = ", a saving" if price < 1 else ""
    return f" (together they need {format_quantity(price)} times as many respondents as separately{saving})"


def _describe_crosstab_base(survey: Survey, rows: str, columns: str) -> str:
    """Describe the devices that n counts."""
    if is_option_name(rows):
        question, _ = find_option(survey, rows)
        field = columns_of(survey, question.id).field
        if not channel_of(field.mechanism).reads_answers:
            return describe_base(survey, field, question) or EVERYBODY
        skipped = "; no answer counts as choosing neither" if question.optional else ""
        return f"devices asked about both options{skipped}"
    field = columns_of(survey, rows).field
    questions = [question for question in field.questions if question.id in (rows, columns)]
    return (describe_base(survey, field, *questions) if len(questions) == 2 else "") or EVERYBODY
