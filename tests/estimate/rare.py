"""How far a simulated share may stray before a claim is refuted: false alarms are as rare as RARE."""

from scipy.stats import binom

RARE = 1e-8


def at_least(stated: float, runs: int) -> float:
    """What a share of `stated` falls below in so many runs with probability RARE."""
    return float(binom.ppf(RARE, runs, stated)) / runs
