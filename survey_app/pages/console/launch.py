"""Before and at the launch of a draft: the form as respondents will see it, a trial on made-up people, publishing."""

import hashlib
import json
from typing import Any

import numpy as np
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from markupsafe import Markup

from survey_app import charts
from survey_app.authoring import Built
from survey_app.authoring.faults import check
from survey_app.explain import chances, written
from survey_app.explain.prose import html
from survey_app.pages.access import download, owner, store, tickets
from survey_app.pages.console.draft import draft_of, page, planned
from survey_app.pages.console.guard import guard
from survey_app.pages.console.home import stand
from survey_app.pages.console.outlook import outlook, respondents_of
from survey_app.pages.console.terms import shown_terms
from survey_app.pages.form.explain import explained
from survey_app.pages.form.form import frame_of
from survey_app.plan.dossier import dossier
from survey_app.plan.dossier.subject import Subject
from survey_app.publish import differences, edited_by, publish_as, same_as, wanted_terms
from survey_app.simulate.trial import Line, Tried, try_out
from survey_app.store import Published, State, StoreError, now

blueprint = Blueprint("launch", __name__)
guard(blueprint)

TRIED = 500
MOST_TRIED = 20_000
MOST_CELLS = 60_000_000  # bits that a trial may draw
MOST_ROWS = 12  # of a question that are plotted


def _built(key: int) -> Built | ResponseReturnValue:
    """The draft as a survey, or the way back to what is wrong with it."""
    built = check(draft_of(key)).built
    if built is None:
        flash("Correct the errors first; then there is something to see.", "error")
        return redirect(url_for("editor.questions", key=key))
    return built


# the form


@blueprint.get("/console/drafts/<int:key>/preview")
def preview(key: int) -> ResponseReturnValue:
    """To the form of the draft: its address ends like a real one, because the form's scripts read it."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    return redirect(url_for(".form", key=key, slug=built.survey.slug))


@blueprint.get("/console/drafts/<int:key>/s/<slug>")
def form(key: int, slug: str) -> ResponseReturnValue:
    """The form with its own scripts and template; another script takes the place of network and storage."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    survey = built.survey
    return render_template("console/preview.html", key=key, definition=survey.source.decode(), **frame_of(survey))


@blueprint.get("/console/drafts/<int:key>/s/<slug>/privacy")
def privacy(key: int, slug: str) -> ResponseReturnValue:
    """The page that explains, for the draft."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    url = url_for(".form", key=key, slug=built.survey.slug)
    return render_template("console/privacy.html", key=key, **explained(built.survey, url))


# the trial


@blueprint.get("/console/drafts/<int:key>/try")
def trial(key: int) -> ResponseReturnValue:
    """Results of made-up respondents beside what is true of them. Nothing of it is kept."""
    source = draft_of(key)
    built = check(source).built
    count, tried = TRIED, None
    if built is not None and "people" in request.args:
        most = max(2, min(MOST_TRIED, MOST_CELLS // built.survey.width))
        count = min(respondents_of(request.args["people"], TRIED), most)
        tried = [
            (question, _plot(question, position))
            for position, question in enumerate(try_out(built.survey, count, _dice()))
        ]
    inside = [line.inside for question, _ in tried or () for line in question.lines]
    return page("trial", key, source, people=count, tried=tried, inside=sum(inside), intervals=len(inside))


def _dice() -> np.random.Generator:
    return np.random.default_rng()


def _plot(tried: Tried, position: int) -> dict[str, Any]:
    """The shares of a question, or its mean, as an image, and how many of them are in it."""
    shares = [line for line in tried.lines if line.kind != "mean"]
    shown = sorted(sorted(shares, key=lambda line: -line.truth)[:MOST_ROWS], key=shares.index) or list(tried.lines)
    if not shown:
        return {"svg": "", "left_out": 0}
    percent = bool(shares)
    low, high = (float(tried.question.min), float(tried.question.max)) if not percent else (0.0, 1.0)
    svg = charts.intervals(
        [charts.Row(_label(line), line.estimate, line.low, line.high, None, line.n) for line in shown],
        title=tried.question.text,
        name=f"try-{position}",
        percent=percent,
        unit="" if percent else tried.question.unit,
        span=(low, high),
    )
    return {"svg": svg, "left_out": len(shares) - len(shown) if percent else 0}


def _label(line: Line) -> str:
    """The answer, and what is true of it."""
    return f"{line.option} (truth: {written.outcome(line.truth, line.kind != 'mean')})"


# for a board


@blueprint.get("/console/drafts/<int:key>/dossier.html")
def board(key: int) -> ResponseReturnValue:
    """One document for an ethics board, as a file."""
    built = _built(key)
    if not isinstance(built, Built):
        return built
    file = html(built.survey.title, dossier(Subject.of_file(built), planned(key)))
    return download(file, f"{built.slug}-dossier.html", "text/html; charset=utf-8")


# publishing


@blueprint.get("/console/drafts/<int:key>/publish")
def review(key: int) -> ResponseReturnValue:
    """What would be published, to be confirmed."""
    return _review(key, draft_of(key))


def _review(key: int, source: bytes, message: str = "") -> ResponseReturnValue:
    built = check(source).built
    earlier, taken = _earlier(built) if built else ([], False)
    warnings = _warnings(built)
    ahead = outlook(source, planned(key))
    same = same_as(store(), built) if built and earlier else []
    return page(
        "publish",
        key,
        source,
        409 if message else 200,
        built=built,
        definition=json.dumps(json.loads(built.survey.source), indent=1, ensure_ascii=False) if built else "",
        total=chances.total(built.survey) if built else None,
        warnings=warnings,
        message=message,
        name=_name(built) if built else "",
        earlier=earlier[0] if earlier else None,
        earlier_closed=bool(earlier) and stand(earlier[0])[0] is State.CLOSED,
        earlier_groups=len(earlier),
        earlier_reports=sum(store().snapshot(one).reports for one in earlier),
        taken=taken,
        doubts=ahead.hopeless if ahead else [],
        same=same,
        differ=differences(same, built) if built and same else [],
        wanted=shown_terms(wanted_terms(same, built)) if built and same else {},
    )


def _next_step(built: Built) -> str:
    """What is to be done with what was published."""
    if built.invitations is None:
        return f"Published. Share the {'links' if built.groups else 'link'} below."
    if not built.invitations.own:
        return "Published. Its issuer makes the invitations now."
    if built.groups:
        return "Published. Now make invitations, for each group below."
    page = url_for("invitations.show", slug=built.slug)
    return Markup('Published. Now <a href="{}">make invitations</a>.').format(page)


def _earlier(built: Built) -> tuple[list[Published], bool]:
    """The version before, of a study all its groups; and whether the address is somebody else's."""
    newest = store().newest(built.slug)
    there = store().study(built.slug) or ([newest] if newest else [])
    taken = any(one.owner != owner() for one in there) and edited_by(store(), current_user.user, built) is None
    return [] if taken else there, taken


def _name(built: Built) -> str:
    """What was shown: the digest, of a study that of all its digests."""
    digests = [survey.digest for survey in built.surveys]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _warnings(built: Built | None) -> list[str]:
    """What its author has to have read: a weak ε, or a date that has passed."""
    if built is None:
        return []
    over = built.terms.closes and built.terms.closes <= now()
    past = ["closes lies in the past: the survey would be closed from the start"] if over else []
    return [*built.advice, *past]


@blueprint.post("/console/drafts/<int:key>/publish")
def publish(key: int) -> ResponseReturnValue:
    """Publish exactly what was shown."""
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
        )
    except StoreError as error:
        reason = str(error)
        return _review(key, source, f"{reason[0].upper()}{reason[1:]}.")
    store().delete_draft(owner(), key)
    flash(_next_step(built), "status")
    return redirect(url_for("survey.show", slug=built.slug))
