"""The real server: slow senders, large bodies, rubbish, and what it says to each."""

import contextlib
import json
import resource
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from candor_client import randomize
from tests.definitions import survey, worked_example
from tests.fixtures import SAID, make
from tests.server_process import PATH, PATIENCE, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all that only ask it."""
    path = tmp_path_factory.mktemp("serve") / "candor.db"
    make(path)[0].close()
    running = Server(path, 1)
    running.start()
    yield running
    running.kill()


def test_slow_senders_do_not_stop_the_others(server: Server) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(120):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            slow.sendall(head)
        connection = server.connect()
        connection.request("POST", PATH, randomize(survey(worked_example()), SAID).to_json())
        response = connection.getresponse()
        response.read()
        assert response.status == 201
        connection.request("GET", "/s/exam")
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused_by_the_real_server(server: Server, chunked: bool) -> None:
    connection = server.connect()
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


def test_the_real_server_answers_pages_problems_and_preflights(server: Server) -> None:
    connection = server.connect()
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
        policy = response.headers["Content-Security-Policy"]
        assert policy is None if path.endswith(".js") else "default-src 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    connection.close()


def test_rubbish_does_not_grow_the_server(server: Server) -> None:
    """Memory is bounded: a thousand refused requests leave less than 10 MB behind, of 40 MB that they carried."""
    assert server.process is not None
    worker = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()[-1]
    connection = server.connect()

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
    send(1000)
    assert resident() - before < 10e6
    connection.close()


@pytest.mark.slow
def test_a_server_that_is_told_to_stop_does_not_wait_for_somebody_who_never_finishes(tmp_path: Path) -> None:
    path = tmp_path / "candor.db"
    make(path)[0].close()
    server = Server(path, 2)
    server.start()
    assert server.process is not None
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
        slow.sendall(f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{".encode())
        with contextlib.closing(server.connect()) as connection:
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
        with contextlib.suppress(ConnectionResetError):
            assert slow.recv(1) == b""  # the reply to a body that did not come in time would come after it
