"""What shuffling adds: the (ε, δ) of data whose reports an independent party has stripped and permuted.

Feldman, McMillan and Talwar (2021): if every report comes of an ε₀-private device and nobody can tell whose it is, the
whole is no easier to tell from that of a neighbouring crowd than P = (A + D, C − A + 1 − D) from Q = (A + 1 − D,
C − A + D), where C ~ Bin(n − 1, e^−ε₀), A ~ Bin(C, ½) and D is 1 with probability a = e^ε₀/(1 + e^ε₀). δ is the
hockey-stick divergence of the two, computed here (docs/methods.md §7). The paper that followed claims more, but its
erratum takes back the general theorem, so it is not used.

It counts only if that party is not the analyst, drops ids, times and order, and every device ran the same definition.
"""

import math

import numpy as np
from scipy.stats import binom

from survey_app.figures import Floats

USUAL_DELTA = 1e-6
LEFT_OUT = 1e-6  # of δ: what numbers of clones so rare add at most; it is counted in full
CLOSE = 1e-6  # the bisection ends when ε is known to this part of itself
MOST = 50.0  # e^ε₀ beyond it adds nothing anybody could use


def central_epsilon(local: float, reports: int, delta: float = USUAL_DELTA) -> float:
    """The smallest ε, rounded up, for which shuffled reports of an ε₀-private definition are (ε, δ)-private.

    Never more than ε₀ itself, which holds without any shuffling.
    """
    if not (local > 0 and reports >= 1 and 0 < delta < 1):
        raise ValueError("amplification needs ε₀ > 0, at least one report and 0 < δ < 1")
    if local > MOST or divergence(local, local, reports, LEFT_OUT * delta) > delta:
        return local
    low, high = 0.0, local
    while high - low > CLOSE * high and high > 1e-12:
        middle = (low + high) / 2
        if divergence(middle, local, reports, LEFT_OUT * delta) <= delta:
            high = middle
        else:
            low = middle
    return high


def divergence(epsilon: float, local: float, reports: int, left_out: float = 0.0) -> float:
    """δ at ε: an upper bound that exceeds the divergence of P and Q by at most `left_out`.

    Given C, P/Q grows with the first number, so the best event is a tail of it.
    """
    share = math.exp(-local)
    low, high = 0, reports - 1
    if left_out:  # by its tails: 1 − left_out is 1 to a float where δ is small
        low = max(low, int(binom.ppf(left_out / 2, high, share)))
        high = min(high, int(binom.isf(left_out / 2, high, share)))
    clones = np.arange(low, high + 1)
    weights: Floats = binom.pmf(clones, reports - 1, share)
    a = 1 / (1 + share)
    odds = math.exp(epsilon)
    least = (odds * a - (1 - a)) / ((2 * a - 1) * (1 + odds))
    first = np.floor((clones + 1) * least) + 1  # the smallest number in the event
    above, also = binom.sf(first - 2, clones, 0.5), binom.sf(first - 1, clones, 0.5)  # A + 1 and A reach it
    gained = a * above + (1 - a) * also - odds * ((1 - a) * above + a * also)
    return float(weights @ np.maximum(gained, 0.0)) + left_out
