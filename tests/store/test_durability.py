"""Nothing is lost: what was acknowledged is on disk, whatever happens to the server."""

import contextlib
import http.client
import json
import os
import resource
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from client import Report, randomize
from survey_app.accounts import add_user
from survey_app.authoring.terms import Terms
from survey_app.collect.batch import read_batch
from survey_app.collect.intake import Decoder, Intake, reply
from survey_app.collect.writer import Writer
from survey_app.problems import Problem
from survey_app.store import Outcome, Published, State, StoreError, Submission, Unavailable
from survey_app.store.sqlite import SqliteStore
from tests.definitions import survey, worked
from tests.soak import part_of

SAID = {"cheated": True, "help": "notes", "hours": 12}
PATH = "/api/surveys/exam/reports"
SENDERS = 8


def make(path: Path) -> tuple[SqliteStore, Published]:
    store = SqliteStore(path)
    store.migrate()
    user = add_user(store, "ada", "a long password")
    published = store.add_survey(survey(worked()), Terms(public=True), owner=user.key)
    return store, published


def submission(published: Published) -> Submission:
    report = randomize(published.survey, SAID)
    return Submission(published.key, report.id, report.bits)


def check(store: SqliteStore, published: Published) -> int:
    """The number of reports, after seeing that the tally equals a recount."""
    kept, counted = store.recount(published, lambda _: None)
    assert kept.reports == counted.reports
    assert np.array_equal(kept.counts, counted.counts)
    return counted.reports


@dataclass
class Server:
    """`candor serve` on a free port."""

    path: Path
    workers: int
    output: int | IO[bytes] = subprocess.DEVNULL
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        command = ["--db", f"sqlite:///{self.path}", "serve", "--port", str(self.port), "--workers", str(self.workers)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from survey_app.cli import main; main()", *command],
            env={**os.environ, "CANDOR_RATE_LIMIT": "off"},
            stdout=self.output, stderr=self.output, start_new_session=True,
        )  # fmt: skip
        waiting = threading.Event()
        for _ in range(600):
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/healthz")
                if connection.getresponse().status == 200:
                    connection.close()
                    return
            waiting.wait(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """SIGKILL the server and all its workers."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGINT, as Ctrl-C does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


def send_until_it_dies(server: Server, published: Published, kill_after: int) -> list[Report]:
    """Let several senders report at once, kill the server when so many are acknowledged, and return those."""
    acknowledged: list[Report] = []
    lock, enough = threading.Lock(), threading.Event()

    def sender() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
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
    enough.wait(60)
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
        stored = check(store, published)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            rows = dict(connection.execute("select id, bits from reports").fetchall())
        assert all(rows.get(report.id) == report.bits for report in acknowledged)
        assert len(acknowledged) <= stored <= len(acknowledged) + rounds * SENDERS
    store.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_no_acknowledged_report_is_lost_when_the_server_is_killed(tmp_path: Path, workers: int) -> None:
    rounds_of_killing(tmp_path / "candor.db", workers, 3 if workers == 1 else 2)


@pytest.mark.soak
@pytest.mark.parametrize("workers", [1, 2])
def test_no_acknowledged_report_is_lost_when_the_server_is_killed_a_hundred_times(tmp_path: Path, workers: int) -> None:
    rounds_of_killing(tmp_path / "candor.db", workers, part_of(100))


def test_a_server_ends_cleanly_and_comes_back_with_everything(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    report = randomize(published.survey, SAID)
    for status in (201, 200):
        connection.request("POST", PATH, report.to_json())
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()
    server.stop()
    assert check(store, published) == 1


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    waiting = threading.Event()
    for _ in range(400):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=2)
            connection.request("GET", "/healthz")
            alive = connection.getresponse().status == 200
            connection.close()
            if alive:
                break
        if server.process.poll() is not None:
            break
        waiting.wait(0.05)
    else:
        raise AssertionError("the server neither ended nor came back")
    server.kill()


def receive(store: SqliteStore, report: Report) -> Outcome:
    intake = Intake(store, "off")
    return intake.take("exam", report.to_json(), None).result(timeout=30)


def refused(store: SqliteStore, report: Report) -> str:
    with pytest.raises(Unavailable) as error:
        receive(store, report)
    return str(json.loads(reply(error.value).body)["code"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB; where it may not be mounted, a limit on the size of files instead."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)], capture_output=True, check=False
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if mounted.returncode:
        previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    yield place
    if mounted.returncode:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    else:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_a_clear_503_and_recovers_by_itself(small_disk: Path) -> None:
    store, published = make(small_disk / "candor.db")
    ballast = small_disk / "ballast"
    stored = 0
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        for _ in range(150):
            file.write(bytes(4096))
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
    ballast.unlink()
    assert receive(store, report) is Outcome.STORED
    assert check(store, published) == stored + 1
    store.close()


def test_a_database_locked_by_somebody_else_is_a_clear_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("survey_app.store.sqlite.database.BUSY_SECONDS", 0.2)
    store, published = make(tmp_path / "candor.db")
    store.close()
    intruder = sqlite3.connect(tmp_path / "candor.db", isolation_level=None)
    intruder.execute("begin immediate")
    report = randomize(published.survey, SAID)
    assert refused(store, report) == "unavailable"
    intruder.execute("rollback")
    intruder.close()
    assert receive(store, report) is Outcome.STORED
    assert check(store, published) == 1


def test_a_file_that_cannot_be_written_is_a_clear_503(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    report = randomize(published.survey, SAID)
    connection = store._connection
    connection.execute("pragma query_only=on")
    with pytest.raises(Unavailable, match="readonly"):
        store.write(lambda: [Submission(published.key, report.id, report.bits)])
    assert receive(store, report) is Outcome.STORED  # a new connection was opened
    assert check(store, published) == 1


def test_an_error_inside_a_transaction_leaves_nothing_behind(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")

    def fail() -> list[Submission]:
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        store.write(fail)
    assert store.write(lambda: [submission(published)]) == [Outcome.STORED]
    assert check(store, published) == 1


def test_many_requests_share_one_transaction_and_each_hears_its_own_outcome(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    writes: list[int] = []
    original = store.write

    def counting(take):  # type: ignore[no-untyped-def]
        outcomes = original(take)
        writes.append(len(outcomes))
        return outcomes

    store.write = counting  # type: ignore[method-assign]
    writer = Writer(store)
    first = submission(published)
    outcomes: list[Outcome] = []

    def one(what: Submission) -> None:
        outcomes.append(writer.submit(what).result())

    taken = Submission(first.survey, first.id, submission(published).bits)
    work = [first, first, taken, *(submission(published) for _ in range(60))]
    threads = [threading.Thread(target=one, args=(what,)) for what in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(writes) < len(work)
    assert outcomes.count(Outcome.STORED) == 61
    assert outcomes.count(Outcome.ALREADY_STORED) + outcomes.count(Outcome.ID_TAKEN) == 2
    assert check(store, published) == 61


def test_a_batch_with_repeats_stores_each_report_once(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    made = [randomize(published.survey, SAID) for _ in range(30)]
    body = b"\n".join(report.to_json() for report in [*made, made[3], made[7]])
    assert read_batch(store, "exam", body)["stored"] == 30
    again = read_batch(store, "exam", body)
    assert (again["stored"], again["already_stored"]) == (0, 32)
    assert check(store, published) == 30


def test_two_processes_that_start_on_a_fresh_file_both_live(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from survey_app.store.sqlite import SqliteStore; s = SqliteStore(Path(sys.argv[1])); s.migrate(); print(s.secret_key().hex())"
    racers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "new.db")], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    keys = {racer.communicate()[0] for racer in racers}
    assert len(keys) == 1
    assert all(racer.returncode == 0 for racer in racers)


def test_the_decoder_remembers_only_what_it_has_validated(tmp_path: Path) -> None:
    store, published = make(tmp_path / "candor.db")
    decoder = Decoder(published.survey, published.key)
    report = randomize(published.survey, SAID)
    wire = json.loads(report.to_json())
    for _ in range(2):
        assert decoder.decode(report.to_json()).bits == report.bits
        with pytest.raises(Problem) as problem:
            decoder.decode(json.dumps(wire | {"survey": "0" * 64}).encode())
        assert problem.value.code == "wrong_survey"
    store.close()


def test_slow_senders_do_not_stop_the_others(tmp_path: Path) -> None:
    _, published = make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(120):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            slow.sendall(head)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("POST", PATH, randomize(published.survey, SAID).to_json())
        response = connection.getresponse()
        response.read()
        assert response.status == 201
        connection.request("GET", "/s/exam")
        assert connection.getresponse().status == 200
        connection.close()
    server.kill()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused_by_the_real_server(tmp_path: Path, chunked: bool) -> None:
    make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    if chunked:
        connection.request(
            "POST", PATH, iter([b"x" * 40_000] * 2), {"Transfer-Encoding": "chunked"}, encode_chunked=True
        )
    else:
        connection.putrequest("POST", PATH)
        connection.putheader("Content-Length", "100000000")
        connection.endheaders()  # and not one byte of it
    response = connection.getresponse()
    assert response.status == 413
    assert json.loads(response.read())["code"] == "too_large"
    connection.close()
    server.kill()


def test_the_real_server_answers_pages_problems_and_preflights(tmp_path: Path) -> None:
    make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    for method, path, status in (
        ("GET", "/s/exam", 200),
        ("GET", "/api/surveys/exam", 200),
        ("GET", "/login", 200),
        ("GET", "/account", 302),
        ("GET", PATH, 405),
        ("OPTIONS", PATH, 204),
        ("POST", PATH, 400),
        ("POST", "/api/surveys/nobody/reports", 404),
        ("GET", "/client/js/index.js", 200),
        ("GET", "/nothing/here%20at%20all", 404),
    ):
        connection.request(method, path)
        response = connection.getresponse()
        body = response.read()
        assert response.status == status, (path, body)
        assert ("Set-Cookie" in response.headers) == (path in ("/login", "/account"))
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    connection.close()
    server.kill()


def test_a_closed_survey_stays_closed(tmp_path: Path) -> None:
    """Closing and opening it in turns would show its reports one by one."""
    store, published = make(tmp_path / "candor.db")
    store.set_state(published, State.CLOSED)
    store.set_state(published, State.CLOSED)
    with pytest.raises(StoreError, match="stays closed"):
        store.set_state(published, State.OPEN)


def test_rubbish_does_not_grow_the_server(tmp_path: Path) -> None:
    """Memory is bounded: three thousand refused requests leave less than 30 MB behind, of 120 MB that they carried."""
    make(tmp_path / "candor.db")
    server = Server(tmp_path / "candor.db", 1)
    server.start()
    assert server.process is not None
    worker = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()[-1]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)

    def resident() -> int:
        return int(Path(f"/proc/{worker}/statm").read_text().split()[1]) * resource.getpagesize()

    def send(count: int) -> None:
        for _ in range(count):
            connection.request("POST", PATH, secrets.token_bytes(40_000))
            response = connection.getresponse()
            response.read()
            assert response.status == 400

    send(200)
    before = resident()
    send(3000)
    assert resident() - before < 30e6
    connection.close()
    server.kill()
