"""Who may send much, decided before any of it is read; and how much of all bodies together a worker holds."""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import pytest

from candor_client.definition import LARGEST_REPORT
from survey_app.accounts import hash_secret
from survey_app.authoring.yaml_source import LARGEST_FILE, LARGEST_FORM
from survey_app.collect.batch import LARGEST_BATCH
from survey_app.web import rsgi_io, upload_limits
from survey_app.web.rsgi import RsgiAdapter
from tests import rsgi_client
from tests.fixtures import TOKEN, Installation, check_tally, make_report
from tests.rsgi_client import Protocol, scope, serve
from tests.sign_in import cookie_of, signed_in

BATCH = "/api/surveys/exam/reports/batch"
MINE, EVES = ("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer eves-own-token-of-the-api")
STRANGE = ("authorization", f"Bearer {TOKEN[::-1]}")


class Unread(Protocol):
    """A body that must not be asked for."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""


class Withheld(Protocol):
    """A body whose last byte does not come before it is told to."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length, self.begun = length, Future[None]()
        self.go_on = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b" " * (self.length - 1)
        self.begun.set_result(None)
        await self.go_on.wait()
        yield b" "


@pytest.fixture
def front(installation: Installation) -> RsgiAdapter:
    """By which ada, and eve, come in."""
    installation.publish()
    installation.store.add_token(installation.stranger, hash_secret("eves-own-token-of-the-api"))
    return RsgiAdapter(installation.app)


def declared(length: int) -> tuple[str, str]:
    return "content-length", str(length)


def begin(front: RsgiAdapter, protocol: Withheld, *headers: tuple[str, str], path: str = BATCH) -> "Future[None]":
    asked = scope("POST", path, declared(protocol.length), *headers)
    running = asyncio.run_coroutine_threadsafe(front.__rsgi__(asked, protocol), rsgi_client._loop())
    protocol.begun.result(timeout=60)
    return running


def end(running: "Future[None]", protocol: Withheld) -> None:
    rsgi_client._loop().call_soon_threadsafe(protocol.go_on.set)
    running.result(timeout=60)


@pytest.mark.parametrize(
    ("method", "path", "header", "status"),
    [
        ("POST", BATCH, None, 401),
        ("POST", BATCH, STRANGE, 401),
        ("POST", BATCH, EVES, 403),
        ("POST", BATCH.replace("exam", "nobody"), MINE, 404),
        ("POST", "/api/surveys", None, 401),
        ("PATCH", "/api/surveys/exam", None, 401),
        ("PATCH", "/api/surveys/exam", EVES, 403),
        ("POST", "/console/drafts/1/yaml", None, 302),
        ("POST", "/console/drafts/1/yaml", ("cookie", "candor_session=eyJfdXNlcl9pZCI6IjE6eCJ9.made.up"), 302),
        ("POST", "/console/nowhere", None, 405),
    ],
)
def test_nothing_is_read_of_what_is_not_allowed(
    front: RsgiAdapter, method: str, path: str, header: tuple[str, str] | None, status: int
) -> None:
    protocol = Unread()
    serve(front, scope(method, path, declared(30_000), *([header] if header else [])), protocol)
    assert protocol.status == status
    assert protocol.headers["connection"] == "close"  # the rest of it is not waited for


def test_a_body_of_a_signed_in_user_is_read(installation: Installation, front: RsgiAdapter) -> None:
    cookie = ("cookie", f"candor_session={cookie_of(signed_in(installation.app))}")
    protocol = Protocol(b"x" * 100_000)
    serve(front, scope("POST", "/console/drafts/1/yaml", cookie), protocol)
    assert protocol.status == 400  # it was read, and has no CSRF token


@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE", "BREW"])
@pytest.mark.parametrize("path", [BATCH, "/console", "/api/surveys"])
def test_other_methods_open_no_way_around(front: RsgiAdapter, method: str, path: str) -> None:
    protocol = Protocol(*[b"x" * 40_000] * 2)
    serve(front, scope(method, path, ("transfer-encoding", "chunked")), protocol)
    assert protocol.status == 413


@pytest.mark.parametrize("header", [declared(LARGEST_BATCH), ("transfer-encoding", "chunked")])
def test_what_is_under_way_is_bounded_and_small_reports_get_in(
    installation: Installation, front: RsgiAdapter, header: tuple[str, str]
) -> None:
    held = [Withheld(LARGEST_BATCH) for _ in range(upload_limits.ACCOUNT_BUDGET // LARGEST_BATCH)]
    running = [begin(front, protocol, MINE) for protocol in held]
    refused = Unread()
    serve(front, scope("POST", BATCH, header, MINE), refused)
    assert (refused.status, json.loads(refused.body)["code"]) == (503, "unavailable")
    assert refused.headers["retry-after"] == str(upload_limits.TRY_AGAIN)
    published = installation.store.newest_version("exam")
    assert published is not None
    for body, status in (
        (make_report(published).to_json(), 201),
        (make_report(published).to_json().ljust(LARGEST_REPORT), 201),
    ):
        report = Protocol(body)
        serve(front, scope("POST", "/api/surveys/exam/reports", declared(len(body))), report)
        assert report.status == status
    for one, protocol in zip(running, held, strict=True):
        end(one, protocol)
        assert protocol.status == 200
    again = Protocol(b" " * LARGEST_BATCH)
    serve(front, scope("POST", BATCH, header, MINE), again)
    assert again.status == 200


def test_strangers_have_a_bound_of_their_own_under_which_usual_reports_get_in(
    installation: Installation, front: RsgiAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    front._public_budget = upload_limits.Budget(2 * LARGEST_REPORT)
    held = [Withheld(LARGEST_REPORT) for _ in range(2)]
    running = [begin(front, protocol, path="/api/surveys/exam/reports") for protocol in held]
    published = installation.store.newest_version("exam")
    assert published is not None
    usual, large = make_report(published).to_json(), make_report(published).to_json().ljust(LARGEST_REPORT)
    statuses = []
    for body in (usual, usual.ljust(upload_limits.UNCOUNTED_BYTES), large):
        protocol = Protocol(body)
        serve(front, scope("POST", "/api/surveys/exam/reports", declared(len(body))), protocol)
        statuses.append(protocol.status)
    assert statuses == [201, 200, 503]
    batch = Protocol(b" " * LARGEST_BATCH)
    serve(front, scope("POST", BATCH, declared(LARGEST_BATCH), MINE), batch)
    assert batch.status == 200
    for one, protocol in zip(running, held, strict=True):
        end(one, protocol)


def test_a_body_that_is_withheld_is_given_up_and_its_memory_comes_back(
    front: RsgiAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rsgi_io, "READ_SECONDS", 0.01)
    for _ in range(2 * upload_limits.ACCOUNT_BUDGET // LARGEST_BATCH):
        protocol = Withheld(LARGEST_BATCH)
        begin(front, protocol, MINE).result(timeout=60)
        assert (protocol.status, protocol.headers["connection"]) == (400, "close")
        assert "did not arrive" in json.loads(protocol.body)["detail"]


def test_a_body_that_breaks_off_is_no_body(installation: Installation, front: RsgiAdapter) -> None:
    published = installation.store.newest_version("exam")
    assert published is not None
    lines = b"\n".join(make_report(published).to_json() for _ in range(3))
    protocol = Protocol(lines)
    serve(front, scope("POST", BATCH, declared(len(lines) + 1), MINE), protocol)
    assert (protocol.status, "shorter" in json.loads(protocol.body)["detail"]) == (400, True)
    assert check_tally(installation, published) == 0


def test_the_limits_by_path() -> None:
    asked: dict[tuple[str, str], Any] = {
        ("POST", "/console/drafts"): LARGEST_FORM,
        ("POST", "/api/surveys"): LARGEST_FILE,
        ("POST", BATCH): LARGEST_BATCH,
        ("POST", "/api/surveys/exam/reports"): LARGEST_REPORT,
        ("GET", BATCH): LARGEST_REPORT,
    }
    assert {one: upload_limits.largest_upload(*one) for one in asked} == asked
