"""A small real HTTP server whose replies a test sets."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes]


class Server:
    """A server on a free port of this machine that keeps every request."""

    def __init__(self) -> None:
        self.get: Callable[[str], Reply] = lambda path: (404, {}, b"")
        self.post: Callable[[bytes], Reply | None] = lambda body: (201, {}, b'{"status":"stored"}')
        self.tickets: Callable[[str, bytes], Reply | None] = lambda code, body: (404, {}, b"")
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _note(self) -> None:
                outer.requests.append((self.command, self.path, dict(self.headers)))

            def _reply(self, reply: Reply | None) -> None:
                if reply is None:  # never answer
                    outer.released.wait()
                    return
                status, headers, body = reply
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                self._note()
                self._reply(outer.get(self.path))

            def do_POST(self) -> None:
                self._note()
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path.endswith("/tickets"):
                    self._reply(outer.tickets(self.headers["Candor-Invitation"], body))
                    return
                outer.bodies.append(body)
                self._reply(outer.post(body))

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))
        self._thread.start()

    def define(self, source: bytes, slug: str = "exam") -> None:
        """Serve a definition."""
        self.get = lambda path: (200, {}, source) if path == f"/api/surveys/{slug}" else (404, {}, b"")

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
