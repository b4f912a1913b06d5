"""The power of a planned survey, against published figures, enumeration and simulated groups."""

import math
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import binom

from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import guarded_clopper_pearson
from survey_app.plan import central_model, power
from survey_app.plan.report_variance import Target
from tests.published_plans import LN3, Z, total, yes_spread


@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 6441), ("1", 1736), (LN3, 1468), ("3", 377)])
def test_two_groups(epsilon: str | Decimal, n: int) -> None:
    at = yes_spread(epsilon)
    assert power.difference_respondents(at(0.2), at(0.3), 0.1) == n
    assert power.difference_power(at(0.2), at(0.3), 0.1, n) == pytest.approx(0.8, abs=1e-3)
    assert power.smallest_difference(at, 0.2, n) == pytest.approx(0.1, rel=1e-3)
    reach = Z + 0.8416212335729143
    assert reach * math.sqrt((total(at(0.2)) + total(at(0.3))) / n) == pytest.approx(0.1, rel=1e-3)
    assert power.difference_power(at(0.2), at(0.2), 0.0, n) == pytest.approx(0.05)


def told_apart(epsilon: str | Decimal, shares: tuple[float, float], n: int, runs: int) -> float:
    """How often a test of two simulated groups finds them to differ, at 5%."""
    made, rng = mechanism_choice.make_flip(Decimal(epsilon)), np.random.default_rng()
    p, q = float(made.p), float(made.q)
    reported = np.stack([rng.binomial(n, q + share * (p - q), runs) / n for share in shares])
    values = (reported - q) / (p - q)
    errors = np.sqrt((reported * (1 - reported)).sum(axis=0) / (n - 1)) / (p - q)
    return float((np.abs(values[0] - values[1]) > Z * errors).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 6441), ("1", 1736), (LN3, 1468), ("3", 377)])
def test_simulated_groups_have_the_planned_power(epsilon: str | Decimal, n: int) -> None:
    """10^6 runs have a standard error of 0.0004, and the formula, which takes counts for normal, is off by 0.0012.

    0.004 is seven standard errors beyond that: false alarms 3e-12.
    """
    at = yes_spread(epsilon)
    for shares in ((0.2, 0.3), (0.2, 0.2)):
        planned = power.difference_power(at(shares[0]), at(shares[1]), shares[1] - shares[0], n)
        assert abs(told_apart(epsilon, shares, n, 10**6) - planned) < 0.004


def test_a_plan_for_other_coins_is_found_out() -> None:
    """Power planned for a tenth more ε, or without any noise, is not what such groups have."""
    seen = told_apart("1", (0.2, 0.3), 1736, 10**6)
    for spread in (yes_spread("1.1"), lambda share: central_model.no_privacy(share * (1 - share))):
        planned = power.difference_power(spread(0.2), spread(0.3), 0.1, 1736)
        assert abs(seen - planned) > 0.03


def test_a_group_can_be_too_small_for_any_difference() -> None:
    assert power.smallest_difference(yes_spread("0.1"), 0.2, 50) is None
    assert power.smallest_difference(yes_spread("1"), 1.0, 50) is None
    assert power.difference_respondents(yes_spread("1")(0.2), yes_spread("1")(0.3), 0.1, target=Target(1000)) is None
    assert power.difference_respondents(yes_spread("1")(0.2), yes_spread("1")(0.2), 0.0) is None
    assert power.positive_respondents(yes_spread("1"), 0.0) is None


@pytest.mark.parametrize(("epsilon", "share", "n"), [("1", 0.2, 150), ("3", 0.05, 265), ("4", 0.05, 136)])
def test_the_exact_power_is_that_of_the_interval_of_the_results(epsilon: str, share: float, n: int) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    chances = binom.pmf(np.arange(n + 1), n, float(made.q) + share * float(made.p - made.q))
    shown = [guarded_clopper_pearson(y, n, made.p, made.q, 0.05).low > 0 for y in range(n + 1)]
    assert power.exact_positive_power(made.p, made.q, share, n) == pytest.approx(float(chances @ shown), abs=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "3", "4"])
def test_from_the_exact_number_on_the_power_suffices(epsilon: str) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    n = power.exact_positive_respondents(made.p, made.q, 0.05)
    assert power.exact_positive_power(made.p, made.q, 0.05, n - 1) < 0.8
    assert all(power.exact_positive_power(made.p, made.q, 0.05, more) >= 0.8 for more in range(n, 2 * n, 3))
    normal = power.positive_respondents(yes_spread(epsilon), 0.05)
    assert normal is not None
    assert power.exact_positive_power(made.p, made.q, 0.05, normal) < 0.8
