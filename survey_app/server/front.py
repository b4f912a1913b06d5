"""Between the HTTP server and the app: a request gets a thread only once its whole body has arrived.

Through plain WSGI, a sender that stops in the middle of a body holds a thread for ever, and as many of them as there
are threads stop the server. Here bodies are read on the event loop (RSGI, granian's own interface), bounded in size
and time; reports wait for the disk there too, and only everything else gets a thread for the app.
"""

import asyncio
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask

from survey_app.collect.intake import REPORTS, RESPONDENT_HEADERS, WAIT_SECONDS, Intake, Reply, check_length, reply
from survey_app.problems import Problem
from survey_app.server.app import create_app
from survey_app.server.uploads import largest_upload
from survey_app.store import Outcome

THREADS = 16
READ_SECONDS = 20.0
LOWER_HEADERS = [(name.lower(), value) for name, value in RESPONDENT_HEADERS]


class Front:
    """An RSGI application around a WSGI one."""

    def __init__(self, app: Flask) -> None:
        self._app: Any = app.wsgi_app
        self._intake: Intake = app.extensions["candor_intake"]
        self._proxies: int = app.config["TRUSTED_PROXIES"]
        self._pool = ThreadPoolExecutor(THREADS, "request")

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Reply to one request."""
        if scope.proto != "http":
            protocol.response_empty(400, [])
            return
        report = REPORTS.fullmatch(scope.path) if scope.method == "POST" else None
        try:
            if report:
                self._intake.limit(_address(scope, self._proxies))
            body = await asyncio.wait_for(_read(scope, protocol, largest_upload(scope.path)), READ_SECONDS)
        except (TimeoutError, Problem) as error:
            late = Problem("malformed_request", f"The body did not arrive in {READ_SECONDS:g} seconds.")
            _send(protocol, reply(error if isinstance(error, Problem) else late), close=True)
            return
        if report:
            _send(protocol, await self._report(report[1], body))
            return
        run = asyncio.get_running_loop().run_in_executor
        protocol.response_bytes(*await run(self._pool, self._call, _environ(scope, body)))

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


async def _read(scope: Any, protocol: Any, most: int) -> bytes:
    check_length(scope.headers.get("content-length"), most)
    body = b""
    async for chunk in protocol:
        body += chunk
        if len(body) > most:
            raise Problem("too_large", f"At most {most} bytes.")
    return body


def _send(protocol: Any, sent: Reply, *, close: bool = False) -> None:
    headers = [("content-type", sent.content_type), *LOWER_HEADERS]
    protocol.response_bytes(sent.status, [*headers, ("connection", "close")] if close else headers, sent.body)


def _address(scope: Any, proxies: int) -> str:
    """Who sends, as the last trusted proxy saw it; only for the rate limit."""
    lines = ",".join(scope.headers.get_all("x-forwarded-for"))
    forwarded = [part.strip() for part in lines.split(",") if part.strip()]
    if proxies and len(forwarded) >= proxies:
        return str(forwarded[-proxies])
    return str(scope.client.rpartition(":")[0])


def _environ(scope: Any, body: bytes) -> dict[str, Any]:
    host, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
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
