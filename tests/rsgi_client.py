"""A test client that sends every request through `survey_app.web.rsgi`, as production does.

Flask's own client speaks WSGI to the app; here its request becomes an RSGI scope and a body in chunks, as granian would
give them, so that the tests run the code of production.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import run_wsgi_app

from survey_app.web.rsgi import RsgiAdapter

CHUNK = 16_384


class Headers:
    """The headers of a scope; names are lower case, and may occur several times."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        self.lines = lines

    def get(self, name: str, default: Any = None) -> Any:
        return next((value for key, value in self.lines if key == name), default)

    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self.lines if key == name]

    def items(self) -> list[tuple[str, str]]:
        return list(self.lines)


class Protocol:
    """The RSGI protocol of one request: it gives a body in chunks, and keeps the reply."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks: Iterable[bytes] = chunks
        self.status, self.lines, self.body = 0, list[tuple[str, str]](), b""
        self.reader: threading.Thread | None = None

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.lines)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk

    async def client_disconnect(self) -> None:
        """Wait until the client has gone, as granian does: here for ever."""
        await asyncio.Event().wait()

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.lines, self.body = status, headers, body

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        """Read what granian would read, on a thread of its own, as granian does."""
        self.status, self.lines = status, headers

        def read() -> None:
            self.body = Path(file).read_bytes()

        self.reader = threading.Thread(target=read)
        self.reader.start()

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.response_bytes(status, headers, b"")


def scope(method: str, path: str, *headers: tuple[str, str], query: str = "", **more: Any) -> Any:
    """Return granian's description of a request."""
    usual = {
        "proto": "http", "method": method, "path": path, "query_string": query, "server": "127.0.0.1:8000",
        "client": "192.0.2.1:5", "http_version": "1.1", "scheme": "http", "headers": Headers(*headers),
    }  # fmt: skip
    return SimpleNamespace(**usual | more)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return one event loop on a thread of its own: a browser of an earlier test may have left one on this thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="front", daemon=True).start()
    return loop


def serve(front: RsgiAdapter, one: Any, protocol: Any) -> None:
    """Serve one request."""
    asyncio.run_coroutine_threadsafe(front.__rsgi__(one, protocol), _loop()).result(timeout=60)
    if getattr(protocol, "reader", None):
        protocol.reader.join()


def ask(app: Flask, one: Any, *chunks: bytes) -> Protocol:
    """Return the reply to a request."""
    protocol = Protocol(*chunks)
    serve(RsgiAdapter(app), one, protocol)
    return protocol


def wrap_in_wsgi(app: Flask) -> Any:
    """Return a WSGI application that hands every request to the RSGI adapter of an app, as granian would."""
    front = RsgiAdapter(app)

    def carry(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        protocol = Protocol()
        protocol.chunks = _chunks(environ)
        serve(front, _scope_of(environ), protocol)
        start_response(f"{protocol.status} -", [(name.title(), value) for name, value in protocol.lines])
        return [protocol.body]

    return carry


def _chunks(environ: dict[str, Any]) -> Iterator[bytes]:
    """Yield the body as it comes in: nothing is read before the adapter asks for it."""
    declared = environ.get("CONTENT_LENGTH") or ""
    left = int(declared) if declared.isascii() and declared.isdigit() else 0
    while left or environ.get("wsgi.input_terminated"):
        chunk = environ["wsgi.input"].read(min(CHUNK, left) if left else CHUNK)
        if not chunk:
            return
        left = max(left - len(chunk), 0)
        yield chunk


class RsgiClient(FlaskClient):
    """Flask's client, except that its requests go through the RSGI adapter."""

    def run_wsgi_app(self, environ: Any, buffered: bool = False) -> Any:
        self._add_cookies_to_wsgi(environ)
        sent = run_wsgi_app(_carrier(self.application), environ, buffered=buffered)
        host = environ.get("HTTP_HOST", "localhost").partition(":")[0]
        self._update_cookies_from_response(host, environ["PATH_INFO"], sent[2].getlist("Set-Cookie"))
        return sent


def _carrier(app: Flask) -> Any:
    """Return the one RSGI adapter for all clients of an app, kept with the app."""
    kept = app.extensions
    if "front" not in kept:
        kept["front"] = wrap_in_wsgi(app)
    return kept["front"]


def _scope_of(environ: dict[str, Any]) -> Any:
    lines = [(key[5:].lower().replace("_", "-"), value) for key, value in environ.items() if key.startswith("HTTP_")]
    lines += [
        (key.lower().replace("_", "-"), environ[key]) for key in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(key)
    ]
    return scope(
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace"),
        *lines,
        query=environ.get("QUERY_STRING", "").encode("latin-1").decode("utf-8", "replace"),
        scheme=environ["wsgi.url_scheme"],
        server=f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}",
        client=f"{environ.get('REMOTE_ADDR', '127.0.0.1')}:5",
    )
