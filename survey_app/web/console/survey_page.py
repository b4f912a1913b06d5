"""The console page of one survey: its state, terms, links, files and log, and closing and deleting it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import segno
from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from candor_client import display
from survey_app.authoring.publication import set_terms
from survey_app.channels import posterior
from survey_app.invitations.codes import public_counts as shown_invitations
from survey_app.invitations.mail.message import compose_invitation
from survey_app.languages import LANGUAGES, Words
from survey_app.languages.language_names import get_name
from survey_app.problems import Problem
from survey_app.results.report_counts import describe_hold
from survey_app.store import PublishedSurvey, Role, State, StoreError, may_close, now
from survey_app.web.access import download, find_managed, owner_key, role_of, store, tickets
from survey_app.web.console.duplicates import save_duplicate
from survey_app.web.console.guard import guard
from survey_app.web.console.home import LISTED_EVENTS, describe_state
from survey_app.web.console.terms_form import (
    TermsError,
    apply_terms,
    parse_sizes,
    parse_terms,
    submitted_terms,
    terms_fields,
)
from survey_app.web.sessions import require_session_account

blueprint = Blueprint("survey", __name__)
guard(blueprint)


def require_survey(slug: str, least: Role) -> PublishedSurvey:
    """Return the version of a survey that the request names, if the signed-in account has at least this role.

    Raise Problem otherwise; see `find_managed`.
    """
    return find_managed(slug, least, require_session_account(), request.values.get("digest"))


def respondent_link(published: PublishedSurvey) -> str:
    """Return the address for respondents."""
    return url_for("form.form", slug=published.survey.slug, _external=True)


def pinned_link(published: PublishedSurvey) -> str:
    """Return the address for respondents with the digest, so that a device refuses any other definition."""
    return f"{respondent_link(published)}#sha256={published.survey.digest}"


def make_qr_code(published: PublishedSurvey) -> segno.QRCode:
    """Return the QR code of the pinned link for a poster. Paper is a channel independent of this server."""
    return segno.make(pinned_link(published), error="m", micro=False)


@blueprint.get("/console/<slug>")
def show(slug: str) -> ResponseReturnValue:
    """Show the page of one survey, or of all groups of a study."""
    return render_survey(slug, require_survey(slug, Role.READER))


def render_survey(
    slug: str, published: PublishedSurvey, message: str = "", values: dict[str, str] | None = None
) -> str:
    """Render the page of a survey or a study.

    If its terms were refused, the page shows the `message` and the refused `values`.
    """
    database, terms = store(), values or terms_fields(published.terms)
    if groups := database.study(slug):
        return _render_study(slug, groups, message=message, terms=terms)
    return render_template(
        "console/survey.html",
        slug=published.survey.slug,
        published=published,
        survey=published.survey,
        total=posterior.total_epsilon(published.survey),
        stand=describe_state(published),
        message=message,
        terms=terms,
        reports=database.snapshot(published).reports,
        words=Words(published.survey.language),
        source=database.source(published) is not None,
        letters=_mail_texts(published),
        name_of=get_name,
        waiting=None if request.args else _find_unopened(published.survey.study, [published]),
        link=respondent_link(published),
        pinned=pinned_link(published),
        qr=_draw_qr_code(published),
        events=database.events(published.owner, slug)[:LISTED_EVENTS],
        **_sharing_context(published),
    )


def _mail_texts(published: PublishedSurvey) -> list[tuple[str, str]]:
    """Return the text of an e-mail, with its language tag, in every supported language of a survey except English."""
    survey = published.survey
    tags = [tag for tag in display.list_languages(survey) if (main := tag.split("-")[0]) in LANGUAGES and main != "en"]
    address = "(insert this person's link here)" if published.is_by_invitation else pinned_link(published)
    return [(tag, compose_invitation(survey, tag, address)) for tag in tags]


def _render_study(slug: str, groups: Sequence[PublishedSurvey], **more: Any) -> str:
    """Render one page for all groups. Each group has its link, its QR code and its text for an e-mail."""
    database, first = store(), groups[0]
    counts = [database.snapshot(group).reports for group in groups]
    sharing = [
        (group, reports, respondent_link(group), pinned_link(group), _draw_qr_code(group))
        for group, reports in zip(groups, counts, strict=True)
    ]
    names = (slug, *(group.survey.slug for group in groups))
    events = [event for name in names for event in database.events(first.owner, name)]
    return render_template(
        "console/study.html",
        slug=slug,
        published=first,
        survey=first.survey,
        total=posterior.total_epsilon(first.survey),
        stand=describe_state(first),
        reports=sum(counts),
        source=database.source(first) is not None,
        waiting=_find_unopened(slug, groups),
        groups=sharing,
        events=sorted(events, key=lambda event: event.moment, reverse=True)[:LISTED_EVENTS],
        **_sharing_context(first),
        **more,
    )


def _sharing_context(published: PublishedSurvey) -> dict[str, Any]:
    """Return template variables for the role of the reader, and for the people who may see the survey.

    The templates show those people to the owner only.
    """
    database, name = store(), published.name
    role = role_of(require_session_account(), published) or Role.READER
    return {
        "role": role,
        "owns": role is Role.OWNER,
        "edits": role >= Role.EDITOR,
        "owner": database.user(published.owner),
        "shares": database.shares(name),
        "links": database.links(name),
        "invitations": None if published.survey.study else shown_invitations(database, tickets(), published),
    }


def _find_unopened(study: str, groups: Sequence[PublishedSurvey]) -> PublishedSurvey | None:
    """Return a newer version that was published and not opened; None if there is none."""
    digests = {group.survey.digest for group in (*groups, *store().study(study))}
    newest = store().study(study, unopened=True) if study else [store().newest_version(groups[0].survey.slug)]
    return next((version for version in newest if version and version.survey.digest not in digests), None)


def _draw_qr_code(published: PublishedSurvey) -> str:
    return make_qr_code(published).svg_inline(
        scale=4, border=4, svgclass="qr", lineclass="dark", light="#fff", omitsize=True
    )


@blueprint.get("/console/<slug>/source.yaml")
def source(slug: str) -> Response:
    """Return the author's file, as it was written."""
    file = store().source(require_survey(slug, Role.READER))
    if file is None:
        raise Problem("not_found", "The file of this version was not kept.")
    return download(file, f"{slug}.yaml", "application/yaml; charset=utf-8")


@blueprint.get("/console/<slug>/definition.json")
def definition(slug: str) -> Response:
    """Return the canonical definition, byte for byte."""
    return download(require_survey(slug, Role.READER).survey.source, f"{slug}.definition.json", "application/json")


@blueprint.get("/console/<slug>/qr.svg")
def poster(slug: str) -> Response:
    """Return the QR code as a file."""
    return download(
        make_qr_code(require_survey(slug, Role.READER)).svg_inline(scale=8, border=4, light="#fff"),
        f"{slug}-qr.svg",
        "image/svg+xml",
    )


@blueprint.post("/console/<slug>/edit")
def edit(slug: str) -> ResponseReturnValue:
    """Create a draft of the next version, from the file of this one."""
    published = require_survey(slug, Role.EDITOR)
    file = store().source(published)
    if file is None:
        raise Problem("not_found", "The file of this version was not kept, so there is nothing to edit.")
    flash("This is a copy. The published survey stays as it is until you publish this one.", "status")
    return redirect(
        url_for("editor.questions", key=store().save_draft(owner_key(), apply_terms(file, published.terms)))
    )


@blueprint.post("/console/<slug>/duplicate")
def duplicate(slug: str) -> ResponseReturnValue:
    """Create a draft of another survey, from the file of this one."""
    file = store().source(require_survey(slug, Role.READER))
    if file is None:
        raise Problem("not_found", "The file of this version was not kept, so there is nothing to duplicate.")
    return save_duplicate(file)


@blueprint.post("/console/<slug>/open")
def open_survey(slug: str) -> ResponseReturnValue:
    """Open a survey that was published unopened, or resume it after a pause."""
    published = require_survey(slug, Role.EDITOR)
    store().set_state(published, State.OPEN, by=owner_key())
    flash(f"{published.survey.title} is open.", "status")
    return redirect(url_for(".show", slug=published.name))


@blueprint.post("/console/<slug>/pause")
def pause(slug: str) -> ResponseReturnValue:
    """Pause the survey: it takes no reports for a while."""
    published = require_survey(slug, Role.EDITOR)
    store().set_state(published, State.PAUSED, by=owner_key())
    flash(f"{published.survey.title} is paused. It accepts no reports until you resume it.", "status")
    return redirect(url_for(".show", slug=slug))


@blueprint.post("/console/<slug>/terms")
def change_terms(slug: str) -> ResponseReturnValue:
    """Change the terms, or show on the same page why they are refused.

    Terms that may close the survey at once need a confirmation.
    """
    published, values = require_survey(slug, Role.EDITOR), submitted_terms(request.form)
    groups = store().study(published.survey.study) or [published]
    try:
        reports = sum(store().snapshot(group).reports for group in groups)
        terms = parse_terms(published.terms, values, reports, now())
        if terms.max_reports and may_close(store(), groups, terms.max_reports) and "sure" not in request.form:
            context = {"published": published, "survey": published.survey, "slug": slug, "said": values}
            return render_template("console/limit.html", **context, most=terms.max_reports), 409
        result = set_terms(store(), published, terms, require_session_account())
    except (TermsError, StoreError) as error:
        reason = str(error)
        return render_survey(slug, published, f"{reason[0].upper()}{reason[1:]}.", values), 409
    message = "The terms were changed."
    if result.state is State.CLOSED:
        message = (
            f"{published.survey.title} is closed, because it already had this many reports. Its results are final."
        )
    flash(message, "status")
    return redirect(url_for(".show", slug=slug))


@blueprint.post("/console/<slug>/sizes")
def change_sizes(slug: str) -> ResponseReturnValue:
    """Change the number of people in each group of a study: in all groups, or in none."""
    published = require_survey(slug, Role.EDITOR)
    groups = store().study(published.survey.study)
    try:
        for group, size in parse_sizes(groups, request.form):
            set_terms(store(), group, replace(group.terms, size=size), require_session_account())
    except (TermsError, StoreError) as error:
        reason = str(error)
        return render_survey(published.name, published, f"{reason[0].upper()}{reason[1:]}."), 409
    flash("The sizes of the groups were changed.", "status")
    return redirect(url_for(".show", slug=published.name))


@blueprint.route("/console/<slug>/close", methods=["GET", "POST"])
def close(slug: str) -> ResponseReturnValue:
    """Close the survey permanently, after a confirmation page."""
    published = require_survey(slug, Role.EDITOR)
    if request.method == "POST":
        store().set_state(published, State.CLOSED, by=owner_key())
        notice = describe_hold(store().version(published.survey.slug, published.survey.digest) or published)
        flash(f"{published.survey.title} is closed. {notice or 'Its results are final.'}", "status")
        return redirect(url_for(".show", slug=slug))
    groups = store().study(published.survey.study) or [published]
    reports = sum(store().snapshot(group).reports for group in groups)
    return render_template(
        "console/close.html", published=published, survey=published.survey, reports=reports, groups=len(groups)
    )


@blueprint.route("/console/<slug>/delete", methods=["GET", "POST"])
def delete(slug: str) -> ResponseReturnValue:
    """Delete all versions and reports, of all groups of a study, after the slug was typed."""
    published = require_survey(slug, Role.OWNER)
    name = published.name
    is_mismatch = request.method == "POST" and request.form.get("typed", "").strip() != name
    if request.method == "POST" and not is_mismatch:
        store().delete_survey(slug)
        flash(f"{published.survey.title} was deleted, with all versions and reports.", "status")
        return redirect(url_for("console.home"))
    groups = store().study(name) or [published]
    reports = sum(store().snapshot(group).reports for group in groups)
    context = {"published": published, "survey": published.survey, "groups": len(groups), "reports": reports}
    page = render_template("console/delete.html", **context, name=name, wrong=is_mismatch)
    return page, 400 if is_mismatch else 200
