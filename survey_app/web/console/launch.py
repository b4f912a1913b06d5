"""Before and at the launch of a draft: a preview of the form, a trial on simulated people, and publishing."""

import hashlib
import json
from typing import Any

import numpy as np
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from markupsafe import Markup

from survey_app.assure.simulation.trial import Line, Tried, try_out
from survey_app.authoring import Built
from survey_app.authoring.diagnostics import check
from survey_app.authoring.publication import differences, edited_by, publish_as, same_as, wanted_terms
from survey_app.channels import posterior
from survey_app.invitations.keys import make_key
from survey_app.languages import numbers
from survey_app.languages.markup import html
from survey_app.plan.dossier import dossier
from survey_app.plan.dossier.subject import Subject
from survey_app.store import Published, State, StoreError, now
from survey_app.web import charts
from survey_app.web.access import download, owner, store, tickets
from survey_app.web.console.draft_page import draft_of, page, planned
from survey_app.web.console.editor_sidebar import outlook, respondents_of
from survey_app.web.console.guard import guard
from survey_app.web.console.home import stand
from survey_app.web.console.terms_form import shown_terms
from survey_app.web.form.explanation_pages import explained
from survey_app.web.form.form_page import frame_of

blueprint = Blueprint("launch", __name__)
guard(blueprint)

TRIED = 500
MOST_TRIED = 20_000
MOST_CELLS = 60_000_000  # the most bits that a trial may draw
MOST_ROWS = 12  # the most rows of a question that are plotted


def _built(key: int) -> Built | ResponseReturnValue:
    """Return the draft as a survey, or a redirect to its errors."""
    built = check(draft_of(key)).built
    if built is None:
        flash("Correct the errors first; then there is something to see.", "error")
        return redirect(url_for("editor.questions", key=key))
    return built


# the form


@blueprint.get("/console/drafts/<int:key>/preview")
def preview(key: int) -> ResponseReturnValue:
    """Redirect to the form of the draft. Its URL ends like a real one, because the form's scripts read it."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    return redirect(url_for(".form", key=key, slug=built.survey.slug))


@blueprint.get("/console/drafts/<int:key>/s/<slug>")
def form(key: int, slug: str) -> ResponseReturnValue:
    """Show the form with its own scripts and template. Another script replaces network and storage."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    survey = built.survey
    return render_template("console/preview.html", key=key, definition=survey.source.decode(), **frame_of(survey))


@blueprint.get("/console/drafts/<int:key>/s/<slug>/privacy")
def privacy(key: int, slug: str) -> ResponseReturnValue:
    """Show the page that explains privacy, for the draft."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    url = url_for(".form", key=key, slug=built.survey.slug)
    return render_template("console/privacy.html", key=key, **explained(built.survey, url))


# the trial


@blueprint.get("/console/drafts/<int:key>/try")
def trial(key: int) -> ResponseReturnValue:
    """Show the results of simulated respondents next to their true answers. Nothing is stored."""
    source = draft_of(key)
    built = check(source).built
    count, plots = TRIED, None
    if built is not None and "people" in request.args:
        most = max(2, min(MOST_TRIED, MOST_CELLS // built.survey.width))
        count = min(respondents_of(request.args["people"], TRIED), most)
        plots = [
            (question, _plot(question, position))
            for position, question in enumerate(try_out(built.survey, count, _dice()))
        ]
    inside = [line.inside for question, _ in plots or () for line in question.lines]
    return page("trial", key, source, people=count, tried=plots, inside=sum(inside), intervals=len(inside))


def _dice() -> np.random.Generator:
    return np.random.default_rng()


def _plot(tried: Tried, position: int) -> dict[str, Any]:
    """Return a plot of the shares of a question, or of its mean, and the number of shares left out."""
    shares = [line for line in tried.lines if line.kind != "mean"]
    lines = sorted(sorted(shares, key=lambda line: -line.truth)[:MOST_ROWS], key=shares.index) or list(tried.lines)
    if not lines:
        return {"svg": "", "left_out": 0}
    percent = bool(shares)
    low, high = (float(tried.question.min), float(tried.question.max)) if not percent else (0.0, 1.0)
    svg = charts.intervals(
        [charts.Row(_label(line), line.estimate, line.low, line.high, None, line.n) for line in lines],
        title=tried.question.text,
        name=f"try-{position}",
        percent=percent,
        unit="" if percent else tried.question.unit,
        span=(low, high),
    )
    return {"svg": svg, "left_out": len(shares) - len(lines) if percent else 0}


def _label(line: Line) -> str:
    """Return the answer with its true share or mean."""
    return f"{line.option} (truth: {numbers.outcome(line.truth, line.kind != 'mean')})"


# for a board


@blueprint.get("/console/drafts/<int:key>/dossier.html")
def board(key: int) -> ResponseReturnValue:
    """Return the dossier for an ethics board, as a file."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    file = html(built.survey.title, dossier(Subject.of_file(built), planned(key)))
    return download(file, f"{built.slug}-dossier.html", "text/html; charset=utf-8")


# publishing


@blueprint.get("/console/drafts/<int:key>/publish")
def review(key: int) -> ResponseReturnValue:
    """Show the survey that would be published, for confirmation."""
    return _review(key, draft_of(key))


def _review(key: int, source: bytes, message: str = "") -> ResponseReturnValue:
    built = check(source).built
    earlier, is_taken = _earlier(built) if built else ([], False)
    warnings = _warnings(built)
    forecast = outlook(source, planned(key))
    same = same_as(store(), built) if built and earlier else []
    return page(
        "publish",
        key,
        source,
        409 if message else 200,
        built=built,
        definition=json.dumps(json.loads(built.survey.source), indent=1, ensure_ascii=False) if built else "",
        total=posterior.total(built.survey) if built else None,
        warnings=warnings,
        message=message,
        name=_name(built) if built else "",
        earlier=earlier[0] if earlier else None,
        earlier_closed=bool(earlier) and stand(earlier[0])[0] is State.CLOSED,
        earlier_groups=len(earlier),
        earlier_reports=sum(store().snapshot(group).reports for group in earlier),
        taken=is_taken,
        doubts=forecast.hopeless if forecast else [],
        same=same,
        differ=differences(same, built) if built and same else [],
        wanted=shown_terms(wanted_terms(same, built)) if built and same else {},
    )


def _next_step(built: Built) -> str:
    """Describe what the researcher has to do after publishing."""
    if built.invitations is None:
        return f"Published. Share the {'links' if built.groups else 'link'} below."
    if not built.invitations.own:
        return "Published. Its issuer makes the invitations now."
    if built.groups:
        return "Published. Now make invitations, for each group below."
    page = url_for("invitations.show", slug=built.slug)
    return Markup('Published. Now <a href="{}">make invitations</a>.').format(page)


def _earlier(built: Built) -> tuple[list[Published], bool]:
    """Return the previous version, or all groups of a study, and whether the slug belongs to another account."""
    newest = store().newest(built.slug)
    versions = store().study(built.slug) or ([newest] if newest else [])
    is_taken = (
        any(version.owner != owner() for version in versions) and edited_by(store(), current_user.user, built) is None
    )
    return [] if is_taken else versions, is_taken


def _name(built: Built) -> str:
    """Return the digest of the survey, or for a study the hash of all its digests, to confirm what was shown."""
    digests = [survey.digest for survey in built.surveys]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _warnings(built: Built | None) -> list[str]:
    """Return the warnings that the author has to read: a weak ε, or a date that has passed."""
    if built is None:
        return []
    over = built.terms.closes and built.terms.closes <= now()
    past = ["closes lies in the past: the survey would be closed from the start"] if over else []
    return [*built.advice, *past]


@blueprint.post("/console/drafts/<int:key>/publish")
def publish(key: int) -> ResponseReturnValue:
    """Publish exactly the version that was shown."""
    source = draft_of(key)
    built = check(source).built
    if built is None or request.form.get("digest") != _name(built):
        return _review(key, source, "The draft was changed meanwhile. This is what would be published now.")
    if same_as(store(), built):
        return _review(key, source, "Nothing was published: there is no new version in it.")
    if _warnings(built) and "advised" not in request.form:
        return _review(key, source, "Read the advice and tick that you did.")
    try:
        publish_as(
            store(),
            tickets(),
            built,
            current_user.user,
            state=State.READY if request.form.get("state") == "later" else State.OPEN,
            source=source,
            make_key=make_key,
        )
    except StoreError as error:
        reason = str(error)
        return _review(key, source, f"{reason[0].upper()}{reason[1:]}.")
    store().delete_draft(owner(), key)
    flash(_next_step(built), "status")
    return redirect(url_for("survey.show", slug=built.slug))
