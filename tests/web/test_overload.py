"""Two doors, one reply: the front of production and plain WSGI call the same checks, and a sender sees no difference."""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from candor_client import randomize
from candor_client.definition import LARGEST_REPORT
from survey_app.collect.intake import PREFLIGHT_HEADERS, RESPONDENT_HEADERS
from survey_app.store import State
from tests.definitions import simple, survey
from tests.fixtures import Installation, build, check_stored, wire
from tests.problem_requests import PROVOKED
from tests.rsgi_client import RsgiClient
from tests.ticket_surveys import invitation_survey, request_for

REPORTS = "/api/surveys/exam/reports"
TICKETS = "/api/surveys/exam/tickets"
REPORT = randomize(survey(simple()), {"cheated": True})  # the same through both doors
COMPARED = {"Content-Type", "Allow", *(name for name, _ in RESPONDENT_HEADERS + PREFLIGHT_HEADERS)}
CHUNKED = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}

Ask = Callable[[Installation], TestResponse]


def published(ask: Ask) -> Ask:
    """The same, of an installation with an open survey."""

    def first(installation: Installation) -> TestResponse:
        installation.publish()
        return ask(installation)

    return first


def replayed(installation: Installation) -> TestResponse:
    check_stored(installation.post(REPORT))
    return installation.post(REPORT)


def closed(installation: Installation) -> TestResponse:
    newest = installation.store.newest_version("exam")
    assert newest is not None
    installation.store.set_state(newest, State.CLOSED)
    return installation.post(REPORT)


ASKED: dict[str, Ask] = {
    "a report": lambda installation: installation.post(REPORT),
    "a replay": replayed,
    "a report to a closed survey": closed,
    "a report in chunks": lambda installation: installation.post(REPORT, environ_overrides=CHUNKED),
    "too much in chunks": lambda installation: installation.post(
        b" " * (LARGEST_REPORT + 1), environ_overrides=CHUNKED
    ),
    "the largest body": lambda installation: installation.post(REPORT.to_json().ljust(LARGEST_REPORT)),
    "nothing": lambda installation: installation.post(b""),
    "a key too many": lambda installation: installation.post(wire(REPORT, more="")),
    "a length cut short": lambda installation: installation.post(REPORT, environ_overrides={"CONTENT_LENGTH": "20"}),
    "a negative length": lambda installation: installation.post(REPORT, environ_overrides={"CONTENT_LENGTH": "-5"}),
    "a preflight": lambda installation: installation.client.options(REPORTS),
    "a preflight of a ticket": lambda installation: installation.client.options(TICKETS),
    "a ticket": lambda installation: installation.take("one", request_for(installation.invite("one").survey, 4711)),
    "a ticket for nobody": lambda installation: installation.take(None, request_for(installation.invite("one").survey)),
    "a ticket of a survey that anybody may answer": lambda installation: installation.take(
        "one", request_for(invitation_survey())
    ),
    "too much for a ticket": lambda installation: installation.take("one", b" " * 2001),
    "too much for a ticket in chunks": lambda installation: installation.take(
        "one", b" " * 2001, environ_overrides=CHUNKED
    ),
    "GET instead of a ticket": lambda installation: installation.client.get(TICKETS),
    "the definition": lambda installation: installation.client.get("/api/surveys/exam"),
    **{
        f"{method} instead of POST": lambda installation, method=method: installation.client.open(
            REPORTS, method=method
        )  # type: ignore[misc]
        for method in ("GET", "HEAD", "PUT", "DELETE", "BREW")
    },
    **{
        f"a report to {slug}": lambda installation, slug=slug: installation.client.post(  # type: ignore[misc]
            f"/api/surveys/{slug}/reports", data=REPORT.to_json()
        )
        for slug in ("nothing", "EXAM", "x" * 64, "%00", "%ff", "exam/")
    },
}


def check_same(folder: Path, ask: Ask) -> None:
    """Ask two installations, one by each door."""
    seen = []
    for door in (RsgiClient, FlaskClient):
        (folder / door.__name__).mkdir()
        installation = build(folder / door.__name__, client_class=door)
        assert type(installation.client) is door
        response = ask(installation)
        lines = {name: sorted(value.split(", ")) for name, value in response.headers if name in COMPARED}
        seen.append((response.status_code, response.data, lines))
        installation.close()
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ASKED)
def test_both_doors_give_one_reply(tmp_path: Path, name: str) -> None:
    check_same(tmp_path, published(ASKED[name]))


@pytest.mark.parametrize("code", PROVOKED)
def test_both_doors_refuse_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    check_same(tmp_path, lambda installation: PROVOKED[code](installation, monkeypatch))


@pytest.mark.parametrize("door", [RsgiClient, FlaskClient])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_reports_are_posted_and_the_reply_says_so(tmp_path: Path, door: type[FlaskClient], method: str) -> None:
    installation = build(tmp_path, client_class=door)
    response = installation.client.open(REPORTS, method=method)
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}  # in no order
    installation.close()
