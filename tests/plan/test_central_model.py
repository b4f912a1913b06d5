"""What a trusted curator would do instead, against published noise."""

import math

import pytest

from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan import central_model
from tests.published_plans import approx_figure


@pytest.mark.parametrize(
    ("epsilon", "laplace", "gaussian"),
    [
        (0.1, "800", "5272"),
        (0.5, "32", "259.7"),
        (1, "8", "71.39"),
        (math.log(3), "6.63", "59.97"),
        (2, "2", "19.90"),
        (3, "0.889", "9.53"),
        (4, "0.5", "5.70"),
        (5, "0.32", "3.84"),
    ],
)
def test_noise_on_a_number_between_minus_one_and_one(epsilon: float, laplace: str, gaussian: str) -> None:
    assert central_model.laplace_variance(epsilon, 2) == approx_figure(laplace)
    assert central_model.gaussian_sigma(epsilon, 1e-6, 2) ** 2 == approx_figure(gaussian)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.4])
def test_the_gaussian_is_private_and_with_a_little_less_noise_it_is_not(epsilon: float, delta: float) -> None:
    sigma = central_model.gaussian_sigma(epsilon, delta)
    assert central_model.gaussian_delta(sigma, epsilon) == pytest.approx(delta, rel=1e-4)
    assert (
        central_model.gaussian_delta(sigma * 1.001, epsilon)
        < delta
        < central_model.gaussian_delta(sigma * 0.999, epsilon)
    )
    assert central_model.gaussian_sigma(epsilon, delta, 3.0) == pytest.approx(3 * sigma)


def test_the_sigma_that_was_published() -> None:
    assert central_model.gaussian_sigma(1, 1e-6, 1) == approx_figure("4.2247")
    assert central_model.gaussian_sigma(1, 1e-6, 2) == approx_figure("8.4494")


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-6), (-1.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)])
def test_noise_without_sense_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(PlanError):
        central_model.gaussian_sigma(epsilon, delta)
