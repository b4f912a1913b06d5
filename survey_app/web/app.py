"""Create the Flask app: configuration, store, blueprints, one shape for errors, one place for headers."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import jinja2
from flask import Flask, Response, current_app, render_template, request
from flask.sessions import SecureCookieSessionInterface
from markupsafe import Markup
from werkzeug.exceptions import BadRequest, HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter

from survey_app import find_folder
from survey_app.assure.form_file import icon_data_url, inline_logo
from survey_app.collect.intake import Intake, report_endpoint
from survey_app.collect.rate_limit import Counts
from survey_app.invitations.issuing import TicketIssuer, make_store_finder, ticket_endpoint
from survey_app.invitations.key_disposal import destroy_closed_keys
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem, is_api
from survey_app.store import Store, TicketFile, Unavailable, open_store, open_tickets
from survey_app.web import api, assets, auth, filters, invitations_api, landing, surveys_api, tokens
from survey_app.web.config import Config
from survey_app.web.console import editor, home, invitations, languages, launch, sharing, survey_page
from survey_app.web.extension import NAME, Candor, Limiters, current_candor
from survey_app.web.form import explanation_pages, form_page
from survey_app.web.headers import secure
from survey_app.web.results import codebook_page, downloads, results_link, results_page
from survey_app.web.upload_limits import LARGEST_OF_ALL

RESPONDENT_BLUEPRINTS = tuple(
    module.blueprint for module in (api, assets, explanation_pages, form_page, landing, invitations_api)
)
RESEARCHER_BLUEPRINTS = tuple(
    module.blueprint
    for module in (
        *(auth, codebook_page, downloads, editor, home, invitations, languages, launch, results_link, results_page),
        *(sharing, survey_page, surveys_api, tokens),
    )
)
CHANGING_METHODS = ("POST", "PATCH", "DELETE")


class _Key(IntegerConverter):
    """An integer in a URL that can be the key of a row. Numbers that a store cannot count (2^63) are 404."""

    regex = r"\d{1,18}"


class _Sessions(SecureCookieSessionInterface):
    """Session cookies that are Secure wherever the request came over https."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def create_app(
    config: Mapping[str, Any] | None = None, store: Store | None = None, counts: Counts | None = None
) -> Flask:
    """Return the Flask app.

    `config` has the settings of `Config`, in capitals, and any setting of Flask. Without it, they are read from the
    environment. The workers of a server share `counts`, so that rate limits hold across all of them.
    """
    app = Flask("survey_app", static_folder=None)
    app.url_map.merge_slashes = False  # its redirects would repeat any Host that was sent
    app.url_map.converters["int"] = _Key
    app.jinja_loader = jinja2.FileSystemLoader(find_folder("templates"))
    base = Config() if config is not None else Config.from_environment(os.environ)
    app.config.from_mapping(
        MAX_CONTENT_LENGTH=LARGEST_OF_ALL,
        WTF_CSRF_SSL_STRICT=False,  # the strict check needs the Referer, which our pages withhold
        WTF_CSRF_TIME_LIMIT=None,  # valid as long as the session, so that a text that took hours can be saved
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_NAME="candor_session",
    )
    app.config.from_mapping(base.flask_settings() | dict(config or {}))
    app_store = store or open_store(app.config["DB"])
    app_store.migrate()
    app_store.check_complete()
    app.config["SECRET_KEY"] = app_store.secret_key()
    app.session_interface = _Sessions()
    app.extensions[NAME] = _create_extension(app_store, app.config, counts or Counts())
    auth.init(app)
    for token_blueprint in (api.blueprint, invitations_api.blueprint, surveys_api.blueprint):
        auth.csrf.exempt(token_blueprint)
    for blueprint in (*RESPONDENT_BLUEPRINTS, *RESEARCHER_BLUEPRINTS):
        app.register_blueprint(blueprint)
    if app.config["DEMO"]:
        from survey_app.web import demo  # loads the simulation, which no other server needs

        app.register_blueprint(demo.blueprint)
    app.jinja_env.undefined = jinja2.StrictUndefined  # a renamed attribute is an error, not empty text
    app.jinja_env.filters.update(filters.FILTERS)
    mark = assets.read_source("/static/mark.svg")
    app.jinja_env.globals |= {"mark": Markup(inline_logo(mark)), "icon": icon_data_url(mark)}  # noqa: S704  our own file
    app.before_request(_check_query)
    app.register_error_handler(Exception, _handle_error)
    app.after_request(_complete)
    if proxies := app.config["TRUSTED_PROXIES"]:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=proxies)  # type: ignore[method-assign]
    return app


def _create_extension(store: Store, config: Mapping[str, Any], counts: Counts) -> Candor:
    tickets = open_tickets(store)
    limiters = Limiters.of(config["RATE_LIMIT"], config["LOGIN_LIMIT"], counts)
    issuer = TicketIssuer(tickets, make_store_finder(store), counts=counts)
    intake = Intake(store, partial(_dispose_keys, tickets, store))
    return Candor(
        store=store,
        tickets=tickets,
        intake=intake,
        issuer=issuer,
        limiters=limiters,
        reports=report_endpoint(intake, limiters.senders),
        ticket_requests=ticket_endpoint(issuer, limiters.senders),
    )


def _dispose_keys(tickets: TicketFile, store: Store) -> bool:
    """Dispose of the ticket keys of closed surveys. The writer calls this on its own thread, seldom."""
    result = destroy_closed_keys(tickets, store)
    tickets.close()
    return result


def _check_query() -> None:
    """Raise Problem if the query string is not UTF-8, once, before any code reads a parameter."""
    try:
        request.query_string.decode()
    except UnicodeDecodeError:
        raise Problem("malformed_request", "The query of the URL is not valid UTF-8.") from None


def _complete(response: Response) -> Response:
    researchers = any(request.blueprint == blueprint.name for blueprint in RESEARCHER_BLUEPRINTS)
    if researchers and request.method in CHANGING_METHODS:  # the request may have closed or deleted a survey
        destroy_closed_keys(current_candor().tickets, current_candor().store)
    return secure(response, researchers)


def _handle_error(error: Exception) -> Response:
    allow = None
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, Unavailable):
        problem = Problem("unavailable")
    elif isinstance(error, HTTPException) and error.code is not None and error.code < 400:
        return Response(error.get_response().get_data(), error.code, dict(error.get_response().headers))
    elif isinstance(error, HTTPException):
        problem = Problem.from_status(error.code or 500)
        if methods := error.get_response().headers.get("Allow"):
            allow = ", ".join(sorted(methods.split(", ")))
            problem.detail = f"Use one of the methods that this address accepts: {allow}."
    else:
        current_app.logger.error("%s in %s", type(error).__name__, request.endpoint, exc_info=error)
        problem = Problem("internal_error")
    headers = dict(problem.headers) | ({"Allow": allow} if allow else {})
    if is_api(request.path):
        return Response(problem.body(), problem.status, headers, content_type=CONTENT_TYPE)
    return _render_problem(problem, headers)


def _render_problem(problem: Problem, headers: Mapping[str, str]) -> Response:
    with _url_context():
        page = render_template("problem.html", title=PROBLEMS[problem.code][1], detail=problem.detail, words=None)
    return Response(page, problem.status, headers, content_type="text/html; charset=utf-8")


def _url_context() -> AbstractContextManager[object]:
    """Return a context in which templates can build URLs, even if the Host of this request is no host name."""
    if isinstance(request.routing_exception, BadRequest):
        return current_app.request_context(request.environ | {"HTTP_HOST": "localhost"})
    return nullcontext()


def problem_page(app: Flask, problem: Problem) -> tuple[list[tuple[str, str]], bytes]:
    """Return the headers and the page of a refusal that is the same at every address."""
    with app.test_request_context("/"):
        response = secure(_render_problem(problem, {"Cache-Control": "no-store"}), researchers=False)
        return [(name.lower(), value) for name, value in response.headers.items()], response.get_data()
