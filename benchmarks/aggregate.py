"""From 10^6 reports of 32 stored bits to 32 estimates: candor beside a byte histogram and the libraries of the field.

The work begins with the reports in each library's own format in memory, and ends with its estimates.
A plain histogram of bytes, which estimates nothing, shows how fast it could be. Rounds alternate; the best counts.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

import numpy as np

from benchmarks.page import Bars
from benchmarks.peers import make_installed
from survey_app.authoring import mechanism_choice
from survey_app.tally import Bits, add_bits

REPORTS, QUICK, WIDTH, EPSILON, ROUNDS = 10**6, 2_000, 32, 1.0, 5
FEW = 20_000  # reports for a library that needs the better part of a minute for all


@dataclass(frozen=True)
class Contestant:
    """A timed function, and the number of reports that it processes."""

    name: str
    reports: int
    work: Callable[[], object]


def candor_contestant(rows: Bits) -> Contestant:
    mechanism = mechanism_choice.choose_subset(WIDTH, Decimal(EPSILON))
    p, q = float(mechanism.p), float(mechanism.q)

    def work() -> object:
        counts = np.zeros(WIDTH, dtype=np.int64)
        add_bits(counts, rows)
        return (counts / len(rows) - q) / (p - q)

    return Contestant("candor", len(rows), work)


def histogram_contestants(rows: Bits) -> list[Contestant]:
    return [
        Contestant(
            "histogram of each byte", len(rows), lambda: [np.bincount(column, minlength=256) for column in rows.T]
        ),
        Contestant("histogram of all bytes", len(rows), lambda: np.bincount(rows.ravel(), minlength=256)),
    ]


def multi_freq_ldpy(rows: Bits) -> Contestant:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI

    reports = list(np.unpackbits(rows, axis=1).astype(float))  # its client makes vectors of floats
    return Contestant("multi-freq-ldpy", len(rows), lambda: UE_Aggregator_MI(reports, EPSILON))


def pure_ldp(rows: Bits) -> Contestant:
    from pure_ldp.frequency_oracles.unary_encoding import UEServer

    reports = list(np.unpackbits(rows, axis=1).astype(float))

    def work() -> object:
        server = UEServer(EPSILON, WIDTH, use_oue=True)
        for report in reports:
            server.aggregate(report)
        return server.estimate_all(range(1, WIDTH + 1), suppress_warnings=True)

    return Contestant("pure-ldp", len(rows), work)


def opendp(rows: Bits) -> Contestant:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    reports = [row.tobytes() for row in rows[:FEW]]
    flip = 2 / (1 + math.exp(EPSILON / 2))
    return Contestant("OpenDP", len(reports), lambda: dp.m.debias_randomized_response_bitvec(reports, flip))


def best_times(contestants: list[Contestant], rounds: int) -> dict[str, float]:
    """Return the shortest time of each contestant in seconds, over alternating rounds."""
    best = {contestant.name: math.inf for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            start = time.perf_counter()
            contestant.work()
            best[contestant.name] = min(best[contestant.name], time.perf_counter() - start)
    return best


def main(quick: bool) -> list[Bars]:
    """Print the table and return its chart."""
    count = QUICK if quick else REPORTS
    print(f"\nAggregation: {count:,} reports of {WIDTH} stored bits, best of {ROUNDS} alternating rounds")
    rows = np.random.default_rng().integers(0, 256, (count, WIDTH // 8), dtype=np.uint8)
    makers = {"multi-freq-ldpy": multi_freq_ldpy, "pure-ldp": pure_ldp, "OpenDP": opendp}
    peer_contestants, absent = make_installed({name: partial(maker, rows) for name, maker in makers.items()})
    contestants = [candor_contestant(rows), *histogram_contestants(rows), *peer_contestants]
    best = best_times(contestants, ROUNDS)
    candor_time = best["candor"]
    total_times = {contestant.name: best[contestant.name] * count / contestant.reports for contestant in contestants}
    for contestant in contestants:
        total_time = total_times[contestant.name]
        note = "" if contestant.reports == count else f"  (measured on {contestant.reports:,}, scaled)"
        ratio = "" if contestant.name == "candor" else f"{total_time / candor_time:10.1f} × candor's time"
        print(f"{contestant.name:24} {1000 * total_time:10,.1f} ms {ratio}{note}")
    for name in ("histogram of each byte", "histogram of all bytes"):
        print(f"candor's time over the {name}: ratio {candor_time / best[name]:.2f} (goal at most 2)")
    print("not compared:", ", ".join(["diffprivlib (has no aggregation)", *absent]))
    values = tuple((name, total_time / candor_time) for name, total_time in total_times.items())
    return [Bars("aggregate", "Time for 32 estimates", "× candor's", values)]
