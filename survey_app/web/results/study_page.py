"""The results page of a study: each question once, all groups on one scale with their total.

Each group shows its own snapshot, independently of the other groups. The choices are those of a survey, except for a
population: the sizes of groups are only the weights of their total.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from flask import render_template, request
from flask.typing import ResponseReturnValue

from survey_app.channels.posterior import total_epsilon
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.languages import numbers
from survey_app.problems import Problem
from survey_app.results.checklist import list_cautions, make_checklist
from survey_app.results.group_document import Study, make_study
from survey_app.results.methods import SurveyStatus, count_intervals, methods_paragraph
from survey_app.results.regression_document import list_outcomes
from survey_app.store import STEP, Role, State, now
from survey_app.store.records import PublishedSurvey
from survey_app.web.access import has_role, reader, require_readable
from survey_app.web.results.group_comparison import GroupComparison, build_comparisons
from survey_app.web.results.plots import View
from survey_app.web.results.reader_choices import (
    ChoiceCode,
    Choices,
    InvalidChoice,
    Notice,
    format_query,
    parse_choices,
    problem_of_choices,
)
from survey_app.web.results.regression_view import view_group_regression
from survey_app.web.results.results_cache import Snapshot, describe_stopping_rule, has_stopping_rule_changed
from survey_app.web.results.weights import Weights, parse_weights

NO_POPULATION = InvalidChoice(
    ChoiceCode.STUDY_POPULATION,
    "A population can only be set on the page of a group, because here group sizes only weight the total",
    "these intervals are for a very large population",
)


@dataclass(frozen=True)
class StudyRequest:
    """A request for the results of a study: the snapshots of its groups, and the choices of the reader."""

    snapshots: tuple[Snapshot, ...]
    choices: Choices
    weights: Weights | None = None
    weights_error: GroupsError | None = None  # the reason why the typed weights are invalid

    @classmethod
    def of(cls, groups: Sequence[PublishedSurvey]) -> "StudyRequest":
        """Return the snapshots and choices of the request. Raise Problem if the reader may not see the results."""
        snapshots = tuple(Snapshot.of(require_readable(group)) for group in groups)
        typed_choices = parse_choices(request.args, 0)
        choices = replace(typed_choices, rows="", columns="", other_slugs=(), on=(), digest="")
        if typed_choices.options.population is not None:
            options = replace(typed_choices.options, population=None)
            choices = replace(choices, options=options, messages=(*typed_choices.messages, NO_POPULATION))
        try:
            weights = parse_weights(
                choices.typed_weights, [(group.survey.slug, group.survey.group) for group in groups]
            )
        except GroupsError as error:
            return cls(snapshots, choices, weights_error=error)
        return cls(snapshots, choices, weights)

    def check(self) -> None:
        """Raise Problem for a bad choice or bad weights, because a document or a file has no place for messages."""
        if self.choices.messages:
            raise problem_of_choices(self.choices.messages)
        if self.weights_error:
            raise Problem("malformed_request", f"{self.weights_error}.")

    @property
    def document(self) -> Study:
        """The results as the API returns them. Typed weights replace the sizes of the groups."""
        sizes = tuple(snapshot.published.terms.size for snapshot in self.snapshots)
        final = self.snapshots[0].published.state is State.CLOSED
        return _cached_study(self.snapshots, sizes, self.choices.options, final, self.weights)

    def parts(self, *, standalone: bool = False) -> list[GroupComparison]:
        """Return the comparison of the groups for each question."""
        view = View(self.choices.options, self.choices.sample, standalone, self.choices.zoomed)
        return build_comparisons(self.snapshots[0].published.survey, self.document, view)


@lru_cache(maxsize=4)
def _cached_study(
    snapshots: tuple[Snapshot, ...],
    sizes: tuple[int | None, ...],
    options: Options,
    final: bool,
    weights: Weights | None,
) -> Study:
    members = [(snapshot.published.survey, snapshot.tally) for snapshot in snapshots]
    return make_study(members, sizes, options, final=final, weights=dict(weights) if weights else None)


def render_study(slug: str, groups: Sequence[PublishedSurvey]) -> ResponseReturnValue:
    """Render all questions of a study, with its groups side by side."""
    study_request = StudyRequest.of(groups)
    choices, document, parts = study_request.choices, study_request.document, study_request.parts()
    first = groups[0]
    state = first.state_at(now())
    final = state is State.CLOSED
    regression, unfitted = view_group_regression(study_request.snapshots, choices)
    invalid = study_request.weights_error
    interval_count = regression.intervals if regression else 0
    setting = SurveyStatus(
        choices.options,
        choices.sample,
        final,
        first.is_by_invitation,
        describe_stopping_rule(first),
        has_stopping_rule_changed(first),
        interval_count,
    )
    html = render_template(
        "results/study.html",
        survey=first.survey,
        slug=slug,
        published=first,
        study=document,
        reports=document.reports,
        state=state,
        final=state is State.CLOSED,
        step=STEP,
        choices=choices,
        query=format_query,
        percent=numbers.format_percent,
        member=has_role(reader(), first, Role.READER),
        total=numbers.format_epsilon(total_epsilon(first.survey)),
        parts=parts,
        messages=choices.messages,
        unweighed=[Notice(invalid.code, f"These weights cannot be used: {invalid}.")] if invalid else [],
        typed=dict(choices.typed_weights),
        regression=regression,
        unfitted=unfitted,
        outcomes=list_outcomes(first.survey, by_group=True),
        interval_count=count_intervals(document, setting),
        methods=methods_paragraph(first.survey, document, setting),
        checklist=make_checklist(first.survey, document, setting),
        cautions=list_cautions(document, setting),
        untrue=(),
    )
    return html, 400 if choices.messages or invalid or unfitted else 200
