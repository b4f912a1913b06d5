"""Collecting, in one run on loopback: durable single reports against a route that does nothing, batches against raw
SQLite, results at ten million reports against a thousand."""

import contextlib
import gc
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import load
from client import Report, Survey, randomize
from survey_app import create_app
from survey_app.accounts import add_user
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.collect.batch import read_batch
from survey_app.results.document import results
from survey_app.server.front import Front
from survey_app.server.workers import STOPPING
from survey_app.store import Member, Published
from survey_app.store.sqlite import SqliteStore

CONCURRENCY, ROUNDS, BATCHES = 32, 3, 7
PATIENCE = 60  # seconds for a server to start, or to end
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Size:
    """How many requests a round, reports in a batch, results read for each median."""

    requests: int = 4000
    batch: int = 20_000
    reads: int = 300


QUICK = Size(requests=64, batch=200, reads=3)


def noop_app() -> Front:
    """The server with one more route, which does nothing."""
    app = create_app()
    app.config["WTF_CSRF_ENABLED"] = False
    app.post("/noop")(lambda: {"status": "stored"})
    return Front(app)


def make(directory: Path) -> tuple[SqliteStore, Published]:
    """A store with the worked example."""
    store = SqliteStore(directory / "bench.db")
    store.migrate()
    user = add_user(store, "bench", "not a secret")
    survey = build_file(ROOT / "examples" / "exam.yaml").survey
    return store, store.add_surveys([Member(survey, Terms(public=True))], owner=user.key)[0]


def reports(survey: Survey, count: int) -> list[Report]:
    """Reports of the real client."""
    return [randomize(survey, {"cheated": True, "help": "notes", "hours": 12}) for _ in range(count)]


@contextlib.contextmanager
def server(db: str, workers: int) -> Iterator[int]:
    """A server on a free port, ended by its own process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    code = (
        "from granian import Granian; from granian.constants import Interfaces;"
        f"Granian('benchmarks.collect:noop_app', factory=True, port={port}, interface=Interfaces.RSGI,"
        f" workers={workers}, workers_kill_timeout={STOPPING}, log_enabled=False).serve()"
    )
    environment = {**os.environ, "CANDOR_DB": db, "CANDOR_RATE_LIMIT": "off"}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
    try:
        _wait(process, port)
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    """Until the server answers; RuntimeError if it ends, or takes too long."""
    start = time.monotonic()
    while time.monotonic() - start < PATIENCE and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
            return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def single(workers: int, requests: int) -> None:
    """Durable single reports beside a route that does nothing, in alternating rounds."""
    with tempfile.TemporaryDirectory() as folder:
        store, published = make(Path(folder))
        store.close()
        survey = published.survey
        path = f"/api/surveys/{survey.slug}/reports"
        with server(f"sqlite:///{folder}/bench.db", workers) as port:
            ratios, p99s = [], []
            for turn in range(ROUNDS + 1):
                bodies = [report.to_json() for report in reports(survey, requests)]
                idle = load.run(port, [load.request("/noop", body) for body in bodies], CONCURRENCY)
                kept = load.run(port, [load.request(path, body) for body in bodies], CONCURRENCY)
                if kept.statuses != {201: requests} or idle.statuses != {200: requests}:
                    raise RuntimeError(f"unexpected answers: {kept.statuses} {idle.statuses}")
                if turn:
                    ratios.append(kept.rate / idle.rate)
                    p99s.append(kept.p99)
                    print(
                        f"{workers} worker(s): stored {kept.rate:7,.0f}/s, p50 {kept.p50 * 1000:5.1f} ms,"
                        f" p99 {kept.p99 * 1000:5.1f} ms; no-op route {idle.rate:7,.0f}/s,"
                        f" p99 {idle.p99 * 1000:5.1f} ms; ratio {ratios[-1]:.2f}"
                    )
            print(f"{workers} worker(s): median ratio {statistics.median(ratios):.2f} (goal 0.8),"
                  f" worst p99 {max(p99s) * 1000:.1f} ms (goal 50)")  # fmt: skip


def batch(count: int) -> None:
    """A batch, decoded and validated, against sqlite3's executemany of the same rows with the same key, both into new
    files."""
    ratios = []
    gc.freeze()  # as a server does when it begins
    for _ in range(BATCHES):
        with tempfile.TemporaryDirectory() as folder:
            store, published = make(Path(folder))
            made = reports(published.survey, count)
            body = b"\n".join(report.to_json() for report in made)
            start = time.perf_counter()
            found = read_batch(store, published.survey.slug, body)
            ours = time.perf_counter() - start
            store.close()
            if found["stored"] != count:
                raise RuntimeError(f"unexpected answer: {found}")
            raw = sqlite3.connect(f"{folder}/raw.db", isolation_level=None)
            raw.executescript(
                "pragma journal_mode=wal; pragma synchronous=full; create table reports"
                " (survey integer, id blob, bits blob, primary key (survey, id)) without rowid; begin"
            )
            rows = [(1, one.id, one.bits) for one in made]
            start = time.perf_counter()
            raw.executemany("insert into reports values (?, ?, ?)", rows)
            raw.execute("commit")
            ratios.append((time.perf_counter() - start) / ours)
            raw.close()
            print(f"batch: {count / ours:,.0f} reports/s, ratio to raw executemany {ratios[-1]:.2f}")
    print(f"batch: median ratio {statistics.median(ratios):.2f} (goal 0.5)")


def tally(reads: int) -> None:
    """Results from a tally of ten million against one of a thousand: both read one row."""
    with tempfile.TemporaryDirectory() as folder:
        store, published = make(Path(folder))
        times: dict[int, float] = {}
        for count in (10**3, 10**7, 10**3, 10**7):
            counts = np.full(published.survey.width, count // 3, dtype=np.int64).tobytes()
            with store._transaction() as connection:
                connection.execute("update tallies set shown = ?, shown_counts = ?", (count, counts))
            rounds = []
            for _ in range(reads):
                start = time.perf_counter()
                results(published.survey, store.snapshot(published))
                rounds.append(time.perf_counter() - start)
            times[count] = min(times.get(count, 1.0), statistics.median(rounds))
        print(f"results: 10^7 reports against 10^3: ratio {times[10**7] / times[10**3]:.2f} (goal at most 1.5)")


def main(quick: bool) -> None:
    """Print all."""
    size = QUICK if quick else Size()
    print(f"\nCollecting: {size.requests} requests a round, concurrency {CONCURRENCY}")
    for workers in (1, 2):
        single(workers, size.requests)
    batch(size.batch)
    tally(size.reads)
