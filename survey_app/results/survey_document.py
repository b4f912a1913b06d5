"""Results as the API returns them: estimates with their intervals, from the snapshot of the tally.

Only these structs name keys: JSON, the columns of CSV and the schemas of the API description all follow from their
fields, in their order. JSON omits a key at its default.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.intervals import Coverage, Method, Options
from survey_app.estimate.quantiles import estimate_quantiles
from survey_app.estimate.question_estimates import Cell, Estimate, Evidence, evidence_of, family_estimates, joint_cells
from survey_app.figures import FamilyName, FigureKind
from survey_app.kinds import kind_of
from survey_app.results.denominators import BlockDraws, count_block_draws, describe_base, describe_condition
from survey_app.tally import Tally

Totals = Mapping[str, Sequence[Sequence[str]]]  # by question id: sets of labels
Note = Literal["not enough reports"]
TOO_FEW: Note = "not enough reports"
SMALLEST_GAP = 0.01


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One estimate with its intervals: for an `option`, or for several `options` at once, one of each question.

    `low` and `high`, with their `coverage`, refer to the population from which the respondents are a sample; `method`
    names the method that computed them. `sample_low` and `sample_high`, with their `sample_coverage`, refer to the
    respondents themselves, and are null where there is no such interval. A ratio has no unbiased estimate: `unbiased`
    is null. Only ratios have `raw`: the ratio of two unbiased sums, or null where the denominator is not positive.
    `reported` is the raw share of devices that sent the answer, or null where the figure does not follow from one such
    share.
    """

    option: str = ""
    options: tuple[str, ...] = ()
    kind: FigureKind
    n: int
    estimate: float
    low: float
    high: float
    unbiased: float | None
    raw: float | UnsetType | None = UNSET
    reported: float | None
    coverage: Coverage
    sample_low: float | None
    sample_high: float | None
    sample_coverage: Coverage | None
    method: Method

    @property
    def name(self) -> str:
        """The option, or the combination of options, in one cell of a table."""
        return self.option or " + ".join(self.options)


class Quantile(Struct, frozen=True, kw_only=True):
    """The answers that may hold a quantile."""

    level: float
    options: tuple[str, ...]
    n: int
    coverage: Coverage


class QuestionPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question: its shares in order, then its mean, then figures that are derived from the shares.

    `base` describes the devices that n counts, unless these are all. `condition` describes who was asked, unless it was
    everybody; then `answering` is the share of n that was asked and answered. `lowered` is set where many answers share
    few reports. It is how far the displayed share of the leading answer lies below its unbiased estimate, because all
    shares must be possible at once.
    """

    id: str
    type: str
    epsilon: float
    estimates: tuple[Line, ...]
    note: Note | UnsetType = UNSET
    base: str = ""
    condition: str = ""
    answering: Line | UnsetType = UNSET
    lowered: float = 0.0
    answered: tuple[Line, ...] = ()
    totals: tuple[Line, ...] = ()
    cumulative: tuple[Line, ...] = ()
    quantiles: tuple[Quantile, ...] = ()

    @property
    def name(self) -> str:
        """The name of this part in a table."""
        return self.id

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """The lines of this part, by list."""
        return {
            "estimates": self.estimates,
            "answered": self.answered,
            "totals": self.totals,
            "cumulative": self.cumulative,
        }


class JointPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Questions that were randomized together: every combination of their answers that can occur."""

    questions: tuple[str, ...]
    estimates: tuple[Line, ...]
    note: Note | UnsetType = UNSET
    base: str = ""

    @property
    def name(self) -> str:
        """The name of this part in a table."""
        return " + ".join(self.questions)

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """The lines of this part, by list."""
        return {"estimates": self.estimates}


class Targets(Struct, frozen=True, kw_only=True):
    """The people that each of the two kinds of intervals refers to, in words."""

    population: str
    sample: str


TARGETS = Targets(
    population="low and high refer to the population from which the respondents are a random sample: they account for"
    " who happened to answer, and for the randomization.",
    sample="sample_low and sample_high refer to these respondents only: they account for the randomization alone, and"
    " say nothing about other people.",
)


class Results(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All questions of a survey, and its joint fields; `asked` is set only where each device answers one block.

    If several surveys are compared, `group` is the name of each and `slug` its slug. `size` is the number of people in
    a group of a study, if it is known. `invited` counts the people invited, and `taken` those who have a ticket. Both
    are set only where this server invites people, and advance in steps like all counts.
    """

    group: str = ""
    size: int | UnsetType = UNSET
    slug: str = ""
    survey: str
    reports: int
    invited: int | UnsetType = UNSET
    taken: int | UnsetType = UNSET
    confidence: float
    simultaneous: bool = False
    narrow: bool = False
    population: int | None = None
    targets: Targets
    questions: tuple[QuestionPart, ...]
    joint: tuple[JointPart, ...]
    asked: BlockDraws | None = None

    @property
    def parts(self) -> tuple[QuestionPart | JointPart, ...]:
        """All parts that have lines."""
        return *self.questions, *self.joint


class TablePart(Protocol):
    """A part of a document, with a name and lists of lines."""

    @property
    def name(self) -> str: ...

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]: ...


def results(
    survey: Survey,
    tally: Tally,
    options: Options | None = None,
    totals: Totals | None = None,
    *,
    group: str = "",
    slug: str = "",
) -> Results:
    """Return the results document, as served by GET /api/surveys/<slug>/results."""
    options = options or Options()
    questions: dict[str, QuestionPart] = {}
    joint: list[JointPart] = []
    for evidence in evidence_of(survey, tally):
        field_questions = evidence.field.questions
        for question in field_questions:
            part = _make_question_part(evidence, question, options, (totals or {}).get(question.id, ()))
            questions[question.id] = replace(
                part,
                base=describe_base(survey, evidence.field, question),
                condition=describe_condition(survey, question),
            )
        if evidence.field.joint:
            cells = tuple(cell_line(cell) for cell in joint_cells(evidence, field_questions, options))
            names = tuple(question.id for question in field_questions)
            description = describe_base(survey, evidence.field, *field_questions)
            joint.append(
                JointPart(questions=names, estimates=cells, note=missing_estimates_note(cells), base=description)
            )
    return Results(
        group=group,
        slug=slug,
        survey=survey.digest,
        reports=tally.reports,
        confidence=options.confidence,
        simultaneous=options.simultaneous,
        narrow=options.narrow,
        population=options.population,
        targets=TARGETS,
        questions=tuple(questions[question.id] for question in survey.questions),
        joint=tuple(joint),
        asked=count_block_draws(survey, tally),
    )


def _make_question_part(
    evidence: Evidence, question: Question, options: Options, totals: Sequence[Sequence[str]]
) -> QuestionPart:
    kind = kind_of(question)
    estimates_by_family = {
        family.name: family_estimates(evidence, question, family, options)
        for family in kind.families(question)
        if family.name is not FamilyName.RESPONSE_RATE or question.show_if
    }
    families = [family for labels in totals if (family := kind.total_family(question, labels))]
    sums = [estimate for family in families for estimate in family_estimates(evidence, question, family, options)]

    def lines(*names: FamilyName) -> tuple[Line, ...]:
        return estimate_lines(estimate for name in names for estimate in estimates_by_family.get(name, ()))

    estimates = lines(FamilyName.SHARES, FamilyName.MEAN)
    quartiles = estimate_quantiles(question, estimates_by_family.get(FamilyName.CUMULATIVE, ()))
    return QuestionPart(
        id=question.id,
        type=question.type,
        epsilon=float(evidence.field.mechanism.epsilon),
        estimates=estimates,
        note=missing_estimates_note(estimates),
        answering=next(iter(lines(FamilyName.RESPONSE_RATE)), UNSET),
        lowered=_display_gap(estimates),
        answered=lines(FamilyName.AMONG_ANSWERS),
        totals=estimate_lines(sums),
        cumulative=lines(FamilyName.CUMULATIVE),
        quantiles=tuple(
            Quantile(level=quartile.level, options=quartile.options, n=quartile.n, coverage=quartile.coverage)
            for quartile in quartiles
        ),
    )


def _display_gap(lines: Sequence[Line]) -> float:
    """Return how far the leading share is displayed below its unbiased estimate; 0 if the gap is negligible."""
    shares = [
        (line.unbiased, line.estimate) for line in lines if line.kind == FigureKind.SHARE and line.unbiased is not None
    ]
    unbiased, display = max(shares, default=(0.0, 0.0))
    gap = min(unbiased, 1.0) - display
    return gap if gap >= SMALLEST_GAP else 0.0


def missing_estimates_note(lines: Sequence[Line]) -> Note | UnsetType:
    """Return the note for a part without estimates; UNSET if it has some."""
    return UNSET if lines else TOO_FEW


def estimate_lines(estimates: Iterable[Estimate]) -> tuple[Line, ...]:
    """Convert estimates to lines of a document."""
    return tuple(_line(estimate, option=estimate.option) for estimate in estimates)


def cell_line(cell: Cell) -> Line:
    """Convert the estimate of a combination of answers to a line of a document."""
    return _line(cell.estimate, options=cell.options)


def _line(estimate: Estimate, *, option: str = "", options: tuple[str, ...] = ()) -> Line:
    """Convert an estimate to a line: NaN becomes null, and an interval is extended to include its estimate."""
    interval, sample = estimate.interval.extend_to(estimate.estimate), estimate.limits.sample
    sample = sample and sample.extend_to(estimate.estimate)
    value = None if math.isnan(estimate.unbiased) else estimate.unbiased
    return Line(
        option=option,
        options=options,
        kind=estimate.kind,
        n=estimate.n,
        estimate=estimate.estimate,
        low=interval.low,
        high=interval.high,
        unbiased=None if estimate.is_ratio else value,
        raw=value if estimate.is_ratio else UNSET,
        reported=estimate.reported,
        coverage=interval.coverage,
        sample_low=sample.low if sample else None,
        sample_high=sample.high if sample else None,
        sample_coverage=sample.coverage if sample else None,
        method=interval.method,
    )


def table_rows(parts: Iterable[TablePart]) -> Iterator[tuple[str, str, Line]]:
    """Yield the lines of a document for a flat table, each with the names of its list and of its part."""
    for part in parts:
        for kind, lines in part.lists.items():
            for line in lines:
                yield kind, part.name, line
