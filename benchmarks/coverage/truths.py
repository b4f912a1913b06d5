"""Questions for the cases, and what is true of the people who answer them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, multinomial

from benchmarks.coverage.study import Floats, People, Truth
from client.mechanism import Subset
from survey_app.plan.people import Indices

Integers = npt.NDArray[np.int64]


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
