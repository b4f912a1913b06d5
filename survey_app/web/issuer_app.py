"""A server that only issues tickets, for surveys published elsewhere: `candor issuer serve`.

Inviting and collecting are then separate. The issuer sees invitations and never a report; the collecting server sees
reports and never an invitation. The issuer has no pages and no accounts. Surveys are registered by command.
"""

import os
from pathlib import Path
from typing import Any

from survey_app.collect.intake import PREFLIGHT_HEADERS, Reply, make_reply
from survey_app.collect.rate_limit import DEFAULT_RATE_LIMIT, Counts, Limiter
from survey_app.invitations.issuing import LARGEST_REQUEST, TICKETS, TicketIssuer, make_file_finder
from survey_app.problems import Problem
from survey_app.store import TicketFile, Unavailable
from survey_app.web import rsgi_io

FILE_VARIABLE = "CANDOR_ISSUER"  # the environment variable that names the tickets file for the workers
LOWER_PREFLIGHT = [(name.lower(), value) for name, value in PREFLIGHT_HEADERS]


class Issuer:
    """An RSGI application: one route, its preflight, and a health check."""

    def __init__(self, file: TicketFile, limit: str, proxies: int, counts: Counts | None = None) -> None:
        counts = counts or Counts()
        self._file, self._signer = file, TicketIssuer(file, make_file_finder(file), counts=counts)
        self._limiter, self._proxies = Limiter(limit, "senders", counts), proxies

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        path = TICKETS.fullmatch(scope.path)
        try:
            if path and scope.method == "POST":
                self._limiter.check(rsgi_io.sender_address(scope, self._proxies))
            body = await rsgi_io.read_body(scope, protocol, LARGEST_REQUEST)
        except Problem as problem:
            rsgi_io.refuse(protocol, problem)
            return
        if path and scope.method == "POST":
            rsgi_io.send_reply(protocol, await rsgi_io.issue_ticket(self._signer, path[1], scope, body))
        elif path and scope.method == "OPTIONS":
            rsgi_io.send_reply(protocol, Reply(204, "text/plain", b""), *LOWER_PREFLIGHT)
        elif scope.path == "/healthz" and scope.method in ("GET", "HEAD"):
            rsgi_io.send_reply(protocol, self._health())
        elif path or scope.path == "/healthz":
            rsgi_io.send_reply(
                protocol, make_reply(Problem("method_not_allowed")), ("allow", "POST, OPTIONS" if path else "GET, HEAD")
            )
        else:
            rsgi_io.send_reply(
                protocol, make_reply(Problem("not_found", "This server gives out tickets for surveys, nothing else."))
            )

    def _health(self) -> Reply:
        try:
            self._file.slugs()
        except Unavailable as error:
            return make_reply(error)
        return Reply(200, "application/json", b'{"status":"ok"}')

    def close(self) -> None:
        """End the signing process."""
        self._signer.close()


def create(counts: Counts) -> Issuer:
    """Return the application that a worker serves. All workers share `counts`."""
    limit = os.environ.get("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT)
    proxies = int(os.environ.get("CANDOR_TRUSTED_PROXIES", "0"))
    return Issuer(TicketFile(Path(os.environ[FILE_VARIABLE])), limit, proxies, counts)
