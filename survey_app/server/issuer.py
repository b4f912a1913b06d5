"""A server that only issues tickets, for surveys published elsewhere: `candor issuer serve`.

Whoever invites and whoever collects are then two: this one sees invitations and never a report, the other reports and
never an invitation. It has no pages and no accounts; what it signs for is registered by command.
"""

import os
from pathlib import Path
from typing import Any

from survey_app.collect.intake import PREFLIGHT_HEADERS, Reply, reply
from survey_app.collect.rate_limit import DEFAULT_RATE_LIMIT, Counts, Limiter
from survey_app.problems import Problem
from survey_app.server import wire
from survey_app.store import TicketFile, Unavailable
from survey_app.tickets.issue import LARGEST_REQUEST, TICKETS, Desk, of_file

FILE = "CANDOR_ISSUER"  # the environment variable that tells the workers which file
LOWER_PREFLIGHT = [(name.lower(), value) for name, value in PREFLIGHT_HEADERS]


class Issuer:
    """An RSGI application: one route, its preflight, and whether it lives."""

    def __init__(self, file: TicketFile, limit: str, proxies: int, counts: Counts | None = None) -> None:
        counts = counts or Counts()
        self._file, self._desk = file, Desk(file, of_file(file), counts=counts)
        self._limiter, self._proxies = Limiter(limit, "senders", counts), proxies

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        path = TICKETS.fullmatch(scope.path)
        try:
            if path and scope.method == "POST":
                self._limiter.check(wire.address(scope, self._proxies))
            body = await wire.read(scope, protocol, LARGEST_REQUEST)
        except Problem as problem:
            wire.refuse(protocol, problem)
            return
        if path and scope.method == "POST":
            wire.send(protocol, await wire.ticket(self._desk, path[1], scope, body))
        elif path and scope.method == "OPTIONS":
            wire.send(protocol, Reply(204, "text/plain", b""), *LOWER_PREFLIGHT)
        elif scope.path == "/healthz" and scope.method in ("GET", "HEAD"):
            wire.send(protocol, self._health())
        elif path or scope.path == "/healthz":
            wire.send(
                protocol, reply(Problem("method_not_allowed")), ("allow", "POST, OPTIONS" if path else "GET, HEAD")
            )
        else:
            wire.send(protocol, reply(Problem("not_found", "This server gives out tickets for surveys, nothing else.")))

    def _health(self) -> Reply:
        try:
            self._file.slugs()
        except Unavailable as error:
            return reply(error)
        return Reply(200, "application/json", b'{"status":"ok"}')

    def close(self) -> None:
        """End the signing process."""
        self._desk.close()


def create(counts: Counts) -> Issuer:
    """What a worker serves; `counts` is what all workers share."""
    limit = os.environ.get("CANDOR_RATE_LIMIT", DEFAULT_RATE_LIMIT)
    proxies = int(os.environ.get("CANDOR_TRUSTED_PROXIES", "0"))
    return Issuer(TicketFile(Path(os.environ[FILE])), limit, proxies, counts)
