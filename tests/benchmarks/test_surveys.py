"""Whole surveys beside the peers: the ratio and its error, what RS+FD loses, and that all figures are compared."""

import math

import numpy as np
import pytest

from benchmarks import surveys
from survey_app.plan.simulated_people import draw_people


@pytest.mark.parametrize(("attributes", "loss"), [(2, 1.490), (3, 1.817), (5, 2.261)])
def test_a_whole_person_loses_more_than_rs_fd_claims(attributes: int, loss: float) -> None:
    """At a nominal 1, as it was enumerated."""
    assert surveys.total_loss(1, attributes) == pytest.approx(loss, abs=5e-4)


def test_the_error_of_a_ratio_is_that_of_its_runs() -> None:
    """200 times 100 runs; their spread is known to a twentieth, and has to be within six of these."""
    rng = np.random.default_rng()
    runs = [(rng.gamma(9, 2, 100), rng.gamma(9, 1, 100)) for _ in range(200)]
    ratios, errors = zip(*(surveys.mean_ratio(one.tolist(), other.tolist()) for one, other in runs), strict=True)
    assert np.mean(ratios) == pytest.approx(2, abs=6 * np.std(ratios) / math.sqrt(200))
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=6 / math.sqrt(400))


@pytest.mark.parametrize(("name", "figures", "attributes"), [("nine yes or no", 9, 9), ("six mixed questions", 14, 9)])
def test_peers_and_candor_are_asked_the_same(name: str, figures: int, attributes: int) -> None:
    """A peer without any noise gives the true figures; only numbers are rounded at random, to an end of their range."""
    survey, rng = surveys._build_survey(surveys.SURVEYS[name], 2, "auto"), np.random.default_rng()
    people = draw_people(survey, {}, 20_000, rng)
    true = surveys._true_figures(survey, people)
    made = surveys._make_attributes(survey, people, rng)
    assert (len(true), len(made), surveys._count_attributes(survey)) == (figures, attributes, attributes)
    shares = [np.bincount(one.symbols, minlength=one.size) / 20_000 for one in made]
    told = surveys._run_peer(survey, lambda _: shares, people, rng)
    for key, value in true.items():
        assert told[key] == pytest.approx(value, abs=0.03 if key[0] == "hours" else 1e-9)  # eight standard errors
    assert true.keys() <= surveys._run_candor(survey, draw_people(survey, {}, surveys.PEOPLE, rng), rng).keys()
