"""The API for programs: definitions, reports, results, health, and the description of the API itself."""

import hmac
from typing import Any

import msgspec
from flask import Blueprint, Response, current_app, jsonify, request
from msgspec import structs
from werkzeug.exceptions import ClientDisconnected

from survey_app.collect.batch import read_batch
from survey_app.collect.endpoint import (
    PREFLIGHT_HEADERS,
    RESPONDENT_HEADERS,
    WAIT_SECONDS,
    Endpoint,
    incomplete_body,
)
from survey_app.estimate.contingency import PairError
from survey_app.estimate.intervals import Options
from survey_app.estimate.regression import FitError
from survey_app.invitations.codes import add_invitation_counts
from survey_app.problems import Problem
from survey_app.results.group_document import Study
from survey_app.results.survey_document import Results
from survey_app.store import Role
from survey_app.web.access import (
    find_groups,
    find_visible,
    requested_version,
    require,
    require_readable,
    require_token_account,
    store,
    tickets,
)
from survey_app.web.extension import current_candor
from survey_app.web.metrics import EXPOSITION, render_metrics
from survey_app.web.openapi import openapi_document
from survey_app.web.results.crosstab_view import read_crosstab
from survey_app.web.results.reader_choices import parse_options, problem_of_choices
from survey_app.web.results.regression_view import read_regression
from survey_app.web.results.results_cache import Snapshot
from survey_app.web.results.results_cache import cached_results as kept_results
from survey_app.web.results.study_page import StudyRequest

blueprint = Blueprint("api", __name__)
UNTIDY_SECONDS = 10.0  # for which the order of reports may remain readable on disk before /healthz reports it


@blueprint.get("/api/surveys/<slug>", provide_automatic_options=False)
def definition(slug: str) -> Response:
    """Return the canonical definition, byte for byte, with its digest as the ETag."""
    published = requested_version(slug)
    response = Response(published.survey.source, content_type="application/json")
    response.set_etag(published.survey.digest)
    for name, value in RESPONDENT_HEADERS:
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-cache"
    return response.make_conditional(request)  # type: ignore[return-value]


@blueprint.route("/api/surveys/<slug>", methods=["OPTIONS"])
@blueprint.route("/api/surveys/<slug>/reports", methods=["OPTIONS"])
@blueprint.route("/api/surveys/<slug>/tickets", methods=["OPTIONS"])
def preflight(slug: str) -> Response:
    """Allow any page to fetch a definition, take a ticket, and send a report."""
    return Response(status=204, headers=dict(RESPONDENT_HEADERS + PREFLIGHT_HEADERS))


@blueprint.post("/api/surveys/<slug>/reports", provide_automatic_options=False)
def report(slug: str) -> Response:
    """Take one report under a WSGI server. In production, the RSGI adapter calls the endpoint instead."""
    return _answer(current_candor().reports, slug)


@blueprint.post("/api/surveys/<slug>/tickets", provide_automatic_options=False)
def ticket(slug: str) -> Response:
    """Return a blind signature for an invitation, under a WSGI server."""
    return _answer(current_candor().ticket_requests, slug)


def _answer(endpoint: Endpoint[Any], slug: str) -> Response:
    try:
        endpoint.admit(request.remote_addr or "", request.headers.get("Content-Length"))
        body = _read_body(endpoint.largest + 1)
        reply = endpoint.answer(slug, request.headers.get("Candor-Invitation"), body).result(WAIT_SECONDS)
    except ClientDisconnected:
        reply = endpoint.refuse(incomplete_body())
    except (Problem, TimeoutError) as error:
        reply = endpoint.refuse(error)
    headers = [*RESPONDENT_HEADERS, *reply.headers]
    return Response(reply.body, reply.status, headers, content_type=reply.content_type)


def _read_body(most: int) -> bytes:
    """Return the first bytes of the body, at most so many. One read may return fewer bytes than there are."""
    body = b""
    while len(body) < most and (chunk := request.stream.read(most - len(body))):
        body += chunk
    return body


@blueprint.post("/api/surveys/<slug>/reports/batch")
def batch(slug: str) -> Response:
    """Store many reports of the owner at once, one JSON object per line."""
    require(require_token_account(), find_visible(slug), Role.OWNER)
    return jsonify(read_batch(store(), slug, request.get_data(cache=False)))


@blueprint.get("/api/surveys/<slug>/results")
def survey_results(slug: str) -> Response:
    """Return the results in the snapshot of a survey, or of all groups of a study.

    They are public, or for an account that has a role.
    """
    if groups := find_groups(slug):
        study_request = StudyRequest.of(groups)
        study_request.check()
        study_results = study_request.document
        parts = tuple(
            add_invitation_counts(part, store(), tickets(), group)
            for part, group in zip(study_results.groups, groups, strict=True)
        )
        results: Results | Study = structs.replace(study_results, groups=parts)
    else:
        snapshot = Snapshot.of(require_readable(requested_version(slug)))
        estimates = kept_results(snapshot, _require_options(snapshot.reports))
        results = add_invitation_counts(estimates, store(), tickets(), snapshot.published)
    response = jsonify(msgspec.to_builtins(results))
    response.headers["Cache-Control"] = "no-store"
    return response


def _require_options(reports: int) -> Options:
    """Return the intervals that the query requests.

    Raise Problem for a bad choice, because a document has no place for messages.
    """
    options, messages = parse_options(request.args, reports)
    if messages:
        raise problem_of_choices(messages)
    return options


@blueprint.get("/api/surveys/<slug>/crosstab")
def survey_crosstab(slug: str) -> Response:
    """Return a cross-tab of two questions, from the bits behind the snapshot, to readers of the results."""
    snapshot = Snapshot.of(require_readable(requested_version(slug)))
    rows, columns = (request.args.get(name, "") for name in ("rows", "columns"))
    options = _require_options(snapshot.reports)
    try:
        crosstab = read_crosstab(snapshot, rows, columns, options)
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    response = jsonify(msgspec.to_builtins(crosstab))
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/api/surveys/<slug>/regression")
def survey_regression(slug: str) -> Response:
    """Return the odds of an answer, explained by other answers, to readers of the results."""
    snapshot = Snapshot.of(require_readable(requested_version(slug)))
    options = _require_options(snapshot.reports)
    try:
        regression = read_regression(
            snapshot, request.args.get("outcome", ""), tuple(request.args.getlist("on")), options
        )
    except FitError as error:
        raise Problem("malformed_request", f"{error}.") from None
    response = jsonify(msgspec.to_builtins(regression))
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/healthz")
def health() -> Response:
    """Return whether the store responds and whether it is tidy.

    The status is untidy after ten seconds or more, and names the day since which the store cannot be tidied. The HTTP
    status is 200 even then, because reports can be stored.
    """
    store().current_key_and_digest("healthz")
    if since := store().rewrite_failing_since:
        return jsonify({"status": f"untidy since {since:%Y-%m-%d}"})
    return jsonify({"status": "untidy" if store().needs_rewrite_for(UNTIDY_SECONDS) else "ok"})


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return metrics for the operator. Raise Problem if the server was started without a token for them."""
    token: str | None = current_app.config["METRICS_TOKEN"]
    if not token:
        raise Problem("not_found", "Metrics are off: this server was started without CANDOR_METRICS_TOKEN.")
    header = request.headers.get("Authorization", "")
    if not hmac.compare_digest(header.encode(), f"Bearer {token}".encode()):
        raise Problem(
            "unauthorized", "Metrics need the server's CANDOR_METRICS_TOKEN, in the header Authorization: Bearer …"
        )
    response = Response(render_metrics(store()), content_type=EXPOSITION)
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """Return the OpenAPI description of this API."""
    return jsonify(openapi_document())
