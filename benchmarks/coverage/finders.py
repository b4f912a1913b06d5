"""Where to find an interval in the results of a survey; what is found may be several, which have to hold together."""

from collections.abc import Sequence

from benchmarks.coverage.study import Find
from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Interval, Method, Options
from survey_app.estimate.quantiles import quantiles
from survey_app.estimate.question_estimates import Evidence, evidence_of, family_estimates, question_estimates
from survey_app.figures import FamilyName
from survey_app.kinds import kind_of
from survey_app.tally import Bits, Tally

PLAIN = Options()


def asked(survey: Survey, tally: Tally, question: str) -> tuple[Evidence, Question]:
    """What a tally tells about the field of a question."""
    return next(
        (found, one) for found in evidence_of(survey, tally) for one in found.field.questions if one.id == question
    )


def estimate_of(question: str, option: str, options: Options = PLAIN, *, sample: bool = False) -> Find:
    """One line of the results."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        lines = question_estimates(*asked(survey, tally, question), options)
        found = [one.limits.sample if sample else one.interval for one in lines if one.option == option]
        return [interval for interval in found if interval is not None]

    return find


def all_of(question: str, options: Options) -> Find:
    """All lines of the results."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        return [one.interval for one in question_estimates(*asked(survey, tally, question), options)]

    return find


def total_of(question: str, *labels: str) -> Find:
    """The share of several options together."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        evidence, one = asked(survey, tally, question)
        family = kind_of(one).total(one, labels)
        return [line.interval for line in family_estimates(evidence, one, family, PLAIN)] if family else []

    return find


def among_answers(question: str, option: str) -> Find:
    """A share of those who answered."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        lines = question_estimates(*asked(survey, tally, question), PLAIN, FamilyName.ANSWERED)
        return [one.interval for one in lines if one.option == option]

    return find


def crossed(part: str, *options: str, rows: str = "a", columns: str = "b") -> Find:
    """One of the cells, shares within rows or differences between rows of two questions, or of two options."""

    def find(survey: Survey, tally: Tally, bits: Bits) -> Sequence[Interval]:
        table = crosstab(survey, rows, columns, tally, [bits], PLAIN)
        return [one.estimate.interval for one in getattr(table, part) if one.options == options]

    return find


def not_rejected(rows: str, columns: str) -> Find:
    """From 0 to the p-value of the test of independence, if there is one."""

    def find(survey: Survey, tally: Tally, bits: Bits) -> Sequence[Interval]:
        test = crosstab(survey, rows, columns, tally, [bits], PLAIN).test
        return [Interval(0.0, test.p_value, Method.SCORE)] if test else []

    return find


def median(question: str) -> Find:
    """The points that may hold the median, as the range of their places."""

    def find(survey: Survey, tally: Tally, rows: Bits) -> Sequence[Interval]:
        found, one = asked(survey, tally, question)
        below = question_estimates(found, one, PLAIN, FamilyName.CUMULATIVE)
        half = next(each for each in quantiles(one, below) if each.level == 0.5)
        places = [one.labels.index(label) for label in half.options]
        return [Interval(min(places), max(places), half.method)]

    return find
