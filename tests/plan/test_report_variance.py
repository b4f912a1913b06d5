"""Sample sizes, errors and margins, against published figures."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from candor_client.definition import Field
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import guarded_clopper_pearson
from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.plan import central_model
from survey_app.plan.estimands import list_estimands
from survey_app.plan.question_plan import make_question
from survey_app.plan.report_variance import (
    POPULATION,
    RESPONDENTS,
    Spread,
    Target,
    margin,
    respondents_for_error,
    respondents_for_margin,
    standard_error,
)
from tests.published_plans import LN3, approx_figure, yes_spread


@pytest.mark.parametrize(
    ("error", "epsilon", "worst", "sample", "laplace", "without"),
    [
        (0.05, "0.5", 1668, 1568, 126, 100),
        (0.05, "1", 469, 369, 108, 100),
        (0.02, "0.5", 10420, 9795, 656, 625),
        (0.02, "1", 2927, 2302, 633, 625),
        (0.01, "0.1", 1001668, 999168, 3138, 2500),
        (0.01, "0.5", 41677, 39177, 2532, 2500),
        (0.01, "1", 11707, 9207, 2508, 2500),
        (0.01, LN3, 10000, 7500, 2507, 2500),
        (0.01, "3", 3052, 552, 2501, 2500),
    ],
)
def test_respondents_for_a_standard_error(
    error: float, epsilon: str | Decimal, worst: int, sample: int, laplace: int, without: int
) -> None:
    spread = yes_spread(epsilon)(0.5)
    assert respondents_for_error(spread, error) == worst
    assert respondents_for_error(spread, error, RESPONDENTS) == sample
    assert respondents_for_error(central_model.laplace(0.25, float(epsilon)), error) == laplace
    assert respondents_for_error(central_model.no_privacy(0.25), error) == without


@pytest.mark.parametrize(
    ("n", "without", "local", "laplace", "local_fixed", "laplace_fixed"),
    [
        (50, 0.06124, 0.28654, 0.08337, 0.27992, 0.05657),
        (100, 0.04330, 0.20261, 0.05172, 0.19793, 0.02828),
        (200, 0.03062, 0.14327, 0.03373, 0.13996, 0.01414),
        (500, 0.01936, 0.09061, 0.02017, 0.08852, 0.00566),
        (1000, 0.01369, 0.06407, 0.01398, 0.06259, 0.00283),
        (2000, 0.00968, 0.04531, 0.00979, 0.04426, 0.00141),
        (5000, 0.00612, 0.02865, 0.00615, 0.02799, 0.00057),
    ],
)
def test_errors_of_the_local_and_the_central_model(
    n: int, without: float, local: float, laplace: float, local_fixed: float, laplace_fixed: float
) -> None:
    """ε = ½, a share of a quarter; the last two about these very respondents."""
    spread, curator = yes_spread("0.5")(0.25), central_model.laplace(0.1875, 0.5)
    found = [standard_error(central_model.no_privacy(0.1875), n), standard_error(spread, n), standard_error(curator, n)]
    found += [standard_error(spread, n, RESPONDENTS), standard_error(curator, n, RESPONDENTS)]
    assert found == pytest.approx([without, local, laplace, local_fixed, laplace_fixed], abs=5.1e-6)


def test_the_coin_of_the_lecture() -> None:
    coin = mechanism_choice.make_classic_flip(Fraction(3, 4), Fraction(1, 4))
    (figure,) = list_estimands(Field((make_question("yes_no"),), coin, 1, ""), make_question("yes_no"), Guess())
    assert figure.planned == 0.2
    assert standard_error(figure.spread, 100) == approx_figure("0.09539")
    assert standard_error(figure.spread, 100, RESPONDENTS) == approx_figure("0.08660")
    assert figure.spread.design_effect == approx_figure("5.7")
    assert figure.spread_at(0.05).design_effect == approx_figure("16.8")


def test_a_finite_population_lies_between_many_people_and_the_respondents_alone() -> None:
    spread = yes_spread("1")(0.2)
    errors = [standard_error(spread, 500, target) for target in (RESPONDENTS, Target(500), Target(1000), POPULATION)]
    assert errors[0] == errors[1] < errors[2] < errors[3]
    assert errors[2] ** 2 == pytest.approx(0.5 * 0.16 / 500 + spread.coins / 500)
    assert respondents_for_margin(spread, 0.05, target=Target(1200)) is None
    with pytest.raises(PlanError) as refused:
        standard_error(spread, 501, Target(500))
    assert refused.value.code == "above_population"


SPREADS = st.builds(
    Spread,
    people=st.floats(0.001, 1),
    coins=st.floats(0, 1000),
    asked_share=st.floats(0.01, 1),
    curator_noise=st.sampled_from([0.0, 8.0, 1000.0]),
)


@given(
    spread=SPREADS,
    half_width=st.floats(0.001, 0.5),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
    target=st.sampled_from([POPULATION, RESPONDENTS, Target(5000), Target(10**7)]),
)
def test_respondents_are_the_fewest_that_reach_a_margin(
    spread: Spread, half_width: float, confidence: float, target: Target
) -> None:
    n = respondents_for_margin(spread, half_width, confidence, target)
    if n is None:
        assert target.size is not None
        assert margin(spread, target.size, confidence, target) > half_width * (1 - 1e-8)
        return
    assert margin(spread, n, confidence, target) <= half_width * (1 + 1e-8)
    if n > 2:
        assert margin(spread, n - 1, confidence, target) > half_width * (1 - 1e-8)


def test_planned_margins_are_those_of_the_results() -> None:
    """z standard errors, beside the mean half-width of guarded Clopper–Pearson by enumeration: 0 to 3% more at 1000."""
    for epsilon, share in (("0.5", 0.5), ("1", 0.2), ("1", 0.5), ("3", 0.2)):
        made = mechanism_choice.make_flip(Decimal(epsilon))
        weights = binom.pmf(np.arange(1001), 1000, float(made.q) + share * float(made.p - made.q))
        intervals = [guarded_clopper_pearson(y, 1000, made.p, made.q, 0.05) for y in range(1001)]
        width = sum(weight * (one.high - one.low) / 2 for weight, one in zip(weights, intervals, strict=True))
        planned = margin(yes_spread(epsilon)(share), 1000)
        assert planned < width < 1.03 * planned
