"""Ten surveys, simulated many times: do margins match the promises of `candor plan`, and do intervals cover?

    python -m benchmarks.promises

Each survey has as many respondents as its plan requires for ±6% of everything. Their answers are those that a plan
assumes, the bits have exactly the clients' distribution (`simulation.devices`), and `results()` estimates. A *miss* is

- a guaranteed interval that covers less than 95% minus 2 standard errors,
- an approximate one that covers less than 93%,
- a figure whose simulated margin (1.96 standard deviations) is 2 standard errors above the promised one.

Some of hundreds of figures miss by chance: at 2 standard errors, about one in fifty that is exactly at its bound.
So a survey with a miss is simulated again, four times as often, and a figure counts as missed if it misses both times.
The number of misses expected by chance is computed and printed next to the actual number. The study fails if there are
more misses than chance gives once in a hundred such studies.
"""

import math
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import click
import numpy as np
from scipy.stats import poisson

from benchmarks.coverage.study import SECOND_LOOK
from benchmarks.promises.study import MARGIN, Study, miss_chance, study_survey
from benchmarks.promises.surveys import FILES

RUNS = 2000
ONCE_IN = 100


def format_row(study: Study) -> str:
    """Return a line of the table."""
    count = len(study.survey.fields)
    answers = "its one block" if count == 1 else f"{'one' if study.survey.ask else 'all'} of {count}"
    ratios = [
        (figure.margin / figure.promised_margin, figure.half_width / figure.promised_margin)
        for figure in study.first
        if figure.promised_margin
    ]
    spread, width = zip(*ratios, strict=True)
    lowest = [
        min((figure.coverage for figure in study.first if figure.guaranteed is label), default=math.nan)
        for label in (True, False)
    ]
    return (
        f"{study.name:24} {len(study.survey.questions):3} {float(study.survey.epsilon):4g} {study.n:7,}  {answers:16}"
        f"{len(study.first):5} {lowest[0]:9.3f} {lowest[1]:9.3f} {np.mean(spread):9.3f} {max(spread):6.3f}"
        f" {np.mean(width):9.3f} {max(width):6.3f} {len(study.second):6} {len(study.misses):6}"
    )


HEAD = (
    f"{'':24}{'':4}{'':5}{'':8}  {'':16}{'':5} {'lowest coverage':>19} {'simulated margin':>16} {'half interval':>16}"
    f" {'missed':>13}\n"
    f"{'survey':24} {'q':>3} {'ε':>4} {'n':>7}  {'a device answers':16}{'all':>5} {'guarant.':>9} {'approx.':>9}"
    f" {'/promised':>9} {'most':>6} {'/promised':>9} {'most':>6} {'once':>6} {'twice':>6}"
)


def judge(studies: Sequence[Study], runs: int) -> bool:
    """Print the misses and how many chance would explain; return whether their number is acceptable."""
    figures = [figure for item in studies for figure in item.first]
    once = sum(miss_chance(figure, runs) for figure in figures)
    twice = sum(miss_chance(figure, runs) * miss_chance(figure, SECOND_LOOK * runs) for figure in figures)
    allowed = int(poisson.ppf(1 - 1 / ONCE_IN, twice))
    missed = [(item.name, figure) for item in studies for figure in item.misses]
    margins = sum(figure.promised_margin is not None for figure in figures)
    print(
        f"\n{len(figures)} intervals and {margins} margins; {sum(entry.guaranteed for entry in figures)} intervals are"
        f" guaranteed.\nMissed once: {sum(len(item.second) for item in studies)}, by chance at most about {once:.1f}."
        f" Missed twice: {len(missed)}, by chance at most about {twice:.2f}; more than {allowed} would be a failure."
    )
    for name, figure in missed:
        coverage = f"covers {figure.coverage:.4f}" if not figure.covers else ""
        margin = f"margin {figure.margin:.4g} for {figure.promised_margin:.4g}" if not figure.reaches else ""
        print(f"  {name}: {figure.name}: {' and '.join(filter(None, (coverage, margin)))}, in {figure.runs:,} runs")
    return len(missed) <= allowed


@click.command()
@click.option("--runs", type=click.IntRange(2), default=RUNS, show_default=True, help="Of each survey.")
@click.argument("names", nargs=-1, type=click.Choice(list(FILES)))
def main(runs: int, names: tuple[str, ...]) -> None:
    """Print the table, or the lines that are named; exit with 1 if promises are broken."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores already
    start = time.monotonic()
    print(f"Each survey asks as many as its plan wants for ±{MARGIN:.0%} of everything; {runs:,} runs each.\n\n{HEAD}")
    studies = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for result in pool.map(partial(study_survey, runs=runs), names or FILES):
            print(format_row(result), flush=True)
            studies.append(result)
    is_ok = judge(studies, runs)
    print(f"{'Kept' if is_ok else 'BROKEN'}, in {time.monotonic() - start:.0f} s.")
    sys.exit(not is_ok)


if __name__ == "__main__":
    main()
