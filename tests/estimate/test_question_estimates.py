"""Estimates and intervals, against exact enumeration and published figures.

Coverage is computed exactly where counts are binomial. Elsewhere it is simulated from the operating system's randomness;
those tests allow four standard errors below the stated coverage, so each raises a false alarm with probability below 1e-4
for every pair checked, and an interval of half the width is shown to fail them.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from candor_client import Survey
from candor_client.mechanisms import Geometric, Subset, publish
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import (
    Interval,
    Method,
    Options,
    clopper_pearson,
    dirichlet,
    finite_population,
    guarded_clopper_pearson,
    korn_graubard,
    wilson,
)
from survey_app.estimate.projection import project, project_to_margins
from survey_app.estimate.question_estimates import Estimate, Evidence, evidence_of, joint_cells, question_estimates
from survey_app.tally import Tally
from tests.answers import SMALL
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
from tests.estimate.observations import raw_mean, union
from tests.exact import all_visible_answers, mechanism_bits
from tests.reference import distribution

ALPHA = 0.05
EPSILONS = [0.1, 0.5, 1, math.log(3), 3]
SHARES = np.linspace(0, 1, 1001)


def coverage(method: Any, n: int, epsilon: float) -> tuple[float, float]:
    """The worst exact coverage over 1001 shares, and the mean width at a share of .3."""
    made = mechanism_choice.make_flip(Decimal(epsilon))
    p, q = float(made.p), float(made.q)
    found = [method(y, n, made.p, made.q, ALPHA) for y in range(n + 1)]
    low, high = np.array([i.low for i in found]), np.array([i.high for i in found])
    worst, width = 1.0, 0.0
    for share in SHARES:
        chances = binom.pmf(np.arange(n + 1), n, q + share * (p - q))
        worst = min(worst, float(chances[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum()))
        if abs(share - 0.3) < 1e-9:
            width = float(chances @ (high - low))
    return worst, width


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 100, 1000])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_guarded_clopper_pearson_covers_everywhere_at_little_cost(epsilon: float, n: int) -> None:
    worst, width = coverage(guarded_clopper_pearson, n, epsilon)
    assert worst >= 0.95
    if n >= 100:
        assert width <= 1.10 * coverage(wilson, n, epsilon)[1]


@pytest.mark.parametrize(
    ("epsilon", "n", "worst"), [(1, 100, 0.937), (3, 20, 0.917), (3, 100, 0.928), (0.5, 20, 0.929)]
)
def test_wilson_is_short_at_the_worst_share_as_published(epsilon: float, n: int, worst: float) -> None:
    assert coverage(wilson, n, epsilon)[0] == pytest.approx(worst, abs=0.0015)


@pytest.mark.parametrize(("epsilon", "n", "shortest"), [(1, 100, 0.214), (1, 1000, 0.062), (3, 10_000, 0.0049)])
def test_a_guarded_interval_is_never_empty(epsilon: float, n: int, shortest: float) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    widths = [
        i.high - i.low
        for i in (guarded_clopper_pearson(y, n, made.p, made.q, ALPHA) for y in range(0, n + 1, max(1, n // 2000)))
    ]
    assert min(widths) == pytest.approx(shortest, rel=0.02)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@pytest.mark.parametrize("n", [20, 100])
def test_the_sample_interval_covers_the_share_of_these_very_respondents(epsilon: float, n: int) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    p, q = float(made.p), float(made.q)
    found = [finite_population(y, n, made.p, made.q, ALPHA, n) for y in range(n + 1)]
    worst = 1.0
    for yes in range(n + 1):
        chances = np.convolve(binom.pmf(np.arange(yes + 1), yes, p), binom.pmf(np.arange(n - yes + 1), n - yes, q))
        covers = [i.low - 1e-12 <= yes / n <= i.high + 1e-12 for i in found]
        worst = min(worst, float(chances[covers].sum()))
    assert worst >= 0.95


@pytest.mark.parametrize(("n", "ones"), [(10, 0), (10, 3), (10, 10), (500, 123)])
def test_dirichlet_is_clopper_pearson_where_there_are_two_scores(n: int, ones: int) -> None:
    found = dirichlet([0, 1], [n - ones, ones], ALPHA)
    assert (found.low, found.high) == pytest.approx(clopper_pearson(ones, ones, n, ALPHA), abs=1e-9)


def test_dirichlet_quantiles_are_those_of_a_dirichlet() -> None:
    """Two million draws: the share below the quantile is within five standard errors of its level."""
    rng = np.random.default_rng()
    for scores, counts in (([0, 0.5, 1], [3, 4, 5]), ([0, 1, 2, 5], [100, 20, 30, 50]), ([-1, 0, 1], [0, 10, 0])):
        found = dirichlet(scores, counts, ALPHA)
        for end, extra, level in ((found.low, 0, 0.025), (found.high, -1, 0.975)):
            weights = np.array(counts, dtype=float)
            weights[extra] += 1
            kept = weights > 0
            draws = rng.gamma(weights[kept], size=(500_000, int(kept.sum())))
            means = draws @ np.array(scores)[kept] / draws.sum(axis=1)
            assert abs((means < end).mean() - level) < 5 * math.sqrt(level * (1 - level) / 500_000)


def test_the_projection_is_the_nearest_point_of_the_simplex() -> None:
    assert project(np.array([0.5, 0.3, 0.2])).tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert project(np.array([1.2, -0.1, -0.1])).tolist() == pytest.approx([1, 0, 0])
    rng = np.random.default_rng()
    for _ in range(50):
        raw = rng.normal(0.2, 0.5, 6)
        point = project(raw)
        assert point.sum() == pytest.approx(1)
        assert point.min() >= 0
        others = rng.dirichlet(np.ones(6), 2000)
        assert ((others - raw) ** 2).sum(axis=1).min() >= ((point - raw) ** 2).sum() - 1e-12


def test_the_cells_nearest_to_their_margins() -> None:
    """Each margin is the projection of its own; of all possible cells with these margins, none is nearer."""
    rng, at = np.random.default_rng(), np.arange(12).reshape(3, 4)
    for spread in (0.05, 0.3, 2.0):
        for _ in range(30):
            raw = rng.normal(1 / 12, spread, 12)
            raw += (1 - raw.sum()) / 12
            found = project_to_margins(raw, [*at.tolist(), *at.T.tolist()]).reshape(3, 4)
            assert found.min() >= 0
            assert found.sum(axis=1) == pytest.approx(project(raw.reshape(3, 4).sum(axis=1)), abs=1e-5)
            assert found.sum(axis=0) == pytest.approx(project(raw.reshape(3, 4).sum(axis=0)), abs=1e-5)
            apart = ((found - raw.reshape(3, 4)) ** 2).sum()
            for _ in range(60):  # to another one with the same margins
                (i, other), (j, across) = rng.choice(3, 2, replace=False), rng.choice(4, 2, replace=False)
                step = rng.random() * min(found[i, across], found[other, j])
                moved = found.copy()
                moved[[i, other], [j, across]] += step
                moved[[i, other], [across, j]] -= step
                assert ((moved - raw.reshape(3, 4)) ** 2).sum() >= apart - 1e-4 * (1 + apart) * step


@pytest.mark.parametrize("cells", [[0.0] * 4, [-3.0, -3.0, -3.0, -3.0], [5.0, 5.0, -9.0, 0.0]])
def test_cells_that_no_reports_can_give_have_nearest_ones_too(cells: list[float]) -> None:
    found = project_to_margins(np.array(cells), [[0, 1], [2, 3], [0, 2], [1, 3]])
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0


# every pair of question and mechanism


def exact_counts(definition: dict[str, Any], shares: list[float]) -> tuple[np.ndarray[Any, Any], float]:
    """The expected share of ones in each stored bit, if these are the shares of all answers."""
    total: np.ndarray[Any, Any] | None = None
    for share, answers in zip(shares, all_visible_answers(definition), strict=True):
        for row, chance in distribution(definition, answers).items():
            bits = np.array([int(bit) for bit in row], dtype=float) * float(chance) * share
            total = bits if total is None else total + bits
    assert total is not None
    return total, 1.0


def estimates_of(parsed: Survey, counts: np.ndarray[Any, Any], n: int) -> dict[str, list[Estimate]]:
    return {
        question.id: question_estimates(found, question, Options())
        for found in evidence_of(parsed, Tally(n, counts))
        for question in found.field.questions
    }


@pytest.mark.parametrize("name", SMALL)
def test_every_estimator_is_unbiased(name: str) -> None:
    """Counts that are exactly their expectation give back exactly the shares that were put in."""
    definition = SMALL[name]
    answers = all_visible_answers(definition)
    weights = np.arange(1, len(answers) + 1, dtype=float)
    shares = (weights / weights.sum()).tolist()
    rows, _ = exact_counts(definition, shares)
    n = 10**12
    found = estimates_of(survey(definition), np.rint(rows * n).astype(np.int64), n)
    for question in definition["questions"]:
        for one in found[question["id"]]:
            truth = true_value(question, one, answers, shares)
            assert one.unbiased == pytest.approx(truth, abs=1e-5)
            assert one.estimate == pytest.approx(truth, abs=1e-5)
            assert one.interval.low - 1e-5 <= truth <= one.interval.high + 1e-5


def true_value(question: dict[str, Any], one: Estimate, answers: list[dict[str, Any]], shares: list[float]) -> float:
    said = [(answer[question["id"]], share) for answer, share in zip(answers, shares, strict=True)]
    if one.kind == "no_answer":
        return sum(share for answer, share in said if answer is None)
    if one.kind == "mean":
        scores = question.get("scores") or list(range(1, len(question.get("points", [])) + 1))
        values = dict(zip(question.get("points", []), scores, strict=True))
        kept = [(values.get(answer, answer), share) for answer, share in said if answer is not None]
        return sum(float(value) * share for value, share in kept) / sum(share for _, share in kept)
    if question["type"] == "yes_no":
        return sum(share for answer, share in said if answer is (one.option == "yes"))
    if question["type"] == "multiple":
        return sum(share for answer, share in said if answer is not None and one.option in answer)
    if question["type"] == "number":
        low, _, high = one.option.partition(" to ")
        return sum(share for answer, share in said if answer is not None and float(low) <= answer <= float(high or low))
    return sum(share for answer, share in said if answer == one.option)


def test_joint_cells_are_estimated_in_order() -> None:
    definition = SMALL["joint"]
    parsed = survey(definition)
    answers = all_visible_answers(definition)
    weights = np.arange(1, len(answers) + 1, dtype=float)
    rows, _ = exact_counts(definition, (weights / weights.sum()).tolist())
    cells = joint_cells(
        Evidence(parsed.fields[0], np.rint(rows * 10**12).astype(np.int64), 10**12), parsed.questions, Options()
    )
    assert [cell.options for cell in cells][:3] == [("no", "option 0"), ("no", "option 1"), ("no", "no answer")]
    assert [cell.estimate.unbiased for cell in cells] == pytest.approx((weights / weights.sum()).tolist(), abs=1e-5)


def test_cells_that_cannot_occur_are_not_estimated() -> None:
    """Yes or no, and two options that only yes shows: four cells of six, and margins of one and three cells."""
    definition = SMALL["joint, hidden"]
    parsed = survey(definition)
    made = parsed.fields[0].mechanism
    assert isinstance(made, Subset)
    evidence = Evidence(parsed.fields[0], np.array([40, 30, 20, 10]), 100)
    assert [cell.options for cell in joint_cells(evidence, parsed.questions, Options())] == [
        ("no", "no answer"), ("yes", "option 0"), ("yes", "option 1"), ("yes", "no answer"),
    ]  # fmt: skip
    no, yes = question_estimates(evidence, parsed.questions[0], Options())
    assert no.interval == guarded_clopper_pearson(40, 100, made.p, made.q, ALPHA)
    assert yes.interval == guarded_clopper_pearson(60, 100, made.p + 2 * made.q, 3 * made.q, ALPHA)
    assert no.unbiased + yes.unbiased == pytest.approx(1)
    *_, none = question_estimates(evidence, parsed.questions[1], Options())
    assert (none.kind, none.interval) == (
        "no_answer",
        guarded_clopper_pearson(50, 100, made.p + made.q, 2 * made.q, ALPHA),
    )


def test_a_geometric_mean_is_that_of_the_levels_with_what_lies_beyond_their_ends() -> None:
    """With r = ¼, a level at an end stands for a third of a level more."""
    parsed = survey(define([number(min=10, max=16, levels=7)], [field(geometric(7, 2**62), "hours")]))
    counts = np.array([3, 2, 0, 0, 1, 0, 4])
    (one,) = question_estimates(Evidence(parsed.fields[0], counts, 10), parsed.questions[0], Options())
    scores = [10 - 1 / 3, 11, 12, 13, 14, 15, 16 + 1 / 3]
    assert one.unbiased == pytest.approx(np.dot(scores, counts) / 10)
    assert (one.interval.method, one.n) == (Method.DIRICHLET, 10)
    assert (one.interval.low, one.interval.high) == pytest.approx(
        [(found := dirichlet(scores, counts.tolist(), ALPHA)).low, found.high]
    )
    (most,) = question_estimates(Evidence(parsed.fields[0], counts * 0 + 50 * (scores == np.max(scores)), 50),
                                 parsed.questions[0], Options())  # fmt: skip
    assert most.estimate == most.interval.high == 16 < most.unbiased
    assert 13 < most.interval.low < 16


EDGES: list[tuple[str, dict[str, Any]]] = [
    ("flip", define([yes_no()], [field(COIN, "cheated")])),
    ("subset", define([choice_question(options=5)], [field(subset(5, 2), "help")])),
    ("scale", define([scale(optional=True)], [field(subset(4, 1), "fair")])),
    ("scale, weight 2", define([scale()], [field(subset(3, 2, 15 * 2**60), "fair")])),
    ("drawn", define([multiple()], [field(drawn(3, 1), "used")])),
    ("drawn, two of three", define([multiple()], [field(drawn(3, 2), "used")])),
    ("cells", define([multiple(options=2)], [field(subset(4, 2, 15 * 2**60), "used")])),
    ("levels", define([number(levels=3)], [field(subset(3, 1), "hours")])),
    ("geometric", define([number(levels=7)], [field(geometric(7), "hours")])),
]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("fill", [0, 1])
@pytest.mark.parametrize(("name", "definition"), EDGES)
def test_all_zeros_and_all_ones_are_defined(name: str, definition: dict[str, Any], fill: int, n: int) -> None:
    parsed = survey(definition)
    counts = np.full(parsed.width, fill * n, dtype=np.int64)
    found = estimates_of(parsed, counts, n)[parsed.questions[0].id]
    if n < 2 and "drawn" not in name:
        assert found == []
    for one in found:
        assert math.isfinite(one.estimate)
        assert math.isfinite(one.interval.low)
        assert one.interval.low <= one.interval.high
        assert one.n >= (0 if "drawn" in name else 2)
        if one.kind != "mean":
            assert 0 <= one.interval.low <= one.interval.high <= 1
            assert 0 <= one.estimate <= 1


# coverage where counts are not binomial


def simulate(mechanism: Subset | Geometric, shares: list[float], n: int, runs: int) -> np.ndarray[Any, Any]:
    """Counts of `runs` surveys of n respondents, from the exact distribution of the stored bits."""
    rng = np.random.default_rng()
    counts = np.zeros((runs, mechanism.size), dtype=np.int64)
    truths = rng.multinomial(n, shares, size=runs)
    for symbol in range(mechanism.size):
        chances = mechanism_bits(mechanism, symbol)
        rows = np.array([[int(bit) for bit in row] for row in chances])
        weights = np.array([float(chance) for chance in chances.values()])
        for run in range(runs):
            counts[run] += rng.multinomial(truths[run, symbol], weights / weights.sum()) @ rows
    return counts


MEANS: list[tuple[str, Subset, list[float], int, float]] = [
    ("Dirichlet, 3 levels at ε 2", mechanism_choice.make_subset(3, 1, Decimal(2)), [0.9, 0.1, 0.0], 20, 0.95),
    ("Dirichlet, 5 levels at ε 4", mechanism_choice.make_subset(5, 1, Decimal(4)), [0.5, 0.2, 0.1, 0.1, 0.1], 50, 0.95),
    (
        "Korn–Graubard, 5 of weight 2",
        mechanism_choice.make_subset(5, 2, Decimal("0.5")),
        [0.7, 0.1, 0.1, 0.05, 0.05],
        100,
        0.945,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mechanism", "shares", "n", "stated"), MEANS)
def test_means_are_covered_as_stated(name: str, mechanism: Subset, shares: list[float], n: int, stated: float) -> None:
    runs = 600
    scores = list(np.linspace(0, 1, mechanism.size))
    truth = float(np.dot(scores, shares))
    found = [raw_mean(mechanism, c, n, scores) for c in simulate(mechanism, shares, n, runs)]
    allowed = stated - 4 * math.sqrt(stated * (1 - stated) / runs)

    def covered(intervals: list[Interval]) -> float:
        return sum(i.low <= truth <= i.high for i in intervals) / runs

    assert covered(found) >= allowed
    halved = [Interval(i.low + (i.high - i.low) / 4, i.high - (i.high - i.low) / 4, i.method) for i in found]
    assert covered(halved) < allowed


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 30), (2, 30)])
def test_geometric_means_are_covered_by_the_exact_distribution(epsilon: float, n: int) -> None:
    """Most levels are at the low end; four standard errors below .944 are allowed, and half the width is caught."""
    runs, size = 400, 11
    mechanism = mechanism_choice.make_geometric(size, Decimal(epsilon))
    shares = binom.pmf(np.arange(size), size - 1, 0.05).tolist()
    truth = 0.05 * (size - 1)
    parsed = survey(define([number(max=10, levels=size)], [field(publish(mechanism), "hours")]))
    found = [
        question_estimates(Evidence(parsed.fields[0], counts, n), parsed.questions[0], Options())[0].limits.raw
        for counts in simulate(mechanism, shares, n, runs)
    ]
    allowed = 0.944 - 4 * math.sqrt(0.944 * 0.056 / runs)
    assert sum(i.low <= truth <= i.high for i in found) / runs >= allowed
    assert sum(abs(truth - (i.low + i.high) / 2) <= (i.high - i.low) / 4 for i in found) / runs < allowed


def test_korn_graubard_of_a_binomial_is_nearly_clopper_pearson() -> None:
    found = korn_graubard(0.3, 0.21, 1000, ALPHA)
    assert (found.low, found.high) == pytest.approx(clopper_pearson(300, 300, 1000, ALPHA), abs=5e-4)


def test_unions_are_exact_where_each_report_names_one_symbol() -> None:
    made = Subset(size=4, weight=1, keep=3 * 2**62)
    counts = np.array([40, 30, 20, 10])
    found = union(made, counts, 100, [0, 1])
    p, q = made.p + made.q, 2 * made.q
    assert found == guarded_clopper_pearson(70, 100, p, q, ALPHA)
    assert found.coverage == "guaranteed"


def test_a_drawn_option_is_estimated_among_those_asked() -> None:
    parsed = survey(define([multiple()], [field(drawn(3, 1), "used")]))
    found = question_estimates(
        Evidence(parsed.fields[0], np.array([30, 10, 0, 0, 25, 35]), 100), parsed.questions[0], Options()
    )
    assert [(one.option, one.n) for one in found] == [("item 0", 40), ("item 1", 0), ("item 2", 60)]
    assert found[0].unbiased == pytest.approx((0.25 - 0.25) / 0.5)


def test_options_drawn_together_have_the_chances_of_one_of_them() -> None:
    """Of two options four sets: kept with ¾, each other with 1/12; so one option is right with ¾ + 1/12."""
    parsed = survey(define([multiple()], [field(drawn(3, 2), "used")]))
    found = question_estimates(
        Evidence(parsed.fields[0], np.array([30, 30, 20, 50, 10, 60]), 100), parsed.questions[0], Options()
    )
    p, q = Fraction(5, 6), Fraction(1, 6)
    for one, (ones, n) in zip(found, ((30, 60), (50, 70), (60, 70)), strict=True):
        assert (one.n, one.reported) == (n, ones / n)
        assert one.unbiased == pytest.approx((ones / n - 1 / 6) / (2 / 3))
        assert one.interval == guarded_clopper_pearson(ones, n, p, q, ALPHA)
        assert one.interval.coverage == "guaranteed"
        assert one.limits.sample is None  # not all were asked about it
