"""A stored bit for each symbol of a field, all alike: what sums of them say of sets of symbols."""

from dataclasses import dataclass

import numpy as np

from survey_app.figures import Floats


@dataclass(frozen=True)
class SymbolBits:
    """The chances of the bits: 1 with `p` if its symbol is true, otherwise with `q`; of two bits, that both are 1.

    `is_single` if exactly one bit of a report is 1, so that the report names one symbol.
    """

    p: float
    q: float
    gap: float  # p − q, exact before it is rounded: draws of a test follow from its last digit
    both: float  # if one of their symbols is true
    neither: float
    is_single: bool

    def covariance(self, shares: Floats, sizes: int | Floats = 1) -> Floats:
        """Return the covariance of the bits of one report, if these are the shares of the symbols.

        With `sizes`, of the sums of the bits of disjoint sets of so many symbols, whose shares these are; a set of none
        has share 0 and no part in it.
        """
        each = np.broadcast_to(np.asarray(sizes, dtype=float), shares.shape)
        ones, tied = each * self.q + (self.p - self.q) * shares, self.both - self.neither
        second = self.neither * np.outer(each, each) + tied * (np.outer(each, shares) + np.outer(shares, each))
        np.fill_diagonal(second, ones + each * (each - 1) * self.neither + 2 * (each - 1) * tied * shares)
        spread: Floats = second - np.outer(ones, ones)
        return spread
