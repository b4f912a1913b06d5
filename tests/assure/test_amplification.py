"""What shuffling adds, against the table of METHODS, against brute force, and as a promise that never understates."""

import itertools
import math

import pytest
from scipy.stats import binom

from survey_app.assure.amplification import central_epsilon, divergence

# docs/methods.md §7, δ = 1e-6: n, then ε for ε₀ = ½, 1, 2, 4
TABLE = {1000: (0.0705, 0.182, 0.546, 3.99), 10**4: (0.0204, 0.0530, 0.155, 0.601), 10**6: (0.0016, 0.0043, 0.0130, 0.0493)}  # fmt: skip


@pytest.mark.parametrize(("reports", "known"), TABLE.items())
def test_the_numeric_bound_is_that_of_the_table(reports: int, known: tuple[float, ...]) -> None:
    for local, value in zip((0.5, 1.0, 2.0, 4.0), known, strict=True):
        unit = 10 ** -(len(f"{value:.4f}".rstrip("0")) - 2)  # of the last digit that the table gives
        assert central_epsilon(local, reports) == pytest.approx(value, abs=0.51 * unit), (reports, local)


def brute(epsilon: float, local: float, reports: int) -> float:
    """The hockey-stick divergence, by adding up every outcome."""
    share, a = math.exp(-local), 1 / (1 + math.exp(-local))
    total = 0.0
    for clones in range(reports):
        for first in range(clones + 2):
            high, low = binom.pmf(first - 1, clones, 0.5), binom.pmf(first, clones, 0.5)
            gained = a * high + (1 - a) * low - math.exp(epsilon) * ((1 - a) * high + a * low)
            total += binom.pmf(clones, reports - 1, share) * max(gained, 0.0)
    return total


def test_the_divergence_is_the_sum_over_all_outcomes() -> None:
    for epsilon, local, reports in itertools.product((0.0, 0.3, 0.9), (0.5, 1.0, 3.0), (1, 2, 17)):
        assert divergence(epsilon, local, reports) == pytest.approx(brute(epsilon, local, reports), abs=1e-13)


def test_what_is_left_out_is_added_and_the_answer_is_on_the_safe_side() -> None:
    for local, reports in itertools.product((0.3, 1.0, 2.5), (50, 3000)):
        found = central_epsilon(local, reports)
        assert divergence(found, local, reports) <= 1e-6 < divergence(found * (1 - 1e-4), local, reports)


def test_a_small_delta_costs_a_little_and_not_everything() -> None:
    """1 − δ is 1 to a float: the tails are cut at their own end."""
    found = [central_epsilon(1.0, 10_000, delta) for delta in (1e-6, 1e-10, 1e-12, 1e-18)]
    assert found == sorted(found) and found[0] > 0.05 and found[-1] < 0.13


def test_shuffling_never_costs_anything() -> None:
    assert central_epsilon(8.0, 100) == 8.0
    assert central_epsilon(900.0, 10) == 900.0
    assert all(central_epsilon(1.0, n) <= 1.0 for n in (1, 2, 5))
    for local, reports, delta in ((1.0, 0, 1e-6), (0.0, 10, 1e-6), (1.0, 10, 1.0)):
        with pytest.raises(ValueError, match="δ"):
            central_epsilon(local, reports, delta)
