"""The doctor and a server that runs: the real one, and what a proxy in front of it can do wrong."""

import threading
import time
from collections.abc import Iterator
from email.message import Message
from email.utils import formatdate
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.serving import make_server

from survey_app.assure.doctor import proxy_checks
from survey_app.assure.doctor.finding import Finding, State
from survey_app.assure.doctor.proxy_checks import Reply, findings
from tests.fixtures import build

PROTECTED = {"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer"}
GOOD: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/healthz": (200, {}, b'{"status":"ok"}'),
    "/": (200, PROTECTED, b"hello"),
    "/login": (200, {"Set-Cookie": "candor_session=x; HttpOnly; Path=/"}, b"sign in"),
}


def found(url: str) -> dict[str, Finding]:
    return {one.check: one for one in findings(url, time.time())}


def _moment(value: str) -> str:
    """`now-90` is 90 seconds before the reply, however long ago the tests were collected."""
    return formatdate(time.time() + int(value[3:]), usegmt=True) if value.startswith("now") else value


class Proxy:
    """A small server that says what a bad proxy makes of Candor's replies."""

    def __init__(self) -> None:
        self.replies = dict(GOOD)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = outer.replies[self.path]
                self.send_response_only(status)
                for name, value in {"Date": "now+0", **headers}.items():
                    self.send_header(name, _moment(value))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01))
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    running = Proxy()
    yield running
    running.close()


@pytest.mark.parametrize("proxies", [0, 1])
def test_the_real_server_and_one_that_believes_any_visitor(tmp_path: Path, proxies: int) -> None:
    installation = build(tmp_path, TRUSTED_PROXIES=proxies)
    http = make_server("127.0.0.1", 0, installation.app, threaded=True)
    thread = threading.Thread(target=lambda: http.serve_forever(poll_interval=0.01))
    thread.start()
    said = found(f"http://127.0.0.1:{http.server_port}")
    http.shutdown()
    thread.join()
    http.server_close()
    installation.close()
    wrong = {name for name, one in said.items() if one.state is not State.OK}
    assert wrong == ({"proxy"} if proxies else set())
    assert "--trusted-proxies 0" in said["proxy"].next or not proxies
    assert "cannot be seen from here" in said["logs"].found


@pytest.mark.parametrize(
    ("path", "reply", "check", "told"),
    [
        ("/healthz", (502, {}, b"bad gateway"), "server", "answers 502"),
        ("/healthz", (200, {}, b"<html>"), "server", "not as Candor does"),
        ("/healthz", (200, {}, b'{"status":"untidy since 2026-12-01"}'), "server", "untidy since 2026-12-01"),
        ("/healthz", (200, {"Date": "now+3600"}, GOOD["/healthz"][2]), "clocks", "ahead of ours"),
        ("/healthz", (200, {"Date": "now-3600"}, GOOD["/healthz"][2]), "clocks", "behind ours"),
        ("/", (200, {**PROTECTED, "Set-Cookie": "sticky=7"}, b""), "headers", "visitors get a cookie (sticky)"),
        ("/", (200, {"Referrer-Policy": "no-referrer"}, b""), "headers", "lacks the headers"),
        ("/login", (200, {**GOOD["/login"][1], "Content-Encoding": "gzip"}, b""), "compression", "(gzip)"),
    ],
)  # fmt: skip
def test_what_a_proxy_spoils(
    proxy: Proxy, path: str, reply: tuple[int, dict[str, str], bytes], check: str, told: str
) -> None:
    assert {one.state for one in found(proxy.origin).values()} == {State.OK}
    proxy.replies[path] = reply
    said = found(proxy.origin)
    assert {name for name, one in said.items() if one.state is State.FAILURE} == {check}
    assert told in said[check].found and said[check].next


@pytest.mark.parametrize(
    ("path", "reply", "check"),
    [
        ("/healthz", (200, {"Date": "now-90"}, GOOD["/healthz"][2]), "clocks"),
        ("/healthz", (200, {"Date": "yesterday"}, GOOD["/healthz"][2]), "clocks"),
        ("/login", (404, {}, b""), "proxy"),
    ],
)
def test_what_should_be_looked_at(
    proxy: Proxy, path: str, reply: tuple[int, dict[str, str], bytes], check: str
) -> None:
    proxy.replies[path] = reply
    assert {name for name, one in found(proxy.origin).items() if one.state is State.WARNING} == {check}


def test_where_nothing_answers_or_not_by_https(proxy: Proxy) -> None:
    assert found(proxy.origin.replace("http:", "https:"))["https"].state is State.FAILURE
    for url in ("nonsense", "ftp://example.org", "http://[", "http://127.0.0.1:99999"):
        assert found(url)["address"].state is State.FAILURE
    proxy.close()
    said = found(proxy.origin)["server"]
    assert said.state is State.FAILURE and "does not answer: Connection refused" in said.found


def reply(**headers: str) -> Reply:
    message: Message = HTTPMessage()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    return Reply(200, message, b"")  # type: ignore[arg-type]


PLAIN, SECURE = reply(Set_Cookie="s=x; HttpOnly; Path=/"), reply(Set_Cookie="s=x; Secure; HttpOnly")


@pytest.mark.parametrize(
    ("scheme", "sign_in", "claimed", "state"),
    [
        ("https", SECURE, SECURE, State.OK),
        ("https", PLAIN, PLAIN, State.FAILURE),  # nobody told the server
        ("https", SECURE, PLAIN, State.FAILURE),  # a visitor did
        ("http", PLAIN, PLAIN, State.OK),
        ("http", PLAIN, SECURE, State.FAILURE),
    ],
)
def test_who_tells_the_server_how_it_is_asked(scheme: str, sign_in: Reply, claimed: Reply, state: State) -> None:
    (said,) = proxy_checks._check_forwarding(urlsplit(f"{scheme}://example.org"), sign_in, claimed)
    assert said.state is state


def test_encryption_has_to_last() -> None:
    there = urlsplit("https://example.org")
    assert proxy_checks._check_encryption(there, reply()).state is State.WARNING
    assert proxy_checks._check_encryption(there, reply(Strict_Transport_Security="max-age=31536000")).state is State.OK
    assert proxy_checks._check_encryption(urlsplit("http://example.org"), reply()).state is State.FAILURE
