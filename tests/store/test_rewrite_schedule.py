"""Tidying rests by the time that it worked, and what stays untidy for ten seconds is told."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from survey_app.store import Submission
from survey_app.store.postgres import PostgresStore
from survey_app.store.rewrite_schedule import LONGEST_REST, Disorder, rest_seconds
from survey_app.store.sqlite import SqliteStore
from survey_app.web.api import UNTIDY_SECONDS
from tests.fixtures import Installation, add_worked_example, make_report, submission
from tests.postgres import Postgres
from tests.store.conftest import AnyStore, Place, PostgresPlace, SqlitePlace


@pytest.fixture
def store(place: Place) -> Iterator[AnyStore]:
    opened = place.open()
    opened.migrate()
    yield opened
    opened.close()


def test_it_rests_fifty_times_as_long_as_it_worked_and_at_most_a_minute() -> None:
    assert [rest_seconds(worked) for worked in (0.0, 0.01, 0.5, 1.2, 4.5, 3600.0)] == [1, 1, 25, 60, 60, 60]


def test_waiting_for_a_lock_is_no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 0.8.0 a lock that was held for four and a half seconds made order and deleted reports stay for 226 s."""
    store, moment = SqlitePlace(tmp_path).open(), 1000.0
    published, lock = add_worked_example(store), store._lock
    store.write([submission(published)].copy)

    class Waiting:
        @contextmanager
        def hold(self, seconds: float) -> Iterator[None]:
            nonlocal moment
            with lock.hold(seconds):
                moment += 4.5
                yield

    monkeypatch.setattr(store, "_lock", Waiting())
    monkeypatch.setattr("survey_app.store.sqlite.rewrite.time", SimpleNamespace(monotonic=lambda: moment))
    assert store.tidy()
    assert store._rest_until == moment + rest_seconds(0.0)
    monkeypatch.undo()
    store.close()


def test_disorder_has_the_age_of_what_stays_and_not_of_what_comes_anew() -> None:
    moment = 100.0
    disorder = Disorder(lambda: moment)
    assert disorder.age == 0 and not disorder.observe(None)
    disorder.observe(b"one")
    moment += 9
    assert disorder.observe(b"one") and disorder.age == 9
    disorder.observe(b"two")  # somebody tidied up meanwhile
    assert disorder.age == 0
    moment += 5
    disorder.observe(None)
    assert disorder.age == 0


def test_health_says_untidy_after_ten_seconds_and_not_before(installation: Installation) -> None:
    moment = 0.0
    installation.store._disorder = Disorder(lambda: moment)
    published = installation.publish()
    installation.store.tidy(now=True)
    installation.store.write([Submission(published.key, secrets.token_bytes(16), make_report(published).bits)].copy)

    def said() -> object:
        return installation.client.get("/healthz").json

    assert said() == {"status": "ok"}
    moment = UNTIDY_SECONDS - 0.1
    assert said() == {"status": "ok"}
    moment = UNTIDY_SECONDS
    assert said() == {"status": "untidy"}
    installation.store.tidy(now=True)
    assert said() == {"status": "ok"}
    assert (UNTIDY_SECONDS, LONGEST_REST) == (10, 60)


def test_no_store_keeps_a_second_of_its_disorder(store: AnyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written down is a day: a moment would tell when a report came."""
    store.clock = lambda: datetime(2026, 12, 1, 17, 23, 42, tzinfo=UTC)
    published = add_worked_example(store)
    store.write([submission(published)].copy)
    if isinstance(store, SqliteStore):
        monkeypatch.setattr(store, "_rewrite", _fail)
    else:
        monkeypatch.setattr("survey_app.store.postgres.rewrite._rewrite_reports", lambda *_: None)  # somebody reads it
    assert store.tidy(now=True) is False
    (since,) = store._fetch_all("select value from settings where name = 'untidy_since'")
    assert b"2026-12-01" in _bytes(since[0]) and not any(part in _bytes(since[0]) for part in (b"17", b"23:", b":42"))


def _fail(*_: object) -> None:
    raise OSError("no space")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def test_a_second_that_postgresql_kept_under_0_8_is_deleted(postgres: Postgres) -> None:
    place = PostgresPlace(postgres)
    store = PostgresStore(place.url)
    store.migrate()
    with place.server.connect(place.url) as connection:
        connection.execute("update settings set value = '1' where name = 'version'")
        connection.execute("alter table surveys drop column hold")
        connection.execute("alter table tallies drop column batched")
        connection.execute("alter table audit add column what text not null default ''")
        connection.execute("alter table audit drop column code, drop column data")
        connection.execute("insert into settings values ('untidy_since', '2026-12-01T17:23:42+00:00')")
    store.migrate()
    assert store.rewrite_failing_since is None
    store.close()
