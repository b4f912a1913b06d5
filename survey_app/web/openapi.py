"""The OpenAPI 3.1 description of the API. A test compares it with the routes and with the table of problems.

The schemas of results, cross-tabs and surveys are derived from the structs that replies are made of and that requests
are parsed into.
"""

from functools import cache
from typing import Any

import msgspec

from candor_client.canonical import NAME
from survey_app.figures import FigureKind
from survey_app.invitations.codes import MOST_AT_ONCE
from survey_app.problems import CONTENT_TYPE, PROBLEMS
from survey_app.results.crosstab_document import Crosstab, EmptyCrosstab
from survey_app.results.group_document import Study
from survey_app.results.regression_document import Regression
from survey_app.results.survey_document import Line, Results
from survey_app.web.survey_summary import Listing, SurveySummary
from survey_app.web.surveys_api import CONFIRM_HEADER, STATES, YAML, Change

SLUG = {"name": "slug", "in": "path", "required": True, "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"}}
TEXT = {"type": "string"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
CROSSTAB_SIDE = {"in": "query", "required": True, "schema": TEXT, "description": "a question, or QUESTION:OPTION"}
CROSSTAB_PARAMETERS = [{"name": name, **CROSSTAB_SIDE} for name in ("rows", "columns")]
REGRESSION_PARAMETERS: list[dict[str, Any]] = [
    {"name": "outcome", "in": "query", "required": True, "schema": TEXT, "description": "QUESTION=ANSWER"},
    {
        "name": "on",
        "in": "query",
        "required": True,
        "schema": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 8},
        "description": "the questions that may explain the outcome; repeat on= for each",
    },
]
FLAG = {"enum": ["0", "1"]}
INTERVALS: tuple[dict[str, Any], ...] = (
    {
        "name": "confidence",
        "in": "query",
        "schema": {"type": "number", "minimum": 0.5, "maximum": 0.999, "multipleOf": 0.001},
    },
    {
        "name": "simultaneous",
        "in": "query",
        "schema": FLAG,
        "description": "simultaneous intervals for all options of a question",
    },
    {"name": "narrow", "in": "query", "schema": FLAG, "description": "Wilson's intervals, without guaranteed coverage"},
    {"name": "population", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 2**53}},
)
SIGNATURE = {"type": "string", "pattern": "^[A-Za-z0-9_-]{512}$", "description": "384 bytes, base64url"}
REPORT: dict[str, Any] = {
    "type": "object",
    "required": ["survey", "id", "bits"],
    "additionalProperties": False,
    "properties": {
        "survey": DIGEST,
        "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$", "description": "16 bytes, base64url"},
        "bits": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "description": "noisy bits, base64url"},
        "ticket": {
            "type": "object",
            "description": "only for surveys by invitation: the ticket, which was signed blindly",
            "additionalProperties": False,
            "required": ["prefix", "signature"],
            "properties": {
                "prefix": {"type": "string", "pattern": "^[A-Za-z0-9_-]{43}$", "description": "32 bytes, base64url"},
                "signature": SIGNATURE,
            },
        },
    },
}
BLINDED: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["survey", "blinded"],
    "properties": {"survey": DIGEST, "blinded": SIGNATURE},
}
WANTED: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["count"],
    "properties": {"count": {"type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE}},
}
CODES: dict[str, Any] = {
    "type": "object",
    "required": ["survey", "codes"],
    "properties": {"survey": DIGEST, "codes": {"type": "array", "items": TEXT}},
}
INVITED: dict[str, Any] = {
    "type": "object",
    "required": ["survey", "state", "invited", "taken", "not_taken"],
    "properties": {
        "survey": DIGEST,
        "state": {"enum": ["open", "paused", "closed"]},
        "invited": {"type": "integer"},
        "taken": {"type": "integer"},
        "not_taken": {"type": "array", "items": DIGEST, "description": "SHA-256 of each unused code"},
    },
}


def _problems_of(*codes: str) -> dict[str, Any]:
    statuses: dict[str, list[str]] = {}
    for code in codes:
        statuses.setdefault(str(PROBLEMS[code][0]), []).append(code)
    return {
        status: {
            "description": ", ".join(group),
            "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, group in statuses.items()
    }


def _reply(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _status_schema(value: str) -> dict[str, Any]:
    return {"type": "object", "required": ["status"], "properties": {"status": {"const": value}}}


HEALTH = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string", "pattern": "^(ok|untidy( since [0-9]{4}-[0-9]{2}-[0-9]{2})?)$"}},
}


@cache
def _document_schemas() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return references to the derived schemas, and all schemas they need, by name.

    The references are for results, a study, a cross-tab, an empty cross-tab, a regression, a survey, the list of
    surveys, and a change.
    """
    shapes = [Results, Study, Crosstab, EmptyCrosstab, Regression, SurveySummary, Listing, Change]
    derived = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    references, schemas = msgspec.json.decode(msgspec.json.encode(derived))  # plain lists, as in parsed JSON
    schemas[Line.__name__]["properties"]["kind"] = {"enum": schemas.pop(FigureKind.__name__)["enum"]}  # inlined
    return references, schemas


def openapi_document() -> dict[str, Any]:
    """Return the whole description."""
    any_object = {"type": "object"}
    (results, study, crosstab, empty, regression, summary, listing, change), schemas = _document_schemas()
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
    invitation = {
        "name": "Candor-Invitation",
        "in": "header",
        "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    }
    signature = {"type": "object", "required": ["signature"], "properties": {"signature": SIGNATURE}}
    location = {"Location": {"description": "the URL of the definition", "schema": TEXT}}
    etag = {"ETag": {"description": "the digest, in quotes", "schema": TEXT}}
    digest = {"name": "digest", "in": "query", "schema": DIGEST, "description": "the version, such as an older one"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Candor",
            "version": "1",
            "description": "Surveys whose server cannot be sure of your answer.",
        },
        "paths": {
            "/api/surveys": {
                "get": {
                    "summary": "List the surveys of an account and those shared with it",
                    "security": [{"token": []}],
                    "responses": {
                        "200": _reply("the surveys", listing),
                        **_problems_of("unauthorized", "too_many_requests", "unavailable"),
                    },
                },
                "post": {
                    "summary": "Publish an author's file, as a new version if its slug exists already",
                    "security": [{"token": []}],
                    "parameters": [
                        {
                            "name": "state", "in": "query", "schema": {"enum": list(STATES)},
                            "description": "default: open",
                        }
                    ],
                    "requestBody": {
                        "required": True,
                        "content": {
                            **{kind: {"schema": TEXT} for kind in YAML},
                            "application/json": {"schema": any_object},
                        },
                    },
                    "responses": {
                        "201": _reply("published, with advice", summary) | {"headers": location},
                        **_problems_of(
                            "malformed_request", "unauthorized", "conflict", "too_large", "bad_survey",
                            "too_many_requests", "unavailable",
                        ),
                    },
                },
            },
            "/api/surveys/{slug}": {
                "get": {
                    "summary": "The canonical definition",
                    "parameters": [SLUG, digest],
                    "responses": {
                        "200": _reply("the definition, byte for byte", any_object) | {"headers": etag},
                        "304": {"description": "unchanged"},
                        **_problems_of("not_found", "too_many_requests", "unavailable"),
                    },
                },
                "patch": {
                    "summary": "Change the terms or the state of a survey, or of all groups of a study",
                    "security": [{"token": []}],
                    "parameters": [SLUG, digest],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": change}}},
                    "responses": {
                        "200": _reply("the survey after the change", summary),
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "not_found", "conflict", "too_large",
                            "too_many_requests", "unavailable",
                        ),
                    },
                },
                "delete": {
                    "summary": "Delete all versions and reports of a survey, or of all groups of a study",
                    "security": [{"token": []}],
                    "parameters": [
                        SLUG,
                        {
                            "name": CONFIRM_HEADER,
                            "in": "header",
                            "required": True,
                            "schema": TEXT,
                            "description": "the slug, as confirmation",
                        },
                    ],
                    "responses": {
                        "204": {"description": "deleted"},
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "not_found", "too_many_requests",
                            "unavailable",
                        ),
                    },
                },
            },
            "/api/surveys/{slug}/reports": {
                "post": {
                    "summary": "Send one report",
                    "parameters": [SLUG],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": REPORT}}},
                    "responses": {
                        "201": _reply("stored on disk", _status_schema("stored")),
                        "200": _reply("the same report was stored already", _status_schema("already_stored")),
                        **_problems_of(
                            "malformed_report", "malformed_request", "bad_ticket", "too_early", "not_found", "id_taken",
                            "wrong_survey", "survey_not_open", "survey_paused", "survey_closed", "survey_full",
                            "too_large", "impossible_bits", "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/tickets": {
                "post": {
                    "summary": "Get a blind signature for an invitation",
                    "parameters": [SLUG, invitation],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": BLINDED}}},
                    "responses": {
                        "200": _reply("the blind signature", signature),
                        **_problems_of(
                            "malformed_request", "not_invited", "too_late", "not_found", "already_issued",
                            "wrong_survey", "survey_not_open", "survey_paused", "survey_closed", "too_large",
                            "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/reports/batch": {
                "post": {
                    "summary": "Send many reports, one JSON object per line",
                    "security": [{"token": []}],
                    "parameters": [SLUG],
                    "requestBody": {"required": True, "content": {"application/x-ndjson": {"schema": TEXT}}},
                    "responses": {
                        "200": _reply("the number of lines with each outcome", batch),
                        **_problems_of(
                            "unauthorized", "forbidden", "not_found", "too_large", "too_many_requests", "unavailable"
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/invitations": {
                "get": {
                    "summary": "Get exact counts of invitations, for the owner and editors",
                    "security": [{"token": []}],
                    "parameters": [SLUG],
                    "responses": {
                        "200": _reply("the counts, and the hashes of the unused codes", INVITED),
                        **_problems_of("unauthorized", "forbidden", "not_found", "too_many_requests", "unavailable"),
                    },
                },
                "post": {
                    "summary": "Make invitations; their codes are returned only once",
                    "security": [{"token": []}],
                    "parameters": [SLUG],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": WANTED}}},
                    "responses": {
                        "201": _reply("the codes, in no particular order", CODES),
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "too_late", "not_found", "survey_closed",
                            "too_large", "unavailable",
                        ),
                    },
                },
            },
            "/api/surveys/{slug}/results": {
                "get": {
                    "summary": "Results, which change in steps of at least 20 reports",
                    "security": [{}, {"token": []}],
                    "parameters": [SLUG, digest, *INTERVALS],
                    "responses": {
                        "200": _reply("of a survey, or of all groups of a study", {"anyOf": [results, study]}),
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "not_found",
                            "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/crosstab": {
                "get": {
                    "summary": "A cross-tab of two questions or of two options of one, from the reports in the results",
                    "security": [{}, {"token": []}],
                    "parameters": [
                        SLUG, digest, *INTERVALS,
                        *CROSSTAB_PARAMETERS,
                    ],
                    "responses": {
                        "200": _reply("cells, shares within rows, differences, a test", {"anyOf": [crosstab, empty]}),
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "not_found",
                            "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/api/surveys/{slug}/regression": {
                "get": {
                    "summary": "A regression of the odds of an answer on the true answers to other questions",
                    "security": [{}, {"token": []}],
                    "parameters": [SLUG, digest, *INTERVALS, *REGRESSION_PARAMETERS],
                    "responses": {
                        "200": _reply("log odds ratios with intervals", regression),
                        **_problems_of(
                            "malformed_request", "unauthorized", "forbidden", "not_found",
                            "too_many_requests", "unavailable",
                        ),
                    },
                }
            },
            "/healthz": {
                "get": {
                    "summary": "Whether the database responds",
                    "responses": {"200": _reply("it does", HEALTH), **_problems_of("too_many_requests", "unavailable")},
                }
            },
            "/metrics": {
                "get": {
                    "summary": "Metrics for the operator, with the token that the server was started with",
                    "security": [{"token": []}],
                    "responses": {
                        "200": {
                            "description": "in the text format of Prometheus",
                            "content": {"text/plain": {"schema": {"type": "string"}}},
                        },
                        **_problems_of("unauthorized", "not_found", "too_many_requests", "unavailable"),
                    },
                }
            },
            "/openapi.json": {"get": {"summary": "This document", "responses": {"200": _reply("it", any_object)}}},
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
                        "faults": {
                            "type": "array",
                            "description": "only for bad_survey: all errors of the file",
                            "items": {
                                "type": "object",
                                "required": ["code", "reason", "path", "line"],
                                "properties": {
                                    "code": TEXT, "reason": TEXT, "path": TEXT, "line": {"type": ["integer", "null"]},
                                },
                            },
                        },
                    },
                }
            },
        },
    }  # fmt: skip
