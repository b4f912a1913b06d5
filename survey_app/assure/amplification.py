"""Privacy amplification by shuffling: the (ε, δ) of reports that an independent party has stripped and permuted.

Assume that every report comes from an ε₀-private device and that nobody can tell whose report it is.
Then two neighbouring data sets are no easier to tell apart than two distributions (Feldman, McMillan and Talwar 2021):
P = (A + D, C − A + 1 − D) and Q = (A + 1 − D, C − A + D).
Here C ~ Bin(n − 1, e^−ε₀), A ~ Bin(C, ½) and D is 1 with probability a = e^ε₀/(1 + e^ε₀).
δ is the hockey-stick divergence of P and Q, computed here (docs/methods.md §7).
The follow-up paper claims more, but its erratum withdraws the general theorem, so it is not used.

The result holds only if that party is not the analyst and drops ids, times and order.
It also requires that every device used the same definition.
"""

import math

import numpy as np
from scipy.stats import binom

from survey_app.figures import Floats

DEFAULT_DELTA = 1e-6
TRUNCATED_SHARE = 1e-6  # of δ: the largest share that very rare numbers of clones add; it is counted in full
TOLERANCE = 1e-6  # relative error of ε at which the bisection ends
MAX_LOCAL_EPSILON = 50.0  # largest ε₀ for which the gain is computed: beyond it there is no useful one


def central_epsilon(local: float, reports: int, delta: float = DEFAULT_DELTA) -> float:
    """Return the smallest ε, rounded up, for which shuffled reports of an ε₀-private definition are (ε, δ)-private.

    `local` is ε₀. The result never exceeds ε₀, which holds without any shuffling.
    Raise ValueError if an argument is out of range.
    """
    if not (local > 0 and reports >= 1 and 0 < delta < 1):
        raise ValueError("amplification needs ε₀ > 0, at least one report and 0 < δ < 1")
    if local > MAX_LOCAL_EPSILON or divergence(local, local, reports, TRUNCATED_SHARE * delta) > delta:
        return local
    low, high = 0.0, local
    while high - low > TOLERANCE * high and high > 1e-12:
        middle = (low + high) / 2
        if divergence(middle, local, reports, TRUNCATED_SHARE * delta) <= delta:
            high = middle
        else:
            low = middle
    return high


def divergence(epsilon: float, local: float, reports: int, truncation: float = 0.0) -> float:
    """Return δ at ε: an upper bound that exceeds the divergence of P and Q by at most `truncation`.

    Given C, the ratio P/Q grows with the first number, so the best event is a tail of that number.
    """
    share = math.exp(-local)
    low, high = 0, reports - 1
    if truncation:  # cut by tail probability: 1 − truncation rounds to 1 where δ is small
        low = max(low, int(binom.ppf(truncation / 2, high, share)))
        high = min(high, int(binom.isf(truncation / 2, high, share)))
    clones = np.arange(low, high + 1)
    weights: Floats = binom.pmf(clones, reports - 1, share)
    a = 1 / (1 + share)
    odds = math.exp(epsilon)
    threshold = (odds * a - (1 - a)) / ((2 * a - 1) * (1 + odds))
    first = np.floor((clones + 1) * threshold) + 1  # the smallest number in the event
    above, tail = binom.sf(first - 2, clones, 0.5), binom.sf(first - 1, clones, 0.5)  # P(A + 1 ≥ first), P(A ≥ first)
    differences = a * above + (1 - a) * tail - odds * ((1 - a) * above + a * tail)
    return float(weights @ np.maximum(differences, 0.0)) + truncation
