"""Simulated devices have exactly the distribution of the real ones."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from client import Survey
from client.report import unpack
from survey_app.plan.people import TruthError, draw_people
from survey_app.simulate.devices import reports
from tests.answers import EVERYTHING, SMALL, all_answers
from tests.definitions import COIN, define, field, geometric, multiple, number, sampled, scale, subset, survey, yes_no
from tests.definitions import choice as choice_question
from tests.distribution import exact, rejects

COUNT = 40_000


def rows_of(parsed: Survey, answers: dict[str, Any], count: int) -> Counter[bytes]:
    """Reports of `count` devices whose people all say the same."""
    from client.answer import encode

    indices = {name: np.full(count, index, dtype=np.int64) for name, index in encode(parsed, answers).items()}
    made = np.concatenate(list(reports(parsed, indices, np.random.default_rng())))
    return Counter(row.tobytes() for row in made)


@pytest.mark.parametrize("name", SMALL)
def test_simulated_bits_have_the_exact_distribution(name: str) -> None:
    """The test of the real client, at the same false-alarm rate of 1e-6."""
    definition = SMALL[name]
    answers = all_answers(definition)[-1]
    assert not rejects(rows_of(survey(definition), answers, COUNT), exact(definition, answers))


def test_a_simulation_with_other_noise_is_rejected() -> None:
    definition = SMALL["subset"]
    other = define([choice_question(options=5)], [field(subset(5, 2, 3 * 2**62 + 2**58 * 4), "help")])
    answers = all_answers(definition)[-1]
    assert rejects(rows_of(survey(other), answers, COUNT), exact(definition, answers))


def test_geometric_noise_is_that_of_the_closed_form() -> None:
    parsed = survey(define([number(levels=7)], [field(geometric(2**63, 8), "hours")]))
    counts = rows_of(parsed, {"hours": 3}, COUNT)
    chances = {bytes([k % 256]): Fraction(1, 3) * Fraction(1, 2) ** abs(k - 3) for k in range(-9, 16)}
    seen = Counter({row: count for row, count in counts.items() if row in chances})
    rest = COUNT - sum(seen.values())
    chances[b"\x7f"] = 1 - sum(chances.values(), Fraction(0))
    assert not rejects(seen + Counter({b"\x7f": rest}), chances)


def test_people_follow_the_truth_that_they_are_given() -> None:
    parsed = survey(EVERYTHING)
    truth = {
        "cheated": 0.4,
        "help": {"no_answer": 0.25, "of": {"option 0": 0.5, "option 2": 0.5}},
        "fair": {"Agree": 1},
        "used": {"item 0": 1, "item 1": 0},
        "hours": {"mean": 20, "sd": 0},
    }
    found = draw_people(parsed, truth, 50_000, np.random.default_rng())
    assert found["cheated"].mean() == pytest.approx(0.4, abs=0.02)
    assert (found["help"] == 3).mean() == pytest.approx(0.25, abs=0.02)
    assert not (found["help"] == 1).any()
    assert set(found["fair"].tolist()) == {2}
    assert set(found["used"].tolist()) == {1}
    assert set(found["hours"].tolist()) == {20}
    hidden = found["cheated"] == 0
    assert (found["why"][hidden] == 2).all()
    assert (found["sure"][found["why"] != 1] == 2).all()


def test_every_simulated_report_is_possible() -> None:
    definition = define(
        [yes_no("a"), multiple("b", optional=True), scale("c"), number("d", levels=3, optional=True)],
        [field(COIN, "a"), field(sampled(4, 2), "b"), field(subset(3, 2, 15 * 2**60), "c"), field(subset(4, 1), "d")],
        ask=2,
    )
    parsed = survey(definition)
    rng = np.random.default_rng()
    for chunk in reports(parsed, draw_people(parsed, {"b": {"no_answer": 0.5}}, 500, rng), rng):
        for row in chunk:
            unpack(parsed, row.tobytes())


@pytest.mark.parametrize(
    "truth",
    [
        {"nobody": 1}, {"cheated": 2}, {"cheated": "yes"}, {"fair": {"Perhaps": 1}}, {"fair": 0.5}, {"fair": {"Agree": 0}},
        {"hours": {"mean": "many"}}, {"hours": [1]}, {"cheated": {"no_answer": 0.5, "of": 0.1}}, {"used": {"item 0": -1}},
    ],
)  # fmt: skip
def test_a_truth_that_does_not_fit_is_refused(truth: dict[str, Any]) -> None:
    with pytest.raises(TruthError):
        draw_people(survey(EVERYTHING), truth, 10, np.random.default_rng())
