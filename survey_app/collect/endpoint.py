"""An endpoint for respondents: one small body in, one reply out, the same under every HTTP server.

There are two: reports (`intake`) and tickets (`invitations.issuing`). `web.api` serves both with Flask, under any WSGI
server. `web.rsgi` and `web.issuer_app` serve them on the event loop of granian. Each of these calls `Endpoint.admit`
before it reads the body, and `Endpoint.answer` with the body. It sends the reply when the future has it.
"""

import logging
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from survey_app.collect.rate_limit import Limiter
from survey_app.problems import CONTENT_TYPE, Problem
from survey_app.store import Unavailable

log = logging.getLogger(__name__)

Result = TypeVar("Result")

LENGTH = re.compile(r"[0-9]{1,20}")
WAIT_SECONDS = 30  # that a request waits for the disk, or for its signature

RESPONDENT_HEADERS = [
    ("Access-Control-Allow-Origin", "*"),
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
]
PREFLIGHT_HEADERS = [
    ("Access-Control-Allow-Methods", "GET, POST"),
    ("Access-Control-Allow-Headers", "Content-Type, Candor-Invitation"),
    ("Access-Control-Max-Age", "86400"),
]


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    content_type: str
    body: bytes
    headers: Sequence[tuple[str, str]] = ()


def problem_reply(problem: Problem) -> Reply:
    """Return the response that carries a problem document."""
    return Reply(problem.status, CONTENT_TYPE, problem.body(), problem.headers)


def too_large(most: int) -> Problem:
    """Return the problem for a body of more than `most` bytes."""
    return Problem("too_large", f"A body may have at most {most} bytes.")


def incomplete_body() -> Problem:
    """Return the problem for a body whose connection ended too early."""
    return Problem("malformed_request", "The body is shorter than its Content-Length.")


def check_length(declared: str | None, most: int) -> int:
    """Return the declared length of a body, 0 if none is declared. Raise Problem if it is too large or not a number."""
    if declared and not LENGTH.fullmatch(declared):
        raise Problem("malformed_request", "Content-Length must be a number.")
    length = int(declared or 0)
    if length > most:
        raise too_large(most)
    return length


@dataclass(frozen=True)
class Endpoint(Generic[Result]):
    """The requests with one URL pattern, and their replies.

    `path` has one group, the slug. `largest` is the most bytes that a body may have. `senders` limits the requests of
    one address. `submit` takes the slug, the invitation if one was sent, and the body. It returns a future of a result,
    or raises Problem or Unavailable. `make_reply` turns a result into the response. `unavailable` is the detail of the
    problem document when the store, the signing process or the time fails.
    """

    path: re.Pattern[str]
    largest: int
    senders: Limiter
    submit: Callable[[str, str | None, bytes], Future[Result]]
    make_reply: Callable[[Result], Reply]
    unavailable: str | None = None

    def match(self, method: str, path: str) -> str | None:
        """Return the slug of a request to this endpoint; None for any other request."""
        found = self.path.fullmatch(path) if method == "POST" else None
        return found and found[1]

    def admit(self, address: str, declared: str | None) -> None:
        """Count a request of this address, then check its Content-Length. Raise Problem if either is over its limit."""
        self.senders.check(address)
        check_length(declared, self.largest)

    def answer(self, slug: str, invitation: str | None, body: bytes) -> Future[Reply]:
        """Return a future of the reply to a request. The future never holds an exception."""
        reply: Future[Reply] = Future()
        try:
            result = self.submit(slug, invitation, body)
        except Exception as error:  # a page of any origin must be able to read the reply, also if it reports our bug
            reply.set_result(self.refuse(error))
        else:
            result.add_done_callback(partial(self._settle, reply))
        return reply

    def _settle(self, reply: Future[Reply], result: Future[Result]) -> None:
        error = result.exception()
        with suppress(InvalidStateError):  # the request was cancelled
            reply.set_result(self.refuse(error) if error else self.make_reply(result.result()))

    def refuse(self, error: BaseException) -> Reply:
        """Return the response for an error: a problem document. An error that is no refusal is logged."""
        if isinstance(error, Problem):
            return problem_reply(error)
        if isinstance(error, Unavailable | TimeoutError):
            return problem_reply(Problem("unavailable", self.unavailable))
        log.error("%s in a request to %s", type(error).__name__, self.path.pattern, exc_info=error)
        return problem_reply(Problem("internal_error"))
