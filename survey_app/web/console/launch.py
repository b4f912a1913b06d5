"""Before and at the launch of a draft: a preview of the form, a trial on simulated people, and publishing."""

import hashlib
import json
from typing import Any

import numpy as np
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from survey_app.assure.simulation.trial import Line, QuestionTrial, run_trial
from survey_app.authoring import BuiltSurvey
from survey_app.authoring.diagnostics import check
from survey_app.authoring.publication import (
    find_edited_survey,
    find_published,
    list_differences,
    publish_as,
    resolve_terms,
)
from survey_app.channels import posterior
from survey_app.invitations.keys import make_key
from survey_app.languages import numbers
from survey_app.languages.markup import render_html
from survey_app.plan.dossier import build_dossier
from survey_app.plan.dossier.subject import Subject
from survey_app.store import PublishedSurvey, State, StoreError, now
from survey_app.web import charts
from survey_app.web.access import download, owner_key, store, tickets
from survey_app.web.console.draft_page import expected_respondents, load_draft, render_page
from survey_app.web.console.editor_sidebar import forecast_draft, parse_respondents
from survey_app.web.console.guard import guard
from survey_app.web.console.home import describe_state
from survey_app.web.console.terms_form import terms_fields
from survey_app.web.form.explanation_pages import explanation_context
from survey_app.web.form.form_page import frame_context
from survey_app.web.sessions import require_session_account

blueprint = Blueprint("launch", __name__)
guard(blueprint)

TRIAL_PEOPLE = 500
MOST_TRIAL_PEOPLE = 20_000
MOST_CELLS = 60_000_000  # the most bits that a trial may draw
MOST_ROWS = 12  # the most rows of a question that are plotted


def _build_or_redirect(key: int) -> BuiltSurvey | ResponseReturnValue:
    """Return the draft as a survey, or a redirect to its errors."""
    built = check(load_draft(key)).built
    if built is None:
        flash("Correct the errors first. Until then, this page has nothing to show.", "error")
        return redirect(url_for("editor.questions", key=key))
    return built


# the form


@blueprint.get("/console/drafts/<int:key>/preview")
def preview(key: int) -> ResponseReturnValue:
    """Redirect to the form of the draft. Its URL ends like a real one, because the form's scripts read it."""
    built = _build_or_redirect(key)
    if not isinstance(built, BuiltSurvey):
        return built
    return redirect(url_for(".form", key=key, slug=built.survey.slug))


@blueprint.get("/console/drafts/<int:key>/s/<slug>")
def form(key: int, slug: str) -> ResponseReturnValue:
    """Show the form with its own scripts and template. Another script replaces network and storage."""
    built = _build_or_redirect(key)
    if not isinstance(built, BuiltSurvey):
        return built
    survey = built.survey
    return render_template("console/preview.html", key=key, definition=survey.source.decode(), **frame_context(survey))


@blueprint.get("/console/drafts/<int:key>/s/<slug>/privacy")
def privacy(key: int, slug: str) -> ResponseReturnValue:
    """Show the page that explains privacy, for the draft."""
    built = _build_or_redirect(key)
    if not isinstance(built, BuiltSurvey):
        return built
    url = url_for(".form", key=key, slug=built.survey.slug)
    return render_template("console/privacy.html", key=key, **explanation_context(built.survey, url))


# the trial


@blueprint.get("/console/drafts/<int:key>/try")
def trial(key: int) -> ResponseReturnValue:
    """Show the results of simulated respondents next to their true answers. Nothing is stored."""
    source = load_draft(key)
    built = check(source).built
    count, plots = TRIAL_PEOPLE, None
    if built is not None and "people" in request.args:
        most = max(2, min(MOST_TRIAL_PEOPLE, MOST_CELLS // built.survey.width))
        count = min(parse_respondents(request.args["people"], TRIAL_PEOPLE), most)
        plots = [
            (question, _plot_question(question, position))
            for position, question in enumerate(run_trial(built.survey, count, _make_generator()))
        ]
    inside = [line.covers_truth for question, _ in plots or () for line in question.lines]
    return render_page("trial", key, source, people=count, tried=plots, inside=sum(inside), intervals=len(inside))


def _make_generator() -> np.random.Generator:
    return np.random.default_rng()


def _plot_question(result: QuestionTrial, position: int) -> dict[str, Any]:
    """Return a plot of the shares of a question, or of its mean, and the number of shares left out."""
    shares = [line for line in result.lines if line.kind != "mean"]
    lines = sorted(sorted(shares, key=lambda line: -line.truth)[:MOST_ROWS], key=shares.index) or list(result.lines)
    if not lines:
        return {"svg": "", "left_out": 0}
    percent = bool(shares)
    low, high = (float(result.question.min), float(result.question.max)) if not percent else (0.0, 1.0)
    svg = charts.intervals(
        [charts.Row(_label_with_truth(line), line.estimate, line.low, line.high, None, line.n) for line in lines],
        title=result.question.text,
        name=f"try-{position}",
        percent=percent,
        unit="" if percent else result.question.unit,
        span=(low, high),
    )
    return {"svg": svg, "left_out": len(shares) - len(lines) if percent else 0}


def _label_with_truth(line: Line) -> str:
    """Return the answer with its true share or mean."""
    return f"{line.option} (truth: {numbers.format_outcome(line.truth, line.kind != 'mean')})"


# for a board


@blueprint.get("/console/drafts/<int:key>/dossier.html")
def board(key: int) -> ResponseReturnValue:
    """Return the dossier for an ethics board, as a file."""
    built = _build_or_redirect(key)
    if not isinstance(built, BuiltSurvey):
        return built
    file = render_html(built.survey.title, build_dossier(Subject.from_file(built), expected_respondents(key)))
    return download(file, f"{built.slug}-dossier.html", "text/html; charset=utf-8")


# publishing


@blueprint.get("/console/drafts/<int:key>/publish")
def review(key: int) -> ResponseReturnValue:
    """Show the survey that would be published, for confirmation."""
    return _render_review(key, load_draft(key))


def _render_review(key: int, source: bytes, message: str = "") -> ResponseReturnValue:
    built = check(source).built
    earlier, is_taken = _find_earlier(built) if built else ([], False)
    warnings = _list_warnings(built)
    forecast = forecast_draft(source, expected_respondents(key))
    same = find_published(store(), built) if built and earlier else []
    return render_page(
        "publish",
        key,
        source,
        409 if message else 200,
        built=built,
        definition=json.dumps(json.loads(built.survey.source), indent=1, ensure_ascii=False) if built else "",
        total=posterior.total_epsilon(built.survey) if built else None,
        warnings=warnings,
        message=message,
        name=_digest_of_all(built) if built else "",
        earlier=earlier[0] if earlier else None,
        earlier_closed=bool(earlier) and describe_state(earlier[0])[0] is State.CLOSED,
        earlier_groups=len(earlier),
        earlier_reports=sum(store().snapshot(group).reports for group in earlier),
        taken=is_taken,
        doubts=forecast.doubts if forecast else [],
        same=same,
        differ=list_differences(same, built) if built and same else [],
        wanted=terms_fields(resolve_terms(same, built)) if built and same else {},
    )


def _describe_next_step(built: BuiltSurvey) -> str:
    """Describe what the researcher has to do after publishing."""
    if built.invitations is None:
        return f"Published. Share the {'links' if built.groups else 'link'} below."
    if not built.invitations.is_own_issuer:
        return "Published. Now the issuer can make the invitations."
    if built.groups:
        return "Published. Now make invitations, for each group below."
    page = url_for("invitations.show", slug=built.slug)
    return Markup('Published. Now <a href="{}">make invitations</a>.').format(page)


def _find_earlier(built: BuiltSurvey) -> tuple[list[PublishedSurvey], bool]:
    """Return the previous version, or all groups of a study, and whether the slug belongs to another account."""
    newest = store().newest_version(built.slug)
    versions = store().study(built.slug) or ([newest] if newest else [])
    is_taken = (
        any(version.owner != owner_key() for version in versions)
        and find_edited_survey(store(), require_session_account(), built) is None
    )
    return [] if is_taken else versions, is_taken


def _digest_of_all(built: BuiltSurvey) -> str:
    """Return the digest of the survey, or for a study the hash of all its digests, to confirm what was shown."""
    digests = [survey.digest for survey in built.surveys]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _list_warnings(built: BuiltSurvey | None) -> list[str]:
    """Return the warnings that the author has to read: a weak ε, or a date that has passed."""
    if built is None:
        return []
    over = built.terms.closes and built.terms.closes <= now()
    past = ["The closing date has passed: the survey would be closed from the start"] if over else []
    return [*(advice.sentence for advice in built.advice), *past]


@blueprint.post("/console/drafts/<int:key>/publish")
def publish(key: int) -> ResponseReturnValue:
    """Publish exactly the version that was shown."""
    source = load_draft(key)
    built = check(source).built
    if built is None or request.form.get("digest") != _digest_of_all(built):
        return _render_review(
            key, source, "The draft was changed in the meantime. This page shows what would be published now."
        )
    if find_published(store(), built):
        return _render_review(key, source, "Nothing was published: this draft is not a new version.")
    if _list_warnings(built) and "advised" not in request.form:
        return _render_review(key, source, "Read the advice first, and tick the box below it.")
    try:
        publish_as(
            store(),
            tickets(),
            built,
            require_session_account(),
            state=State.READY if request.form.get("state") == "later" else State.OPEN,
            source=source,
            make_key=make_key,
        )
    except StoreError as error:
        reason = str(error)
        return _render_review(key, source, f"{reason[0].upper()}{reason[1:]}.")
    store().delete_draft(owner_key(), key)
    flash(_describe_next_step(built), "status")
    return redirect(url_for("survey.show", slug=built.slug))
