"""Counts and pair counts of many reports: one kernel, run here by threads and by `spark` on other machines.

Sums of integers do not depend on who adds them up in which order, so every engine gives the same numbers. Of each row
group only its sums are kept.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from candor_client.definition import Survey
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_reader import Part, Reports, batches, ones, packed
from survey_app.tally import Counts, Tally, add_bits, add_pairs

MOST_PAIRED = 2048  # bits whose pairs are counted: a square of 32 MB


@dataclass(frozen=True)
class Counted:
    """A tally; and where they were wanted, for every two bits how many reports have a one in both."""

    tally: Tally
    pairs: Counts | None = None

    @classmethod
    def empty(cls, survey: Survey, pairs: bool) -> "Counted":
        """Of no report."""
        square = np.zeros((survey.width, survey.width), dtype=np.int64) if pairs else None
        return cls(Tally.empty(survey), square)

    def __add__(self, other: "Counted") -> "Counted":
        mine, theirs = self.tally, other.tally
        pairs = None if self.pairs is None or other.pairs is None else self.pairs + other.pairs
        return Counted(Tally(mine.reports + theirs.reports, mine.counts + theirs.counts), pairs)


def check_pairs(survey: Survey) -> None:
    """Refuse more pairs than can be held."""
    if survey.width > MOST_PAIRED:
        raise ParquetError(
            f"a report to {survey.slug} has {survey.width} bits, and pairs are counted of at most {MOST_PAIRED}; "
            "candor crosstab takes two questions"
        )


def kernel(survey: Survey, found: Iterable[Any], *, pairs: bool = False) -> Counted:
    """What batches of Arrow hold, counted."""
    total, reports = Counted.empty(survey, pairs), 0
    counts = total.tally.counts
    for batch in found:
        reports += batch.num_rows
        if total.pairs is None and (known := ones(batch, survey)) is not None:
            counts += known
            continue
        rows = packed(batch, survey)
        add_bits(counts, rows)
        if total.pairs is not None:
            add_pairs(total.pairs, rows)
    return Counted(Tally(reports, counts), total.pairs)


def count(reports: Reports, *, pairs: bool = False, progress: Callable[[int], None] = lambda _: None) -> Counted:
    """On this machine, a thread for each core; pairs are products of matrices, which bring their own threads."""
    survey = reports.survey
    if pairs:
        check_pairs(survey)
    threads = 1 if pairs else min(os.cpu_count() or 1, max(1, len(reports.parts)))

    turn = threading.Lock()

    def watched(found: Iterable[Any]) -> Iterator[Any]:
        for batch in found:
            yield batch
            with turn:
                progress(batch.num_rows)

    def share(parts: tuple[Part, ...]) -> Counted:
        return kernel(survey, watched(batches(parts, survey)), pairs=pairs)

    with ThreadPoolExecutor(threads) as pool:
        shares = pool.map(share, [reports.parts[i::threads] for i in range(threads)])
        return sum(shares, start=Counted.empty(survey, pairs))
