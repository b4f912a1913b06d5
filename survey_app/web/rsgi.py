"""The adapter between the HTTP server and the app: a request gets a thread only after its whole body has arrived.

Under plain WSGI, a sender that stops in the middle of a body holds a thread for ever. As many of these senders as there
are threads stop the server. Here bodies are read on the event loop (RSGI, granian's own interface), with limits on
size, time and total memory (`upload_limits`). Reports and tickets wait for the disk on the event loop too. Everything
else gets a thread of a pool in `thread_pools`, so that readers of results do not delay respondents. `streaming` sends
large replies.
"""

import asyncio
import io
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, cast

from flask import Flask
from werkzeug.exceptions import HTTPException

from survey_app.collect.intake import REPORTS, WAIT_SECONDS, Intake, Reply, make_reply
from survey_app.collect.rate_limit import Counts, Limiter
from survey_app.invitations.issuing import TICKETS, TicketIssuer
from survey_app.problems import Problem, is_api
from survey_app.store import Outcome
from survey_app.web import rsgi_io
from survey_app.web.app import create_app, problem_page
from survey_app.web.streaming import Headers, Sender, gather
from survey_app.web.thread_pools import Pool, RequestKind, kind_of
from survey_app.web.upload_limits import (
    ACCOUNT_BUDGET,
    PUBLIC_BUDGET,
    Budget,
    largest_upload,
    may_upload,
    needs_account,
)

SENDING_METHODS = ("POST", "PATCH")


class RsgiAdapter:
    """An RSGI application around a WSGI application."""

    def __init__(self, app: Flask) -> None:
        self._app, self._wsgi = app, cast(Any, app.wsgi_app)
        self._intake: Intake = app.extensions["candor_intake"]
        self._signer: TicketIssuer = app.extensions["candor_issuer"]
        self._proxies: int = app.config["TRUSTED_PROXIES"]
        self._account_budget, self._public_budget = Budget(ACCOUNT_BUDGET), Budget(PUBLIC_BUDGET)
        self._urls = app.url_map.bind("")
        self._pools, self._sender = {kind: Pool(kind) for kind in RequestKind}, Sender()
        self._visits: Limiter = app.extensions["candor_visits"]
        self._readings: Limiter = app.extensions["candor_readings"]
        self._refusals: dict[tuple[str, str | None], tuple[Headers, bytes]] = {}

    def __rsgi_del__(self, loop: Any) -> None:
        """Close the app when granian stops the worker: the writer, the ticket issuer and their files."""
        self.close()

    def close(self) -> None:
        """End every thread and process of the app, after the last request."""
        for pool in self._pools.values():
            pool.close()
        self._intake.close()
        self._signer.close()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        kind = self._kind(scope)
        is_for_account = needs_account(scope.method, scope.path)
        try:
            self._limit(scope, kind)
            if is_for_account and not await self._pools[RequestKind.PAGE].run(
                may_upload, self._app, _wsgi_environ(scope, b"")
            ):
                closing = ("connection", "close")  # the app refuses it without its body, which may follow
                await self._answer(protocol, RequestKind.PAGE, _wsgi_environ(scope, b""), closing)
                return
            limit = largest_upload(scope.method, scope.path)
            budget = self._account_budget if is_for_account else self._public_budget
            with budget.reserve(rsgi_io.body_length(scope, limit)):
                await self._reply(scope, protocol, kind, await rsgi_io.read_body(scope, protocol, limit))
        except Problem as problem:
            self._refuse(scope, protocol, problem)

    def _kind(self, scope: Any) -> RequestKind:
        try:
            return kind_of(self._urls.match(scope.path, scope.method)[0])
        except HTTPException:
            return kind_of("")

    def _limit(self, scope: Any, kind: RequestKind) -> None:
        """Count a request for its address. Raise Problem if the address has reached its limit."""
        address = rsgi_io.sender_address(scope, self._proxies)
        if scope.method not in SENDING_METHODS:
            (self._readings if kind is RequestKind.READING else self._visits).check(address)
        elif is_api(scope.path):
            self._intake.limit(address)

    async def _reply(self, scope: Any, protocol: Any, kind: RequestKind, body: bytes) -> None:
        posted = scope.method == "POST"
        report, ticket = ((pattern.fullmatch(scope.path) if posted else None) for pattern in (REPORTS, TICKETS))
        if ticket:
            rsgi_io.send_reply(protocol, await rsgi_io.issue_ticket(self._signer, ticket[1], scope, body))
        elif report:
            rsgi_io.send_reply(protocol, await self._report(report[1], body))
        else:
            await self._answer(protocol, kind, _wsgi_environ(scope, body))

    async def _answer(
        self, protocol: Any, kind: RequestKind, environ: dict[str, Any], *extra_headers: tuple[str, str]
    ) -> None:
        """Let the app answer on a thread of the right pool.

        Nothing is computed or sent for a client that has disconnected.
        """
        disconnect = asyncio.ensure_future(protocol.client_disconnect())
        try:
            status, headers, body = await self._pools[kind].run(self._call, environ, is_gone=disconnect.done)
            is_disconnected = disconnect.done()
        finally:
            disconnect.cancel()
        if is_disconnected and not isinstance(body, bytes):
            body.close()
        elif isinstance(body, bytes):
            protocol.response_bytes(status, [*headers, *extra_headers], body)
        else:
            await self._sender.send(protocol, status, [*headers, *extra_headers], body)

    def _refuse(self, scope: Any, protocol: Any, problem: Problem) -> None:
        """Refuse a request before the app sees it.

        A browser gets a page, which is rendered once, because many requests may be refused at the same time.
        """
        if is_api(scope.path) or scope.method != "GET":
            rsgi_io.refuse(protocol, problem)
            return
        key = (problem.code, problem.detail)
        if key not in self._refusals:
            self._refusals[key] = problem_page(self._app, problem)
        headers, body = self._refusals[key]
        more_headers = [(key.lower(), value) for key, value in problem.headers]
        protocol.response_bytes(problem.status, [*headers, *more_headers], body)

    async def _report(self, slug: str, body: bytes) -> Reply:
        """Store a report and return the reply; waiting for the disk needs no thread."""
        try:
            future = self._intake.accept(slug, body)
            outcome: Outcome = await asyncio.wait_for(asyncio.wrap_future(future), WAIT_SECONDS)
            return make_reply(outcome)
        except Exception as error:  # a Problem or not, it ends in a problem document
            return make_reply(error)

    def _call(self, environ: dict[str, Any]) -> tuple[int, Headers, bytes | BinaryIO]:
        response_start: list[Any] = []

        def start_response(status: str, headers: Headers, exc_info: Any = None) -> None:
            response_start[:] = [int(status[:3]), headers]

        chunks = self._wsgi(environ, start_response)
        try:
            body = gather(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        return response_start[0], [(name.lower(), value) for name, value in response_start[1]], body


def _wsgi_environ(scope: Any, body: bytes) -> dict[str, Any]:
    host, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string.encode().decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        if "_" in name:  # it would look like the name with a dash, which a trusted proxy may set
            continue
        key = name.upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def create(counts: Counts, config: Mapping[str, Any] | None = None) -> RsgiAdapter:
    """Return the adapter that a worker serves. All workers share `counts`."""
    app = create_app(config, counts=counts)
    app.extensions["candor_intake"].begin()
    return RsgiAdapter(app)
