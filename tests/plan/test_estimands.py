"""The figures of every type of question, against enumeration and simulated surveys."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from candor_client.definition import Field, Survey
from candor_client.mechanisms import Drawn, Flip, Geometric
from survey_app.assure.simulation import devices
from survey_app.authoring import build
from survey_app.figures import Floats
from survey_app.kinds.number import FINEST, spread_numbers
from survey_app.kinds.planning_assumptions import Guess
from survey_app.plan.forecast import find_planned_question
from survey_app.plan.question_plan import make_question
from survey_app.plan.report_variance import RESPONDENTS, standard_error
from survey_app.plan.simulated_people import draw_people
from tests.published_plans import ROOT

EVERY_TYPE = """
slug: every
title: Every type
questions:
  - {id: plain, type: yes_no, text: "?"}
  - {id: fixed, type: yes_no, text: "?", design: coin}
  - {id: skipped, type: yes_no, text: "?", optional: true}
  - {id: choice, type: choice, text: "?", options: [a, b, c, d, e, f]}
  - {id: scale, type: scale, text: "?", points: [a, b, c], scores: [-1, 0, 5]}
  - {id: maybe, type: scale, text: "?", points: [a, b, c, d], optional: true, epsilon: 4}
  - {id: drawn, type: multiple, text: "?", options: [a, b, c, d, e]}
  - {id: sets, type: multiple, text: "?", options: [a, b], epsilon: 2}
  - {id: two, type: number, text: "?", min: 10, max: 70, epsilon: 0.5}
  - {id: levels, type: number, text: "?", min: 0, max: 7, epsilon: 4, optional: true}
  - {id: bins, type: number, text: "?", min: 0, max: 59, bins: 5}
  - {id: noisy, type: number, text: "?", min: 0, max: 300, mechanism: laplace, epsilon: 1}
  - {id: left, type: scale, text: "?", points: [a, b, c]}
  - {id: right, type: number, text: "?", min: 0, max: 9}
  - {id: why, type: choice, text: "?", options: [a, b], show_if: {question: left, is: [b]}}
joint: [[left, right, why]]
"""


def scores_of(question: Any, name: str) -> Floats:
    """What a figure adds up, for each symbol of its question."""
    if name == "mean" and question.levels:
        step = float(question.max - question.min) / (question.levels - 1)
        found = [float(question.min) + step * level for level in range(question.levels)]
    elif name == "mean":
        found = [float(score) for score in question.scores] or [i + 1.0 for i in range(len(question.labels))]
    elif name == "mean of bins":
        found = [(12 * i + 12 * i + 11) / 2 for i in range(5)]  # of 0 to 59 in five bins
    elif question.type == "multiple":
        found = [float(mask & 1) for mask in range(question.no_answer)]
    else:
        found = [float(symbol == 1) for symbol in range(question.no_answer)]
    return np.array(found)


def estimates(place: Field, question: Any, name: str, counts: Floats, n: Floats) -> Any:
    """Unbiased estimates from the counts of many surveys, written down anew."""
    mechanism = place.mechanism
    if isinstance(mechanism, Geometric):
        ratio = mechanism.ratio / 2**64
        levels = np.arange(mechanism.size, dtype=float)
        levels[[0, -1]] += [-ratio / (1 - ratio), ratio / (1 - ratio)]
        step = float(question.max - question.min) / (question.levels - 1)
        return float(question.min) + step * (counts @ levels) / n
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return (counts[:, 0] / n - q) / (p - q)
    if isinstance(mechanism, Drawn):
        return (counts[:, 1] / (counts[:, 0] + counts[:, 1]) - q) / (p - q)
    shares = (counts / n[:, None] - q) / (p - q)
    at = [one.id for one in place.questions].index(question.id)
    digits = [cell[at] for cell in place.cells]
    own = np.stack([shares[:, [d == symbol for d in digits]].sum(axis=1) for symbol in range(question.size)], axis=1)
    scores = scores_of(question, name)
    value = own[:, : len(scores)] @ scores
    return value / own[:, : len(scores)].sum(axis=1) if name.startswith("mean") else value


def simulated(survey: Survey, runs: int, each: int) -> dict[tuple[str, str], Floats]:
    """The estimates of every figure in so many surveys of so many respondents."""
    rng = np.random.default_rng()
    rows = np.concatenate(list(devices.reports(survey, draw_people(survey, {}, runs * each, rng), rng)))
    bits = np.unpackbits(rows, axis=1)[:, : survey.width].reshape(runs, each, -1).sum(axis=1, dtype=np.int64)
    found: dict[tuple[str, str], Floats] = {}
    start = 0
    for place in survey.fields:
        n = np.full(runs, float(each))
        if survey.ask:
            n, start = bits[:, start].astype(float), start + 1
        counts = bits[:, start : start + place.mechanism.width].astype(float)
        start += place.mechanism.width
        for question in place.questions:
            for figure in find_planned_question(survey, question.id, Guess()).estimands:
                found[question.id, figure.name] = estimates(place, question, figure.name, counts, n)
    return found


def agrees(values: Floats, planned: float, figure_mean: float) -> bool:
    """Whether simulated estimates have the planned mean and standard error.

    Each check has a false-alarm rate below 1e-7: the mean is normal, the variance χ² (estimates are nearly normal). The
    6% allow for what a plan leaves out: that the number asked varies, and that ratios are not linear.
    """
    runs = len(values)
    low, high = (float(chi2.ppf(level, runs - 1)) / (runs - 1) for level in (5e-8, 1 - 5e-8))
    ratio = float(values.var(ddof=1)) / planned**2
    centred = abs(float(values.mean()) - figure_mean) < 5.5 * planned / math.sqrt(runs) + 0.06 * planned
    return bool(low / 1.06 < ratio < high * 1.06) and centred


@pytest.mark.slow
@pytest.mark.parametrize(
    ("top", "runs", "each"),
    [
        ("epsilon: 16\naccept_weak_privacy: true", 2000, 250),
        ("epsilon: 4\nask: one", 1000, 2000),
        ("epsilon: 4\nask: auto", 1000, 2000),
    ],
)
def test_simulated_surveys_are_as_uncertain_as_planned(top: str, runs: int, each: int) -> None:
    survey = build(f"{top}{EVERY_TYPE}".encode()).survey
    found = simulated(survey, runs, each)
    assert {place.mechanism.kind for place in survey.fields} == {"flip", "subset", "drawn", "geometric"}
    for (name, figure), values in found.items():
        one = next(known for known in find_planned_question(survey, name, Guess()).estimands if known.name == figure)
        assert agrees(values, standard_error(one.spread, each), one.planned), (name, figure)
        for factor in (0.55, 1.8):
            wrong = factor * standard_error(one.spread, each) ** 2
            assert not agrees(values, math.sqrt(wrong), one.planned), (name, figure)


def test_about_the_respondents_alone_only_the_coins_count() -> None:
    """The same people in every survey: the spread is that of the coins, and that of a population is too large."""
    survey = build(b"slug: s\ntitle: S\nepsilon: 3\nquestions: [{id: a, type: yes_no, text: '?'}]").survey
    rng, runs, each = np.random.default_rng(), 2000, 250
    fixed = {"a": np.tile((np.arange(each) < each // 5).astype(np.int64), runs)}
    rows = np.concatenate(list(devices.reports(survey, fixed, rng)))
    ones = np.unpackbits(rows, axis=1)[:, 0].reshape(runs, each).sum(axis=1).astype(float)
    values = estimates(survey.fields[0], survey.questions[0], "yes", ones[:, None], np.full(runs, float(each)))
    (figure,) = find_planned_question(survey, "a", Guess()).estimands
    assert agrees(values, standard_error(figure.spread, each, RESPONDENTS), 0.2)
    assert not agrees(values, standard_error(figure.spread, each), 0.2)


def test_numbers_are_guessed_as_they_are_simulated() -> None:
    question = make_question("number", high=Decimal(40))
    places, chances = spread_numbers(question, Guess(mean=10, sd=6))
    assert chances.sum() == pytest.approx(1)
    drawn = np.clip(np.rint(np.random.default_rng().normal(10, 6, 10**6)), 0, 40)
    assert 40 * float(chances @ places) == pytest.approx(drawn.mean(), abs=0.04)
    assert 1600 * float(chances @ places**2) == pytest.approx((drawn**2).mean(), abs=1.5)
    exact = spread_numbers(question, Guess(mean=10, sd=0))[1]
    assert exact[10] == 1
    even = spread_numbers(replace(question, max=Decimal(10**8)), Guess())[1]
    assert len(even) == FINEST + 1


def test_those_who_are_not_shown_a_question_do_not_answer_it() -> None:
    survey = build((ROOT / "tests" / "campus.yaml").read_bytes()).survey
    (figure,) = find_planned_question(survey, "why", Guess()).estimands
    assert figure.planned == pytest.approx(0.2 / 2)
    assert find_planned_question(survey, "help", Guess()).estimands[0].planned == pytest.approx(0.9 / 3)
