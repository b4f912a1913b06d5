"""How much privacy a client was *seen* to lose: lower bounds of ε for each field, from what came out.

Two answers give reports; an event E that the one makes likelier than the other refutes every ε below
ln P(E | x)/P(E | x′). The true probabilities are not known, so the one is bounded from below and the other from above
(Clopper and Pearson), each with its part of the error that the audit may make (docs/methods.md §10). Two events
decide, what only x and what only x′ explains; and every stored bit, either way, for clients that leak elsewhere: of
the two, and of every other answer that was tried, against the rest.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from client.definition import Survey
from survey_app.assure.audit.inputs import Inputs
from survey_app.assure.mixtures import Mixture
from survey_app.channels import Channel, channel_of
from survey_app.channels.base import Hits, Indices, Matrix
from survey_app.figures import Floats
from survey_app.tally import Columns

MAIN = 0.7  # of a field's error: for the events that tell its two answers apart best
BITS = 0.15  # for every bit of the two; the rest is for every bit of every answer, against all others
MOST_BITS = 256  # of a field, looked at one by one
NEAR = 0.9  # of the exact ε that a bound is to reach
SURE = 0.995  # how likely it does


class Compared(NamedTuple):
    """How often things happened with x, and with x′."""

    hits: Floats
    n: Floats
    hits_other: Floats
    n_other: Floats

    @property
    def denied(self) -> "Compared":
        """How often they did not."""
        return Compared(self.n - self.hits, self.n, self.n_other - self.hits_other, self.n_other)


def seen_loss(compared: Compared, error: float) -> float:
    """The largest lower bound of |ln P(E | x)/P(E | x′)| over all events; zero if nothing is known.

    It is too high with probability `error` at the most, over all of them together.
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
    """Clopper and Pearson's lower limit of a probability."""
    found: Floats = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, error), 0.0)
    return found


def upper(hits: Floats, n: Floats, error: float) -> Floats:
    """Their upper limit."""
    found: Floats = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - error), 1.0)
    return found


def telling(channel: Channel, symbols: tuple[int, int], rows: Matrix) -> tuple[Hits, Hits]:
    """Which reports only the first symbol explains without noise, and which only the second."""
    one, other = (channel.truthful(rows, symbol) for symbol in symbols)
    return one & ~other, other & ~one


def lower_bound(given: Inputs, index: int, at: Columns, reports: Sequence[Matrix], error: float) -> float:
    """The largest ε that the reports refute: those of devices that were asked this field, a matrix for each input."""
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
    """Which bits are looked at one by one: all, or of very many those of the answers given and some by chance."""
    if width <= MOST_BITS:
        return np.arange(width)
    given = [symbol for mixture in mixtures for symbol, _ in mixture if symbol < width]
    return np.unique([*given, *np.random.default_rng().choice(width, MOST_BITS, replace=False)])


def _against_rest(mixtures: Sequence[Mixture], n: Floats, ones: Floats) -> Compared:
    """For each answer to a field every bit, against that of all other answers together.

    An average of the others' chances is no further away than the furthest of them; and a count whose chances differ
    from report to report strays less far than a binomial one of the same mean (Hoeffding 1956).
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
    """How many devices that were asked, for each answer, let the bound reach `NEAR` of the exact ε (§10)."""
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
    """How many reports for each answer, so many that a field is asked often enough."""
    return math.ceil(reports_needed(at, symbols, error) / float(survey.part(at.field)))
