"""The results page: estimates with their intervals, as plots and tables, for readers who may see them.

It works without scripts. With scripts it requests the number of reports every ten seconds, and reloads itself when that
number has grown.
"""

from importlib.util import find_spec
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.assure.manipulation import describe_manipulation
from survey_app.channels.posterior import total_epsilon
from survey_app.estimate.question_estimates import LEAST_REPORTS
from survey_app.invitations.codes import add_invitation_counts, public_counts
from survey_app.languages import numbers
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem
from survey_app.results.caution import DENIAL_SHARES, correct_denied_answers
from survey_app.results.checklist import list_cautions, make_checklist
from survey_app.results.denominators import describe_draws
from survey_app.results.methods import SurveyStatus, count_intervals, methods_paragraph
from survey_app.results.report_counts import format_report_count as told_reports
from survey_app.store import STEP, Role, State, now
from survey_app.web.access import (
    WithdrawnLink,
    find_groups,
    has_role,
    reader,
    requested_version,
    require_readable,
    store,
    tickets,
)
from survey_app.web.charts import strip_axis
from survey_app.web.results.crosstab_view import view_crosstab
from survey_app.web.results.group_comparison import comparable_surveys, compare_surveys
from survey_app.web.results.joint_blocks import joint_blocks
from survey_app.web.results.menus import crosstab_menus, explain_missing_crosstabs, regression_menu
from survey_app.web.results.noise import find_noise
from survey_app.web.results.overview import build_overview
from survey_app.web.results.plots import View, build_figures
from survey_app.web.results.reader_choices import Choices, format_query, parse_choices
from survey_app.web.results.regression_view import view_regression
from survey_app.web.results.results_cache import (
    Snapshot,
    cached_results,
    describe_stopping_rule,
    has_stopping_rule_changed,
)
from survey_app.web.results.study_page import render_study
from survey_app.web.sessions import requested_path

blueprint = Blueprint("results", __name__)


@blueprint.get("/results/<slug>")
def page(slug: str) -> ResponseReturnValue:
    """Show all questions of a survey with the comparisons that the reader chose, or the page of a study."""
    if groups := find_groups(slug):
        return render_study(slug, groups)
    snapshot, choices = read_request(slug)
    published = snapshot.published
    context = _survey_context(snapshot, choices)
    if snapshot.reports < LEAST_REPORTS:
        return render_template("results/no_results.html", **context, asked=None)
    survey, view = published.survey, View(choices.options, choices.sample, zoomed=choices.zoomed)
    results = add_invitation_counts(cached_results(snapshot, choices.options), store(), tickets(), snapshot.published)
    parts = build_figures(survey, results, view)
    crosstab, uncrossed = view_crosstab(snapshot, choices, view)
    comparisons, unmatched = compare_surveys(snapshot, choices, view)
    regression, unfitted = view_regression(snapshot, choices)
    menus = crosstab_menus(survey)
    setting = SurveyStatus(
        choices.options,
        choices.sample,
        context["final"],
        published.is_by_invitation,
        describe_stopping_rule(published),
        has_stopping_rule_changed(published),
        comparison_count=sum(item.intervals for item in (crosstab, regression, *comparisons) if item),
    )
    html = render_template(
        "results/survey.html",
        **context,
        figures=parts,
        glances=build_overview(parts),
        axis=strip_axis(),
        noise=find_noise(parts),
        asked=results.asked,
        drawn_as=describe_draws(results.asked) if results.asked else "",
        joint=joint_blocks(survey, results, view),
        crosstab=crosstab,
        uncrossed=uncrossed,
        menus=menus,
        missing=explain_missing_crosstabs(survey, menus),
        compared=comparisons,
        unmatched=unmatched,
        regression=regression,
        unfitted=unfitted,
        regression_menu=regression_menu(survey),
        others=comparable_surveys(published),
        messages=choices.messages,
        suspicions=describe_manipulation(survey, snapshot.tally),
        interval_count=count_intervals(results, setting),
        methods=methods_paragraph(survey, results, setting),
        checklist=make_checklist(survey, results, setting),
        cautions=list_cautions(results, setting),
        untrue=correct_denied_answers(survey, results),
        lies=DENIAL_SHARES,
    )
    return html, 400 if choices.messages or uncrossed or unmatched or unfitted else 200


def read_request(slug: str) -> tuple[Snapshot, Choices]:
    """Return the snapshot and the choices of a request. Raise Problem if the reader may not see the results."""
    snapshot = Snapshot.of(require_readable(requested_version(slug)))
    return snapshot, parse_choices(request.args, snapshot.reports)


def _survey_context(snapshot: Snapshot, choices: Choices) -> dict[str, Any]:
    """Return the template variables that every results page of a survey needs."""
    published, survey = snapshot.published, snapshot.published.survey
    state = published.state_at(now())
    current = store().current_key_and_digest(survey.slug)
    return {
        "survey": survey,
        "study": None,
        "slug": survey.slug,
        "published": published,
        "questions": {question.id: question for question in survey.questions},
        "reports": snapshot.reports,
        "state": state,
        "full": published.full,
        "final": state is State.CLOSED and not published.hold.waits,
        "older": current is not None and current[1] != survey.digest,
        "tickets": public_counts(store(), tickets(), snapshot.published),
        "step": STEP,
        "choices": choices,
        "query": format_query,
        "percent": numbers.format_percent,
        "member": has_role(reader(), published, Role.READER),
        "total": numbers.format_epsilon(total_epsilon(survey)),
        "odds": numbers.format_odds_factor(total_epsilon(survey)),
        "parquet": find_spec("pyarrow") is not None,
    }


@blueprint.get("/results/<slug>/count")
def count(slug: str) -> Response:
    """Return the number of reports that the page would show now. A live page requests it."""
    if groups := find_groups(slug):
        published, reports = groups[0], sum(Snapshot.of(require_readable(group)).reports for group in groups)
    else:
        snapshot, _ = read_request(slug)
        published, reports = snapshot.published, snapshot.reports
    state = published.state_at(now())
    text = told_reports(reports, state, len(groups) or 1, published.hold)
    return jsonify({"reports": reports, "state": state, "text": text})


@blueprint.errorhandler(Problem)
def show_results_refusal(problem: Problem) -> ResponseReturnValue:
    """Show a page that explains the refusal. Visitors who are not signed in are redirected to the sign-in page."""
    if request.endpoint == "results.count":
        return Response(problem.body(), problem.status, content_type=CONTENT_TYPE)
    if problem.code == "unauthorized" and "Authorization" not in request.headers:
        return redirect(url_for("auth.sign_in", next=requested_path()))
    title = PROBLEMS[problem.code][1]
    context = {"code": problem.code, "detail": problem.detail, "withdrawn": isinstance(problem, WithdrawnLink)}
    page = render_template("results/refusal.html", title=title, member=False, **context)
    return page, problem.status
