"""The real server under attack: bodies that are withheld, connections that say nothing, workers that die, guessing."""

import contextlib
import http.client
import os
import re
import resource
import select
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from candor_client import randomize
from survey_app.accounts import hash_secret
from survey_app.authoring.yaml_source import LARGEST_FORM
from survey_app.collect.batch import LARGEST_BATCH
from tests.definitions import survey, worked_example
from tests.fixtures import SAID, TOKEN, make
from tests.server_process import PATH, PATIENCE, Server
from tests.soak import soak_count

BODIES = 100
MOST_GROWTH = 150e6  # bytes: of an account two batches of 32 MB are held
BEFORE = 0.95  # of the half-open connections are there when somebody else is answered
HALF = {
    "silent": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: local",
    "half a body": f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{".encode(),
}


def installation(folder: Path) -> Path:
    """A database with an open survey of ada's, who has a token."""
    store, _ = make(folder / "candor.db")
    ada = store.user_by_name("ada")
    assert ada is not None
    store.add_token(ada, hash_secret(TOKEN))
    store.close()
    return folder / "candor.db"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return installation(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One with one worker, for all that only ask it."""
    running = Server(installation(tmp_path_factory.mktemp("holding")), 1)
    running.start()
    yield running
    running.kill()


def workers(server: Server) -> list[int]:
    assert server.process is not None
    return [
        int(one) for one in Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    ]


def peak(worker: int) -> int:
    """The most memory that a process ever had."""
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{worker}/status").read_text())[1])  # type: ignore[index]


def check_answers(server: Server) -> None:
    """A report is stored and a page shown."""
    with contextlib.closing(server.connect()) as connection:
        connection.request("POST", PATH, randomize(survey(worked_example()), SAID).to_json())
        response = connection.getresponse()
        assert (response.status, response.read()) == (201, b'{"status":"stored"}')
        connection.request("GET", "/s/exam")
        assert connection.getresponse().status == 200


# bodies


@dataclass
class Body:
    """What somebody begins to send, and how that is refused."""

    request: str
    length: int
    refused: bytes
    header: str = ""
    taken: int = 0


WITHHELD = {
    "by anybody to an address of batches": Body(f"PUT {PATH}/batch", LARGEST_BATCH, b"HTTP/1.1 413"),
    "by anybody to the console": Body("POST /console/drafts/1/yaml", LARGEST_FORM, b"HTTP/1.1 302"),
    "by an account": Body(
        f"POST {PATH}/batch", LARGEST_BATCH, b"HTTP/1.1 503", f"Authorization: Bearer {TOKEN}\r\n", 2
    ),
}


def withhold(server: Server, body: Body, heard: list[bytes], done: threading.Barrier) -> None:
    """Send all of it but for the last byte, or as much as is taken; stay until all others have."""
    head = f"{body.request} HTTP/1.1\r\nHost: localhost\r\n{body.header}Content-Length: {body.length}\r\n\r\n"
    left = body.length - 1
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as one:
        with contextlib.suppress(OSError):
            one.sendall(head.encode())
            while left:
                left -= one.send(b" " * min(left, 1_000_000))
        if left:
            with contextlib.suppress(OSError):
                heard.append(one.recv(12))
        done.wait(PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHHELD)
def test_withheld_bodies_do_not_fill_the_memory(server: Server, name: str) -> None:
    """100 of 32 MB, or of 4: of an account two are read, and the others hear that it is too much; of others none."""
    body = WITHHELD[name]
    (worker,) = workers(server)
    check_answers(server)
    before, heard, done = peak(worker), list[bytes](), threading.Barrier(BODIES + 1)
    senders = [threading.Thread(target=withhold, args=(server, body, heard, done)) for _ in range(BODIES)]
    for sender in senders:
        sender.start()
    check_answers(server)
    done.wait(PATIENCE)
    check_answers(server)
    for sender in senders:
        sender.join()
    assert peak(worker) - before < MOST_GROWTH
    assert len(heard) >= BODIES - body.taken
    assert {reply for reply in heard if reply} == {body.refused}  # some only hear that the connection is closed


# connections


def check_beside(server: Server, count: int, said: bytes) -> None:
    held = select.poll()
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            one.sendall(said)
            held.register(one, select.POLLIN)
        check_answers(server)
        assert count - len(held.poll(0)) > BEFORE * count  # they are still there: it did not wait for them to go


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may open as many files as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_server_answers_beside_connections_that_say_nothing_or_half(server: Server, many_files: None) -> None:
    """1,030 of them stopped it before; the reply came when they were closed."""
    for said in HALF.values():
        check_beside(server, 1_100, said)


@pytest.mark.soak
@pytest.mark.parametrize("said", HALF)
def test_the_server_answers_beside_thousands_of_them(server: Server, many_files: None, said: str) -> None:
    check_beside(server, soak_count(5_000), HALF[said])


@pytest.mark.slow
def test_a_connection_without_a_request_is_closed(server: Server) -> None:
    """In ten seconds: a new one that says half, and one that has had its reply and says no more."""
    with contextlib.ExitStack() as stack:
        half, idle = (
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20)) for _ in range(2)
        )
        half.sendall(HALF["half a header"])
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(65_536).startswith(b"HTTP/1.1 200")
        for one in (half, idle):
            while one.recv(65_536):
                pass


# workers


def check_kills(server: Server, rounds: int) -> None:
    for _ in range(rounds):
        for worker in workers(server):
            os.kill(worker, signal.SIGKILL)
        server.wait()
        check_answers(server)
    assert server.stop() == 0


@pytest.mark.slow
def test_workers_that_are_killed_again_and_again_are_started_again_and_again(database: Path) -> None:
    """A second death within seconds ended the server before."""
    server = Server(database, 1)
    server.start()
    check_kills(server, 3)


@pytest.mark.slow
def test_workers_end_with_a_server_that_was_killed(database: Path) -> None:
    """They served on before, with nobody to start them again, and kept the port."""
    server = Server(database, 2)
    server.start()
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(PATIENCE)
    again, end = threading.Event(), time.monotonic() + PATIENCE
    while _accepts(server.port) and time.monotonic() < end:
        again.wait(0.05)
    assert not _accepts(server.port)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.mark.soak
def test_all_workers_killed_for_long(database: Path) -> None:
    server = Server(database, 2)
    server.start()
    check_kills(server, soak_count(30))


# limits


@pytest.mark.slow
def test_limits_hold_over_all_workers(database: Path) -> None:
    """Twenty reports and three passwords a minute, of two workers together; nothing is logged about limits.

    Each connection goes to one of the two by chance: of 60, and of 9, all to the same with chance 2^-59 and 2^-8.
    """
    log = database.with_name("log")
    limits = {"CANDOR_RATE_LIMIT": "20/minute", "CANDOR_LOGIN_LIMIT": "3/minute"}
    with log.open("wb") as output:
        server = Server(database, 2, output, environment=limits)
        server.start()
        assert Counter(status(server, "POST", PATH, b"{") for _ in range(60)) == {400: 20, 429: 40}
        with contextlib.closing(server.connect()) as connection:
            connection.request("GET", "/login")
            page = connection.getresponse()
            cookie = (page.headers["Set-Cookie"] or "").partition(";")[0]
            found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page.read().decode())
        assert found is not None
        form = urlencode({"csrf_token": found[1], "name": "ada", "password": "a guess"}).encode()
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        assert [status(server, "POST", "/login", form, headers) for _ in range(9)] == [401] * 3 + [429] * 6
        assert server.stop() == 0
    assert "limit" not in log.read_text() and "127.0.0.1:" in log.read_text()


def status(
    server: Server, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> int:
    """On a connection of its own."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, headers or {})
        return connection.getresponse().status
