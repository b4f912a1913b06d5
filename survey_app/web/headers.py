"""The headers of every response of the app."""

from flask import Response, request

from survey_app.assure.doctor.proxy_checks import HSTS_MAX_AGE
from survey_app.problems import is_api

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src {connect};"
    " form-action {form}; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
DOCUMENT_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
RESPONDENT_ENDPOINTS = ("api.report", "api.ticket")
SUBRESOURCES = ("text/css", "text/javascript")  # governed by the policy of the page that loads them, and many per page


def content_security(*, form: str = "'none'", connect: str = "'self'") -> str:
    """Return the policy for the sources that a page may load and the addresses it may send to.

    The form of a survey may also connect to the issuer of its tickets.
    """
    return CONTENT_SECURITY.format(form=form, connect=connect)


def secure(response: Response, researchers: bool) -> Response:
    """Add the security headers to a response. Researchers' pages have forms, and are never cached.

    Replies to reports and tickets have their headers already, which are the same under every HTTP server.
    """
    if request.endpoint in RESPONDENT_ENDPOINTS and "Access-Control-Allow-Origin" in response.headers:
        return response
    form = "'none'"
    if researchers:
        form = "'self'"
        response.headers.setdefault("Cache-Control", "no-store")
    if request.endpoint in ("api.definition", "api.preflight"):
        response.headers.setdefault("Access-Control-Allow-Origin", "*")
    if response.status_code == 401 and is_api(request.path):
        response.headers.setdefault("WWW-Authenticate", "Bearer")
    headers = dict(HEADERS)
    if request.is_secure:
        headers["Strict-Transport-Security"] = HSTS_MAX_AGE
    if response.mimetype not in SUBRESOURCES:
        headers |= DOCUMENT_HEADERS | {"Content-Security-Policy": content_security(form=form)}
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response
