"""The cases of the coverage table: every pair of question and mechanism with its interval.

A new interval gets a finder in `finders.py`, a function here that yields its cases, and a place in MAKERS.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import binom, hypergeom

from benchmarks.coverage.finders import all_of, among_answers, crossed, estimate_of, median, total_of
from benchmarks.coverage.study import Case, Find, Floats, Outcome, Truth, counts_with, make_survey, measure
from benchmarks.coverage.truths import (
    Integers,
    binomials,
    choice,
    compositions,
    drawn,
    mean_of,
    multinomials,
    number,
    scale,
    shape,
    shapes,
    simplex,
    together,
    truths_of,
    yes_no,
)
from client.definition import Survey
from client.mechanism import Drawn, Flip, Subset
from survey_app.authoring import choose
from survey_app.estimate.intervals import Options

SHARES = [i / 1000 for i in range(1001)]
CLOPPER_PEARSON, WILSON, SAMPLE = "guarded Clopper–Pearson", "guarded Wilson (on request)", "quadratic, corrected"
DIRICHLET, KORN_GRAUBARD, FIELLER = "Dirichlet–Clopper–Pearson", "Korn–Graubard", "Fieller"


def exactly(
    pair: str, setting: str, survey: Survey, n: int, find: Find, pq: tuple[Fraction, Fraction],
    columns: Mapping[int, Integers], *, method: str = CLOPPER_PEARSON, stated: float = 0.95, top: float = 1,
) -> Case:  # fmt: skip
    """A case in which one binomial count decides: all its values, at 1001 shares."""
    p, q = map(float, pq)
    truths = [
        Truth(f"{share:.3f}", (top * share,), chances=partial(binomials, n, q + share * (p - q))) for share in SHARES
    ]
    return Case(pair, method, setting, survey, n, find, truths, stated, counts_with(survey.width, columns))


def flips() -> Iterator[Case]:
    designs = {
        **{f"ε {e}": choose.flip(Decimal(e)) for e in ("0.1", "0.5", "1", "3")},
        "coin, ε ln 3": choose.design(Fraction(3, 4), Fraction(1, 4)),
        "forced, p ⅞, q ⅜": choose.design(Fraction(7, 8), Fraction(3, 8)),
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
        ("4 options, w 1, ε 1", choose.subset(4, 1, Decimal(1))),
        ("5 options, w 2, ε 0.5", choose.subset(5, 2, Decimal("0.5"))),
        ("100 options, w 5, ε 3", choose.subset(100, 5, Decimal(3))),
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
    cells, points, sets = (choose.subset(k, 1, Decimal(e)) for k, e in ((6, 2), (5, 1), (8, 3)))
    joint = make_survey([yes_no(), scale(3, "b")], [(cells, ["a", "b"])])
    hidden = scale(4, "b", show_if={"question": "a", "is": ["yes"]})  # six possible cells of ten: one no, five yes
    tree = make_survey([yes_no(), hidden], [(cells, ["a", "b"])])
    several = make_survey([choice(3, type="multiple")], [(sets, ["a"])])
    for n in (20, 100, 1000):
        y = np.arange(n + 1)
        yield exactly(
            pair, "margin of 2 × 3, ε 2", joint, n, estimate_of("a", "yes"), _union(cells, 3), {3: y, 0: n - y}
        )
        yield exactly(
            pair, "margin of 6 possible cells, ε 2", tree, n, estimate_of("a", "yes"), _union(cells, 5),
            {3: y, 0: n - y},
        )  # fmt: skip
        survey = make_survey([scale(5)], [(points, ["a"])])
        yield exactly(
            pair, "2 of 5 points, ε 1", survey, n, total_of("a", "p0", "p1"), _union(points, 2), {0: y, 4: n - y}
        )
        yield exactly(
            pair, "1 of 3 options, ε 3", several, n, estimate_of("a", "o0"), _union(sets, 4), {1: y, 0: n - y}
        )


def _union(mechanism: Subset, size: int) -> tuple[Fraction, Fraction]:
    return mechanism.p + (size - 1) * mechanism.q, size * mechanism.q


def two_levels() -> Iterator[Case]:
    for e, n in product(("0.5", "1"), (20, 100, 1000)):
        made, y = choose.subset(2, 1, Decimal(e)), np.arange(n + 1)
        survey = make_survey([number(2, 60)], [(made, ["a"])])
        find, pq = estimate_of("a", "mean"), (made.p, made.q)
        yield exactly("number, 2 levels", f"0 to 60, ε {e}", survey, n, find, pq, {1: y, 0: n - y}, top=60)


def single_means() -> Iterator[Case]:
    """Means of scores where each report names one symbol; enumerated where there are few tallies."""
    for e, n in product(("1", "2", "5"), (5, 20, 50)):
        made, tallies = choose.subset(3, 1, Decimal(e)), compositions(n, 3)
        survey = make_survey([scale(3)], [(made, ["a"])])
        truths = [
            Truth(shape(one), (mean_of([1, 2, 3])(one),), chances=partial(multinomials, tallies, made, one))
            for one in simplex(3, 20)
        ]
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k 3, ε {e}", survey, n, find, truths, 0.944, tallies)
    for (k, e), n in product(((5, "1"), (5, "4")), (20, 100, 1000)):
        survey = make_survey([number(k, k - 1)], [(choose.subset(k, 1, Decimal(e)), ["a"])])
        truths = truths_of(k, mean_of(range(k)))[::2]
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k {k}, ε {e}", survey, n, find, truths, 0.944, effort=0.5)
    for n in (20, 200):
        survey = make_survey([number(7, 60)], [(choose.subset(7, 1, Decimal(5)), ["a"])])
        truths = truths_of(61, mean_of(range(61)))[::2]
        find = estimate_of("a", "mean")
        yield Case("number, 7 levels", DIRICHLET, "0 to 60, ε 5", survey, n, find, truths, 0.944, effort=0.25)


def several() -> Iterator[Case]:
    """Means, unions and margins where a report names several symbols."""
    mechanisms = [
        ("k 5, w 2, ε 0.5", choose.subset(5, 2, Decimal("0.5"))),
        ("k 10, w 3, ε 1", choose.subset(10, 3, Decimal(1))),
    ]
    for (name, made), n in product(mechanisms, (20, 100, 1000)):
        k = made.size
        survey, truths = make_survey([number(k, k - 1)], [(made, ["a"])]), truths_of(k, mean_of(range(k)))
        find = estimate_of("a", "mean")
        yield Case("mean, `subset` w > 1", KORN_GRAUBARD, name, survey, n, find, truths, 0.945)
        survey, truths = make_survey([scale(k)], [(made, ["a"])]), truths_of(k, lambda shares: float(sum(shares[:2])))
        pair, find = "union, `subset` w > 1", total_of("a", "p0", "p1")
        yield Case(pair, KORN_GRAUBARD, f"2 symbols, {name}", survey, n, find, truths, 0.945)
    made = choose.subset(9, 3, Decimal("0.8"))
    survey = make_survey([scale(3), scale(3, "b")], [(made, ["a", "b"])])
    for n in (20, 100, 1000):
        truths = [Truth(f"{shape(one)}, b equal", (one[0],), drawn({"a": one, "b": [1 / 3] * 3})) for one in shapes(3)]
        find = estimate_of("a", "p0")
        yield Case("margin, `subset` w > 1", KORN_GRAUBARD, "3 × 3, w 3, ε 0.8", survey, n, find, truths, 0.945)


def sometimes_asked() -> Iterator[Case]:
    """Options of which some are drawn, and fields of which one is asked: two counts decide, asked and yes."""
    coins = choose.flip(Decimal(1))
    three, fields = [yes_no("a"), yes_no("b"), yes_no("c")], [(coins, ["a"]), (coins, ["b"]), (coins, ["c"])]
    one_of_five, two_of_four = choose.drawn(5, 1, Decimal(1)), choose.drawn(4, 2, Decimal(2))
    surveys: list[tuple[str, str, float, Flip | Drawn, str, Survey]] = [
        ("option, `drawn`", "1 of 5, ε 1", 0.2, one_of_five, "o0", make_survey(
            [choice(5, type="multiple")], [(one_of_five, ["a"])])),
        ("option, `drawn`", "2 of 4, ε 2", 0.5, two_of_four, "o0", make_survey(
            [choice(4, type="multiple")], [(two_of_four, ["a"])])),
        ("yes or no, with `ask`", "1 of 3, ε 1", 1 / 3, coins, "yes", make_survey(three, fields, (1, 1, 1))),
        ("yes or no, with `ask`", "chance 0.15, ε 1", 0.15, coins, "yes", make_survey(three, fields, (3, 10, 7))),
    ]  # fmt: skip
    for (pair, name, often, made, option, survey), n in product(surveys, (20, 100)):
        pairs = np.array([(m, y) for m in range(n + 1) for y in range(m + 1)])
        among, ones = pairs.T
        columns = {1: ones, 0: among - ones if isinstance(made, Drawn) else among}
        first = binom.pmf(among, n, often)
        truths = [
            Truth(f"{share:.3f}", (share,), chances=partial(_asked, first, among, ones, made, share))
            for share in SHARES[::10]
        ]
        tallies = counts_with(survey.width, columns)
        yield Case(pair, CLOPPER_PEARSON, name, survey, n, estimate_of("a", option), truths, tallies=tallies)
    points = choose.subset(3, 1, Decimal(2))
    survey = make_survey([scale(3), yes_no("b")], [(points, ["a"]), (coins, ["b"])], (1, 1))
    for n in (40, 200):
        truths = [
            Truth(shape(one), (mean_of([1, 2, 3])(one),), drawn({"a": one, "b": [0.5, 0.5]})) for one in shapes(3)
        ]
        find = estimate_of("a", "mean")
        yield Case("mean, with `ask`", DIRICHLET, "1 of 2, k 3, ε 2", survey, n, find, truths, 0.944, effort=0.5)


def _asked(first: Floats, among: Integers, ones: Integers, made: Flip | Drawn, share: float) -> Floats:
    found: Floats = first * binom.pmf(ones, among, float(made.q + Fraction(share) * (made.p - made.q)))
    return found


def laplace() -> Iterator[Case]:
    for e, n in product(("0.5", "1", "3"), (5, 20, 100, 1000)):
        survey = make_survey([number(11, 10)], [(choose.geometric(11, Decimal(e)), ["a"])])
        truths = truths_of(11, mean_of(range(11)))
        find = estimate_of("a", "mean")
        setting = f"0 to 10, ε {e}"
        yield Case("number, `geometric`", DIRICHLET, setting, survey, n, find, truths, 0.944, effort=0.25)


def answers() -> Iterator[Case]:
    """Shares and means of those who answered."""
    for e, n in product(("1", "3"), (20, 40)):
        made, tallies = choose.subset(3, 1, Decimal(e)), compositions(n, 3)
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
        made = choose.subset(4, w, Decimal(1))
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
    for n in (50, 500):
        survey = make_survey([scale(5)], [(choose.subset(5, 1, Decimal(1)), ["a"])])
        truths = [
            Truth(shape(one), (float(np.searchsorted(np.cumsum(one), 0.5 - 1e-9)),), drawn({"a": one}))
            for one in ([0.2] * 5, [0.3, 0.3, 0.2, 0.1, 0.1], [0.05, 0.1, 0.2, 0.3, 0.35])
        ]
        yield Case("median, `subset` w 1", "set of points", "5 points, ε 1", survey, n, median("a"), truths)


def two_questions() -> Iterator[Case]:
    """Cells, shares within rows and their differences, of two separate fields and of one joint field."""
    tables = {
        "independent": [[0.48, 0.32], [0.12, 0.08]],
        "together": [[0.6, 0.1], [0.1, 0.2]],
        "rare": [[0.85, 0.05], [0.05, 0.05]],
    }
    flips, pair = {e: choose.flip(Decimal(e)) for e in ("1", "3")}, [yes_no(), yes_no("b")]
    heavy, four = choose.subset(2, 1, Decimal(1)), choose.subset(4, 1, Decimal(2))
    made = [
        ("two fields, 2 × 2, ε 1 each", make_survey(pair, [(flips["1"], ["a"]), (flips["1"], ["b"])]), (500, 5000)),
        ("two fields, 2 × 2, ε 3 each", make_survey(pair, [(flips["3"], ["a"]), (flips["3"], ["b"])]), (100, 500)),
        ("`flip` and `subset`, ε 1 each", make_survey(pair, [(flips["1"], ["a"]), (heavy, ["b"])]), (1000,)),
        ("joint field, ε 2", make_survey(pair, [(four, ["a", "b"])]), (100, 1000)),
    ]
    for name, survey, sizes in made:
        joint = len(survey.fields) == 1
        for n, part in product(sizes, ("cells", "within", "differences")):
            truths = [Truth(title, (_crossed(part, table),), together(table)) for title, table in tables.items()]
            method = {"differences": "MOVER"}.get(part, CLOPPER_PEARSON if joint and part == "cells" else "score")
            find, effort = crossed(part, "yes", "yes"), min(1.0, 500 / n)
            yield Case(f"two questions, {part}", method, name, survey, n, find, truths, 0.93, effort=effort, scan=True)


def _crossed(part: str, table: Sequence[Sequence[float]]) -> float:
    (a, b), (c, d) = table
    return {"cells": d, "within": d / (c + d), "differences": d / (c + d) - b / (a + b)}[part]


MAKERS: tuple[Callable[[], Iterator[Case]], ...] = (
    flips, options, single_unions, two_levels, single_means, several, sometimes_asked, laplace, answers, medians,
    two_questions,
)  # fmt: skip
CASES = [case for maker in MAKERS for case in maker()]


def run(place: int, runs: int) -> list[Outcome]:
    """Measure one case, in a process of its own, which finds it by its place."""
    return measure(CASES[place], runs, np.random.default_rng())
