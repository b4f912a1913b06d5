"""The API that publishes and changes surveys, so that scripts need no shell on the server.

Only a token authorizes a request, because another site could ride on a session. The checks are the same as in the
console and the command: `authoring` reads the file, `publication` publishes it and changes terms. Actions that cannot
be undone need a confirmation. A limit that may be reached already needs `sure`; deleting a survey needs its slug in a
header.
"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from flask import Blueprint, Response, jsonify, request, url_for
from msgspec import UNSET, UnsetType, structs

from survey_app.authoring.diagnostics import check
from survey_app.authoring.publication import publish_as, set_terms
from survey_app.authoring.terms import Terms
from survey_app.authoring.timestamps import parse_timestamp
from survey_app.authoring.yaml_source import LARGEST_FILE
from survey_app.invitations.keys import make_key
from survey_app.problems import CONTENT_TYPE, Problem
from survey_app.store import (
    PublishedSurvey,
    Role,
    State,
    StoreError,
    User,
    any_version,
    group_by_study,
    list_surveys,
    may_close,
    now,
)
from survey_app.web.access import find_managed, require_token_account, store, tickets
from survey_app.web.console.terms_form import closing_reason
from survey_app.web.extension import current_candor
from survey_app.web.survey_summary import Listing, SurveySummary, summarize_survey

blueprint = Blueprint("surveys", __name__)

YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain")
STATES = {"open": State.OPEN, "ready": State.READY}
CONFIRM_HEADER = "Candor-Confirm"
CLOSE_ADVICE = 'To close the survey now, send {"state": "closed"}'


class Change(msgspec.Struct, forbid_unknown_fields=True):
    """A change of the terms or of the state. Omitted keys stay as they are, and null removes a limit."""

    state: Literal["open", "paused", "closed"] | UnsetType = UNSET
    results: Literal["public", "private"] | UnsetType = UNSET
    closes: str | UnsetType | None = UNSET
    max_reports: Annotated[int, msgspec.Meta(ge=1, lt=10**9)] | UnsetType | None = UNSET
    deletes: str | UnsetType | None = UNSET
    sure: bool = False


@blueprint.errorhandler(StoreError)
def report_refusal(error: StoreError) -> Response:
    """Return a refusal of the store or of `publication` as a problem document, in its own words."""
    problem = Problem("conflict", _capitalize(str(error)))
    return Response(problem.body(), problem.status, content_type=CONTENT_TYPE)


@blueprint.get("/api/surveys")
def all_surveys() -> Response:
    """List the surveys of the account, then the surveys shared with it."""
    user, database = require_token_account(), store()
    studies = [*list_surveys(database, user.key), *group_by_study(database, database.shared_with(user.key))]
    return _reply(Listing([summarize_survey(groups, user) for groups in studies]))


@blueprint.post("/api/surveys")
def add() -> Response:
    """Publish an author's file, as a new version if its slug is known."""
    user = _require_author()
    state = STATES.get(request.args.get("state", "open"))
    if state is None:
        raise Problem("malformed_request", "state must be open or ready.")
    if request.mimetype not in (*YAML, "application/json"):
        raise Problem("malformed_request", "Send the survey as application/yaml, or as application/json.")
    is_json = request.mimetype == "application/json"
    source = request.get_data(cache=False)
    diagnosis = check(source, json_file=is_json)
    if diagnosis.built is None:
        faults = [
            {"code": fault.code, "reason": fault.reason, "path": fault.path, "line": fault.line}
            for fault in diagnosis.faults
        ]
        things = "one error" if len(faults) == 1 else f"{len(faults)} errors"
        raise Problem("bad_survey", f"Nothing was published: the file has {things}.", faults)
    stored_source = None if is_json else source  # the console edits YAML
    surveys = publish_as(
        store(), tickets(), diagnosis.built, user, state=state, source=stored_source, make_key=make_key
    )
    advice = [advice.sentence for advice in diagnosis.built.advice]
    response = _reply(structs.replace(summarize_survey(surveys, user), advice=advice), 201)
    response.headers["Location"] = url_for("api.definition", slug=surveys[0].survey.slug)
    return response


@blueprint.patch("/api/surveys/<slug>")
def change(slug: str) -> Response:
    """Change the terms or the state of a survey, or of all groups of a study."""
    user = _require_author()
    published = find_managed(slug, Role.EDITOR, user, request.args.get("digest"))
    try:
        update = msgspec.json.decode(request.get_data(cache=False), type=Change)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem("malformed_request", _capitalize(str(error))) from None
    terms = _apply_change(published.terms, update)
    if (update.state is UNSET) == (terms == published.terms):
        raise Problem("malformed_request", "Send either a new state or changed terms, not both.")
    if update.state is not UNSET:
        store().set_state(published, State(update.state), by=user.key)
    else:
        _check_closing(published, terms, update.sure)
        set_terms(store(), published, terms, user)
    return _reply(_current_summary(published, user))


@blueprint.delete("/api/surveys/<slug>")
def delete(slug: str) -> Response:
    """Delete all versions and reports. A header repeats the slug, because there is no confirmation page."""
    name = find_managed(slug, Role.OWNER, _require_author()).name
    if request.headers.get(CONFIRM_HEADER) != name:
        raise Problem(
            "malformed_request",
            f"To delete the survey with all versions and reports, send the header {CONFIRM_HEADER}: {name}",
        )
    store().delete_survey(name)
    return Response(status=204)


def _require_author() -> User:
    """Return the account, before the body is read, and limit the size of the body.

    Raise Problem if the account sends requests too often.
    """
    user = require_token_account()
    current_candor().limiters.authors.check(str(user.key))
    request.max_content_length = LARGEST_FILE
    return user


def _apply_change(old: Terms, update: Change) -> Terms:
    values: dict[str, Any] = {} if update.results is UNSET else {"public": update.results == "public"}
    for name in ("closes", "deletes"):
        value = getattr(update, name)
        if value is not UNSET:
            values[name] = None if value is None else _parse_moment(name, value)
    if update.max_reports is not UNSET:
        values["max_reports"] = update.max_reports
    return replace(old, **values)


def _parse_moment(name: str, text: str) -> datetime:
    try:
        return parse_timestamp(text)
    except ValueError as error:
        raise Problem("malformed_request", f"{name} {error}.") from None


def _check_closing(published: PublishedSurvey, terms: Terms, sure: bool) -> None:
    """Raise StoreError if the terms would close a survey at once, as in the console.

    Terms that may close it need `sure`.
    """
    groups = store().study(published.survey.study) or [published]
    reports = sum(store().snapshot(group).reports for group in groups)
    if why := closing_reason(published.terms, terms, reports, now()):
        raise StoreError(f"{why}. {CLOSE_ADVICE}")
    if terms.max_reports and not sure and may_close(store(), groups, terms.max_reports):
        raise StoreError(
            f"the survey may already have {terms.max_reports} reports, because fewer are shown than have arrived, and "
            'would then close for good. To confirm, add "sure": true'
        )


def _current_summary(published: PublishedSurvey, user: User) -> SurveySummary:
    """Return the summary of a survey, or of all groups of its study, after a change."""
    survey = published.survey
    current = any_version(store(), survey.slug, survey.digest)
    groups = store().study(survey.study) or [current or published]
    return summarize_survey(groups, user)


def _reply(document: Listing | SurveySummary, status: int = 200) -> Response:
    response = jsonify(msgspec.to_builtins(document))
    response.status_code = status
    return response


def _capitalize(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."
