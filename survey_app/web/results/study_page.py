"""The results page of a study: each question once, all groups on one scale with their total.

Each group shows its own snapshot, independently of the other groups. The choices are those of a survey, except for a
population: the sizes of groups are only the weights of their total.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from flask import render_template, request
from flask.typing import ResponseReturnValue

from survey_app.channels.posterior import total
from survey_app.estimate.group_estimates import GroupsError
from survey_app.estimate.intervals import Options
from survey_app.languages import numbers
from survey_app.problems import Problem
from survey_app.results.checklist import cautions, checklist
from survey_app.results.group_document import Study, study_document
from survey_app.results.methods import Setting, paragraph
from survey_app.results.regression_document import outcomes
from survey_app.store import STEP, Role, State, now
from survey_app.store.records import Published
from survey_app.web.access import may, readable, reader
from survey_app.web.results.group_comparison import GroupComparison, compare_groups
from survey_app.web.results.plots import View
from survey_app.web.results.query_options import Choices, Unfit, query, read, refusal
from survey_app.web.results.regression_view import view_group_regression
from survey_app.web.results.results_cache import Snapshot, moved, stopping
from survey_app.web.results.weights import Weights, weights_of

NO_POPULATION = Unfit(
    "A population is for one survey: the sizes of groups only weigh their total. The page of a group takes one",
    "these intervals are for very many people",
)


@dataclass(frozen=True)
class ReadStudy:
    """A request for the results of a study: the snapshots of its groups, and the choices of the reader."""

    snapshots: tuple[Snapshot, ...]
    choices: Choices
    weights: Weights | None = None
    unweighed: str = ""  # the reason why the typed weights are invalid

    @classmethod
    def of(cls, groups: Sequence[Published]) -> "ReadStudy":
        """Return the snapshots and choices of the request. Raise Problem if the reader may not see the results."""
        snapshots = tuple(Snapshot.of(readable(group)) for group in groups)
        typed_choices = read(request.args, 0)
        choices = replace(typed_choices, rows="", columns="", others=(), on=(), digest="")
        if typed_choices.options.population is not None:
            options = replace(typed_choices.options, population=None)
            choices = replace(choices, options=options, messages=(*typed_choices.messages, NO_POPULATION))
        try:
            weights = weights_of(choices.typed, [(group.survey.slug, group.survey.group) for group in groups])
        except GroupsError as error:
            return cls(snapshots, choices, unweighed=str(error))
        return cls(snapshots, choices, weights)

    def check(self) -> None:
        """Raise Problem for a bad choice or bad weights, because a document or a file has no place for messages."""
        if self.choices.messages:
            raise refusal(self.choices.messages)
        if self.unweighed:
            raise Problem("malformed_request", f"{self.unweighed}.")

    @property
    def document(self) -> Study:
        """The results as the API returns them. Typed weights replace the sizes of the groups."""
        sizes = tuple(snapshot.published.terms.size for snapshot in self.snapshots)
        final = self.snapshots[0].published.state is State.CLOSED
        return _read_study(self.snapshots, sizes, self.choices.options, final, self.weights)

    def parts(self, *, standalone: bool = False) -> list[GroupComparison]:
        """Return the comparison of the groups for each question."""
        view = View(self.choices.options, self.choices.sample, standalone, self.choices.zoomed)
        return compare_groups(self.snapshots[0].published.survey, self.document, view)


@lru_cache(maxsize=4)
def _read_study(
    snapshots: tuple[Snapshot, ...],
    sizes: tuple[int | None, ...],
    options: Options,
    final: bool,
    weights: Weights | None,
) -> Study:
    members = [(snapshot.published.survey, snapshot.tally) for snapshot in snapshots]
    return study_document(members, sizes, options, final=final, weights=dict(weights) if weights else None)


def study_page(slug: str, groups: Sequence[Published]) -> ResponseReturnValue:
    """Render all questions of a study, with its groups side by side."""
    study_request = ReadStudy.of(groups)
    choices, document, parts = study_request.choices, study_request.document, study_request.parts()
    first = groups[0]
    state = first.at(now())
    final = state is State.CLOSED
    regression, unfitted = view_group_regression(study_request.snapshots, choices)
    interval_count = regression.intervals if regression else 0
    setting = Setting(
        choices.options, choices.sample, final, first.invited, stopping(first), moved(first), interval_count
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
        query=query,
        percent=numbers.percent,
        member=may(reader(), first, Role.READER),
        total=numbers.epsilon(total(first.survey)),
        parts=parts,
        messages=choices.messages,
        unweighed=[f"These weights do not do: {study_request.unweighed}."] if study_request.unweighed else [],
        typed=dict(choices.typed),
        regression=regression,
        unfitted=unfitted,
        outcomes=outcomes(first.survey, by_group=True),
        methods=paragraph(first.survey, document, setting),
        checklist=checklist(first.survey, document, setting),
        cautions=cautions(document, setting),
        untrue=(),
    )
    return html, 400 if choices.messages or study_request.unweighed or unfitted else 200
