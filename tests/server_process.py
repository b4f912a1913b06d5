"""The real server, `candor serve` or `candor issuer serve`, as a process of its own."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

PATH = "/api/surveys/exam/reports"
PATIENCE = 120  # seconds: a busy machine is slow


@dataclass
class Server:
    """`candor serve` on a free port."""

    path: Path
    workers: int
    output: int | IO[bytes] = subprocess.DEVNULL
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None)
    serves: tuple[str, ...] = ("serve",)
    environment: dict[str, str] = field(default_factory=dict)
    db: str = ""

    def command(self) -> list[str]:
        """Return the command to run, with this port."""
        options = [*self.serves, "--port", str(self.port), "--workers", str(self.workers)]
        code = "from survey_app.cli import main; main()"
        return [sys.executable, "-c", code, "--db", self.db or f"sqlite:///{self.path}", *options]

    def start(self, *, again: bool = False) -> None:
        """Start it, `again` at the same address."""
        if not again:
            with socket.create_server(("127.0.0.1", 0)) as probe:
                self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            self.command(), env={**os.environ, "CANDOR_RATE_LIMIT": "off", **self.environment},
            stdout=self.output, stderr=self.output, start_new_session=True,
        )  # fmt: skip
        self.wait()

    def wait(self) -> None:
        """Wait until the server answers or has ended."""
        pause, answered = threading.Event(), False
        while not answered and self.process is not None and self.process.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(self.connect()) as asked:
                asked.request("GET", "/healthz")
                answered = asked.getresponse().status == 200
            pause.wait(0 if answered else 0.02)
        assert answered, "the server has ended"

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to it."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def processes(self) -> list[int]:
        """Return the server, its workers, and all processes that they started."""
        assert self.process is not None
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if int(stat.read_text().rpartition(")")[2].split()[2]) == self.process.pid:
                    found.append(int(stat.parent.name))
        return found

    def kill(self) -> None:
        """Send SIGKILL to the server and all its workers."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Send SIGINT, as Ctrl-C does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)
