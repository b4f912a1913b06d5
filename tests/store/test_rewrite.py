"""No order stays at rest, whatever left it and however full the disk is; and where it does, everybody is told."""

import contextlib
import json
import logging
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey_app.cli import main
from survey_app.collect.intake import Intake
from survey_app.store import Outcome, PublishedSurvey, Submission
from survey_app.store.sqlite import SqliteStore, rewrite
from survey_app.store.sqlite.rewrite import PATIENCE, POLITE_SECONDS
from tests.fixtures import Installation, check_store, make, submission
from tests.server_process import PATIENCE as ENOUGH
from tests.store.test_connections import order_left_in, places_of

TODAY = datetime(2026, 12, 1, 13, 45, tzinfo=UTC)


def arrive(store: SqliteStore, published: PublishedSurvey, count: int = 60) -> list[bytes]:
    """Reports that come one by one; their ids."""
    made = [submission(published) for _ in range(count)]
    for one in made:
        assert store.write([one].copy) == [Outcome.STORED]
    return [one.id for one in made]


@contextlib.contextmanager
def no_rewriting(store: SqliteStore) -> Iterator[None]:
    """SQLite refuses to rewrite the file, which it does by way of another one; all else it does."""
    before = store._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    yield
    store._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, before)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Somebody reads, and goes on reading."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from reports").fetchone()
        yield


def test_what_cannot_be_rewritten_leaves_an_empty_wal_and_pages_in_the_order_of_keys(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    with no_rewriting(store):
        ids = arrive(store, published)
        assert store._checkpoint()
        assert order_left_in(tmp_path / "candor.db", ids) > 0.99  # what the pages would tell
        assert store.tidy(now=True) is False
        assert (tmp_path / "candor.db-wal").stat().st_size == 0
        assert order_left_in(tmp_path / "candor.db", ids) < 0.75  # as after rewriting
        ids += arrive(store, published, 20)
        assert store.tidy(now=True) is False
        assert order_left_in(tmp_path / "candor.db", ids) < 0.75
    assert check_store(store, published) == 80
    store.close()


def test_parts_of_which_the_file_is_rewritten_leave_no_order_at_their_edges(tmp_path: Path) -> None:
    """Some thousand reports, in several parts of several pages each; of each page the order is looked at."""
    store, published = make(tmp_path / "candor.db")
    bits = submission(published).bits
    made = [Submission(published.key, secrets.token_bytes(16), bits) for _ in range(3000)]
    for begin in range(0, 3000, 30):
        store.write(made[begin : begin + 30].copy)
    with no_rewriting(store):
        assert store.tidy(now=True) is False
    ids = [one.id for one in made]
    assert order_left_in(tmp_path / "candor.db", ids) < 0.75
    assert sum(one in (tmp_path / "candor.db").read_bytes() for one in ids) == 3000
    assert check_store(store, published) == 3000
    store.close()


def test_a_failure_is_told_with_its_day_by_every_process_until_it_is_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, published = make(tmp_path / "candor.db")
    store.clock = lambda: TODAY
    other = SqliteStore(tmp_path / "candor.db")
    arrive(store, published, 1)
    with no_rewriting(store), caplog.at_level(logging.WARNING):
        for _ in range(3):
            store.tidy(now=True)
        assert store.rewrite_failing_since == other.rewrite_failing_since == TODAY.replace(hour=0, minute=0)
        assert store.needs_rewrite
        assert other.needs_rewrite
    assert [(record.name, record.levelname) for record in caplog.records] == [(rewrite.__name__, "WARNING")]
    assert other.tidy() is True
    assert store.rewrite_failing_since is None
    assert not store.needs_rewrite
    store.close()
    other.close()


def test_health_and_check_say_since_when_and_nothing_more_precise(installation: Installation) -> None:
    installation.store.clock = lambda: TODAY
    published = installation.publish()
    with no_rewriting(installation.store):
        one = Submission(published.key, secrets.token_bytes(16), b"\x80")
        assert installation.store.write([one].copy) == [Outcome.STORED]
        assert installation.client.get("/healthz").json == {"status": "ok"}  # it would tell that a report has come
        installation.store.tidy(now=True)
    response = installation.client.get("/healthz")
    assert (response.status_code, response.json) == (200, {"status": "untidy since 2026-12-01"})
    found = CliRunner().invoke(
        main, ["--db", f"sqlite:///{installation.store.path}", "survey", "check", "exam", "--json"]
    )
    assert "untidy since 2026-12-01" in found.stderr
    assert json.loads(found.stdout) == {"reports": 1, "tally": 1, "ok": True, "untidy_since": "2026-12-01"}
    assert installation.store.tidy(now=True)
    assert installation.client.get("/healthz").json == {"status": "ok"}


@pytest.mark.slow
def test_readers_are_a_failure_only_when_they_keep_us_from_it_for_long(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    arrive(store, published, 1)
    with reading(tmp_path / "candor.db"):
        store._rest_until = 0
        assert store.tidy() is False
        assert store.rewrite_failing_since is None
        assert store._late_from is not None
        store._late_from -= PATIENCE
        store._rest_until = 0
        assert store.tidy() is False
        assert store.rewrite_failing_since is not None
    assert store.tidy(now=True) is True
    assert store.rewrite_failing_since is None
    store.close()


def test_readers_who_take_turns_without_end_keep_us_from_it_only_for_seconds(tmp_path: Path) -> None:
    """Before 0.9 a reader who downloaded all the time kept the order on disk, and saw in /healthz when a report came."""
    path = tmp_path / "candor.db"
    store, published = make(path)
    store.tidy(now=True)
    ended, turn = threading.Event(), threading.Barrier(2)

    def take_turns() -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            while not ended.is_set():
                with reading(path):
                    turn.wait(ENOUGH)  # the other one reads too
                    ended.wait(0.02)
                    turn.wait(ENOUGH)
                    ended.wait(0.02 * secrets.randbelow(2))  # one of the two goes on

    threads = [threading.Thread(target=take_turns) for _ in range(2)]
    with reading(path):
        ids = arrive(store, published, 30)
        store._rest_until = 0
        assert not store.tidy(), "at first they come first"
    for thread in threads:
        thread.start()
    assert store._late_from is not None
    store._late_from -= POLITE_SECONDS
    store._rest_until = 0
    done = store.tidy()
    ended.set()
    turn.abort()
    for thread in threads:
        thread.join()
    assert done and not store.needs_rewrite
    assert order_left_in(path, sorted(ids)) == 1.0, "in the order of keys"
    store.close()


def test_what_a_command_leaves_while_somebody_reads_a_quiet_server_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("survey_app.store.sqlite.rewrite.BUSY_SECONDS", 0.01)
    monkeypatch.setattr("survey_app.collect.writer.QUIET_SECONDS", 0.01)
    path = tmp_path / "candor.db"
    server, published = make(path)
    ids = arrive(server, published, 30)
    assert server.tidy(now=True)
    command = SqliteStore(path)
    with contextlib.closing(Intake(server)) as intake:
        with reading(path):
            command.delete_survey("exam")
            assert command.needs_rewrite
            assert places_of(path, ids) == 30
            intake.begin()
        quiet, pause = threading.Event(), threading.Event()
        deadline = threading.Timer(ENOUGH, quiet.set)
        deadline.start()
        while (server.needs_rewrite or places_of(path, ids)) and not quiet.is_set():
            server._rest_until = 0
            pause.wait(0.01)
        deadline.cancel()
        assert places_of(path, ids) + places_of(tmp_path / "candor.db-wal", ids) == 0
        assert not command.needs_rewrite
    command.close()
    server.close()


def test_every_commit_has_set_aside_what_the_file_will_grow_by(tmp_path: Path) -> None:
    """Otherwise a full disk would keep the WAL."""
    store, published = make(tmp_path / "candor.db")
    grown = 0
    for count in (1, 1, 500, 3000, 20):
        made = [Submission(published.key, secrets.token_bytes(16), b"$") for _ in range(count)]
        store.write(lambda made=made: made)  # type: ignore[misc]
        growth = store._fetch_one("pragma page_count")[0] * 4096 - (tmp_path / "candor.db").stat().st_size
        if growth:
            kept = (tmp_path / "candor.db-reserve").stat()
            assert growth <= kept.st_size <= kept.st_blocks * 512
        grown = max(grown, growth)
    assert grown > 65_536
    store.close()


def test_much_space_that_is_not_needed_any_more_is_given_back(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [Submission(published.key, secrets.token_bytes(16), bytes(400)) for _ in range(4000)]
    store.write(lambda: made)
    assert (tmp_path / "candor.db-reserve").stat().st_size > 1_600_000
    assert store.tidy(now=True)
    assert (tmp_path / "candor.db-reserve").stat().st_size == 1_048_576
    store.close()
