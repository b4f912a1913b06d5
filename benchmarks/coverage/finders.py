"""Functions that find an interval in the results of a survey; if one finds several, all of them have to cover."""

from collections.abc import Sequence

from benchmarks.coverage.study import Find
from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Interval, Method, Options
from survey_app.estimate.quantiles import estimate_quantiles
from survey_app.estimate.question_estimates import Evidence, evidence_of, family_estimates, question_estimates
from survey_app.figures import FamilyName
from survey_app.kinds import kind_of
from survey_app.tally import Bits, Tally

PLAIN = Options()


def find_evidence(survey: Survey, tally: Tally, question: str) -> tuple[Evidence, Question]:
    """Return the evidence that a tally has about the field of a question, and the question."""
    return next(
        (evidence, candidate)
        for evidence in evidence_of(survey, tally)
        for candidate in evidence.field.questions
        if candidate.id == question
    )


def find_estimate(question: str, option: str, options: Options = PLAIN, *, sample: bool = False) -> Find:
    """Return a finder of the interval of one option, or of its sampling interval."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        lines = question_estimates(*find_evidence(survey, tally, question), options)
        intervals = [line.limits.sample if sample else line.interval for line in lines if line.option == option]
        return [interval for interval in intervals if interval is not None]

    return find


def find_every(question: str, options: Options) -> Find:
    """Return a finder of the intervals of all options."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        return [line.interval for line in question_estimates(*find_evidence(survey, tally, question), options)]

    return find


def find_total(question: str, *labels: str) -> Find:
    """Return a finder of the interval of the total share of several options."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        evidence, question_found = find_evidence(survey, tally, question)
        family = kind_of(question_found).total_family(question_found, labels)
        return [line.interval for line in family_estimates(evidence, question_found, family, PLAIN)] if family else []

    return find


def find_share_of_answers(question: str, option: str) -> Find:
    """Return a finder of the interval of a share among the people who answered."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        lines = question_estimates(*find_evidence(survey, tally, question), PLAIN, FamilyName.AMONG_ANSWERS)
        return [line.interval for line in lines if line.option == option]

    return find


def find_in_crosstab(part: str, *options: str, rows: str = "a", columns: str = "b") -> Find:
    """Return a finder of an interval in a cross-tab of two questions or options.

    `part` is cells, shares within rows, or differences between rows.
    """

    def find(survey: Survey, tally: Tally, bits: Bits) -> Sequence[Interval]:
        table = crosstab(survey, rows, columns, tally, [bits], PLAIN)
        return [cell.estimate.interval for cell in getattr(table, part) if cell.options == options]

    return find


def find_p_value(rows: str, columns: str) -> Find:
    """Return a finder of the interval from 0 to the p-value of the test of independence, if there is one."""

    def find(survey: Survey, tally: Tally, bits: Bits) -> Sequence[Interval]:
        test = crosstab(survey, rows, columns, tally, [bits], PLAIN).test
        return [Interval(0.0, test.p_value, Method.SCORE)] if test else []

    return find


def find_median(question: str) -> Find:
    """Return a finder of the range of points that may be the median, as an interval of their places."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        evidence, question_found = find_evidence(survey, tally, question)
        cumulative = question_estimates(evidence, question_found, PLAIN, FamilyName.CUMULATIVE)
        middle = next(quantile for quantile in estimate_quantiles(question_found, cumulative) if quantile.level == 0.5)
        places = [question_found.labels.index(label) for label in middle.options]
        return [Interval(min(places), max(places), middle.method)]

    return find
