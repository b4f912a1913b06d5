"""How each problem of the table is provoked, by one request to a house."""

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from candor_client.definition import LARGEST_REPORT
from candor_client.report import to_text
from survey_app.collect.intake import Intake
from survey_app.store import State, now
from survey_app.web import api
from tests.console import EXAM
from tests.fixtures import HOUR, TOKEN, House, block, check_stored, made, other_bits, wire
from tests.ticket_surveys import invited_to, paid, request_for


def _rest_in_error(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    house.publish()
    monkeypatch.setattr(api, "kept_results", fail)
    return house.client.get("/api/surveys/exam/results")


def _blocked(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = house.publish()
    block(house.store.path)
    return house.post(made(published))


def _paused(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = house.publish()
    house.store.set_state(published, State.PAUSED)
    return house.post(made(published))


def _taken(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    report = made(house.publish())
    check_stored(house.post(report))
    return house.post(other_bits(report))


def _foreign() -> dict[str, str]:
    return {part: to_text(value) for part, value in vars(paid(invited_to(1), 1)).items()}


def _issued(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = house.invite("code")
    assert house.take("code", request_for(published.survey)).status_code == 200
    return house.take("code", request_for(published.survey))


def _limited(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    house.app.extensions["candor_intake"].close()
    house.app.extensions["candor_intake"] = Intake(house.store, "1/minute")
    report = made(house.publish())
    check_stored(house.post(report))
    return house.post(report)


def _added(house: House, source: bytes) -> TestResponse:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
    return house.client.post("/api/surveys", data=source, headers=headers)


def _again(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    assert _added(house, EXAM).status_code == 201
    return _added(house, EXAM)


PROVOKED: dict[str, Callable[[House, pytest.MonkeyPatch], TestResponse]] = {
    "malformed_report": lambda house, _: house.post(made(house.publish()).to_json()[:-1]),
    "malformed_request": lambda house, _: house.post(
        made(house.publish()), environ_overrides={"CONTENT_LENGTH": "many"}
    ),
    "unauthorized": lambda house, _: house.batch(made(house.publish()), token=None),
    "forbidden": lambda house, _: house.batch(made(house.publish(owner=house.stranger.key))),
    "not_invited": lambda house, _: house.take("wrong", request_for(house.invite().survey)),
    "bad_ticket": lambda house, _: house.post(wire(made(house.invite()), ticket=_foreign())),
    "too_late": lambda house, _: house.take("one", request_for(house.invite("one", from_="2020-01-01T00:00Z").survey)),
    "already_issued": _issued,
    "too_early": lambda house, _: house.post(made(house.invite(from_="2100-01-01T00:00Z"))),
    "not_found": lambda house, _: house.client.get("/api/surveys/exam"),
    "method_not_allowed": lambda house, _: house.client.get("/api/surveys/exam/reports"),
    "id_taken": _taken,
    "conflict": _again,
    "bad_survey": lambda house, _: _added(house, b"slug: exam\n"),
    "wrong_survey": lambda house, _: house.post(wire(made(house.publish()), survey="0" * 64)),
    "survey_not_open": lambda house, _: house.post(made(house.publish(opens=now() + HOUR))),
    "survey_paused": _paused,
    "survey_closed": lambda house, _: house.post(made(house.publish(closes=now() - HOUR))),
    "survey_full": lambda house, _: house.post(made(house.publish(max_reports=0))),
    "too_large": lambda house, _: house.post(made(house.publish()).to_json() + b" " * LARGEST_REPORT),
    "impossible_bits": lambda house, _: house.post(wire(made(house.publish()), bits="_w")),
    "too_many_requests": _limited,
    "internal_error": _rest_in_error,
    "unavailable": _blocked,
}
