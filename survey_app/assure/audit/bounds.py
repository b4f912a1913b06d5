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

MAIN_EVENT_SHARE = 0.7  # of a field's error: for the events that separate its two answers best
PAIR_BITS_SHARE = 0.15  # for every bit of the two answers; the rest is for every bit of every answer against all others
MOST_BITS = 256  # of a field, tested one by one
TARGET_SHARE = 0.9  # the share of the exact ε that a bound should reach
TARGET_POWER = 0.995  # the probability that a bound reaches that share


class EventCounts(NamedTuple):
    """How often events happened under x and under x′."""

    hits: Floats
    n: Floats
    hits_other: Floats
    n_other: Floats

    @property
    def complements(self) -> "EventCounts":
        """The counts of the complementary events."""
        return EventCounts(self.n - self.hits, self.n, self.n_other - self.hits_other, self.n_other)


def observed_loss(compared: EventCounts, error: float) -> float:
    """Return the largest lower bound of |ln P(E | x)/P(E | x′)| over all events; zero if there is no evidence.

    It is too high with probability `error` at most, over all events together.
    """
    hits, n, hits_other, n_other = (np.atleast_1d(np.asarray(values, dtype=float)) for values in compared)
    part = error / (4 * len(hits)) if len(hits) else error  # two directions, two limits each
    losses = [_losses(hits, n, hits_other, n_other, part), _losses(hits_other, n_other, hits, n, part)]
    return max(float(bounds.max(initial=0.0)) for bounds in losses)


def _losses(hits: Floats, n: Floats, hits_other: Floats, n_other: Floats, part: float) -> Floats:
    low, high = lower(hits, n, part), upper(hits_other, n_other, part)
    losses: Floats = np.log(np.where(low > 0, low / high, 1.0))
    return losses


def lower(hits: Floats, n: Floats, error: float) -> Floats:
    """Return Clopper and Pearson's lower limit of a probability."""
    limits: Floats = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, error), 0.0)
    return limits


def upper(hits: Floats, n: Floats, error: float) -> Floats:
    """Return Clopper and Pearson's upper limit of a probability."""
    limits: Floats = np.where(hits < n, betaincinv(hits + 1, np.maximum(n - hits, 1), 1 - error), 1.0)
    return limits


def distinguishing_reports(channel: Channel, symbols: tuple[int, int], rows: Matrix) -> tuple[Hits, Hits]:
    """Return which reports only the first symbol explains without noise, and which only the second explains."""
    first, second = (channel.match_symbol(rows, symbol) for symbol in symbols)
    return first & ~second, second & ~first


def lower_bound(inputs: Inputs, index: int, at: Columns, reports: Sequence[Matrix], error: float) -> float:
    """Return the largest ε of a field that the reports refute.

    `reports` has a matrix of bits for each input. Only reports of devices that were asked this field are used.
    """
    rows_by_input = [
        rows[:, at.bit_slice] if at.asked_column is None else rows[rows[:, at.asked_column] == 1, at.bit_slice]
        for rows in reports
    ]
    n = np.array([float(len(rows)) for rows in rows_by_input])
    tested = _select_bits(at.field.mechanism.width, [mixtures[index] for mixtures in inputs.mixtures])
    ones = np.array([rows[:, tested].sum(axis=0, dtype=float) for rows in rows_by_input])
    first, second = inputs.pairs[index]
    losses = [0.0]
    if n[first] and n[second]:
        events = [
            distinguishing_reports(channel_of(at.field.mechanism), inputs.symbols(index), rows_by_input[number])
            for number in (first, second)
        ]
        hits, hits_other = (np.array([float(rows.sum()) for rows in pair]) for pair in events)
        pair_of_ones = np.ones(2)
        losses.append(
            observed_loss(
                EventCounts(hits, n[first] * pair_of_ones, hits_other, n[second] * pair_of_ones),
                MAIN_EVENT_SHARE * error,
            )
        )
        bit_ones = np.ones(ones.shape[1])
        bit_counts = EventCounts(ones[first], n[first] * bit_ones, ones[second], n[second] * bit_ones)
        losses += [
            observed_loss(counts, PAIR_BITS_SHARE * error / 2) for counts in (bit_counts, bit_counts.complements)
        ]
    rest = _bit_counts_against_rest([mixtures[index] for mixtures in inputs.mixtures], n, ones)
    losses += [
        observed_loss(counts, (1 - MAIN_EVENT_SHARE - PAIR_BITS_SHARE) * error / 2)
        for counts in (rest, rest.complements)
    ]
    return max(losses)


def _select_bits(width: int, mixtures: Sequence[Mixture]) -> Indices:
    """Return the bits of a field that are tested one by one.

    These are all bits, or in a very wide field the bits of the given answers and a random sample.
    """
    if width <= MOST_BITS:
        return np.arange(width)
    answer_symbols = [symbol for mixture in mixtures for symbol, _ in mixture if symbol < width]
    return np.unique([*answer_symbols, *np.random.default_rng().choice(width, MOST_BITS, replace=False)])


def _bit_counts_against_rest(mixtures: Sequence[Mixture], n: Floats, ones: Floats) -> EventCounts:
    """Return the counts of every bit, for each answer to a field against all other answers together.

    The average chance of the others is no further away than the furthest of them.
    A count whose chances differ between reports varies less than a binomial count of the same mean (Hoeffding 1956).
    """
    rows = []
    for mixture in dict.fromkeys(mixtures):
        is_current = np.array([other == mixture for other in mixtures])
        if n[is_current].sum() and n[~is_current].sum():
            bit_ones = np.ones(ones.shape[1])
            rows.append(
                (
                    ones[is_current].sum(axis=0),
                    n[is_current].sum() * bit_ones,
                    ones[~is_current].sum(axis=0),
                    n[~is_current].sum() * bit_ones,
                )
            )
    columns = zip(*rows, strict=True) if rows else [[np.zeros(0)]] * 4
    return EventCounts(*(np.concatenate(list(column)) for column in columns))


def min_asked_devices(at: Columns, symbols: tuple[int, int], error: float) -> int:
    """Return how many asked devices, for each answer, let the bound reach `TARGET_SHARE` of the exact ε (§10)."""
    channel, (first, second) = channel_of(at.field.mechanism), symbols
    z, z_power = -float(ndtri(MAIN_EVENT_SHARE * error / 8)), float(ndtri(TARGET_POWER))
    exact = float(at.field.mechanism.epsilon)
    counts = []
    for p, q in (channel.distinction_chances(first, second), channel.distinction_chances(second, first)):
        margin = math.log(p / q) - TARGET_SHARE * exact
        if margin > 0:
            a, b = math.sqrt((1 - p) / p), math.sqrt((1 - q) / q)
            counts.append(((z * (a + b) + z_power * math.hypot(a, b)) / margin) ** 2)
    return math.ceil(min(counts, default=0.0))


def min_reports(survey: Survey, at: Columns, symbols: tuple[int, int], error: float) -> int:
    """Return how many reports, for each answer, let a field be asked often enough."""
    return math.ceil(min_asked_devices(at, symbols, error) / float(survey.answer_probability(at.field)))
