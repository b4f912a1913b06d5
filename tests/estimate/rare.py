"""How far a simulated share may stray before a claim is refuted: false alarms have probability RARE."""

from scipy.stats import binom

RARE = 1e-8


def lowest_share(stated: float, runs: int) -> float:
    """Return the bound below which a share of `stated` falls in so many runs with probability RARE."""
    return float(binom.ppf(RARE, runs, stated)) / runs
