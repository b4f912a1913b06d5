"""Reports a second at ε = ln 3: this client next to other libraries, on the same work, in one run.

The work is the randomization of one answer of one respondent: binary, one of 8, one of 32.
A peer is secure if it draws from the operating system or a cryptographic generator; the others are for comparison.
Rounds of all contestants alternate, so that other load affects all alike; the best round of each counts.
"""

import math
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from secrets import token_bytes

from benchmarks.page import Bars
from benchmarks.peers import make_installed
from candor_client import Survey, randomize
from survey_app.authoring import build, mechanism_choice

EPSILON = math.log(3)
ROUNDS, SECONDS, QUICK = 5, 0.15, 0.002

Contestant = tuple[str, bool, Callable[[], object]]


def build_survey(size: int) -> tuple[Survey, dict[str, str]]:
    options = ", ".join(f"o{i}" for i in range(size))
    kind = "type: yes_no, design: coin" if size == 2 else f"type: choice, epsilon: {EPSILON}, options: [{options}]"
    source = f"slug: bench\ntitle: Bench\nquestions:\n  - {{id: q, text: Which?, {kind}}}\n"
    return build(source.encode()).survey, {"q": "yes" if size == 2 else "o1"}


def candor_contestants(size: int) -> list[Contestant]:
    mechanism = (
        mechanism_choice.make_flip(Decimal(EPSILON))
        if size == 2
        else mechanism_choice.choose_subset(size, Decimal(EPSILON))
    )
    definition, answers = build_survey(size)
    return [
        ("candor, mechanism", True, lambda: mechanism.randomize(1, token_bytes)),
        ("candor, whole report", True, lambda: randomize(definition, answers)),
    ]


def opendp(size: int) -> list[Contestant]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    if size == 2:
        measure = dp.m.make_randomized_response_bool(prob=0.75)
        return [("OpenDP", True, lambda: measure(True))]
    probability = 3 / (3 + size - 1)
    many = dp.m.make_randomized_response(categories=list(range(size)), prob=probability)
    return [("OpenDP", True, lambda: many(1))]


def diffprivlib(size: int) -> list[Contestant]:
    from diffprivlib.mechanisms import Binary, Exponential

    if size == 2:
        binary = Binary(epsilon=EPSILON, value0="no", value1="yes")
        return [("diffprivlib", True, lambda: binary.randomise("yes"))]
    utility = [0.0] * size
    utility[1] = 1.0
    # Its exponential mechanism halves ε for a two-sided sensitivity, so 2ε makes it k-ary randomized response at ε.
    exponential = Exponential(epsilon=2 * EPSILON, sensitivity=1.0, utility=utility)
    return [("diffprivlib", True, exponential.randomise)]


def multi_freq_ldpy(size: int) -> list[Contestant]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return [("multi-freq-ldpy", False, lambda: GRR_Client(1, size, EPSILON))]


def pure_ldp(size: int) -> list[Contestant]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(EPSILON, size)
    return [("pure-ldp", False, lambda: client.privatise(1))]


def measure_rate(work: Callable[[], object], seconds: float) -> float:
    """Return the calls a second over one short round of at least `seconds`."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(20):
            work()
        count += 20
    return count / elapsed


PEERS = {"OpenDP": opendp, "diffprivlib": diffprivlib, "multi-freq-ldpy": multi_freq_ldpy, "pure-ldp": pure_ldp}


def main(quick: bool) -> list[Bars]:
    """Print the table and return its charts."""
    print("\nRandomization: reports a second at ε = ln 3, best of", ROUNDS, "alternating rounds")
    charts = []
    for size in (2, 8, 32):
        task = "binary" if size == 2 else f"one of {size}"
        peer_contestants, absent = make_installed({name: partial(maker, size) for name, maker in PEERS.items()})
        contestants = [contestant for group in (candor_contestants(size), *peer_contestants) for contestant in group]
        best = {name: 0.0 for name, _, _ in contestants}
        for _ in range(ROUNDS):
            for name, _, work in contestants:
                best[name] = max(best[name], measure_rate(work, QUICK if quick else SECONDS))
        candor_rate = best["candor, mechanism"]
        print(f"\n{task:26} {'reports/s':>10}  candor's ratio")
        values = []
        for name, secure, _ in contestants:
            label = name + ("" if secure else " (insecure)")
            values.append((label, best[name] / candor_rate))
            ratio = "" if name.startswith("candor") else f"{candor_rate / best[name]:10.2f} ×"
            print(f"{label:26} {best[name]:10,.0f}  {ratio}")
        charts.append(Bars(f"randomize-{size}", f"Reports a second, {task}", "× candor's mechanism", tuple(values)))
    if absent:
        print("not compared:", ", ".join(absent))
    return charts
