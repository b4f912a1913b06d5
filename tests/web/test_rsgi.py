"""The bridge between the HTTP server and the app, with made-up scopes."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask, request

from survey_app.web.rsgi import RsgiAdapter
from tests.definitions import worked_example
from tests.fixtures import build
from tests.rsgi_client import Protocol, ask, scope, serve
from tests.server_process import PATH


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    installation = build(tmp_path, limit="3/minute", TRUSTED_PROXIES=1)
    installation.publish(worked_example())
    installation.app.get("/who")(
        lambda: {"address": request.remote_addr, "host": request.host, "cookie": request.cookies}
    )
    yield installation.app
    installation.close()


def test_the_rate_limit_counts_the_address_that_the_trusted_proxy_saw(app: Flask) -> None:
    """The respondent's own line comes first; the proxy adds another behind it."""
    front = RsgiAdapter(app)
    statuses = []
    for i in range(5):
        protocol = Protocol(b"{")
        lines = ("x-forwarded-for", f"198.51.100.{i}"), ("x-forwarded-for", "203.0.113.9")
        serve(front, scope("POST", PATH, *lines), protocol)
        statuses.append(protocol.status)
    assert statuses == [400, 400, 400, 429, 429]


def test_a_header_with_an_underscore_does_not_pass_for_a_trusted_one(app: Flask) -> None:
    lines = ("x-forwarded-for", "203.0.113.9"), ("x_forwarded_for", "198.51.100.7"), ("host", "localhost")
    assert b"203.0.113.9" in ask(app, scope("GET", "/who", *lines)).body


def test_a_page_takes_no_large_body(app: Flask) -> None:
    assert ask(app, scope("POST", "/login"), *[b"x" * 40_000] * 2).status == 413


def test_replies_carry_their_headers(app: Flask) -> None:
    found = ask(app, scope("GET", "/api/surveys/exam"))
    assert found.status == 200
    assert found.headers["etag"].strip('"')
    unchanged = ask(app, scope("GET", "/api/surveys/exam", ("if-none-match", found.headers["etag"])))
    assert (unchanged.status, unchanged.body) == (304, b"")


def test_paths_beyond_ascii_are_not_found(app: Flask) -> None:
    assert ask(app, scope("GET", "/s/ünï")).status == 404


def test_what_is_not_http_is_refused(app: Flask) -> None:
    one = scope("GET", "/")
    one.proto = "ws"
    refused: list[int] = []
    protocol = SimpleNamespace(response_empty=lambda status, headers: refused.append(status))
    serve(RsgiAdapter(app), one, protocol)
    assert refused == [400]
