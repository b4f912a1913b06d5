"""Questions for the cases, what is true of the people who answer them, and the names of the intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, multinomial

from benchmarks.coverage.study import APPROXIMATE, Case, Find, Floats, People, Truth, counts_with
from candor_client.definition import Survey
from candor_client.mechanisms import Subset
from survey_app.kinds.assumptions import Indices

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
    """Shares that are hard in different ways: equal, all at one end, nearly so, at both ends."""
    none = [0.0] * (size - 2)
    return [[1 / size] * size, [1, 0, *none], [0.98, *none, 0.02], [0.9, 0.1, *none], [0.5, *none, 0.5]]


def truths_of(size: int, value: Callable[[Sequence[float]], float]) -> list[Truth]:
    """People with these shares, and what is true of them."""
    return [Truth(shape(one), (value(one),), drawn({"a": one})) for one in shapes(size)]


def mean_of(scores: Sequence[float]) -> Callable[[Sequence[float]], float]:
    return lambda shares: float(np.dot(scores, shares))


def binomials(n: int, chance: float) -> Floats:
    found: Floats = binom.pmf(np.arange(n + 1), n, chance)
    return found


def compositions(n: int, size: int) -> Integers:
    """All ways to share n reports among some symbols."""
    if size == 1:
        return np.array([[n]])
    return np.concatenate([np.insert(compositions(n - i, size - 1), 0, i, axis=1) for i in range(n + 1)])


def multinomials(tallies: Integers, made: Subset, shares: Sequence[float]) -> Floats:
    reported = float(made.q) + float(made.p - made.q) * np.array(shares)
    found: Floats = multinomial.pmf(tallies, int(tallies[0].sum()), reported / reported.sum())
    return found


def simplex(size: int, parts: int) -> list[list[float]]:
    return [[count / parts for count in one] for one in compositions(parts, size).tolist()]


def drawn(shares: Mapping[str, Sequence[float]]) -> People:
    """People who answer each question at random, with these shares of its indices."""

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        return {name: rng.choice(len(one), count, p=np.array(one) / math.fsum(one)) for name, one in shares.items()}

    return people


def together(table: Sequence[Sequence[float]]) -> People:
    """People whose answers to a and b go together as in this table of shares."""
    shares = np.array(table)

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        a, b = np.divmod(rng.choice(shares.size, count, p=shares.ravel() / shares.sum()), shares.shape[1])
        return {"a": a, "b": b}

    return people


def shape(shares: Sequence[float]) -> str:
    """Shares in few words."""
    if len(set(shares)) == 1:
        return "equal"
    if len(shares) <= 4:
        return "(" + ", ".join(f"{share:.3g}" for share in shares) + ")"
    return ", ".join(f"{share:.3g} at {place}" for place, share in enumerate(shares) if share)


def exactly(
    pair: str, setting: str, survey: Survey, n: int, find: Find, pq: Shares,
    columns: Mapping[int, Integers], *, method: str = CLOPPER_PEARSON, stated: float = APPROXIMATE, top: float = 1,
) -> Case:  # fmt: skip
    """A case in which one binomial count decides: all its values, at 1001 shares."""
    p, q = map(float, pq)
    truths = [
        Truth(f"{share:.3f}", (top * share,), chances=partial(binomials, n, q + share * (p - q))) for share in SHARES
    ]
    return Case(pair, method, setting, survey, n, find, truths, stated, counts_with(survey.width, columns))


def union(mechanism: Subset, size: int) -> Shares:
    """Of so many symbols together, if a report names one."""
    return mechanism.p + (size - 1) * mechanism.q, size * mechanism.q
