"""The tables of docs/variance.md and docs/coverage.md: their formulas, and that they would show a fault."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import spreads, variance
from benchmarks.coverage import cases, page, study
from benchmarks.coverage.__main__ import DOCS
from benchmarks.coverage.study import Case, Outcome, halve_intervals, measure, verdict
from benchmarks.coverage.truths import describe_shares, draw_independently
from benchmarks.variance import FAMILIES, GridPoint

# variance


@pytest.fixture(scope="module")
def grid() -> list[GridPoint]:
    return [place for epsilon in variance.EPSILONS for place in variance.grid_points(epsilon)]


PUBLISHED = [  # ε, k; n·Var at share 0 and on average at equal shares: GRR, OUE, SS with its weight
    (0.5, 5, (11.05, 11.97), (15.67, 15.87), (9.75, 9.89, 2)),
    (0.5, 20, (46.7, 48.1), (15.67, 15.72), (14.10, 14.13, 8)),
    (1, 3, (1.259, 1.453), (3.683, 4.016), (1.259, 1.453, 1)),
    (1, 5, (1.937, 2.286), (3.683, 3.883), (1.937, 2.286, 1)),
    (1, 10, (3.63, 4.10), (3.683, 3.783), (2.839, 2.910, 3)),
    (1, 100, (34.1, 34.7), (3.683, 3.693), (3.590, 3.600, 27)),
    (1, 10_000, (3387, 3388), (3.683, 3.683), (3.682, 3.682, 2689)),
    (3, 10, (0.0771, 0.1190), (0.2206, 0.3206), (0.0771, 0.1190, 1)),
    (3, 100, (0.324, 0.376), (0.2206, 0.2306), (0.197, 0.206, 5)),
    (3, 1000, (2.80, 2.85), (0.2206, 0.2216), (0.2181, 0.2191, 47)),
]


@pytest.mark.parametrize(("epsilon", "k", "grr", "oue", "ss"), PUBLISHED)
def test_variances_are_the_published_ones(
    epsilon: float, k: int, grr: tuple[float, ...], oue: tuple[float, ...], ss: tuple[float, ...]
) -> None:
    for share, place in ((0, 0), (1 / k, 1)):
        assert variance.variance(variance.grr, k, epsilon, share) == pytest.approx(grr[place], rel=3e-3)
        assert variance.variance(variance.oue, k, epsilon, share) == pytest.approx(oue[place], rel=1e-3)
        each = variance.coin_variance(*variance.ss(k, math.exp(epsilon)), share)
        assert float(each[int(ss[2]) - 1]) == pytest.approx(ss[place], rel=4e-3)
    best = int(np.argmin(variance.coin_variance(*variance.ss(k, math.exp(epsilon)), 1 / k))) + 1
    assert best == ss[2]


@pytest.mark.parametrize(
    ("epsilon", "sue", "hr"), [(0.5, 15.92, 16.67), (1, 3.918, 4.683), (3, 0.3697, 1.221)]
)  # fmt: skip
def test_variances_that_do_not_depend_on_the_options(epsilon: float, sue: float, hr: float) -> None:
    for k in (2, 20, 1000):
        assert variance.variance(variance.sue, k, epsilon, 0) == pytest.approx(sue, rel=1e-3)
        assert variance.variance(variance.hr, k, epsilon, 0) == pytest.approx(hr, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 2), (1, 7), (2, 50), (5, 1000)])
def test_closed_forms_at_share_zero(epsilon: float, k: int) -> None:
    e = math.exp(epsilon)
    assert variance.variance(variance.grr, k, epsilon, 0) == pytest.approx((e + k - 2) / (e - 1) ** 2)
    assert variance.variance(variance.oue, k, epsilon, 0) == pytest.approx(4 * e / (e - 1) ** 2)
    assert variance.variance(variance.hr, k, epsilon, 0) == pytest.approx((e + 1) ** 2 / (e - 1) ** 2)
    hashing = min((e - 1 + g) ** 2 / ((e - 1) ** 2 * (g - 1)) for g in (math.floor(e + 1), math.ceil(e + 1)))
    assert variance.variance(variance.olh, k, epsilon, 0) == pytest.approx(hashing)


def test_projective_geometry_is_as_far_off_as_published() -> None:
    def ratio(k: int, epsilon: float) -> float:
        every = {name: variance.variance(family, k, epsilon, 1 / k) for name, family in FAMILIES.items()}
        return every["PGR"] / min(every.values())

    assert ratio(50, 3) == pytest.approx(1.19, abs=0.006)
    assert ratio(1000, 5) == pytest.approx(1.07, abs=0.006)
    assert max(ratio(200, epsilon) for epsilon in (0.1, 0.5, 1, 1.5, 2)) < 1.0175
    assert max(ratio(1000, epsilon) for epsilon in (0.1, 0.5, 1, 1.5, 2)) < 1.01


def test_prime_powers_are_those_of_textbooks() -> None:
    assert variance.prime_powers(32).tolist() == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]


def test_the_chosen_mechanism_is_the_best(grid: list[GridPoint]) -> None:
    assert {place.epsilon for place in grid} == set(variance.EPSILONS)
    assert {place.k for place in grid} >= {2, 3, 300, 10_000}
    assert all(place.choice.startswith("SS") for place in grid)
    assert max(place.ratio for place in grid) < 1 + 1e-9 < variance.GOAL


@pytest.mark.parametrize(
    ("names", "ratio", "k", "epsilon"), [(("GRR", "OUE"), 1.44, 5, "0.1"), (("OUE",), 77, 2, "5"), (("GRR", "OLH"), 1.44, 6, "0.2")]
)  # fmt: skip
def test_other_choices_cost_what_is_published(
    grid: list[GridPoint], names: tuple[str, ...], ratio: float, k: int, epsilon: str
) -> None:
    place, found = variance.worst_of_families(grid, names)
    assert found == pytest.approx(ratio, rel=5e-3)
    assert (place.k, place.epsilon) == (k, epsilon)


@pytest.mark.parametrize(
    ("epsilon", "way", "respondents"),
    [("1", "1 of 10", 17_374), ("2", "2 of 10", 4_771), ("3", "3 of 10", 2_374), ("4", "4 of 10", 1_466), ("6", "6 of 10", 758)],
)  # fmt: skip
def test_ten_options_need_as_many_as_published(epsilon: str, way: str, respondents: int) -> None:
    name, found = spreads.chosen_option(10, Decimal(epsilon))
    assert name == f"{way} drawn"
    assert math.ceil((1.959964 / 0.05) ** 2 * found) == pytest.approx(respondents, abs=1)


@pytest.mark.parametrize(
    ("epsilon", "published"),
    [(0.5, (16.67, 21.22, 16.67, 32)), (1, (4.683, 5.224, 4.289, 8)), (2, (1.724, 1.228, 1.042, 2)), (4, (1.076, 0.241, 0.219, 0.5))],
)  # fmt: skip
def test_means_vary_as_published(epsilon: float, published: tuple[float, ...]) -> None:
    assert tuple(spreads.means(epsilon).values()) == pytest.approx(published, rel=3e-3)


@pytest.mark.parametrize(("epsilon", "together", "split"), [("1", 2.08, 19.5), ("2", 0.50, 1.96), ("3", 0.27, 0.69)])
def test_a_cell_of_a_pair_varies_as_published(epsilon: str, together: float, split: float) -> None:
    *_, cell, ratio = spreads.pair_row(2, 2, Decimal(epsilon))
    assert float(cell) == pytest.approx(together, rel=0.02)
    assert float(cell) * float(ratio) == pytest.approx(split, rel=0.02)


def test_the_page_of_variances_is_up_to_date(grid: list[GridPoint]) -> None:
    assert variance.DOCS.read_text() == variance.report(grid), "make coverage"


# coverage


def find(pair: str, setting: str, n: int, method: str = "") -> Case:
    (case,) = (
        one for one in cases.CASES
        if (one.pair, one.setting, one.n) == (pair, setting, n) and method in one.method
    )  # fmt: skip
    return case


def worst(outcomes: list[Outcome]) -> Outcome:
    return min(outcomes, key=lambda one: one.coverage)


@pytest.mark.parametrize(("setting", "n", "published"), [("ε 3", 20, 0.958), ("ε 3", 100, 0.950), ("ε 1", 100, 0.950)])
def test_enumerated_coverage_is_the_published_one(setting: str, n: int, published: float) -> None:
    found = worst(measure(find("yes or no, `flip`", setting, n, "Clopper"), 0, np.random.default_rng()))
    assert found.coverage == pytest.approx(published, abs=1e-3)
    assert (found.label, found.runs) == ("guaranteed", 0)


SIMULATED = [
    ("all options together, `subset`", "4 options, w 1, ε 1", 1000),
    ("mean, `subset` w > 1", "k 5, w 2, ε 0.5", 1000),
    ("union, `subset` w > 1", "2 symbols, k 5, w 2, ε 0.5", 1000),
    ("number, `geometric`", "0 to 10, ε 1", 1000),
]
RUNS, ALARM = 250, 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("pair", "setting", "n"), SIMULATED)
def test_a_study_accepts_the_interval_and_finds_half_of_it_too_low(pair: str, setting: str, n: int) -> None:
    """The same code as for the page, with few runs.

    It accepts unless so few runs cover as would happen with a probability below 1e-8 at the stated coverage. Half of a
    95% interval covers some 67%; that it is not found too low has a probability below 1e-7.
    """
    case = find(pair, setting, n)
    case = replace(case, truths=case.truths[:1], effort=1.0)
    (found,) = measure(case, RUNS, np.random.default_rng())
    assert binom.cdf(round(found.coverage * found.runs), found.runs, case.stated) > ALARM
    (half,) = measure(halve_intervals(case), RUNS, np.random.default_rng())
    assert half.coverage < found.coverage
    assert half.width == pytest.approx(found.width / 2, rel=0.2)
    assert "LOW" in verdict(halve_intervals(case), half)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "setting", "n"),
    [
        ("yes or no, `flip`", "ε 1", 100), ("mean, `subset` w 1", "k 3, ε 5", 5), ("option, `drawn`", "2 of 4, ε 2", 20),
        ("share of answers, `subset` w 1", "2 options, ε 3", 20),
    ],
)  # fmt: skip
def test_half_an_interval_is_too_low_also_where_it_is_enumerated(pair: str, setting: str, n: int) -> None:
    case = find(pair, setting, n, "Clopper" if "flip" in pair else "")
    outcomes = measure(halve_intervals(case), 0, np.random.default_rng())
    assert "LOW" in verdict(case, worst(outcomes))
    text = page.page([(case, outcomes)])
    assert "**Too low, 1 of 1 lines:**" in text
    assert text.index("TOO LOW") < text.index("## All lines")


@pytest.mark.parametrize(
    ("covered", "runs", "label", "said"),
    [
        (0.95, 0, "guaranteed", "holds"), (0.9499, 0, "guaranteed", "LOW"), (0.94, 0, "approximate", "as stated"),
        (0.929, 0, "approximate", "LOW"), (0.941, 2000, "guaranteed", "holds"), (0.94, 2000, "guaranteed", "LOW"),
        (0.94, 2000, "approximate", "as stated"), (0.9299, 2000, "approximate", "LOW"), (0.931, 500, "guaranteed", "holds"),
        (0.9304, 500, "guaranteed", "LOW"), (0.9299, 500, "approximate", "LOW"),
    ],
)  # fmt: skip
def test_verdicts(covered: float, runs: int, label: str, said: str) -> None:
    """Two standard errors below 95% hold; an approximate interval needs 93%, without allowance."""
    assert said in verdict(cases.CASES[0], Outcome("", covered, 1.0, label, runs))


def test_a_line_is_as_good_as_the_truth_that_is_too_low() -> None:
    """94.2% in 8,000 runs are too low; 93.8% in 1,000, seen once, are not."""
    first, second = (Outcome(f"{runs}", one, 1.0, "guaranteed", runs) for one, runs in ((0.938, 1000), (0.942, 8000)))
    cells = page.row(cases.CASES[0], [first, second])
    assert cells[5:8] == ["2 × 1,000 runs", "0.942 ± 0.003, 8,000 runs", "8000"]
    assert "LOW" in cells[-1]
    assert page.row(cases.CASES[0], [first])[5:] == ["1 × 1,000 runs", "0.938 ± 0.008", "1000", "1", "holds"]


@pytest.mark.slow
def test_what_does_not_hold_is_looked_at_again() -> None:
    """Half an interval: that it holds at the first look has a probability below 1e-7."""
    case = find("number, `geometric`", "0 to 10, ε 1", 1000)
    case = replace(case, truths=case.truths[:1], effort=1.0)
    (found,) = measure(halve_intervals(case), RUNS, np.random.default_rng())
    assert found.runs == study.SECOND_LOOK * RUNS


def test_the_coverage_of_a_simulation_is_that_of_an_enumeration() -> None:
    """Of the same intervals at the same truth; six standard errors apart with a probability of 2e-9."""
    case = find("mean, `subset` w 1", "k 3, ε 2", 5)
    shares = [0.5, 0.2, 0.3]
    at = next(one for one in case.truths if one.name == describe_shares(shares))
    (exact,) = measure(replace(case, truths=[at]), 0, np.random.default_rng())
    people = replace(at, people=draw_independently({"a": shares}))
    (found,) = measure(replace(case, truths=[people], tallies=None), 4000, np.random.default_rng())
    assert abs(found.coverage - exact.coverage) < 6 * found.error(exact.coverage)
    assert found.width == pytest.approx(exact.width, rel=0.05)


def test_what_is_not_shown_is_not_missed() -> None:
    case = replace(cases.CASES[0], find=lambda survey, tally, rows: [])
    assert all(one.coverage == pytest.approx(1) for one in measure(case, 0, np.random.default_rng()))


def test_every_pair_has_its_cases() -> None:
    pairs = {case.pair for case in cases.CASES}
    assert pairs >= {
        "yes or no, `flip`", "one option, `subset`", "all options together, `subset`",
        "union, `subset` w 1", "mean, `subset` w 1", "number, 7 levels", "number, 2 levels", "mean, `subset` w > 1",
        "union, `subset` w > 1", "margin, `subset` w > 1", "option, `drawn`",
        "yes or no, with `ask`", "mean, with `ask`", "number, `geometric`", "share of answers, `subset` w 1",
        "yes or no, these respondents", "margin of a block", "cell of a block", "margin of a tree in a block",
        "option after a filter", "option, `drawn` in a block", "strong association, differences",
        "test of independence, two fields", "test of independence, joint field", "whole of groups",
        "difference of groups",
    }  # fmt: skip
    assert all(case.truths for case in cases.CASES)


def test_the_page_of_coverages_has_a_line_for_every_case() -> None:
    lines = [line.split(" | ") for line in DOCS.read_text().partition("## All lines")[2].splitlines()[4:]]
    said = [(line[0].removeprefix("| "), line[1], line[2], line[4]) for line in lines]
    assert said == [(one.pair, one.setting, one.method, f"{one.n:,}") for one in cases.CASES], "make coverage"
    assert study.NOMINAL == 0.95
