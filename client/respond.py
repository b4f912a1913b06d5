"""Fetch, verify, randomize, remember, send. The only module that talks to a network.

It speaks https, and plain http only to this machine; it follows redirects only for definitions and only within one
origin; it sends no cookie, no language and no more about itself than its name. A report is on disk before it is
sent, and whatever the server answers, it is offered the same bytes again or nothing.
"""

import http.client
import ipaddress
import json
import queue
import re
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import IO, Any

from client import canonical
from client.canonical import NAME
from client.definition import LARGEST_DEFINITION, Survey
from client.errors import BadAddress, CandorError, LedgerError, PinMismatch, Refused, Unreachable
from client.ledger import Ledger
from client.report import Report, randomize, to_text
from client.sampling import RandomBytes
from client.verify import verify

DEFAULT_LIMIT = 10
DEFAULT_LEDGER = Ledger()
TIMEOUT = 20.0
ATTEMPTS = 3
PLACE = re.compile(rf"(?P<base>.*)/(?:s|api/surveys)/(?P<slug>{NAME.pattern})/?")


@dataclass(frozen=True)
class Address:
    """Where a survey is: the server with any path before the survey's, the slug, and what the link's fragment says."""

    origin: str
    slug: str
    pin: str | None
    invitation: str | None

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Read `…/s/<slug>` or `…/api/surveys/<slug>`, with `#sha256=…` or `#code=…` or both."""
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise BadAddress(f"{url!r} is not an address: {error}") from None
        place = PLACE.fullmatch(parts.path)
        if parts.scheme not in ("http", "https") or not host or not place or re.search(r"[^\x21-\x7e]", url):
            raise BadAddress(f"{url!r} is not the address of a survey, such as https://example.org/s/exam")
        if parts.username is not None:
            raise BadAddress("an address with a user name or password in it is not opened")
        if parts.scheme == "http" and not _is_local(host):
            raise BadAddress(f"{url} is not encrypted: anyone on the way could read along. Use https.")
        parameters = [part.partition("=")[::2] for part in parts.fragment.split("&") if part]
        fragment = dict(parameters)
        if len(fragment) < len(parameters) or set(fragment) - {"sha256", "code"}:
            raise BadAddress("after # a link may have sha256=… and code=…, once each; ask for the whole link")
        pin = fragment.get("sha256")
        if pin is not None and not re.fullmatch("[0-9a-f]{64}", pin):
            raise PinMismatch("the link's #sha256= is not 64 hexadecimal digits; ask for the whole link")
        code = check_invitation(urllib.parse.unquote(fragment["code"])) if "code" in fragment else None
        netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
        return cls(f"{parts.scheme}://{netloc}{place['base']}", place["slug"], pin, code)

    @property
    def api(self) -> str:
        """Where the definition is."""
        return f"{self.origin}/api/surveys/{self.slug}"


def check_invitation(code: str) -> str:
    """An invitation code that can travel in a header."""
    if not re.fullmatch(r"[\x21-\x7e]{1,200}", code):
        raise BadAddress("an invitation code has 1 to 200 visible ASCII characters")
    return code


@dataclass(frozen=True)
class Receipt:
    """What a person can keep: which survey, exactly what was sent, and what it cost."""

    survey: str
    id: bytes
    bits: bytes
    status: str
    epsilon: Decimal
    repeated: bool  # an earlier report was sent again, and these answers were not used

    def to_json(self) -> bytes:
        """The receipt as a file to save."""
        return canonical.dumps(
            {
                "survey": self.survey,
                "id": to_text(self.id),
                "bits": to_text(self.bits),
                "status": self.status,
                "epsilon": canonical.spell(self.epsilon),
            }
        )


def fetch(url: str) -> Survey:
    """The survey at this address: well-formed, of this slug, and the one the link pins, if it pins one."""
    address = Address.parse(url)
    status, body = _exchange(urllib.request.Request(address.api, headers=_headers()))  # noqa: S310
    if status != 200:
        raise _problem(status, body)
    survey = Survey.from_json(body)
    if survey.slug != address.slug:
        raise PinMismatch(f"asked for {address.slug}, but the server sent {survey.slug}")
    if address.pin not in (None, survey.digest):
        raise PinMismatch(
            f"the link pins the definition {address.pin}, but the server sent {survey.digest}; do not answer it"
        )
    return survey


def respond(
    url: str,
    answers: Mapping[str, Any],
    *,
    limit: float | str | Decimal | None = DEFAULT_LIMIT,
    ledger: Ledger | None = DEFAULT_LEDGER,
    invitation: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Receipt:
    """Answer a survey. `limit=None` allows any ε and `ledger=None` keeps no record; both must be said."""
    if invitation is not None:
        check_invitation(invitation)
    survey = fetch(url)
    epsilon = verify(survey, limit)
    if ledger is None:
        report, made = randomize(survey, answers, random_bytes=random_bytes), True
    else:
        origin = Address.parse(url).origin
        entry, made = ledger.make(survey, answers, limit=limit, origin=origin, random_bytes=random_bytes)
        report, epsilon = entry.report, entry.epsilon
    status = submit(url, report, invitation)
    if ledger is not None:
        with suppress(LedgerError):  # only a mark for display; the receipt must not be lost for it
            ledger.mark_stored(survey.digest)
    return Receipt(survey.digest, report.id, report.bits, status, epsilon, repeated=not made)


def submit(
    url: str,
    report: Report,
    invitation: str | None = None,
    *,
    attempts: int = ATTEMPTS,
    pause: Callable[[float], None] = time.sleep,
) -> str:
    """Send one report: "stored" or "already_stored". Unreachable servers get the same bytes again, a few times."""
    address = Address.parse(url)
    headers = _headers() | {"Content-Type": "application/json"}
    if code := invitation or address.invitation:
        headers["Candor-Invitation"] = check_invitation(code)
    request = urllib.request.Request(  # noqa: S310
        f"{address.api}/reports", data=report.to_json(), headers=headers, method="POST"
    )
    for attempt in range(attempts):
        if attempt:
            pause(2.0**attempt)
        try:
            return _acknowledgement(*_exchange(request))
        except Unreachable:
            if attempt == attempts - 1:
                raise
    raise ValueError("attempts must be at least 1")


def _acknowledgement(status: int, body: bytes) -> str:
    try:
        said = json.loads(body)["status"]
    except (ValueError, KeyError, TypeError, RecursionError):
        said = None
    if status in (200, 201) and said in ("stored", "already_stored"):
        return str(said)
    if status < 300:
        raise Unreachable(f"the server answered {status}, but did not acknowledge the report")
    raise _problem(status, body)


def _problem(status: int, body: bytes) -> Refused | Unreachable | BadAddress:
    try:
        problem = json.loads(body)
        code, said = str(problem["code"]), str(problem.get("detail") or problem["title"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        code, said = "http_error", http.client.responses.get(status, "no reason given")
    said = "".join(character if character.isprintable() else " " for character in said[:500])
    if 300 <= status < 400:
        return BadAddress(f"the server redirects elsewhere ({status}); reports are sent only where you said")
    if status >= 500 or status == 429:
        return Unreachable(f"the server cannot take it now ({status}: {said}); try again later, nothing is lost")
    return Refused(status, code[:60], f"the server refused ({status}): {said}")


def _headers() -> dict[str, str]:
    return {"Accept": "application/json", "User-Agent": "candor-client"}


def _exchange(request: urllib.request.Request) -> tuple[int, bytes]:
    """Status and body; Unreachable if there is no whole answer in time.

    The time-out of a socket starts anew with every byte, so a server that drips could hold a client for ever; hence a
    thread that is given up when the time is over.
    """
    outcome: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(_talk(request))
        except Exception as error:  # whatever it is, the waiting side raises it
            outcome.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = outcome.get(timeout=TIMEOUT)
    except queue.Empty:
        raise Unreachable(f"{request.host} did not answer in {TIMEOUT:g} seconds") from None
    if isinstance(result, CandorError):
        raise result
    if isinstance(result, Exception):
        raise Unreachable(f"{request.host} did not answer: {getattr(result, 'reason', result)}") from result
    return result


def _talk(request: urllib.request.Request) -> tuple[int, bytes]:
    proxies: dict[str, str] | None = {} if request.type == "http" else None  # plain http stays on this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _SameOrigin())
    try:
        response: Any = opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        body: bytes = response.read(LARGEST_DEFINITION + 1)
    if len(body) > LARGEST_DEFINITION:
        raise Unreachable(f"{request.host} answers with more than {LARGEST_DEFINITION} bytes")
    return response.status, body


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follow a redirect only for a GET and only to the same scheme, host and port."""

    max_redirections = 5

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage
    ) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except (CandorError, ValueError):
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        there, here = urllib.parse.urlsplit(newurl), urllib.parse.urlsplit(req.full_url)
        if req.get_method() != "GET":
            return None
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            raise BadAddress(f"{req.host} redirects to another place, {newurl[:100]!r}; nothing was sent there")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
