"""Collecting, in one run on loopback.

Durable single reports against a route that does nothing, the RSGI adapter against the same Flask route without it,
batches against raw SQLite, plain sqlite3 against sqlite-utils, results against the number of reports.

Two facts keep the adapter, besides its speed. Under WSGI, a sender that stops in the middle of a body holds a thread:
as many of them as there are threads stop the server. And the adapter bounds the memory of all bodies together before
it reads them.
"""

import contextlib
import gc
import secrets
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sqlite_utils

from benchmarks import load, noop
from benchmarks.page import Bars
from candor_client import Report, Survey, randomize
from survey_app.accounts import add_user
from survey_app.authoring import build_file
from survey_app.authoring.terms import Terms
from survey_app.collect.batch import read_batch
from survey_app.results.survey_document import results
from survey_app.store import Member, PublishedSurvey, Store
from survey_app.store.sqlite import SqliteStore

CONCURRENCY, ROUNDS = 32, 3
COUNTS = (10**3, 10**5, 10**7)
TIMEOUT = 60  # seconds for a server to start, or to end
STOPPED_SECONDS = 3.0  # that a report may wait beside senders that stopped
PROBED_SECONDS = 1.0  # that reports are sent beside them
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Size:
    """Sizes of a run: workers, requests and rounds; reports in a batch, and batches; results read for each median."""

    workers: tuple[int, ...] = (1, 2)
    requests: int = 4000
    rounds: int = ROUNDS
    batch: int = 20_000
    batches: int = 7
    reads: int = 300


QUICK = Size(workers=(1,), requests=64, rounds=1, batch=200, batches=2, reads=3)


def create_store(directory: Path) -> tuple[SqliteStore, PublishedSurvey]:
    """Create a store in this directory, publish the worked example, and return both."""
    store = SqliteStore(directory / "bench.db")
    return store, publish_example(store)


def publish_example(store: Store) -> PublishedSurvey:
    """Create the tables of a new store, publish the worked example in it, and return it."""
    store.migrate()
    user = add_user(store, "bench", "not a secret")
    survey = build_file(ROOT / "examples" / "exam.yaml").survey
    return store.add_surveys([Member(survey, Terms(public=True))], owner=user.key)[0]


def make_reports(survey: Survey, count: int) -> list[Report]:
    """Return `count` reports of the real client."""
    return [randomize(survey, {"cheated": True, "help": "notes", "hours": 12}) for _ in range(count)]


@contextlib.contextmanager
def run_server(db: str, workers: int, *mode: str) -> Iterator[int]:
    """Start the real server with its no-op route on a free port, yield the port, and terminate it at the end.

    With the mode `wsgi` it has no RSGI adapter.
    """
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.noop", db, str(port), str(workers), *mode]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        _wait(process, port)
        yield port
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the server answers; raise RuntimeError if it ends or takes too long."""
    start = time.monotonic()
    while time.monotonic() - start < TIMEOUT and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1).close()
            return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def measure_single_reports(workers: int, requests: int, rounds: int) -> float:
    """Return the median ratio of the rates of durable single reports and of a no-op route, in alternating rounds."""
    with tempfile.TemporaryDirectory() as folder:
        store, published = create_store(Path(folder))
        store.close()
        survey = published.survey
        path = f"/api/surveys/{survey.slug}/reports"
        with run_server(f"sqlite:///{folder}/bench.db", workers) as port:
            ratios, p99s = [], []
            for round_number in range(rounds + 1):
                bodies = [report.to_json() for report in make_reports(survey, requests)]
                idle = load.run(port, [load.request("/noop", body) for body in bodies], CONCURRENCY)
                stored = load.run(port, [load.request(path, body) for body in bodies], CONCURRENCY)
                if stored.statuses != {201: requests} or idle.statuses != {200: requests}:
                    raise RuntimeError(f"unexpected answers: {stored.statuses} {idle.statuses}")
                if round_number:
                    ratios.append(stored.rate / idle.rate)
                    p99s.append(stored.p99)
                    print(
                        f"{workers} worker(s): stored {stored.rate:7,.0f}/s, p50 {stored.p50 * 1000:5.1f} ms,"
                        f" p99 {stored.p99 * 1000:5.1f} ms; no-op route {idle.rate:7,.0f}/s,"
                        f" p99 {idle.p99 * 1000:5.1f} ms; ratio {ratios[-1]:.2f}"
                    )
            ratio = statistics.median(ratios)
            print(f"{workers} worker(s): median ratio {ratio:.2f} (goal 0.8),"
                  f" worst p99 {max(p99s) * 1000:.1f} ms (goal 50)")  # fmt: skip
    return ratio


def measure_adapter(requests: int, rounds: int) -> float:
    """Return the median ratio of the rates of durable reports through the RSGI adapter and through its Flask route.

    Two servers with one worker each run at the same time, and take turns. The Flask route has as many threads as there
    are requests at the same time.
    """
    with contextlib.ExitStack() as stack:
        ports, published = [], None
        for mode in ((), ("wsgi",)):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            store, published = create_store(Path(folder))
            store.close()
            ports.append(stack.enter_context(run_server(f"sqlite:///{folder}/bench.db", 1, *mode)))
        assert published is not None  # noqa: S101  for mypy
        path = f"/api/surveys/{published.survey.slug}/reports"
        ratios = []
        for round_number in range(rounds + 1):
            messages = [load.request(path, report.to_json()) for report in make_reports(published.survey, requests)]
            adapter, flask = (load.run(port, messages, CONCURRENCY) for port in ports)
            if adapter.statuses != {201: requests} or flask.statuses != {201: requests}:
                raise RuntimeError(f"unexpected answers: {adapter.statuses} {flask.statuses}")
            if round_number:
                ratios.append(adapter.rate / flask.rate)
                print(
                    f"RSGI adapter: stored {adapter.rate:7,.0f}/s, p99 {adapter.p99 * 1000:5.1f} ms;"
                    f" the same Flask route under WSGI, {noop.THREADS} threads {flask.rate:7,.0f}/s,"
                    f" p99 {flask.p99 * 1000:5.1f} ms; ratio {ratios[-1]:.2f}"
                )
        for name, port in zip(("RSGI adapter", "Flask route under WSGI"), ports, strict=True):
            message = load.request(path, make_reports(published.survey, 1)[0].to_json())
            print(f"{name}, beside {noop.THREADS} senders that stop within a body: {_answer_time(port, message)}")
    ratio = statistics.median(ratios)
    print(f"RSGI adapter: median ratio to the same Flask route {ratio:.2f}")
    return ratio


def _answer_time(port: int, message: bytes) -> str:
    """Return how long reports wait beside as many stopped senders as the WSGI server has threads.

    Reports are sent one after the other for a second, since a server needs a moment to hand out its threads.
    """
    head, _, _ = message.partition(b"\r\n\r\n")
    with contextlib.ExitStack() as stack:
        for _ in range(noop.THREADS):
            stopped = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            stopped.sendall(head + b"\r\n\r\n{")
        worst, end = 0.0, time.perf_counter() + PROBED_SECONDS
        while (start := time.perf_counter()) < end:
            with socket.create_connection(("127.0.0.1", port), timeout=STOPPED_SECONDS) as sender:
                sender.sendall(message)
                try:
                    sender.recv(1)
                except TimeoutError:
                    return f"no answer in {STOPPED_SECONDS:g} s"
            worst = max(worst, time.perf_counter() - start)
        return f"every answer within {worst * 1000:.0f} ms"


def measure_batches(count: int, rounds: int) -> float:
    """Return the median ratio of the rates of `read_batch` and of sqlite3's executemany.

    Both store the same rows with the same key in new files; the batch is also decoded and validated.
    """
    ratios = []
    gc.freeze()  # as a server does when it begins
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            store, published = create_store(Path(folder))
            batch_reports = make_reports(published.survey, count)
            body = b"\n".join(report.to_json() for report in batch_reports)
            start = time.perf_counter()
            answer = read_batch(store, published.survey.slug, body)
            duration = time.perf_counter() - start
            store.close()
            if answer["stored"] != count:
                raise RuntimeError(f"unexpected answer: {answer}")
            raw = sqlite3.connect(f"{folder}/raw.db", isolation_level=None)
            raw.executescript(
                "pragma journal_mode=wal; pragma synchronous=full; create table reports"
                " (survey integer, id blob, bits blob, primary key (survey, id)) without rowid; begin"
            )
            rows = [(1, report.id, report.bits) for report in batch_reports]
            start = time.perf_counter()
            raw.executemany("insert into reports values (?, ?, ?)", rows)
            raw.execute("commit")
            ratios.append((time.perf_counter() - start) / duration)
            raw.close()
            print(f"batch: {count / duration:,.0f} reports/s, ratio to raw executemany {ratios[-1]:.2f}")
    ratio = statistics.median(ratios)
    print(f"batch: median ratio {ratio:.2f} (goal 0.5)")
    return ratio


def measure_table_layer(count: int, rounds: int) -> dict[str, float]:
    """Return how many times as long sqlite-utils takes to insert reports as plain sqlite3, one by one and at once.

    Each round inserts the same rows in one transaction, so the disk is not part of it.
    """
    rows = [(1, secrets.token_bytes(16), secrets.token_bytes(8)) for _ in range(count)]
    records = [dict(zip(("survey", "id", "bits"), row, strict=True)) for row in rows]
    database = sqlite_utils.Database(memory=True, recursive_triggers=False, execute_plugins=False)
    database.execute(
        "create table reports (survey integer, id blob, bits blob, primary key (survey, id)) without rowid"
    )
    table, insert = database.table("reports"), "insert into reports values (?, ?, ?)"

    def one_by_one_plain() -> None:
        for row in rows:
            database.conn.execute(insert, row)

    def one_by_one_utils() -> None:
        for record in records:
            table.insert(record)

    variants: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "one by one": (one_by_one_plain, one_by_one_utils),
        "all at once": (
            lambda: database.conn.executemany(insert, rows),
            lambda: table.insert_all(records, batch_size=count),
        ),
    }
    ratios = {}
    for name, pair in variants.items():
        seconds = []
        for insert_rows in pair * rounds:
            with database.atomic():
                start = time.perf_counter()
                insert_rows()
                seconds.append(time.perf_counter() - start)
                table.delete_where()
        plain, utils = min(seconds[::2]), min(seconds[1::2])
        ratios[name] = utils / plain
        print(
            f"reports inserted {name}: sqlite3 {1e6 * plain / count:6.2f} µs each,"
            f" sqlite-utils {1e6 * utils / count:6.2f} µs; ratio {ratios[name]:.1f}"
        )
    return ratios


def measure_results(reads: int) -> dict[int, float]:
    """Return the seconds that results take for tallies of a thousand to ten million reports; each reads one row."""
    with tempfile.TemporaryDirectory() as folder:
        store, published = create_store(Path(folder))
        times: dict[int, float] = {}
        for count in COUNTS * 2:
            counts = np.full(published.survey.width, count // 3, dtype=np.int64).tobytes()
            with store._transaction() as connection:
                connection.execute("update tallies set shown = ?, shown_counts = ?", (count, counts))
            rounds = []
            for _ in range(reads):
                start = time.perf_counter()
                results(published.survey, store.snapshot(published))
                rounds.append(time.perf_counter() - start)
            times[count] = min(times.get(count, 1.0), statistics.median(rounds))
        store.close()
    for count, seconds in times.items():
        print(f"results at {count:>10,} reports: {1000 * seconds:.2f} ms")
    print(f"results: 10^7 reports against 10^3: ratio {times[10**7] / times[10**3]:.2f} (goal at most 1.5)")
    return times


def main(quick: bool) -> list[Bars]:
    """Print all measurements of collecting and return their charts."""
    size = QUICK if quick else Size()
    print(f"\nCollecting: {size.requests} requests a round, concurrency {CONCURRENCY}")
    ratios = [
        (f"single durable reports, {workers} worker(s), over a route that does nothing",
         measure_single_reports(workers, size.requests, size.rounds))
        for workers in size.workers
    ]  # fmt: skip
    ratios.append(("single durable reports, over the same Flask route without the adapter",
                   measure_adapter(size.requests, size.rounds)))  # fmt: skip
    ratios.append(("batches of JSON, over sqlite3's executemany", measure_batches(size.batch, size.batches)))
    layers = tuple(measure_table_layer(size.batch // 10, size.batches).items())
    times = measure_results(size.reads)
    latencies = tuple((f"{count:,} reports", seconds / times[COUNTS[0]]) for count, seconds in times.items())
    return [
        Bars("collect", "Reports a second into SQLite", "× the bare work", tuple(ratios)),
        Bars("table-layer", "Time to insert reports with sqlite-utils", "× plain sqlite3", layers),
        Bars("results", "Time until results, against the number of reports", f"× at {COUNTS[0]:,}", latencies),
    ]
