"""What a mechanism does to shares: the mean and the covariance of the stored bits of one report."""

import numpy as np

from client.mechanism import Flip, Subset, Unary
from survey_app.estimate.intervals import Floats

Categorical = Flip | Subset | Unary


def expected(mechanism: Categorical, shares: Floats) -> Floats:
    """P(bit = 1) for each stored bit, if these are the shares of the symbols (of a flip: of yes)."""
    p, q = float(mechanism.p), float(mechanism.q)
    found: Floats = q + (p - q) * shares
    return found


def together(mechanism: Categorical) -> tuple[float, float]:
    """P(two stored bits are both 1), if one of them is the true symbol's, and if neither is."""
    p, q = float(mechanism.p), float(mechanism.q)
    if not isinstance(mechanism, Subset):
        return p * q, q * q
    k, w = mechanism.size, mechanism.weight
    neither = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / max((k - 1) * (k - 2), 1)
    return p * (w - 1) / (k - 1), neither


def covariance(mechanism: Categorical, shares: Floats, each: int = 1) -> Floats:
    """The covariance of the stored bits of one report, if these are the shares of the symbols.

    With `each` above 1, of the sums of the bits of disjoint sets of so many symbols, whose shares these are.
    """
    p, q = float(mechanism.p), float(mechanism.q)
    one, neither = together(mechanism)
    ones = each * q + (p - q) * shares
    second = each * each * neither + each * (one - neither) * (shares[:, None] + shares[None, :])
    np.fill_diagonal(second, ones + each * (each - 1) * neither + 2 * (each - 1) * (one - neither) * shares)
    found: Floats = second - np.outer(ones, ones)
    return found


def likelihood(mechanism: Categorical, bits: Floats) -> Floats:
    """P(these bits | symbol), up to a factor that does not depend on the symbol: a row for each report."""
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return np.where(bits > 0, np.array([q, p]), np.array([1 - q, 1 - p]))
    if isinstance(mechanism, Subset):
        held = p / mechanism.weight
        return np.where(bits > 0, held, (1 - p) / (mechanism.size - mechanism.weight))
    return np.where(bits > 0, p / q, (1 - p) / (1 - q))
