"""A trial on made-up people: what is called true is true of them, and the results are those of a real survey."""

import numpy as np
import pytest

from survey_app.assure.simulation.trial import population_figure, run_trial, simulate_tally
from survey_app.authoring import build
from survey_app.figures import FigureKind
from survey_app.plan.simulated_people import draw_people

# At ε = 30 a device changes an answer with a chance below 1e-12, so what is estimated is what was said; only numbers are
# rounded to levels, by less than a hundredth of the range in the mean of 2,000 people (40 standard errors and more).
CERTAIN = b"""\
slug: certain
title: Certain
epsilon: 240
accept_weak_privacy: true
questions:
  - {id: yes, type: yes_no, text: A}
  - {id: one, type: choice, text: A, options: [a, b, c], optional: true}
  - {id: few, type: scale, text: A, points: [a, b, c], scores: [-1, 0, 5], show_if: {question: yes, is: [yes]}}
  - {id: any, type: multiple, text: A, options: [a, b], optional: true}
  - {id: big, type: multiple, text: A, options: [a, b, c, d, e, f, g, h, i, j, k, l]}
  - {id: mean, type: number, text: A, min: -10, max: 50, step: 0.5, optional: true}
  - {id: bins, type: number, text: A, min: 0, max: 99, bins: 4}
  - {id: noise, type: number, text: A, min: 0, max: 500, mechanism: laplace}
"""


def test_without_noise_the_results_are_the_truth() -> None:
    survey = build(CERTAIN).survey
    found = run_trial(survey, 2000, np.random.default_rng())
    assert [one.question for one in found] == list(survey.questions)
    assert [line.option for line in found[0].lines][:2] == ["yes", "no"]
    kinds = set()
    for one in found:
        width = float(one.question.max - one.question.min) or 6.0
        for line in one.lines:
            kinds.add((one.question.id, line.kind))
            near = 0.01 * width if line.kind == "mean" else 1e-6
            if one.question.id != "big":  # each device says something about some options only
                assert line.estimate == pytest.approx(line.truth, abs=near), (one.question.id, line)
    assert {("few", "mean"), ("mean", "mean"), ("noise", "mean"), ("few", "no_answer"), ("bins", "share")} <= kinds


def test_the_check_can_fail() -> None:
    survey = build(CERTAIN).survey
    rng = np.random.default_rng()
    said = draw_people(survey, {}, 2000, rng)
    assert population_figure(survey.questions[0], "yes", FigureKind.SHARE, said["yes"]) != population_figure(
        survey.questions[0], "no", FigureKind.SHARE, said["yes"]
    )


def test_a_tally_in_pieces_counts_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = build(CERTAIN).survey
    monkeypatch.setattr("survey_app.assure.simulation.trial.CELLS", 7 * survey.width)
    said = draw_people(survey, {}, 100, np.random.default_rng())
    found = simulate_tally(survey, said, 100, np.random.default_rng())
    assert found.reports == 100
    assert found.counts[0] == said["yes"].sum()


def test_too_few_respondents_say_nothing() -> None:
    survey = build(CERTAIN).survey
    assert all(not one.lines for one in run_trial(survey, 1, np.random.default_rng()))
