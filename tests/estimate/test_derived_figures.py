"""Totals, cumulative shares, quantiles, shares of those who answered, finite populations: numbers with their coverage.

What can be enumerated is: counts are binomial, or a binomial of a hypergeometric. What is simulated comes from the
operating system's randomness; a figure falls below its bound with probability 1e-8 if the stated coverage is true, so
that no check raises a false alarm more often than 1e-6, and each is shown to fail on a wrong interval.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom, hypergeom, multinomial

from candor_client.definition import Survey
from candor_client.mechanisms import Drawn, Flip, Subset, publish
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import (
    Interval,
    Limits,
    Method,
    Options,
    binomial,
    dirichlet,
    finite_population,
)
from survey_app.estimate.projection import project
from survey_app.estimate.quantiles import Quantile, estimate_quantiles
from survey_app.estimate.question_estimates import Estimate, Evidence, family_estimates, question_estimates
from survey_app.figures import FamilyName
from survey_app.kinds import kind_of
from tests.definitions import COIN, define, drawn, field, geometric, multiple, number, scale, subset, survey, yes_no
from tests.definitions import choice as choice_question
from tests.estimate.observations import raw_mean
from tests.estimate.rare import lowest_share

Floats = npt.NDArray[np.float64]
ALPHA, Z = 0.05, 1.959963984540054


def ends(found: list[Interval]) -> tuple[Floats, Floats]:
    return np.array([i.low for i in found]), np.array([i.high for i in found])


def covered(found: list[Interval], chances: Floats, truth: float) -> float:
    """The chance that an interval, one for each count, holds the truth."""
    low, high = ends(found)
    return float(chances[(low <= truth + 1e-12) & (truth - 1e-12 <= high)].sum())


def limits_of(made: Flip, n: int, options: Options, *, sample: bool = True) -> list[Limits]:
    return [binomial(y, n, made.p, made.q, options, sample=sample) for y in range(n + 1)]


def total_of(parsed: Survey, counts: list[int], n: int, labels: list[str]) -> Estimate:
    family = kind_of(parsed.questions[0]).total_family(parsed.questions[0], labels)
    assert family is not None
    (one,) = family_estimates(Evidence(parsed.fields[0], np.array(counts), n), parsed.questions[0], family, Options())
    return one


def cumulative(evidence: Evidence, options: Options) -> list[Estimate]:
    return question_estimates(evidence, evidence.field.questions[0], options, FamilyName.CUMULATIVE)


def answered(evidence: Evidence) -> list[Estimate]:
    return question_estimates(evidence, evidence.field.questions[0], Options(), FamilyName.AMONG_ANSWERS)


def quartiles(evidence: Evidence) -> list[Quantile]:
    return estimate_quantiles(evidence.field.questions[0], cumulative(evidence, Options()))


# yes and no


def test_the_guard_costs_a_fifth_of_the_width_where_nobody_says_yes_and_saves_from_points() -> None:
    """At ε 1, n 1000 and a share of 0: .0742 wide instead of .0619, of which 2.3% would have been a point."""
    made, n = mechanism_choice.make_flip(Decimal(1)), 1000
    found = limits_of(made, n, Options())
    chances = binom.pmf(np.arange(n + 1), n, float(made.q))
    cut = [one.raw.clip(0, 1) for one in found]
    widths = [float(chances @ np.subtract(*ends(i)[::-1])) for i in ([one.interval for one in found], cut)]
    assert widths == pytest.approx([0.0742, 0.0619], abs=1e-4)
    points = float(chances[[i.low == i.high for i in cut]].sum())
    assert 0.01 < points <= 0.025
    assert all(one.interval.low < one.interval.high for one in found)


@pytest.mark.parametrize(
    ("epsilon", "n", "share", "chance"),
    [(1, 100, 0.01, 0.43), (1, 1000, 0.01, 0.36), (1, 10_000, 0.01, 0.15), (3, 1000, 0.01, 0.11), (1, 1000, 0, 0.5)],
)
def test_unbiased_shares_are_negative_as_often_as_published(
    epsilon: float, n: int, share: float, chance: float
) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    parsed = survey(define([yes_no()], [field(publish(made), "cheated")]))

    def negative(ones: int) -> bool:
        found = question_estimates(Evidence(parsed.fields[0], np.array([ones]), n), parsed.questions[0], Options())
        assert 0 <= found[1].estimate <= 1
        return found[1].unbiased < 0

    first, last = 0, n
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if negative(middle) else (first, middle)
    p, q = float(made.p), float(made.q)
    assert binom.cdf(first, n, q + share * (p - q)) == pytest.approx(chance, abs=0.02)


# finite populations, and these very respondents


def worst_finite(p: Fraction, q: Fraction, n: int, population: int, found: list[Interval]) -> float:
    """The worst coverage over all numbers of yes in the population: hypergeometric, then coins. No simulation."""
    some = np.arange(n + 1)
    coins = np.array(
        [
            np.convolve(binom.pmf(some[: s + 1], s, float(p)), binom.pmf(some[: n - s + 1], n - s, float(q)))
            for s in some
        ]
    )
    worst = 1.0
    for yes in range(0, population + 1, max(1, population // 100)):
        chances = hypergeom.pmf(some, population, yes, n) @ coins
        worst = min(worst, covered(found, chances, yes / population))
    return worst


MECHANISMS: dict[str, tuple[Fraction, Fraction]] = {
    **{
        f"flip, ε {e}": (mechanism_choice.make_flip(Decimal(e)).p, mechanism_choice.make_flip(Decimal(e)).q)
        for e in ("0.5", "1", "3", "6", "8")
    },
    "forced response": (Fraction(1, 2), Fraction(1, 100)),
    "one of 10 at ε 3": (
        mechanism_choice.make_subset(10, 1, Decimal(3)).p,
        mechanism_choice.make_subset(10, 1, Decimal(3)).q,
    ),
    "one of 100 at ε 5": (
        mechanism_choice.make_subset(100, 1, Decimal(5)).p,
        mechanism_choice.make_subset(100, 1, Decimal(5)).q,
    ),
    "2 of 3 drawn at ε 3": (
        mechanism_choice.make_drawn(3, 2, Decimal(3)).p,
        mechanism_choice.make_drawn(3, 2, Decimal(3)).q,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("times", [1, 2, 10])
@pytest.mark.parametrize("name", MECHANISMS)
def test_finite_populations_are_covered_at_every_share(name: str, times: int, n: int) -> None:
    """Also where few coins fall wrong: there a plain quadratic once kept 0 out of every interval of no ones."""
    p, q = MECHANISMS[name]
    assert (
        worst_finite(p, q, n, times * n, [finite_population(y, n, p, q, ALPHA, times * n) for y in range(n + 1)])
        >= 0.95
    )


def test_a_finite_population_is_held_to_more_than_these_very_respondents() -> None:
    """The check can fail: the interval for the respondents alone does not cover a population ten times as large."""
    made, n = mechanism_choice.make_flip(Decimal(3)), 100
    found = [finite_population(y, n, made.p, made.q, ALPHA, n) for y in range(n + 1)]
    assert worst_finite(made.p, made.q, n, 10 * n, found) < 0.85


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
@pytest.mark.parametrize("n", [20, 100])
def test_the_sample_interval_is_that_of_a_population_of_the_respondents(epsilon: str, n: int) -> None:
    """With symmetric coins: π̂ ± [z √(p(1−p)/n) + 1/(2n)]/(p−q), cut to what is possible."""
    made = mechanism_choice.make_flip(Decimal(epsilon))
    p, q = float(made.p), float(made.q)
    half = (Z * math.sqrt(p * (1 - p) / n) + 1 / (2 * n)) / (p - q)
    for y, one in enumerate(limits_of(made, n, Options(population=n))):
        assert one.sample == one.interval
        share = (y / n - q) / (p - q)
        if math.ceil(n * q) <= y <= math.floor(n * p):
            plain = Interval(share - half, share + half, Method.WALD).clip(0, 1)
            assert (one.interval.low, one.interval.high) == pytest.approx((plain.low, plain.high), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "n", "without"), [("3", 20, 0.896), ("1", 100, 0.944), ("1", 300, None)])
def test_half_a_report_is_what_the_sample_interval_needs(epsilon: str, n: int, without: float | None) -> None:
    made = mechanism_choice.make_flip(Decimal(epsilon))
    p, q = float(made.p), float(made.q)
    found = [finite_population(y, n, made.p, made.q, ALPHA, n) for y in range(n + 1)]
    assert worst_finite(made.p, made.q, n, n, found) >= 0.951
    if without is not None:
        half = Z * math.sqrt(p * (1 - p) / n) / (p - q)
        plain = [
            Interval((y / n - q) / (p - q) - half, (y / n - q) / (p - q) + half, Method.WALD) for y in range(n + 1)
        ]
        assert worst_finite(made.p, made.q, n, n, plain) == pytest.approx(without, abs=0.0015)


def test_at_weak_privacy_the_sample_interval_is_much_narrower() -> None:
    """At ε 3, n 100 and a share of .1: Clopper and Pearson's .159 against .092, and half a report on each side."""
    made, n = mechanism_choice.make_flip(Decimal(3)), 100
    p, q = float(made.p), float(made.q)
    found = limits_of(made, n, Options())
    chances = binom.pmf(np.arange(n + 1), n, q + 0.1 * (p - q))
    plain, sample = (
        float(chances @ np.subtract(*ends(i)[::-1]))
        for i in ([one.raw for one in found], [one.sample for one in found if one.sample])
    )
    assert plain == pytest.approx(0.159, abs=0.002)
    assert sample == pytest.approx(0.092 + 1 / n / (p - q), abs=0.002)


@pytest.mark.parametrize("mechanism", [subset(2, 1, 17571891128730770819), COIN])
def test_numbers_rounded_by_a_coin_stay_random_when_everyone_is_asked(mechanism: dict[str, Any]) -> None:
    """All say the middle of the range, and the population is the respondents: the rounding alone is binomial."""
    parsed = survey(define([number(max=6)], [field(mechanism, "hours")]))
    n, made = 100, parsed.fields[0].mechanism
    assert isinstance(made, Flip | Subset)
    some = np.arange(n + 1)

    def counts(y: Any) -> Any:
        return np.array([y]) if isinstance(made, Flip) else np.array([n - y, y])

    lines = [
        question_estimates(Evidence(parsed.fields[0], counts(y), n), parsed.questions[0], Options(population=n))
        for y in some
    ]
    assert all([one.kind for one in line] == ["mean"] for line in lines)
    chances = binom.pmf(some, n, 0.5)
    assert covered([line[0].interval for line in lines], chances, 3.0) >= 0.95
    wrong = [finite_population(int(y), n, made.p, made.q, ALPHA, n).map_affine(6, 0) for y in some]
    if isinstance(made, Subset):
        assert covered(wrong, chances, 3.0) < 0.75
    assert all(line[0].limits.sample is None for line in lines)
    assert lines[50][0].unbiased == pytest.approx(3)


# options of a choice


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_totals_over_any_options_are_exact_where_a_report_names_one(epsilon: str) -> None:
    """The reports of two of five options are binomial: coverage by enumeration, over 101 shares."""
    made, n = mechanism_choice.make_subset(5, 1, Decimal(epsilon)), 50
    parsed = survey(define([choice_question(options=5)], [field(publish(made), "help")]))
    found: list[Interval] = []
    for y in range(n + 1):
        one = total_of(parsed, [0, y, 0, 0, n - y], n, ["option 1", "option 3"])
        assert (one.option, one.interval.coverage) == ("option 1 or option 3", "guaranteed")
        found.append(one.interval)
    p, q = float(made.p), float(made.q)
    worst = min(
        covered(found, binom.pmf(np.arange(n + 1), n, 2 * q + share * (p - q)), share)
        for share in np.linspace(0, 1, 101)
    )
    assert worst >= 0.95


def test_labels_promise_no_more_than_is_proved() -> None:
    single, several = (
        survey(define([scale()], [field(form, "fair")])) for form in (subset(3, 1), subset(3, 2, 15 * 2**60))
    )
    counts = np.array([40, 30, 30])

    def labels(parsed: Any, times: int, options: Options) -> list[str]:
        found = Evidence(parsed.fields[0], times * counts, 100)
        lines = [*question_estimates(found, parsed.questions[0], options)]
        lines += cumulative(found, options)
        return [one.interval.coverage[0] for one in lines]

    assert labels(single, 1, Options()) == list("gggagg")  # three shares, the mean, two cumulative shares
    assert labels(single, 1, Options(simultaneous=True)) == list("gggagg")
    assert labels(several, 2, Options()) == list("gggaga")  # the first cumulative share is one option
    for options in (Options(narrow=True), Options(population=1000)):
        assert set(labels(single, 1, options)) == {"a"}
    quantile = quartiles(Evidence(single.fields[0], counts, 100))[0]
    assert quantile.coverage == "guaranteed"
    other = quartiles(Evidence(several.fields[0], 2 * counts, 100))[0]
    assert other.coverage == "approximate"  # as the worst of the cumulative shares is


def test_simultaneous_intervals_hold_together() -> None:
    """Five options at ε 1, 500 reports, 100,000 surveys: all five are covered in .950 to .973 of them; singly made, not."""
    made, n, runs = mechanism_choice.make_subset(5, 1, Decimal(1)), 500, 100_000
    p, q = float(made.p), float(made.q)
    shares = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
    counts = np.random.default_rng().multinomial(n, q + (p - q) * shares, size=runs)
    parsed = survey(define([choice_question(options=5)], [field(publish(made), "help")]))

    def held(options: Options) -> npt.NDArray[np.bool_]:
        table = [
            binomial(y, n, made.p, made.q, options.apply_bonferroni(5), sample=False).interval for y in range(n + 1)
        ]
        one = question_estimates(Evidence(parsed.fields[0], counts[0], n), parsed.questions[0], options)
        assert [line.interval for line in one] == [table[y] for y in counts[0]]
        low, high = ends(table)
        inside: npt.NDArray[np.bool_] = (low[counts] <= shares + 1e-12) & (shares - 1e-12 <= high[counts])
        return inside

    together, singly = held(Options(simultaneous=True)), held(Options())
    assert lowest_share(0.95, runs) <= together.all(axis=1).mean() <= 0.975
    assert singly.all(axis=1).mean() < lowest_share(0.95, runs)
    assert singly.mean(axis=0).min() >= lowest_share(0.95, runs)


def test_quantile_sets_hold_the_quantile() -> None:
    """Five points at ε 1, 500 reports: all three quartiles are covered in .9955 of cases by sets of 2.3 points."""
    made, n, runs = mechanism_choice.make_subset(5, 1, Decimal(1)), 500, 400
    points = [f"point {i}" for i in range(5)]
    parsed = survey(define([scale(points=points)], [field(publish(made), "fair")]))
    shares = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    truth = {0.25: "point 1", 0.5: "point 2", 0.75: "point 3"}
    counts = np.random.default_rng().multinomial(n, float(made.q) + float(made.p - made.q) * shares, size=runs)
    held = size = guessed = 0
    for row in counts:
        evidence = Evidence(parsed.fields[0], row, n)
        below = [0.0, *(one.unbiased for one in cumulative(evidence, Options()))]
        for one in quartiles(evidence):
            assert one.n == n
            held += truth[one.level] in one.options
            size += len(one.options)
            guessed += points[max(m for m in range(5) if below[m] < one.level)] == truth[one.level]
    assert held / (3 * runs) >= lowest_share(0.95, runs)
    assert size / (3 * runs) == pytest.approx(2.3, abs=0.3)
    assert guessed / (3 * runs) < lowest_share(0.95, runs)  # the one point that seems to hold it does not do


def test_a_quantile_set_has_no_holes() -> None:
    """Half of the people at each end, five points, ε 1, 300 reports: the plain sets have holes in some 40% of surveys."""
    made, n = mechanism_choice.make_subset(5, 1, Decimal(1)), 300
    points = [f"point {i}" for i in range(5)]
    parsed = survey(define([scale(points=points)], [field(publish(made), "fair")]))
    shares = np.array([0.5, 0, 0, 0, 0.5])
    counts = np.random.default_rng().multinomial(n, float(made.q) + float(made.p - made.q) * shares, size=100)
    for row in counts:
        for one in quartiles(Evidence(parsed.fields[0], row, n)):
            first = points.index(one.options[0])
            assert list(one.options) == points[first : first + len(one.options)]


def test_a_quantile_set_is_never_empty_and_skipped_questions_have_none() -> None:
    parsed = survey(define([scale()], [field(subset(3, 1), "fair")]))
    for counts in ([0, 0, 50], [50, 0, 0], [0, 50, 0], [17, 16, 17]):
        found = quartiles(Evidence(parsed.fields[0], np.array(counts), 50))
        assert all(one.options for one in found)
    skipped = survey(define([scale(optional=True)], [field(subset(4, 1), "fair")]))
    assert quartiles(Evidence(skipped.fields[0], np.full(4, 20), 80)) == []


def test_drawn_options_are_covered_no_matter_who_is_asked_about_them() -> None:
    """One of four options for each of 20 people: how many are asked about one is random, and so is what they say.

    Also where nobody is, or one person: it may be anything, and says so.
    """
    parsed = survey(define([multiple(options=4)], [field(drawn(4, 1), "used")]))
    made, n, worst = parsed.fields[0].mechanism, 20, 1.0
    assert isinstance(made, Drawn)
    for share in np.linspace(0, 1, 21):
        held = 0.0
        for asked in range(n + 1):
            chance = float(binom.pmf(asked, n, 0.25))
            found = [binomial(y, asked, made.p, made.q, Options(), sample=False).interval for y in range(asked + 1)]
            reported = float(made.q) + share * float(made.p - made.q)
            held += chance * covered(found, binom.pmf(np.arange(asked + 1), asked, reported), share)
        worst = min(worst, held)
    assert worst >= 0.95
    assert binomial(0, 0, made.p, made.q, Options(), sample=False).interval == Interval(0, 1, Method.CLOPPER_PEARSON)
    found_lines = question_estimates(
        Evidence(parsed.fields[0], np.array([0, 5, 6, 5, 1, 0, 0, 0]), n), parsed.questions[0], Options()
    )
    assert [(one.option, one.n) for one in found_lines] == [("item 0", 5), ("item 1", 11), ("item 2", 1), ("item 3", 0)]
    nobody = found_lines[3]
    assert (nobody.interval.low, nobody.interval.high, nobody.interval.coverage) == (0, 1, "guaranteed")
    assert math.isnan(nobody.unbiased) and nobody.reported is None


# those who answered


ANSWERED: list[tuple[Subset, list[float], int, int]] = [
    (mechanism_choice.make_subset(4, 1, Decimal(1)), [0.4, 0.3, 0.1, 0.2], 200, 60),
    (mechanism_choice.make_subset(4, 1, Decimal(3)), [0.5, 0.0, 0.1, 0.4], 100, 60),
    (mechanism_choice.make_subset(4, 2, Decimal(2)), [0.8, 0.0, 0.0, 0.2], 200, 120),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "shares", "n", "runs"), ANSWERED)
def test_shares_and_means_of_those_who_answered_are_covered(
    mechanism: Subset, shares: list[float], n: int, runs: int
) -> None:
    parsed = survey(define([scale(optional=True)], [field(publish(mechanism), "fair")]))
    rng = np.random.default_rng()
    said = rng.choice(4, runs * n, p=shares)
    bits = np.unpackbits(np.concatenate(list(reports(parsed, {"fair": said}, rng))), axis=1, count=parsed.width)
    given = np.array(shares[:3]) / sum(shares[:3])
    truths = [*given, float(given @ [1, 2, 3])]
    held, halved = np.zeros(4), np.zeros(4)
    for counts in bits.reshape(runs, n, -1).sum(axis=1, dtype=np.int64):
        evidence = Evidence(parsed.fields[0], counts, n)
        found = [*answered(evidence)]
        found.append(question_estimates(evidence, parsed.questions[0], Options())[-1])
        for i, (one, truth) in enumerate(zip(found, truths, strict=True)):
            low, high = one.interval.low, one.interval.high
            assert high - low > 1e-3
            assert one.interval.coverage == "approximate"
            held[i] += low - 1e-5 <= truth <= high + 1e-5
            halved[i] += low + (high - low) / 3 <= truth <= high - (high - low) / 3
    assert (held / runs).min() >= lowest_share(0.95, runs)
    assert (halved / runs).min() < lowest_share(0.95, runs)


def test_a_share_of_those_who_answered_is_never_a_point() -> None:
    """Fewer ones than coins alone give: the plain set of ratios is empty, and nobody must see a certainty."""
    parsed = survey(define([choice_question(options=2, optional=True)], [field(subset(3, 1), "help")]))
    found = answered(Evidence(parsed.fields[0], np.array([1, 180, 19]), 200))
    assert found[0].unbiased < 0
    assert (found[0].estimate, found[0].interval.low) == (0, 0)
    assert 0.02 < found[0].interval.high < 0.2
    assert 0.8 < found[1].interval.low < 0.98
    assert found[1].interval.high == 1


def test_if_nobody_seems_to_have_answered_anything_is_possible() -> None:
    parsed = survey(define([scale(optional=True)], [field(subset(4, 1), "fair")]))
    evidence = Evidence(parsed.fields[0], np.array([4, 3, 5, 88]), 100)
    for one in answered(evidence):
        assert math.isnan(one.unbiased)
        assert (one.estimate, one.interval.low, one.interval.high) == (0.5, 0, 1)
    mean = question_estimates(evidence, parsed.questions[0], Options())[-1]
    assert (mean.estimate, mean.interval.low, mean.interval.high) == (2, 1, 3)


# means


def test_dirichlet_covers_every_mean_of_three_scores() -> None:
    """By enumeration of all counts of 3 and of 8 reports at ε 2: at least .959; mean ± z sd/√n covers far less."""
    made = mechanism_choice.make_subset(3, 1, Decimal(2))
    p, q = float(made.p), float(made.q)
    for n in (3, 8):
        counts = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
        found = [raw_mean(made, np.array(one), n, [0, 0.5, 1]) for one in counts]
        plain: list[Interval] = []
        for one in counts:
            scores = np.repeat([0, 0.5, 1], one)
            centre, half = (scores.mean() - 1.5 * q) / (p - q), Z * scores.std(ddof=1) / math.sqrt(n) / (p - q)
            plain.append(Interval(centre - half, centre + half, Method.WALD))
        worst = [1.0, 1.0]
        for i in range(11):
            for j in range(11 - i):
                shares = np.array([i, j, 10 - i - j]) / 10
                chances = multinomial.pmf(counts, n, q + (p - q) * shares)
                truth = float(shares @ [0, 0.5, 1])
                worst = [
                    min(least, covered(one, chances, truth)) for least, one in zip(worst, (found, plain), strict=True)
                ]
        assert worst[0] >= 0.959
        assert worst[1] < 0.88


def test_means_and_unions_beyond_their_range_are_no_points() -> None:
    """Reports that no answers explain: the interval is moved into the range, not cut to its border."""
    several = survey(define([scale()], [field(subset(3, 2, 15 * 2**60), "fair")]))
    evidence = Evidence(several.fields[0], np.array([185, 180, 35]), 200)
    total = total_of(several, [185, 180, 35], 200, ["Disagree", "Neutral"])
    mean = question_estimates(evidence, several.questions[0], Options())[-1]
    for one, width in ((total, 1), (mean, 2)):
        assert 0.01 * width < one.interval.high - one.interval.low < width
    single = survey(define([scale()], [field(subset(3, 1), "fair")]))
    mean = question_estimates(Evidence(single.fields[0], np.array([0, 0, 200]), 200), single.questions[0], Options())[
        -1
    ]
    assert mean.unbiased > 3
    assert 2.5 < mean.interval.low < 2.99
    assert mean.interval.high == 3


def test_a_geometric_mean_beyond_its_range_has_an_interval_within_it() -> None:
    """Whatever two reports say, and of a thousand at one end: the interval is moved into the range, not cut there."""
    parsed = survey(define([number(max=6, levels=7)], [field(geometric(7, 15 * 2**60), "hours")]))
    for n, least in ((2, 1.0), (1000, 0.05)):
        for end in (0, 6):
            counts = n * (np.arange(7) == end)
            (one,) = question_estimates(Evidence(parsed.fields[0], counts, n), parsed.questions[0], Options())
            assert not 0 <= one.unbiased <= 6
            assert 0 <= one.interval.low <= one.interval.high <= 6
            assert one.interval.high - one.interval.low > least
            assert one.estimate == end in (one.interval.low, one.interval.high)


def test_two_scores_in_a_flip_have_a_mean_like_any_scale() -> None:
    parsed = survey(define([scale(points=["Disagree", "Agree"], scores=[-1, 1])], [field(COIN, "fair")]))
    lines = question_estimates(Evidence(parsed.fields[0], np.array([60]), 100), parsed.questions[0], Options())
    assert [one.kind for one in lines] == ["share", "share", "mean"]
    assert lines[2].unbiased == pytest.approx(2 * lines[1].unbiased - 1)
    assert lines[2].interval.low == pytest.approx(2 * lines[1].interval.low - 1)
    assert dirichlet([-1, 1], [40, 60], ALPHA).low == pytest.approx(2 * binom_low(60, 100) - 1, abs=1e-9)


def binom_low(ones: int, n: int) -> float:
    """Clopper and Pearson's lower limit, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binom.sf(ones - 1, n, middle) < ALPHA / 2 else (low, middle)
    return low


# displayed points


PROJECTED: list[tuple[Subset, int, str, int, float, float]] = [
    (mechanism_choice.make_subset(5, 1, Decimal(1)), 500, "uniform", 6000, 1.00, 0.01),
    (mechanism_choice.make_subset(5, 1, Decimal(1)), 500, "zipf", 6000, 0.94, 0.03),
    (mechanism_choice.make_subset(5, 1, Decimal(1)), 500, "one", 6000, 0.385, 0.045),
    (mechanism_choice.make_subset(20, 5, Decimal(1)), 1000, "uniform", 200, 0.64, 0.06),
    (mechanism_choice.make_subset(20, 5, Decimal(1)), 1000, "zipf", 200, 0.54, 0.06),
    (mechanism_choice.make_subset(20, 5, Decimal(1)), 1000, "one", 200, 0.165, 0.08),
    (mechanism_choice.make_subset(100, 27, Decimal(1)), 5000, "one", 6, 0.05, 0.75),
    (mechanism_choice.make_subset(100, 5, Decimal(3)), 5000, "one", 6, 0.1, 0.7),
]


@pytest.mark.parametrize(("made", "n", "kind", "runs", "stated", "error"), PROJECTED)
def test_the_displayed_point_is_nearer_to_the_truth_as_published(
    made: Subset, n: int, kind: str, runs: int, stated: float, error: float
) -> None:
    """Total squared error over that of the unbiased shares, within six of its standard errors over the runs.

    To clip and rescale is worse than nothing where all say the same, and this check would see it.
    """
    k = made.size
    shares = {"uniform": np.ones(k), "zipf": 1 / np.arange(1, k + 1), "one": np.eye(k)[0]}[kind]
    shares = shares / shares.sum()
    rng = np.random.default_rng()
    if made.weight == 1:
        counts = rng.multinomial(n, float(made.q) + float(made.p - made.q) * shares, size=runs)
    else:
        parsed = survey(define([choice_question(options=k)], [field(publish(made), "help")]))
        drawn = (reports(parsed, {"help": rng.choice(k, n, p=shares)}, rng) for _ in range(runs))
        counts = np.array(
            [sum(np.unpackbits(part, axis=1, count=k).sum(axis=0, dtype=np.int64) for part in one) for one in drawn]
        )
    raw = (counts / n - float(made.q)) / float(made.p - made.q)
    shown = np.array([project(one) for one in raw])
    cut = np.clip(raw, 0, None)
    cut = cut / cut.sum(axis=1, keepdims=True)
    unbiased, displayed, rescaled = (float(((found - shares) ** 2).sum()) for found in (raw, shown, cut))
    assert displayed <= unbiased * 1.0001
    assert displayed / unbiased == pytest.approx(stated, abs=error)
    if kind == "one":
        assert rescaled / unbiased > stated + error
