"""Every refusal: one table, one shape, and each can happen."""

import sqlite3
from contextlib import closing

import pytest

from survey_app.problems import PROBLEMS
from tests.fixtures import STATUSES, Installation, block, check_refused, check_stored, check_tally, make_report, unblock
from tests.problem_requests import PROVOKED


def test_every_problem_is_in_the_table_and_can_be_provoked() -> None:
    assert {code: status for code, (status, _) in PROBLEMS.items()} == STATUSES
    assert set(PROVOKED) == set(PROBLEMS)


@pytest.mark.parametrize("code", PROVOKED)
def test_each_problem_has_its_status_and_the_one_shape(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    response = PROVOKED[code](installation, monkeypatch)
    check_refused(response, code)
    assert b"secret" not in response.data
    assert b"Traceback" not in response.data


def test_a_wrong_method_is_answered_with_the_right_ones(installation: Installation) -> None:
    refused = installation.client.get("/api/surveys/exam/reports")
    assert refused.headers["Allow"] == "OPTIONS, POST" and "OPTIONS, POST" in refused.get_json()["detail"]


def test_what_could_not_be_stored_can_be_sent_again(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    block(installation.store.path)
    check_refused(installation.post(report), "unavailable")
    check_refused(installation.batch(report), "unavailable")
    unblock(installation.store.path)
    assert check_tally(installation, published) == 0
    check_stored(installation.post(report))


def test_health_tells_when_the_store_does_not_answer(installation: Installation) -> None:
    assert installation.client.get("/healthz").json == {"status": "ok"}
    with closing(sqlite3.connect(installation.store.path)) as connection:
        connection.execute("drop table surveys")
    check_refused(installation.client.get("/healthz"), "unavailable")
