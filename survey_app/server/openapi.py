"""The API's description, OpenAPI 3.1; a test compares it with the routes and with the table of problems.

The shapes of results and cross-tabs are not written down a second time: their schemas come from the structs that the
replies are made of.
"""

from functools import cache
from typing import Any

import msgspec

from client.canonical import NAME
from survey_app.problems import CONTENT_TYPE, PROBLEMS
from survey_app.results.crosstab import Crosstab, EmptyCrosstab
from survey_app.results.document import Results

SLUG = {"name": "slug", "in": "path", "required": True, "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"}}
TEXT = {"type": "string"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
SIDE = {"in": "query", "required": True, "schema": TEXT, "description": "a question, or QUESTION:OPTION"}
PAIR = [{"name": name, **SIDE} for name in ("rows", "columns")]
FLAG = {"enum": ["0", "1"]}
INTERVALS: tuple[dict[str, Any], ...] = (
    {"name": "confidence", "in": "query", "schema": {"type": "number", "minimum": 0.5, "maximum": 0.9999}},
    {"name": "simultaneous", "in": "query", "schema": FLAG, "description": "all options of a question together"},
    {"name": "narrow", "in": "query", "schema": FLAG, "description": "Wilson's intervals, not guaranteed"},
    {"name": "population", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 2**53}},
)
REPORT: dict[str, Any] = {
    "type": "object",
    "required": ["survey", "id", "bits"],
    "additionalProperties": False,
    "properties": {
        "survey": DIGEST,
        "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$", "description": "16 bytes, base64url"},
        "bits": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "description": "noisy bits, base64url"},
    },
}


def _problems(*codes: str) -> dict[str, Any]:
    statuses: dict[str, list[str]] = {}
    for code in codes:
        statuses.setdefault(str(PROBLEMS[code][0]), []).append(code)
    return {
        status: {
            "description": ", ".join(alike),
            "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, alike in statuses.items()
    }


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _status(value: str) -> dict[str, Any]:
    return {"type": "object", "required": ["status"], "properties": {"status": {"const": value}}}


@cache
def _documents() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """References to the schemas of results, a cross-tab and an empty one; and all schemas they need, by name."""
    derived = msgspec.json.schema_components(
        [Results, Crosstab, EmptyCrosstab], ref_template="#/components/schemas/{name}"
    )
    references, schemas = msgspec.json.decode(msgspec.json.encode(derived))  # plain lists, as a reader of JSON has them
    return references, schemas


def document() -> dict[str, Any]:
    """The whole description."""
    whole = {"type": "object"}
    (results, crosstab, empty), schemas = _documents()
    batch = {
        "type": "object",
        "required": ["stored", "already_stored", "rejected", "rejected_lines"],
        "properties": {
            "stored": {"type": "integer"},
            "already_stored": {"type": "integer"},
            "rejected": {"type": "object", "additionalProperties": {"type": "integer"}},
            "rejected_lines": {"type": "array", "items": {"type": "integer"}},
        },
    }
    etag = {"ETag": {"description": "the digest, in quotes", "schema": TEXT}}
    digest = {"name": "digest", "in": "query", "schema": DIGEST, "description": "an older version"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Candor", "version": "1", "description": "Surveys whose server cannot know your answer."},
        "paths": {
            "/api/surveys/{slug}": {
                "get": {
                    "summary": "The canonical definition",
                    "parameters": [SLUG, digest],
                    "responses": {
                        "200": _json("the definition, byte for byte", whole) | {"headers": etag},
                        "304": {"description": "unchanged"},
                        **_problems("not_found", "unavailable"),
                    },
                }
            },
            "/api/surveys/{slug}/reports": {
                "post": {
                    "summary": "Send one report",
                    "parameters": [SLUG],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": REPORT}}},
                    "responses": {
                        "201": _json("on disk", _status("stored")),
                        "200": _json("the same report is on disk already", _status("already_stored")),
                        **_problems(
                            "malformed_report", "malformed_request", "too_early", "not_found", "id_taken",
                            "wrong_survey", "survey_not_open", "survey_paused", "survey_closed", "survey_full",
                            "too_large", "impossible_bits", "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/reports/batch": {
                "post": {
                    "summary": "Send many reports, one JSON object a line",
                    "security": [{"token": []}],
                    "parameters": [SLUG],
                    "requestBody": {"required": True, "content": {"application/x-ndjson": {"schema": TEXT}}},
                    "responses": {
                        "200": _json("how many lines became what", batch),
                        **_problems("unauthorized", "forbidden", "not_found", "too_large", "unavailable"),
                    },
                }
            },
            "/api/surveys/{slug}/results": {
                "get": {
                    "summary": "Results, in steps of at least twenty reports",
                    "security": [{}, {"token": []}],
                    "parameters": [SLUG, digest, *INTERVALS],
                    "responses": {
                        "200": _json("the results", results),
                        **_problems("malformed_request", "unauthorized", "forbidden", "not_found", "unavailable"),
                    },
                }
            },
            "/api/surveys/{slug}/crosstab": {
                "get": {
                    "summary": "Two questions at once, or two options of one, from the reports behind the results",
                    "security": [{}, {"token": []}],
                    "parameters": [
                        SLUG, digest, *INTERVALS,
                        *PAIR,
                    ],
                    "responses": {
                        "200": _json("cells, shares within rows, differences, a test", {"anyOf": [crosstab, empty]}),
                        **_problems("malformed_request", "unauthorized", "forbidden", "not_found", "unavailable"),
                    },
                }
            },
            "/healthz": {
                "get": {
                    "summary": "Whether the store answers",
                    "responses": {"200": _json("it does", _status("ok")), **_problems("unavailable")},
                }
            },
            "/openapi.json": {"get": {"summary": "This document", "responses": {"200": _json("it", whole)}}},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **schemas,
                "Problem": {
                    "type": "object",
                    "required": ["type", "status", "code", "title", "detail"],
                    "properties": {
                        "type": TEXT,
                        "status": {"type": "integer"},
                        "code": {"enum": list(PROBLEMS)},
                        "title": TEXT,
                        "detail": TEXT,
                    },
                }
            },
        },
    }  # fmt: skip
