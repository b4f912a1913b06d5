"""Plans, against published figures, exact enumeration and simulated surveys."""

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from client.definition import Field, Survey
from client.mechanism import Flip, Geometric, Sampled, Subset, Unary
from survey_app.authoring import build, choose
from survey_app.authoring.source import read
from survey_app.channel import Floats, score_variance, union_variance
from survey_app.cli import main
from survey_app.estimate.intervals import guarded
from survey_app.plan import central, guidance, people, power
from survey_app.plan.cross import Cross
from survey_app.plan.estimands import estimands, make_field
from survey_app.plan.forecast import asked
from survey_app.plan.people import Guess
from survey_app.plan.question import make_question, plan_question
from survey_app.plan.settings import Settings
from survey_app.plan.spread import (
    POPULATION,
    RESPONDENTS,
    PlanError,
    Spread,
    Target,
    margin,
    respondents_for_error,
    respondents_for_margin,
    standard_error,
    z_score,
)
from survey_app.plan.survey import SurveyPlan, plan_survey
from survey_app.plan.variants import variant
from survey_app.simulate import devices
from tests import reference
from tests.definitions import choice as choice_question
from tests.definitions import define, field, subset, unary

ROOT = Path(__file__).parents[2]
LN3 = Decimal(3).ln()
Z = 1.959963984540054


def yes(epsilon: str | Decimal, questions: int = 1, ask: int | None = None) -> Callable[[float], Spread]:
    """The spread of a yes at any share, for `questions` alike that share an ε."""
    answered = ask or questions
    made = make_field((make_question("yes_no"),), Decimal(epsilon) / answered)
    (figure,) = estimands(made, made.questions[0], Guess(), asked=answered / questions)
    return figure.at


def printed(figure: str) -> Any:
    """A published figure: right to half a unit of its last digit."""
    decimals = len(figure.partition(".")[2])
    return pytest.approx(float(figure), abs=0.5000001 * 10**-decimals)


def total(spread: Spread) -> float:
    """n·Var for a large population."""
    return (spread.people + spread.coins) / spread.asked


# Sample sizes


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
    spread = yes(epsilon)(0.5)
    assert respondents_for_error(spread, error) == worst
    assert respondents_for_error(spread, error, RESPONDENTS) == sample
    assert respondents_for_error(central.laplace(0.25, float(epsilon)), error) == laplace
    assert respondents_for_error(central.no_privacy(0.25), error) == without


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
    spread, curator = yes("0.5")(0.25), central.laplace(0.1875, 0.5)
    found = [standard_error(central.no_privacy(0.1875), n), standard_error(spread, n), standard_error(curator, n)]
    found += [standard_error(spread, n, RESPONDENTS), standard_error(curator, n, RESPONDENTS)]
    assert found == pytest.approx([without, local, laplace, local_fixed, laplace_fixed], abs=5.1e-6)


def test_the_coin_of_the_lecture() -> None:
    coin = choose.design(Fraction(3, 4), Fraction(1, 4))
    (figure,) = estimands(Field((make_question("yes_no"),), coin, ""), make_question("yes_no"), Guess())
    assert figure.planned == 0.2
    assert standard_error(figure.spread, 100) == printed("0.09539")
    assert standard_error(figure.spread, 100, RESPONDENTS) == printed("0.08660")
    assert figure.spread.design_effect == printed("5.7")
    assert figure.at(0.05).design_effect == printed("16.8")


def test_a_finite_population_lies_between_many_people_and_the_respondents_alone() -> None:
    spread = yes("1")(0.2)
    errors = [standard_error(spread, 500, target) for target in (RESPONDENTS, Target(500), Target(1000), POPULATION)]
    assert errors[0] == errors[1] < errors[2] < errors[3]
    assert errors[2] ** 2 == pytest.approx(0.5 * 0.16 / 500 + spread.coins / 500)
    assert respondents_for_margin(spread, 0.05, target=Target(1200)) is None
    with pytest.raises(PlanError, match="more than the population"):
        standard_error(spread, 501, Target(500))


SPREADS = st.builds(
    Spread,
    people=st.floats(0.001, 1),
    coins=st.floats(0, 1000),
    asked=st.floats(0.01, 1),
    added=st.sampled_from([0.0, 8.0, 1000.0]),
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
        made = choose.flip(Decimal(epsilon))
        weights = binom.pmf(np.arange(1001), 1000, float(made.q) + share * float(made.p - made.q))
        intervals = [guarded(y, 1000, made.p, made.q, 0.05) for y in range(1001)]
        width = sum(weight * (one.high - one.low) / 2 for weight, one in zip(weights, intervals, strict=True))
        planned = margin(yes(epsilon)(share), 1000)
        assert planned < width < 1.03 * planned


# Power


@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 6441), ("1", 1736), (LN3, 1468), ("3", 377)])
def test_two_groups(epsilon: str | Decimal, n: int) -> None:
    at = yes(epsilon)
    assert power.difference_respondents(at(0.2), at(0.3), 0.1) == n
    assert power.difference_power(at(0.2), at(0.3), 0.1, n) == pytest.approx(0.8, abs=1e-3)
    assert power.smallest_difference(at, 0.2, n) == pytest.approx(0.1, rel=1e-3)
    reach = Z + 0.8416212335729143
    assert reach * math.sqrt((total(at(0.2)) + total(at(0.3))) / n) == pytest.approx(0.1, rel=1e-3)
    assert power.difference_power(at(0.2), at(0.2), 0.0, n) == pytest.approx(0.05)


def told_apart(epsilon: str | Decimal, shares: tuple[float, float], n: int, runs: int) -> float:
    """How often a test of two simulated groups finds them to differ, at 5%."""
    made, rng = choose.flip(Decimal(epsilon)), np.random.default_rng()
    p, q = float(made.p), float(made.q)
    reported = np.stack([rng.binomial(n, q + share * (p - q), runs) / n for share in shares])
    values = (reported - q) / (p - q)
    errors = np.sqrt((reported * (1 - reported)).sum(axis=0) / (n - 1)) / (p - q)
    return float((np.abs(values[0] - values[1]) > Z * errors).mean())


@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 6441), ("1", 1736), (LN3, 1468), ("3", 377)])
def test_simulated_groups_have_the_planned_power(epsilon: str | Decimal, n: int) -> None:
    """10^6 runs have a standard error of 0.0004, and the formula, which takes counts for normal, is off by 0.0012.

    0.004 is seven standard errors beyond that: false alarms 3e-12.
    """
    at = yes(epsilon)
    for shares in ((0.2, 0.3), (0.2, 0.2)):
        planned = power.difference_power(at(shares[0]), at(shares[1]), shares[1] - shares[0], n)
        assert abs(told_apart(epsilon, shares, n, 10**6) - planned) < 0.004


def test_a_plan_for_other_coins_is_found_out() -> None:
    """Power planned for a tenth more ε, or without any noise, is not what such groups have."""
    seen = told_apart("1", (0.2, 0.3), 1736, 10**6)
    for spread in (yes("1.1"), lambda share: central.no_privacy(share * (1 - share))):
        planned = power.difference_power(spread(0.2), spread(0.3), 0.1, 1736)
        assert abs(seen - planned) > 0.03


def test_a_group_can_be_too_small_for_any_difference() -> None:
    assert power.smallest_difference(yes("0.1"), 0.2, 50) is None
    assert power.smallest_difference(yes("1"), 1.0, 50) is None
    assert power.difference_respondents(yes("1")(0.2), yes("1")(0.3), 0.1, target=Target(1000)) is None
    assert power.difference_respondents(yes("1")(0.2), yes("1")(0.2), 0.0) is None
    assert power.positive_respondents(yes("1"), 0.0) is None


@pytest.mark.parametrize(("epsilon", "share", "n"), [("1", 0.2, 150), ("3", 0.05, 265), ("4", 0.05, 136)])
def test_the_exact_power_is_that_of_the_interval_of_the_results(epsilon: str, share: float, n: int) -> None:
    made = choose.flip(Decimal(epsilon))
    chances = binom.pmf(np.arange(n + 1), n, float(made.q) + share * float(made.p - made.q))
    shown = [guarded(y, n, made.p, made.q, 0.05).low > 0 for y in range(n + 1)]
    assert power.exact_positive_power(made.p, made.q, share, n) == pytest.approx(float(chances @ shown), abs=1e-9)


@pytest.mark.parametrize("epsilon", ["1", "3", "4"])
def test_from_the_exact_number_on_the_power_suffices(epsilon: str) -> None:
    made = choose.flip(Decimal(epsilon))
    n = power.exact_positive_respondents(made.p, made.q, 0.05)
    assert power.exact_positive_power(made.p, made.q, 0.05, n - 1) < 0.8
    assert all(power.exact_positive_power(made.p, made.q, 0.05, more) >= 0.8 for more in range(n, 2 * n, 3))
    normal = power.positive_respondents(yes(epsilon), 0.05)
    assert normal is not None
    assert power.exact_positive_power(made.p, made.q, 0.05, normal) < 0.8


# What ε means


def test_the_table_for_people() -> None:
    rows = guidance.table()
    assert [row.rare for row in rows] == [292, 24_372, 5_951, 4_902, 2_213, 1_405, 631, 409]
    assert [row.usual for row in rows] == [246, 6_266, 1_661, 1_399, 727, 524, 331, 276]
    assert [row.shown for row in rows] == [None, 12_345, 2_935, 2_399, 1_025, 612, 214, 95]
    assert [round(100 * row.suspicion) for row in rows] == [100, 8, 13, 14, 21, 28, 51, 74]
    assert [round(100 * row.guess) for row in rows] == [100, 62, 73, 75, 83, 88, 95, 98]
    assert rows[2].suspicion == pytest.approx(0.1252, abs=5e-5)


def test_the_table_with_a_rounded_quantile_is_the_published_one() -> None:
    """Three cells were published with z = 1.96; with it they come out as they were printed, without it one less."""
    rounded = 2 * 0.9750021048517795 - 1  # the confidence whose z is 1.96
    assert z_score(rounded) == pytest.approx(1.96, abs=1e-12)
    levels: list[str | Decimal] = ["0.5", "1", LN3, Decimal(5).ln(), "2", "3", "4"]
    rare = [respondents_for_margin(yes(level)(0.05), 0.025, rounded) for level in levels]
    usual = [respondents_for_margin(yes(level)(0.2), 0.05, rounded) for level in levels]
    shown = [power.positive_respondents(yes(level), 0.05, 0.8, rounded) for level in levels]
    assert rare == [24_373, 5_951, 4_902, 2_213, 1_405, 631, 409]
    assert usual == [6_266, 1_661, 1_399, 727, 525, 331, 276]
    assert shown == [12_345, 2_935, 2_400, 1_025, 612, 214, 95]


# A trusted curator


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
    assert central.laplace_variance(epsilon, 2) == printed(laplace)
    assert central.gaussian_sigma(epsilon, 1e-6, 2) ** 2 == printed(gaussian)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.4])
def test_the_gaussian_is_private_and_with_a_little_less_noise_it_is_not(epsilon: float, delta: float) -> None:
    sigma = central.gaussian_sigma(epsilon, delta)
    assert central.gaussian_delta(sigma, epsilon) == pytest.approx(delta, rel=1e-4)
    assert central.gaussian_delta(sigma * 1.001, epsilon) < delta < central.gaussian_delta(sigma * 0.999, epsilon)
    assert central.gaussian_sigma(epsilon, delta, 3.0) == pytest.approx(3 * sigma)


def test_the_sigma_that_was_published() -> None:
    assert central.gaussian_sigma(1, 1e-6, 1) == printed("4.2247")
    assert central.gaussian_sigma(1, 1e-6, 2) == printed("8.4494")


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-6), (-1.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)])
def test_noise_without_sense_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(PlanError):
        central.gaussian_sigma(epsilon, delta)


# Asking some of the questions, and questions together


@pytest.mark.parametrize(
    ("epsilon", "share", "everything", "best", "ask"),
    [
        ("1", 0.2, "100", "10.8", 1),
        ("4", 0.05, "6.21", "0.67", 1),
        ("4", 0.2, "6.33", "1.71", 2),
        ("8", 0.2, "1.64", "0.80", 3),
    ],
)
def test_ten_questions_of_which_some_are_asked(
    epsilon: str, share: float, everything: str, best: str, ask: int
) -> None:
    assert total(yes(epsilon, 10)(share)) == printed(everything)
    assert total(yes(epsilon, 10, ask)(share)) == printed(best)
    assert min(range(1, 11), key=lambda s: total(yes(epsilon, 10, s)(share))) == ask


def test_ten_choices_of_which_one_is_asked() -> None:
    found = []
    for ask in (None, 1):
        made = make_field((make_question("choice", options=5),), Decimal(4) / (ask or 10))
        (figure,) = estimands(made, made.questions[0], Guess(), asked=(ask or 10) / 10)
        found.append(total(figure.spread))
    assert found == [printed("15.8"), printed("1.91")]


def two_choices(first: int, second: int, epsilon: str, **more: Any) -> bytes:
    questions = [
        {"id": name, "type": "choice", "text": "?", "options": [f"{name}{i}" for i in range(size)]}
        for name, size in (("a", first), ("b", second))
    ]
    said = {"slug": "pair", "title": "Pair", "epsilon": epsilon, "questions": questions, **more}
    return json.dumps(said).encode()


def crossed(*size: Any, **more: Any) -> Cross:
    (found,) = plan_survey(two_choices(*size, **more), json_file=True).crosses
    return found


def times_n(half_width: float | None) -> float:
    assert half_width is not None
    return 1000 * (half_width / Z) ** 2


@pytest.mark.parametrize(
    ("first", "second", "epsilon", "together", "apart"),
    [(2, 20, "2", "7.06", "1.17"), (5, 5, "1", "14.2", "10.1"), (2, 2, "1", "2.77", "4.17")],
)
def test_margins_of_a_joint_field(first: int, second: int, epsilon: str, together: str, apart: str) -> None:
    found = crossed(first, second, epsilon)
    assert times_n(found.joint.lines[0].margin) == printed(together)
    assert times_n(found.separate.lines[0].margin) == printed(apart)
    assert found.cells == first * second
    written = crossed(first, second, epsilon, joint=[["a", "b"]])
    assert written == msgspec.structs.replace(found, is_joint=True)


@pytest.mark.parametrize(
    ("epsilon", "apart", "together"),
    [("0.5", "269.5", "9.38"), ("1", "19.5", "2.08"), ("2", "1.96", "0.50"), ("3", "0.69", "0.27")],
)
def test_cells_of_a_joint_field(epsilon: str, apart: str, together: str) -> None:
    found = crossed(2, 2, epsilon)
    assert times_n(found.separate.cell) == printed(apart)
    assert times_n(found.joint.cell) == printed(together)


def test_questions_that_no_device_answers_both_are_never_crossed() -> None:
    assert crossed(2, 2, "1", ask="1").separate.cell is None
    more = {"id": "c", "type": "yes_no", "text": "?"}
    said = json.loads(two_choices(2, 2, "2", ask="2"))
    said["questions"].append(more)
    plan = plan_survey(json.dumps(said).encode(), json_file=True, cross=[("a", "b")])
    (pair,) = plan.crosses
    mechanism = build(json.dumps(said).encode(), json_file=True).survey.fields[0].mechanism
    assert isinstance(mechanism, Subset)
    once = 0.25 / float(mechanism.p - mechanism.q) ** 2 + 0.25
    assert times_n(pair.separate.cell) == pytest.approx(3 * (once**2 - 1 / 16))


# The figures of every type of question


@pytest.mark.parametrize(("size", "weight", "union"), [(4, 1, 2), (5, 2, 2), (6, 3, 3), (4, 2, 1), (2, 1, 1)])
def test_score_variance_of_a_set_is_its_union_variance(size: int, weight: int, union: int) -> None:
    made = choose.subset(size, weight, Decimal(1))
    scores = [1.0] * union + [0.0] * (size - union)
    shares = [0.3 / union] * union + [0.7 / (size - union)] * (size - union)
    assert score_variance(made, scores, shares) + 0.21 == pytest.approx(union_variance(made, union, 0.3), rel=1e-12)


@pytest.mark.parametrize("form", [subset(5, 1), subset(5, 2), subset(5, 4, 15 * 2**60), unary(5)])
def test_score_variance_is_that_of_the_enumerated_bits(form: dict[str, Any]) -> None:
    definition = define([choice_question(options=5)], [field(form, "help")])
    scores, shares = (
        [-2, 0, 1, 5, 5],
        [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(1, 10), Fraction(3, 10)],
    )
    mechanism = (
        Survey.from_json(json.dumps(definition, sort_keys=True, separators=(",", ":")).encode()).fields[0].mechanism
    )
    assert isinstance(mechanism, Subset | Unary)
    counted = [score - (min(scores) if isinstance(mechanism, Unary) else 0) for score in scores]
    variance = Fraction(0)
    for symbol, share in enumerate(shares):
        bits = reference.distribution(definition, {"help": f"option {symbol}"})
        sums = [
            (chance, sum(s for s, bit in zip(counted, row, strict=False) if bit == "1")) for row, chance in bits.items()
        ]
        mean = sum((chance * s for chance, s in sums), Fraction(0))
        variance += share * (sum((chance * s**2 for chance, s in sums), Fraction(0)) - mean**2)
    expected = float(variance / (mechanism.p - mechanism.q) ** 2)
    assert score_variance(mechanism, [float(s) for s in scores], [float(f) for f in shares]) == pytest.approx(expected)


EVERY_TYPE = """
slug: every
title: Every type
epsilon: 15
accept_weak_privacy: true
questions:
  - {id: plain, type: yes_no, text: "?"}
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
joint: [[left, right]]
"""
RUNS, EACH = 2000, 250


def truth(question: Any, rng: np.random.Generator, count: int) -> Any:
    """Answers as the plan assumes them, as the indices that simulated devices take."""
    answers: Any
    if question.type == "yes_no":
        answers = rng.random(count) < 0.2
    elif question.type == "multiple":
        answers = (rng.random((count, len(question.labels))) < 0.3) @ (1 << np.arange(len(question.labels)))
    elif question.type == "number":
        answers = rng.integers(0, question.steps + 1, count)
        answers = answers * question.bins // (question.steps + 1) if question.bins else answers
    else:
        answers = rng.integers(0, len(question.labels), count)
    none = question.steps + 1 if question.levels else question.no_answer
    return (
        np.where(rng.random(count) < people.SKIPPING, none, answers) if question.optional else answers.astype(np.int64)
    )


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
        weights = 2.0 ** np.arange(mechanism.width - 1, -1, -1)
        weights[0] *= -1
        step = float(question.max - question.min) / (question.levels - 1)
        return float(question.min) + step * (counts @ weights) / n
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        return (counts[:, 0] / n - q) / (p - q)
    if isinstance(mechanism, Sampled):
        return (counts[:, 1] / (counts[:, 0] + counts[:, 1]) - q) / (p - q)
    shares = (counts / n[:, None] - q) / (p - q)
    sizes = [one.size for one in place.questions]
    at = [one.id for one in place.questions].index(question.id)
    own = shares.reshape(-1, *sizes).sum(axis=tuple(i + 1 for i in range(len(sizes)) if i != at))
    scores = scores_of(question, name)
    value = own[:, : len(scores)] @ scores
    return value / own[:, : len(scores)].sum(axis=1) if name.startswith("mean") else value


def simulated(survey: Survey) -> dict[tuple[str, str], Floats]:
    """The estimates of every figure in RUNS surveys of EACH respondents."""
    rng = np.random.default_rng()
    people = {question.id: truth(question, rng, RUNS * EACH) for question in survey.questions}
    rows = np.concatenate(list(devices.reports(survey, people, rng)))
    bits = np.unpackbits(rows, axis=1)[:, : survey.width].reshape(RUNS, EACH, -1).sum(axis=1, dtype=np.int64)
    found: dict[tuple[str, str], Floats] = {}
    start = 0
    for place in survey.fields:
        n = np.full(RUNS, float(EACH))
        if survey.ask:
            n, start = bits[:, start].astype(float), start + 1
        counts = bits[:, start : start + place.mechanism.width].astype(float)
        start += place.mechanism.width
        for question in place.questions:
            for figure in asked(survey, question.id, Guess()).estimands:
                found[question.id, figure.name] = estimates(place, question, figure.name, counts, n)
    return found


def agrees(values: Floats, planned: float, figure_mean: float) -> bool:
    """Whether simulated estimates have the planned mean and standard error.

    Each check has a false-alarm rate below 1e-7: the mean is normal, the variance χ² (estimates are nearly normal). The
    6% allow for what a plan leaves out: that the number asked varies, and that ratios are not linear.
    """
    low, high = (float(chi2.ppf(level, RUNS - 1)) / (RUNS - 1) for level in (5e-8, 1 - 5e-8))
    ratio = float(values.var(ddof=1)) / planned**2
    centred = abs(float(values.mean()) - figure_mean) < 5.5 * planned / math.sqrt(RUNS) + 0.06 * planned
    return bool(low / 1.06 < ratio < high * 1.06) and centred


@pytest.mark.parametrize("ask", ["", "ask: 6\n"])
def test_simulated_surveys_are_as_uncertain_as_planned(ask: str) -> None:
    survey = build((EVERY_TYPE + ask).encode()).survey
    found = simulated(survey)
    kinds = {place.mechanism.kind for place in survey.fields}
    assert kinds == {"flip", "subset", "sampled", "geometric"}
    for (name, figure), values in found.items():
        one = next(known for known in asked(survey, name, Guess()).estimands if known.name == figure)
        assert agrees(values, standard_error(one.spread, EACH), one.planned), (name, figure)
        for factor in (0.55, 1.7):
            wrong = factor * standard_error(one.spread, EACH) ** 2
            assert not agrees(values, math.sqrt(wrong), one.planned), (name, figure)


def test_about_the_respondents_alone_only_the_coins_count() -> None:
    """The same people in every survey: the spread is that of the coins, and that of a population is too large."""
    survey = build(b"slug: s\ntitle: S\nepsilon: 3\nquestions: [{id: a, type: yes_no, text: '?'}]").survey
    rng = np.random.default_rng()
    people = {"a": np.tile((np.arange(EACH) < EACH // 5).astype(np.int64), RUNS)}
    rows = np.concatenate(list(devices.reports(survey, people, rng)))
    ones = np.unpackbits(rows, axis=1)[:, 0].reshape(RUNS, EACH).sum(axis=1).astype(float)
    values = estimates(survey.fields[0], survey.questions[0], "yes", ones[:, None], np.full(RUNS, float(EACH)))
    (figure,) = asked(survey, "a", Guess()).estimands
    assert agrees(values, standard_error(figure.spread, EACH, RESPONDENTS), 0.2)
    assert not agrees(values, standard_error(figure.spread, EACH), 0.2)


def test_numbers_are_guessed_as_they_are_simulated() -> None:
    question = make_question("number", high=Decimal(40))
    places, chances = people.numbers(question, Guess(mean=10, sd=6))
    assert chances.sum() == pytest.approx(1)
    drawn = np.clip(np.rint(np.random.default_rng().normal(10, 6, 10**6)), 0, 40)
    assert 40 * float(chances @ places) == pytest.approx(drawn.mean(), abs=0.04)
    assert 1600 * float(chances @ places**2) == pytest.approx((drawn**2).mean(), abs=1.5)
    exact = people.numbers(question, Guess(mean=10, sd=0))[1]
    assert exact[10] == 1
    even = people.numbers(replace(question, max=Decimal(10**8)), Guess())[1]
    assert len(even) == people.FINEST + 1


def test_those_who_are_not_shown_a_question_do_not_answer_it() -> None:
    survey = build((ROOT / "examples" / "campus.yaml").read_bytes()).survey
    (figure,) = asked(survey, "why", Guess()).estimands
    assert figure.planned == pytest.approx(0.2 / 2)
    assert asked(survey, "help", Guess()).estimands[0].planned == pytest.approx(0.9 / 3)


@pytest.mark.parametrize("kind", ["yes_no", "choice", "scale", "multiple", "number"])
@pytest.mark.parametrize("target", [POPULATION, RESPONDENTS, Target(10**7)])
@pytest.mark.parametrize(("questions", "ask"), [(1, None), (5, None), (5, 2)])
def test_every_type_is_planned_both_ways(kind: str, target: Target, questions: int, ask: int | None) -> None:
    question = make_question(kind, options=5)

    def plan(**fixed: Any) -> Any:
        settings = Settings(target=target, **fixed)
        return plan_question(question, Decimal(4), settings, questions=questions, ask=ask).outlooks

    for needed, reached in zip(plan(margin=0.02), plan(respondents=20_000), strict=True):
        assert needed.precision.margin == pytest.approx(0.02 * (needed.high - needed.low))
        (again,) = [one for one in plan(respondents=needed.precision.respondents) if one.figure == needed.figure]
        assert again.precision.margin == pytest.approx(needed.precision.margin, rel=0.01)
        assert again.precision.margin <= needed.precision.margin * (1 + 1e-8)
        assert reached.instead["no privacy"].margin <= reached.precision.margin
        assert reached.smallest_difference > 0
        assert (reached.above_zero is not None) == (not reached.figure.startswith("mean"))
        if reached.above_zero is not None:
            (enough,) = [one for one in plan(respondents=reached.above_zero) if one.figure == reached.figure]
            assert enough.above_zero_power >= 0.8 - 1e-9


def test_bins_and_laplace_noise_are_planned_too() -> None:
    settings = Settings(respondents=1000)
    share, mean = plan_question(make_question("number", bins=5), Decimal(1), settings).outlooks
    assert (share.figure, mean.figure) == ("bin", "mean of bins")
    (noisy,) = plan_question(make_question("number"), Decimal(1), settings, laplace=True).outlooks
    assert noisy.precision.margin == pytest.approx(Z * math.sqrt((2 * 100**2 + 100 * 102 / 12) / 1000), rel=1e-3)
    two = plan_question(make_question("number", high=Decimal(1)), Decimal(1), settings).outlooks[0]
    assert two.precision.margin == pytest.approx(margin(yes("1")(0.5), 1000), rel=1e-9)


def test_a_curator_releases_all_shares_at_once() -> None:
    def added(kind: str) -> float:
        (first, *_) = plan_question(make_question(kind, options=4), Decimal(1), Settings(respondents=1000)).outlooks
        without, laplace = (first.instead[name].margin for name in ("no privacy", "central Laplace"))
        return 1000 * math.sqrt(laplace**2 - without**2) / Z / math.sqrt(2) / (first.high - first.low)

    assert [added(kind) for kind in ("yes_no", "choice", "multiple", "scale")] == pytest.approx([1, 2, 4, 1])


# A whole survey


def planned(source: str, **more: Any) -> SurveyPlan:
    return plan_survey(source.encode(), Settings(**{"respondents": 1000, "margin": 0.05, **more}))


SEVEN = "slug: s\ntitle: S\nepsilon: 1\nquestions:\n" + "".join(
    f"  - {{id: q{i}, type: yes_no, text: '?'}}\n" for i in range(7)
)


def test_what_ask_would_change_is_what_the_file_with_it_gives() -> None:
    plan = planned(SEVEN)
    (other,) = plan.alternatives
    assert other.ask == 1
    with_it = planned(SEVEN + "ask: 1\n")
    assert with_it.lines == other.lines
    assert with_it.notes == ["ask: 1 is the best number of fields to ask"]
    (without,) = with_it.alternatives
    assert without.ask is None
    assert without.lines == plan.lines
    assert any("ask: 1 lets each device answer 1 of 7 fields" in said for said in plan.advice)


def test_where_ask_cannot_help_that_is_said() -> None:
    assert "show_if" in plan_survey((ROOT / "examples" / "campus.yaml").read_bytes()).notes[0]
    assert "everything is best" in plan_survey((ROOT / "examples" / "exam.yaml").read_bytes()).notes[0]
    one = planned("slug: s\ntitle: S\nepsilon: 1\nquestions: [{id: a, type: yes_no, text: '?'}]")
    assert not one.notes
    assert not one.alternatives


def test_a_survey_without_trouble_gets_no_advice() -> None:
    assert planned("slug: s\ntitle: S\nepsilon: 2\nquestions: [{id: a, type: yes_no, text: '?'}]").advice == []


@pytest.mark.parametrize(
    ("question", "epsilon", "more", "said"),
    [
        (
            "type: yes_no",
            "0.2",
            {},
            r"cannot be told from zero. What helps: ε = 1\.33 for it instead of 0\.20 \(±5 points\); 38,[0-9]{3} resp",
        ),
        ("type: yes_no", "0.05", {}, "as wide as all that is possible and says nothing"),
        ("type: yes_no", "0.5", {"margin": 0.001}, r"±0\.1 points would take [0-9,]+ respondents. Leave it out"),
        ("type: yes_no", "0.5", {"target": Target(1000)}, "even the whole population would not bring it to ±5 points"),
        (
            "type: choice, options: [a, b, c, d, e, f, g, h]",
            "0.8",
            {},
            "an option at 12.5%: with 1,000 respondents the margin is",
        ),
        ("type: multiple, options: [a, b, c, d, e, f, g, h]", "0.5", {}, r"half as many options \(±"),
        ("type: number, min: 0, max: 10, unit: h", "0.1", {}, r"±[0-9.]+ h, so the interval can be as wide"),
        ("type: number, min: 0, max: 100, mechanism: laplace", "0.1", {}, r"ε = 1\.[0-9]+ for it"),
    ],
)
def test_a_hopeless_question_gets_advice(question: str, epsilon: str, more: dict[str, Any], said: str) -> None:
    plan = planned(f"slug: s\ntitle: S\nepsilon: {epsilon}\nquestions: [{{id: a, text: '?', {question}}}]", **more)
    assert re.search(said, plan.advice[0]), plan.advice


def test_help_for_a_rare_answer_tells_it_from_zero() -> None:
    source = "slug: s\ntitle: S\nepsilon: 1\nquestions: [{id: a, text: '?', type: yes_no}]"
    (said,) = planned(source, guess=Guess(share=0.01)).advice
    assert "yes at 1%: with 1,000 respondents the margin is ±5.98 points" in said
    assert re.search(r"What helps: [0-9,]+ respondents \(±1 point\)", said)


def test_the_advised_epsilon_is_enough_and_not_too_much() -> None:
    for question in (
        "type: yes_no",
        "type: choice, options: [a, b, c, d, e]",
        "type: number, min: 0, max: 100, bins: 8",
    ):
        source = "slug: s\ntitle: S\nepsilon: {}\nquestions: [{{id: a, text: '?', {}}}]"
        (said, *_) = planned(source.format("0.1", question)).advice
        epsilon = Decimal(re.findall(r"ε = ([0-9.]+) for it", said)[0])
        for change, enough in ((0, True), (Decimal("-0.02"), False)):
            (first, *_) = planned(source.format(epsilon + change, question)).lines
            assert (first.margin <= 0.05) is enough


def test_a_joint_field_that_ruins_its_margins_is_named() -> None:
    source = two_choices(2, 20, "2", joint=[["a", "b"]])
    plan = plan_survey(source, Settings(respondents=10_000, margin=0.05), json_file=True)
    assert any(
        said.startswith("a and b are randomized together; for each alone that makes a ±") for said in plan.advice
    )
    good = plan_survey(two_choices(2, 2, "2", joint=[["a", "b"]]), json_file=True)
    assert not any("together" in said for said in good.advice)


def test_a_long_survey_is_crossed_on_demand_only() -> None:
    assert planned(SEVEN).crosses == []
    found = plan_survey(SEVEN.encode(), cross=[("q0", "q1"), ("q2", "q3", "q4")]).crosses
    assert [one.cells for one in found] == [4, 8]
    assert [one.share for one in found] == pytest.approx([0.04, 0.008])
    with_levels = SEVEN + "  - {id: n, type: number, text: '?', min: 0, max: 9}\n"
    (one,) = plan_survey(with_levels.encode(), cross=[("q0", "n")]).crosses
    assert one.joint.cell is None
    assert one.joint.lines[1].figure == "mean"


@pytest.mark.parametrize(
    ("names", "said"),
    [(("q0",), "at least two"), (("q0", "q0"), "two different"), (("q0", "x"), "no question 'x'"), (("q0", "design"), "cannot be one field"), (("q0", "a"), "with other questions already")],
)  # fmt: skip
def test_what_cannot_be_crossed_is_refused(names: tuple[str, ...], said: str) -> None:
    source = SEVEN + "  - {id: design, type: yes_no, text: '?', epsilon: 0.1}\n"
    source = source.replace("epsilon: 1\n", "epsilon: 3\n", 1).replace("epsilon: 0.1", "design: coin")
    source += "".join(f"  - {{id: {name}, type: yes_no, text: '?'}}\n" for name in "ab") + "joint: [[a, b]]\n"
    with pytest.raises(PlanError, match=said):
        plan_survey(source.encode(), cross=[names])


def test_a_variant_changes_nothing_else() -> None:
    source = (ROOT / "examples" / "campus.yaml").read_bytes()
    same = variant(read(source), joint=[["help", "fair"]])
    assert same is not None
    assert same.survey.source == build(source).survey.source
    assert variant(read(source), ask="auto") is None  # show_if


# The command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


def test_the_command_speaks_json() -> None:
    found = json.loads(run(str(ROOT / "examples" / "exam.yaml"), "--json", "--respondents", "500").stdout)
    assert [line["id"] for line in found["lines"]] == ["cheated", "help", "hours"]
    assert found["settings"]["respondents"] == 500
    assert found["lines"][0]["respondents"] == 1399
    single = json.loads(run("--epsilon", "1", "--margin", "5%", "--json").stdout)
    assert single["outlooks"][0]["precision"] == {"respondents": 1661, "margin": 0.05}
    levels = json.loads(run("--guidance", "--json").stdout)
    assert levels[0]["epsilon"] is None
    assert len(levels) == 8


def test_a_small_population_is_all_there_is() -> None:
    found = run(str(ROOT / "examples" / "exam.yaml"), "--population", "300")
    assert "margin at 300" in found.stdout
    assert "more than there are" in found.stdout
    one = run("--epsilon", "1", "--margin", "0.05", "--population", "300").stdout
    assert "all 300 together: ±" in one


def test_a_hopeless_question_is_called_so() -> None:
    assert "more than any survey reaches" in run("--epsilon", "0.01", "--margin", "0.01").stdout
    assert "as wide as all that is possible" in run("--epsilon", "0.1", "--respondents", "100").stdout
    fine = run("--epsilon", "1", "--respondents", "1000").stdout
    assert "reaches" not in fine
    assert "possible" not in fine


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "Name a survey FILE"),
        ("--margin 0.1", "Name a survey FILE"),
        ("--epsilon 1", "Give --margin"),
        ("--epsilon 1 --margin 0.1 --respondents 10", "give only one"),
        ("--epsilon none --margin 0.1", "not a positive number"),
        ("--epsilon ln1 --margin 0.1", "not a positive number"),
        ("--epsilon -1 --margin 0.1", "not a positive number"),
        ("--epsilon 1e9 --margin 0.1", "nothing is protected"),
        ("--epsilon 1 --margin 5", "not a part of 1"),
        ("--epsilon 1 --margin 0", "such as 0.05 for 5 points"),
        ("--epsilon 1 --margin 0.1 --confidence 1", "between 0 and 1"),
        ("--epsilon 1 --margin 0.1 --power 1", "between 0 and 1"),
        ("--epsilon 1 --margin 0.1 --delta 1", "small probability"),
        ("--epsilon 1 --margin 0.1 --type choice", "needs --options"),
        ("--epsilon 1 --margin 0.1 --options 4", "--options is for"),
        ("--epsilon 1 --margin 0.1 --min 4", "--min is for numbers"),
        ("--epsilon 1 --margin 0.1 --type number --share 0.1", "--share is for shares"),
        ("--epsilon 1 --margin 0.1 --type number --max 10 --step 3", "divide max - min"),
        ("--epsilon 1 --margin 0.1 --type number --min 100", "must be above min"),
        ("--epsilon 1 --margin 0.1 --type number --max x", "not a decimal number"),
        ("--epsilon 1 --margin 0.1 --type number --mean 101", "outside of the range"),
        ("--epsilon 1 --margin 0.1 --type number --sd -1", "standard deviation"),
        ("--epsilon 1 --margin 0.1 --type number --bins 4 --mechanism laplace", "give only one"),
        ("--epsilon 1 --margin 0.1 --type number --optional --mechanism laplace", "everybody answers"),
        ("--epsilon 1 --margin 0.1 --ask 2", "2 of 1 questions"),
        ("--epsilon 1 --margin 0.1 --against 2", "outside of the possible range"),
        ("--epsilon 1 --margin 0.1 --cross a,b", "--cross is for the questions of a FILE"),
        ("--epsilon 1 --margin 0.1 --sample --population 10", "give only one"),
        ("--epsilon 1 --respondents 100 --population 10", "more than the population"),
        ("--guidance --epsilon 1", "stands alone"),
        ("FILE --type yes_no", "--type is for one question"),
        ("FILE --mean 3", "--mean is for one question"),
        ("FILE --cross cheated,none", "there is no question 'none'"),
        ("FILE --respondents 100 --population 10", "more than the population"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_explained(arguments: str, said: str) -> None:
    done = run(*arguments.replace("FILE", str(ROOT / "examples" / "exam.yaml")).split())
    assert done.exit_code == 2
    assert said in done.stderr, done.output


def test_a_file_that_is_no_survey_is_explained(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("slug: a\ntitle: A\nquestions: [{id: a, type: yes_no, text: '?'}]\n")
    done = run(str(tmp_path / "wrong.yaml"))
    assert done.exit_code == 1
    assert "wrong.yaml: line 3, questions[0]: has no ε" in done.stderr


def test_the_page_shows_what_the_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "planning.md").read_text()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(text)
    shown = re.findall(r"```console\n\$ candor plan ([^\n]*)\n(.*?)```", page, re.DOTALL)
    assert len(shown) >= 6
    for arguments, output in shown:
        done = run(*arguments.split())
        assert done.exit_code == 0, done.output
        assert done.stdout == output, arguments
