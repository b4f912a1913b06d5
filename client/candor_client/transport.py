"""HTTP requests and replies: the only module that uses the network.

It follows redirects only for definitions and only within one origin. It sends no cookie and no language, and only its
name as the user agent. If a server cannot be reached, the same bytes are sent again a few times.
"""

import http.client
import json
import queue
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeVar

from candor_client.definition import LARGEST_DEFINITION
from candor_client.errors import BadAddress, CandorError, ServerRefusal, Unreachable

TIMEOUT = 20.0
ATTEMPTS = 3
HEADERS = {"Accept": "application/json", "User-Agent": "candor-client"}

Reply = TypeVar("Reply")


def get(url: str, *, headers: Mapping[str, str] | None = None, most: int = LARGEST_DEFINITION) -> bytes:
    """Return the body at a URL, of at most `most` bytes; raise TransportError for any status other than 200."""
    status, body = _exchange(urllib.request.Request(url, headers={**HEADERS, **(headers or {})}), most)  # noqa: S310
    if status != 200:
        raise _problem(status, body)
    return body


def post(
    url: str,
    body: bytes,
    parse: Callable[[Any], Reply | None],
    *,
    headers: Mapping[str, str] | None = None,
    attempts: int,
    pause: Callable[[float], None],
) -> Reply:
    """Send bytes and return the reply as read by `parse`; raise TransportError.

    The same bytes are sent again, up to `attempts` times, while the server is unreachable or `parse` returns None.
    """
    request = urllib.request.Request(  # noqa: S310
        url, data=body, headers={**HEADERS, "Content-Type": "application/json", **(headers or {})}, method="POST"
    )
    for attempt in range(attempts):
        if attempt:
            pause(2.0**attempt)
        try:
            status, reply = _exchange(request)
            if status >= 300:
                raise _problem(status, reply)
            if (result := parse(_parse_json(reply))) is not None:
                return result
            raise Unreachable(
                f"the server replied {status}, but did not acknowledge the request; try again later, nothing is lost"
            )
        except Unreachable:
            if attempt == attempts - 1:
                raise
    raise ValueError("attempts must be at least 1")


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _problem(status: int, body: bytes) -> ServerRefusal | Unreachable | BadAddress:
    try:
        problem = json.loads(body)
        code, detail = str(problem["code"]), str(problem.get("detail") or problem["title"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        code, detail = "http_error", http.client.responses.get(status, "no reason given")
    detail = "".join(character if character.isprintable() else " " for character in detail[:500])
    if 300 <= status < 400:
        return BadAddress(f"the server redirects elsewhere ({status}); requests go only to the address that you gave")
    if status >= 500 or status == 429:
        return Unreachable(f"the server cannot accept it now ({status}: {detail}); try again later, nothing is lost")
    return ServerRefusal(status, code[:60], f"the server refused ({status}): {detail}")


def _exchange(request: urllib.request.Request, most: int = LARGEST_DEFINITION) -> tuple[int, bytes]:
    """Return status and body; raise Unreachable if the response is not complete in time.

    The time-out of a socket starts anew with every byte, so a slow server could block the client forever.
    The request therefore runs in a thread, which is abandoned after the time-out.
    """
    outcome: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(_send_request(request, most))
        except Exception as error:  # the waiting thread raises it
            outcome.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = outcome.get(timeout=TIMEOUT)
    except queue.Empty:
        raise Unreachable(
            f"{request.host} did not answer in {TIMEOUT:g} seconds; try again later, nothing is lost"
        ) from None
    if isinstance(result, CandorError):
        raise result
    if isinstance(result, Exception):
        reason = getattr(result, "reason", result)
        why = getattr(reason, "strerror", None) or reason
        raise Unreachable(f"{request.host} did not answer: {why}; try again later, nothing is lost") from result
    return result


def _send_request(request: urllib.request.Request, most: int) -> tuple[int, bytes]:
    proxies: dict[str, str] | None = {} if request.type == "http" else None  # plain http stays on this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _SameOrigin())
    try:
        response: Any = opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        body: bytes = response.read(most + 1)
    if len(body) > most:
        raise Unreachable(f"the reply of {request.host} has more than {most} bytes")
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
        target, source = urllib.parse.urlsplit(newurl), urllib.parse.urlsplit(req.full_url)
        if req.get_method() != "GET":
            return None
        if (target.scheme, target.netloc) != (source.scheme, source.netloc):
            raise BadAddress(f"{req.host} redirects to another server, {newurl[:100]!r}; nothing was sent there")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
