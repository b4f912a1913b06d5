"""One survey of a researcher: its state, its links, its files, its log, and its end."""

import segno
from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from client.canonical import NAME
from survey_app.explain import chances
from survey_app.pages.access import download, owner, store
from survey_app.pages.console.guard import guard
from survey_app.pages.console.home import LISTED_EVENTS, stand
from survey_app.problems import Problem
from survey_app.store import Published, State, any_version, opened_version

blueprint = Blueprint("survey", __name__)
guard(blueprint)


def mine(slug: str) -> Published:
    """One's own survey: the version that the request names, or the one that collects. Else a Problem."""
    published = any_version(store(), slug, request.values.get("digest")) if NAME.fullmatch(slug) else None
    others = published is not None and published.owner != owner()
    if published is None or (others and opened_version(store(), slug) is None):
        raise Problem("not_found", "There is no such survey.")
    if others:
        raise Problem("forbidden", "This survey belongs to another account.")
    return published


def link(published: Published) -> str:
    """The address for respondents."""
    return f"{request.url_root}s/{published.survey.slug}"


def pinned(published: Published) -> str:
    """The same with the digest, so that a device refuses any other definition."""
    return f"{link(published)}#sha256={published.survey.digest}"


def qr(published: Published) -> segno.QRCode:
    """The pinned link for a poster: paper is another way than this server."""
    return segno.make(pinned(published), error="m", micro=False)


@blueprint.get("/console/<slug>")
def show(slug: str) -> ResponseReturnValue:
    """Everything about one survey."""
    published = mine(slug)
    kept, newest = store(), store().newest(slug)
    waiting = newest if newest and newest.survey.digest != published.survey.digest and not request.args else None
    return render_template(
        "console/survey.html",
        published=published,
        survey=published.survey,
        total=chances.total(published.survey),
        stand=stand(published),
        reports=kept.snapshot(published).reports,
        source=kept.source(published) is not None,
        waiting=waiting,
        link=link(published),
        pinned=pinned(published),
        qr=qr(published).svg_inline(scale=4, border=4, svgclass="qr", lineclass="dark", light="#fff", omitsize=True),
        events=kept.events(owner(), slug)[:LISTED_EVENTS],
    )


@blueprint.get("/console/<slug>/source.yaml")
def source(slug: str) -> Response:
    """The author's file, as it was written."""
    found = store().source(mine(slug))
    if found is None:
        raise Problem("not_found", "The file that this version was made from was not kept.")
    return download(found, f"{slug}.yaml", "application/yaml; charset=utf-8")


@blueprint.get("/console/<slug>/definition.json")
def definition(slug: str) -> Response:
    """The canonical definition, byte for byte."""
    return download(mine(slug).survey.source, f"{slug}.definition.json", "application/json")


@blueprint.get("/console/<slug>/qr.svg")
def poster(slug: str) -> Response:
    """The QR code as a file."""
    return download(qr(mine(slug)).svg_inline(scale=8, border=4, light="#fff"), f"{slug}-qr.svg", "image/svg+xml")


@blueprint.post("/console/<slug>/edit")
def edit(slug: str) -> ResponseReturnValue:
    """A draft of the next version, from the file of this one."""
    found = store().source(mine(slug))
    if found is None:
        raise Problem("not_found", "The file of this version was not kept, so there is nothing to edit.")
    flash("This is a copy. The published survey stays as it is until you publish this one.", "status")
    return redirect(url_for("editor.questions", key=store().save_draft(owner(), found)))


@blueprint.post("/console/<slug>/open")
def open_survey(slug: str) -> ResponseReturnValue:
    """Open what was published unopened."""
    published = mine(slug)
    store().set_state(published, State.OPEN)
    flash(f"{published.survey.title} is open.", "status")
    return redirect(url_for(".show", slug=slug))


@blueprint.route("/console/<slug>/close", methods=["GET", "POST"])
def close(slug: str) -> ResponseReturnValue:
    """Close for good, after a page that asks."""
    published = mine(slug)
    if request.method == "POST":
        if published.state is State.READY:
            raise Problem("malformed_request", "It was never opened; delete it instead.")
        store().set_state(published, State.CLOSED)
        flash(f"{published.survey.title} is closed. Its results are final.", "status")
        return redirect(url_for(".show", slug=slug))
    reports = store().snapshot(published).reports
    return render_template("console/close.html", published=published, survey=published.survey, reports=reports)


@blueprint.route("/console/<slug>/delete", methods=["GET", "POST"])
def delete(slug: str) -> ResponseReturnValue:
    """Delete all versions and reports, after the slug was typed."""
    published = mine(slug)
    wrong = request.method == "POST" and request.form.get("typed", "").strip() != slug
    if request.method == "POST" and not wrong:
        store().delete_survey(slug)
        flash(f"{published.survey.title} is deleted, with all versions and reports.", "status")
        return redirect(url_for("console.home"))
    reports = store().snapshot(published).reports
    page = render_template("console/delete.html", survey=published.survey, reports=reports, wrong=wrong)
    return page, 400 if wrong else 200
