"""The methods paragraph of a survey, for a paper (docs/methods.md §13).

It is made from the definition and the results document, so the words cannot drift from the numbers. Nothing here is
about a single respondent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from candor_client.answer import unanswered
from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.channels.posterior import total_epsilon
from survey_app.estimate.intervals import Method, Options
from survey_app.languages.numbers import format_count, format_epsilon, format_percent, format_probability
from survey_app.results.denominators import BlockDraws, describe_questioning
from survey_app.results.formulas import estimator_sentences, margin_sentences
from survey_app.results.group_document import Study
from survey_app.results.survey_document import Results, table_rows

MOST_NAMED = 6  # the most questions of one mechanism that a sentence names


@dataclass(frozen=True)
class SurveyStatus:
    """The facts about a survey that the methods paragraph needs besides its definition."""

    options: Options
    shows_sample_intervals: bool  # show intervals for these respondents, where they exist
    is_final: bool  # no more reports will come
    is_by_invitation: bool = False
    stopping_rule: str = ""  # the date or the number of reports at which it closes
    stopping_rule_changed: bool = False  # the stopping rule changed while people answered
    comparison_count: int = 0  # intervals of comparisons, in addition to those of the results


def count_intervals(document: Results | Study, setting: SurveyStatus) -> int:
    """Count the intervals that a reader sees."""
    return setting.comparison_count + sum(1 for _ in table_rows(document.parts))


def methods_paragraph(survey: Survey, document: Results | Study, setting: SurveyStatus) -> str:
    """Return a methods paragraph with the numbers of a survey, or of the groups of a study, ready for a paper."""
    return " ".join(
        [
            "Answers were collected under local differential privacy: each respondent's device randomized every answer"
            " before sending it, and only randomized bits were stored.",
            *_reports(document, setting),
            *describe_questioning(survey, get_block_draws(document)),
            *mechanism_sentences(survey),
            _budget(survey),
            *estimator_sentences(survey, document),
            *_describe_weights(document),
            _intervals(document, setting),
            _definitions(document),
        ]
    )


def get_block_draws(document: Results | Study) -> BlockDraws | None:
    """Return the block draws of a survey; None for a study, whose groups each have their own."""
    return document.asked if isinstance(document, Results) else None


def _reports(document: Results | Study, setting: SurveyStatus) -> Iterator[str]:
    state = "all that the closed survey received" if setting.is_final else "the survey was still open"
    if isinstance(document, Study):
        state = "all that were shown when the study closed" if setting.is_final else "the study was still open"
        groups = [
            f"{group.group} n = {format_count(group.reports)}"
            + (f" of {format_count(group.size)} people" if group.size else "")
            for group in document.groups
        ]
        yield (
            f"The study had {len(groups)} groups ({'; '.join(groups)}), each with its own link. Group membership is"
            " known from the link; it was neither asked nor sent."
        )
    yield f"The figures are based on n = {format_count(document.reports)} reports ({state})."


def _describe_weights(document: Results | Study) -> Iterator[str]:
    """Yield how the groups of a study were combined, and compared; nothing for a survey."""
    if not isinstance(document, Study):
        return
    if document.total and document.total.questions:
        weights = ", ".join(f"{name} {format_percent(weight, 3)}" for name, weight in document.total.weights.items())
        basis = "by the given weights" if document.total.given else "by their sizes"
        yield (
            f"Totals are post-stratified: the unbiased estimates of the groups are weighted {basis} ({weights}) and"
            " summed, and only the sums are moved to the nearest possible values."
        )
    yield f"Differences are relative to the group {document.groups[0].group}."


def _definitions(document: Results | Study) -> str:
    if isinstance(document, Study):
        digests = "; ".join(f"{group.group} {group.survey}" for group in document.groups)
        return (
            "Questions, options and parameters are the same for all groups. They are fixed by the groups' definitions,"
            f" whose SHA-256 digests are: {digests}."
        )
    return (
        "Questions, options and parameters are fixed by the survey's definition, whose SHA-256 digest is"
        f" {document.survey}."
    )


def mechanism_sentences(survey: Survey) -> Iterator[str]:
    """Yield a sentence for every mechanism, with the questions that share it, and its margins."""
    groups: dict[tuple[object, ...], list[Field]] = {}
    for field in survey.fields:
        joint = field.digest if field.joint else None
        groups.setdefault((field.mechanism, _count_levels(field.questions[0]), joint), []).append(field)
    for fields in groups.values():
        mechanism = fields[0].mechanism
        suffix = " each" if len(fields) > 1 else ""
        phrase = channel_of(mechanism).methods_phrase(format_probability)
        yield f"{_subject(fields)} {phrase} (ε = {format_epsilon(mechanism.epsilon)}{suffix})."
        for field in fields:
            yield from margin_sentences(field)


def _subject(fields: Sequence[Field]) -> str:
    """Name the questions of some fields, and the step before their randomization, if there was one."""
    names = _join_names([f"“{question.id}”" for field in fields for question in field.questions])
    if fields[0].joint:
        return f"{names} were randomized together, as one answer out of {fields[0].size} possible combinations,"
    verb = "was" if len(fields) == 1 else "were each"
    if levels := _count_levels(fields[0].questions[0]):
        return f"{names} {verb} rounded at random, without bias, to one of {levels} levels and then randomized"
    return f"{names} {verb} randomized"


def _count_levels(question: Question) -> int:
    """Return the number of levels that answers are rounded to; 0 if every answer has a symbol of its own."""
    return question.no_answer if unanswered(question) > question.no_answer else 0


def _join_names(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED + 1:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more questions"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _budget(survey: Survey) -> str:
    scope = "the largest ε of any block; each device answers one block" if survey.ask else "the sum over all fields"
    if len(survey.fields) == 1:
        scope = "its only field"
    return f"A whole report is ε-differentially private with ε = {format_epsilon(total_epsilon(survey))} ({scope})."


def list_interval_methods(document: Results | Study) -> set[Method]:
    """Return the interval methods of a document's lines."""
    return {line.method for _, _, line in table_rows(document.parts)}


def describe_interval_methods(options: Options) -> dict[Method, str]:
    """Return a phrase for every interval method, in the order in which a paragraph names them."""
    mapping = "transformed like the estimate"
    return {
        Method.CLOPPER_PEARSON: "Clopper–Pearson intervals on the binomial count of reported bits, guarded at both ends"
        f" of the possible range (coverage guaranteed), {mapping}",
        Method.WILSON: "Wilson intervals on the binomial count of reported bits (approximate: nominal coverage on"
        f" average), {mapping}",
        Method.FINITE_POPULATION: f"score intervals for a population of {format_count(options.population or 0)} with"
        f" the finite-population correction, on the binomial count of reported bits (approximate), {mapping}",
        Method.DIRICHLET: "Dirichlet–Clopper–Pearson intervals for means of scores (approximate)",
        Method.KORN_GRAUBARD: "Korn–Graubard intervals for sums over several reported symbols (approximate)",
        Method.FIELLER: "Fieller's intervals for figures among those who answered (approximate)",
        Method.SCORE: "score intervals for the cells of two questions, the shares within rows and weighted sums of"
        " shares (approximate)",
        Method.MOVER: "MOVER intervals for differences of estimates and weighted sums of means (approximate)",
        Method.WALD: "Wald intervals for the coefficients of a regression (approximate)",
        Method.CERTAIN: "a single point where a total includes every answer (certain)",
    }


def _intervals(document: Results | Study, setting: SurveyStatus) -> str:
    methods = list_interval_methods(document)
    words = [text for method, text in describe_interval_methods(setting.options).items() if method in methods]
    if setting.shows_sample_intervals:
        target = (
            "where such intervals exist, plots show intervals for these respondents alone, which account for the"
            " randomization only (score intervals, approximate); otherwise intervals refer to the population of which"
            " the respondents are a random sample"
        )
    else:
        target = "they refer to the population of which the respondents are a random sample"
    construction = f", and are {'; '.join(words)}" if words else ""
    scope = ", simultaneously for all answers of a question (Bonferroni)" if setting.options.simultaneous else " each"
    return (
        f"Intervals have a confidence of {format_percent(setting.options.confidence)}{scope}; {target}{construction}."
    )
