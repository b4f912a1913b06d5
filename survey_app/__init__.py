"""The researchers' side of Candor: authoring, collecting, estimating.

`create_app` puts the server together: configuration, store, blueprints, one shape for errors, one place for headers.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from flask import Flask, Request, Response, request
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from survey_app.collect import DEFAULT_RATE_LIMIT, LARGEST_BATCH, Intake
from survey_app.problems import CONTENT_TYPE, PROBLEMS, Problem
from survey_app.store import Store, Unavailable, open_store

DEFAULT_DB = "sqlite:///candor.db"
DEFAULT_LOGIN_LIMIT = "10/minute"

GENERIC = {  # what to call a refusal of Flask's own
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    429: "too_many_requests",
    503: "unavailable",
}
CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action {form}; base-uri 'none'; frame-ancestors 'none'"
)
# their pages have forms; respondents' pages never do
RESEARCHERS = ("auth", "editor", "launch", "results", "survey", "surveys")
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class _Sessions(SecureCookieSessionInterface):
    """Session cookies are Secure wherever the request came over https."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def create_app(config: Mapping[str, Any] | None = None, store: Store | None = None) -> Flask:
    """The server. `config` may set DB, RATE_LIMIT, TRUSTED_PROXIES, and whatever Flask knows."""
    package = Path(__file__).parent
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # its redirects would repeat whatever Host was sent
    app.jinja_loader = jinja2.FileSystemLoader([package / "templates", package.parent / "templates"])
    app.config.from_mapping(
        DB=os.environ.get("CANDOR_DB", DEFAULT_DB),
        RATE_LIMIT=os.environ.get("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT),
        TRUSTED_PROXIES=int(os.environ.get("CANDOR_TRUSTED_PROXIES", "0")),
        MAX_CONTENT_LENGTH=LARGEST_BATCH,
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
    app.config["SECRET_KEY"] = kept.secret_key()
    app.session_interface = _Sessions()
    app.extensions["candor_store"] = kept

    from survey_app.pages import api, auth, editor, explain, launch, respond, results, survey, surveys

    auth.init(app)
    for page in (api, auth, editor, explain, launch, respond, results, survey, surveys):
        app.register_blueprint(page.blueprint)
    app.register_error_handler(Exception, _problem_of)
    app.after_request(_secure)
    intake = app.extensions["candor_intake"] = Intake(app.wsgi_app, kept, app.config["RATE_LIMIT"])
    app.wsgi_app = intake  # type: ignore[method-assign]
    if proxies := app.config["TRUSTED_PROXIES"]:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=proxies)  # type: ignore[method-assign]
    return app


def get_store(app: Flask) -> Store:
    """The store of an app."""
    store: Store = app.extensions["candor_store"]
    return store


def is_api(req: Request) -> bool:
    """Whether a request wants problems, not pages."""
    return req.path.startswith("/api/") or req.path in ("/healthz", "/openapi.json")


def _problem_of(error: Exception) -> Response:
    allowed = None
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, Unavailable):
        problem = Problem("unavailable")
    elif isinstance(error, HTTPException) and error.code is not None and error.code < 400:
        return Response(error.get_response().get_data(), error.code, dict(error.get_response().headers))
    elif isinstance(error, HTTPException):
        status = error.code or 500
        problem = Problem(GENERIC.get(status, "malformed_request" if status < 500 else "internal_error"))
        problem.status = status
        allowed = error.get_response().headers.get("Allow")
    else:
        from flask import current_app

        current_app.logger.error("%s in %s", type(error).__name__, request.endpoint, exc_info=error)
        problem = Problem("internal_error")
    headers = {"Allow": allowed} if allowed else {}
    if is_api(request):
        return Response(problem.body(), problem.status, headers, content_type=CONTENT_TYPE)
    from flask import render_template

    page = render_template("problem.html", title=PROBLEMS[problem.code][1], detail=problem.detail)
    return Response(page, problem.status, headers, content_type="text/html; charset=utf-8")


def _secure(response: Response) -> Response:
    form = "'none'"
    if request.blueprint in RESEARCHERS:
        form = "'self'"
        response.headers.setdefault("Cache-Control", "no-store")
    if request.endpoint in ("api.definition", "api.preflight"):
        response.headers.setdefault("Access-Control-Allow-Origin", "*")
    if response.status_code == 401 and is_api(request):
        response.headers.setdefault("WWW-Authenticate", "Bearer")
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY.format(form=form))
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
