"""Questions for the cases, people with known true values, and the names of the intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, multinomial

from benchmarks.coverage.study import APPROXIMATE, Case, Find, Floats, People, PopulationTruth, make_tallies
from candor_client.definition import Survey
from candor_client.mechanisms import Subset
from survey_app.kinds.planning_assumptions import Indices

Integers = npt.NDArray[np.int64]
Shares = tuple[Fraction, Fraction]  # P and Q of a count: how often it counts who is meant, and who is not
SHARES = [i / 1000 for i in range(1001)]
CLOPPER_PEARSON, WILSON, SAMPLE = "guarded Clopper–Pearson", "guarded Wilson (on request)", "quadratic, corrected"
DIRICHLET, KORN_GRAUBARD, FIELLER = "Dirichlet–Clopper–Pearson", "Korn–Graubard", "Fieller"
SCORE, MOVER = "score", "MOVER"


def yes_no(name: str = "a") -> dict[str, Any]:
    return {"id": name, "type": "yes_no"}


def choice(options: int, **more: Any) -> dict[str, Any]:
    return {"id": "a", "type": "choice", "options": [f"o{i}" for i in range(options)], **more}


def scale(points: int, name: str = "a", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "scale", "points": [f"p{i}" for i in range(points)], **more}


def number(levels: int, top: int) -> dict[str, Any]:
    return {"id": "a", "type": "number", "min": 0, "max": top, "step": 1, "levels": levels}


def shapes(size: int) -> list[list[float]]:
    """Return shares that are difficult in different ways: equal, all at one end, almost so, at both ends."""
    zeros = [0.0] * (size - 2)
    return [[1 / size] * size, [1, 0, *zeros], [0.98, *zeros, 0.02], [0.9, 0.1, *zeros], [0.5, *zeros, 0.5]]


def truths_of(size: int, value: Callable[[Sequence[float]], float]) -> list[PopulationTruth]:
    """Return truths of people with these shares, with their true values."""
    return [
        PopulationTruth(describe_shares(shares), (value(shares),), draw_independently({"a": shares}))
        for shares in shapes(size)
    ]


def mean_of(scores: Sequence[float]) -> Callable[[Sequence[float]], float]:
    return lambda shares: float(np.dot(scores, shares))


def binomials(n: int, chance: float) -> Floats:
    chances: Floats = binom.pmf(np.arange(n + 1), n, chance)
    return chances


def compositions(n: int, size: int) -> Integers:
    """Return all ways to distribute n reports among `size` symbols."""
    if size == 1:
        return np.array([[n]])
    return np.concatenate([np.insert(compositions(n - i, size - 1), 0, i, axis=1) for i in range(n + 1)])


def multinomials(tallies: Integers, mechanism: Subset, shares: Sequence[float]) -> Floats:
    reported = float(mechanism.q) + float(mechanism.p - mechanism.q) * np.array(shares)
    chances: Floats = multinomial.pmf(tallies, int(tallies[0].sum()), reported / reported.sum())
    return chances


def simplex(size: int, parts: int) -> list[list[float]]:
    return [[count / parts for count in composition] for composition in compositions(parts, size).tolist()]


def draw_independently(shares: Mapping[str, Sequence[float]]) -> People:
    """Return people who answer each question at random, with these shares of its indices."""

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        return {
            name: rng.choice(len(weights), count, p=np.array(weights) / math.fsum(weights))
            for name, weights in shares.items()
        }

    return people


def draw_jointly(table: Sequence[Sequence[float]]) -> People:
    """Return people whose answers to a and b have the joint shares of this table."""
    shares = np.array(table)

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        a, b = np.divmod(rng.choice(shares.size, count, p=shares.ravel() / shares.sum()), shares.shape[1])
        return {"a": a, "b": b}

    return people


def describe_shares(shares: Sequence[float]) -> str:
    """Return a short description of shares."""
    if len(set(shares)) == 1:
        return "equal"
    if len(shares) <= 4:
        return "(" + ", ".join(f"{share:.3g}" for share in shares) + ")"
    return ", ".join(f"{share:.3g} at {place}" for place, share in enumerate(shares) if share)


def enumerated_case(
    pair: str, setting: str, survey: Survey, n: int, find: Find, pq: Shares,
    columns: Mapping[int, Integers], *, method: str = CLOPPER_PEARSON, stated: float = APPROXIMATE, top: float = 1,
) -> Case:  # fmt: skip
    """Return a case in which one binomial count decides: all its values, at 1001 shares."""
    p, q = map(float, pq)
    truths = [
        PopulationTruth(f"{share:.3f}", (top * share,), chances=partial(binomials, n, q + share * (p - q)))
        for share in SHARES
    ]
    return Case(pair, method, setting, survey, n, find, truths, stated, make_tallies(survey.width, columns))


def union_chances(mechanism: Subset, size: int) -> Shares:
    """Return P and Q of a union of `size` symbols, if a report names one."""
    return mechanism.p + (size - 1) * mechanism.q, size * mechanism.q
