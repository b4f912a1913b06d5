"""Checks of a running server from outside: the headers that its proxy adds, drops or passes on.

A cookie shows whether the proxy reports the visitor's connection correctly.
The cookie of the sign-in page is `Secure` if the server believes that the request came over https.
So the attribute must be present over https.
A visitor who sends `X-Forwarded-Proto` must neither remove nor add it.
A proxy that passes this header on also passes on a forged address, and then no rate limit holds.
"""

import http.client
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from candor_client.address import is_local
from survey_app.assure.doctor.finding import Finding, failure, healthy, warning

TIMEOUT = 10.0  # seconds
HSTS_MAX_AGE = "max-age=31536000"  # seconds: a year of https only, for visitors who came over https
MAX_REPLY_BYTES = 1_000_000  # bytes to read of a reply
CLOCK_WARNING, CLOCK_FAILURE = 30, 300  # seconds between the local clock and the server's: for a warning, for a failure
DOCS = "docs/operations.md, In front of the world"
PROXY_ADVICE = "candor serve --trusted-proxies 1, and let the proxy set X-Forwarded-Proto and X-Forwarded-For"


@dataclass(frozen=True)
class Reply:
    """The reply of a server to a request."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def header(self, name: str) -> str:
        """Return the values of all headers of this name, joined by commas."""
        return ", ".join(self.headers.get_all(name) or ())


def findings(url: str, now: float) -> Iterator[Finding]:
    """Yield findings about the server at `url`; `now` is the local time, to compare with the server's."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        yield failure("address", "bad_url", f"{url} is not an address: {error}", "use one such as https://example.org")
        return
    del port
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield failure("address", "bad_url", f"{url} is not a server address", "use one such as https://example.org")
        return
    try:
        health, home, sign_in = (_get(parts, path) for path in ("/healthz", "/", "/login"))
        forged = _get(parts, "/login", {"X-Forwarded-Proto": "http" if parts.scheme == "https" else "https"})
    except ssl.SSLError as error:
        problem = f"{parts.hostname} cannot be reached by https: {error.reason or error}"
        yield failure("https", "bad_certificate", problem, "check its certificate, and renew it if needed")
        return
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        yield failure(
            "server",
            "no_reply",
            f"{url} does not answer: {reason}",
            "check that the server is running, and read its log",
        )
        return
    yield _check_health(health)
    yield _check_encryption(parts, health)
    yield from _check_forwarding(parts, sign_in, forged)
    yield _check_compression(sign_in)
    yield _check_page_headers(home)
    yield _check_clock(health, now)
    yield healthy("logs", "whether a proxy logs addresses and times cannot be seen from here", DOCS, code="unknown")


def _get(parts: SplitResult, path: str, headers: dict[str, str] | None = None) -> Reply:
    connection_type = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connection_type(parts.hostname or "", parts.port, timeout=TIMEOUT)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip, br", **(headers or {})})
        reply = connection.getresponse()
        return Reply(reply.status, reply.headers, reply.read(MAX_REPLY_BYTES))
    finally:
        connection.close()


def _check_health(reply: Reply) -> Finding:
    try:
        status = json.loads(reply.body)["status"] if reply.status == 200 else ""
    except (ValueError, TypeError, KeyError, LookupError):
        status = ""
    if status == "ok":
        return healthy("server", "/healthz says ok")
    if isinstance(status, str) and status.startswith("untidy since "):
        advice = "free disk space (docs/operations.md, When the disk is full)"
        return failure("server", "rewrite_fails", f"/healthz says {status}", advice)
    problem = f"/healthz has status {reply.status}, and its content is not Candor's"
    return failure("server", "not_candor", problem, "check the address, and the paths that the proxy passes on")


def _check_encryption(parts: SplitResult, reply: Reply) -> Finding:
    if parts.scheme == "http":
        if is_local(parts.hostname or ""):
            return healthy("https", "not needed: the server is on this machine", code="local")
        problem = "reports are not encrypted, so clients refuse to send them"
        return failure("https", "not_encrypted", problem, "serve it over https")
    if "max-age=" not in reply.header("Strict-Transport-Security"):
        advice = f"let the proxy send Strict-Transport-Security: {HSTS_MAX_AGE}, or set X-Forwarded-Proto"
        return warning("https", "no_hsts", "encrypted, but a first visit may not be (no HSTS)", advice)
    return healthy("https", "encrypted, and browsers remember to use https (HSTS)")


def _check_forwarding(parts: SplitResult, sign_in: Reply, forged: Reply) -> Iterator[Finding]:
    if not sign_in.header("Set-Cookie"):
        problem = f"/login has status {sign_in.status}, and sets no cookie"
        yield warning("proxy", "no_cookie", problem, "check which paths the proxy passes on")
        return
    secure, secure_if_forged = (_is_secure(reply) for reply in (sign_in, forged))
    if parts.scheme == "https" and not secure:
        yield failure("proxy", "https_unknown", "the server does not know that visitors use https", PROXY_ADVICE)
    elif secure != secure_if_forged:
        problem = "a visitor can forge X-Forwarded-* headers, and so an address; rate limits can be evaded"
        advice = "let the proxy set X-Forwarded-*, not pass it on; without a proxy: --trusted-proxies 0"
        yield failure("proxy", "forged_headers", problem, advice)
    elif parts.scheme == "http":
        problem = "forged X-Forwarded-* headers are ignored; whether a proxy's are used cannot be seen over http"
        yield healthy("proxy", problem, f"check over https; behind a proxy: {PROXY_ADVICE}", code="unknown")
    else:
        yield healthy("proxy", "the server knows that visitors use https, and ignores forged headers")


def _is_secure(reply: Reply) -> bool:
    return "secure" in {part.strip().lower() for part in reply.header("Set-Cookie").split(";")}


def _check_compression(sign_in: Reply) -> Finding:
    """Return a finding about compression of the sign-in page.

    In a compressed page, text chosen by an attacker next to a secret would reveal the secret by its length.
    """
    encoding = sign_in.header("Content-Encoding")
    if encoding not in ("", "identity"):
        advice = "turn compression off in the proxy; Candor compresses where it is safe"
        return failure("compression", "compressed", f"the proxy compresses researchers' pages ({encoding})", advice)
    return healthy("compression", "researchers' pages are not compressed")


def _check_page_headers(home: Reply) -> Finding:
    """Return a finding about the headers that respondents' pages must have, and must not have."""
    if cookie := home.header("Set-Cookie").partition("=")[0]:
        problem = f"visitors get a cookie ({cookie}), which Candor does not set"
        return failure("headers", "cookie", problem, "remove it from the proxy's configuration")
    if (
        "default-src 'none'" not in home.header("Content-Security-Policy")
        or home.header("Referrer-Policy") != "no-referrer"
    ):
        problem = "pages for visitors lack the headers Content-Security-Policy or Referrer-Policy, which protect them"
        return failure("headers", "missing", problem, "let the proxy pass on both headers unchanged")
    return healthy("headers", "visitors get the protecting headers, and no cookie")


def _check_clock(reply: Reply, now: float) -> Finding:
    try:
        difference = parsedate_to_datetime(reply.header("Date")).timestamp() - now
    except (ValueError, TypeError):
        return warning(
            "clocks", "no_time", "the server's replies have no valid Date header", "check the clock on that machine"
        )
    direction = "ahead of" if difference > 0 else "behind"
    comparison = f"the server's clock is {abs(difference):.0f} s {direction} the clock of this machine"
    code = "server_ahead" if difference > 0 else "server_behind"
    if abs(difference) >= CLOCK_FAILURE:
        advice = "set both clocks, and synchronize them (NTP): surveys open and close by the server's clock"
        return failure("clocks", code, comparison, advice)
    if abs(difference) >= CLOCK_WARNING:
        return warning("clocks", code, comparison, "synchronize both clocks (NTP)")
    return healthy("clocks", "the clocks of the server and of this machine agree")
