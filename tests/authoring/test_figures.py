"""The variances by which designs are judged: three moments of a figure, and what a mechanism makes of them."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from client.mechanisms import Drawn, Subset
from client.question import Question
from client.types import TypeName
from survey_app.authoring import choose
from survey_app.authoring.figures import main_figures, variance
from survey_app.channel import (
    blind_variance,
    blindness,
    event_moments,
    figure_variance,
    geometric_variance,
    moments,
    noisy_mean_variance,
    score_variance,
    union_variance,
)
from survey_app.plan.question import make_question


@pytest.mark.parametrize(("size", "weight"), [(2, 1), (3, 1), (5, 1), (5, 2), (6, 3), (7, 6), (64, 1), (17, 5)])
def test_three_moments_are_enough_for_the_variance_of_any_scores(size: int, weight: int) -> None:
    """Against the mean over the truth of the variance of what is sent, plus the variance of what is meant."""
    rng = np.random.default_rng()
    scores, shares = rng.normal(size=size), rng.dirichlet(np.ones(size))
    made = choose.subset(size, weight, Decimal("1.3"))
    people = float(shares @ scores**2 - (shares @ scores) ** 2)
    expected = score_variance(made, scores.tolist(), shares.tolist()) + people
    assert figure_variance(moments(scores, shares, np.ones(size)), made) == pytest.approx(expected, rel=1e-9)


def test_a_share_is_a_score_of_zero_or_one() -> None:
    made, tau = choose.subset(12, 1, Decimal(2)), blindness(12, math.exp(2))
    for cells, share in ((1, 0.3), (5, 0.2), (6, 0.9)):
        part = cells / 12
        found = blind_variance(event_moments(share, part), tau)
        assert found == pytest.approx(union_variance(made, cells, share), rel=1e-12)
        assert found == pytest.approx((share + part * tau) * (1 - share + (1 - part) * tau), rel=1e-12)


def test_symbols_that_several_cells_hold_count_so_often_when_drawn_blindly() -> None:
    """yes/no and a follow-up of four options: six cells, of which one holds no, and five hold yes."""
    by_symbol = moments(np.array([0.0, 1.0]), np.array([0.8, 0.2]), np.array([1.0, 5.0]))
    by_cell = moments(np.array([0.0] + [1.0] * 5), np.array([0.8] + [0.04] * 5), np.ones(6))
    for one in (by_cell, event_moments(0.2, 5 / 6)):
        assert (by_symbol.true, by_symbol.blind, by_symbol.apart) == pytest.approx((one.true, one.blind, one.apart))


@pytest.mark.parametrize(("epsilon", "usual", "grid"), [("1", 5.45, 4.35), ("2", 1.56, 0.862), ("3", 0.745, 0.300)])
def test_clamped_noise_and_the_better_grid(epsilon: str, usual: float, grid: float) -> None:
    """On [−1, 1], numbers spread evenly: what the coins add, as published; nothing cut, the noise would add 8/ε²."""
    made = choose.geometric(64, Decimal(epsilon))
    people = 4 / 63**2 * float(np.arange(64).var())
    found = 4 / 63**2 * noisy_mean_variance(made, np.full(64, 1 / 64)) - people
    assert found == pytest.approx(usual, abs=0.003)
    assert found < geometric_variance(made, rounded=True) < 8 / float(epsilon) ** 2
    question = make_question("number", high=Decimal(10_000))
    chosen = choose.choose([question], Decimal(epsilon))
    rounded = replace(question, levels=chosen.levels[0])
    assert 4 * (variance(rounded, 1.0, chosen.mechanism) - 1 / 12) == pytest.approx(grid, rel=2e-3)


def test_a_scale_whose_scores_tell_nothing_apart_is_judged_by_its_points() -> None:
    flat = Question(id="x", type=TypeName.SCALE, text="x", labels=("a", "b", "c"), scores=(Decimal(1),) * 3)
    assert main_figures(flat, 1.0) == (event_moments(1 / 3, 1 / 3),)


def multiple(options: int) -> Question:
    return Question(id="x", type=TypeName.MULTIPLE, text="x", labels=tuple(f"o{i}" for i in range(options)))


@pytest.mark.parametrize(
    ("epsilon", "respondents"), [("1", 17_374), ("2", 4_771), ("3", 2_374), ("4", 1_466), ("6", 758)]
)
def test_ten_options_of_which_the_best_number_is_drawn(epsilon: str, respondents: int) -> None:
    """A share of 30% to ±5 points, as published, rounded; one option a device: 6,008, 4,074, 3,004, 2,003 from ε = 2 on."""
    chosen = choose.choose([multiple(10)], Decimal(epsilon))
    assert isinstance(chosen.mechanism, Drawn)
    assert round((1.959964 / 0.05) ** 2 * chosen.variance) == respondents


def test_where_all_options_would_be_drawn_all_sets_are_one_choice() -> None:
    """The same precision, and it tells which options go together."""
    for options, epsilon in ((2, "2"), (3, "3"), (3, "5")):
        assert isinstance(choose.choose([multiple(options)], Decimal(epsilon)).mechanism, Subset)
