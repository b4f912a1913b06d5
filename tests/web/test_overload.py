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
from tests.fixtures import House, build, check_stored, wire
from tests.problem_requests import PROVOKED
from tests.rsgi_client import FrontClient
from tests.ticket_surveys import invited_to, request_for

REPORTS = "/api/surveys/exam/reports"
TICKETS = "/api/surveys/exam/tickets"
REPORT = randomize(survey(simple()), {"cheated": True})  # the same through both doors
COMPARED = {"Content-Type", "Allow", *(name for name, _ in RESPONDENT_HEADERS + PREFLIGHT_HEADERS)}
CHUNKED = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}

Ask = Callable[[House], TestResponse]


def published(ask: Ask) -> Ask:
    """The same, of a house with an open survey."""

    def first(house: House) -> TestResponse:
        house.publish()
        return ask(house)

    return first


def replayed(house: House) -> TestResponse:
    check_stored(house.post(REPORT))
    return house.post(REPORT)


def closed(house: House) -> TestResponse:
    newest = house.store.newest("exam")
    assert newest is not None
    house.store.set_state(newest, State.CLOSED)
    return house.post(REPORT)


ASKED: dict[str, Ask] = {
    "a report": lambda house: house.post(REPORT),
    "a replay": replayed,
    "a report to a closed survey": closed,
    "a report in chunks": lambda house: house.post(REPORT, environ_overrides=CHUNKED),
    "too much in chunks": lambda house: house.post(b" " * (LARGEST_REPORT + 1), environ_overrides=CHUNKED),
    "the largest body": lambda house: house.post(REPORT.to_json().ljust(LARGEST_REPORT)),
    "nothing": lambda house: house.post(b""),
    "a key too many": lambda house: house.post(wire(REPORT, more="")),
    "a length cut short": lambda house: house.post(REPORT, environ_overrides={"CONTENT_LENGTH": "20"}),
    "a negative length": lambda house: house.post(REPORT, environ_overrides={"CONTENT_LENGTH": "-5"}),
    "a preflight": lambda house: house.client.options(REPORTS),
    "a preflight of a ticket": lambda house: house.client.options(TICKETS),
    "a ticket": lambda house: house.take("one", request_for(house.invite("one").survey, 4711)),
    "a ticket for nobody": lambda house: house.take(None, request_for(house.invite("one").survey)),
    "a ticket of a survey that anybody may answer": lambda house: house.take("one", request_for(invited_to())),
    "too much for a ticket": lambda house: house.take("one", b" " * 2001),
    "too much for a ticket in chunks": lambda house: house.take("one", b" " * 2001, environ_overrides=CHUNKED),
    "GET instead of a ticket": lambda house: house.client.get(TICKETS),
    "the definition": lambda house: house.client.get("/api/surveys/exam"),
    **{
        f"{method} instead of POST": lambda house, method=method: house.client.open(REPORTS, method=method)  # type: ignore[misc]
        for method in ("GET", "HEAD", "PUT", "DELETE", "BREW")
    },
    **{
        f"a report to {slug}": lambda house, slug=slug: house.client.post(  # type: ignore[misc]
            f"/api/surveys/{slug}/reports", data=REPORT.to_json()
        )
        for slug in ("nothing", "EXAM", "x" * 64, "%00", "%ff", "exam/")
    },
}


def check_same(folder: Path, ask: Ask) -> None:
    """Ask two houses, one by each door."""
    seen = []
    for door in (FrontClient, FlaskClient):
        (folder / door.__name__).mkdir()
        house = build(folder / door.__name__, door=door)
        assert type(house.client) is door
        response = ask(house)
        lines = {name: sorted(value.split(", ")) for name, value in response.headers if name in COMPARED}
        seen.append((response.status_code, response.data, lines))
        house.close()
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ASKED)
def test_both_doors_give_one_reply(tmp_path: Path, name: str) -> None:
    check_same(tmp_path, published(ASKED[name]))


@pytest.mark.parametrize("code", PROVOKED)
def test_both_doors_refuse_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    check_same(tmp_path, lambda house: PROVOKED[code](house, monkeypatch))


@pytest.mark.parametrize("door", [FrontClient, FlaskClient])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_reports_are_posted_and_the_reply_says_so(tmp_path: Path, door: type[FlaskClient], method: str) -> None:
    house = build(tmp_path, door=door)
    response = house.client.open(REPORTS, method=method)
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}  # in no order
    house.close()
