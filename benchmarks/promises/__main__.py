"""Ten surveys, simulated over and over: are margins what `candor plan` promises, and do intervals cover?

    python -m benchmarks.promises

Each survey is asked of as many people as its plan wants for ±6% of everything. The people are those that a plan
imagines, the bits have exactly the clients' distribution (`simulate.devices`), the rest is `results()`. A *miss* is

- a guaranteed interval that covers less than 95% minus 2 standard errors,
- an approximate one that covers less than 93%,
- a figure whose simulated margin (1.96 standard deviations) is 2 standard errors above the promised one.

Of hundreds of figures some miss by chance: at 2 standard errors about one in fifty that sits exactly on its bound. So a
survey with a miss is simulated again, four times as often, and a figure counts as missed if it misses both times. How
many would do so by chance is computed, and printed beside how many did; more than chance gives once in a hundred such
studies is a failure.
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
from benchmarks.promises.study import MARGIN, Study, chance_of, study
from benchmarks.promises.surveys import FILES

RUNS = 2000
ONCE_IN = 100


def row(one: Study) -> str:
    """A line of the table."""
    count = len(one.survey.fields)
    answers = "its one block" if count == 1 else f"{'one' if one.survey.ask else 'all'} of {count}"
    planned = [(kept.margin / kept.promised, kept.half / kept.promised) for kept in one.first if kept.promised]
    spread, width = zip(*planned, strict=True)
    lowest = [
        min((kept.coverage for kept in one.first if kept.guaranteed is label), default=math.nan)
        for label in (True, False)
    ]
    return (
        f"{one.name:24} {len(one.survey.questions):3} {float(one.survey.epsilon):4g} {one.n:7,}  {answers:16}"
        f"{len(one.first):5} {lowest[0]:9.3f} {lowest[1]:9.3f} {np.mean(spread):9.3f} {max(spread):6.3f}"
        f" {np.mean(width):9.3f} {max(width):6.3f} {len(one.second):6} {len(one.missed):6}"
    )


HEAD = (
    f"{'':24}{'':4}{'':5}{'':8}  {'':16}{'':5} {'lowest coverage':>19} {'simulated margin':>16} {'half interval':>16}"
    f" {'missed':>13}\n"
    f"{'survey':24} {'q':>3} {'ε':>4} {'n':>7}  {'a device answers':16}{'all':>5} {'guarant.':>9} {'approx.':>9}"
    f" {'/promised':>9} {'most':>6} {'/promised':>9} {'most':>6} {'once':>6} {'twice':>6}"
)


def judge(studies: Sequence[Study], runs: int) -> bool:
    """Print what missed, and how much of it chance would explain; whether all is well."""
    figures = [kept for one in studies for kept in one.first]
    once = sum(chance_of(kept, runs) for kept in figures)
    twice = sum(chance_of(kept, runs) * chance_of(kept, SECOND_LOOK * runs) for kept in figures)
    allowed = int(poisson.ppf(1 - 1 / ONCE_IN, twice))
    missed = [(one.name, kept) for one in studies for kept in one.missed]
    margins = sum(kept.promised is not None for kept in figures)
    print(
        f"\n{len(figures)} intervals and {margins} margins; {sum(kept.guaranteed for kept in figures)} intervals are"
        f" guaranteed.\nMissed once: {sum(len(one.second) for one in studies)}, by chance at most about {once:.1f}."
        f" Missed twice: {len(missed)}, by chance at most about {twice:.2f}; more than {allowed} would be a failure."
    )
    for name, kept in missed:
        told = f"covers {kept.coverage:.4f}" if not kept.covers else ""
        wide = f"margin {kept.margin:.4g} for {kept.promised:.4g}" if not kept.reaches else ""
        print(f"  {name}: {kept.name}: {' and '.join(filter(None, (told, wide)))}, in {kept.runs:,} runs")
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
        for one in pool.map(partial(study, runs=runs), names or FILES):
            print(row(one), flush=True)
            studies.append(one)
    well = judge(studies, runs)
    print(f"{'Kept' if well else 'BROKEN'}, in {time.monotonic() - start:.0f} s.")
    sys.exit(not well)


if __name__ == "__main__":
    main()
