"""Between the HTTP server and the app: a request gets a thread only once its whole body has arrived.

Through plain WSGI, a sender that stops in the middle of a body holds a thread for ever, and as many of them as there
are threads stop the server. Here bodies are read on the event loop (RSGI, granian's own interface), bounded in size
and time and all together (`uploads`); reports and tickets wait for the disk there too, and only everything else gets a
thread for the app: one of `pools`, so that nobody who reads results keeps a respondent waiting. A large reply goes out
by `sending`.
"""

import asyncio
import io
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, cast

from flask import Flask
from werkzeug.exceptions import HTTPException

from survey_app.collect.intake import REPORTS, WAIT_SECONDS, Intake, Reply, reply
from survey_app.collect.rate_limit import Counts, Limiter
from survey_app.problems import Problem, is_api
from survey_app.server import wire
from survey_app.server.app import create_app, problem_page
from survey_app.server.pools import Kind, Pool, kind_of
from survey_app.server.sending import Headers, Sender, gather
from survey_app.server.uploads import (
    MOST_HELD,
    MOST_HELD_OF_ANYBODY,
    Budget,
    admits,
    largest_upload,
    of_an_account,
)
from survey_app.store import Outcome
from survey_app.tickets.issue import TICKETS, Desk

SENDING = ("POST", "PATCH")


class Front:
    """An RSGI application around a WSGI one."""

    def __init__(self, app: Flask) -> None:
        self._app, self._wsgi = app, cast(Any, app.wsgi_app)
        self._intake: Intake = app.extensions["candor_intake"]
        self._desk: Desk = app.extensions["candor_desk"]
        self._proxies: int = app.config["TRUSTED_PROXIES"]
        self._of_accounts, self._of_anybody = Budget(MOST_HELD), Budget(MOST_HELD_OF_ANYBODY)
        self._urls = app.url_map.bind("")
        self._pools, self._sender = {kind: Pool(kind) for kind in Kind}, Sender()
        self._visits: Limiter = app.extensions["candor_visits"]
        self._readings: Limiter = app.extensions["candor_readings"]
        self._refusals: dict[tuple[str, str | None], tuple[Headers, bytes]] = {}

    def __rsgi_del__(self, loop: Any) -> None:
        """What granian calls when a worker stops: the writer, the desk and their files end with it."""
        self.close()

    def close(self) -> None:
        """End every thread and process of the app, once nobody sends any more."""
        for pool in self._pools.values():
            pool.close()
        self._intake.close()
        self._desk.close()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        kind = self._kind(scope)
        known = of_an_account(scope.method, scope.path)
        try:
            self._limit(scope, kind)
            if known and not await self._pools[Kind.PAGE].run(admits, self._app, _environ(scope, b"")):
                closing = ("connection", "close")  # the app has refused it, without what is still to come
                await self._answer(protocol, Kind.PAGE, _environ(scope, b""), closing)
                return
            most = largest_upload(scope.method, scope.path)
            budget = self._of_accounts if known else self._of_anybody
            with budget.room(wire.length(scope, most)):
                await self._reply(scope, protocol, kind, await wire.read(scope, protocol, most))
        except Problem as problem:
            self._refuse(scope, protocol, problem)

    def _kind(self, scope: Any) -> Kind:
        try:
            return kind_of(self._urls.match(scope.path, scope.method)[0])
        except HTTPException:
            return kind_of("")

    def _limit(self, scope: Any, kind: Kind) -> None:
        """Count a request for its address; a Problem if that has had enough."""
        address = wire.address(scope, self._proxies)
        if scope.method not in SENDING:
            (self._readings if kind is Kind.READING else self._visits).check(address)
        elif is_api(scope.path):
            self._intake.limit(address)

    async def _reply(self, scope: Any, protocol: Any, kind: Kind, body: bytes) -> None:
        posted = scope.method == "POST"
        report, ticket = ((way.fullmatch(scope.path) if posted else None) for way in (REPORTS, TICKETS))
        if ticket:
            wire.send(protocol, await wire.ticket(self._desk, ticket[1], scope, body))
        elif report:
            wire.send(protocol, await self._report(report[1], body))
        else:
            await self._answer(protocol, kind, _environ(scope, body))

    async def _answer(self, protocol: Any, kind: Kind, environ: dict[str, Any], *more: tuple[str, str]) -> None:
        """Let the app answer, on a thread of the right pool; nothing is made or sent for a client that has gone."""
        gone = asyncio.ensure_future(protocol.client_disconnect())
        try:
            status, headers, body = await self._pools[kind].run(self._call, environ, is_gone=gone.done)
            has_gone = gone.done()
        finally:
            gone.cancel()
        if has_gone and not isinstance(body, bytes):
            body.close()
        elif isinstance(body, bytes):
            protocol.response_bytes(status, [*headers, *more], body)
        else:
            await self._sender.send(protocol, status, [*headers, *more], body)

    def _refuse(self, scope: Any, protocol: Any, problem: Problem) -> None:
        """Refuse what the app has not seen; a browser gets a page, which is made once: many may be refused at once."""
        if is_api(scope.path) or scope.method != "GET":
            wire.refuse(protocol, problem)
            return
        name = (problem.code, problem.detail)
        if name not in self._refusals:
            self._refusals[name] = problem_page(self._app, problem)
        headers, body = self._refusals[name]
        told = [(name.lower(), value) for name, value in problem.headers]
        protocol.response_bytes(problem.status, [*headers, *told], body)

    async def _report(self, slug: str, body: bytes) -> Reply:
        """A report waits for the disk without a thread."""
        try:
            future = self._intake.take(slug, body)
            outcome: Outcome = await asyncio.wait_for(asyncio.wrap_future(future), WAIT_SECONDS)
            return reply(outcome)
        except Exception as error:  # a Problem or not, it ends in a problem document
            return reply(error)

    def _call(self, environ: dict[str, Any]) -> tuple[int, Headers, bytes | BinaryIO]:
        begun: list[Any] = []

        def start_response(status: str, headers: Headers, exc_info: Any = None) -> None:
            begun[:] = [int(status[:3]), headers]

        chunks = self._wsgi(environ, start_response)
        try:
            body = gather(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        return begun[0], [(name.lower(), value) for name, value in begun[1]], body


def _environ(scope: Any, body: bytes) -> dict[str, Any]:
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
        if "_" in name:  # it would pass for the name with a dash, which a proxy may vouch for
            continue
        key = name.upper().replace("-", "_")
        key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def create(counts: Counts, config: Mapping[str, Any] | None = None) -> Front:
    """What a worker serves; `counts` is what all workers share."""
    app = create_app(config, counts=counts)
    app.extensions["candor_intake"].begin()
    return Front(app)
