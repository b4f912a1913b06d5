"""One reply under both HTTP servers: the RSGI adapter of production and plain WSGI call the same checks.

A sender sees no difference: the status, all headers and the body are the same.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from candor_client import randomize
from candor_client.definition import LARGEST_REPORT
from survey_app.store import State
from tests.definitions import simple, survey
from tests.fixtures import Installation, build, check_stored, wire
from tests.problem_requests import PROVOKED
from tests.rsgi_client import RsgiClient
from tests.ticket_surveys import invitation_survey, request_for

REPORTS = "/api/surveys/exam/reports"
TICKETS = "/api/surveys/exam/tickets"
REPORT = randomize(survey(simple()), {"cheated": True})  # the same for both servers
# granian adds the length itself; the adapter closes a connection on which an unread body may follow
OF_THE_SERVER = {"content-length", "connection", "date"}
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
    "a body that breaks off": lambda installation: installation.post(
        REPORT, environ_overrides={"CONTENT_LENGTH": "999"}
    ),
    "a ticket that breaks off": lambda installation: installation.take(
        "one", b"{}", environ_overrides={"CONTENT_LENGTH": "999"}
    ),
    "a length that is no number": lambda installation: installation.post(
        REPORT, environ_overrides={"CONTENT_LENGTH": "many"}
    ),
    "rubbish": lambda installation: installation.post(b"\x00\xff" * 100),
    "a ticket for rubbish": lambda installation: installation.take("one", b"\x00\xff" * 100),
    "a ticket with a wrong key": lambda installation: installation.take("one", b'{"survey":"","blinded":""}'),
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
    """Send the same request to two installations, one under each server."""
    replies = []
    for client_class in (RsgiClient, FlaskClient):
        (folder / client_class.__name__).mkdir()
        installation = build(folder / client_class.__name__, client_class=client_class)
        assert type(installation.client) is client_class
        response = ask(installation)
        headers = sorted((name.lower(), sorted(value.split(", "))) for name, value in response.headers)
        replies.append(
            (response.status_code, response.data, [line for line in headers if line[0] not in OF_THE_SERVER])
        )
        installation.close()
    assert replies[0] == replies[1]


@pytest.mark.parametrize("name", ASKED)
def test_both_servers_give_one_reply(tmp_path: Path, name: str) -> None:
    check_same(tmp_path, published(ASKED[name]))


@pytest.mark.parametrize("code", PROVOKED)
def test_both_servers_refuse_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    check_same(tmp_path, lambda installation: PROVOKED[code](installation, monkeypatch))


@pytest.mark.parametrize("client_class", [RsgiClient, FlaskClient])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_reports_are_posted_and_the_reply_says_so(tmp_path: Path, client_class: type[FlaskClient], method: str) -> None:
    installation = build(tmp_path, client_class=client_class)
    response = installation.client.open(REPORTS, method=method)
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}  # in no order
    installation.close()
