"""Invitations to a survey: links with one code each, and the counts of tickets not taken yet.

Names never reach the server. The browser combines names and links in a list, and looks up the unused codes in that
list. This server knows only the hashes of codes. The exact counts on this page are for the owner and editors, who send
reminders; everywhere else they are shown in steps.
"""

from flask import Blueprint, Response, jsonify, render_template, request
from flask.typing import ResponseReturnValue

from survey_app.channels import posterior
from survey_app.invitations import codes as inviting
from survey_app.languages import Words, numbers
from survey_app.problems import Problem
from survey_app.store import EventCode, EventData, PublishedSurvey, Role, State, StoreError, now, ticket_refusal
from survey_app.web.access import download, owner_key, store, tickets
from survey_app.web.console.guard import guard
from survey_app.web.console.survey_page import require_survey, respondent_link

blueprint = Blueprint("invitations", __name__)
guard(blueprint)


def require_by_invitation(slug: str) -> PublishedSurvey:
    """Return a survey by invitation that the account may edit. Raise Problem otherwise."""
    published = require_survey(slug, Role.EDITOR)
    if published.survey.tickets is None:
        raise Problem(
            "not_found",
            "This survey has no invitations: anybody with the link may answer it. Invitations are chosen before"
            " publishing.",
        )
    return published


@blueprint.get("/console/<slug>/invitations")
def show(slug: str) -> ResponseReturnValue:
    """Show how many people were invited and have taken a ticket, and the form to invite more."""
    published = require_by_invitation(slug)
    survey = published.survey
    issuer = survey.tickets.issuer if survey.tickets else ""
    return render_template(
        "console/invitations.html",
        published=published,
        survey=survey,
        issuer=issuer,
        link=respondent_link(published),
        total=posterior.total_epsilon(survey),
        words=Words(survey.language),
        counts=None if issuer else inviting.invitation_status(tickets(), survey.digest),
        closed=published.state is State.CLOSED,
        too_late=ticket_refusal(survey, now()),
        most=inviting.MOST_AT_ONCE,
    )


@blueprint.post("/console/<slug>/invitations")
def invite(slug: str) -> ResponseReturnValue:
    """Return links as a text file, once: only hashes are stored.

    A script requests JSON instead, to combine the links with names.
    """
    published = require_by_invitation(slug)
    survey = published.survey
    if survey.tickets and survey.tickets.issuer:
        raise Problem(
            "malformed_request", f"Invitations to this survey are made by {survey.tickets.issuer}, not by this server."
        )
    if published.state is State.CLOSED:
        raise Problem("survey_closed", "The survey is closed, so nobody can be invited any more.")
    if why := ticket_refusal(survey, now()):
        raise StoreError(why)
    count = request.form.get("count", "")
    if not count.isascii() or not count.isdigit() or not 1 <= int(count[:9]) <= inviting.MOST_AT_ONCE:
        raise Problem(
            "malformed_request", f"Make from 1 to {numbers.format_count(inviting.MOST_AT_ONCE)} invitations at a time."
        )
    codes = inviting.invite(tickets(), survey.slug, int(count))
    data = EventData(count=len(codes))
    store().record(published.owner, survey.slug, EventCode.INVITATIONS_MADE, data, by=owner_key())
    links = [inviting.format_link(respondent_link(published), code, survey.digest) for code in codes]
    if request.accept_mimetypes.best == "application/json":
        return jsonify({"links": links})
    return download(
        "".join(f"{address}\n" for address in links), f"{slug}-invitations.txt", "text/plain; charset=utf-8"
    )


@blueprint.get("/console/<slug>/invited.json", endpoint="invited")
def show_status(slug: str) -> Response:
    """Return the exact counts of invitations and tickets, with the hashes of the unused codes, to owner and editors."""
    response = jsonify(inviting.invitation_status(tickets(), require_by_invitation(slug).survey.digest)._asdict())
    response.headers["Cache-Control"] = "no-store"
    return response
