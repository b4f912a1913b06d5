"""One survey of a researcher: its state, its terms, its links, its files, its log, and its end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import segno
from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from client.canonical import NAME
from survey_app.explain import chances
from survey_app.explain.languages import Words
from survey_app.pages.access import download, owner, store
from survey_app.pages.console.guard import guard
from survey_app.pages.console.home import LISTED_EVENTS, stand
from survey_app.pages.console.terms import TermsError, read_sizes, read_terms, said_terms, shown_terms
from survey_app.problems import Problem
from survey_app.store import Published, State, StoreError, any_version, may_close, now, opened_version

blueprint = Blueprint("survey", __name__)
guard(blueprint)


def mine(slug: str) -> Published:
    """One's own survey: the version that the request names, or the one that collects. Else a Problem.

    Of a study it is the first group: what is done to one is done to all.
    """
    groups = store().study(slug)
    wanted = groups[0].survey.slug if groups else slug
    published = any_version(store(), wanted, request.values.get("digest")) if NAME.fullmatch(slug) else None
    others = published is not None and published.owner != owner()
    if published is None or (others and opened_version(store(), wanted) is None):
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
    """Everything about one survey, or about all groups of a study."""
    return page_of(slug, mine(slug))


def page_of(slug: str, published: Published, message: str = "", said: dict[str, str] | None = None) -> str:
    """The page of a survey or a study; with a message, where its terms were not changed to what was `said`."""
    kept, terms = store(), said or shown_terms(published.terms)
    if groups := kept.study(slug):
        return _study(slug, groups, message=message, terms=terms)
    return render_template(
        "console/survey.html",
        published=published,
        survey=published.survey,
        total=chances.total(published.survey),
        stand=stand(published),
        message=message,
        terms=terms,
        reports=kept.snapshot(published).reports,
        words=Words(published.survey.language),
        source=kept.source(published) is not None,
        waiting=None if request.args else _waiting(published.survey.study, [published]),
        link=link(published),
        pinned=pinned(published),
        qr=_drawn(published),
        events=kept.events(owner(), slug)[:LISTED_EVENTS],
    )


def _study(slug: str, groups: Sequence[Published], **more: Any) -> str:
    """One page for all groups: each has its link, its code and its text for an e-mail."""
    kept, first = store(), groups[0]
    counts = [kept.snapshot(group).reports for group in groups]
    sharing = [
        (group, reports, link(group), pinned(group), _drawn(group))
        for group, reports in zip(groups, counts, strict=True)
    ]
    events = [event for name in (slug, *(one.survey.slug for one in groups)) for event in kept.events(owner(), name)]
    return render_template(
        "console/study.html",
        slug=slug,
        published=first,
        survey=first.survey,
        total=chances.total(first.survey),
        stand=stand(first),
        reports=sum(counts),
        source=kept.source(first) is not None,
        waiting=_waiting(slug, groups),
        groups=sharing,
        events=sorted(events, key=lambda event: event.moment, reverse=True)[:LISTED_EVENTS],
        **more,
    )


def _waiting(study: str, groups: Sequence[Published]) -> Published | None:
    """A newer version that was published and not opened."""
    known = {group.survey.digest for group in (*groups, *store().study(study))}
    newest = store().study(study, unopened=True) if study else [store().newest(groups[0].survey.slug)]
    return next((one for one in newest if one and one.survey.digest not in known), None)


def _drawn(published: Published) -> str:
    return qr(published).svg_inline(scale=4, border=4, svgclass="qr", lineclass="dark", light="#fff", omitsize=True)


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
    """Open what was published unopened, or go on after a pause."""
    published = mine(slug)
    store().set_state(published, State.OPEN)
    flash(f"{published.survey.title} is open.", "status")
    return redirect(url_for(".show", slug=published.name))


@blueprint.post("/console/<slug>/pause")
def pause(slug: str) -> ResponseReturnValue:
    """Take no reports for a while."""
    published = mine(slug)
    store().set_state(published, State.PAUSED)
    flash(f"{published.survey.title} is paused. It takes no reports until you let it go on.", "status")
    return redirect(url_for(".show", slug=slug))


@blueprint.post("/console/<slug>/terms")
def change_terms(slug: str) -> ResponseReturnValue:
    """Change the terms, or say on the same page why not; what may close it at once is asked again."""
    published, said = mine(slug), said_terms(request.form)
    groups = store().study(published.survey.study) or [published]
    try:
        reports = sum(store().snapshot(group).reports for group in groups)
        terms = read_terms(published.terms, said, reports, now())
        if terms.max_reports and may_close(store(), groups, terms.max_reports) and "sure" not in request.form:
            asked = {"published": published, "survey": published.survey, "slug": slug, "said": said}
            return render_template("console/limit.html", **asked, most=terms.max_reports), 409
        changed = store().set_terms(published, terms)
    except (TermsError, StoreError) as error:
        reason = str(error)
        return page_of(slug, published, f"{reason[0].upper()}{reason[1:]}.", said), 409
    told = "The terms are changed."
    if changed.state is State.CLOSED:
        told = f"{published.survey.title} is closed: it had as many reports as that. Its results are final."
    flash(told, "status")
    return redirect(url_for(".show", slug=slug))


@blueprint.post("/console/<slug>/sizes")
def change_sizes(slug: str) -> ResponseReturnValue:
    """How many people each group of a study has: of all groups, or of none."""
    published = mine(slug)
    groups = store().study(published.survey.study)
    try:
        for group, size in read_sizes(groups, request.form):
            store().set_terms(group, replace(group.terms, size=size))
    except (TermsError, StoreError) as error:
        reason = str(error)
        return page_of(published.name, published, f"{reason[0].upper()}{reason[1:]}."), 409
    flash("The sizes of the groups are changed.", "status")
    return redirect(url_for(".show", slug=published.name))


@blueprint.route("/console/<slug>/close", methods=["GET", "POST"])
def close(slug: str) -> ResponseReturnValue:
    """Close for good, after a page that asks."""
    published = mine(slug)
    if request.method == "POST":
        store().set_state(published, State.CLOSED)
        flash(f"{published.survey.title} is closed. Its results are final.", "status")
        return redirect(url_for(".show", slug=slug))
    groups = store().study(published.survey.study) or [published]
    reports = sum(store().snapshot(group).reports for group in groups)
    return render_template(
        "console/close.html", published=published, survey=published.survey, reports=reports, groups=len(groups)
    )


@blueprint.route("/console/<slug>/delete", methods=["GET", "POST"])
def delete(slug: str) -> ResponseReturnValue:
    """Delete all versions and reports, of all groups of a study, after the slug was typed."""
    published = mine(slug)
    name = published.name
    wrong = request.method == "POST" and request.form.get("typed", "").strip() != name
    if request.method == "POST" and not wrong:
        store().delete_survey(slug)
        flash(f"{published.survey.title} is deleted, with all versions and reports.", "status")
        return redirect(url_for("console.home"))
    groups = store().study(name) or [published]
    reports = sum(store().snapshot(group).reports for group in groups)
    told = {"published": published, "survey": published.survey, "groups": len(groups), "reports": reports}
    page = render_template("console/delete.html", **told, name=name, wrong=wrong)
    return page, 400 if wrong else 200
