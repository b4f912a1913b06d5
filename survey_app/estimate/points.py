"""Points for display: the nearest shares that are possible, beside the unbiased ones that may not be."""

import numpy as np

from survey_app.estimate.intervals import Floats


def project(shares: Floats) -> Floats:
    """The Euclidean projection on the simplex (Norm-Sub): never farther from the truth than the raw shares.

    Sort v descending, c_j = v_1 + … + v_j − 1, ρ the last j with v_j > c_j/j; then max(v − c_ρ/ρ, 0). To clip and
    rescale instead can be ten times worse.
    """
    ordered = np.sort(shares)[::-1]
    sums = np.cumsum(ordered) - 1
    places = np.arange(1, len(shares) + 1)
    rho = int(np.nonzero(ordered - sums / places > 0)[0][-1])
    projected: Floats = np.maximum(shares - sums[rho] / places[rho], 0.0)
    return projected
