"""The plan of a study: the precision of each group, of their total, and of a difference between two groups.

All groups answer the same questions, so one report has the same variance in each. A single group needs as many
respondents as a survey without groups. The total weights groups by size, with the variance Σ w_h² Var_h. If groups
answer in proportion to their sizes, this is the variance of one survey of all people. If equally many answer in each of
k groups, it is k Σ w_h² times as much. A difference of two groups has the sum of both variances.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import Struct

from candor_client.definition import Survey
from survey_app.authoring import BuiltSurvey
from survey_app.authoring.groups import Group
from survey_app.kinds.planning_assumptions import PlanError
from survey_app.languages import numbers
from survey_app.plan.forecast import Forecast, find_planned_question, forecast_survey
from survey_app.plan.power import smallest_difference
from survey_app.plan.remarks import Remark, RemarkCode, WordedRemark
from survey_app.plan.report_variance import LEAST_RESPONDENTS
from survey_app.plan.target import Settings
from survey_app.store import STEP

MOST_COLUMNS = 5  # groups in one table of margins


class PlanSubject(Protocol):
    """The subject of a plan: an author's file, or the surveys published from one."""

    @property
    def survey(self) -> Survey: ...

    @property
    def groups(self) -> tuple[Group, ...]: ...

    @property
    def sizes(self) -> tuple[int, ...] | None: ...


class GroupPlan(Struct, frozen=True):
    """One group: its size, its weight in the total, its respondents, and the margins of all figures."""

    group: str
    size: int | None
    weight: float | None
    respondents: int
    margins: list[float]


class DifferencePlan(Struct, frozen=True):
    """The difference of two groups: the margin of each figure's difference, and the smallest detectable one.

    `told` is the smallest difference detected with the power of the settings. The larger group is at the assumed value,
    the smaller one above it. It is None if no possible difference is large enough.
    """

    of: str
    to: str
    power: float
    margins: list[float]
    told: list[float | None]


class StudyPlan(Struct, frozen=True):
    """The plan of a study: the respondents for the target margin of each group and of their total.

    `each` is the number for one group, `together` that for all groups. `total` and `equal` are for the total: if groups
    answer in proportion to their sizes, and if equally many of each answer. They are None without sizes. `margins` are
    those of the total. `difference` compares the smallest and the largest group.
    """

    respondents: int
    each: int | None
    together: int | None
    total: int | None
    equal: int | None
    margins: list[float] | None
    difference: DifferencePlan
    groups: list[GroupPlan]

    @property
    def table_groups(self) -> list[GroupPlan]:
        """The groups in the table of margins: all, or of many groups the smallest and the largest."""
        if len(self.groups) <= MOST_COLUMNS:
            return self.groups
        by_size = sorted(self.groups, key=lambda group: group.respondents)
        return [by_size[0], by_size[-1]]

    @property
    def requirements(self) -> list[str]:
        """Sentences about the respondents needed by each group and by the total."""
        count = numbers.format_respondents
        sentences = [f"each group alone takes {count(self.each)} respondents, {count(self.together)} in total"]
        if self.total is None:
            sentences.append("there is no total, because the sizes of the groups are unknown")
        else:
            sentences.append(
                f"all groups together, weighted by size, take {count(self.total)} respondents in total if they answer"
                f" in proportion to their sizes, and {count(self.equal)} if equally many people answer in each group"
            )
        return sentences


def split_respondents(respondents: int, sizes: Sequence[int] | None, groups: int) -> list[int]:
    """Split respondents by group size, or equally without sizes; the rest goes to the largest remainders."""
    weights = sizes or [1] * groups
    total = sum(weights)
    parts = [respondents * weight // total for weight in weights]
    order = sorted(range(groups), key=lambda i: -(respondents * weights[i] % total))
    for i in order[: respondents - sum(parts)]:
        parts[i] += 1
    return parts


def adapt_settings(built: BuiltSurvey, settings: Settings) -> Settings:
    """Return the settings of a survey with the margins of the total; without sizes, of one group.

    Raise PlanError if the settings do not suit a study.
    """
    if not built.groups:
        return settings
    if settings.target.size is not None:
        raise PlanError(
            "population_of_groups",
            "--population is for a survey without groups, because the sizes of groups only weight the total. If"
            " everybody is asked, plan each group as a file without groups, with its size as --population",
        )
    least = LEAST_RESPONDENTS * len(built.groups)
    if settings.respondents is not None and settings.respondents < least:
        raise PlanError("too_few_respondents", f"{len(built.groups)} groups need at least {least} respondents")
    if built.sizes or settings.respondents is None:
        return settings
    return replace(settings, respondents=settings.respondents // len(built.groups))


def plan_groups(built: PlanSubject, settings: Settings, group_respondents: int | None) -> StudyPlan | None:
    """Return the plan of a study with these respondents in total; None if there are no groups.

    `group_respondents` is the number of respondents that one survey without groups needs.
    """
    if not built.groups or settings.respondents is None:
        return None
    count, sizes = len(built.groups), built.sizes
    weights = [size / sum(sizes) for size in sizes] if sizes else None
    parts = [max(part, LEAST_RESPONDENTS) for part in split_respondents(settings.respondents, sizes, count)]
    by_part = {part: _compute_margins(built, settings, part) for part in parts}
    groups = [
        GroupPlan(group.label, group.size, weights[i] if weights else None, parts[i], by_part[parts[i]])
        for i, group in enumerate(built.groups)
    ]
    figures = range(len(groups[0].margins))
    return StudyPlan(
        respondents=settings.respondents,
        each=group_respondents,
        together=None if group_respondents is None else group_respondents * count,
        total=group_respondents if weights else None,
        equal=math.ceil(group_respondents * count * math.fsum(weight**2 for weight in weights))
        if group_respondents and weights
        else None,
        margins=[_compute_total_margin(groups, weights, i) for i in figures] if weights else None,
        difference=_plan_difference(built, settings, groups),
        groups=groups,
    )


def _plan_difference(built: PlanSubject, settings: Settings, groups: Sequence[GroupPlan]) -> DifferencePlan:
    """Return the difference of the smallest and the largest group: the later minus the earlier, as in the results."""
    by_size = sorted(groups, key=lambda group: group.respondents)
    small, large = by_size[0], by_size[-1]
    earlier, later = (group for group in groups if group is small or group is large)
    entries = (find_planned_question(built.survey, question.id, settings.guess) for question in built.survey.questions)
    test_settings = settings.power, settings.confidence, settings.target
    return DifferencePlan(
        of=later.group,
        to=earlier.group,
        power=settings.power,
        margins=[math.hypot(*pair) for pair in zip(small.margins, large.margins, strict=True)],
        told=[
            smallest_difference(
                estimand.spread_at,
                estimand.planned,
                large.respondents,
                *test_settings,
                highest=estimand.high,
                second=small.respondents,
            )
            for entry in entries
            for estimand in entry.estimands
        ],
    )


def _compute_margins(built: PlanSubject, settings: Settings, respondents: int) -> list[float]:
    return [line.margin for line in forecast_survey(built.survey, replace(settings, respondents=respondents))]


def _compute_total_margin(groups: Sequence[GroupPlan], weights: Sequence[float], figure: int) -> float:
    """Return the margin of the total; the groups are independent."""
    return math.hypot(*(weight * group.margins[figure] for group, weight in zip(groups, weights, strict=True)))


def advise_groups(plan: StudyPlan, lines: Sequence[Forecast], settings: Settings) -> list[WordedRemark]:
    """Return remarks about groups that are too small for separate figures."""
    part = numbers.format_quantity(100 * (settings.margin or 0))
    remarks: list[WordedRemark] = []
    small = [group for group in plan.groups if group.size and plan.each and group.size < plan.each]
    if small:
        sentence = (
            f"{_name_groups(plan, small)}: ±{part}% for the group alone takes {numbers.format_respondents(plan.each)} "
            "respondents, more than it has people. Merge groups, raise ε, ask fewer questions, or use only the total"
        )
        remarks.append(_remark_on_groups("small_group", small, sentence))
    withheld = [group for group in plan.groups if group.respondents < STEP]
    if withheld:
        sentence = (
            f"{_name_groups(plan, withheld)}: of {numbers.format_count(plan.respondents)} respondents it would have "
            f"{numbers.format_count(withheld[0].respondents)}. A group with fewer than {STEP} reports is never shown"
            f"{', and then there is no total either' if plan.total else ''}"
        )
        remarks.append(_remark_on_groups("withheld_group", withheld, sentence))
    vague = [
        group
        for group in plan.groups
        if group not in withheld
        and any(margin >= line.width / 2 for margin, line in zip(group.margins, lines, strict=True))
    ]
    if vague:
        sentence = (
            f"{_name_groups(plan, vague)}: with {numbers.format_count(vague[0].respondents)} respondents an "
            "interval can be as wide as the possible range; use the total instead, or merge groups"
        )
        remarks.append(_remark_on_groups("uninformative_group", vague, sentence))
    return remarks


def _remark_on_groups(code: RemarkCode, groups: Sequence[GroupPlan], sentence: str) -> WordedRemark:
    return WordedRemark(Remark(code, [group.group for group in groups]), sentence)


def _name_groups(plan: StudyPlan, groups: Sequence[GroupPlan]) -> str:
    """Return the name of the smallest of these groups, and the number of the others."""
    if len(groups) == len(plan.groups) == 2:
        return "each of the two groups"
    smallest = min(groups, key=lambda group: (group.respondents, group.size or 0))
    remaining = len(groups) - 1
    return f"group {smallest.group}" + (f" (and {remaining} more)" if remaining else "")
