"""One installation for all tests: a store with an owner, a stranger and a token, its app, and surveys in it.

`app.test_client()` of an installation uses `tests.rsgi_client`, the way in of production. Passwords are really hashed,
at the lowest cost: a hash carries its own parameters.
"""

import json
import secrets
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import candor_client
from candor_client import Report, Survey
from candor_client.report import to_base64url
from survey_app import create_app
from survey_app.accounts import hash_secret
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.collect.rate_limit import Limiter
from survey_app.problems import PROBLEMS
from survey_app.store import Member, PublishedSurvey, State, Store, Submission, TicketFile, User
from survey_app.store.sqlite import SqliteStore
from survey_app.web.extension import NAME, get_candor
from tests.definitions import simple, survey, worked_example
from tests.route_cache import TEMPLATES
from tests.rsgi_client import RsgiClient
from tests.ticket_surveys import invent_ticket, invitation_survey, key

STATUSES = {
    "malformed_report": 400,
    "malformed_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_invited": 403,
    "bad_ticket": 403,
    "too_early": 403,
    "too_late": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "id_taken": 409,
    "already_issued": 409,
    "conflict": 409,
    "wrong_survey": 409,
    "survey_not_open": 409,
    "survey_paused": 409,
    "survey_closed": 410,
    "survey_full": 410,
    "too_large": 413,
    "bad_survey": 422,
    "impossible_bits": 422,
    "too_many_requests": 429,
    "internal_error": 500,
    "unavailable": 503,
}

TOKEN = secrets.token_urlsafe(32)
HOUR = timedelta(hours=1)
SAID: dict[str, Any] = {"cheated": True, "help": "notes", "hours": 12}  # to the worked example
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def phrase(name: str) -> str:
    """Return the password of an account."""
    return f"correct horse of {name}"


def replace_limiters(app: Flask, **limiters: Limiter) -> None:
    """Give an app other limits."""
    candor = get_candor(app)
    app.extensions[NAME] = replace(candor, limiters=replace(candor.limiters, **limiters))


@dataclass
class Installation:
    """A server with an owner, ada, whose token is TOKEN, and a stranger, eve."""

    app: Flask
    store: SqliteStore  # but for the few tests that bring another one
    owner: User
    stranger: User

    @property
    def tickets(self) -> TicketFile:
        """The file of the invitations and tickets."""
        return get_candor(self.app).tickets

    @property
    def client(self) -> FlaskClient:
        """A client that keeps no cookies."""
        return self.app.test_client(use_cookies=False)

    def close(self) -> None:
        """End the writer and the signing process, and let go of the files."""
        get_candor(self.app).close()
        self.tickets.close()
        self.store.close()

    def publish(self, made: Survey | dict[str, Any] | Path | None = None, **options: Any) -> PublishedSurvey:
        """Publish a survey, an author's file or a definition; options but `owner` and `state` are terms."""
        parsed = build_file(made).survey if isinstance(made, Path) else made
        parsed = parsed if isinstance(parsed, Survey) else survey(parsed or simple())
        kept = {key: options.pop(key) for key in ("owner", "state") if key in options}
        return add(self.store, parsed, Terms(**{"public": True, **options}), **{"owner": self.owner.key, **kept})

    def post(self, body: bytes | Report, **options: Any) -> TestResponse:
        data = body.to_json() if isinstance(body, Report) else body
        return self.client.post("/api/surveys/exam/reports", data=data, **options)

    def invite(
        self, *codes: str, number: int = 0, definition: dict[str, Any] | None = None, **more: str
    ) -> PublishedSurvey:
        """Publish a survey by invitation, and invite these codes; `issuer` and `from_` go beside its key."""
        made = invitation_survey(number, definition=definition, **more)
        if "issuer" not in more:
            self.tickets.add_key(made.slug, key(number), made.digest)
        published = self.publish(made)
        self.tickets.invite(made.slug, [hash_secret(code) for code in codes])
        return published

    def take(self, code: str | None, body: bytes, slug: str = "exam", **options: Any) -> TestResponse:
        headers = {"Candor-Invitation": code} if code is not None else {}
        return self.client.post(f"/api/surveys/{slug}/tickets", data=body, headers=headers, **options)

    def batch(self, *lines: bytes | Report, token: str | None = TOKEN) -> TestResponse:
        body = b"\n".join(line.to_json() if isinstance(line, Report) else line for line in lines)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.post("/api/surveys/exam/reports/batch", data=body, headers=headers)

    def count(self, *lines: bytes | Report) -> Any:
        response = self.batch(*lines)
        assert (response.status_code, response.content_type) == (200, "application/json")
        return json.loads(response.data)

    def results(self) -> Any:
        response = self.client.get("/api/surveys/exam/results")
        assert response.status_code == 200
        return json.loads(response.data)


def build(
    folder: Path,
    *,
    limit: str = "off",
    client_class: type[FlaskClient] = RsgiClient,
    store: Any = None,
    **config: Any,
) -> Installation:
    """Return an installation in an empty folder, or on another store; `config` is the app's."""
    store = store or SqliteStore(folder / "candor.db")
    app = create_app({"RATE_LIMIT": limit, "LOGIN_LIMIT": "off", **config}, store)
    app.test_client_class = client_class
    app.jinja_env.bytecode_cache = TEMPLATES
    names = ("administrator", "ada", "eve")  # the first account is the administrator's
    _, owner, stranger = (store.add_user(name, CHEAP.hash(phrase(name))) for name in names)
    store.add_token(owner, hash_secret(TOKEN))
    return Installation(app, store, owner, stranger)


def make(path: Path) -> tuple[SqliteStore, PublishedSurvey]:
    """Create a store as the operator's commands use it; return it with one open survey, the worked example."""
    store = SqliteStore(path)
    return store, add_worked_example(store)


def add_worked_example(store: Store) -> PublishedSurvey:
    """Publish the worked example as an open survey in an empty store."""
    store.migrate()
    owner = store.add_user("ada", CHEAP.hash(phrase("ada")))
    return add(store, survey(worked_example()), owner=owner.key)


def add(store: Store, made: Survey, terms: Terms = Terms(public=True), **kept: Any) -> PublishedSurvey:  # noqa: B008 — frozen
    """Publish one survey, and bring it to its `state`."""
    later = kept.pop("state", State.OPEN)
    begun = State.READY if later is State.READY else State.OPEN
    published = store.add_surveys([Member(made, terms)], state=begun, **kept)[0]
    if later in (State.PAUSED, State.CLOSED):
        store.set_state(published, later)
        published = store.version(made.slug, made.digest) or published
    return published


def submission(published: PublishedSurvey) -> Submission:
    """Return a report to the worked example, as the store takes it."""
    report = candor_client.randomize(published.survey, SAID)
    return Submission(published.key, report.id, report.bits)


def make_report(published: PublishedSurvey, **answers: Any) -> Report:
    """Return a report, with a ticket where the survey needs one."""
    ticket = invent_ticket(published.survey) if published.is_by_invitation else None
    return candor_client.randomize(published.survey, answers or {"cheated": True}, ticket=ticket)


def encode_json(**keys: Any) -> bytes:
    return json.dumps(keys).encode()


def wire(report: Report, **changes: Any) -> bytes:
    said: dict[str, Any] = {
        "survey": report.survey,
        "id": to_base64url(report.id),
        "bits": to_base64url(report.bits),
    }
    if report.ticket:
        said["ticket"] = {key: to_base64url(part) for key, part in vars(report.ticket).items()}
    return encode_json(**said | changes)


def other_bits(report: Report) -> Report:
    """Return a report with the same id, and with the answer to a single coin turned over."""
    return Report(report.survey, report.id, bytes([report.bits[0] ^ 0x80]), report.ticket)


def check_refused(response: TestResponse, code: str) -> None:
    document = json.loads(response.data)
    assert (document["code"], response.status_code) == (code, STATUSES[code])
    assert response.content_type == "application/problem+json"
    more = ["faults"] if code == "bad_survey" else []
    assert list(document) == ["type", "status", "code", "title", "detail", *more]
    assert (document["type"], document["status"]) == ("about:blank", STATUSES[code])
    assert document["title"] == PROBLEMS[code][1]
    assert document["detail"]


def check_stored(response: TestResponse, *, again: bool = False) -> None:
    assert response.status_code == (200 if again else 201)
    assert response.content_type == "application/json"
    assert response.json == {"status": "already_stored" if again else "stored"}


def check_open_to_all_pages(response: TestResponse) -> None:
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert "Set-Cookie" not in response.headers


def stored_rows(installation: Installation, published: PublishedSurvey) -> list[bytes]:
    with closing(sqlite3.connect(installation.store.path)) as connection:
        rows = connection.execute("select bits from reports where survey = ?", (published.key,)).fetchall()
    return sorted(bits for (bits,) in rows)


def check_tally(installation: Installation, published: PublishedSurvey) -> int:
    """Recount bit by bit what lies in the file; the number of reports."""
    rows = stored_rows(installation, published)
    counts = [0] * published.survey.width
    for bits in rows:
        for position in range(published.survey.width):
            counts[position] += bits[position // 8] >> (7 - position % 8) & 1
    for tally in installation.store.recount(published, lambda _: None):
        assert tally.reports == len(rows)
        assert tally.counts.tolist() == counts
    return len(rows)


def check_store(store: Store, published: PublishedSurvey) -> int:
    """Check that the tally equals a recount; return the number of reports."""
    kept, counted = store.recount(published, lambda _: None)
    assert kept.reports == counted.reports
    assert np.array_equal(kept.counts, counted.counts)
    return counted.reports


def block(path: Path) -> None:
    """Make the store unable to write: its lock becomes a folder."""
    lock = Path(f"{path}.lock")
    lock.unlink()
    lock.mkdir()


def unblock(path: Path) -> None:
    Path(f"{path}.lock").rmdir()
