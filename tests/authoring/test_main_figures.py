"""The figures by which designs are judged, and what a mechanism makes of them."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from candor_client.question import Question
from candor_client.types import TypeName
from survey_app.authoring import mechanism_choice
from survey_app.authoring.design.main_figures import main_figures, variance
from survey_app.channels.channel import AssumedShares
from survey_app.channels.design_variance import event_moments
from survey_app.channels.geometric import GeometricChannel
from survey_app.plan.question_plan import make_question


@pytest.mark.parametrize(("epsilon", "usual", "grid"), [("1", 5.45, 4.35), ("2", 1.56, 0.862), ("3", 0.745, 0.300)])
def test_clamped_noise_and_the_better_grid(epsilon: str, usual: float, grid: float) -> None:
    """On [−1, 1], numbers spread evenly: what the coins add, as published; nothing cut, the noise would add 8/ε²."""
    made = mechanism_choice.make_geometric(64, Decimal(epsilon))
    people = 4 / 63**2 * float(np.arange(64).var())
    channel, even = GeometricChannel(made), np.full(64, 1 / 64)
    found = 4 / 63**2 * channel.variance(AssumedShares(np.arange(64.0), even, even)) - people
    assert found == pytest.approx(usual, abs=0.003)
    assert found < channel.worst_variance(rounded=True) < 8 / float(epsilon) ** 2
    question = make_question("number", high=Decimal(10_000))
    chosen = mechanism_choice.choose([question], Decimal(epsilon))
    assert 4 * (variance(chosen.questions[0], 1.0, chosen.mechanism) - 1 / 12) == pytest.approx(grid, rel=2e-3)


def test_a_scale_whose_scores_tell_nothing_apart_is_judged_by_its_points() -> None:
    flat = Question(id="x", type=TypeName.SCALE, text="x", labels=("a", "b", "c"), scores=(Decimal(1),) * 3)
    assert [figure.moments for figure in main_figures(flat, 1.0)] == [event_moments(1 / 3, 1 / 3)]


def test_scores_are_told_apart_that_are_one_float() -> None:
    """The mean is on a range of length 1, whatever lies beside it."""
    scores = tuple(Decimal(score) for score in ("100000000000000000", "100000000000000001", "100000000000000002"))
    far = Question(id="x", type=TypeName.SCALE, text="x", labels=("a", "b", "c"), scores=scores)
    near = replace(far, scores=tuple(map(Decimal, (0, 1, 2))))
    assert float(scores[0]) == float(scores[1])
    for one, other in zip(main_figures(far, 1.0), main_figures(near, 1.0), strict=True):
        assert one.moments == other.moments
