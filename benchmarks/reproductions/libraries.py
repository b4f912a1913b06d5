"""The contestants: Candor, and other libraries with the mechanisms they offer for one of k options.

Each is a function from answers, k and a seed to estimated shares. It imports its library itself, which may be missing.
"""

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.reproductions.devices import unbiased_share
from candor_client import Survey
from candor_client.mechanisms import Subset
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import build, mechanism_choice
from survey_app.estimate.projection import project

EPSILON = 1

Shares = npt.NDArray[np.float64]
Answers = npt.NDArray[np.int64]
Estimator = Callable[[Answers, int, int], Shares]


@dataclass(frozen=True)
class Contestant:
    """One mechanism of one library; `runs` for each k; `coins` are its p and q, where its estimate is unbiased.

    `displayed` makes a second row from the same estimates.
    """

    name: str
    estimate: Estimator
    runs: tuple[int, int, int]
    coins: Callable[[int], tuple[Fraction, Fraction]] | None = None
    displayed: Callable[[Shares], Shares] | None = None


def _grr_coins(k: int) -> tuple[Fraction, Fraction]:
    mechanism = mechanism_choice.make_subset(k, 1, Decimal(EPSILON))
    return mechanism.p, mechanism.q


def _oue_coins(k: int) -> tuple[Fraction, Fraction]:
    return Fraction(1, 2), mechanism_choice.make_flip(Decimal(EPSILON)).q


def _sue_coins(k: int) -> tuple[Fraction, Fraction]:
    mechanism = mechanism_choice.make_flip(Decimal(EPSILON) / 2)
    return mechanism.p, mechanism.q


def _hadamard_coins(k: int) -> tuple[Fraction, Fraction]:
    return mechanism_choice.make_flip(Decimal(EPSILON)).p, Fraction(1, 2)


@cache
def build_survey(k: int) -> Survey:
    """Return a survey with a choice of k options."""
    options = ", ".join(f"o{place}" for place in range(k))
    question = f"{{id: q, type: choice, text: Which?, epsilon: {EPSILON}, options: [{options}]}}"
    return build(f"slug: again\ntitle: Again\nquestions:\n  - {question}\n".encode()).survey


def _mechanism(k: int) -> Subset:
    mechanism = build_survey(k).fields[0].mechanism
    if not isinstance(mechanism, Subset):
        raise TypeError("a choice is randomized by a subset")
    return mechanism


def _candor_coins(k: int) -> tuple[Fraction, Fraction]:
    return _mechanism(k).p, _mechanism(k).q


def candor(answers: Answers, k: int, seed: int) -> Shares:
    """Run a survey on these answers, and return the unbiased shares."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(k, dtype=np.int64)
    for chunk in reports(build_survey(k), {"q": answers}, rng):
        counts += np.unpackbits(chunk, axis=1)[:, :k].sum(axis=0, dtype=np.int64)
    return np.array([unbiased_share(_mechanism(k), counts, len(answers), place) for place in range(k)])


def _multi_freq(protocol: str) -> Estimator:
    def estimate(answers: Answers, k: int, seed: int) -> Shares:
        module = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{protocol}")
        _compile_seeding()(seed)
        np.random.seed(seed)
        client, aggregate = getattr(module, f"{protocol}_Client"), getattr(module, f"{protocol}_Aggregator_MI")
        noisy = [client(answer, k, float(EPSILON)) for answer in answers.tolist()]
        result: Any = aggregate(noisy, float(EPSILON)) if protocol == "UE" else aggregate(noisy, k, float(EPSILON))
        return np.asarray(result, dtype=float)

    return estimate


@cache
def _compile_seeding() -> Callable[[int], None]:
    """Return a function that seeds the generator of compiled code, which only compiled code can reach."""
    import numba

    def seed_generator(seed: int) -> None:
        np.random.seed(seed)

    compiled: Callable[[int], None] = numba.njit(seed_generator)
    return compiled


def _pure(protocol: str) -> Estimator:
    def estimate(answers: Answers, k: int, seed: int) -> Shares:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
        from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
        from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
        from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

        random.seed(seed)
        np.random.seed(seed)
        if protocol == "DE":
            client, server = DEClient(EPSILON, k), DEServer(EPSILON, k)
        elif protocol == "OUE":
            client, server = UEClient(EPSILON, k, use_oue=True), UEServer(EPSILON, k, use_oue=True)
        elif protocol == "OLH":
            client, server = LHClient(EPSILON, k, use_olh=True), LHServer(EPSILON, k, use_olh=True)
        else:
            server = HadamardResponseServer(EPSILON, k)
            client = HadamardResponseClient(EPSILON, k, server.get_hash_funcs())
        for answer in answers.tolist():
            server.aggregate(client.privatise(answer + 1))  # its items begin at 1
        counts: Any = server.estimate_all(range(1, k + 1), suppress_warnings=True)
        return np.asarray(counts, dtype=float) / len(answers)

    return estimate


def _debias(noisy: list[int], k: int) -> Shares:
    """Return unbiased shares from reports of a library that randomizes but does not estimate."""
    counts = np.bincount(noisy, minlength=k)
    mechanism = mechanism_choice.make_subset(k, 1, Decimal(EPSILON))
    return np.array([unbiased_share(mechanism, counts, len(noisy), place) for place in range(k)])


def _opendp(answers: Answers, k: int, seed: int) -> Shares:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.m.make_randomized_response(categories=list(range(k)), prob=float(_grr_coins(k)[0]))
    return _debias([measure(answer) for answer in answers.tolist()], k)


def _opendp_bits(answers: Answers, k: int, seed: int) -> Shares:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    flip_chance = 2 * float(_sue_coins(k)[1])
    measure = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=flip_chance
    )
    rows = [row.tobytes() for row in np.packbits(np.eye(k, dtype=np.uint8), axis=1, bitorder="little")]
    counts: Any = dp.m.debias_randomized_response_bitvec(
        [measure(rows[answer]) for answer in answers.tolist()], flip_chance
    )
    return np.asarray(counts, dtype=float)[:k] / len(answers)


def _diffprivlib(answers: Answers, k: int, seed: int) -> Shares:
    from diffprivlib.mechanisms import Exponential

    # Its exponential mechanism halves ε for a two-sided sensitivity, so 2ε makes it k-ary randomized response at ε.
    state = np.random.RandomState(seed)
    mechanisms = [
        Exponential(epsilon=2 * EPSILON, sensitivity=1.0, utility=row, random_state=state) for row in np.eye(k).tolist()
    ]
    return _debias([int(mechanisms[answer].randomise()) for answer in answers.tolist()], k)


CONTESTANTS = (
    Contestant("**Candor**, subset selection", candor, (100, 40, 12), _candor_coins, project),
    Contestant("multi-freq-ldpy, SS ᶜ", _multi_freq("SS"), (10, 5, 2)),
    Contestant("multi-freq-ldpy, OUE ᶜ", _multi_freq("UE"), (10, 5, 3)),
    Contestant("multi-freq-ldpy, GRR ᶜ", _multi_freq("GRR"), (20, 10, 5)),
    Contestant("multi-freq-ldpy, OLH ᶜ", _multi_freq("LH"), (1, 1, 1)),
    Contestant("pure-ldp, OUE", _pure("OUE"), (2, 1, 1), _oue_coins),
    Contestant("pure-ldp, Hadamard response", _pure("HR"), (5, 3, 1), _hadamard_coins),
    Contestant("pure-ldp, DE", _pure("DE"), (20, 10, 5), _grr_coins),
    Contestant("pure-ldp, OLH", _pure("OLH"), (1, 1, 1)),
    Contestant("OpenDP, bit vector ᵒ", _opendp_bits, (1, 1, 0), _sue_coins),  # at k = 128 it takes most of a minute
    Contestant("OpenDP, randomized response ᵒ ᵈ", _opendp, (1, 1, 1), _grr_coins),
    Contestant("diffprivlib, exponential mechanism ᵈ", _diffprivlib, (2, 1, 1), _grr_coins),
)
