"""Counts and pair counts of many reports, computed by threads here, or by `spark` on other machines.

Sums of integers do not depend on their order, so every engine gives the same numbers. Only the sums of a row group stay
in memory.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from candor_client.definition import Survey
from survey_app.results.file_faults import FileFault
from survey_app.results.parquet import ParquetError
from survey_app.results.parquet.parquet_reader import ReportFiles, RowGroup, count_ones, pack_batch, read_batches
from survey_app.tally import Counts, Tally, add_bits, add_pairs

MOST_PAIR_BITS = 2048  # bits whose pairs are counted: a square of 32 MB


@dataclass(frozen=True)
class TallyWithPairs:
    """A tally, and optionally for every two bits the number of reports that have a one in both."""

    tally: Tally
    pairs: Counts | None = None

    @classmethod
    def empty(cls, survey: Survey, pairs: bool) -> "TallyWithPairs":
        """Return the counts of no report."""
        square = np.zeros((survey.width, survey.width), dtype=np.int64) if pairs else None
        return cls(Tally.empty(survey), square)

    def __add__(self, other: "TallyWithPairs") -> "TallyWithPairs":
        left, right = self.tally, other.tally
        pairs = None if self.pairs is None or other.pairs is None else self.pairs + other.pairs
        return TallyWithPairs(Tally(left.reports + right.reports, left.counts + right.counts), pairs)


def check_pairs(survey: Survey) -> None:
    """Raise ParquetError if a report has too many bits to count pairs in memory."""
    if survey.width > MOST_PAIR_BITS:
        raise ParquetError(
            FileFault.TOO_MANY_BITS,
            f"a report to {survey.slug} has {survey.width} bits, but pairs are counted only up to {MOST_PAIR_BITS}"
            " bits; use candor crosstab for two questions",
        )


def count_batches(survey: Survey, batches: Iterable[Any], *, pairs: bool = False) -> TallyWithPairs:
    """Count the ones in Arrow batches, and with `pairs` also the pairs of ones."""
    total, reports = TallyWithPairs.empty(survey, pairs), 0
    counts = total.tally.counts
    for batch in batches:
        reports += batch.num_rows
        if total.pairs is None and (column_counts := count_ones(batch, survey)) is not None:
            counts += column_counts
            continue
        rows = pack_batch(batch, survey)
        add_bits(counts, rows)
        if total.pairs is not None:
            add_pairs(total.pairs, rows)
    return TallyWithPairs(Tally(reports, counts), total.pairs)


def count(
    reports: ReportFiles, *, pairs: bool = False, progress: Callable[[int], None] = lambda _: None
) -> TallyWithPairs:
    """Count reports on this machine with a thread for each core; matrix products use threads of their own.

    `progress` is called with the number of reports of each batch.
    """
    survey = reports.survey
    if pairs:
        check_pairs(survey)
    threads = 1 if pairs else min(os.cpu_count() or 1, max(1, len(reports.row_groups)))

    lock = threading.Lock()

    def report_progress(found: Iterable[Any]) -> Iterator[Any]:
        for batch in found:
            yield batch
            with lock:
                progress(batch.num_rows)

    def count_share(parts: tuple[RowGroup, ...]) -> TallyWithPairs:
        return count_batches(survey, report_progress(read_batches(parts, survey)), pairs=pairs)

    with ThreadPoolExecutor(threads) as pool:
        shares = pool.map(count_share, [reports.row_groups[i::threads] for i in range(threads)])
        return sum(shares, start=TallyWithPairs.empty(survey, pairs))
