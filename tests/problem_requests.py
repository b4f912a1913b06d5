"""How each problem of the table is provoked, by one request to an installation."""

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from candor_client.definition import LARGEST_REPORT
from candor_client.report import to_base64url
from survey_app.collect.intake import Intake
from survey_app.store import State, now
from survey_app.web import api
from tests.console import EXAM
from tests.fixtures import HOUR, TOKEN, Installation, block, check_stored, made, other_bits, wire
from tests.ticket_surveys import invited_to, paid, request_for


def _rest_in_error(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    installation.publish()
    monkeypatch.setattr(api, "kept_results", fail)
    return installation.client.get("/api/surveys/exam/results")


def _blocked(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.publish()
    block(installation.store.path)
    return installation.post(made(published))


def _paused(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.publish()
    installation.store.set_state(published, State.PAUSED)
    return installation.post(made(published))


def _taken(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    report = made(installation.publish())
    check_stored(installation.post(report))
    return installation.post(other_bits(report))


def _foreign() -> dict[str, str]:
    return {part: to_base64url(value) for part, value in vars(paid(invited_to(1), 1)).items()}


def _issued(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.invite("code")
    assert installation.take("code", request_for(published.survey)).status_code == 200
    return installation.take("code", request_for(published.survey))


def _limited(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    installation.app.extensions["candor_intake"].close()
    installation.app.extensions["candor_intake"] = Intake(installation.store, "1/minute")
    report = made(installation.publish())
    check_stored(installation.post(report))
    return installation.post(report)


def _added(installation: Installation, source: bytes) -> TestResponse:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
    return installation.client.post("/api/surveys", data=source, headers=headers)


def _again(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    assert _added(installation, EXAM).status_code == 201
    return _added(installation, EXAM)


PROVOKED: dict[str, Callable[[Installation, pytest.MonkeyPatch], TestResponse]] = {
    "malformed_report": lambda installation, _: installation.post(made(installation.publish()).to_json()[:-1]),
    "malformed_request": lambda installation, _: installation.post(
        made(installation.publish()), environ_overrides={"CONTENT_LENGTH": "many"}
    ),
    "unauthorized": lambda installation, _: installation.batch(made(installation.publish()), token=None),
    "forbidden": lambda installation, _: installation.batch(
        made(installation.publish(owner=installation.stranger.key))
    ),
    "not_invited": lambda installation, _: installation.take("wrong", request_for(installation.invite().survey)),
    "bad_ticket": lambda installation, _: installation.post(wire(made(installation.invite()), ticket=_foreign())),
    "too_late": lambda installation, _: installation.take(
        "one", request_for(installation.invite("one", from_="2020-01-01T00:00Z").survey)
    ),
    "already_issued": _issued,
    "too_early": lambda installation, _: installation.post(made(installation.invite(from_="2100-01-01T00:00Z"))),
    "not_found": lambda installation, _: installation.client.get("/api/surveys/exam"),
    "method_not_allowed": lambda installation, _: installation.client.get("/api/surveys/exam/reports"),
    "id_taken": _taken,
    "conflict": _again,
    "bad_survey": lambda installation, _: _added(installation, b"slug: exam\n"),
    "wrong_survey": lambda installation, _: installation.post(wire(made(installation.publish()), survey="0" * 64)),
    "survey_not_open": lambda installation, _: installation.post(made(installation.publish(opens=now() + HOUR))),
    "survey_paused": _paused,
    "survey_closed": lambda installation, _: installation.post(made(installation.publish(closes=now() - HOUR))),
    "survey_full": lambda installation, _: installation.post(made(installation.publish(max_reports=0))),
    "too_large": lambda installation, _: installation.post(
        made(installation.publish()).to_json() + b" " * LARGEST_REPORT
    ),
    "impossible_bits": lambda installation, _: installation.post(wire(made(installation.publish()), bits="_w")),
    "too_many_requests": _limited,
    "internal_error": _rest_in_error,
    "unavailable": _blocked,
}
