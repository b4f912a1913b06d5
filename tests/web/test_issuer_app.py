"""A server that only issues: one route, its preflight, its health; nothing else is there."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from survey_app.accounts import hash_secret
from survey_app.collect.rate_limit import Counts
from survey_app.store import TicketFile
from survey_app.web.issuer_app import Issuer, create
from tests import rsgi_client
from tests.rsgi_client import Protocol, scope
from tests.ticket_surveys import invitation_survey, key, request_for

PATH = "/api/surveys/exam/tickets"
SURVEY = invitation_survey(issuer="https://council.example")


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[Issuer]:
    file = TicketFile(tmp_path / "issuer.db")
    file.migrate()
    file.add_key("exam", key())
    file.bind(file.active_keys("exam")[0], SURVEY.digest, SURVEY.source, "https://example.org/s/exam")
    file.invite("exam", [hash_secret("one")])
    made = Issuer(file, "5/minute", 0)
    yield made
    made.close()
    file.close()


def ask(issuer: Issuer, method: str, path: str, body: bytes = b"", *headers: tuple[str, str]) -> Protocol:
    protocol = Protocol(body)
    running = asyncio.run_coroutine_threadsafe(
        issuer.__rsgi__(scope(method, path, *headers), protocol), rsgi_client._loop()
    )
    running.result(timeout=60)
    return protocol


def code_of(reply: Protocol) -> Any:
    return json.loads(reply.body)["code"]


def test_a_ticket(issuer: Issuer) -> None:
    reply = ask(issuer, "POST", PATH, request_for(SURVEY), ("candor-invitation", "one"))
    assert reply.status == 200 and list(json.loads(reply.body)) == ["signature"]
    assert reply.headers["access-control-allow-origin"] == "*"
    again = ask(issuer, "POST", PATH, request_for(SURVEY), ("candor-invitation", "one"))
    assert (again.status, code_of(again)) == (409, "already_issued")


def test_any_page_may_ask(issuer: Issuer) -> None:
    reply = ask(issuer, "OPTIONS", PATH)
    assert reply.status == 204
    assert "Candor-Invitation" in reply.headers["access-control-allow-headers"]


def test_its_health(issuer: Issuer) -> None:
    assert ask(issuer, "GET", "/healthz").body == b'{"status":"ok"}'


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", PATH, 405), ("PUT", PATH, 405), ("POST", "/healthz", 405), ("GET", "/", 404), ("GET", "/s/exam", 404),
        ("POST", "/api/surveys/exam/reports", 404), ("GET", "/api/surveys/exam", 404), ("POST", PATH + "/", 404),
    ],
)  # fmt: skip
def test_nothing_else_is_there(issuer: Issuer, method: str, path: str, status: int) -> None:
    reply = ask(issuer, method, path)
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"


def test_bodies_and_addresses_have_their_limits(issuer: Issuer) -> None:
    assert code_of(ask(issuer, "POST", PATH, b" " * 2001)) == "too_large"
    statuses = [ask(issuer, "POST", PATH, b"{").status for _ in range(6)]
    assert statuses == [400] * 4 + [429] * 2


def test_what_is_not_http_is_refused(issuer: Issuer) -> None:
    one, protocol = scope("GET", "/"), Protocol()
    one.proto = "ws"
    asyncio.run_coroutine_threadsafe(issuer.__rsgi__(one, protocol), rsgi_client._loop()).result(timeout=60)
    assert protocol.status == 400


def test_a_file_that_is_gone_is_told(issuer: Issuer, tmp_path: Path) -> None:
    issuer._file.close()
    (tmp_path / "issuer.db").write_bytes(b"not a database" * 100)
    assert ask(issuer, "GET", "/healthz").status == 503


def test_a_worker_gets_its_file_as_an_argument(tmp_path: Path) -> None:
    TicketFile(tmp_path / "issuer.db").migrate()
    made = create(Counts(), tmp_path / "issuer.db", "off", 0)
    assert ask(made, "GET", "/healthz").status == 200
    made.close()
