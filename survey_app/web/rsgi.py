"""The adapter between the HTTP server and the app: a request gets a thread only after its whole body has arrived.

Under plain WSGI, a sender that stops in the middle of a body holds a thread for ever. As many of these senders as there
are threads stop the server. Here bodies are read on the event loop (RSGI, granian's own interface), with limits on
size, time and total memory (`upload_limits`). Reports and tickets go to their `Endpoint` and wait for the disk on the
event loop too. Everything else gets a thread of a pool in `thread_pools`, so that readers of results do not delay
respondents. `streaming` sends large replies. `docs/benchmarks.md` has the measured gain.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, BinaryIO, cast

from flask import Flask
from werkzeug.exceptions import HTTPException

from survey_app.collect.rate_limit import Counts
from survey_app.problems import Problem, is_api
from survey_app.web import rsgi_io
from survey_app.web.app import create_app, problem_page
from survey_app.web.extension import get_candor
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
        self._proxies: int = app.config["TRUSTED_PROXIES"]
        self._account_budget, self._public_budget = Budget(ACCOUNT_BUDGET), Budget(PUBLIC_BUDGET)
        self._urls = app.url_map.bind("")
        self._pools, self._sender = {kind: Pool(kind) for kind in RequestKind}, Sender()
        self._refusals: dict[tuple[str, str | None], tuple[Headers, bytes]] = {}

    def __rsgi_del__(self, loop: Any) -> None:
        """Close the app when granian stops the worker: the writer, the ticket issuer and their files."""
        self.close()

    def close(self) -> None:
        """End every thread and process of the app, after the last request."""
        for pool in self._pools.values():
            pool.close()
        get_candor(self._app).close()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        try:
            candor = get_candor(self._app)
            for endpoint in (candor.reports, candor.ticket_requests):
                if slug := endpoint.match(scope.method, scope.path):
                    endpoint.admit(rsgi_io.sender_address(scope, self._proxies), scope.headers.get("content-length"))
                    with self._public_budget.reserve(rsgi_io.body_length(scope, endpoint.largest)):
                        await rsgi_io.answer(endpoint, slug, scope, protocol)
                    return
            await self._serve_app(scope, protocol)
        except Problem as problem:
            self._refuse(scope, protocol, problem)

    async def _serve_app(self, scope: Any, protocol: Any) -> None:
        """Reply to a request that needs a thread. Raise Problem if the app does not get to see it."""
        kind = self._kind(scope)
        self._limit(scope, kind)
        budget = self._public_budget
        if needs_account(scope.method, scope.path):
            budget, head = self._account_budget, rsgi_io.wsgi_environ(scope, b"")
            if not await self._pools[RequestKind.PAGE].run(may_upload, self._app, head):
                closing = ("connection", "close")  # the app refuses it without its body, which may follow
                await self._run_app(protocol, RequestKind.PAGE, head, closing)
                return
        most = largest_upload(scope.method, scope.path)
        with budget.reserve(rsgi_io.body_length(scope, most)):
            body = await rsgi_io.read_body(scope, protocol, most)
            await self._run_app(protocol, kind, rsgi_io.wsgi_environ(scope, body))

    def _kind(self, scope: Any) -> RequestKind:
        try:
            return kind_of(self._urls.match(scope.path, scope.method)[0])
        except HTTPException:
            return kind_of("")

    def _limit(self, scope: Any, kind: RequestKind) -> None:
        """Count a request for its address. Raise Problem if the address has reached its limit."""
        limiters, address = get_candor(self._app).limiters, rsgi_io.sender_address(scope, self._proxies)
        if scope.method not in SENDING_METHODS:
            (limiters.readings if kind is RequestKind.READING else limiters.visits).check(address)
        elif is_api(scope.path):
            limiters.senders.check(address)

    async def _run_app(
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


def create(counts: Counts, config: Mapping[str, Any]) -> RsgiAdapter:
    """Return the adapter that a worker serves. All workers share `counts`; `config` is that of `create_app`."""
    app = create_app(config, counts=counts)
    get_candor(app).intake.begin()
    return RsgiAdapter(app)
