"""For each problem of the table, one request to an installation that provokes it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from candor_client.definition import LARGEST_REPORT
from candor_client.report import to_base64url
from survey_app.collect.rate_limit import Limiter
from survey_app.store import State, now
from survey_app.web import api
from survey_app.web.extension import NAME, get_candor
from tests.console import EXAM
from tests.fixtures import HOUR, TOKEN, Installation, block, check_stored, make_report, other_bits, wire
from tests.ticket_surveys import invent_ticket, invitation_survey, request_for


def _read_failing_results(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    installation.publish()
    monkeypatch.setattr(api, "kept_results", fail)
    return installation.client.get("/api/surveys/exam/results")


def _post_to_blocked_store(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.publish()
    block(installation.store.path)
    return installation.post(make_report(published))


def _post_to_paused_survey(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.publish()
    installation.store.set_state(published, State.PAUSED)
    return installation.post(make_report(published))


def _post_same_id(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    report = make_report(installation.publish())
    check_stored(installation.post(report))
    return installation.post(other_bits(report))


def _foreign_ticket() -> dict[str, str]:
    return {part: to_base64url(value) for part, value in vars(invent_ticket(invitation_survey(1), 1)).items()}


def _take_second_ticket(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    published = installation.invite("code")
    assert installation.take("code", request_for(published.survey)).status_code == 200
    return installation.take("code", request_for(published.survey))


def _post_above_limit(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    candor = get_candor(installation.app)
    reports = replace(candor.reports, senders=Limiter("1/minute"))
    installation.app.extensions[NAME] = replace(candor, reports=reports)
    report = make_report(installation.publish())
    check_stored(installation.post(report))
    return installation.post(report)


def _add_survey(installation: Installation, source: bytes) -> TestResponse:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
    return installation.client.post("/api/surveys", data=source, headers=headers)


def _add_survey_twice(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> TestResponse:
    assert _add_survey(installation, EXAM).status_code == 201
    return _add_survey(installation, EXAM)


PROVOKED: dict[str, Callable[[Installation, pytest.MonkeyPatch], TestResponse]] = {
    "malformed_report": lambda installation, _: installation.post(make_report(installation.publish()).to_json()[:-1]),
    "malformed_request": lambda installation, _: installation.post(
        make_report(installation.publish()), environ_overrides={"CONTENT_LENGTH": "many"}
    ),
    "unauthorized": lambda installation, _: installation.batch(make_report(installation.publish()), token=None),
    "forbidden": lambda installation, _: installation.batch(
        make_report(installation.publish(owner=installation.stranger.key))
    ),
    "not_invited": lambda installation, _: installation.take("wrong", request_for(installation.invite().survey)),
    "bad_ticket": lambda installation, _: installation.post(
        wire(make_report(installation.invite()), ticket=_foreign_ticket())
    ),
    "too_late": lambda installation, _: installation.take(
        "one", request_for(installation.invite("one", from_="2020-01-01T00:00Z").survey)
    ),
    "already_issued": _take_second_ticket,
    "too_early": lambda installation, _: installation.post(make_report(installation.invite(from_="2100-01-01T00:00Z"))),
    "not_found": lambda installation, _: installation.client.get("/api/surveys/exam"),
    "method_not_allowed": lambda installation, _: installation.client.get("/api/surveys/exam/reports"),
    "id_taken": _post_same_id,
    "conflict": _add_survey_twice,
    "bad_survey": lambda installation, _: _add_survey(installation, b"slug: exam\n"),
    "wrong_survey": lambda installation, _: installation.post(
        wire(make_report(installation.publish()), survey="0" * 64)
    ),
    "survey_not_open": lambda installation, _: installation.post(make_report(installation.publish(opens=now() + HOUR))),
    "survey_paused": _post_to_paused_survey,
    "survey_closed": lambda installation, _: installation.post(make_report(installation.publish(closes=now() - HOUR))),
    "survey_full": lambda installation, _: installation.post(make_report(installation.publish(max_reports=0))),
    "too_large": lambda installation, _: installation.post(
        make_report(installation.publish()).to_json() + b" " * LARGEST_REPORT
    ),
    "impossible_bits": lambda installation, _: installation.post(wire(make_report(installation.publish()), bits="_w")),
    "too_many_requests": _post_above_limit,
    "internal_error": _read_failing_results,
    "unavailable": _post_to_blocked_store,
}
