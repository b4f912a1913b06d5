"""The whole way from a link to a receipt, against a real server on this machine."""

import json
import secrets
import socket
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

import candor_client
from candor_client import Ledger, Receipt
from candor_client.address import Address
from candor_client.errors import (
    AnswerError,
    BadAddress,
    CandorError,
    ClaimExceeded,
    DefinitionError,
    LedgerCorrupt,
    LedgerError,
    LimitExceeded,
    OtherServer,
    PinMismatch,
    ServerRefusal,
    Unreachable,
)
from candor_client.report import to_base64url
from candor_client.respond import SYSTEM_CLOCK
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, host_of
from tests.clock import SimulatedClock, make_fast_clock
from tests.definitions import WORKED_DIGEST, define, encode, field, subset, worked_example, yes_no
from tests.javascript import Node, Refusal
from tests.scripted_server import Server

SAID: dict[str, Any] = {"cheated": True, "help": None, "hours": 12}


def respond(url: str, answers: Mapping[str, Any], **more: Any) -> Receipt:
    return candor_client.respond(url, answers, clock=make_fast_clock(), **more)


@pytest.fixture
def link(server: Server) -> str:
    server.define(encode(worked_example()))
    return f"{server.origin}/s/exam"


def spent() -> Any:
    return Ledger().read().total()


def test_a_respondent_gets_a_receipt_for_exactly_what_was_sent(server: Server, link: str) -> None:
    receipt = respond(link, SAID)
    sent = json.loads(server.bodies[0])
    kept = json.loads(receipt.to_json())
    assert (
        (sent["survey"], sent["bits"])
        == (kept["survey"], kept["bits"])
        == (WORKED_DIGEST, to_base64url(receipt.bits or b""))
    )
    assert set(kept) == {"survey", "bits", "status", "epsilon"}  # a finder cannot tell whose row it is
    assert (receipt.status, receipt.repeated) == ("stored", False)
    assert str(receipt.epsilon) == "3.098612288669"
    assert [(method, path) for method, path, _ in server.requests] == [
        ("GET", "/api/surveys/exam"),
        ("POST", "/api/surveys/exam/reports"),
    ]


def test_the_client_says_no_more_about_itself_than_its_name(server: Server, link: str) -> None:
    respond(f"{link}#code=secret-code", SAID)
    allowed = {"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "User-Agent"}
    for _, _, headers in server.requests:
        assert set(headers) <= allowed
        assert headers["User-Agent"] == "candor-client"


def test_a_second_call_sends_nothing(server: Server, link: str) -> None:
    first = respond(link, SAID)
    again = respond(link, SAID | {"cheated": False}, limit=1)
    assert len(server.bodies) == 1
    assert (again.status, again.bits, again.epsilon, again.repeated) == ("already_stored", None, first.epsilon, True)
    assert set(json.loads(again.to_json())) == {"survey", "status", "epsilon"}


def test_a_report_that_was_not_acknowledged_is_sent_again_as_it_was(server: Server, link: str) -> None:
    server.post = lambda body: (403, {}, b"")
    with pytest.raises(ServerRefusal):
        respond(link, SAID)
    server.post = lambda body: (200, {}, b'{"status":"already_stored"}')
    again = respond(link, SAID | {"cheated": False})
    assert server.bodies[0] == server.bodies[1]
    assert (again.status, again.repeated) == ("already_stored", True)
    assert again.bits is not None


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 413, 429, 500, 502, 503])
def test_a_server_that_always_fails_gets_the_same_bytes_every_time(server: Server, link: str, status: int) -> None:
    problem = json.dumps({"code": "some_code", "title": "No"}).encode()
    server.post = lambda body: (status, {}, problem)
    for _ in range(4):
        with pytest.raises((ServerRefusal, Unreachable)) as error:
            respond(link, SAID)
        if isinstance(error.value, ServerRefusal):
            assert (error.value.status, error.value.code) == (status, "some_code")
    assert len(server.bodies) == (4 if status < 500 and status != 429 else 12)
    assert len(set(server.bodies)) == 1
    server.post = lambda body: (201, {}, b'{"status":"stored"}')
    assert respond(link, SAID).repeated
    assert len(set(server.bodies)) == 1
    assert respond(link, SAID).bits is None


def test_a_server_that_never_answers_is_a_time_out(server: Server, link: str, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(sys.modules["candor_client.transport"], "TIMEOUT", 0.2)
    server.post = lambda body: None
    with pytest.raises(Unreachable, match="did not answer"):
        respond(link, SAID)
    assert len(server.bodies) == 3
    assert len(set(server.bodies)) == 1


DRIPS = {
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "trailer": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
}


@pytest.mark.parametrize("where", DRIPS)
def test_a_server_that_drips_is_a_time_out(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr(sys.modules["candor_client.transport"], "TIMEOUT", 0.3)
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()
    begin, drop = DRIPS[where]

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(begin)
            while not stop.wait(0.05):
                try:
                    connection.sendall(drop)
                except OSError:
                    return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(Unreachable, match=r"did not answer in 0\.3 seconds"):
            candor_client.fetch(f"http://127.0.0.1:{listener.getsockname()[1]}/s/exam")
    finally:
        stop.set()
        thread.join()
        listener.close()


@pytest.mark.parametrize("status", [201, 404, 500])
def test_a_body_nested_beyond_reason_is_no_traceback(server: Server, link: str, status: int) -> None:
    server.post = lambda body: (status, {}, b"[" * 200_000)
    with pytest.raises((Unreachable, ServerRefusal)):
        respond(link, SAID)


def test_a_redirect_to_nonsense_is_no_traceback(server: Server, link: str) -> None:
    server.get = lambda path: (302, {"Location": "http://[bad/"}, b"")
    with pytest.raises(Unreachable):
        candor_client.fetch(link)


def test_a_host_that_cannot_be_is_no_traceback() -> None:
    with pytest.raises(BadAddress, match=r"'example\.\.org'"):
        candor_client.fetch("https://example..org/s/exam")


def test_a_receipt_is_not_lost_because_the_ledger_cannot_be_written(
    server: Server, link: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LedgerError("disk full")

    monkeypatch.setattr(Ledger, "acknowledge", fail)
    assert respond(link, SAID).status == "stored"


@pytest.mark.parametrize(
    "host",
    [
        "loc%61lhost",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "example..org",
        "-a.example",
        "evil.org%3a8443",
        "[fe80::1%25eth0]",
    ],
)
def test_a_host_has_one_name_or_none(host: str) -> None:
    """Limits are kept by the name of a host: another spelling of it would be another budget."""
    with pytest.raises(BadAddress):
        Address.parse(f"https://{host}/s/exam")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("EXAMPLE.org", "example.org"),
        ("example.org.", "example.org"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_the_ways_to_write_a_host_that_are_taken_are_one_host(written: str, name: str) -> None:
    assert host_of(Address.parse(f"https://{written}:8443/s/exam").server) == name


def test_a_bad_invitation_is_refused_before_anything_is_spent(server: Server, link: str) -> None:
    with pytest.raises(BadAddress):
        respond(f"{link}#code=zw%C3%B6lf", SAID)
    assert not server.requests
    assert spent() == 0


def test_a_mirror_of_the_survey_gets_nothing(server: Server, link: str) -> None:
    server.post = lambda body: (403, {}, b"")
    with pytest.raises(ServerRefusal):
        respond(link, SAID)
    mirror = link.replace("127.0.0.1", "localhost")
    with pytest.raises(OtherServer):
        respond(mirror, SAID)
    server.post = lambda body: (201, {}, b'{"status":"stored"}')
    respond(link, SAID)
    assert respond(mirror, SAID).bits is None
    assert len(set(server.bodies)) == 1


def test_nobody_listening_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="Connection refused"):
        respond(f"http://127.0.0.1:{port}/s/exam", SAID)


@pytest.mark.parametrize(
    "reply", [b"", b"{}", b"[]", b"thanks", b'{"status":"maybe"}', b"\xff", b'{"status":["stored"]}']
)
def test_a_success_that_acknowledges_nothing_is_no_success(server: Server, link: str, reply: bytes) -> None:
    server.post = lambda body: (200, {}, reply)
    with pytest.raises(Unreachable, match="did not acknowledge"):
        respond(link, SAID)
    assert not Ledger().read().entries[WORKED_DIGEST].stored


def test_an_endless_answer_is_cut_off(server: Server, link: str) -> None:
    server.get = lambda path: (200, {}, b"x" * 300_000)
    with pytest.raises(Unreachable, match="more than 256000 bytes"):
        candor_client.fetch(link)


def test_a_redirect_within_the_origin_is_followed_for_the_definition(server: Server, link: str) -> None:
    source = encode(worked_example())
    server.get = lambda path: (200, {}, source) if path == "/elsewhere" else (302, {"Location": "/elsewhere"}, b"")
    assert candor_client.fetch(link).digest == WORKED_DIGEST


@pytest.mark.parametrize("target", ["http://localhost:1/api/surveys/exam", "https://127.0.0.1/x", "file:///etc/passwd"])
def test_a_redirect_to_another_origin_is_refused(server: Server, link: str, target: str) -> None:
    server.get = lambda path: (302, {"Location": target}, b"")
    with pytest.raises(BadAddress, match="redirect"):
        candor_client.fetch(link)


def test_a_redirect_loop_ends(server: Server, link: str) -> None:
    server.get = lambda path: (302, {"Location": path}, b"")
    with pytest.raises(BadAddress, match="redirect"):
        candor_client.fetch(link)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_report_never_follows_a_redirect(server: Server, link: str, status: int) -> None:
    server.post = lambda body: (status, {"Location": "/api/surveys/other/reports"}, b"")
    with pytest.raises(BadAddress, match="redirects elsewhere"):
        respond(link, SAID)
    assert [path for method, path, _ in server.requests] == ["/api/surveys/exam", "/api/surveys/exam/reports"]


BAD_DEFINITIONS: list[tuple[bytes, type[CandorError]]] = [
    (encode(worked_example() | {"slug": "other"}), PinMismatch),
    (encode(worked_example() | {"epsilon": 3}), ClaimExceeded),
    (encode(define([yes_no()], [field(subset(2, 1, 2**64 - 2**40), "cheated")])), LimitExceeded),
    (encode(worked_example()) + b"\n", DefinitionError),
    (b"<html>", DefinitionError),
    (b"", DefinitionError),
]


@pytest.mark.parametrize(("source", "error"), BAD_DEFINITIONS)
def test_a_bad_definition_is_refused_and_nothing_is_sent_or_charged(
    server: Server, link: str, source: bytes, error: type[CandorError]
) -> None:
    server.define(source)
    with pytest.raises(error):
        respond(link, SAID)
    assert not server.bodies
    assert spent() == 0


@pytest.mark.parametrize(
    "answers",
    [
        {},
        SAID | {"help": "pencil"},
        SAID | {"hours": 61},
        SAID | {"hours": None},
        SAID | {"x": 1},
        SAID | {"cheated": 1},
    ],
)
def test_a_bad_answer_is_refused_and_nothing_is_sent_or_charged(server: Server, link: str, answers: Any) -> None:
    with pytest.raises(AnswerError):
        respond(link, answers)
    assert not server.bodies
    assert spent() == 0


def test_the_limits_are_eight_and_twenty_four_and_are_changed_only_explicitly(server: Server, link: str) -> None:
    assert (SURVEY_LIMIT, SERVER_LIMIT) == (8, 24)
    weak = define([yes_no()], [field(subset(2, 1, 2**64 - 2**51), "cheated")])  # ε = ln(2^13 - 1) = 9.01
    server.define(encode(weak))
    with pytest.raises(LimitExceeded) as of_survey:
        respond(link, {"cheated": True})
    assert of_survey.value.code == "above_limit"
    assert respond(link, {"cheated": True}, limit=10).status == "stored"
    for i in range(2):
        server.define(encode(weak | {"slug": f"exam{i}"}), f"exam{i}")
        last = f"{link}{i}"
        if i == 0:
            assert respond(last, {"cheated": True}, limit=None).status == "stored"
    with pytest.raises(LimitExceeded) as of_server:
        respond(last, {"cheated": True}, limit=10)
    assert of_server.value.code == "above_server_limit"
    assert respond(last, {"cheated": True}, limit=10, server_limit=None).status == "stored"


def test_a_link_may_pin_its_definition(server: Server, link: str) -> None:
    assert candor_client.fetch(f"{link}#sha256={WORKED_DIGEST}").digest == WORKED_DIGEST
    server.define(encode(worked_example() | {"title": "Exam honesty!"}))
    with pytest.raises(PinMismatch, match="do not answer it"):
        respond(f"{link}#sha256={WORKED_DIGEST}", SAID)
    for damaged in ("sha256=abc", "sha256=", f"sha256={WORKED_DIGEST.upper()}"):
        with pytest.raises(PinMismatch, match="64 hexadecimal digits"):
            candor_client.fetch(f"{link}#{damaged}")
    for unclear in (
        f"sha256%3D{WORKED_DIGEST}",
        f"SHA256={WORKED_DIGEST}",
        WORKED_DIGEST,
        f"code=abc&x=1&sha256={WORKED_DIGEST}",
        f"sha256={WORKED_DIGEST}&sha256={WORKED_DIGEST}",
        "code=a&code=a",
    ):
        with pytest.raises(BadAddress):
            candor_client.fetch(f"{link}#{unclear}")
    assert not server.bodies
    assert spent() == 0


def test_an_invitation_to_a_survey_without_tickets_goes_nowhere(server: Server, link: str) -> None:
    respond(f"{link}#code=abc-DEF_123&sha256={WORKED_DIGEST}", SAID)
    assert "abc-DEF" not in f"{server.requests}{server.bodies}"
    assert "abc-DEF" not in Ledger().path.read_text()


def test_without_a_ledger_nothing_is_remembered(server: Server, link: str) -> None:
    for _ in range(2):
        assert respond(link, SAID, ledger=None).status == "stored"
    one, two = (json.loads(body)["id"] for body in server.bodies)
    assert one != two
    assert not Ledger().path.exists()


def test_a_damaged_ledger_stops_everything(server: Server, link: str) -> None:
    Ledger().path.write_bytes(b"{}")
    with pytest.raises(LedgerCorrupt):
        respond(link, SAID)
    assert not server.bodies


def test_a_problem_cannot_paint_the_terminal(server: Server, link: str) -> None:
    server.post = lambda body: (403, {}, json.dumps({"code": "x\x1b[31m", "detail": "red\x1b[31m\nline"}).encode())
    with pytest.raises(ServerRefusal) as refusal:
        respond(link, SAID)
    assert "\x1b" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://example.org/s/exam", "https://example.org/api/surveys/exam"),
        ("https://example.org/s/exam/", "https://example.org/api/surveys/exam"),
        ("https://example.org:8443/base/s/exam#code=x", "https://example.org:8443/base/api/surveys/exam"),
        ("https://example.org/api/surveys/exam", "https://example.org/api/surveys/exam"),
        ("http://localhost:5000/s/exam", "http://localhost:5000/api/surveys/exam"),
        ("http://[::1]:5000/s/exam", "http://[::1]:5000/api/surveys/exam"),
    ],
)
def test_addresses(url: str, api: str, node: Node) -> None:
    assert Address.parse(url).api == node.ask("address", url=url)["api"] == api


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/s/exam", "http://localhost.example.org/s/exam", "http://127.0.0.1.example.org/s/exam",
        "http://10.0.0.1/s/exam", "ftp://example.org/s/exam", "file:///s/exam", "https:///s/exam", "exam", "",
        "https://example.org/s/Exam", "https://example.org/s/../exam", "https://example.org/exam",
        "https://user:secret@example.org/s/exam", "https://exa mple.org/s/exam", "https://example.org/s/exam\n",
        "https://example.org:99999/s/exam", "https://example.org/\U0001f600/s/exam", "https://example.org/s/exam#x", "https://[::1/s/exam", "https://example.org/s/exam\u202e",
    ],
)  # fmt: skip
def test_addresses_that_are_not_opened(url: str) -> None:
    with pytest.raises(BadAddress):
        respond(url, SAID)


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "[::2]"])
def test_neither_client_talks_to_another_host_by_plain_http(host: str, node: Node) -> None:
    url = f"http://{host}/s/exam"
    with pytest.raises(BadAddress):
        respond(url, SAID)
    with pytest.raises(Refusal) as refusal:
        node.ask("respond", url=url, answers=SAID)
    assert refusal.value.code == "bad_address"


# time


@pytest.mark.parametrize(("took", "leaves"), [(0.0, 1), (0.003, 1), (0.999, 1), (1.0, 1), (1.001, 2), (4.2, 5)])
def test_a_report_leaves_at_a_whole_second(server: Server, link: str, took: float, leaves: int) -> None:
    """Counted from when the device began to randomize; what the server waited before that is no part of it."""
    simulated = SimulatedClock()
    begun, left = 1234.56, []
    simulated.seconds = begun

    def slow(count: int) -> bytes:
        simulated.seconds = begun + took
        return secrets.token_bytes(count)

    def note(body: bytes) -> Any:
        left.append(simulated.seconds - begun)
        return 201, {}, b'{"status":"stored"}'

    server.post = note
    candor_client.respond(link, SAID, random_bytes=slow, clock=simulated.clock)
    assert left == [pytest.approx(leaves)]


def test_the_clock_of_the_system_is_the_default() -> None:
    assert SYSTEM_CLOCK.pause is time.sleep
    assert SYSTEM_CLOCK.monotonic is time.monotonic
    assert abs((SYSTEM_CLOCK.now() - datetime.now(UTC)).total_seconds()) < 60
    assert (candor_client.respond.__kwdefaults__ or {})["clock"] is SYSTEM_CLOCK
