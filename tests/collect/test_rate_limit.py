"""How many reports one address may send, and that the address is not remembered."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from survey_app.collect.intake import Intake
from tests.house import build, check_open_to_all_pages, check_refused, check_stored, check_tally, made


def test_an_address_that_sends_too_much_has_to_wait(tmp_path: Path) -> None:
    house = build(tmp_path, limit="5/minute")
    published = house.publish()
    for _ in range(5):
        check_stored(house.post(made(published)))
    response = house.post(made(published))
    check_refused(response, "too_many_requests")
    check_open_to_all_pages(response)
    check_stored(house.post(made(published), environ_overrides={"REMOTE_ADDR": "203.0.113.77"}))
    assert house.client.options("/api/surveys/exam/reports").status_code == 204
    assert check_tally(house, published) == 6
    house.close()


def test_the_limit_remembers_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = build(tmp_path, limit="5/minute")
    published = house.publish()
    intake: Intake = house.app.extensions["candor_intake"]
    kept: Any = intake._limiter._window.storage
    address = "203.0.113.77"
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("survey_app.collect.rate_limit.time", clock)

    def send() -> TestResponse:
        return house.post(made(published), environ_overrides={"REMOTE_ADDR": address})

    for _ in range(6):
        send()
    assert len(kept.storage) == 1
    assert address not in repr(vars(kept)) + repr(vars(intake._limiter))
    assert not any(plain in repr(kept.storage) for plain in (address, address.encode().hex(), "cb00714d"))
    check_refused(send(), "too_many_requests")
    clock.monotonic = lambda: 3601.0
    check_stored(send())
    assert len(kept.storage) == 2
    house.close()
