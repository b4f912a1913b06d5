"""The doctor and a server that runs: the real one, and what a proxy in front of it can do wrong."""

import re
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
from tests.golden_files import Golden

SECONDS = re.compile(r"\d+ s\b")
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
    assert said["proxy"].code == ("forged_headers" if proxies else "unknown")
    assert said["logs"].code == "unknown"


@pytest.mark.parametrize(
    ("path", "reply", "check", "code"),
    [
        ("/healthz", (502, {}, b"bad gateway"), "server", "not_candor"),
        ("/healthz", (200, {}, b"<html>"), "server", "not_candor"),
        ("/healthz", (200, {}, b'{"status":"untidy since 2026-12-01"}'), "server", "rewrite_fails"),
        ("/healthz", (200, {"Date": "now+3600"}, GOOD["/healthz"][2]), "clocks", "server_ahead"),
        ("/healthz", (200, {"Date": "now-3600"}, GOOD["/healthz"][2]), "clocks", "server_behind"),
        ("/", (200, {**PROTECTED, "Set-Cookie": "sticky=7"}, b""), "headers", "cookie"),
        ("/", (200, {"Referrer-Policy": "no-referrer"}, b""), "headers", "missing"),
        ("/login", (200, {**GOOD["/login"][1], "Content-Encoding": "gzip"}, b""), "compression", "compressed"),
    ],
)  # fmt: skip
def test_what_a_proxy_spoils(
    proxy: Proxy, path: str, reply: tuple[int, dict[str, str], bytes], check: str, code: str, golden: Golden
) -> None:
    assert {one.state for one in found(proxy.origin).values()} == {State.OK}
    proxy.replies[path] = reply
    said = found(proxy.origin)
    assert {name for name, one in said.items() if one.state is State.FAILURE} == {check}
    assert said[check].code == code and said[check].next
    golden(f"{SECONDS.sub('N s', said[check].found)}\n{said[check].next}", f"{code} {reply[0]}")


@pytest.mark.parametrize(
    ("path", "reply", "check", "code"),
    [
        ("/healthz", (200, {"Date": "now-90"}, GOOD["/healthz"][2]), "clocks", "server_behind"),
        ("/healthz", (200, {"Date": "yesterday"}, GOOD["/healthz"][2]), "clocks", "no_time"),
        ("/login", (404, {}, b""), "proxy", "no_cookie"),
    ],
)
def test_what_should_be_looked_at(
    proxy: Proxy, path: str, reply: tuple[int, dict[str, str], bytes], check: str, code: str, golden: Golden
) -> None:
    proxy.replies[path] = reply
    problems = [finding for finding in found(proxy.origin).values() if finding.state is State.WARNING]
    assert [(problem.check, problem.code) for problem in problems] == [(check, code)]
    golden(f"{SECONDS.sub('N s', problems[0].found)}\n{problems[0].next}")


def test_where_nothing_answers_or_not_by_https(proxy: Proxy) -> None:
    assert found(proxy.origin.replace("http:", "https:"))["https"].code == "bad_certificate"
    for url in ("nonsense", "ftp://example.org", "http://[", "http://127.0.0.1:99999"):
        assert (found(url)["address"].code, found(url)["address"].state) == ("bad_url", State.FAILURE)
    proxy.close()
    said = found(proxy.origin)["server"]
    assert (said.code, said.state) == ("no_reply", State.FAILURE)


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
