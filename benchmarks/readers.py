"""How long a respondent waits beside 300 connections of readers, and what a large export adds to a worker's memory.

Both run against `candor serve` on loopback without rate limits, as if every reader had its own address.
Readers request the results page with a cross-tab and a regression of nearly a hundred thousand reports.
Every request has another confidence level, so that nothing comes from a cache. Meanwhile a respondent loads form,
definition and health in turn, each over its own connection. The same is measured before, without readers.
"""

import contextlib
import http.client
import multiprocessing
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.page import Bars
from survey_app.accounts import add_user, hash_secret
from survey_app.assure.simulation import devices
from survey_app.authoring import build
from survey_app.authoring.terms import Terms
from survey_app.plan.simulated_people import draw_people
from survey_app.store import Member, PublishedSurvey, Submission
from survey_app.store.sqlite import SqliteStore


class Sizes(NamedTuple):
    """Sizes of a run: connections, reports, seconds, and megabytes to export."""

    connections: int
    reports: int
    seconds: float
    megabytes: int


FULL, QUICK = Sizes(300, 99_000, 30, 200), Sizes(20, 20_000, 2, 5)
GOAL, MOST_GROWTH = 1.0, 40.0  # seconds at the 99th percentile; megabytes
TIMEOUT = 60.0
WARM_UP_REQUESTS = 20  # requests of each kind, so that every worker has made what it keeps
OPTIONS = 500  # of the question whose reports are exported: a line of CSV has a thousand bytes
PATHS = {"form": "/s/big", "definition": "/api/surveys/big", "health": "/healthz"}
RESULTS_PATH = "/results/big?rows=a&columns=b&outcome=c=o0&on=a&on=b&confidence=0.{}"
CHOICE = "{{id: {}, type: choice, text: Which?, options: [{}]}}"


@dataclass(frozen=True)
class RunningServer:
    """A running server: its port and the process ids of its workers."""

    port: int
    workers: list[int]

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the server."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)

    def get(self, path: str) -> tuple[int, float]:
        """Request a path over a new connection, and return the status and the seconds it took."""
        start = time.perf_counter()
        with contextlib.closing(self.connect()) as connection:
            connection.request("GET", path)
            reply = connection.getresponse()
            reply.read()
        return reply.status, time.perf_counter() - start

    def peak_memory(self) -> float:
        """Return the highest peak memory of any worker, in megabytes."""
        matches = (re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in self.workers)
        return max(int(match[1]) for match in matches if match) / 1024


@contextlib.contextmanager
def run_server(db: str, workers: int) -> Iterator[RunningServer]:
    """Run `candor serve` on a free port without rate limits, yield it, and terminate it at the end."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = ["--db", db, "serve", "--port", str(port), "--workers", str(workers)]
    process = subprocess.Popen(
        [sys.executable, "-c", "from survey_app.cli import main; main()", *words],
        env={**os.environ, "CANDOR_RATE_LIMIT": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        start = time.monotonic()
        while process.poll() is None and time.monotonic() - start < TIMEOUT:
            with contextlib.suppress(OSError, http.client.HTTPException):
                RunningServer(port, []).get("/healthz")
                break
            time.sleep(0.05)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield RunningServer(port, [int(pid) for pid in children])
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def read_results(server: RunningServer, sizes: Sizes, sender: Connection) -> None:
    """Request results over all connections without pause for `sizes.seconds`, and send the counts of statuses.

    This runs in its own process; `told` is the connection to its parent.
    """
    end = time.monotonic() + sizes.seconds
    statuses: list[int] = []

    def reader(place: int) -> None:
        number = place
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                statuses.append(server.get(RESULTS_PATH.format(500 + number % 499))[0])
            number += 7

    threads = [threading.Thread(target=reader, args=(place,), daemon=True) for place in range(sizes.connections)]
    for thread in threads:
        thread.start()
    time.sleep(max(end - time.monotonic(), 0))
    sender.send(Counter(statuses.copy()))


def probe_respondent(server: RunningServer, seconds: float) -> dict[str, list[float]]:
    """Load form, definition and health for `seconds`, and return the times of each; raise RuntimeError on failure."""
    times: dict[str, list[float]] = {name: [] for name in PATHS}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, path in PATHS.items():
            status, duration = server.get(path)
            if status != 200:
                raise RuntimeError(f"{path}: {status}")
            times[name].append(duration)
    return times


def quantile(times: list[float], share: float) -> float:
    """Return the time that a share of all times did not exceed."""
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def publish_survey(store: SqliteStore, slug: str, questions: str, options: int) -> PublishedSurvey:
    """Publish single-choice questions with `options` options each, as the account bench, and return the survey."""
    labels = ", ".join(f"o{number}" for number in range(options))
    question_list = ", ".join(CHOICE.format(name, labels) for name in questions)
    survey = build(f"slug: {slug}\ntitle: Readers\nepsilon: 3\nquestions: [{question_list}]".encode()).survey
    owner = store.user_by_name("bench") or add_user(store, "bench", "not a secret")
    return store.add_surveys([Member(survey, Terms(public=True))], owner=owner.key)[0]


def measure_wait(sizes: Sizes) -> Bars:
    """Print how long a respondent waits while readers load results, and return the chart."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "candor.db")
        store.migrate()
        published = publish_survey(store, "big", "abc", 4)
        rng = np.random.default_rng()
        for rows in devices.reports(published.survey, draw_people(published.survey, {}, sizes.reports, rng), rng):
            store.write([Submission(published.key, secrets.token_bytes(16), row.tobytes()) for row in rows].copy)
        store.close()
        with run_server(f"sqlite:///{folder}/candor.db", 2) as server:
            for path in [*PATHS.values(), RESULTS_PATH.format(950)] * WARM_UP_REQUESTS:
                status, _ = server.get(path)
                if status != 200:
                    raise RuntimeError(f"{path}: {status}")
            time_alone = server.get(RESULTS_PATH.format(951))[1]
            idle_times = probe_respondent(server, sizes.seconds / 5)
            receiver, sender = multiprocessing.Pipe(duplex=False)
            reader_process = multiprocessing.get_context("fork").Process(
                target=read_results, args=(server, sizes, sender)
            )
            reader_process.start()
            time.sleep(sizes.seconds / 10)
            times = probe_respondent(server, sizes.seconds * 0.8)
            statuses: Counter[int] = receiver.recv()
            reader_process.join()
    print(
        f"{sizes.connections} connections, {sizes.reports:,} reports; one reading alone takes {time_alone:.2f} s;"
        f" then {statuses[200] / sizes.seconds:.1f} readings/s were made, {statuses[503] / sizes.seconds:.0f}/s refused"
    )
    ratios = []
    for name, seconds in times.items():
        p99, p99_alone = quantile(seconds, 0.99), quantile(idle_times[name], 0.99)
        ratios.append((name, p99 / p99_alone))
        print(
            f"{name:11} p50 {1000 * quantile(seconds, 0.5):4.0f} ms, p99 {1000 * p99:4.0f} ms, worst of {len(seconds)}"
            f" {1000 * max(seconds):4.0f} ms (goal p99 under {1000 * GOAL:.0f});"
            f" alone p99 {1000 * p99_alone:.1f} ms, ratio {ratios[-1][1]:.0f}"
        )
    title = f"Wait of a respondent beside {sizes.connections} connections of readers, 99th percentile"
    return Bars("readers", title, "× alone", tuple(ratios))


def measure_export(megabytes: int) -> None:
    """Print how much a large export adds to the memory of a worker."""
    token = secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "candor.db")
        store.migrate()
        store.add_token(add_user(store, "bench", "not a secret"), hash_secret(token))
        published = publish_survey(store, "wide", "a", OPTIONS)
        survey, row = published.survey, published.survey.width // 8
        for _ in range(megabytes):  # a thousand lines of a thousand bytes
            submissions = [
                Submission(published.key, secrets.token_bytes(16), secrets.token_bytes(row).ljust(survey.length, b"\0"))
                for _ in range(10**6 // (2 * survey.width))
            ]
            store.write(submissions.copy)
        store.close()
        with run_server(f"sqlite:///{folder}/candor.db", 1) as server:
            for path in ("/s/wide", "/results/wide", "/healthz"):
                server.get(path)
            idle, size = server.peak_memory(), 0
            with contextlib.closing(server.connect()) as connection:
                connection.request("GET", "/results/wide/reports.csv", headers={"Authorization": f"Bearer {token}"})
                reply = connection.getresponse()
                time.sleep(1)  # a slow reader must not cost more
                while piece := reply.read(2**20):
                    size += len(piece)
            if reply.status != 200:
                raise RuntimeError(f"the export: {reply.status}")
            growth = server.peak_memory() - idle
    print(
        f"export of {size / 1e6:.0f} MB of CSV: a worker grows from {idle:.0f} MB by {growth:.0f} MB"
        f" (goal at most {MOST_GROWTH:.0f})"
    )


def main(quick: bool) -> list[Bars]:
    """Print how long respondents wait beside readers, and what an export adds to memory; return the chart."""
    sizes = QUICK if quick else FULL
    print("\nReaders: form, definition and health beside readings of results, two workers, in real time")
    chart = measure_wait(sizes)
    measure_export(sizes.megabytes)
    return [chart]
