"""A server that kills itself and everything it started, with SIGKILL, at one point of issuing a ticket.

`python -m tests.invitations.crash_points PORT` serves as `candor serve` does. CRASH names the point. The server crashes
only while the file named by CRASH_ONCE exists, and removes it first.
"""

import os
import signal
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from survey_app.collect.rate_limit import Counts
from survey_app.invitations.signer import Signer
from survey_app.store import Key, MarkOutcome, TicketFile
from survey_app.web import rsgi, rsgi_io
from survey_app.web.config import Config
from survey_app.web.extension import get_candor
from survey_app.web.workers import Workers
from tests.server_process import Server

POINTS = ("before the mark", "between mark and signature", "between signature and reply")


def crash(point: str) -> None:
    """Kill the process group if this is the point to crash at, and only once."""
    once = Path(os.environ["CRASH_ONCE"])
    if os.environ["CRASH"] == point and once.exists():
        once.unlink()
        os.killpg(os.getpgrp(), signal.SIGKILL)


class CrashingFile(TicketFile):
    """A ticket file that crashes before it marks."""

    def mark(self, key: int, code: bytes, message: bytes) -> MarkOutcome:
        crash(POINTS[0])
        return super().mark(key, code, message)


class CrashingSigner(Signer):
    """A signer that crashes before it signs."""

    def sign(self, key: Key, message: int) -> "Future[bytes]":
        crash(POINTS[1])
        return super().sign(key, message)


def create() -> rsgi.RsgiAdapter:
    """Return the app that a worker serves."""
    made = rsgi.create(Counts(), Config.from_environment(os.environ).flask_settings())
    issuer: Any = get_candor(made._app).issuer
    issuer._file, issuer._signer = CrashingFile(issuer._file.path), CrashingSigner()

    def send_reply(*arguments: Any) -> None:
        crash(POINTS[2])
        unharmed(*arguments)

    unharmed: Any = rsgi_io.send_reply
    setattr(rsgi_io, "send_reply", send_reply)  # noqa: B010 — mypy knows better than to let it be replaced
    return made


class CrashingServer(Server):
    """The real server, except that it crashes at one point."""

    def __init__(self, path: Path, point: str) -> None:
        once = path.with_name("crash once")
        once.touch()
        super().__init__(
            path, 1, environment={"CANDOR_DB": f"sqlite:///{path}", "CRASH": point, "CRASH_ONCE": str(once)}
        )

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.invitations.crash_points", str(self.port)]


if __name__ == "__main__":
    Workers(create, "127.0.0.1", int(sys.argv[1]), 1).run()
