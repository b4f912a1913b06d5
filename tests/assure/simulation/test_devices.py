"""Simulated devices have exactly the distribution of the real ones."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from candor_client import Survey
from candor_client.answer import encode
from candor_client.report import unpack
from survey_app.assure.simulation.devices import reports
from survey_app.kinds.planning_assumptions import TruthError
from survey_app.plan.simulated_people import draw_people
from tests.answers import EVERYTHING, SMALL, all_answers
from tests.definitions import COIN, define, drawn, field, geometric, multiple, number, scale, subset, survey, yes_no
from tests.definitions import choice as choice_question
from tests.distribution import exact_distribution, rejects

COUNT = 40_000


# What SMALL has no more than one of: many options and levels, three questions that hide one another, ask over all of it.
LARGER: dict[str, dict[str, Any]] = {
    "three of five drawn": define([multiple(options=5)], [field(drawn(5, 3, 2**63), "used")]),
    "geometric on a coarser grid": define([number(max=20, levels=6)], [field(geometric(6, 2**63), "hours")]),
    "a chain": define(
        [
            yes_no(),
            choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]}),
            scale(show_if={"question": "why", "is": ["option 1"]}),
        ],
        [field(subset(7, 1), "cheated", "why", "fair")],
    ),
    "ask over everything": define(
        [
            yes_no(),
            choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]}),
            multiple(),
            number(max=3, levels=4),
            scale(),
            number("age", max=3, show_if={"question": "used", "is": ["item 2"]}),
        ],
        [
            field(subset(4, 1), "cheated", "why", chance=5),
            field(drawn(3, 2), "used", chance=2),
            field(geometric(4), "hours"),
            field(subset(9, 1), "fair", "age", chance=4),
        ],
        ask=1,
    ),
}
CASES = SMALL | LARGER


def rows_of(parsed: Survey, answers: dict[str, Any], count: int) -> Counter[bytes]:
    """Reports of `count` devices whose people all say the same."""
    indices = {name: np.full(count, index, dtype=np.int64) for name, index in encode(parsed, answers).items()}
    made = np.concatenate(list(reports(parsed, indices, np.random.default_rng())))
    return Counter(row.tobytes() for row in made)


@pytest.mark.parametrize("name", CASES)
def test_simulated_bits_have_the_exact_distribution(name: str) -> None:
    """The test of the real client, at the same false-alarm rate: 1e-6 for each of two people."""
    definition = CASES[name]
    for answers in (all_answers(definition)[0], all_answers(definition)[-1]):
        assert not rejects(rows_of(survey(definition), answers, COUNT), exact_distribution(definition, answers))


def with_noise(form: dict[str, Any], part: float) -> dict[str, Any]:
    """The same mechanism with `part` times the noise."""
    changed = dict(form)
    for key in set(form) & {"one", "keep"}:
        changed[key] = str(2**64 - int((2**64 - int(form[key])) * part))
    for key in set(form) & {"zero", "ratio"}:
        changed[key] = str(int(int(form[key]) * part))
    return changed


@pytest.mark.parametrize("part", [0.85, 1.15])
@pytest.mark.parametrize("name", CASES)
def test_a_simulation_whose_noise_is_fifteen_percent_off_is_rejected(name: str, part: float) -> None:
    """Of 100,000 reports; about six standard errors are needed.

    A noise of ¼ moves by 27. The closest cases are "geometric, two levels" with 13, and "ask over everything", whose
    best field is asked of five in twelve and moves by 17.
    """
    definition = CASES[name]
    fields = [{**one, "mechanism": with_noise(one["mechanism"], part)} for one in definition["fields"]]
    answers = all_answers(definition)[-1]
    assert rejects(
        rows_of(survey({**definition, "fields": fields}), answers, 100_000), exact_distribution(definition, answers)
    )


def test_a_simulation_that_asks_by_other_chances_is_rejected() -> None:
    definition = CASES["ask with chances"]
    fields = [{key: value for key, value in one.items() if key != "chance"} for one in definition["fields"]]
    answers = all_answers(definition)[-1]
    assert rejects(
        rows_of(survey({**definition, "fields": fields}), answers, COUNT), exact_distribution(definition, answers)
    )


def test_who_answers_what_is_hidden_cannot_be_simulated() -> None:
    parsed = survey(CASES["a chain"])
    said = {"cheated": np.zeros(3, dtype=np.int64), "why": np.ones(3, dtype=np.int64), "fair": np.full(3, 3)}
    with pytest.raises(ValueError, match="hides"):
        list(reports(parsed, said, np.random.default_rng()))


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
        [field(COIN, "a"), field(drawn(4, 2), "b"), field(subset(3, 2, 15 * 2**60), "c"), field(subset(4, 1), "d")],
        ask=1,
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
