"""Single questions: every combination of question and mechanism with its interval."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import hypergeom

from benchmarks.coverage.finders import find_estimate, find_every, find_median, find_share_of_answers, find_total
from benchmarks.coverage.study import Case, Floats, PopulationTruth, make_survey, make_tallies
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
    describe_shares,
    draw_independently,
    enumerated_case,
    mean_of,
    multinomials,
    number,
    scale,
    shapes,
    simplex,
    truths_of,
    union_chances,
    yes_no,
)
from candor_client.definition import Survey
from candor_client.mechanisms import Flip, Subset
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import Options


def flips() -> Iterator[Case]:
    designs = {
        **{f"ε {e}": mechanism_choice.make_flip(Decimal(e)) for e in ("0.1", "0.5", "1", "3")},
        "coin, ε ln 3": mechanism_choice.make_classic_flip(Fraction(3, 4), Fraction(1, 4)),
        "forced, p ⅞, q ⅜": mechanism_choice.make_classic_flip(Fraction(7, 8), Fraction(3, 8)),
    }
    for (name, mechanism), n in product(designs.items(), (20, 100, 1000)):
        survey, all_counts, pq = (
            make_survey([yes_no()], [(mechanism, ["a"])]),
            {0: np.arange(n + 1)},
            (mechanism.p, mechanism.q),
        )
        yield enumerated_case("yes or no, `flip`", name, survey, n, find_estimate("a", "yes"), pq, all_counts)
        if n <= 100:
            narrow_find = find_estimate("a", "yes", Options(narrow=True))
            yield enumerated_case(
                "yes or no, `flip`", name, survey, n, narrow_find, pq, all_counts, method=WILSON, stated=0.917
            )
            yield from these_people(survey, mechanism, name, n)


def these_people(survey: Survey, mechanism: Flip, name: str, n: int) -> Iterator[Case]:
    """Yield cases for the share among the respondents themselves, and in a population twice as large."""
    p, q = float(mechanism.p), float(mechanism.q)
    tallies = make_tallies(1, {0: np.arange(n + 1)})

    def ones_chances(yes: int) -> Floats:
        return np.convolve(binomials(yes, p), binomials(n - yes, q))

    def population_chances(yes: int) -> Floats:
        chances = hypergeom.pmf(np.arange(n + 1), 2 * n, yes, n)
        mixture: Floats = np.array([chance * ones_chances(s) for s, chance in enumerate(chances)]).sum(axis=0)
        return mixture

    truths = [PopulationTruth(f"{yes} of {n}", (yes / n,), chances=partial(ones_chances, yes)) for yes in range(n + 1)]
    find = find_estimate("a", "yes", sample=True)
    yield Case("yes or no, these respondents", SAMPLE, name, survey, n, find, truths, tallies=tallies)
    step = max(1, n // 20)
    truths = [
        PopulationTruth(f"{yes} of {2 * n}", (yes / 2 / n,), chances=partial(population_chances, yes))
        for yes in range(0, 2 * n + 1, step)
    ]
    find = find_estimate("a", "yes", Options(population=2 * n))
    yield Case("yes or no, population 2n", SAMPLE, name, survey, n, find, truths, tallies=tallies)


def options() -> Iterator[Case]:
    mechanisms: list[tuple[str, Subset]] = [
        ("4 options, w 1, ε 1", mechanism_choice.make_subset(4, 1, Decimal(1))),
        ("5 options, w 2, ε 0.5", mechanism_choice.make_subset(5, 2, Decimal("0.5"))),
        ("100 options, w 5, ε 3", mechanism_choice.make_subset(100, 5, Decimal(3))),
    ]
    for (name, mechanism), n in product(mechanisms, (20, 100, 1000)):
        survey = make_survey([choice(mechanism.size)], [(mechanism, ["a"])])
        pair, pq = f"one option, `{mechanism.kind}`", (mechanism.p, mechanism.q)
        if mechanism.size < 100 or n < 1000:
            yield enumerated_case(pair, name, survey, n, find_estimate("a", "o0"), pq, {0: np.arange(n + 1)})
        if mechanism.size < 100:
            find_all = find_every("a", Options(simultaneous=True))
            truths = [
                PopulationTruth(describe_shares(shares), tuple(shares), draw_independently({"a": shares}))
                for shares in shapes(mechanism.size)
            ]
            pair = f"all options together, `{mechanism.kind}`"
            yield Case(pair, f"{CLOPPER_PEARSON}, α/k", name, survey, n, find_all, truths)


def single_unions() -> Iterator[Case]:
    """Yield cases for unions where a report names one symbol.

    These are a margin of a joint field, a cumulative share, and an option of a question with several.
    """
    pair = "union, `subset` w 1"
    cells, points, sets = (mechanism_choice.make_subset(k, 1, Decimal(e)) for k, e in ((6, 2), (5, 1), (8, 3)))
    joint = make_survey([yes_no(), scale(3, "b")], [(cells, ["a", "b"])])
    hidden = scale(4, "b", show_if={"question": "a", "is": ["yes"]})  # six possible cells of ten: one no, five yes
    tree = make_survey([yes_no(), hidden], [(cells, ["a", "b"])])
    multiple_survey = make_survey([choice(3, type="multiple")], [(sets, ["a"])])
    for n in (20, 100, 1000):
        y = np.arange(n + 1)
        yield enumerated_case(
            pair, "margin of 2 × 3, ε 2", joint, n, find_estimate("a", "yes"), union_chances(cells, 3), {3: y, 0: n - y}
        )
        yield enumerated_case(
            pair, "margin of 6 possible cells, ε 2", tree, n, find_estimate("a", "yes"), union_chances(cells, 5),
            {3: y, 0: n - y},
        )  # fmt: skip
        survey = make_survey([scale(5)], [(points, ["a"])])
        yield enumerated_case(
            pair,
            "2 of 5 points, ε 1",
            survey,
            n,
            find_total("a", "p0", "p1"),
            union_chances(points, 2),
            {0: y, 4: n - y},
        )
        yield enumerated_case(
            pair,
            "1 of 3 options, ε 3",
            multiple_survey,
            n,
            find_estimate("a", "o0"),
            union_chances(sets, 4),
            {1: y, 0: n - y},
        )


def two_levels() -> Iterator[Case]:
    for e, n in product(("0.5", "1"), (20, 100, 1000)):
        mechanism, y = mechanism_choice.make_subset(2, 1, Decimal(e)), np.arange(n + 1)
        survey = make_survey([number(2, 60)], [(mechanism, ["a"])])
        find, pq = find_estimate("a", "mean"), (mechanism.p, mechanism.q)
        yield enumerated_case("number, 2 levels", f"0 to 60, ε {e}", survey, n, find, pq, {1: y, 0: n - y}, top=60)


def single_means() -> Iterator[Case]:
    """Yield cases for means of scores where a report names one symbol; enumerated if there are few tallies."""
    for e, n in product(("1", "2", "5"), (5, 20, 50)):
        mechanism, tallies = mechanism_choice.make_subset(3, 1, Decimal(e)), compositions(n, 3)
        survey = make_survey([scale(3)], [(mechanism, ["a"])])
        truths = [
            PopulationTruth(
                describe_shares(shares),
                (mean_of([1, 2, 3])(shares),),
                chances=partial(multinomials, tallies, mechanism, shares),
            )
            for shares in simplex(3, 20)
        ]
        find = find_estimate("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k 3, ε {e}", survey, n, find, truths, tallies=tallies)
    for (k, e), n in product(((5, "1"), (5, "4")), (20, 100, 1000)):
        survey = make_survey([number(k, k - 1)], [(mechanism_choice.make_subset(k, 1, Decimal(e)), ["a"])])
        truths = truths_of(k, mean_of(range(k)))[::2]
        find = find_estimate("a", "mean")
        yield Case("mean, `subset` w 1", DIRICHLET, f"k {k}, ε {e}", survey, n, find, truths, effort=0.5)
    for n in (20, 200):
        survey = make_survey([number(7, 60)], [(mechanism_choice.make_subset(7, 1, Decimal(5)), ["a"])])
        truths = truths_of(61, mean_of(range(61)))[::2]
        find = find_estimate("a", "mean")
        yield Case("number, 7 levels", DIRICHLET, "0 to 60, ε 5", survey, n, find, truths, effort=0.25)


def means_and_unions() -> Iterator[Case]:
    """Yield cases for means, unions and margins where a report names several symbols."""
    mechanisms = [
        ("k 5, w 2, ε 0.5", mechanism_choice.make_subset(5, 2, Decimal("0.5"))),
        ("k 10, w 3, ε 1", mechanism_choice.make_subset(10, 3, Decimal(1))),
    ]
    for (name, mechanism), n in product(mechanisms, (20, 100, 1000)):
        k = mechanism.size
        survey, truths = make_survey([number(k, k - 1)], [(mechanism, ["a"])]), truths_of(k, mean_of(range(k)))
        find = find_estimate("a", "mean")
        yield Case("mean, `subset` w > 1", KORN_GRAUBARD, name, survey, n, find, truths)
        survey, truths = (
            make_survey([scale(k)], [(mechanism, ["a"])]),
            truths_of(k, lambda shares: float(sum(shares[:2]))),
        )
        pair, find = "union, `subset` w > 1", find_total("a", "p0", "p1")
        yield Case(pair, KORN_GRAUBARD, f"2 symbols, {name}", survey, n, find, truths)
    mechanism = mechanism_choice.make_subset(9, 3, Decimal("0.8"))
    survey = make_survey([scale(3), scale(3, "b")], [(mechanism, ["a", "b"])])
    for n in (20, 100, 1000):
        truths = [
            PopulationTruth(
                f"{describe_shares(shares)}, b equal", (shares[0],), draw_independently({"a": shares, "b": [1 / 3] * 3})
            )
            for shares in shapes(3)
        ]
        find = find_estimate("a", "p0")
        yield Case("margin, `subset` w > 1", KORN_GRAUBARD, "3 × 3, w 3, ε 0.8", survey, n, find, truths)


def laplace() -> Iterator[Case]:
    middle = [0.0, 0.0, 0.0, 0.05, 0.25, 0.4, 0.25, 0.05, 0.0, 0.0, 0.0]
    for e, n in product(("0.5", "1", "3"), (5, 20, 100, 1000)):
        survey = make_survey([number(11, 10)], [(mechanism_choice.make_geometric(11, Decimal(e)), ["a"])])
        truths = [
            *truths_of(11, mean_of(range(11))),
            PopulationTruth("around 5", (5.0,), draw_independently({"a": middle})),
        ]
        find = find_estimate("a", "mean")
        yield Case("number, `geometric`", DIRICHLET, f"0 to 10, ε {e}", survey, n, find, truths, effort=0.25)


def answers() -> Iterator[Case]:
    """Yield cases for shares and means among the people who answered."""
    for e, n in product(("1", "3"), (20, 40)):
        mechanism, tallies = mechanism_choice.make_subset(3, 1, Decimal(e)), compositions(n, 3)
        survey = make_survey([choice(2, optional=True)], [(mechanism, ["a"])])
        truths = [
            PopulationTruth(
                describe_shares(shares), (shares[0] / (shares[0] + shares[1]),),
                chances=partial(multinomials, tallies, mechanism, shares),
            )
            for shares in simplex(3, 20) if shares[2] < 1
        ]  # fmt: skip
        find = find_share_of_answers("a", "o0")
        yield Case(
            "share of answers, `subset` w 1", FIELLER, f"2 options, ε {e}", survey, n, find, truths, tallies=tallies
        )
    share_lists: list[list[float]] = [[0.25, 0.25, 0.25, 0.25], [0.1, 0, 0, 0.9], [0.05, 0, 0.85, 0.1], [1, 0, 0, 0]]
    for (w, effort), n in product(((1, 0.2), (2, 1.0)), (100, 1000)):
        mechanism = mechanism_choice.make_subset(4, w, Decimal(1))
        survey = make_survey([choice(3, optional=True)], [(mechanism, ["a"])])
        truths = [
            PopulationTruth(describe_shares(shares), (shares[0] / (1 - shares[3]),), draw_independently({"a": shares}))
            for shares in share_lists
        ]
        pair, setting = f"share of answers, `subset` w {w}", "3 options, ε 1"
        yield Case(pair, FIELLER, setting, survey, n, find_share_of_answers("a", "o0"), truths, effort=effort)
        survey = make_survey([scale(3, optional=True)], [(mechanism, ["a"])])
        truths = [
            PopulationTruth(
                describe_shares(shares),
                (mean_of([1, 2, 3, 0])(shares) / (1 - shares[3]),),
                draw_independently({"a": shares}),
            )
            for shares in share_lists
        ]
        pair, setting = f"mean of answers, `subset` w {w}", "3 points, ε 1"
        yield Case(pair, FIELLER, setting, survey, n, find_estimate("a", "mean"), truths, effort=effort)


def medians() -> Iterator[Case]:
    for (w, e), n in product(((1, "1"), (2, "0.5")), (50, 500)):
        survey = make_survey([scale(5)], [(mechanism_choice.make_subset(5, w, Decimal(e)), ["a"])])
        truths = [
            PopulationTruth(
                describe_shares(shares),
                (float(np.searchsorted(np.cumsum(shares), 0.5 - 1e-9)),),
                draw_independently({"a": shares}),
            )
            for shares in ([0.2] * 5, [0.3, 0.3, 0.2, 0.1, 0.1], [0.05, 0.1, 0.2, 0.3, 0.35], [0.5, 0, 0, 0, 0.5])
        ]
        yield Case(f"median, `subset` w {w}", "set of points", f"5 points, ε {e}", survey, n, find_median("a"), truths)
