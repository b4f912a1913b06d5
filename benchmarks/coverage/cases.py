"""The cases of the coverage table, in its order.

A new interval needs a finder in `finders.py`, a function that yields its cases in one of the modules of this package,
and a line in MAKERS.
"""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage import blocks, groups, pairs, single
from benchmarks.coverage.study import Case, Outcome, measure

MAKERS: tuple[Callable[[], Iterator[Case]], ...] = (
    single.flips, single.options, single.single_unions, single.two_levels, single.single_means, single.means_and_unions,
    blocks.partly_asked_figures, blocks.means, blocks.answers_after_a_filter, single.laplace, single.answers,
    single.medians,
    pairs.ordinary_tables, pairs.two_options, pairs.strong_association, pairs.independence_tests,
    groups.many_groups, groups.two_groups,
)  # fmt: skip
CASES = [case for maker in MAKERS for case in maker()]


def run(place: int, runs: int) -> list[Outcome]:
    """Measure the case at this place of CASES, in its own process."""
    return measure(CASES[place], runs, np.random.default_rng())
