"""The machine's side: definitions, batches, results, health, the API's own description, the browser's client."""

import hashlib
import hmac
import re
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from flask_login import current_user

import client
from survey_app import get_store
from survey_app.collect import PREFLIGHT_HEADERS, RESPONDENT_HEADERS, read_batch
from survey_app.compress import lean
from survey_app.estimate.intervals import Options
from survey_app.estimate.tables import PairError
from survey_app.openapi import document
from survey_app.problems import Problem
from survey_app.results import results
from survey_app.store import Published, State, Store, User
from survey_app.study import crosstab_document

blueprint = Blueprint("api", __name__)
MOST_SCANNED, MOST_SCANNED_FOR_ANYONE = 1_000_000, 100_000
BEARER = re.compile(r"(?i:bearer) ([A-Za-z0-9_-]{20,200})")
SCRIPTS = Path(client.__file__).parent / "js"


def store() -> Store:
    """The store of the current app."""
    return get_store(current_app)


def token_hash(token: str) -> bytes:
    """What is kept of an API token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def visible(slug: str) -> Published:
    """The newest version of a survey that is no draft, or a Problem."""
    current = store().current(slug)
    published = current and store().version(slug, current[1])
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    return published


def bearer() -> User | None:
    """The account whose token the request carries; a token that is not known is a Problem."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    match = BEARER.fullmatch(header)
    user = match and store().user_of_token(token_hash(match[1]))
    if not user:
        raise Problem("unauthorized", "The token is not known, or its account is disabled.")
    return user


def may_manage(user: User | None, published: Published) -> bool:
    """Whether an account owns a survey."""
    return user is not None and hmac.compare_digest(str(user.key), str(published.owner))


def version(slug: str) -> Published:
    """The version that ?digest= names, or the newest."""
    digest = request.args.get("digest")
    if not digest:
        return visible(slug)
    published = store().version(slug, digest)
    if published is None or published.state is State.DRAFT:
        raise Problem("not_found", "There is no such version of the survey.")
    return published


def readable(published: Published) -> Published:
    """A survey whose results this request may see, or a Problem."""
    if not published.public:
        user = bearer() or (current_user.user if current_user.is_authenticated else None)
        if user is None:
            raise Problem("unauthorized", "These results are private.")
        if not may_manage(user, published):
            raise Problem("forbidden")
    return published


@blueprint.get("/api/surveys/<slug>", provide_automatic_options=False)
def definition(slug: str) -> Response:
    """The canonical definition, byte for byte, with its digest as the ETag."""
    published = version(slug)
    response = Response(published.survey.source, content_type="application/json")
    response.set_etag(published.survey.digest)
    for name, value in RESPONDENT_HEADERS:
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-cache"
    return response.make_conditional(request)  # type: ignore[return-value]


@blueprint.route("/api/surveys/<slug>", methods=["OPTIONS"])
def preflight(slug: str) -> Response:
    """Any page may ask for a definition."""
    return Response(status=204, headers=dict(RESPONDENT_HEADERS + PREFLIGHT_HEADERS))


@blueprint.post("/api/surveys/<slug>/reports/batch")
def batch(slug: str) -> Response:
    """Many reports at once, one JSON object a line, from the owner."""
    user = bearer()
    if user is None:
        raise Problem("unauthorized")
    if not may_manage(user, visible(slug)):
        raise Problem("forbidden")
    return jsonify(read_batch(store(), slug, request.get_data(cache=False)))


@blueprint.get("/api/surveys/<slug>/results")
def survey_results(slug: str) -> Response:
    """What the snapshot holds; public, or for the owner's token or session."""
    published = readable(version(slug))
    tally = store().snapshot(published)
    response = jsonify(results(published, tally, options(tally.reports)))
    response.headers["Cache-Control"] = "no-store"
    return response


def options(reports: int) -> Options:
    """What intervals the query asks for."""
    wanted: dict[str, Any] = {}
    try:
        if "confidence" in request.args:
            wanted["confidence"] = float(request.args["confidence"])
        if "population" in request.args:
            wanted["population"] = int(request.args["population"])
    except ValueError:
        raise Problem("malformed_request", "confidence and population are numbers.") from None
    if not 0.5 <= wanted.get("confidence", 0.95) <= 0.9999:
        raise Problem("malformed_request", "confidence is from 0.5 to 0.9999.")
    if "population" in wanted and wanted["population"] < max(reports, 1):
        raise Problem("malformed_request", f"{reports} reports cannot come from a population that small.")
    return Options(
        **wanted, simultaneous=request.args.get("simultaneous") == "1", narrow=request.args.get("narrow") == "1"
    )


def check_scan(published: Published, reports: int) -> None:
    """Reading very many reports takes seconds: only for the owner, and beyond that only by the command."""
    user = bearer() or (current_user.user if current_user.is_authenticated else None)
    if reports > (MOST_SCANNED if may_manage(user, published) else MOST_SCANNED_FOR_ANYONE):
        raise PairError(f"{reports:,} reports are too many to read for a page; the command candor crosstab does it")


@blueprint.get("/api/surveys/<slug>/crosstab")
def survey_crosstab(slug: str) -> Response:
    """Two questions at once, from the bits behind the snapshot; for whoever may see the results."""
    published = readable(version(slug))
    tally = store().snapshot(published)
    rows, columns = (request.args.get(name, "") for name in ("rows", "columns"))
    try:
        check_scan(published, tally.reports)
        found = crosstab_document(published, tally, store().scan(published), rows, columns, options(tally.reports))
    except PairError as error:
        raise Problem("malformed_request", f"{error}.") from None
    response = jsonify(found)
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/healthz")
def health() -> Response:
    """Whether the store answers."""
    store().current("healthz")
    return jsonify({"status": "ok"})


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """What this API offers."""
    return jsonify(document())


@blueprint.get("/client/js/<name>")
def script(name: str) -> Response:
    """The browser's client, as it is."""
    if not re.fullmatch(r"[a-z0-9]+\.js", name):
        raise Problem("not_found")
    try:
        source = (SCRIPTS / name).read_bytes()
    except FileNotFoundError:
        raise Problem("not_found") from None
    response = Response(source, content_type="text/javascript; charset=utf-8", headers={"Cache-Control": "no-cache"})
    return lean(response, request)
