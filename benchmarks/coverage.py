"""How often every interval covers: `make coverage` (some minutes) writes docs/coverage.md from benchmarks/cases.py."""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import click
import numpy as np

from benchmarks.cases import CASES
from benchmarks.study import ERRORS, NOMINAL, Case, Outcome, measure, verdict

DOCS = Path(__file__).parent.parent / "docs" / "coverage.md"
RUNS = 2000
HEAD = """# Coverage of every interval

Made by `make coverage` with the real pieces: simulated devices or all possible counts, the tally, the estimates.
Nominal coverage is {nominal:.0%}. *Worst* is the lowest coverage over the truths of a line, at the truth beside it.
Where all possible counts are enumerated it is exact. Elsewhere it comes from so many runs for each truth, drawn anew
whenever this page is made, with its standard error; being the lowest of several, it tends to be too low. *Holds*: at
most {errors:.0f} standard errors below nominal. *As stated*: below nominal, but not below what is claimed for this
approximate interval. *Guaranteed* and *approximate* are the labels that results carry. Width is the mean over runs and
truths. People are drawn from a population, unless the line says otherwise.

"""
COLUMNS = ("question and mechanism", "setting", "interval", "label", "n", "truths", "worst", "at", "width", "")


def row(case: Case, outcomes: list[Outcome]) -> list[str]:
    """One line of the table: the worst of its truths."""
    worst = min(outcomes, key=lambda one: one.coverage)
    exact = worst.runs == 0
    return [
        case.pair, case.setting, case.method, worst.label, f"{case.n:,}",
        f"{len(outcomes)}, exact" if exact else f"{len(outcomes)} × {worst.runs:,} runs",
        f"{worst.coverage:.4f}" if exact else f"{worst.coverage:.3f} ± {worst.error(worst.coverage):.3f}",
        worst.truth, f"{np.mean([one.width for one in outcomes]):.3g}", verdict(case, worst),
    ]  # fmt: skip


def page(measured: list[tuple[Case, list[Outcome]]]) -> str:
    """The page; what is too low comes first."""
    rows = [row(case, outcomes) for case, outcomes in measured]
    low = [one for one in rows if "LOW" in one[-1]]
    head = HEAD.format(nominal=NOMINAL, errors=ERRORS)
    found = f"**{len(low)} of {len(rows)} lines are too low:**\n\n{table(low)}\n" if low else "No line is too low.\n"
    return f"{head}{found}\n## All lines\n\n{table(rows)}"


def table(rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return "".join(f"| {' | '.join(one)} |\n" for one in lines)


def run(place: int, runs: int) -> list[Outcome]:
    """Measure one case, in a process of its own."""
    return measure(CASES[place], runs, np.random.default_rng())


@click.command()
@click.option("--runs", default=RUNS, show_default=True, help="Of each truth that is simulated.")
def main(runs: int) -> None:
    """Write docs/coverage.md."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores already
    start = time.monotonic()
    found: dict[int, list[Outcome]] = {}
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        waiting = {pool.submit(run, place, runs): place for place in range(len(CASES))}
        with click.progressbar(as_completed(waiting), length=len(CASES), label="Coverage", file=sys.stderr) as bar:
            for done in bar:
                found[waiting[done]] = done.result()
    measured = [(case, found[place]) for place, case in enumerate(CASES)]
    DOCS.write_text(page(measured))
    for case, outcomes in measured:
        if "LOW" in (cells := row(case, outcomes))[-1]:
            print(" ".join(cells))
    print(f"{DOCS}: {len(CASES)} lines in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
