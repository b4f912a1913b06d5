"""An attacker who has all files and wants to know which report came of which invitation.

They have the researcher's list, so they know every code and its hash. They look up the places of these hashes and of
the ids of reports in each file, match the two orders in all ways, and keep the best match. If nothing is in order, each
of so many pairings is right for one person on average (the fixed points of a random permutation, Poisson with mean 1),
and the ranks are uncorrelated.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]

RIGHT = 12  # P(Poisson(1) >= 12) = 8.3e-10
CORRELATION = 0.45  # of 200 ranks: 6.3 standard deviations, P = 2e-10
MOST_PAIRINGS = 1000  # so that all of them together raise a false alarm once in a million runs


class AttackResult(NamedTuple):
    """The best of all attempts: people whose report was found, the strongest correlation, and how many attempts."""

    right: int
    correlation: float
    attempts: int

    @property
    def beats_guessing(self) -> bool:
        """Whether this is more than guessing would find."""
        return self.right >= RIGHT or self.correlation >= CORRELATION


def attack(files: Mapping[str, bytes], people: Sequence[Sequence[bytes]], reports: Sequence[bytes]) -> AttackResult:
    """Return how well people can be linked to reports by some known bytes of each; the truth: both are in one order."""
    ours = [rank for known in zip(*people, strict=True) for rank in _ranks(files, known)]
    theirs = list(_ranks(files, reports))
    right, correlation, attempts = 0, 0.0, 0
    for one, other in product(ours, theirs):
        for turned in (other, len(other) - 1 - other):
            attempts += 1
            right = max(right, int(np.sum(one == turned)))
            correlation = max(correlation, abs(float(np.corrcoef(one, turned)[0, 1])))
    assert attempts <= MOST_PAIRINGS
    return AttackResult(right, correlation, attempts)


def _ranks(files: Mapping[str, bytes], known: Sequence[bytes]) -> Iterator[Ranks]:
    """Yield the order of these bytes in each file, by their first and by their last place.

    Absent ones come last, in a random order, so that the order of the arguments tells nothing.
    """
    chance = np.random.default_rng()
    for data in files.values():
        for find in (data.find, data.rfind):
            places = [place if (place := find(one)) >= 0 else len(data) for one in known]
            if sum(place < len(data) for place in places) > len(known) // 2:
                yield np.argsort(np.lexsort((chance.random(len(places)), np.array(places))))
