"""How much privacy a client was *seen* to lose: lower bounds of ε for each field, from what came out.

Two answers give reports; an event E that the one makes likelier than the other refutes every ε below
ln P(E | x)/P(E | x′). The true probabilities are not known, so the one is bounded from below and the other from above
(Clopper and Pearson), each with its part of the error that the audit may make (docs/methods.md §10). Two events
decide, what only x and what only x′ explains; and every stored bit, either way, for clients that leak elsewhere.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from client.definition import Survey
from client.mechanism import Drawn, Flip, Geometric
from survey_app.assure.audit.reading import Matrix
from survey_app.tally import Columns

MAIN = 0.7  # of a field's error: for the events that tell its answers apart best
NEAR = 0.9  # of the exact ε that a bound is to reach
SURE = 0.995  # how likely it does

Hits = npt.NDArray[np.bool_]


class Compared(NamedTuple):
    """How often something happened with x, and with x′."""

    hits: int
    n: int
    hits_other: int
    n_other: int


def seen_loss(compared: Compared, error: float) -> float:
    """A lower bound of |ln P(E | x)/P(E | x′)|, too high with probability `error` at the most; zero if unknown."""
    hits, n, others, n_other = compared
    part = error / 4  # two directions, two limits each
    return max(_loss(hits, n, others, n_other, part), _loss(others, n_other, hits, n, part), 0.0)


def _loss(hits: int, n: int, others: int, n_other: int, part: float) -> float:
    low, high = lower(hits, n, part), upper(others, n_other, part)
    return math.log(low / high) if low > 0 and high > 0 else -math.inf


def lower(hits: int, n: int, error: float) -> float:
    """Clopper and Pearson's lower limit of a probability."""
    return float(betaincinv(hits, n - hits + 1, error)) if hits else 0.0


def upper(hits: int, n: int, error: float) -> float:
    """Their upper limit."""
    return float(betaincinv(hits + 1, n - hits, 1 - error)) if hits < n else 1.0


def telling(at: Columns, symbols: tuple[int, int], bits: Matrix) -> tuple[Hits, Hits]:
    """Which reports only the first symbol explains without noise, and which only the second."""
    mechanism, own = at.field.mechanism, bits[:, at.part]
    first, second = symbols
    if isinstance(mechanism, Flip):
        said = own[:, 0] == 1
        return (~said, said) if first < second else (said, ~said)
    if isinstance(mechanism, Drawn):
        no, yes = own[:, 0::2] == 1, own[:, 1::2] == 1
        masks = [np.array([mask >> option & 1 for option in range(mechanism.size)], dtype=bool) for mask in symbols]
        fits = [~((no & mask) | (yes & ~mask)).any(axis=1) for mask in masks]
        return fits[0] & ~fits[1], fits[1] & ~fits[0]
    one, other = own[:, first] == 1, own[:, second] == 1
    return one & ~other, other & ~one


def lower_bound(at: Columns, symbols: tuple[int, int], reports: tuple[Matrix, Matrix], error: float) -> float:
    """The largest ε that the reports of two answers refute: those of devices that were asked this field."""
    asked = [one if at.asked is None else one[one[:, at.asked] == 1] for one in reports]
    n, n_other = len(asked[0]), len(asked[1])
    if not n or not n_other:
        return 0.0
    events = [telling(at, symbols, one) for one in asked]
    main = [
        Compared(int(one.sum()), n, int(other.sum()), n_other) for one, other in zip(events[0], events[1], strict=True)
    ]
    sums = [one[:, at.part].sum(axis=0) for one in asked]
    every = [Compared(int(one), n, int(other), n_other) for one, other in zip(sums[0], sums[1], strict=True)]
    every += [Compared(n - one.hits, n, n_other - one.hits_other, n_other) for one in every]
    losses = [seen_loss(one, MAIN * error / len(main)) for one in main]
    losses += [seen_loss(one, (1 - MAIN) * error / len(every)) for one in every]
    return max(losses)


def chances(at: Columns, symbols: tuple[int, int]) -> Iterator[tuple[float, float]]:
    """For each telling event its probability with the answer that explains it, and with the other."""
    mechanism = at.field.mechanism
    if isinstance(mechanism, Flip):
        p, q = float(mechanism.p), float(mechanism.q)
        yield p, q
        yield 1 - q, 1 - p
    elif isinstance(mechanism, Geometric):
        end = mechanism.tails[0] / 2**64
        yield 1 - end, mechanism.tails[-1] / 2**64
    else:
        odds = float(mechanism.odds)
        if isinstance(mechanism, Drawn):
            p = mechanism.keep / 2**64 * _told_apart(mechanism, symbols)
        else:
            p = float(mechanism.p) * (mechanism.size - mechanism.weight) / (mechanism.size - 1)
        yield p, p / odds


def _told_apart(mechanism: Drawn, symbols: tuple[int, int]) -> float:
    """How likely the drawn options tell two sets apart."""
    same = mechanism.size - (symbols[0] ^ symbols[1]).bit_count()
    return 1 - math.comb(same, mechanism.draw) / math.comb(mechanism.size, mechanism.draw)


def reports_needed(at: Columns, symbols: tuple[int, int], error: float) -> int:
    """How many devices that were asked, for each answer, let the bound reach `NEAR` of the exact ε (§10)."""
    z, sure = -float(ndtri(MAIN * error / 8)), float(ndtri(SURE))
    exact = float(at.field.mechanism.epsilon)
    found = []
    for p, q in chances(at, symbols):
        room = math.log(p / q) - NEAR * exact
        if room > 0:
            a, b = math.sqrt((1 - p) / p), math.sqrt((1 - q) / q)
            found.append(((z * (a + b) + sure * math.hypot(a, b)) / room) ** 2)
    return math.ceil(min(found, default=0.0))


def needed(survey: Survey, at: Columns, symbols: tuple[int, int], error: float) -> int:
    """How many reports for each answer, so many that a field is asked often enough."""
    return math.ceil(reports_needed(at, symbols, error) / float(survey.part(at.field)))
