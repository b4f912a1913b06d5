"""Several surveys with the same questions, the groups of one study, as a document like the results."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from client.definition import Survey
from client.question import Question
from survey_app.estimate import groups
from survey_app.estimate.groups import GroupsError
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.question import Estimate, evidence_of, question_estimates
from survey_app.results.document import Line, Note, Results, estimate_lines, note_on, results
from survey_app.tally import Tally

Group = tuple[Survey, Tally]
Estimates = Mapping[str, list[Estimate]]  # by question


class GroupPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question: differences between two groups, or with its `type` the whole of all groups."""

    id: str
    type: str = ""
    estimates: tuple[Line, ...]
    note: Note | UnsetType = UNSET

    @property
    def name(self) -> str:
        """What a table calls it."""
        return self.id

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """Its lines, by the lists they are in."""
        return {"estimates": self.estimates}


class Differences(Struct, frozen=True, kw_only=True):
    """The estimates of one group minus those of another."""

    of: str
    to: str
    questions: tuple[GroupPart, ...]


class GroupTest(Struct, frozen=True, kw_only=True):
    """Whether chance alone explains how the groups differ in the shares of one question."""

    id: str
    test: Test


class Study(Struct, frozen=True, kw_only=True):
    """Each group's results, their differences to the first, tests of all groups at once where there can be one, and
    with weights their post-stratified whole.
    """

    strata: tuple[Results, ...]
    differences: tuple[Differences, ...]
    tests: tuple[GroupTest, ...]
    weights: dict[str, float] | UnsetType = UNSET
    combined: tuple[GroupPart, ...] | UnsetType = UNSET


def groups_document(members: Sequence[Group], options: Options, weights: Mapping[str, float] | None = None) -> Study:
    """The groups of a study, side by side, and with weights together."""
    surveys = [survey for survey, _ in members]
    groups.check_same(surveys)
    shares = _shares(surveys, weights) if weights is not None else None
    estimates = [_estimates(survey, tally, options) for survey, tally in members]
    study = Study(
        strata=tuple(results(survey, tally, options, slug=survey.slug) for survey, tally in members),
        differences=tuple(
            Differences(of=survey.slug, to=surveys[0].slug, questions=_differences(surveys[0], estimates[0], other))
            for survey, other in zip(surveys[1:], estimates[1:], strict=True)
        ),
        tests=tuple(_tests(members)),
    )
    if shares is None:
        return study
    by_slug = {survey.slug: share for survey, share in zip(surveys, shares, strict=True)}
    return replace(study, weights=by_slug, combined=_combined(surveys[0], estimates, shares, options))


def _tests(members: Sequence[Group]) -> Iterator[GroupTest]:
    by_group = [
        {question.id: evidence for evidence in evidence_of(*group) for question in evidence.field.questions}
        for group in members
    ]
    for question in members[0][0].questions:
        if test := groups.same_shares([evidence[question.id] for evidence in by_group], question.id):
            yield GroupTest(id=question.id, test=test)


def _differences(survey: Survey, first: Estimates, other: Estimates) -> tuple[GroupPart, ...]:
    return tuple(
        _part(
            question.id,
            "",
            (
                groups.difference(b, a, groups.possible(question, a.kind))
                for a, b in _together([first, other], question)
            ),
        )
        for question in survey.questions
    )


def _combined(
    survey: Survey, estimates: Sequence[Estimates], shares: Sequence[float], options: Options
) -> tuple[GroupPart, ...]:
    """Groups of no weight have no say, so they need no reports either."""
    counted = [(group, share) for group, share in zip(estimates, shares, strict=True) if share]
    weights = [share for _, share in counted]
    parts: list[GroupPart] = []
    for question in survey.questions:
        by_line = _together([group for group, _ in counted], question)
        found = groups.whole(question, by_line, weights, options)
        parts.append(_part(question.id, question.type, found))
    return tuple(parts)


def _part(name: str, kind: str, estimates: Iterable[Estimate]) -> GroupPart:
    lines = estimate_lines(estimates)
    return GroupPart(id=name, type=kind, estimates=lines, note=note_on(lines))


def _shares(surveys: Sequence[Survey], weights: Mapping[str, float]) -> list[float]:
    """Weights that sum to one, in the order of the surveys."""
    slugs = [survey.slug for survey in surveys]
    if set(weights) != set(slugs):
        raise GroupsError(f"the weights must name exactly {', '.join(slugs)}")
    values = [float(weights[slug]) for slug in slugs]
    if not all(math.isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
        raise GroupsError("weights are numbers from 0, and not all 0")
    return [value / math.fsum(values) for value in values]


def _estimates(survey: Survey, tally: Tally, options: Options) -> Estimates:
    return {
        question.id: question_estimates(evidence, question, options)
        for evidence in evidence_of(survey, tally)
        for question in evidence.field.questions
    }


def _together(by_group: Sequence[Estimates], question: Question) -> list[list[Estimate]]:
    """For each line of a question, its estimates in every group; lines that some group lacks are left out."""
    by_option = [{(one.option, one.kind): one for one in estimates[question.id]} for estimates in by_group]
    return [[lines[key] for lines in by_option] for key in by_option[0] if all(key in lines for lines in by_option)]
