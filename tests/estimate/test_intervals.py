"""An interval says how it was made, and whatever is made of it says so too."""

from fractions import Fraction

import pytest

from survey_app.estimate.intervals import Interval, Limits, Method, Options, binomial


def test_an_interval_cannot_be_made_without_its_method() -> None:
    with pytest.raises(TypeError, match="method"):
        Interval(0.0, 1.0)  # type: ignore[call-arg]


@pytest.mark.parametrize("method", Method)
def test_a_moved_interval_keeps_its_method(method: Method) -> None:
    made = Interval(-0.1, 0.4, method)
    moved = [made.map_affine(-2, 1), made.clip(0, 1), made.shift_and_clip(-0.05, 0, 1)]
    limits = Limits(made, made, made).map_affine(3, 0)
    moved += [one for one in (limits.interval, limits.raw, limits.sample) if one]
    assert {one.method for one in moved} == {method}
    assert {one.coverage for one in moved} == {made.coverage}


@pytest.mark.parametrize(
    ("options", "method"),
    [
        (Options(), Method.CLOPPER_PEARSON),
        (Options(narrow=True), Method.WILSON),
        (Options(population=500), Method.FINITE_POPULATION),
        (Options(narrow=True, population=500), Method.FINITE_POPULATION),
    ],
)
def test_the_options_choose_the_method_of_a_share(options: Options, method: Method) -> None:
    limits = binomial(40, 100, Fraction(3, 4), Fraction(1, 4), options, sample=True)
    assert limits.interval.method == method
    assert limits.sample and limits.sample.method == Method.FINITE_POPULATION
    assert limits.raw.method == Method.CLOPPER_PEARSON
