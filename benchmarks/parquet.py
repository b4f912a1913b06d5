"""From a folder of Parquet to counts: 10^7 reports of 64 stored bits by `candor tally`, beside reading alone and peers.

Reading the same files without counting, and a histogram of all bytes in memory, show how fast it could be.
Databases count the same bits as 64 boolean columns. Rounds alternate, and the best of each counts.
Files are in the page cache. Memory is the peak of the whole command, in its own process.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.aggregate import Contestant, best_times
from benchmarks.memory import measure_command
from benchmarks.page import Bars
from benchmarks.peers import make_installed
from candor_client.definition import Survey
from survey_app.assure.simulation import devices
from survey_app.authoring import build
from survey_app.plan.simulated_people import draw_people
from survey_app.results.parquet.pair_counts import count
from survey_app.results.parquet.parquet_reader import find, read_batches, scan
from survey_app.results.parquet.parquet_writer import write_columns, write_parts
from survey_app.tally import Bits

REPORTS, QUICK, ROUNDS = 10**7, 20_000, 3
FEW = 2 * 10**6  # with columns: written slowly, and some read slowly
SAMPLE = 10**5  # people that are made up; their reports are repeated
SOURCE = b"""\
slug: census
title: Sixty-four bits
epsilon: 4
questions:
  - {id: region, type: choice, text: Where?, options: [%b]}
  - {id: trade, type: choice, text: What?, options: [%b]}
  - {id: a, type: yes_no, text: A?}
  - {id: b, type: yes_no, text: B?}
  - {id: c, type: yes_no, text: C?}
  - {id: d, type: yes_no, text: D?}
""" % tuple(b", ".join(b"%b%d" % (letter, i) for i in range(size)) for letter, size in ((b"r", 40), (b"t", 20)))


def repeat_sample(survey: Survey, total: int) -> Iterator[Bits]:
    """Yield reports of simulated people until there are `total`; a sample is drawn once and repeated."""
    rng = np.random.default_rng()
    sample = np.concatenate([*devices.reports(survey, draw_people(survey, {}, min(SAMPLE, total), rng), rng)])
    for start in range(0, total, len(sample)):
        yield sample[: total - start]


def peer_makers(file: Path, reports: int) -> dict[str, Callable[[], Contestant]]:
    def duckdb() -> Contestant:
        import duckdb

        names = duckdb.read_parquet(str(file)).columns
        sums = ", ".join(f'count(*) filter ("{name}")' for name in names)
        query = f"select {sums} from '{file}'"  # noqa: S608 — our own names
        return Contestant("duckdb", reports, lambda: duckdb.sql(query).fetchall())

    def polars() -> Contestant:
        import polars

        return Contestant("polars", reports, lambda: polars.scan_parquet(file).sum().collect())

    return {"duckdb": duckdb, "polars": polars}


def main(quick: bool) -> list[Bars]:
    """Print the table and return its chart."""
    total, few = (QUICK, QUICK) if quick else (REPORTS, FEW)
    survey = build(SOURCE).survey
    with tempfile.TemporaryDirectory() as place:
        return _table(survey, total, few, Path(place))


def _table(survey: Survey, total: int, few: int, place: Path) -> list[Bars]:
    folder, columns = place / "bits", place / "columns.parquet"
    folder.mkdir()
    start = time.perf_counter()
    files = write_parts(survey, repeat_sample(survey, total), 10**6, folder)
    write_time, size = time.perf_counter() - start, sum(file.stat().st_size for file in files)
    with columns.open("wb") as file:
        write_columns(survey, repeat_sample(survey, few), file)
    print(f"\nParquet: {total:,} reports of {survey.width} stored bits, best of {ROUNDS} alternating rounds")
    print(f"{len(files)} files, {size / total:.2f} bytes a report, written in {write_time:.1f} s")
    rows = np.concatenate([*scan(find([folder]))])
    candor = Contestant("candor tally", total, lambda: count(find([folder])))
    peer_contestants, absent = make_installed(peer_makers(columns, few))
    contestants = [
        candor,
        Contestant("candor tally --pairs", total, lambda: count(find([folder]), pairs=True)),
        Contestant("candor tally, 64 columns", few, lambda: count(find([columns]))),
        Contestant(
            "reading, nothing counted", total, lambda: [None for _ in read_batches(find([folder]).row_groups, survey)]
        ),
        Contestant("histogram of all bytes", total, lambda: np.bincount(rows.ravel(), minlength=256)),
        *peer_contestants,
    ]
    best = best_times(contestants, ROUNDS)
    total_times = {contestant.name: best[contestant.name] * total / contestant.reports for contestant in contestants}
    for contestant in contestants:
        total_time = total_times[contestant.name]
        note = "" if contestant.reports == total else f"  (measured on {contestant.reports:,}, scaled)"
        print(f"{contestant.name:26} {total_time:8.3f} s {total_time / best[candor.name]:8.1f} × candor's time{note}")
    seconds = best[candor.name]
    print(f"candor tally: {seconds:.2f} s (goal under 1), {total / seconds:,.0f} reports a second")
    duration, peak = measure_command("tally", str(folder), "--json")
    print(f"the whole command: {duration:.2f} s, {peak:.0f} MB at its peak (goal under 500)")
    if absent:
        print("not compared:", ", ".join(absent))
    values = tuple((name, total_time / seconds) for name, total_time in total_times.items())
    return [Bars("parquet", "Time from Parquet to counts", "× candor's", values)]
