"""The results page: estimates with their intervals, as plots and tables, for readers who may see them.

It works without scripts. With scripts it requests the number of reports every ten seconds, and reloads itself when that
number has grown.
"""

from importlib.util import find_spec
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey_app.assure.manipulation import suspicions
from survey_app.channels.posterior import total
from survey_app.estimate.question_estimates import LEAST_REPORTS
from survey_app.invitations.codes import counted, shown
from survey_app.languages import numbers
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem
from survey_app.results.caution import UNTRUE, untrue_answers
from survey_app.results.checklist import cautions, checklist
from survey_app.results.denominators import draws_sentence
from survey_app.results.methods import Setting, paragraph
from survey_app.results.report_counts import told as told_reports
from survey_app.store import STEP, Role, State, now
from survey_app.web.access import WITHDRAWN, may, readable, reader, store, study, tickets, version
from survey_app.web.charts import strip_axis
from survey_app.web.results.blocks import together
from survey_app.web.results.crosstab_view import view_crosstab
from survey_app.web.results.group_comparison import comparable_surveys, compare_surveys
from survey_app.web.results.menus import crosstab_menus, missing_in_crosstabs, regression_menu
from survey_app.web.results.noise import noise
from survey_app.web.results.overview import overview
from survey_app.web.results.plots import View, figures
from survey_app.web.results.query_options import Choices, query, read
from survey_app.web.results.regression_view import view_regression
from survey_app.web.results.results_cache import Snapshot, document, moved, stopping
from survey_app.web.results.study_page import study_page

blueprint = Blueprint("results", __name__)


@blueprint.get("/results/<slug>")
def page(slug: str) -> ResponseReturnValue:
    """Show all questions of a survey with the comparisons that the reader chose, or the page of a study."""
    if groups := study(slug):
        return study_page(slug, groups)
    snapshot, choices = wanted(slug)
    published = snapshot.published
    context = _about(snapshot, choices)
    if snapshot.reports < LEAST_REPORTS:
        return render_template("results/empty.html", **context, asked=None)
    survey, view = published.survey, View(choices.options, choices.sample, zoomed=choices.zoomed)
    results = counted(document(snapshot, choices.options), store(), tickets(), snapshot.published)
    parts = figures(survey, results, view)
    crosstab, uncrossed = view_crosstab(snapshot, choices, view)
    comparisons, unmatched = compare_surveys(snapshot, choices, view)
    regression, unfitted = view_regression(snapshot, choices)
    menus = crosstab_menus(survey)
    setting = Setting(
        choices.options,
        choices.sample,
        context["final"],
        published.invited,
        stopping(published),
        moved(published),
        compared=sum(item.intervals for item in (crosstab, regression, *comparisons) if item),
    )
    html = render_template(
        "results/page.html",
        **context,
        figures=parts,
        glances=overview(parts),
        axis=strip_axis(),
        noise=noise(parts),
        asked=results.asked,
        drawn_as=draws_sentence(results.asked) if results.asked else "",
        joint=together(survey, results, view),
        crosstab=crosstab,
        uncrossed=uncrossed,
        menus=menus,
        missing=missing_in_crosstabs(survey, menus),
        compared=comparisons,
        unmatched=unmatched,
        regression=regression,
        unfitted=unfitted,
        regression_menu=regression_menu(survey),
        others=comparable_surveys(published),
        messages=choices.messages,
        suspicions=suspicions(survey, snapshot.tally),
        methods=paragraph(survey, results, setting),
        checklist=checklist(survey, results, setting),
        cautions=cautions(results, setting),
        untrue=untrue_answers(survey, results),
        lies=UNTRUE,
    )
    return html, 400 if choices.messages or uncrossed or unmatched or unfitted else 200


def wanted(slug: str) -> tuple[Snapshot, Choices]:
    """Return the snapshot and the choices of a request. Raise Problem if the reader may not see the results."""
    snapshot = Snapshot.of(readable(version(slug)))
    return snapshot, read(request.args, snapshot.reports)


def _about(snapshot: Snapshot, choices: Choices) -> dict[str, Any]:
    """Return the template variables that every results page of a survey needs."""
    published, survey = snapshot.published, snapshot.published.survey
    state = published.at(now())
    current = store().current(survey.slug)
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
        "tickets": shown(store(), tickets(), snapshot.published),
        "step": STEP,
        "choices": choices,
        "query": query,
        "percent": numbers.percent,
        "member": may(reader(), published, Role.READER),
        "total": numbers.epsilon(total(survey)),
        "odds": numbers.times(total(survey)),
        "parquet": find_spec("pyarrow") is not None,
    }


@blueprint.get("/results/<slug>/count")
def count(slug: str) -> Response:
    """Return the number of reports that the page would show now. A live page requests it."""
    if groups := study(slug):
        published, reports = groups[0], sum(Snapshot.of(readable(group)).reports for group in groups)
    else:
        snapshot, _ = wanted(slug)
        published, reports = snapshot.published, snapshot.reports
    state = published.at(now())
    text = told_reports(reports, state, len(groups) or 1, published.hold)
    return jsonify({"reports": reports, "state": state, "text": text})


@blueprint.errorhandler(Problem)
def refused(problem: Problem) -> ResponseReturnValue:
    """Show a page that explains the refusal. Visitors who are not signed in are redirected to the sign-in page."""
    if request.endpoint == "results.count":
        return Response(problem.body(), problem.status, content_type=CONTENT_TYPE)
    if problem.code == "unauthorized" and "Authorization" not in request.headers:
        target = request.full_path if request.query_string else request.path
        return redirect(url_for("auth.sign_in", next=target))
    title = PROBLEMS[problem.code][1]
    context = {"code": problem.code, "detail": problem.detail, "withdrawn": problem.detail == WITHDRAWN}
    page = render_template("results/refused.html", title=title, member=False, **context)
    return page, problem.status
