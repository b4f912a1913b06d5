"""Between the HTTP server and the app: a request gets a thread only once its whole body has arrived.

Through plain WSGI, a sender that stops in the middle of a body holds a thread for ever, and as many of them as there
are threads stop the server. Here bodies are read on the event loop (RSGI, granian's own interface), bounded in size
and time; reports and tickets wait for the disk there too, and only everything else gets a thread for the app.
"""

import asyncio
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask

from survey_app.collect.intake import REPORTS, WAIT_SECONDS, Intake, Reply, reply
from survey_app.pages.access import account_of, get_store
from survey_app.problems import Problem
from survey_app.server import wire
from survey_app.server.app import create_app
from survey_app.server.uploads import largest_upload, needs_token
from survey_app.store import Outcome, Unavailable
from survey_app.tickets.issue import TICKETS, Desk

THREADS = 16


class Front:
    """An RSGI application around a WSGI one."""

    def __init__(self, app: Flask) -> None:
        self._app: Any = app.wsgi_app
        self._intake: Intake = app.extensions["candor_intake"]
        self._desk: Desk = app.extensions["candor_desk"]
        self._store = get_store(app)
        self._proxies: int = app.config["TRUSTED_PROXIES"]
        self._pool = ThreadPoolExecutor(THREADS, "request")

    def __rsgi_del__(self, loop: Any) -> None:
        """What granian calls when a worker stops: the writer, the desk and their files end with it."""
        self.close()

    def close(self) -> None:
        """End every thread and process of the app, once nobody sends any more."""
        self._pool.shutdown()
        self._intake.close()
        self._desk.close()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        posted = scope.method == "POST"
        report, ticket = ((way.fullmatch(scope.path) if posted else None) for way in (REPORTS, TICKETS))
        try:
            tokened = needs_token(scope.method, scope.path)
            if report or ticket or tokened:
                self._intake.limit(wire.address(scope, self._proxies))
            unknown = tokened and not self._knows(scope.headers.get("authorization"))
            body = b"" if unknown else await wire.read(scope, protocol, largest_upload(scope.path))
        except Problem as problem:
            wire.refuse(protocol, problem)
            return
        if ticket:
            wire.send(protocol, await wire.ticket(self._desk, ticket[1], scope, body))
            return
        if report:
            wire.send(protocol, await self._report(report[1], body))
            return
        run = asyncio.get_running_loop().run_in_executor
        status, headers, sent = await run(self._pool, self._call, _environ(scope, body))
        if unknown:  # the app has refused it, without what is still to come
            headers.append(("connection", "close"))
        protocol.response_bytes(status, headers, sent)

    def _knows(self, header: str | None) -> bool:
        """Whether a header carries a token that counts."""
        try:
            return account_of(self._store, header) is not None
        except (Problem, Unavailable):
            return False

    async def _report(self, slug: str, body: bytes) -> Reply:
        """A report waits for the disk without a thread."""
        try:
            future = self._intake.take(slug, body)
            outcome: Outcome = await asyncio.wait_for(asyncio.wrap_future(future), WAIT_SECONDS)
            return reply(outcome)
        except Exception as error:  # a Problem or not, it ends in a problem document
            return reply(error)

    def _call(self, environ: dict[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        begun: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            begun[:] = [int(status[:3]), headers]

        chunks = self._app(environ, start_response)
        try:
            body = b"".join(chunks)
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


def create() -> Front:
    """What a worker serves."""
    app = create_app()
    app.extensions["candor_intake"].begin()
    return Front(app)
