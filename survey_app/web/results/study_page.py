"""The results page of a study: each question once, all groups on one scale with their total.

A group shows its own snapshot, whatever the others show; so the page moves in the steps of the groups. Its choices are
those of a survey, but for a population: the sizes of groups only weigh their total.
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
    """A study that the reader may see: what each group shows, and what the address asks for."""

    snapshots: tuple[Snapshot, ...]
    choices: Choices
    weights: Weights | None = None
    unweighed: str = ""  # why the weights that were typed do not count

    @classmethod
    def of(cls, groups: Sequence[Published]) -> "ReadStudy":
        """What a request asks for, if it may."""
        snapshots = tuple(Snapshot.of(readable(group)) for group in groups)
        asked = read(request.args, 0)
        choices = replace(asked, rows="", columns="", others=(), on=(), digest="")
        if asked.options.population is not None:
            options = replace(asked.options, population=None)
            choices = replace(choices, options=options, messages=(*asked.messages, NO_POPULATION))
        try:
            weights = weights_of(choices.typed, [(group.survey.slug, group.survey.group) for group in groups])
        except GroupsError as error:
            return cls(snapshots, choices, unweighed=str(error))
        return cls(snapshots, choices, weights)

    def check(self) -> None:
        """A document or a file has no place for messages, so a bad choice is a Problem."""
        if self.choices.messages:
            raise refusal(self.choices.messages)
        if self.unweighed:
            raise Problem("malformed_request", f"{self.unweighed}.")

    @property
    def document(self) -> Study:
        """The same as the API gives; weights count instead of sizes."""
        sizes = tuple(one.published.terms.size for one in self.snapshots)
        final = self.snapshots[0].published.state is State.CLOSED
        return _read_study(self.snapshots, sizes, self.choices.options, final, self.weights)

    def parts(self, *, standalone: bool = False) -> list[GroupComparison]:
        """All questions."""
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
    members = [(one.published.survey, one.tally) for one in snapshots]
    return study_document(members, sizes, options, final=final, weights=dict(weights) if weights else None)


def study_page(slug: str, groups: Sequence[Published]) -> ResponseReturnValue:
    """All questions of a study."""
    asked = ReadStudy.of(groups)
    choices, document, parts = asked.choices, asked.document, asked.parts()
    first = groups[0]
    state = first.at(now())
    final = state is State.CLOSED
    regression, unfitted = view_group_regression(asked.snapshots, choices)
    seen = regression.intervals if regression else 0
    setting = Setting(choices.options, choices.sample, final, first.invited, stopping(first), moved(first), seen)
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
        unweighed=[f"These weights do not do: {asked.unweighed}."] if asked.unweighed else [],
        typed=dict(choices.typed),
        regression=regression,
        unfitted=unfitted,
        outcomes=outcomes(first.survey, by_group=True),
        methods=paragraph(first.survey, document, setting),
        checklist=checklist(first.survey, document, setting),
        cautions=cautions(document, setting),
        untrue=(),
    )
    return html, 400 if choices.messages or asked.unweighed or unfitted else 200
