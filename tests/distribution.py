"""A test whether reports have the published distribution.

Every event has a binomial count with a known probability: each outcome, each stored bit, and all outcomes less
likely than average together. `rejects` tests each of them, at a level that keeps all false alarms together at 1e-6.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scipy.stats import binom

from tests import reference

FALSE_ALARM = 1e-6


def rejects(counts: Mapping[bytes, int], chances: Mapping[bytes, Fraction]) -> bool:
    """Return whether these counts are incompatible with these chances, at a family-wise level of 1e-6."""
    total = sum(counts.values())
    if set(counts) - set(chances):
        return True
    events = [{outcome} for outcome in chances]
    width = 8 * len(next(iter(chances)))
    events += [{o for o in chances if int.from_bytes(o, "big") >> place & 1} for place in range(width)]
    events.append({outcome for outcome, chance in chances.items() if chance * len(chances) < 1})
    level = FALSE_ALARM / len(events)
    for event in events:
        count = sum(counts.get(outcome, 0) for outcome in event)
        p = float(sum(chances[outcome] for outcome in event))
        tail = min(binom.cdf(count, total, p), binom.sf(count - 1, total, p))
        if 2 * tail < level:
            return True
    return False


def exact_distribution(definition: dict[str, Any], answers: dict[str, Any]) -> dict[bytes, Fraction]:
    return {reference.pack(row): chance for row, chance in reference.distribution(definition, answers).items()}
