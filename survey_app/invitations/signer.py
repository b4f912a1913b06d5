"""The server's side of the signing process: start it when needed or dead, send requests, and match replies to them.

Requests wait in a pipe. Their number is limited to what the pipe holds, so that writing never blocks. If the pipe is
full, or if the process dies during a request, the caller gets `Unavailable`, and may send the same message again.
"""

import logging
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import IO

from candor_client.ticket import MODULUS_BYTES
from survey_app.invitations import signing_process
from survey_app.store import Key, Unavailable

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", signing_process.__file__)
MOST_WAITING = 64  # requests; in all less than the 64 KiB of a pipe
PATIENCE = 20.0  # seconds without any reply until a process counts as hung


class _PendingRequests:
    """The pending requests to one process, by number, in the order of sending."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.futures: dict[int, tuple[Future[bytes], float]] = {}


class Signer:
    """A client of the signing process; it is thread-safe."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting = _PendingRequests()
        self._number = 0
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], Signer] | None = None

    def sign(self, key: Key, message: int) -> Future[bytes]:
        """Return a future of the blind signature of a message, or of Unavailable."""
        future: Future[bytes] = Future()
        try:
            with self._lock:
                process = self._ensure_process()
                with self._waiting.lock:
                    self._check_capacity(process)
                    self._number += 1
                    self._waiting.futures[self._number] = (future, time.monotonic())
                if process.stdin is None:
                    raise Unavailable("the signing process accepts no requests")
                number = self._number.to_bytes(signing_process.NUMBER_BYTES, "big")
                process.stdin.write(number + key.to_bytes() + message.to_bytes(MODULUS_BYTES, "big"))
                process.stdin.flush()
        except (OSError, Unavailable) as error:
            with suppress(InvalidStateError):
                future.set_exception(Unavailable(f"the signing process: {error}"))
        return future

    def _check_capacity(self, process: subprocess.Popen[bytes]) -> None:
        futures = self._waiting.futures
        if futures and time.monotonic() - next(iter(futures.values()))[1] > PATIENCE:
            log.error("the signing process did not answer for %g seconds and was ended", PATIENCE)
            process.kill()
        if len(futures) >= MOST_WAITING:
            raise Unavailable("too many people are taking a ticket now")

    def _ensure_process(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            log.warning("the signing process had ended (%s) and is restarted", self._process.returncode)
        self._end()
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        self._process, self._waiting = process, _PendingRequests()
        self._finalizer = weakref.finalize(self, _end, process)
        threading.Thread(target=_read_replies, args=(process.stdout, self._waiting), name="signer", daemon=True).start()
        return process

    def _end(self) -> None:
        if self._finalizer is not None:
            self._finalizer()

    def close(self) -> None:
        """End the process; pending requests get Unavailable."""
        with self._lock:
            self._end()
            self._process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a signing process by closing its standard input; wait a second, then kill it."""
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read_replies(replies: IO[bytes], waiting: _PendingRequests) -> None:
    """Pass each reply to its request until the process ends; then set Unavailable on the remaining requests."""
    with replies:
        while len(reply := replies.read(signing_process.REPLY)) == signing_process.REPLY:
            with waiting.lock:
                request = waiting.futures.pop(int.from_bytes(reply[: signing_process.NUMBER_BYTES], "big"), None)
            if request is not None:
                _settle(request[0], reply[signing_process.NUMBER_BYTES :])
    with waiting.lock:
        remaining = [future for future, _ in waiting.futures.values()]
        waiting.futures.clear()
    for future in remaining:
        with suppress(InvalidStateError):
            future.set_exception(Unavailable("the signing process has ended"))


def _settle(future: Future[bytes], signature: bytes) -> None:
    with suppress(InvalidStateError):  # the request was cancelled
        if any(signature):
            future.set_result(signature)
        else:
            log.error("a computed signature was wrong and was not sent")
            future.set_exception(Unavailable("the computed signature was wrong"))
