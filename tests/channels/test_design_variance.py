"""The closed forms by which designs are compared, against published figures."""

import math
from decimal import Decimal

import numpy as np
import pytest

from survey_app.authoring import mechanism_choice
from survey_app.channels.channel import AssumedShares
from survey_app.channels.design_variance import (
    compute_moments,
    event_moments,
    k_ary_variance,
    level_variance,
    share_variance,
    uniform_draw_odds,
)
from survey_app.channels.subset import SubsetChannel


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_level_variance_is_the_worst_over_a_fine_grid(levels: int) -> None:
    made = mechanism_choice.make_subset(levels, 1, Decimal("1.7"))
    p, q = float(made.p), float(made.q)
    grid = [2 * j / (levels - 1) - 1 for j in range(levels)]
    worst = 0.0
    for i in range(4001):
        t = i / 2000 - 1
        j = min(int((t + 1) / 2 * (levels - 1)), levels - 2)
        up = (t - grid[j]) / (grid[j + 1] - grid[j])
        square = up * grid[j + 1] ** 2 + (1 - up) * grid[j] ** 2
        worst = max(worst, ((p - q) * square + q * sum(v * v for v in grid)) / (p - q) ** 2 - t * t)
    assert level_variance(p, q, levels) == pytest.approx(worst, rel=1e-5)


def test_a_symmetric_response_has_the_published_figure() -> None:
    """γ = ¼, n = 100, share .2 has sd .09539."""
    assert math.sqrt(share_variance(0.75, 0.25, 0.2) / 100) == pytest.approx(0.09539, abs=5e-6)


def test_a_share_is_a_score_of_zero_or_one() -> None:
    made = mechanism_choice.make_subset(12, 1, Decimal(2))
    tau = uniform_draw_odds(12, math.exp(2))
    for cells, share in ((1, 0.3), (5, 0.2), (6, 0.9)):
        event = event_moments(share, cells / 12)
        assert k_ary_variance(event, tau) == pytest.approx(SubsetChannel(made).union_variance(cells, share), rel=1e-12)
        part = cells / 12
        assert k_ary_variance(event, tau) == pytest.approx((share + part * tau) * (1 - share + (1 - part) * tau))


def test_symbols_that_several_cells_hold_count_so_often_when_blindly_drawn() -> None:
    """yes/no and a follow-up of four options: six cells, of which one holds no, and five hold yes."""
    by_symbol = compute_moments(np.array([0.0, 1.0]), np.array([0.8, 0.2]), np.array([1.0, 5.0]))
    by_cell = compute_moments(np.array([0.0] + [1.0] * 5), np.array([0.8] + [0.04] * 5), np.ones(6))
    for one in (by_cell, event_moments(0.2, 5 / 6)):
        assert (by_symbol.people_variance, by_symbol.uniform_variance, by_symbol.mean_gap) == pytest.approx(
            (one.people_variance, one.uniform_variance, one.mean_gap)
        )


def test_an_event_has_the_moments_of_its_two_values() -> None:
    event = AssumedShares.event(0.2, 5 / 6)
    for found in (event.moments, AssumedShares(event.values, event.shares, event.parts).moments):
        assert (found.people_variance, found.uniform_variance, found.mean_gap) == pytest.approx(
            (0.2 * 0.8, 5 / 36, 0.2 - 5 / 6)
        )
