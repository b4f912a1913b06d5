"""The headers that every reply of the app carries, whatever made it."""

from flask import Response, request

from survey_app.problems import is_api

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src {connect};"
    " form-action {form}; base-uri 'none'; frame-ancestors 'none'"
)
STAY_ENCRYPTED = "max-age=31536000"  # seconds: a year of https alone, for whoever came by https
HEADERS = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
OF_DOCUMENTS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PARTS = ("text/css", "text/javascript")  # governed by the policies of the page they are part of, and many to a page


def content_security(*, form: str = "'none'", connect: str = "'self'") -> str:
    """What a page may load, and where it may send; the form of a survey may also ask whoever signs its tickets."""
    return CONTENT_SECURITY.format(form=form, connect=connect)


def secure(response: Response, researchers: bool) -> Response:
    """Complete a reply; researchers' pages have forms, and no cache keeps them."""
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
        headers["Strict-Transport-Security"] = STAY_ENCRYPTED
    if response.mimetype not in PARTS:
        headers |= OF_DOCUMENTS | {"Content-Security-Policy": content_security(form=form)}
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response
