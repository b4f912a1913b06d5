"""Put the server together: configuration, store, blueprints, one shape for errors, one place for headers."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from flask import Flask, Response, current_app, render_template, request
from flask.sessions import SecureCookieSessionInterface
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter

from survey_app.assure.form import drawn, icon
from survey_app.collect.intake import Intake
from survey_app.collect.rate_limit import (
    AUTHOR_LIMIT,
    DEFAULT_LOGIN_LIMIT,
    DEFAULT_RATE_LIMIT,
    READING_LIMIT,
    VISIT_LIMIT,
    Counts,
    Limiter,
)
from survey_app.pages import api, assets, auth, filters, front, inviting, surveys, tokens
from survey_app.pages.console import editor, home, invitations, languages, launch, people, survey
from survey_app.pages.form import explain, form
from survey_app.pages.results import archive, downloads, link, page
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem, is_api
from survey_app.server import DEFAULT_DB
from survey_app.server.headers import secure
from survey_app.server.openapi import document
from survey_app.server.uploads import LARGEST_OF_ALL
from survey_app.store import Store, TicketFile, Unavailable, open_store, open_tickets
from survey_app.tickets.ending import end_closed
from survey_app.tickets.issue import Desk, of_store

OF_RESPONDENTS = tuple(room.blueprint for room in (api, assets, explain, form, front, inviting))
OF_RESEARCHERS = tuple(
    room.blueprint
    for room in (
        *(auth, archive, downloads, editor, home, invitations, languages, launch, link, page, people, survey),
        *(surveys, tokens),
    )
)  # fmt: skip
CHANGING = ("POST", "PATCH", "DELETE")


class _Key(IntegerConverter):
    """A number in an address that can be the key of a row: beyond what a store can count (2^63) there is no page."""

    regex = r"\d{1,18}"


class _Sessions(SecureCookieSessionInterface):
    """Session cookies are Secure wherever the request came over https."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def create_app(
    config: Mapping[str, Any] | None = None, store: Store | None = None, counts: Counts | None = None
) -> Flask:
    """The server. `config` may set DB, DEMO, RATE_LIMIT, TRUSTED_PROXIES, and whatever Flask knows.

    `counts` is what its workers share, so that limits hold over all of them.
    """
    package = Path(__file__).parents[1]
    app = Flask("survey_app", static_folder=None)
    app.url_map.merge_slashes = False  # its redirects would repeat whatever Host was sent
    app.url_map.converters["int"] = _Key
    app.jinja_loader = jinja2.FileSystemLoader([package / "templates", package.parent / "templates"])
    app.config.from_mapping(
        DB=os.environ.get("CANDOR_DB", DEFAULT_DB),
        RATE_LIMIT=os.environ.get("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT),
        TRUSTED_PROXIES=int(os.environ.get("CANDOR_TRUSTED_PROXIES", "0")),
        DEMO=None,  # slug and digest of the survey that `candor demo` shows around in; no variable sets it
        METRICS_TOKEN=os.environ.get("CANDOR_METRICS_TOKEN"),
        MAX_CONTENT_LENGTH=LARGEST_OF_ALL,
        LOGIN_LIMIT=os.environ.get("CANDOR_LOGIN_LIMIT", DEFAULT_LOGIN_LIMIT),
        WTF_CSRF_SSL_STRICT=False,  # it needs the Referer, which our pages withhold
        WTF_CSRF_TIME_LIMIT=None,  # as long as the session: a text that took hours is saved
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_NAME="candor_session",
    )
    app.config.from_mapping(config or {})
    kept = store or open_store(app.config["DB"])
    kept.migrate()
    kept.check_whole()
    app.config["SECRET_KEY"] = kept.secret_key()
    app.session_interface = _Sessions()
    app.extensions["candor_store"] = kept
    tickets = open_tickets(kept)
    counts = counts or Counts()
    app.extensions["candor_tickets"] = tickets
    app.extensions["candor_desk"] = Desk(tickets, of_store(kept), counts=counts)
    app.extensions["candor_intake"] = Intake(kept, app.config["RATE_LIMIT"], partial(_end, tickets, kept), counts)
    off = app.config["RATE_LIMIT"] == "off"
    for place, limit in (("authors", AUTHOR_LIMIT), ("visits", VISIT_LIMIT), ("readings", READING_LIMIT)):
        app.extensions[f"candor_{place}"] = Limiter("off" if off else limit, place, counts)
    app.extensions["candor_openapi"] = document()
    auth.init(app, counts)
    for by_token in (api.blueprint, inviting.blueprint, surveys.blueprint):
        auth.csrf.exempt(by_token)
    for blueprint in (*OF_RESPONDENTS, *OF_RESEARCHERS):
        app.register_blueprint(blueprint)
    if app.config["DEMO"]:
        from survey_app.pages import demo  # and with it made-up people, of whom no other server needs to know

        app.register_blueprint(demo.blueprint)
    app.jinja_env.undefined = jinja2.StrictUndefined  # a renamed attribute is an error, and not an empty place
    app.jinja_env.filters.update(filters.FILTERS)
    mark = assets.source("/static/mark.svg")
    app.jinja_env.globals |= {"mark": Markup(drawn(mark)), "icon": icon(mark)}  # noqa: S704  our own file
    app.before_request(_check_query)
    app.register_error_handler(Exception, _problem_of)
    app.after_request(_complete)
    if proxies := app.config["TRUSTED_PROXIES"]:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=proxies)  # type: ignore[method-assign]
    return app


def _end(tickets: TicketFile, kept: Store) -> bool:
    """What the writer does besides, on its own thread, seldom."""
    ended = end_closed(tickets, kept)
    tickets.close()
    return ended


def _check_query() -> None:
    """Bytes that are no text are refused here, once, before anybody asks for a parameter."""
    try:
        request.query_string.decode()
    except UnicodeDecodeError:
        raise Problem("malformed_request", "The query is not UTF-8.") from None


def _complete(response: Response) -> Response:
    researchers = any(request.blueprint == blueprint.name for blueprint in OF_RESEARCHERS)
    if researchers and request.method in CHANGING:  # whatever it did may have closed a survey, or deleted it
        end_closed(current_app.extensions["candor_tickets"], current_app.extensions["candor_store"])
    return secure(response, researchers)


def _problem_of(error: Exception) -> Response:
    allowed = None
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, Unavailable):
        problem = Problem("unavailable")
    elif isinstance(error, HTTPException) and error.code is not None and error.code < 400:
        return Response(error.get_response().get_data(), error.code, dict(error.get_response().headers))
    elif isinstance(error, HTTPException):
        problem = Problem.of_status(error.code or 500)
        allowed = error.get_response().headers.get("Allow")
    else:
        current_app.logger.error("%s in %s", type(error).__name__, request.endpoint, exc_info=error)
        problem = Problem("internal_error")
    headers = dict(problem.headers) | ({"Allow": allowed} if allowed else {})
    if is_api(request.path):
        return Response(problem.body(), problem.status, headers, content_type=CONTENT_TYPE)
    return _page_of(problem, headers)


def _page_of(problem: Problem, headers: Mapping[str, str]) -> Response:
    page = render_template("problem.html", title=PROBLEMS[problem.code][1], detail=problem.detail, words=None)
    return Response(page, problem.status, headers, content_type="text/html; charset=utf-8")


def problem_page(app: Flask, problem: Problem) -> tuple[list[tuple[str, str]], bytes]:
    """Return the headers and the page of a refusal that is the same at every address."""
    with app.test_request_context("/"):
        response = secure(_page_of(problem, {"Cache-Control": "no-store"}), researchers=False)
        return [(name.lower(), value) for name, value in response.headers.items()], response.get_data()
