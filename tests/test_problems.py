"""Every refusal: one table, one shape, and each can happen."""

import sqlite3
from contextlib import closing

import pytest

from survey_app.problems import PROBLEMS
from tests.fixtures import STATUSES, House, block, check_refused, check_stored, check_tally, made, unblock
from tests.problem_requests import PROVOKED


def test_every_problem_is_in_the_table_and_can_be_provoked() -> None:
    assert {code: status for code, (status, _) in PROBLEMS.items()} == STATUSES
    assert set(PROVOKED) == set(PROBLEMS)


@pytest.mark.parametrize("code", PROVOKED)
def test_each_problem_has_its_status_and_the_one_shape(
    house: House, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    response = PROVOKED[code](house, monkeypatch)
    check_refused(response, code)
    assert b"secret" not in response.data
    assert b"Traceback" not in response.data


def test_what_could_not_be_stored_can_be_sent_again(house: House) -> None:
    published = house.publish()
    report = made(published)
    block(house.store.path)
    check_refused(house.post(report), "unavailable")
    check_refused(house.batch(report), "unavailable")
    unblock(house.store.path)
    assert check_tally(house, published) == 0
    check_stored(house.post(report))


def test_health_tells_when_the_store_does_not_answer(house: House) -> None:
    assert house.client.get("/healthz").json == {"status": "ok"}
    with closing(sqlite3.connect(house.store.path)) as connection:
        connection.execute("drop table surveys")
    check_refused(house.client.get("/healthz"), "unavailable")
