"""A server that only issues tickets, for surveys published elsewhere: `candor issuer serve`.

Inviting and collecting are then separate. The issuer sees invitations and never a report; the collecting server sees
reports and never an invitation. The issuer has no pages and no accounts. Surveys are registered by command.
"""

from pathlib import Path
from typing import Any

from survey_app.collect.endpoint import PREFLIGHT_HEADERS, Reply, problem_reply
from survey_app.collect.rate_limit import Counts, Limiter
from survey_app.invitations.issuing import TicketIssuer, make_file_finder, ticket_endpoint
from survey_app.problems import Problem
from survey_app.store import TicketFile, Unavailable
from survey_app.web import rsgi_io


class Issuer:
    """An RSGI application: one route, its preflight, and a health check."""

    def __init__(self, file: TicketFile, limit: str, proxies: int, counts: Counts | None = None) -> None:
        counts = counts or Counts()
        self._file, self._proxies = file, proxies
        self._issuer = TicketIssuer(file, make_file_finder(file), counts=counts)
        self._tickets = ticket_endpoint(self._issuer, Limiter(limit, "senders", counts))

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        try:
            if slug := self._tickets.match(scope.method, scope.path):
                address = rsgi_io.sender_address(scope, self._proxies)
                self._tickets.admit(address, scope.headers.get("content-length"))
                await rsgi_io.answer(self._tickets, slug, scope, protocol)
            else:
                await rsgi_io.read_body(scope, protocol, self._tickets.largest)
                rsgi_io.send_reply(protocol, self._reply(scope))
        except Problem as problem:
            rsgi_io.refuse(protocol, problem)

    def _reply(self, scope: Any) -> Reply:
        """Return the reply to a request for anything but a ticket."""
        if self._tickets.path.fullmatch(scope.path):
            if scope.method == "OPTIONS":
                return Reply(204, "text/plain", b"", PREFLIGHT_HEADERS)
            return _refuse_method("POST, OPTIONS")
        if scope.path == "/healthz":
            return self._health() if scope.method in ("GET", "HEAD") else _refuse_method("GET, HEAD")
        return problem_reply(Problem("not_found", "This server only issues tickets for surveys."))

    def _health(self) -> Reply:
        try:
            self._file.slugs()
        except Unavailable:
            return problem_reply(Problem("unavailable"))
        return Reply(200, "application/json", b'{"status":"ok"}')

    def close(self) -> None:
        """End the signing process."""
        self._issuer.close()


def _refuse_method(allowed: str) -> Reply:
    return problem_reply(Problem("method_not_allowed"))._replace(headers=[("Allow", allowed)])


def create(counts: Counts, file: Path, limit: str, proxies: int) -> Issuer:
    """Return the application that a worker serves. All workers share `counts`."""
    return Issuer(TicketFile(file), limit, proxies, counts)
