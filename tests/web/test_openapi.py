"""The API's description against the routes, the table of problems, and the server itself."""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, SerializationContext
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import candor_client
from candor_client.report import to_base64url
from survey_app.assure.simulation.devices import reports
from survey_app.plan.simulated_people import draw_people
from survey_app.problems import CONTENT_TYPE, PROBLEMS
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab
from survey_app.results.survey_document import Results
from survey_app.store import Submission
from survey_app.web.access import get_store
from survey_app.web.openapi import openapi_document
from survey_app.web.results import results_cache
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    simple,
    subset,
    survey,
    yes_no,
)
from tests.fixtures import TOKEN, Installation
from tests.fixtures import add as publish

EVERYWHERE = {"method_not_allowed", "internal_error"}  # they belong to no operation in particular
REPORTS = "/api/surveys/{slug}/reports"
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture
def app(installation: Installation) -> Flask:
    """A server with an open survey and one whose results are private."""
    for slug, public in (("exam", True), ("private", False)):
        installation.publish(simple() | {"slug": slug}, public=public)
    return installation.app


def operations() -> dict[tuple[str, str], Any]:
    """The documented operations by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in openapi_document()["paths"].items()
        for method, operation in methods.items()
    }


def problems(operation: Any) -> set[tuple[int, str]]:
    """The documented problems of an operation, with their statuses."""
    return {
        (int(status), code)
        for status, response in operation["responses"].items()
        if int(status) >= 400
        for code in response["description"].split(", ")
    }


def test_what_is_routed_is_documented_and_what_is_documented_is_routed(app: Flask) -> None:
    routed = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api") or rule.rule in ("/healthz", "/metrics", "/openapi.json")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert set(operations()) == routed


def test_the_server_gives_the_very_document(app: Flask) -> None:
    response = app.test_client().get("/openapi.json")
    assert (response.status_code, response.content_type) == (200, "application/json")
    assert response.json == openapi_document()


def test_the_document_is_valid_openapi(app: Flask) -> None:
    schemathesis.openapi.from_dict(openapi_document()).validate()


def test_the_problems_of_the_document_are_those_of_the_table() -> None:
    assert openapi_document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"] == list(PROBLEMS)
    found = set[tuple[int, str]]().union(*map(problems, operations().values()))
    assert found == {(status, code) for code, (status, _) in PROBLEMS.items() if code not in EVERYWHERE}


def test_problems_are_documented_in_their_one_shape() -> None:
    for operation in operations().values():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert response["content"] == {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


@schemathesis.serializer("application/x-ndjson")
def lines(context: SerializationContext, value: Any) -> bytes:
    """How a batch is sent: a text as it is, anything else in a line of its own."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def ways() -> Iterator[tuple[str, str, GenerationMode]]:
    """Every operation as documented, and those with an input also with a wrong one."""
    for (method, path), operation in operations().items():
        yield method, path, GenerationMode.POSITIVE
        if "parameters" in operation:
            yield method, path, GenerationMode.NEGATIVE


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "mode"), list(ways()))
def test_the_server_keeps_to_its_description(app: Flask, method: str, path: str, mode: GenerationMode) -> None:
    """Whatever is sent, as documented or not, the answer is one of those the description has."""
    api = schemathesis.openapi.from_wsgi("/openapi.json", app)
    places = [None, {"slug": "exam"}, {"slug": "private"}] if "{slug}" in path else [None]
    cases = [api[path][method].as_strategy(generation_mode=mode, path_parameters=place) for place in places]
    token = {"Authorization": f"Bearer {TOKEN}"}

    @settings(max_examples=12, database=None, suppress_health_check=list(HealthCheck))
    @given(case=st.one_of(cases), headers=st.sampled_from([{}, token]))
    def check(case: Case[Any], headers: dict[str, str]) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    check()


def test_a_real_report_fits_the_description(app: Flask) -> None:
    report = candor_client.randomize(survey(simple()), {"cheated": True})
    case = schemathesis.openapi.from_wsgi("/openapi.json", app)[REPORTS]["POST"].Case(
        path_parameters={"slug": "exam"},
        body={"survey": report.survey, "id": to_base64url(report.id), "bits": to_base64url(report.bits)},
        media_type="application/json",
    )
    assert [case.call_and_validate(checks=CHECKS).status_code for _ in range(2)] == [201, 200]


QUESTIONS = [
    yes_no("cheated"), choice("help", optional=True), scale("fair"), yes_no("told"), number("hours"), multiple("used"),
    number("age", bins=3), number("spend", levels=7), scale("calm", optional=True), choice("town", 4),
    yes_no("sure"), choice("why", 2, show_if={"question": "sure", "is": ["yes"]}),
]  # fmt: skip
FIELDS = [
    field(COIN, "cheated"), field(subset(4, 1), "help"), field(subset(6, 1), "fair", "told"),
    field(subset(2, 1), "hours"), field(drawn(3, 1), "used"), field(subset(3, 2), "age"), field(geometric(), "spend"),
    field(subset(4, 1), "calm"), field(subset(4, 2), "town"), field(subset(4, 1), "sure", "why"),
]  # fmt: skip


@pytest.fixture
def full(app: Flask) -> Flask:
    """The server with surveys of all kinds of questions: with reports, with too few, and where not all are asked all."""
    store, rng = get_store(app), np.random.default_rng()
    for slug, count, more in (("many", 80, {}), ("none", 0, {}), ("some", 400, {"ask": 1})):
        made = survey(define(QUESTIONS, FIELDS, slug=slug, **more))
        published = publish(store, made, owner=store.users()[0].key)
        for rows in reports(made, draw_people(made, {}, count, rng), rng):
            store.write([Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows].copy)
    return app


@pytest.mark.parametrize("slug", ["many", "none", "some"])
@pytest.mark.parametrize("query", [{}, {"narrow": "1"}, {"population": "5000"}, {"simultaneous": "1"}])
def test_real_results_fit_the_description(full: Flask, slug: str, query: dict[str, str]) -> None:
    """And hold nothing that the description has not: read by the struct they come from, they are the same again."""
    operation = schemathesis.openapi.from_wsgi("/openapi.json", full)["/api/surveys/{slug}/results"]["GET"]
    reply = operation.Case(path_parameters={"slug": slug}, query=query).call_and_validate(checks=CHECKS)
    assert reply.status_code == 200
    assert json.loads(msgspec.json.encode(msgspec.json.decode(reply.content, type=Results))) == reply.json()
    assert ("note" in reply.text) == (slug == "none")


@pytest.mark.parametrize(
    ("slug", "rows", "columns", "shape"),
    [
        ("many", "cheated", "help", Crosstab),
        ("many", "fair", "told", Crosstab),
        ("many", "used", "calm", Crosstab),
        ("many", "age", "town", Crosstab),
        ("many", "sure", "why", Crosstab),
        ("some", "sure", "why", Crosstab),
        ("none", "cheated", "help", EmptyCrosstab),
        ("none", "fair", "told", EmptyCrosstab),
    ],
)
def test_real_cross_tabs_fit_the_description(
    full: Flask, slug: str, rows: str, columns: str, shape: type[Crosstab | EmptyCrosstab]
) -> None:
    operation = schemathesis.openapi.from_wsgi("/openapi.json", full)["/api/surveys/{slug}/crosstab"]["GET"]
    case = operation.Case(path_parameters={"slug": slug}, query={"rows": rows, "columns": columns})
    reply = case.call_and_validate(checks=CHECKS)
    assert reply.status_code == 200
    assert json.loads(msgspec.json.encode(msgspec.json.decode(reply.content, type=shape))) == reply.json()


@pytest.mark.parametrize("key", ["n", "method", "sample_coverage", "coverage"])
def test_results_that_do_not_fit_would_be_noticed(full: Flask, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A line without one of its keys is refused by the schema."""

    def broken(*arguments: Any) -> Any:
        document = msgspec.to_builtins(results_cache.cached_results(*arguments))
        del document["questions"][0]["estimates"][0][key]
        return document

    monkeypatch.setattr("survey_app.web.api.kept_results", broken)
    operation = schemathesis.openapi.from_wsgi("/openapi.json", full)["/api/surveys/{slug}/results"]["GET"]
    with pytest.raises(FailureGroup, match=key):
        operation.Case(path_parameters={"slug": "many"}).call_and_validate(checks=CHECKS)
