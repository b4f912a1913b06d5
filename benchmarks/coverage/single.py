"""One question by itself: every pair of question and mechanism with its interval."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import hypergeom

from benchmarks.coverage.finders import all_of, among_answers, estimate_of, median, total_of
from benchmarks.coverage.study import Case, Floats, Truth, counts_with, make_survey
from benchmarks.coverage.truths import (
    CLOPPER_PEARSON,
    DIRICHLET,
    FIELLER,
    KORN_GRAUBARD,
    SAMPLE,
    WILSON,
    binomials,
    choice,
    compositions,
    drawn,
    exactly,
    mean_of,
    multinomials,
    number,
    scale,
    shape,
    shapes,
    simplex,
    truths_of,
    union,
    yes_no,
)
from candor_client.definition import Survey
from candor_client.mechanisms import Flip, Subset
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import Options


def flips() -> Iterator[Case]:
    designs = {
        **{f"ε {e}": mechanism_choice.flip(Decimal(e)) for e in ("0.1", "0.5", "1", "3")},
        "coin, ε ln 3": mechanism_choice.design(Fraction(3, 4), Fraction(1, 4)),
        "forced, p ⅞, q ⅜": mechanism_choice.design(Fraction(7, 8), Fraction(3, 8)),
    }
    for (name, made), n in product(designs.items(), (20, 100, 1000)):
        survey, every, pq = make_survey([yes_no()], [(made, ["a"])]), {0: np.arange(n + 1)}, (made.p, made.q)
        yield exactly("yes or no, `flip`", name, survey, n, estimate_of("a", "yes"), pq, every)
        if n <= 100:
            narrow = estimate_of("a", "yes", Options(narrow=True))
            yield exactly("yes or no, `flip`", name, survey, n, narrow, pq, every, method=WILSON, stated=0.917)
            yield from these_people(survey, made, name, n)


def these_people(survey: Survey, made: Flip, name: str, n: int) -> Iterator[Case]:
    """The share among these very respondents, and in a population of which they are half."""
    p, q = float(made.p), float(made.q)
    tallies = counts_with(1, {0: np.arange(n + 1)})

    def given(yes: int) -> Floats:
        return np.convolve(binomials(yes, p), binomials(n - yes, q))

    def half(yes: int) -> Floats:
        chances = hypergeom.pmf(np.arange(n + 1), 2 * n, yes, n)
        found: Floats = np.array([chance * given(s) for s, chance in enumerate(chances)]).sum(axis=0)
        return found

    truths = [Truth(f"{yes} of {n}", (yes / n,), chances=partial(given, yes)) for yes in range(n + 1)]
    find = estimate_of("a", "yes", sample=True)
    yield Case("yes or no, these respondents", SAMPLE, name, survey, n, find, truths, tallies=tallies)
    step = max(1, n // 20)
    truths = [
        Truth(f"{yes} of {2 * n}", (yes / 2 / n,), chances=partial(half, yes)) for yes in range(0, 2 * n + 1, step)
    ]
    find = estimate_of("a", "yes", Options(population=2 * n))
    yield Case("yes or no, population 2n", SAMPLE, name, survey, n, find, truths, tallies=tallies)


def options() -> Iterator[Case]:
    made: list[tuple[str, Subset]] = [
        ("4 options, w 1, ε 1", mechanism_choice.subset(4, 1, Decimal(1))),
        ("5 options, w 2, ε 0.5", mechanism_choice.subset(5, 2, Decimal("0.5"))),
        ("100 options, w 5, ε 3", mechanism_choice.subset(100, 5, Decimal(3))),
    ]
    for (name, mechanism), n in product(made, (20, 100, 1000)):
        survey = make_survey([choice(mechanism.size)], [(mechanism, ["a"])])
        pair, pq = f"one option, `{mechanism.kind}`", (mechanism.p, mechanism.q)
        if mechanism.size < 100 or n < 1000:
            yield exactly(pair, name, survey, n, estimate_of("a", "o0"), pq, {0: np.arange(n + 1)})
        if mechanism.size < 100:
            together = all_of("a", Options(simultaneous=True))
            truths = [Truth(shape(one), tuple(one), drawn({"a": one})) for one in shapes(mechanism.size)]
            pair = f"all options together, `{mechanism.kind}`"
            yield Case(pair, f"{CLOPPER_PEARSON}, α/k", name, survey, n, together, truths)


def single_unions() -> Iterator[Case]:
    """Unions where each report names one symbol: a margin of a joint field, a cumulative share, a set's option."""
    pair = "union, `subset` w 1"
    cells, points, sets = (mechanism_choice.subset(k, 1, Decimal(e)) for k, e in ((6, 2), (5, 1), (8, 3)))
    joint = make_survey([yes_no(), scale(3, "b")], [(cells, ["a", "b"])])
    hidden = scale(4, "b", show_if={"question": "a", "is": ["yes"]})  # six possible cells of ten: one no, five yes
    tree = make_survey([yes_no(), hidden], [(cells, ["a", "b"])])
    several = make_survey([choice(3, type="multiple")], [(sets, ["a"])])
    for n in (20, 100, 1000):
        y = np.arange(n + 1)
        yield exactly(
            pair, "margin of 2 × 3, ε 2", joint, n, estimate_of("a", "yes"), union(cells, 3), {3: y, 0: n - y}
        )
        yield exactly(
            pair, "margin of 6 possible cells, ε 2", tree, n, estimate_of("a", "yes"), union(cells, 5),
            {3: y, 0: n - y},
        )  # fmt: skip
        survey = make_survey([scale(5)], [(points, ["a"])])
        yield exactly(
            pair, "2 of 5 points, ε 1", survey, n, total_of("a", "p0", "p1"), union(points, 2), {0: y, 4: n - y}
        )
        yield exactly(pair, "1 of 3 options, ε 3", several, n, estimate_of("a", "o0"), union(sets, 4), {1: y, 0: n - y})


def two_levels() -> Iterator[Case]:
    for e, n in product(("0.5", "1"), (20, 100, 1000)):
        made, y = mechanism_choice.subset(2, 1, Decimal(e)), np.arange(n + 1)
        survey = make_survey([number(2, 60)], [(made, ["a"])])
        find, pq = estimate_of("a", "mean"), (made.p, made.q)
        yield exactly("number, 2 levels", f"0 to 60, ε {e}", survey, n, find, pq, {1: y, 0: n - y}, top=60)


def single_means() -> Iterator[Case]:
    """Means of scores where each report names one symbol; enumerated where there are few tallies."""
    for e, n in product(("1", "2", "5"), (5, 20, 50)):
        made, tallies = mechanism_choice.subset(3, 1, Decimal(e)), compositions(n, 3)
        survey = make_survey([scale(3)], [(made, ["a"])])
        truths = [
            Truth(shape(one), (mean_of([1, 2, 3])(one),), chances=partial(multinomials, tallies, made, one))
            for one in simplex(3, 20)
        ]
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k 3, ε {e}", survey, n, find, truths, tallies=tallies)
    for (k, e), n in product(((5, "1"), (5, "4")), (20, 100, 1000)):
        survey = make_survey([number(k, k - 1)], [(mechanism_choice.subset(k, 1, Decimal(e)), ["a"])])
        truths = truths_of(k, mean_of(range(k)))[::2]
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k {k}, ε {e}", survey, n, find, truths, effort=0.5)
    for n in (20, 200):
        survey = make_survey([number(7, 60)], [(mechanism_choice.subset(7, 1, Decimal(5)), ["a"])])
        truths = truths_of(61, mean_of(range(61)))[::2]
        find = estimate_of("a", "mean")
        yield Case("number, 7 levels", DIRICHLET, "0 to 60, ε 5", survey, n, find, truths, effort=0.25)


def several() -> Iterator[Case]:
    """Means, unions and margins where a report names several symbols."""
    mechanisms = [
        ("k 5, w 2, ε 0.5", mechanism_choice.subset(5, 2, Decimal("0.5"))),
        ("k 10, w 3, ε 1", mechanism_choice.subset(10, 3, Decimal(1))),
    ]
    for (name, made), n in product(mechanisms, (20, 100, 1000)):
        k = made.size
        survey, truths = make_survey([number(k, k - 1)], [(made, ["a"])]), truths_of(k, mean_of(range(k)))
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w > 1", KORN_GRAUBARD, name, survey, n, find, truths)
        survey, truths = make_survey([scale(k)], [(made, ["a"])]), truths_of(k, lambda shares: float(sum(shares[:2])))
        pair, find = "union, `subset` w > 1", total_of("a", "p0", "p1")
        yield Case(pair, KORN_GRAUBARD, f"2 symbols, {name}", survey, n, find, truths)
    made = mechanism_choice.subset(9, 3, Decimal("0.8"))
    survey = make_survey([scale(3), scale(3, "b")], [(made, ["a", "b"])])
    for n in (20, 100, 1000):
        truths = [Truth(f"{shape(one)}, b equal", (one[0],), drawn({"a": one, "b": [1 / 3] * 3})) for one in shapes(3)]
        find = estimate_of("a", "p0")
        yield Case("margin, `subset` w > 1", KORN_GRAUBARD, "3 × 3, w 3, ε 0.8", survey, n, find, truths)


def laplace() -> Iterator[Case]:
    middle = [0.0, 0.0, 0.0, 0.05, 0.25, 0.4, 0.25, 0.05, 0.0, 0.0, 0.0]
    for e, n in product(("0.5", "1", "3"), (5, 20, 100, 1000)):
        survey = make_survey([number(11, 10)], [(mechanism_choice.geometric(11, Decimal(e)), ["a"])])
        truths = [*truths_of(11, mean_of(range(11))), Truth("around 5", (5.0,), drawn({"a": middle}))]
        find = estimate_of("a", "mean")
        yield Case("number, `geometric`", DIRICHLET, f"0 to 10, ε {e}", survey, n, find, truths, effort=0.25)


def answers() -> Iterator[Case]:
    """Shares and means of those who answered."""
    for e, n in product(("1", "3"), (20, 40)):
        made, tallies = mechanism_choice.subset(3, 1, Decimal(e)), compositions(n, 3)
        survey = make_survey([choice(2, optional=True)], [(made, ["a"])])
        truths = [
            Truth(shape(one), (one[0] / (one[0] + one[1]),), chances=partial(multinomials, tallies, made, one))
            for one in simplex(3, 20) if one[2] < 1
        ]  # fmt: skip
        find = among_answers("a", "o0")
        yield Case(
            "share of answers, `subset` w 1", FIELLER, f"2 options, ε {e}", survey, n, find, truths, tallies=tallies
        )
    skipping: list[list[float]] = [[0.25, 0.25, 0.25, 0.25], [0.1, 0, 0, 0.9], [0.05, 0, 0.85, 0.1], [1, 0, 0, 0]]
    for (w, effort), n in product(((1, 0.2), (2, 1.0)), (100, 1000)):
        made = mechanism_choice.subset(4, w, Decimal(1))
        survey = make_survey([choice(3, optional=True)], [(made, ["a"])])
        truths = [Truth(shape(one), (one[0] / (1 - one[3]),), drawn({"a": one})) for one in skipping]
        pair, setting = f"share of answers, `subset` w {w}", "3 options, ε 1"
        yield Case(pair, FIELLER, setting, survey, n, among_answers("a", "o0"), truths, effort=effort)
        survey = make_survey([scale(3, optional=True)], [(made, ["a"])])
        truths = [
            Truth(shape(one), (mean_of([1, 2, 3, 0])(one) / (1 - one[3]),), drawn({"a": one})) for one in skipping
        ]
        pair, setting = f"mean of answers, `subset` w {w}", "3 points, ε 1"
        yield Case(pair, FIELLER, setting, survey, n, estimate_of("a", "mean"), truths, effort=effort)


def medians() -> Iterator[Case]:
    for (w, e), n in product(((1, "1"), (2, "0.5")), (50, 500)):
        survey = make_survey([scale(5)], [(mechanism_choice.subset(5, w, Decimal(e)), ["a"])])
        truths = [
            Truth(shape(one), (float(np.searchsorted(np.cumsum(one), 0.5 - 1e-9)),), drawn({"a": one}))
            for one in ([0.2] * 5, [0.3, 0.3, 0.2, 0.1, 0.1], [0.05, 0.1, 0.2, 0.3, 0.35], [0.5, 0, 0, 0, 0.5])
        ]
        yield Case(f"median, `subset` w {w}", "set of points", f"5 points, ε {e}", survey, n, median("a"), truths)
