"""The distribution of a field's bits where each symbol has its own bit, and the covariance of sums of these bits."""

from dataclasses import dataclass

import numpy as np

from survey_app.figures import Floats


@dataclass(frozen=True)
class SymbolBits:
    """The probabilities of the bits: each is 1 with `p` if its symbol is true, otherwise with `q`.

    `pair_p` and `pair_q` are the probabilities that two bits are both 1. `is_single` means that exactly one bit of a
    report is 1, so that the report names one symbol.
    """

    p: float
    q: float
    gap: float  # p − q, exact before it is rounded: draws of a test depend on its last digit
    pair_p: float  # if the symbol of one of the two bits is true
    pair_q: float  # if neither of their symbols is true
    is_single: bool

    def covariance(self, shares: Floats, sizes: int | Floats = 1) -> Floats:
        """Return the covariance matrix of the bits of one report, given the shares of the symbols.

        With `sizes`, `shares` belong to disjoint sets of symbols, and the covariance is that of the sums of their bits.
        An empty set has share 0 and covariance 0.
        """
        set_sizes = np.broadcast_to(np.asarray(sizes, dtype=float), shares.shape)
        ones, excess = set_sizes * self.q + (self.p - self.q) * shares, self.pair_p - self.pair_q
        second = self.pair_q * np.outer(set_sizes, set_sizes) + excess * (
            np.outer(set_sizes, shares) + np.outer(shares, set_sizes)
        )
        np.fill_diagonal(
            second, ones + set_sizes * (set_sizes - 1) * self.pair_q + 2 * (set_sizes - 1) * excess * shares
        )
        spread: Floats = second - np.outer(ones, ones)
        return spread
