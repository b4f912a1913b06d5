"""However many readers of results, authors and visitors there are, no respondent waits with a form."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

import candor_client
from survey_app.web import thread_pools
from survey_app.web.rsgi import RsgiAdapter
from survey_app.web.thread_pools import POOL_SIZES, RequestKind, kind_of
from survey_app.web.upload_limits import needs_account
from tests.definitions import COIN, define, field, survey, worked_example, yes_no
from tests.fixtures import SAID, Installation, build
from tests.rsgi_client import Protocol, _loop, ask, scope, serve
from tests.server_process import PATH

CONNECTIONS = 300
PATIENCE = 30.0  # seconds, which only a server that keeps respondents waiting takes
RESPONDENTS = (
    "/s/exam", "/s/exam/form.html", "/api/surveys/exam", "/healthz", "/client/js/respond.js",
    "/static/form/form.js", "/static/style.css",
)  # fmt: skip
HELD = {
    "results.page": "/results/exam",
    "api.survey_results": "/api/surveys/exam/results",
    "api.survey_crosstab": "/api/surveys/exam/crosstab",
    "api.survey_regression": "/api/surveys/exam/regression",
    "downloads.plot": "/results/exam/plots/help.svg",
    "archive.codebook_file": "/results/exam/codebook.html",
    "explain.privacy": "/s/exam/privacy",
    "editor.questions": "/console/drafts/1",
    "auth.sign_in": "/login",
    "front.front": "/",
}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    installation: Installation = build(tmp_path)
    installation.publish(worked_example())
    yield installation.app
    installation.close()


def hold(app: Flask, endpoint: str) -> threading.Event:
    """Let an endpoint wait for an event."""
    released = threading.Event()

    def wait(**_: Any) -> str:
        released.wait(2 * PATIENCE)
        return "done"

    app.before_request_funcs.clear()  # a visitor who is not signed in would be sent away at once
    app.view_functions[endpoint] = wait
    return released


async def beside(app: Flask, path: str, released: threading.Event) -> tuple[list[Protocol], dict[str, int]]:
    """Ask for one thing over many connections, then for all that a respondent needs, once; how all were answered."""
    front = RsgiAdapter(app)
    readers = [Protocol() for _ in range(CONNECTIONS)]
    reading = [asyncio.ensure_future(front.__rsgi__(scope("GET", path), one)) for one in readers]
    statuses: dict[str, int] = {}
    try:
        for asked in RESPONDENTS:
            found = Protocol()
            await asyncio.wait_for(front.__rsgi__(scope("GET", asked), found), PATIENCE)
            statuses[asked] = found.status
        sent = Protocol(candor_client.randomize(survey(worked_example()), SAID).to_json())
        await asyncio.wait_for(front.__rsgi__(scope("POST", PATH), sent), PATIENCE)
        statuses[PATH] = sent.status
        assert not any(one.done() for one, reader in zip(reading, readers, strict=True) if reader.status != 503)
    finally:
        released.set()
        await asyncio.gather(*reading)
    return readers, statuses


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", HELD)
def test_300_connections_of_readers_keep_no_respondent_waiting(
    app: Flask, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    """Every thread that reads is held by an event; form, definition, health, scripts and reports are answered before."""
    monkeypatch.setattr(thread_pools, "PATIENCE", 10 * PATIENCE, raising=False)
    held = beside(app, HELD[endpoint], hold(app, endpoint))
    readers, statuses = asyncio.run_coroutine_threadsafe(held, _loop()).result(timeout=10 * PATIENCE)
    assert statuses == dict.fromkeys(RESPONDENTS, 200) | {PATH: 201}
    size = POOL_SIZES[kind_of(endpoint)]
    taken = min(CONNECTIONS, int(size.threads + size.queue_size))
    assert [one.status for one in readers].count(200) == taken
    for one in readers:
        assert one.status == 200 or (one.status, one.headers["retry-after"]) == (503, str(thread_pools.TRY_AGAIN))


def test_a_reading_whose_reader_left_while_it_waited_is_not_made(app: Flask) -> None:
    """Asking and leaving costs an attacker nothing, so it must not cost the server a reading."""
    made: list[str] = []
    begun, released = threading.Event(), threading.Event()

    def view(slug: str) -> str:
        made.append(slug)
        begun.set()
        released.wait(2 * PATIENCE)
        return "done"

    class Leaving(Protocol):
        async def client_disconnect(self) -> None:
            """It has gone at once."""

    async def attack() -> list[int]:
        front, size = RsgiAdapter(app), POOL_SIZES[RequestKind.READING]
        stay, leave = ([kind() for _ in range(size.threads + extra)] for kind, extra in ((Protocol, 0), (Leaving, 20)))
        asked = [asyncio.ensure_future(front.__rsgi__(scope("GET", "/results/exam"), one)) for one in [*stay, *leave]]
        await asyncio.to_thread(begun.wait, PATIENCE)
        await asyncio.sleep(0)
        released.set()
        await asyncio.gather(*asked)
        return [one.status for one in stay]

    app.view_functions["results.page"] = view
    statuses = asyncio.run_coroutine_threadsafe(attack(), _loop()).result(timeout=10 * PATIENCE)
    assert statuses == [200] * len(statuses)
    assert len(made) == len(statuses)


def test_a_reading_that_waited_too_long_is_refused_and_nobody_else(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pools, "PATIENCE", -1.0)
    for path, content in (("/results/exam", "text/html"), ("/api/surveys/exam/results", "application/problem+json")):
        refused = ask(app, scope("GET", path))
        assert (refused.status, refused.headers["retry-after"]) == (503, str(thread_pools.TRY_AGAIN))
        assert refused.headers["content-type"].partition(";")[0] == content
        assert refused.headers["x-content-type-options"] == "nosniff"
    assert json.loads(refused.body)["code"] == "unavailable"
    for path in RESPONDENTS:
        assert ask(app, scope("GET", path)).status == 200


def test_every_address_has_its_pool(app: Flask) -> None:
    """Below /results/ all but the counter and links is a reading, below /s/ what does not explain a respondent's."""
    found: dict[RequestKind, set[str]] = {kind: set() for kind in RequestKind}
    for rule in app.url_map.iter_rules():
        found[kind_of(rule.endpoint)].add(rule.rule)
    results = {rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/results/")}
    assert results - found[RequestKind.READING] == {"/results/<slug>/count", "/results/<slug>/link"}
    forms = {rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith(("/s/", "/client/", "/static/"))}
    explained = {f"/s/<slug>/{page}" for page in ("privacy", "paper", "enter")}
    assert (forms - explained) | {"/healthz", "/api/surveys/<slug>"} <= found[RequestKind.RESPONDENT]
    assert found[RequestKind.EXPLANATION] == explained
    drafts = {rule.rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/console/drafts/")}
    assert drafts <= found[RequestKind.DRAFT]
    assert kind_of("demo.administrator") is RequestKind.READING and kind_of("") is RequestKind.PAGE
    known = {name for rule in app.url_map.iter_rules() for name in (rule.endpoint, rule.endpoint.partition(".")[0])}
    assert {name for names in thread_pools.KINDS.values() for name in names} - known == {"demo.administrator"}


MANY = 1400  # questions, of yes and no: nearly the largest definition
MOST_CALLS = {"/s/exam": 20_000, "/s/exam/form.html": 5_000, "/api/surveys/exam": 5_000, "/s/exam/privacy": 2_000_000}


def calls(app: Flask, path: str, host: str) -> int:
    """Count the calls of Python functions in which the app answers: what it costs, whatever else the machine does."""
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        assert FlaskClient(app).get(path, headers={"Host": host}).status_code == 200
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.slow
def test_the_form_of_a_thousand_questions_costs_little_by_whatever_name_the_server_is_called(tmp_path: Path) -> None:
    """Version 0.8.0 made it again for each name, by more than a million calls, and the page about privacy by ten million."""
    installation = build(tmp_path)
    names = [f"q{place}" for place in range(MANY)]
    installation.publish(define([yes_no(name) for name in names], [field(COIN, name) for name in names], slug="exam"))
    for path, most in MOST_CALLS.items():
        calls(installation.app, path, "first.example")
        assert calls(installation.app, path, "second.example") < most, path
    installation.close()


PLACES = ("/results/exam", "/api/surveys/exam/results", "/s/exam", "/s/exam/privacy", "/console/drafts/1", "/healthz")
TRICKS = (
    "{}", "/{}", "{}/", "{}//", "{}/.", "{}/..", "/s/x/../..{}", "/static/../..{}", "/static/{}", "/client/js{}", "/.{}",
    "/s{}", "{}%2f", "{}%00", "{};x", "{}?x", "{}#x", "/%2e{}", "{}\\", "{}\u200b", "{} ", "http://h{}", "{}/form.html",
)  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "get", "HEAD", "OPTIONS", "POST", "post", "PUT", "DELETE", "TRACE", "X"])
def test_no_spelling_of_a_path_or_method_reaches_threads_of_another_pool(app: Flask, method: str) -> None:
    """What the app makes of a request is what the front has chosen the threads for; strangers are refused as pages."""
    seen: list[tuple[RequestKind, str]] = []

    def record() -> str:
        seen.append((kind_of(request.endpoint or ""), threading.current_thread().name.partition("_")[0]))
        return "done"

    app.before_request_funcs.clear()
    app.before_request(record)
    paths = [trick.format(place) for place in PLACES for trick in (*TRICKS, place.upper(), place.title())]
    front = RsgiAdapter(app)
    for path in paths:
        serve(front, scope(method, path), Protocol())
    front.close()
    for path, (kind, thread) in zip(paths, seen, strict=True):
        assert thread == (RequestKind.PAGE if needs_account(method, path) else kind), path
    assert method not in ("GET", "get", "HEAD") or {kind for kind, _ in seen} == set(RequestKind)


@pytest.mark.parametrize("limit", ["3000/minute", "off"])
def test_readings_and_visits_of_one_address_are_limited_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """The limits of GETs are no address's own business: `off` turns them off, and another address is served."""
    monkeypatch.setattr("survey_app.web.extension.READING_LIMIT", "2/minute")
    monkeypatch.setattr("survey_app.web.extension.VISIT_LIMIT", "5/minute")
    installation = build(tmp_path, limit=limit)
    installation.publish(worked_example())
    front, last = RsgiAdapter(installation.app), 429 if limit != "off" else 200

    def statuses(path: str, count: int, method: str = "GET", **more: Any) -> list[int]:
        found = [Protocol() for _ in range(count)]
        for one in found:
            serve(front, scope(method, path, **more), one)
        return [one.status for one in found]

    assert statuses("/results/exam", 2) + statuses("/api/surveys/exam/results", 1) == [200, 200, last]
    assert statuses("/s/exam", 2) + statuses("/healthz", 3) + statuses("/api/surveys/exam", 1) == [200] * 5 + [last]
    assert statuses("/results/exam", 1, "HEAD") == [last]
    assert statuses("/results/exam", 1, client="192.0.2.2:5") == [200]
    refused = Protocol()
    serve(front, scope("GET", "/results/exam"), refused)
    assert (refused.status, "retry-after" in refused.headers) == (last, limit != "off")
    front.close()
    installation.close()
