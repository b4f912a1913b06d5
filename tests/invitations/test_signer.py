"""The signing process beside the server: it answers everybody their own, comes back when it died, and never outlives."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from candor_client.ticket import EXPONENT
from survey_app.invitations import signer as module
from survey_app.invitations.signer import Signer
from survey_app.store import Unavailable
from tests.ticket_surveys import key

PATIENCE = 60
MUTE = (sys.executable, "-c", "import sys; sys.stdin.buffer.read()")


@pytest.fixture
def signer() -> Iterator[Signer]:
    made = Signer()
    yield made
    made.close()


def process_of(signer: Signer) -> "subprocess.Popen[bytes]":
    assert signer._process is not None
    return signer._process


def check(signature: bytes, message: int) -> None:
    assert pow(int.from_bytes(signature, "big"), EXPONENT, key().modulus) == message


def test_replies_find_their_requests(signer: Signer) -> None:
    waiting = {message: signer.sign(key(), message) for message in range(1000, 1012)}
    for message, future in reversed(waiting.items()):
        check(future.result(PATIENCE), message)


def test_a_process_that_died_is_told_and_started_again(signer: Signer, caplog: pytest.LogCaptureFixture) -> None:
    check(signer.sign(key(), 5).result(PATIENCE), 5)
    first = process_of(signer)
    os.kill(first.pid, signal.SIGSTOP)
    waiting = signer.sign(key(), 6)
    first.kill()
    with pytest.raises(Unavailable):
        waiting.result(PATIENCE)
    first.wait()
    check(signer.sign(key(), 7).result(PATIENCE), 7)
    assert process_of(signer).pid != first.pid
    (record,) = caplog.records
    assert record.args == (-signal.SIGKILL,)


def test_there_are_only_as_many_requests_as_the_pipe_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no request blocks the event loop until the pipe has space."""
    mute = Signer(MUTE)
    waiting = [mute.sign(key(), 5) for _ in range(module.MOST_WAITING)]
    assert not any(future.done() for future in waiting)
    with pytest.raises(Unavailable, match="too many"):
        mute.sign(key(), 5).result(0)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with pytest.raises(Unavailable):  # it has answered nothing for too long, and is ended
        mute.sign(key(), 5).result(0)
    for future in waiting:
        with pytest.raises(Unavailable, match="ended"):
            future.result(PATIENCE)
    mute.close()


def test_a_program_that_is_not_there_is_unavailable() -> None:
    absent = Signer((str(Path("/nowhere/at/all")),))
    with pytest.raises(Unavailable):
        absent.sign(key(), 5).result(0)
    absent.close()


def test_the_process_ends_when_the_asking_process_is_killed() -> None:
    """It holds no key then, and nobody is there to end it."""
    code = (
        "import sys; from survey_app.invitations.signer import Signer; from survey_app.invitations.keys import Key;"
        "s = Signer(); k = Key.from_bytes(bytes.fromhex(sys.argv[1]));"
        "s.sign(k, 5).result(60); print(s._process.pid, flush=True); sys.stdin.read()"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", code, key().to_bytes().hex()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert asking.stdout is not None and asking.stdin is not None
    pid = int(asking.stdout.readline())
    watched = os.pidfd_open(pid)
    asking.kill()
    asking.wait()
    ended = select.poll()
    ended.register(watched, select.POLLIN)
    assert ended.poll(1000 * PATIENCE), "the signing process lives on"
    os.close(watched)
    asking.stdout.close()
    asking.stdin.close()


def test_a_signer_that_nobody_holds_any_more_leaves_no_process() -> None:
    made = Signer()
    made.sign(key(), 5).result(PATIENCE)
    process = process_of(made)
    del made
    assert process.wait(PATIENCE) == 0
