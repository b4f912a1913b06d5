"""Nothing is lost: what was acknowledged is on disk, whatever happens to the server."""

import contextlib
import http.client
import json
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from candor_client import Report, randomize
from survey_app.collect.intake import Intake, report_endpoint
from survey_app.collect.rate_limit import Limiter
from survey_app.store import Outcome, PublishedSurvey, State, StoreError, Submission, Unavailable
from survey_app.store.sqlite import SqliteStore
from tests.disk import Disk, small_disk
from tests.fixtures import SAID, add_worked_example, check_store, make, submission
from tests.server_process import PATH, PATIENCE, Server
from tests.soak import soak_count
from tests.store.conftest import Place
from tests.store.test_connections import order_left_in

pytestmark = pytest.mark.slow

SENDERS = 8


def send_until_it_dies(server: Server, published: PublishedSurvey, kill_after: int) -> list[Report]:
    """Let several senders report at once, kill the server when so many are acknowledged, and return those."""
    acknowledged: list[Report] = []
    lock, enough = threading.Lock(), threading.Event()

    def sender() -> None:
        connection = server.connect()
        with contextlib.suppress(OSError, http.client.HTTPException):
            while not enough.is_set():
                report = randomize(published.survey, SAID)
                connection.request("POST", PATH, report.to_json())
                response = connection.getresponse()
                said = response.read()
                assert response.status == 201, said
                with lock:
                    acknowledged.append(report)
                    if len(acknowledged) >= kill_after:
                        enough.set()
        connection.close()

    senders = [threading.Thread(target=sender) for _ in range(SENDERS)]
    for thread in senders:
        thread.start()
    enough.wait(PATIENCE)
    server.kill()
    enough.set()
    for thread in senders:
        thread.join()
    return acknowledged


def rounds_of_killing(path: Path, workers: int, rounds: int) -> None:
    store, published = make(path)
    server = Server(path, workers)
    acknowledged: list[Report] = []
    for _ in range(rounds):
        server.start()
        acknowledged += send_until_it_dies(server, published, 20 + secrets.randbelow(150))
        stored = check_store(store, published)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            rows = dict(connection.execute("select id, bits from reports").fetchall())
        assert all(rows.get(report.id) == report.bits for report in acknowledged)
        assert len(acknowledged) <= stored <= len(acknowledged) + rounds * SENDERS
    print(f"killed {rounds} times: {len(acknowledged):,} acknowledged, {stored:,} stored, none lost")
    store.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_no_acknowledged_report_is_lost_when_the_server_is_killed(tmp_path: Path, workers: int) -> None:
    rounds_of_killing(tmp_path / "candor.db", workers, 2)


@pytest.mark.soak
@pytest.mark.parametrize("workers", [1, 2])
def test_no_acknowledged_report_is_lost_when_the_server_is_killed_a_hundred_times(tmp_path: Path, workers: int) -> None:
    rounds_of_killing(tmp_path / "candor.db", workers, soak_count(100))


def test_a_server_ends_cleanly_and_comes_back_with_everything(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    connection = server.connect()
    report = randomize(published.survey, SAID)
    for status in (201, 200):
        connection.request("POST", PATH, report.to_json())
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()
    server.stop()
    assert check_store(store, published) == 1


def test_a_worker_that_dies_leaves_no_server_that_is_silent(tmp_path: Path) -> None:
    make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    with contextlib.suppress(AssertionError):  # it may end instead, so that its supervisor starts it again
        server.wait()
    server.kill()


def receive(store: SqliteStore, report: Report) -> Outcome:
    with contextlib.closing(Intake(store)) as intake:
        return intake.accept("exam", report.to_json()).result(timeout=PATIENCE)


def refused(store: SqliteStore, report: Report) -> str:
    with pytest.raises(Unavailable) as error:
        receive(store, report)
    return str(json.loads(report_endpoint(Intake(store), Limiter("off")).refuse(error.value).body)["code"])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "small") as made:
        yield made


def test_a_full_disk_is_a_clear_503_and_recovers_by_itself(disk: Disk) -> None:
    store, published = make(disk.path / "candor.db")
    disk.fill()
    stored = 0
    for _ in range(2000):
        report = randomize(published.survey, SAID)
        try:
            assert receive(store, report) is Outcome.STORED
            stored += 1
        except Unavailable:
            break
    else:
        raise AssertionError("the disk never filled up")
    assert refused(store, report) == "unavailable"
    disk.free()
    assert receive(store, report) is Outcome.STORED
    assert check_store(store, published) == stored + 1
    store.close()


def test_on_a_full_disk_nothing_of_the_order_of_arrival_stays(disk: Disk) -> None:
    """The reports that filled the disk; without space that was set aside, their WAL would stay."""
    store, published = make(disk.path / "candor.db")
    many = [Submission(published.key, secrets.token_bytes(16), b"$") for _ in range(4000)]
    store.write(lambda: many)  # so that the file is too large to be rewritten in the space of its WAL
    assert store.tidy(now=True)
    ids: list[bytes] = []
    disk.fill(leave=100_000)
    with contextlib.suppress(Unavailable):
        for _ in range(2000):
            one = Submission(published.key, bytes(2) + secrets.token_bytes(14), b"$")  # one page has them all
            store.write([one].copy)
            ids.append(one.id)
    assert 0 < len(ids) < 2000
    wal = disk.path / "candor.db-wal"
    store.tidy(now=True)
    assert not wal.exists() or wal.stat().st_size == 0
    assert len(ids) < 30 or order_left_in(disk.path / "candor.db", ids) < 0.9
    assert check_store(store, published) == 4000 + len(ids)
    disk.free()
    assert store.tidy(now=True)
    store.close()


def test_a_database_locked_by_somebody_else_is_a_clear_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.store.sqlite.sqlite_file.BUSY_SECONDS", 0.2)
    store, published = make(tmp_path / "candor.db")
    store.close()
    intruder = sqlite3.connect(tmp_path / "candor.db", isolation_level=None)
    intruder.execute("begin immediate")
    report = randomize(published.survey, SAID)
    assert refused(store, report) == "unavailable"
    intruder.execute("rollback")
    intruder.close()
    assert receive(store, report) is Outcome.STORED
    assert check_store(store, published) == 1


def test_a_file_that_cannot_be_written_is_a_clear_503(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    report = randomize(published.survey, SAID)
    connection = store._connection
    connection.execute("pragma query_only=on")
    with pytest.raises(Unavailable, match="readonly"):
        store.write(lambda: [Submission(published.key, report.id, report.bits)])
    assert receive(store, report) is Outcome.STORED  # a new connection was opened
    assert check_store(store, published) == 1


def test_an_error_inside_a_transaction_leaves_nothing_behind(place: Place) -> None:
    store = place.open()
    published = add_worked_example(store)

    def fail() -> list[Submission]:
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        store.write(fail)
    assert store.write(lambda: [submission(published)]) == [Outcome.STORED]
    assert check_store(store, published) == 1
    store.close()


def test_two_processes_that_start_on_a_fresh_file_both_live(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from survey_app.store.sqlite import SqliteStore; s = SqliteStore(Path(sys.argv[1])); s.migrate(); print(s.secret_key().hex())"
    racers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "new.db")], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    keys = {racer.communicate()[0] for racer in racers}
    assert len(keys) == 1
    assert all(racer.returncode == 0 for racer in racers)


def test_a_closed_survey_stays_closed(place: Place) -> None:
    """Closing and opening it in turns would show its reports one by one."""
    store = place.open()
    published = add_worked_example(store)
    store.set_state(published, State.CLOSED)
    store.set_state(published, State.CLOSED)
    with pytest.raises(StoreError, match="stays closed"):
        store.set_state(published, State.OPEN)
    store.close()
