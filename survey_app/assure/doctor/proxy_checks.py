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
        yield failure("address", f"{url} is no address: {error}", "write it as in https://example.org")
        return
    del port
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield failure("address", f"{url} is no address of a server", "write it as in https://example.org")
        return
    try:
        health, home, sign_in = (_get(parts, path) for path in ("/healthz", "/", "/login"))
        forged = _get(parts, "/login", {"X-Forwarded-Proto": "http" if parts.scheme == "https" else "https"})
    except ssl.SSLError as error:
        yield failure("https", f"{parts.hostname}: {error.reason or error}", "renew or mend its certificate")
        return
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        yield failure("server", f"{url} does not answer: {reason}", "see that it runs, and look at its log")
        return
    yield _check_health(health)
    yield _check_encryption(parts, health)
    yield from _check_forwarding(parts, sign_in, forged)
    yield _check_compression(sign_in)
    yield _check_page_headers(home)
    yield _check_clock(health, now)
    yield healthy("logs", "whether a proxy writes down who asked, and when, cannot be seen from here", DOCS)


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
        return failure(
            "server", f"/healthz says {status}", "free disk space (docs/operations.md, When the disk is full)"
        )
    problem = f"/healthz answers {reply.status}, and not as Candor does"
    return failure("server", problem, "see that the address, and what the proxy passes on, are right")


def _check_encryption(parts: SplitResult, reply: Reply) -> Finding:
    if parts.scheme == "http":
        if is_local(parts.hostname or ""):
            return healthy("https", "this machine alone, so it needs none")
        return failure("https", "reports go unencrypted, and clients refuse to send them", "serve it over https")
    if "max-age=" not in reply.header("Strict-Transport-Security"):
        advice = f"let the proxy send Strict-Transport-Security: {HSTS_MAX_AGE}, or set X-Forwarded-Proto"
        return warning("https", "encrypted, but a first visit may go without (no HSTS)", advice)
    return healthy("https", "encrypted, and browsers are told to stay so")


def _check_forwarding(parts: SplitResult, sign_in: Reply, forged: Reply) -> Iterator[Finding]:
    if not sign_in.header("Set-Cookie"):
        yield warning("proxy", f"/login answers {sign_in.status} without a cookie", "see what the proxy passes on")
        return
    secure, secure_if_forged = (_is_secure(reply) for reply in (sign_in, forged))
    if parts.scheme == "https" and not secure:
        yield failure("proxy", "the server does not know that it is asked over https", PROXY_ADVICE)
    elif secure != secure_if_forged:
        advice = "let the proxy set X-Forwarded-*, not pass it on; without a proxy: --trusted-proxies 0"
        yield failure("proxy", "a visitor can say how it asks, and so from which address: limits do not hold", advice)
    elif parts.scheme == "http":
        advice = f"over https it can; behind one: {PROXY_ADVICE}"
        yield healthy("proxy", "no visitor is believed; whether the proxy is cannot be seen over http", advice)
    else:
        yield healthy("proxy", "the server knows how it is asked, and believes nobody else")


def _is_secure(reply: Reply) -> bool:
    return "secure" in {part.strip().lower() for part in reply.header("Set-Cookie").split(";")}


def _check_compression(sign_in: Reply) -> Finding:
    """Return a finding about compression of the sign-in page.

    In a compressed page, text chosen by an attacker next to a secret would reveal the secret by its length.
    """
    encoding = sign_in.header("Content-Encoding")
    if encoding not in ("", "identity"):
        advice = "let the proxy compress nothing; Candor does, where it is safe"
        return failure("compression", f"the proxy compresses researchers' pages ({encoding})", advice)
    return healthy("compression", "researchers' pages are not compressed")


def _check_page_headers(home: Reply) -> Finding:
    """Return a finding about the headers that respondents' pages must have, and must not have."""
    if cookie := home.header("Set-Cookie").partition("=")[0]:
        return failure(
            "headers", f"visitors get a cookie ({cookie}), which Candor does not set", "take it out of the proxy"
        )
    if (
        "default-src 'none'" not in home.header("Content-Security-Policy")
        or home.header("Referrer-Policy") != "no-referrer"
    ):
        advice = "let the proxy pass on Content-Security-Policy and Referrer-Policy as they are"
        return failure("headers", "the page that visitors get lacks the headers that protect it", advice)
    return healthy("headers", "visitors get the protecting headers, and no cookie")


def _check_clock(reply: Reply, now: float) -> Finding:
    try:
        difference = parsedate_to_datetime(reply.header("Date")).timestamp() - now
    except (ValueError, TypeError):
        return warning("clocks", "the server does not tell its time", "look at its clock on the machine itself")
    comparison = f"the server's is {abs(difference):.0f} s {'ahead of' if difference > 0 else 'behind'} ours"
    if abs(difference) >= CLOCK_FAILURE:
        return failure(
            "clocks", comparison, "set them, and let them be kept right (NTP): surveys open and close by them"
        )
    if abs(difference) >= CLOCK_WARNING:
        return warning("clocks", comparison, "let both be kept right (NTP)")
    return healthy("clocks", "the server's and ours agree")
