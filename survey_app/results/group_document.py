"""The groups of a study, or other surveys with the same questions, as a document like the results.

A group shows the same reports as its own survey, so these figures change in the same steps.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.estimate import group_estimates
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.hypotheses import Test
from survey_app.estimate.intervals import Options
from survey_app.estimate.question_estimates import LEAST_REPORTS, Estimate, evidence_of, question_estimates
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.results.row_order import estimate_answer_count
from survey_app.results.survey_document import (
    Line,
    Note,
    Results,
    TablePart,
    estimate_lines,
    missing_estimates_note,
    results,
)
from survey_app.store.steps import STEP
from survey_app.tally import Tally

Group = tuple[Survey, Tally]
Estimates = Mapping[str, list[Estimate]]  # by question
TOTAL = "all groups"  # the name of their total in a table


class GroupPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question: the differences between two groups or, if `type` is set, the total of all groups."""

    id: str
    type: str = ""
    estimates: tuple[Line, ...]
    note: Note | UnsetType = UNSET

    @property
    def name(self) -> str:
        """The name of the question in a table."""
        return self.id

    @property
    def lists(self) -> dict[str, tuple[Line, ...]]:
        """The lines of the question, by list."""
        return {"estimates": self.estimates}


class Differences(Struct, frozen=True, kw_only=True):
    """The estimates of one group minus those of another."""

    of: str
    to: str
    questions: tuple[GroupPart, ...]


class GroupTest(Struct, frozen=True, kw_only=True):
    """A test of whether chance alone explains how the groups differ in the shares of one question."""

    id: str
    test: Test


class Total(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The weighted total of all groups. Without a total there are no questions, and `note` says why.

    `missing` is the reason for programs: the sizes of the groups are unknown, or a group has too few reports.
    The weights are proportional to the sizes of the groups, unless they were `given`.
    """

    weights: dict[str, float] = {}
    given: bool = False
    questions: tuple[GroupPart, ...] = ()
    missing: Literal["sizes", "reports"] | UnsetType = UNSET
    note: str = ""


class Study(Struct, frozen=True, kw_only=True):
    """The results of each group, their differences from the first group, tests of all groups, and the total.

    A question has a test where one is possible. The total is post-stratified. Other surveys with the same questions,
    side by side, have a total only with weights.
    """

    study: str | UnsetType = UNSET
    groups: tuple[Results, ...]
    differences: tuple[Differences, ...]
    tests: tuple[GroupTest, ...]
    total: Total | UnsetType = UNSET

    @property
    def reports(self) -> int:
        """The number of reports of all groups."""
        return sum(group.reports for group in self.groups)

    @property
    def named_parts(self) -> Iterator[tuple[str, Sequence[TablePart]]]:
        """Yield the name and the parts of each group, of the total and of each difference."""
        for group in self.groups:
            yield group.group, group.parts
        if self.total is not UNSET and self.total.questions:
            yield TOTAL, self.total.questions
        for difference in self.differences:
            yield f"{difference.of} - {difference.to}", difference.questions

    def describe_condition(self, place: int) -> str:
        """Describe the condition of the question at a place, and how many of each group were asked and answered."""
        parts = [(group.group, group.questions[place]) for group in self.groups]
        numbers = [f"{name} {answers.fraction}" for name, part in parts if (answers := estimate_answer_count(part))]
        suffix = f": {', '.join(numbers)} were asked and answered" if numbers else ""
        return f"{parts[0][1].condition}{suffix}."

    @property
    def parts(self) -> tuple[TablePart, ...]:
        """All parts that have lines."""
        return tuple(part for _, parts in self.named_parts for part in parts)


def make_study(
    members: Sequence[Group],
    sizes: Sequence[int | None],
    options: Options,
    *,
    final: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Study:
    """Return the groups of one study, with their total once every group is shown.

    An unknown size is None; sizes do not matter where weights are given. No interval assumes a finite population,
    because each group of a study has a population of its own.
    """
    surveys = [survey for survey, _ in members]
    known_sizes = [size for size in sizes if size]
    small_groups = [
        survey.group
        for survey, tally in members
        if tally.reports < LEAST_REPORTS and (weights is None or weights.get(survey.slug, 1))
    ]
    note = ""
    known = weights is not None or len(known_sizes) == len(members)
    if not known:
        note = "no total: the sizes of the groups are unknown"
    elif small_groups and final:
        note = f"no total: fewer than {STEP} reports came from {' and from '.join(small_groups)}"
    elif small_groups:
        verb = "has" if len(small_groups) == 1 else "have"
        note = f"no total until {' and '.join(small_groups)} {verb} {2 * STEP} reports, or {STEP} at closing"
    by_size = None if note or weights else dict(zip((survey.slug for survey in surveys), known_sizes, strict=True))
    study = compare_groups(members, options, None if note else weights or by_size)
    groups = (replace(group, size=size or UNSET) for group, size in zip(study.groups, sizes, strict=True))
    total = replace(study.total, given=weights is not None) if study.total else Total()
    if note:
        total = Total(missing="reports" if small_groups and known else "sizes", note=note)
    return replace(study, study=surveys[0].study, groups=tuple(groups), total=total)


def compare_groups(members: Sequence[Group], options: Options, weights: Mapping[str, float] | None = None) -> Study:
    """Return surveys with the same questions side by side, and their total if there are weights.

    Raise GroupsError if the questions differ or the weights do not fit.
    """
    surveys = [survey for survey, _ in members]
    group_estimates.check_same_questions(surveys)
    shares = _normalize_weights(surveys, weights) if weights is not None else None
    estimates = [_estimates(survey, tally, options) for survey, tally in members]
    names = _name_groups(surveys)
    study = Study(
        groups=tuple(
            results(survey, tally, options, group=name, slug=survey.slug)
            for name, (survey, tally) in zip(names, members, strict=True)
        ),
        differences=tuple(
            Differences(of=name, to=names[0], questions=_differences(surveys[0], estimates[0], other))
            for name, other in zip(names[1:], estimates[1:], strict=True)
        ),
        tests=tuple(_tests(members)),
    )
    if shares is None:
        return study
    weights_by_name = dict(zip(names, shares, strict=True))
    return replace(
        study,
        total=Total(weights=weights_by_name, given=True, questions=_total(surveys[0], estimates, shares, options)),
    )


def _name_groups(surveys: Sequence[Survey]) -> list[str]:
    """Return the names of the groups if all are of one study, else the slugs of the surveys."""
    studies = {survey.study for survey in surveys}
    is_one_study = len(studies) == 1 and "" not in studies
    return [survey.group if is_one_study else survey.slug for survey in surveys]


def _tests(members: Sequence[Group]) -> Iterator[GroupTest]:
    by_group = [
        {question.id: evidence for evidence in evidence_of(*group) for question in evidence.field.questions}
        for group in members
    ]
    for question in members[0][0].questions:
        if test := group_estimates.compare_group_shares([evidence[question.id] for evidence in by_group], question.id):
            yield GroupTest(id=question.id, test=test)


def _differences(survey: Survey, first: Estimates, other: Estimates) -> tuple[GroupPart, ...]:
    return tuple(
        _part(
            question.id,
            "",
            (
                group_estimates.difference(b, a, group_estimates.possible_range(question, a.kind))
                for a, b in _match_lines([first, other], question)
            ),
        )
        for question in survey.questions
    )


def _total(
    survey: Survey, estimates: Sequence[Estimates], shares: Sequence[float], options: Options
) -> tuple[GroupPart, ...]:
    """Return the weighted total of each question; groups of weight zero are left out, so they need no reports."""
    weighted = [(group, share) for group, share in zip(estimates, shares, strict=True) if share]
    weights = [share for _, share in weighted]
    parts: list[GroupPart] = []
    for question in survey.questions:
        by_line = _match_lines([group for group, _ in weighted], question)
        totals = group_estimates.poststratify(question, by_line, weights, options)
        parts.append(_part(question.id, question.type, totals))
    return tuple(parts)


def _part(name: str, kind: str, estimates: Iterable[Estimate]) -> GroupPart:
    lines = estimate_lines(estimates)
    return GroupPart(id=name, type=kind, estimates=lines, note=missing_estimates_note(lines))


def _normalize_weights(surveys: Sequence[Survey], weights: Mapping[str, float]) -> list[float]:
    """Return the weights scaled to a sum of one, in the order of the surveys; raise GroupsError if they are invalid."""
    slugs = [survey.slug for survey in surveys]
    if set(weights) != set(slugs):
        raise GroupsError(
            RefusalCode.MISSING_NUMBER, f"weights must be given for exactly these surveys: {', '.join(slugs)}"
        )
    values = [float(weights[slug]) for slug in slugs]
    if not all(math.isfinite(value) and value >= 0 for value in values) or sum(values) <= 0:
        raise GroupsError(
            RefusalCode.INVALID_NUMBER, "weights must be finite numbers, none of them negative and not all of them 0"
        )
    return [value / math.fsum(values) for value in values]


def _estimates(survey: Survey, tally: Tally, options: Options) -> Estimates:
    return {
        question.id: question_estimates(evidence, question, options)
        for evidence in evidence_of(survey, tally)
        for question in evidence.field.questions
    }


def _match_lines(by_group: Sequence[Estimates], question: Question) -> list[list[Estimate]]:
    """Return for each line of a question its estimates in every group, without lines that some group lacks."""
    by_option = [
        {(estimate.option, estimate.kind): estimate for estimate in estimates[question.id]} for estimates in by_group
    ]
    return [[lines[key] for lines in by_option] for key in by_option[0] if all(key in lines for lines in by_option)]
