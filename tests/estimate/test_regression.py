"""Logistic regression through the coins: closed forms where there are any, and the published simulations.

A coverage falls below its bound with probability 1e-8, means and deviations leave theirs beyond five and a half standard
errors (4e-8); so no check raises a false alarm more often than 1e-6. That each can fail is shown by ignoring the coins.
"""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit

from candor_client.definition import Survey
from candor_client.mechanisms import publish
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import mechanism_choice
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.estimate.regression import Coefficient, FitError, LatentData, fit_latent_logistic, fit_logistic
from survey_app.results.regression_document import FitLimits, regress_on_groups, regress_on_questions
from survey_app.tally import Bits, Tally
from tests.definitions import (
    COIN,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.estimate.rare import lowest_share
from tests.golden_files import Golden

Floats = npt.NDArray[np.float64]
ALPHA, Z = 0.05, 1.959963984540054
MANY = 5.5  # standard errors


def fit(design: Any, ones: Any, totals: Any, p: float = 0.75, q: float = 0.25) -> list[Coefficient]:
    rows = np.array(design, dtype=float)
    names = [f"b{i}" for i in range(rows.shape[1])]
    size = np.ones(len(rows))
    return fit_logistic(
        names, rows, np.array(ones, dtype=float), np.array(totals, dtype=float), p * size, q * size, ALPHA
    )


# public covariates


def test_two_groups_have_the_coefficients_of_their_shares() -> None:
    """As many groups as coefficients: β is the logit of each debiased share, its error by the delta method."""
    ones, n, p, q = np.array([40, 65]), 100, 0.75, 0.25
    shares = (ones / n - q) / (p - q)
    first, slope = fit([[1, 0], [1, 1]], ones, [n, n])
    errors = np.sqrt(ones / n * (1 - ones / n) / n) / (p - q) / (shares * (1 - shares))
    assert first.estimate == pytest.approx(logit(shares[0]), abs=1e-6)
    assert slope.estimate == pytest.approx(logit(shares[1]) - logit(shares[0]), abs=1e-6)
    assert first.error == pytest.approx(errors[0], rel=1e-5)
    assert slope.error == pytest.approx(math.hypot(*errors), rel=1e-5)
    assert (slope.interval.low, slope.interval.high) == pytest.approx(
        (slope.estimate - Z * slope.error, slope.estimate + Z * slope.error)
    )
    assert (slope.n, slope.interval.coverage) == (200, "approximate")


@pytest.mark.parametrize(("unit", "origin"), [(1.0, 2019.0), (1e-3, 0.0), (1e9, 0.0), (1e5, 1.7e9)])
def test_it_does_not_matter_in_what_units_covariates_are(unit: float, origin: float) -> None:
    """Years since the beginning of our era, thousandths, nanoseconds, seconds since 1970."""
    at, ones, totals = np.array([0.0, 1.0, 2.0, 5.0]), [400, 450, 500, 560], [1000, 1000, 1000, 1000]
    plain = fit(np.column_stack([np.ones(4), at]), ones, totals)[1]
    moved = fit(np.column_stack([np.ones(4), origin + unit * at]), ones, totals)[1]
    assert moved.estimate * unit == pytest.approx(plain.estimate, rel=1e-5)
    assert moved.error * unit == pytest.approx(plain.error, rel=1e-5)


def test_rows_may_be_people_or_groups() -> None:
    rng = np.random.default_rng()
    x, y = rng.integers(0, 3, 500).astype(float), rng.integers(0, 2, 500).astype(float)
    people = fit(np.column_stack([np.ones(500), x]), y, np.ones(500))
    grouped = fit([[1, 0], [1, 1], [1, 2]], [y[x == i].sum() for i in range(3)], [(x == i).sum() for i in range(3)])
    for one, other in zip(people, grouped, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-4)
        assert one.error == pytest.approx(other.error, rel=1e-3)


LOGISTIC: list[tuple[str, int, int, Any]] = [
    ("1", 2000, 400, {"mean": (-0.507, 1.012), "sd": (0.122, 0.159), "error": (0.123, 0.158)}),
    ("3", 1000, 300, None),
    ("0.5", 10_000, 60, None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n", "runs", "stated"), LOGISTIC)
def test_the_published_simulation(epsilon: str, n: int, runs: int, stated: Any) -> None:
    """β = (−.5, 1) on a normal covariate. Published from 500 runs, so their figures have errors of their own."""
    made, rng = mechanism_choice.make_flip(Decimal(epsilon)), np.random.default_rng()
    p, q, beta = float(made.p), float(made.q), np.array([-0.5, 1.0])
    found, ignored = np.zeros((runs, 2, 2)), np.zeros((runs, 2))
    for run in range(runs):
        design = np.column_stack([np.ones(n), rng.normal(size=n)])
        true = rng.random(n) < expit(design @ beta)
        said = (rng.random(n) < np.where(true, p, q)).astype(float)
        found[run] = [(one.estimate, one.error) for one in fit(design, said, np.ones(n), p, q)]
        if run < 40:
            ignored[run] = [one.estimate for one in fit(design, said, np.ones(n), 1 - 1e-9, 1e-9)]
    estimates, errors = found[:, :, 0], found[:, :, 1]
    held = (np.abs(estimates - beta) <= Z * errors).mean(axis=0)
    assert held.min() >= lowest_share(0.95, runs)
    spread = estimates.std(axis=0)
    assert np.median(errors, axis=0) == pytest.approx(spread, rel=0.05 + MANY / math.sqrt(2 * runs))
    if stated:
        ours = MANY * spread * math.sqrt(1 / runs + 1 / 500)
        assert (np.abs(estimates.mean(axis=0) - stated["mean"]) < ours).all()
        assert spread == pytest.approx(stated["sd"], rel=MANY * math.sqrt(1 / (2 * runs) + 1 / 1000))
        assert errors.mean(axis=0) == pytest.approx(stated["error"], rel=0.03)
        assert ignored[:40, 1].mean() == pytest.approx(0.386, abs=0.05)
        assert (np.abs(ignored[:40, 1] - 1) > Z * errors[:40, 1]).mean() > 0.9  # the coins must not be ignored


@pytest.mark.parametrize(
    ("design", "ones", "totals", "code"),
    [
        ([[1]], [0], [100], RefusalCode.DIVERGING),
        ([[1]], [100], [100], RefusalCode.DIVERGING),
        ([[1]], [25], [100], RefusalCode.DIVERGING),
        ([[1, 0], [1, 1]], [10, 60], [100, 100], RefusalCode.DIVERGING),
        ([[1, 0], [1, 1]], [0, 0], [0, 0], RefusalCode.UNDETERMINED),
        ([[1, 0], [1, 1]], [40, 0], [100, 0], RefusalCode.UNDETERMINED),
        ([[1, 1, 2], [1, 2, 4], [1, 3, 6]], [40, 50, 60], [100, 100, 100], RefusalCode.UNDETERMINED),
        ([[1, 0], [1, 0]], [40, 50], [100, 100], RefusalCode.UNDETERMINED),
        ([[1, 5]], [40], [100], RefusalCode.UNDETERMINED),
    ],
    ids=["none", "all", "too-few", "diverging", "empty", "one-empty", "collinear", "same-covariates", "one-group"],
)
def test_what_reports_cannot_tell_is_said(
    design: Any, ones: Any, totals: Any, code: RefusalCode, golden: Golden
) -> None:
    with pytest.raises(FitError) as caught:
        fit(design, ones, totals)
    assert caught.value.code is code
    golden(caught.value)


# randomized covariates


def test_one_randomized_predictor_gives_the_log_odds_ratio_of_the_debiased_table() -> None:
    """As many parameters as cells: maximum likelihood is the inverse of the coins, with the error of the delta method."""
    definition = define([yes_no("y"), yes_no("x")], [field(COIN, "y"), field(COIN, "x")])
    study = survey(definition)
    rows = np.repeat(np.array([[0b00], [0b01], [0b10], [0b11]], dtype=np.uint8) << 6, [420, 260, 250, 270], axis=0)
    found = regress_on_questions(study, [rows[:500], rows[500:]], "y", "yes", ["x"], Options())
    table = crosstab(study, "y", "x", Tally(0, np.zeros(2, dtype=np.int64)), [rows], Options())
    no_no, no_yes, yes_no_, yes_yes = (cell.estimate.unbiased for cell in table.cells)
    intercept, slope = found.coefficients
    assert intercept.estimate == pytest.approx(math.log(yes_no_ / no_no), abs=1e-4)
    assert slope.estimate == pytest.approx(math.log(yes_yes * no_no / (no_yes * yes_no_)), abs=1e-4)
    back = np.linalg.inv(np.kron(*[np.array([[0.75, 0.25], [0.25, 0.75]])] * 2))
    reported = np.array([420, 260, 250, 270]) / 1200
    spread = back @ (np.diag(reported) - np.outer(reported, reported)) @ back.T / 1200
    gradient = np.array([1, -1, -1, 1]) / (back @ reported)
    assert slope.standard_error == pytest.approx(math.sqrt(gradient @ spread @ gradient), rel=1e-3)
    assert slope.odds_ratio == pytest.approx(math.exp(slope.estimate))
    assert (slope.name, slope.n, slope.coverage, slope.method) == ("x: yes", 1200, "approximate", "wald")


def flip(epsilon: int) -> dict[str, Any]:
    return publish(mechanism_choice.make_flip(Decimal(epsilon)))


LATENT: list[tuple[str, dict[str, Any], str, list[float], list[float], int, int]] = [
    ("flip on flip", define([yes_no("y"), yes_no("x")], [field(flip(2), "y"), field(flip(2), "x")]), "yes", [-0.5, 1], [0.6, 0.4], 2000, 120),
    ("choice on two of four", define([choice_question("y"), choice_question("x", options=4)], [field(publish(mechanism_choice.make_subset(3, 1, Decimal(3))), "y"), field(publish(mechanism_choice.make_subset(4, 2, Decimal(3))), "x")]), "option 1", [-0.5, 1, -0.5, 0], [0.4, 0.3, 0.2, 0.1], 6000, 40),
    ("flip on one of three", define([yes_no("y"), choice_question("x")], [field(flip(3), "y"), field(publish(mechanism_choice.make_subset(3, 1, Decimal(3))), "x")]), "yes", [-0.5, 1, -0.5], [0.5, 0.3, 0.2], 4000, 40),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "definition", "label", "beta", "shares", "n", "runs"), LATENT)
def test_coefficients_on_randomized_answers_are_covered(
    name: str, definition: dict[str, Any], label: str, beta: list[float], shares: list[float], n: int, runs: int
) -> None:
    study, rng = survey(definition), np.random.default_rng()
    found = np.zeros((runs, len(beta), 2))
    for run in range(runs):
        x = rng.choice(len(shares), n, p=shares)
        says = (rng.random(n) < expit(beta[0] + np.array([0.0, *beta[1:]])[x])).astype(np.int64)
        indices = {"x": x, "y": says}
        lines = regress_on_questions(study, reports(study, indices, rng), "y", label, ["x"], Options())
        found[run] = [(one.estimate, one.standard_error) for one in lines.coefficients]
        assert lines.coefficients[0].n == n
    estimates, errors = found[:, :, 0], found[:, :, 1]
    held = (np.abs(estimates - beta) <= Z * errors).mean(axis=0)
    assert held.min() >= lowest_share(0.95, runs)
    assert (np.abs(estimates - beta) <= Z * errors / 3).mean(axis=0).min() < lowest_share(0.95, runs)


def test_ignoring_the_noise_of_a_predictor_draws_its_slope_to_zero() -> None:
    """The same reports, with the reported x taken for the true one: the slope of 1 is lost in most of its size."""
    definition = define([yes_no("y"), yes_no("x")], [field(flip(1), "y"), field(flip(1), "x")])
    study, rng, n = survey(definition), np.random.default_rng(), 100_000
    x = (rng.random(n) < 0.4).astype(np.int64)
    y = (rng.random(n) < expit(-0.5 + x)).astype(np.int64)
    rows = np.concatenate(list(reports(study, {"y": y, "x": x}, rng)))
    slope = regress_on_questions(study, [rows], "y", "yes", ["x"], Options()).coefficients[1]
    assert abs(slope.estimate - 1) < MANY * slope.standard_error
    bits = np.unpackbits(rows, axis=1, count=2).astype(float)
    made = mechanism_choice.make_flip(Decimal(1))
    naive = fit(np.column_stack([np.ones(n), bits[:, 1]]), bits[:, 0], np.ones(n), float(made.p), float(made.q))[1]
    assert naive.estimate < 0.7


def test_the_last_answer_may_be_nobodys() -> None:
    """Shares are relative to the largest cell, so that an empty last one is no trouble; its own coefficient is."""
    cells = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    said = np.array([[0.9, 0.1], [0.1, 0.9]])
    design = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    counts = np.outer([50.0, 45.0, 2.0], [1.0, 1.0]) * [[1.4, 0.6], [0.6, 1.4], [1.0, 1.0]]
    data = LatentData(counts.ravel(), np.tile(said, (3, 1)), np.repeat(cells, 2, axis=0), design)
    intercept, slope = fit_latent_logistic(["intercept", "slope"], data, ALPHA)
    assert intercept.estimate < 0 < slope.estimate
    assert slope.error < 1
    with pytest.raises(FitError):
        fit_latent_logistic(
            ["intercept", "b", "c"],
            LatentData(data.counts, data.outcome, data.cells, np.column_stack([design, [0, 0, 1]])),
            ALPHA,
        )


# what researchers may ask for


EVERYTHING = define(
    [
        yes_no("y"), yes_no("x"), choice_question("c"), multiple("m"), number("t"), number("g", levels=7),
        scale("j"), scale("k"), choice_question("w", options=600),
    ],
    [
        field(COIN, "y"), field(COIN, "x"), field(subset(3, 1), "c"), field(drawn(3, 1), "m"), field(subset(2, 1), "t"),
        field(geometric(7), "g"), field(subset(9, 1), "j", "k"), field(subset(600, 1), "w"),
    ],
)  # fmt: skip


def nothing() -> list[Bits]:
    return [np.zeros((0, survey(EVERYTHING).length), dtype=np.uint8)]


@pytest.mark.parametrize(
    ("outcome", "label", "on", "code"),
    [
        ("q", "yes", ["x"], RefusalCode.UNKNOWN_QUESTION),
        ("y", "yes", ["q"], RefusalCode.UNKNOWN_QUESTION),
        ("y", "maybe", ["x"], RefusalCode.UNKNOWN_ANSWER),
        ("y", "no", ["x"], RefusalCode.REFERENCE_ANSWER),
        ("y", "yes", ["y"], RefusalCode.SELF_EXPLAINED),
        ("y", "yes", ["x", "x"], RefusalCode.REPEATED),
        ("y", "yes", ["m"], RefusalCode.NO_OWN_FIELD),
        ("y", "yes", ["t"], RefusalCode.NO_OWN_FIELD),
        ("g", "yes", ["x"], RefusalCode.NO_OWN_FIELD),
        ("y", "yes", ["j"], RefusalCode.NO_OWN_FIELD),
        ("y", "yes", ["w"], RefusalCode.TOO_MANY_CELLS),
        ("y", "yes", ["x"], RefusalCode.TOO_FEW_REPORTS),
    ],
)
def test_what_cannot_be_regressed_is_said(outcome: str, label: str, on: list[str], code: RefusalCode) -> None:
    with pytest.raises(FitError) as caught:
        regress_on_questions(survey(EVERYTHING), nothing(), outcome, label, on, Options())
    assert caught.value.code is code


def test_questions_that_no_device_answered_together_cannot_be_regressed() -> None:
    asked = survey({**EVERYTHING, "ask": 1})
    with pytest.raises(FitError) as caught:
        regress_on_questions(asked, nothing(), "y", "yes", ["x"], Options())
    assert caught.value.code is RefusalCode.SEPARATE_BLOCKS


def groups(*slugs: str, form: dict[str, Any] = COIN) -> list[tuple[Survey, Tally]]:
    return [
        (survey(define([yes_no("y")], [field(form, "y")], slug=slug)), Tally(200, np.array([80 + 20 * i])))
        for i, slug in enumerate(slugs)
    ]


def test_groups_with_covariates() -> None:
    covariates = {
        "a": {"year": 1, "town": 0},
        "b": {"town": 1, "year": 2},
        "c": {"year": 3, "town": 0},
        "d": {"year": 4, "town": 1},
    }
    found = regress_on_groups(groups("a", "b", "c", "d"), "y", "yes", covariates, Options(0.9))
    assert [one.name for one in found.coefficients] == ["intercept", "year", "town"]
    assert {one.n for one in found.coefficients} == {800}
    assert found.coefficients[1].estimate > 0
    assert found.confidence == 0.9
    direct = fit([[1, 1, 0], [1, 2, 1], [1, 3, 0], [1, 4, 1]], [80, 100, 120, 140], [200] * 4)
    assert [one.estimate for one in found.coefficients] == pytest.approx([one.estimate for one in direct])


@pytest.mark.parametrize(
    ("covariates", "code"),
    [
        ({"a": {"year": 1}}, RefusalCode.MISSING_COVARIATE),
        ({"a": {"year": 1}, "b": {"town": 1}}, RefusalCode.MISSING_COVARIATE),
        ({"a": {"year": 1}, "b": {"year": math.inf}}, RefusalCode.INVALID_NUMBER),
        ({"a": {"year": 1}, "b": {"year": 1}}, RefusalCode.UNDETERMINED),
    ],
)
def test_covariates_that_do_not_do_are_refused(covariates: dict[str, dict[str, float]], code: RefusalCode) -> None:
    with pytest.raises(FitError) as caught:
        regress_on_groups(groups("a", "b"), "y", "yes", covariates, Options())
    assert caught.value.code is code


def test_groups_must_ask_the_same() -> None:
    other = survey(define([yes_no("y", optional=True)], [field(subset(3, 1), "y")], slug="b"))
    studies = [groups("a")[0], (other, Tally(200, np.array([60, 80, 60])))]
    with pytest.raises(FitError) as caught:
        regress_on_groups(studies, "y", "yes", {"a": {"year": 1}, "b": {"year": 2}}, Options())
    assert caught.value.code is RefusalCode.OTHER_QUESTIONS


def test_a_slope_in_tiny_units_has_no_odds_ratio_that_is_a_number() -> None:
    covariates = {"a": {"share": 0.0}, "b": {"share": 1e-4}}
    found = regress_on_groups(groups("a", "b"), "y", "yes", covariates, Options())
    assert found.coefficients[1].estimate > 1000
    assert found.coefficients[1].odds_ratio is None


def test_too_many_different_reports_are_refused_before_memory_is_full(golden: Golden) -> None:
    definition = define([yes_no("y"), choice_question("x", options=4)], [field(COIN, "y"), field(subset(4, 2), "x")])
    study, rng = survey(definition), np.random.default_rng()
    rows = reports(study, {"y": rng.integers(0, 2, 500), "x": rng.integers(0, 4, 500)}, rng)
    with pytest.raises(FitError) as caught:
        regress_on_questions(study, rows, "y", "yes", ["x"], Options(), FitLimits(512, 12))
    assert caught.value.code is RefusalCode.TOO_MANY_PATTERNS
    golden(caught.value)
