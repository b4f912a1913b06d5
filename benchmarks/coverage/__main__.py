"""How often every interval covers: `make coverage` (some minutes) writes docs/coverage.md from `cases.py`."""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import click

from benchmarks.coverage.cases import CASES, run
from benchmarks.coverage.page import page, row
from benchmarks.coverage.study import Outcome

DOCS = Path(__file__).parents[2] / "docs" / "coverage.md"
RUNS = 1000


@click.command()
@click.option(
    "--runs", type=click.IntRange(1), default=RUNS, show_default=True, help="Of each truth that is simulated."
)
@click.option("--every", type=click.IntRange(1), default=1, help="Only each so many-th case, for a try.")
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, show_default=False, help="The file to write.")
def main(runs: int, every: int, out: Path) -> None:
    """Write docs/coverage.md."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores already
    start = time.monotonic()
    outcomes_by_place: dict[int, list[Outcome]] = {}
    places = range(0, len(CASES), every)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        futures = {pool.submit(run, place, runs): place for place in places}
        with click.progressbar(as_completed(futures), length=len(places), label="Coverage", file=sys.stderr) as bar:
            for future in bar:
                outcomes_by_place[futures[future]] = future.result()
    measured = [(CASES[place], outcomes_by_place[place]) for place in places]
    out.write_text(page(measured))
    for case, outcomes in measured:
        if "LOW" in (cells := row(case, outcomes))[-1]:
            print(" ".join(cells))
    print(f"{out}: {len(places)} lines in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
