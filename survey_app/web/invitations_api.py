"""Invitations for programs: create codes, and list the codes that were not used; for owner and editors, with a token.

`survey_app.invitations.mail` writes to people, on the machine that has their addresses. This API receives a number and
returns codes, once. Owner and editors see exact counts, as on the console page; everybody else sees steps.
"""

import msgspec
from flask import Blueprint, Response, jsonify, request

from survey_app.invitations import codes as inviting
from survey_app.problems import Problem
from survey_app.store import EventCode, EventData, PublishedSurvey, Role, State, User, now, ticket_refusal
from survey_app.web.access import find_visible, require, require_token_account, store, tickets

blueprint = Blueprint("inviting", __name__)


class _InvitationRequest(msgspec.Struct, forbid_unknown_fields=True):
    count: int


def _require_managed(slug: str, user: User) -> PublishedSurvey:
    """Return a survey by invitation that the account may manage. Raise Problem otherwise."""
    published = require(user, find_visible(slug), Role.EDITOR)
    survey_tickets = published.survey.tickets
    if survey_tickets is None:
        raise Problem("not_found", "This survey has no invitations: anybody with the link may answer it.")
    if survey_tickets.issuer:
        raise Problem(
            "not_found", f"Invitations to this survey are made by {survey_tickets.issuer}, not by this server."
        )
    return published


@blueprint.get("/api/surveys/<slug>/invitations", endpoint="invited")
def show_status(slug: str) -> Response:
    """Return the counts of invitations and tickets, with the hashes of the unused codes."""
    published = _require_managed(slug, require_token_account())
    counts = inviting.invitation_status(tickets(), published.survey.digest)
    return _private({"survey": published.survey.digest, "state": published.state, **counts._asdict()}, 200)


@blueprint.post("/api/surveys/<slug>/invitations")
def invite(slug: str) -> Response:
    """Create codes and return them once: only their hashes are stored."""
    user = require_token_account()
    published = _require_managed(slug, user)
    try:
        count = msgspec.json.decode(request.get_data(cache=False), type=_InvitationRequest).count
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem("malformed_request", f'The body must be an object such as {{"count": 20}}: {error}') from None
    if not 1 <= count <= inviting.MOST_AT_ONCE:
        raise Problem("malformed_request", f"count must be from 1 to {inviting.MOST_AT_ONCE}.")
    if published.state is State.CLOSED:
        raise Problem("survey_closed", "The survey is closed, so nobody can be invited any more.")
    if why := ticket_refusal(published.survey, now()):
        raise Problem("too_late", f"{why}.")
    codes = inviting.invite(tickets(), slug, count)
    store().record(published.owner, slug, EventCode.INVITATIONS_MADE, EventData(count=count), by=user.key)
    return _private({"survey": published.survey.digest, "codes": codes}, 201)


def _private(document: dict[str, object], status: int) -> Response:
    response = jsonify(document)
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    return response
