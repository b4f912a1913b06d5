"""Invitations for programs: make codes, and see which were not brought; for whoever runs the survey, with a token.

What goes to people is written where their addresses are (`survey_app.mail`); here a number comes in and codes go out,
once. The exact counts are the business of owner and editors, as on the page of the console; all others see steps.
"""

import msgspec
from flask import Blueprint, Response, jsonify, request

from survey_app.explain import written
from survey_app.pages.access import holder, require, store, tickets, visible
from survey_app.problems import Problem
from survey_app.store import Published, Role, State, User, now, too_late
from survey_app.tickets import inviting

blueprint = Blueprint("inviting", __name__)


class _Wanted(msgspec.Struct, forbid_unknown_fields=True):
    count: int


def _managed(slug: str, user: User) -> Published:
    """A survey by invitation that an account may run, or a Problem."""
    published = require(user, visible(slug), Role.EDITOR)
    survey_tickets = published.survey.tickets
    if survey_tickets is None:
        raise Problem("not_found", "Anybody with the link may answer this survey; it has no invitations.")
    if survey_tickets.issuer:
        raise Problem("not_found", f"{survey_tickets.issuer} invites to this survey, not this server.")
    return published


@blueprint.get("/api/surveys/<slug>/invitations")
def invited(slug: str) -> Response:
    """How the invitations stand, with the hashes of codes that were not brought."""
    published = _managed(slug, holder())
    found = inviting.invited(tickets(), published.survey.digest)
    return _private({"survey": published.survey.digest, "state": published.state, **found._asdict()}, 200)


@blueprint.post("/api/surveys/<slug>/invitations")
def invite(slug: str) -> Response:
    """New codes, once: only their hashes are kept."""
    user = holder()
    published = _managed(slug, user)
    try:
        count = msgspec.json.decode(request.get_data(cache=False), type=_Wanted).count
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem("malformed_request", f'Send {{"count": 20}}: {error}') from None
    if not 1 <= count <= inviting.MOST_AT_ONCE:
        raise Problem("malformed_request", f"Make from 1 to {inviting.MOST_AT_ONCE} invitations at once.")
    if published.state is State.CLOSED:
        raise Problem("survey_closed", "The survey is closed, so nobody can be invited any more.")
    if why := too_late(published.survey, now()):
        raise Problem("too_late", f"{why}.")
    codes = inviting.invite(tickets(), slug, count)
    store().record(published.owner, slug, f"made {written.count(count)} invitations", user.key)
    return _private({"survey": published.survey.digest, "codes": codes}, 201)


def _private(document: dict[str, object], status: int) -> Response:
    response = jsonify(document)
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    return response
