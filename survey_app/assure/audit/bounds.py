"""The *observed* privacy loss of a client: lower bounds of ε for each field, from its reports.

Let x and x′ be two answers. An event E that is likelier under x refutes every ε below ln P(E | x)/P(E | x′).
The true probabilities are unknown, so the first is bounded from below and the second from above (Clopper and Pearson).
Each bound gets its part of the error that the audit may make (docs/methods.md §10).
Two main events are tested: reports that only x explains, and reports that only x′ explains.
Every stored bit and its complement is tested too, for clients that leak elsewhere.
The bits are compared between the two answers, and between every other tried answer and the rest.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from candor_client.definition import Survey
from survey_app.assure.answer_mixtures import Mixture
from survey_app.assure.audit.inputs import Inputs
from survey_app.channels import Channel, channel_of
from survey_app.channels.channel import Hits, Indices, Matrix
from survey_app.figures import Floats
from survey_app.tally import Columns

MAIN = 0.7  # of a field's error: for the events that separate its two answers best
BITS = 0.15  # for every bit of the two answers; the rest is for every bit of every answer against all others
MOST_BITS = 256  # of a field, tested one by one
NEAR = 0.9  # the share of the exact ε that a bound should reach
SURE = 0.995  # the probability that a bound reaches that share


class Compared(NamedTuple):
    """How often events happened under x and under x′."""

    hits: Floats
    n: Floats
    hits_other: Floats
    n_other: Floats

    @property
    def denied(self) -> "Compared":
        """The counts of the complementary events."""
        return Compared(self.n - self.hits, self.n, self.n_other - self.hits_other, self.n_other)


def seen_loss(compared: Compared, error: float) -> float:
    """Return the largest lower bound of |ln P(E | x)/P(E | x′)| over all events; zero if there is no evidence.

    It is too high with probability `error` at most, over all events together.
    """
    hits, n, others, n_other = (np.atleast_1d(np.asarray(one, dtype=float)) for one in compared)
    part = error / (4 * len(hits)) if len(hits) else error  # two directions, two limits each
    losses = [_losses(hits, n, others, n_other, part), _losses(others, n_other, hits, n, part)]
    return max(float(one.max(initial=0.0)) for one in losses)


def _losses(hits: Floats, n: Floats, others: Floats, n_other: Floats, part: float) -> Floats:
    low, high = lower(hits, n, part), upper(others, n_other, part)
    found: Floats = np.log(np.where(low > 0, low / high, 1.0))
    return found


def lower(hits: Floats, n: Floats, error: float) -> Floats:
    """Return Clopper and Pearson's lower limit of a probability."""
    found: Floats = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, error), 0.0)
    return found


def upper(hits: Floats, n: Floats, error: float) -> Floats:
    """Return Clopper and Pearson's upper limit of a probability."""
    found: Floats = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - error), 1.0)
    return found


def telling(channel: Channel, symbols: tuple[int, int], rows: Matrix) -> tuple[Hits, Hits]:
    """Return which reports only the first symbol explains without noise, and which only the second explains."""
    one, other = (channel.truthful(rows, symbol) for symbol in symbols)
    return one & ~other, other & ~one


def lower_bound(given: Inputs, index: int, at: Columns, reports: Sequence[Matrix], error: float) -> float:
    """Return the largest ε of a field that the reports refute.

    `reports` has a matrix of bits for each input. Only reports of devices that were asked this field are used.
    """
    asked = [one[:, at.part] if at.asked is None else one[one[:, at.asked] == 1, at.part] for one in reports]
    n = np.array([float(len(one)) for one in asked])
    places = _looked_at(at.field.mechanism.width, [mixtures[index] for mixtures in given.mixtures])
    ones = np.array([one[:, places].sum(axis=0, dtype=float) for one in asked])
    first, second = given.pairs[index]
    losses = [0.0]
    if n[first] and n[second]:
        events = [telling(channel_of(at.field.mechanism), given.symbols(index), asked[one]) for one in (first, second)]
        hits, others = (np.array([float(one.sum()) for one in mine]) for mine in events)
        two = np.ones(2)
        losses.append(seen_loss(Compared(hits, n[first] * two, others, n[second] * two), MAIN * error))
        wide = np.ones(ones.shape[1])
        every = Compared(ones[first], n[first] * wide, ones[second], n[second] * wide)
        losses += [seen_loss(one, BITS * error / 2) for one in (every, every.denied)]
    rest = _against_rest([mixtures[index] for mixtures in given.mixtures], n, ones)
    losses += [seen_loss(one, (1 - MAIN - BITS) * error / 2) for one in (rest, rest.denied)]
    return max(losses)


def _looked_at(width: int, mixtures: Sequence[Mixture]) -> Indices:
    """Return the bits of a field that are tested one by one.

    These are all bits, or in a very wide field the bits of the given answers and a random sample.
    """
    if width <= MOST_BITS:
        return np.arange(width)
    given = [symbol for mixture in mixtures for symbol, _ in mixture if symbol < width]
    return np.unique([*given, *np.random.default_rng().choice(width, MOST_BITS, replace=False)])


def _against_rest(mixtures: Sequence[Mixture], n: Floats, ones: Floats) -> Compared:
    """Return the counts of every bit, for each answer to a field against all other answers together.

    The average chance of the others is no further away than the furthest of them.
    A count whose chances differ between reports varies less than a binomial count of the same mean (Hoeffding 1956).
    """
    found = []
    for mixture in dict.fromkeys(mixtures):
        mine = np.array([one == mixture for one in mixtures])
        if n[mine].sum() and n[~mine].sum():
            wide = np.ones(ones.shape[1])
            found.append((ones[mine].sum(axis=0), n[mine].sum() * wide, ones[~mine].sum(axis=0), n[~mine].sum() * wide))
    columns = zip(*found, strict=True) if found else [[np.zeros(0)]] * 4
    return Compared(*(np.concatenate(list(one)) for one in columns))


def reports_needed(at: Columns, symbols: tuple[int, int], error: float) -> int:
    """Return how many asked devices, for each answer, let the bound reach `TARGET_SHARE` of the exact ε (§10)."""
    channel, (first, second) = channel_of(at.field.mechanism), symbols
    z, sure = -float(ndtri(MAIN * error / 8)), float(ndtri(SURE))
    exact = float(at.field.mechanism.epsilon)
    found = []
    for p, q in (channel.telling_chances(first, second), channel.telling_chances(second, first)):
        room = math.log(p / q) - NEAR * exact
        if room > 0:
            a, b = math.sqrt((1 - p) / p), math.sqrt((1 - q) / q)
            found.append(((z * (a + b) + sure * math.hypot(a, b)) / room) ** 2)
    return math.ceil(min(found, default=0.0))


def needed(survey: Survey, at: Columns, symbols: tuple[int, int], error: float) -> int:
    """Return how many reports, for each answer, let a field be asked often enough."""
    return math.ceil(reports_needed(at, symbols, error) / float(survey.part(at.field)))
