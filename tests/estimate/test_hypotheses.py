"""Tests that keep their size under randomization, and what a mechanism does to the covariance of its bits.

Sizes are simulated from the operating system's randomness. A test of true size at most .06 exceeds `not_above` with
probability 1e-8, so no check raises a false alarm more often than 1e-6; and each stands beside a wrong test of the same
data that does not pass.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy
from scipy.stats import binom, chi2, ncx2

from candor_client.mechanisms import Flip, Subset
from survey_app.authoring import mechanism_choice
from survey_app.channels import channel_of
from survey_app.channels.subset import SubsetChannel
from survey_app.estimate.hypotheses import (
    ScoreSummary,
    Test,
    compare_groups,
    joint_independence,
    likelihood_ratio,
    pearson,
    quadratic,
    wald,
)
from tests.definitions import COIN, define, field, subset, survey, yes_no
from tests.definitions import choice as choice_question
from tests.reference import distribution

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
RARE = 1e-8


def not_above(runs: int, size: float = 0.06) -> float:
    """What the share of rejections of a test of this size exceeds in so many runs with probability RARE."""
    return float(binom.isf(RARE, runs, size)) / runs


def not_below(runs: int, size: float = 0.04) -> float:
    """What it falls below with that probability."""
    return float(binom.ppf(RARE, runs, size)) / runs


def rejections(tests: list[Test]) -> float:
    return sum(one.p_value < LEVEL for one in tests) / len(tests)


def tables(chances: Floats, n: int, runs: int) -> Floats:
    drawn = np.random.default_rng().multinomial(n, chances.ravel(), size=runs)
    return drawn.reshape(runs, *chances.shape).astype(float)


def noised(mechanism: Flip | Subset, shares: Floats) -> Floats:
    """What one-symbol reports look like: the channel times the shares, for a flip no and yes."""
    p, q = float(mechanism.p), float(mechanism.q)
    if isinstance(mechanism, Flip):
        yes = q + (p - q) * shares[1]
        return np.array([1 - yes, yes])
    return q + (p - q) * shares


def reporting_matrix(mechanism: Flip | Subset) -> Floats:
    return np.array([noised(mechanism, row) for row in np.eye(mechanism.size)]).T


# what a mechanism does to its bits


MECHANISMS: dict[str, dict[str, Any]] = {
    "two symbols": subset(2, 1),
    "one of three": subset(3, 1),
    "two of four": subset(4, 2),
    "three of five": subset(5, 3),
}


def law(form: dict[str, Any], shares: list[float]) -> tuple[Floats, Floats]:
    """All rows of bits and their exact chances."""
    definition = define([choice_question(options=len(shares))], [field(form, "help")])
    chances: dict[str, float] = {}
    for i, share in enumerate(shares):
        for row, chance in distribution(definition, {"help": f"option {i}"}).items():
            chances[row] = chances.get(row, 0) + share * float(chance)
    return np.array([[int(bit) for bit in row] for row in chances], dtype=float), np.array(list(chances.values()))


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_covariance_of_stored_bits_is_that_of_their_law(name: str) -> None:
    form = MECHANISMS[name]
    shares = np.arange(1, form["size"] + 1) / sum(range(1, form["size"] + 1))
    rows, chances = law(form, shares.tolist())
    made = survey(define([choice_question(options=form["size"])], [field(form, "help")])).fields[0].mechanism
    assert isinstance(made, Subset)
    mean = chances @ rows
    assert sum(share * channel_of(made).bit_chances(i) for i, share in enumerate(shares)) == pytest.approx(mean)
    assert SubsetChannel(made).symbol_bits.covariance(shares) == pytest.approx(
        (rows * chances[:, None]).T @ rows - np.outer(mean, mean)
    )


@pytest.mark.parametrize("form", [subset(6, 1), subset(6, 2)])
def test_sums_of_bits_over_sets_have_the_covariance_of_their_law(form: dict[str, Any]) -> None:
    shares = np.array([0.3, 0.1, 0.05, 0.25, 0.2, 0.1])
    rows, chances = law(form, shares.tolist())
    made = survey(define([choice_question(options=6)], [field(form, "help")])).fields[0].mechanism
    assert isinstance(made, Subset)
    sums = rows.reshape(-1, 3, 2).sum(axis=2)
    mean = chances @ sums
    exact = (sums * chances[:, None]).T @ sums - np.outer(mean, mean)
    assert SubsetChannel(made).symbol_bits.covariance(shares.reshape(3, 2).sum(axis=1), 2) == pytest.approx(exact)


@pytest.mark.parametrize("name", MECHANISMS)
def test_likelihoods_are_those_of_the_bits_up_to_a_factor(name: str) -> None:
    form = MECHANISMS[name]
    made = survey(define([choice_question(options=form["size"])], [field(form, "help")])).fields[0].mechanism
    assert isinstance(made, Subset)
    rows, _ = law(form, [1 / form["size"]] * form["size"])
    exact = np.zeros((len(rows), form["size"]))
    for symbol in range(form["size"]):
        chances = distribution(
            define([choice_question(options=form["size"])], [field(form, "help")]), {"help": f"option {symbol}"}
        )
        exact[:, symbol] = [float(chances.get("".join(str(int(bit)) for bit in row), 0)) for row in rows]
    factor = channel_of(made).row_likelihoods(rows.astype(np.uint8)) / exact
    assert factor == pytest.approx(factor[:, :1] * np.ones(form["size"]))


def test_the_likelihood_of_a_flip_has_a_column_for_no_and_for_yes() -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")])).fields[0].mechanism
    assert isinstance(made, Flip)
    assert channel_of(made).row_likelihoods(np.array([[0], [1]], dtype=np.uint8)).tolist() == [
        [0.75, 0.25],
        [0.25, 0.75],
    ]


# two separate fields that each name one symbol


SEPARATE: list[tuple[Flip | Subset, Flip | Subset, int]] = [
    (mechanism_choice.make_flip(Decimal(1)), mechanism_choice.make_flip(Decimal(1)), 500),
    (mechanism_choice.make_subset(3, 1, Decimal(1)), mechanism_choice.make_subset(4, 1, Decimal(2)), 500),
    (mechanism_choice.make_flip(Decimal(3)), mechanism_choice.make_subset(3, 1, Decimal(3)), 200),
]
FEW = {2: np.array([0.8, 0.2]), 3: np.array([0.6, 0.3, 0.1]), 4: np.array([0.4, 0.3, 0.2, 0.1])}


@pytest.mark.parametrize(("left", "right", "n"), SEPARATE)
def test_pearson_on_the_reported_table_keeps_its_size(left: Flip | Subset, right: Flip | Subset, n: int) -> None:
    """Published as .045 to .057. On debiased counts, the same test rejects almost always."""
    runs = 2500
    a, b = FEW[left.size], FEW[right.size]
    drawn = tables(np.outer(noised(left, a), noised(right, b)), n, runs)
    found = [pearson(one) for one in drawn]
    assert found[0].df == (left.size - 1) * (right.size - 1)
    assert not_below(runs) <= rejections(found) < not_above(runs)
    back, across = np.linalg.inv(reporting_matrix(left)), np.linalg.inv(reporting_matrix(right))
    debiased = [np.rint(np.maximum(back @ one @ across.T, 0)) for one in drawn[:400]]
    assert rejections([pearson(one) for one in debiased]) > not_above(400)


@pytest.mark.parametrize(("epsilon", "n"), [("1", 500), ("1", 3000), ("2", 300), ("3", 100)])
def test_the_power_of_pearson_is_that_of_a_noncentral_chi_square(epsilon: str, n: int) -> None:
    """Its noncentrality comes from the noised cells, where covariances have shrunk by (p−q) twice."""
    made, runs = mechanism_choice.make_flip(Decimal(epsilon)), 2500
    cells = np.array([[0.5, 0.2], [0.1, 0.2]])
    shown = reporting_matrix(made) @ cells @ reporting_matrix(made).T
    product = np.outer(shown.sum(axis=1), shown.sum(axis=0))
    shrunk = float(made.p - made.q) ** 2 * (cells - np.outer(cells.sum(axis=1), cells.sum(axis=0)))
    assert shown - product == pytest.approx(shrunk)
    power = float(ncx2.sf(chi2.isf(LEVEL, 1), 1, n * float((shrunk**2 / product).sum())))
    measured = rejections([pearson(one) for one in tables(shown, n, runs)])
    assert measured == pytest.approx(power, abs=0.015 + 5 * math.sqrt(power * (1 - power) / runs))
    assert not 0.02 < power < not_above(runs)  # it is not the size that is measured here


# separate fields of any kind


def bits_of(mechanism: Flip | Subset, truth: npt.NDArray[np.int64]) -> Floats:
    """Stored bits for these symbols, from numpy's generator."""
    rng = np.random.default_rng()
    p, q, n = float(mechanism.p), float(mechanism.q), len(truth)
    if isinstance(mechanism, Flip):
        return (rng.random(n) < np.where(truth == 1, p, q)).astype(float)[:, None]
    keys = rng.random((n, mechanism.size))
    keys[np.arange(n), truth] = np.where(rng.random(n) < p, -1, 2)
    found: Floats = (np.argsort(np.argsort(keys, axis=1), axis=1) < mechanism.weight).astype(float)
    return found


def crossed(u: Floats, v: Floats) -> Test:
    n = len(u)
    cross = u.T @ v / n - np.outer(u.mean(axis=0), v.mean(axis=0))
    left, right = (ScoreSummary(one.T @ one / n, one.mean(axis=0), np.full(1, n // 2), one) for one in (u, v))
    found = quadratic(cross, left, right, n)
    assert found is not None
    return found


def scanned(u: Floats, v: Floats) -> Test:
    """As a scan gives them: with their ones and the reports themselves."""
    n = len(u)
    left, right = (
        ScoreSummary(one.T @ one / n, one.mean(axis=0), one.sum(axis=0).astype(np.int64), one) for one in (u, v)
    )
    found = quadratic(u.T @ v / n - np.outer(left.mean, right.mean), left, right, n)
    assert found is not None
    return found


KINDS: list[tuple[Flip | Subset, Flip | Subset, int]] = [
    (mechanism_choice.make_subset(5, 2, Decimal(1)), mechanism_choice.make_subset(4, 2, Decimal(1)), 12),
    (mechanism_choice.make_flip(Decimal(1)), mechanism_choice.make_subset(5, 2, Decimal(1)), 4),
    (mechanism_choice.make_subset(4, 2, Decimal(2)), mechanism_choice.make_flip(Decimal(1)), 3),
]


@pytest.mark.parametrize(("left", "right", "df"), KINDS)
def test_the_quadratic_form_keeps_its_size(left: Flip | Subset, right: Flip | Subset, df: int) -> None:
    """Published as .038. Pearson on counts of bits hardly ever rejects; answers that go together are found."""
    runs, n = 600, 300
    rng = np.random.default_rng()
    a, b = (np.arange(one.size, 0, -1) / sum(range(one.size + 1)) for one in (left, right))
    left_bits, right_bits = (
        bits_of(one, rng.choice(one.size, runs * n, p=shares)).reshape(runs, n, -1)
        for one, shares in ((left, a), (right, b))
    )
    found = [crossed(u, v) for u, v in zip(left_bits, right_bits, strict=True)]
    assert {one.df for one in found} == {df}
    assert rejections(found) < not_above(runs)
    if isinstance(left, Subset) and isinstance(right, Subset):
        assert rejections([pearson(u.T @ v) for u, v in zip(left_bits, right_bits, strict=True)]) < 0.01
    truth = rng.choice(2, 10_000)
    assert crossed(bits_of(left, truth), bits_of(right, truth)).p_value < 1e-6


def test_reports_that_are_all_alike_tell_nothing_about_independence() -> None:
    """What is left of their covariance is rounding, and must not be inverted."""
    u = np.full((50, 3), 1 / 3) * [1, 2, -1] / 0.123
    v = np.tile([0.1, 0.7], (50, 1)) / 0.0457
    found = crossed(u, v)
    assert (found.df, found.p_value) == (0, 1)
    assert pearson(np.array([[20.0, 0.0], [0.0, 0.0]])).p_value == 1


# joint fields


@pytest.mark.parametrize(
    ("epsilon", "n", "invalid"), [("1", 500, (0.25, 0.6)), ("1", 2000, (0.85, 1.0)), ("3", 100, (0.0, 1.0))]
)
def test_the_likelihood_ratio_keeps_its_size_where_pearson_does_not(
    epsilon: str, n: int, invalid: tuple[float, float]
) -> None:
    """Margins of .2: sizes of .043 to .063, where Pearson on the reported cells has .42, or .945 with more reports."""
    runs = 250
    made = mechanism_choice.make_subset(4, 1, Decimal(epsilon))
    p, q = float(made.p), float(made.q)
    drawn = tables(q + (p - q) * np.outer(FEW[2], FEW[2]), n, runs)
    assert rejections([likelihood_ratio(one, p - q, q) for one in drawn]) < not_above(runs)
    assert invalid[0] <= rejections([pearson(one) for one in drawn]) <= invalid[1]


def test_the_likelihood_ratio_keeps_its_size_where_all_say_the_same() -> None:
    """Most cells then hold nothing but noise. A search that stops at a cell without reports rejects every second time."""
    made, runs = mechanism_choice.make_subset(9, 1, Decimal(4)), 120
    p, q = float(made.p), float(made.q)
    drawn = tables(q + (p - q) * np.outer([1, 0, 0], [1, 0, 0]), 100, runs)
    assert rejections([likelihood_ratio(one, p - q, q) for one in drawn]) < not_above(runs, 0.08)


def test_cells_of_different_numbers_of_symbols_have_different_noise() -> None:
    """As where a third question is shown after some answers only; who takes all cells for alike finds what is not there."""
    runs, sizes = 250, np.array([[1.0, 4.0], [3.0, 1.0]])
    made = mechanism_choice.make_subset(int(sizes.sum()), 1, Decimal(2))
    p, q = float(made.p), float(made.q)
    drawn = tables(sizes * q + (p - q) * np.outer(FEW[2], FEW[2]), 1000, runs)
    assert rejections([likelihood_ratio(one, p - q, sizes * q) for one in drawn]) < not_above(runs)
    assert rejections([likelihood_ratio(one, p - q, q * sizes.mean()) for one in drawn]) > 0.5


def test_the_likelihood_ratio_finds_what_goes_together() -> None:
    made = mechanism_choice.make_subset(4, 1, Decimal(1))
    cells = float(made.q) + float(made.p - made.q) * np.array([[0.5, 0.0], [0.0, 0.5]])
    assert likelihood_ratio(np.rint(5000 * cells), float(made.p - made.q), float(made.q)).p_value < 1e-6


@pytest.mark.parametrize("counts", [[[20, 0], [0, 0]], [[5, 2, 0], [1, 0, 3]], [[40, 13, 9], [11, 9, 7], [8, 8, 6]]])
@pytest.mark.parametrize("epsilon", ["0.5", "2", "5"])
def test_the_likelihood_of_independent_cells_is_maximised(epsilon: str, counts: list[list[float]]) -> None:
    """A search without derivatives, from many starts, finds nothing better."""
    table = np.array(counts, dtype=float)
    rows, columns = table.shape
    made = mechanism_choice.make_subset(table.size, 1, Decimal(epsilon))
    p, q = float(made.p), float(made.q)

    def loss(free: Floats) -> float:
        a, b = (
            np.append(free[: rows - 1], 1 - free[: rows - 1].sum()),
            np.append(free[rows - 1 :], 1 - free[rows - 1 :].sum()),
        )
        cells = q + (p - q) * np.outer(a, b)
        return -float(xlogy(table, cells).sum()) if cells.min() > 0 else 1e9

    rng = np.random.default_rng()
    best = math.inf
    for _ in range(12):
        start = np.concatenate([rng.dirichlet(np.ones(rows))[:-1], rng.dirichlet(np.ones(columns))[:-1]])
        best = min(best, float(minimize(loss, start, method="Nelder-Mead", options={"maxiter": 2000}).fun))
    free = -float(xlogy(table, table / table.sum()).sum())
    assert likelihood_ratio(table, p - q, q).statistic <= 2 * (best - free) + 1e-3


@pytest.mark.parametrize(
    "made", [mechanism_choice.make_subset(6, 2, Decimal(2)), mechanism_choice.make_subset(6, 3, Decimal(2))]
)
def test_wald_keeps_its_size_where_a_report_names_several_cells(made: Subset) -> None:
    """2 × 3 cells; Pearson on the counts of bits rejects true independence ever more often, the more reports there are."""
    runs, n = 500, 600
    rng = np.random.default_rng()
    cells = np.outer([0.7, 0.3], [0.6, 0.3, 0.1])
    counts = bits_of(made, rng.choice(6, runs * n, p=cells.ravel())).reshape(runs, n, 6).sum(axis=1)
    p, q = float(made.p), float(made.q)
    shares = (counts / n - q) / (p - q)
    spread = SubsetChannel(made).symbol_bits.covariance(cells.ravel()) / (p - q) ** 2
    found = [wald(one.reshape(2, 3), spread, n) for one in shares]
    assert found[0].df == 2
    assert not_below(runs, 0.03) <= rejections(found) < not_above(runs)
    many = counts.reshape(20, 25, 6).sum(axis=1)  # of 15,000 reports
    assert rejections([pearson(one.reshape(2, 3)) for one in many]) > 0.25
    assert wald(np.array([[0.35, 0.1, 0.05], [0.05, 0.2, 0.25]]), spread, 5000).p_value < 1e-6


# too few reports for χ²


RARELY = {k: np.array([1 - 0.02 * (k - 1)] + [0.02] * (k - 1)) for k in (2, 3, 4, 5)}
ALL_ALIKE = {k: np.eye(k)[0] for k in (2, 3, 4, 5)}
THIN: list[tuple[str, int, Floats, Floats]] = [
    ("5", 2000, ALL_ALIKE[2], ALL_ALIKE[5]),
    ("3", 50, ALL_ALIKE[4], ALL_ALIKE[3]),
    ("3", 20, RARELY[4], RARELY[3]),
    ("5", 50, RARELY[4], RARELY[3]),
    ("3", 50, RARELY[2], RARELY[5]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n", "a", "b"), THIN)
def test_separate_fields_of_few_reports_keep_their_size(
    epsilon: str, n: int, a: Floats, b: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By permuting reports: .015 to .05. Compared with χ², the same statistic has .11 to .16."""
    monkeypatch.setattr("survey_app.estimate.hypotheses.DRAWS", 399)
    runs = 2000
    left, right = (mechanism_choice.make_subset(len(shares), 1, Decimal(epsilon)) for shares in (a, b))
    found = [pearson(one) for one in tables(np.outer(noised(left, a), noised(right, b)), n, runs)]
    assert rejections(found) < not_above(runs, 0.05)
    thin = [one for one in found if one.method == "permutation"]
    assert len(thin) > 0.8 * runs
    assert sum(one.df > 0 and chi2.sf(one.statistic, one.df) < LEVEL for one in found) / runs > not_above(runs, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "n", "a", "b"),
    [("2", 20, ALL_ALIKE[2], ALL_ALIKE[2]), ("8", 20, np.full(4, 0.25), np.full(3, 1 / 3))],
)
def test_joint_fields_of_few_reports_keep_their_size(
    epsilon: str, n: int, a: Floats, b: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By drawing from independent cells: .04 to .055. The likelihood ratio on χ² has .12 and .11."""
    monkeypatch.setattr("survey_app.estimate.hypotheses.DRAWS", 199)
    runs, made = 1500, mechanism_choice.make_subset(len(a) * len(b), 1, Decimal(epsilon))
    slope, base = float(made.p - made.q), float(made.q)
    drawn = tables(base + slope * np.outer(a, b), n, runs)
    found = [joint_independence(one, slope, base) for one in drawn]
    assert {one.method for one in found} == {"bootstrap"}
    assert rejections(found) < not_above(runs, 0.055)
    assert rejections([likelihood_ratio(one, slope, base) for one in drawn[:600]]) > 0.055


@pytest.mark.parametrize(
    "made", [mechanism_choice.make_subset(3, 2, Decimal(3)), mechanism_choice.make_subset(3, 1, Decimal(3))]
)
def test_reports_of_several_symbols_are_permuted_one_by_one(made: Subset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions to which 30 people say the same; one of them is a yes or no at ε 5.

    Where half of them say something else to both, 3 in 100 samples do not show it (1,500 were drawn), so 6 of 10 do not
    in 2 of 10^7 runs; a test that sees nothing rejects 1 in 20, and 5 of 10 in 6 of 10^5.
    """
    monkeypatch.setattr("survey_app.estimate.hypotheses.DRAWS", 199)
    runs, n, other = 600, 30, mechanism_choice.make_flip(Decimal(5))
    alike = np.zeros(n, dtype=np.int64)
    found = [scanned(bits_of(made, alike), bits_of(other, alike)) for _ in range(runs)]
    assert rejections(found) < not_above(runs, 0.05)
    assert {"permutation"} == {one.method for one in found if one.df}
    split = np.repeat([0, 1], n // 2)
    assert sum(scanned(bits_of(made, split), bits_of(other, split)).p_value < 0.05 for _ in range(10)) >= 5


def test_thin_tables_still_find_what_goes_together() -> None:
    """(1 + 0)/(1 + 1999) is the least that 1999 draws can say."""
    for found in (
        pearson(np.array([[12.0, 1.0], [1.0, 6.0]])),
        joint_independence(np.array([[14.0, 0.0], [0.0, 6.0]]), 0.9, 0.025),
    ):
        assert found.draws == 1999
        assert 1 / 2000 <= found.p_value < 0.01
        assert found.p_value * 2000 == pytest.approx(round(found.p_value * 2000))


def test_the_same_reports_have_the_same_p_value() -> None:
    thin = np.array([[6.0, 2.0], [1.0, 3.0]])
    assert pearson(thin) == pearson(thin.copy())
    assert joint_independence(thin, 0.5, 0.125) == joint_independence(thin.copy(), 0.5, 0.125)
    u, v = np.eye(3)[[0, 0, 1, 2, 1, 0, 0]], np.eye(2)[[0, 0, 1, 1, 0, 0, 0]]
    order = np.array([3, 1, 6, 0, 2, 5, 4])
    assert scanned(u, v).p_value == scanned(u[order], v[order]).p_value
    assert scanned(u, v).method == "permutation"


def test_the_chance_of_a_permuted_table_is_that_of_permuting() -> None:
    """p-values of a table of 2 × 3 against all 7!/(…) orders of its reports; the draws err by less than six of their sd."""
    table = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
    rows, columns = np.repeat([0, 1], [4, 3]), np.repeat([0, 1, 2], [3, 2, 2])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / 7
    orders = set(permutations(columns.tolist()))
    reached = 0
    for order in orders:
        made = np.zeros((2, 3))
        np.add.at(made, (rows, np.array(order)), 1)
        reached += ((made - expected) ** 2 / expected).sum() >= ((table - expected) ** 2 / expected).sum() - 1e-9
    exact = reached / len(orders)
    assert 0.02 < exact < 0.2
    assert pearson(table).p_value == pytest.approx(exact, abs=6 * math.sqrt(exact * (1 - exact) / 1999) + 1 / 2000)


def test_too_many_reports_to_permute_are_not_tested_where_few_are_expected() -> None:
    u, v = np.eye(3)[[0, 0, 1, 2]], np.eye(2)[[0, 1, 0, 0]]
    left, right = (ScoreSummary(one.T @ one / 4, one.mean(axis=0), one.sum(axis=0).astype(np.int64)) for one in (u, v))
    assert quadratic(u.T @ v / 4 - np.outer(left.mean, right.mean), left, right, 4) is None


# groups


def test_groups_keep_their_size() -> None:
    """Published as .048, for surveys of unequal numbers of reports."""
    runs, made = 2000, mechanism_choice.make_subset(3, 1, Decimal(1))
    rng = np.random.default_rng()
    chances = noised(made, FEW[3])
    drawn = np.stack([rng.multinomial(n, chances, size=runs) for n in (100, 300, 500)], axis=1).astype(float)
    found = [compare_groups(one) for one in drawn]
    assert (found[0].df, found[0].n) == (4, 900)
    assert not_below(runs) <= rejections(found) < not_above(runs)
    other = drawn.copy()
    other[:, 2] = rng.multinomial(500, noised(made, FEW[3][::-1].copy()), size=runs)
    assert rejections([compare_groups(one) for one in other]) > 0.5


@pytest.mark.parametrize("test", [pearson, compare_groups])
def test_empty_rows_and_columns_are_left_out(test: Callable[[Floats], Test]) -> None:
    found = test(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [5.0, 0.0, 1.0]]))
    assert (found.df, found.n) == (1, 13)
