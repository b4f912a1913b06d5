"""Estimates of a mechanism alone, without a question."""

from collections.abc import Sequence

import numpy as np

from candor_client.mechanisms import Mechanism
from survey_app.channels import channel_of
from survey_app.channels.observations import Counts
from survey_app.estimate.intervals import Interval, Limits, Options
from survey_app.estimate.observation_intervals import compute_limits
from survey_app.figures import Figure, FigureKind, Sum, make_share

PLAIN = Options()


def limits(mechanism: Mechanism, counts: Counts, n: int, figure: Figure) -> Limits:
    """Return the limits of a figure over symbols."""
    seen = channel_of(mechanism).observe(counts, n, figure)
    assert seen is not None
    return compute_limits(seen, figure, PLAIN, complete=True)


def raw_mean(mechanism: Mechanism, counts: Counts, n: int, scores: Sequence[float]) -> Interval:
    """Return the interval of a mean score, not yet cut to its possible range."""
    values = np.array(scores, dtype=float)
    figure = Figure(name="mean", kind=FigureKind.MEAN, sum=Sum(values), low=min(scores), high=max(scores))
    return limits(mechanism, counts, n, figure).raw


def union(mechanism: Mechanism, counts: Counts, n: int, symbols: Sequence[int]) -> Interval:
    """Return the interval of the share of a set of symbols."""
    return limits(mechanism, counts, n, make_share("", symbols, mechanism.size)).interval
