"""How each problem of the table is provoked, by one request to a house."""

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from client.definition import LARGEST_REPORT
from survey_app.collect.intake import Intake
from survey_app.pages import api
from survey_app.store import State, now
from tests.house import HOUR, House, block, by_invitation, check_stored, made, other_bits, unpaid, wire


def _rest_in_error(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    house.publish()
    monkeypatch.setattr(api, "results", fail)
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


def _limited(house: House, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    house.app.extensions["candor_intake"] = Intake(house.store, "1/minute")
    report = made(house.publish())
    check_stored(house.post(report))
    return house.post(report)


PROVOKED: dict[str, Callable[[House, pytest.MonkeyPatch], TestResponse]] = {
    "malformed_report": lambda house, _: house.post(made(house.publish()).to_json()[:-1]),
    "malformed_request": lambda house, _: house.post(
        made(house.publish()), environ_overrides={"CONTENT_LENGTH": "many"}
    ),
    "unauthorized": lambda house, _: house.batch(made(house.publish()), token=None),
    "forbidden": lambda house, _: house.batch(made(house.publish(owner=house.stranger.key))),
    "too_early": lambda house, _: house.post(unpaid(house.publish(by_invitation("2100-01-01T00:00Z")))),
    "not_found": lambda house, _: house.client.get("/api/surveys/exam"),
    "method_not_allowed": lambda house, _: house.client.get("/api/surveys/exam/reports"),
    "id_taken": _taken,
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
