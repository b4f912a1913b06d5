"""Questions that only some devices are asked: drawn options, blocks with chances, trees in a block, and filters.

Given the number of devices asked, counts are binomial. So two counts decide, the devices asked and their ones.
All values of these two counts are enumerated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks.coverage.finders import find_estimate, find_in_crosstab, find_share_of_answers
from benchmarks.coverage.study import Case, Find, Floats, People, PopulationTruth, make_survey, make_tallies
from benchmarks.coverage.truths import (
    CLOPPER_PEARSON,
    DIRICHLET,
    FIELLER,
    SHARES,
    Integers,
    Shares,
    choice,
    describe_shares,
    draw_independently,
    mean_of,
    number,
    scale,
    shapes,
    truths_of,
    union_chances,
    yes_no,
)
from candor_client.definition import Survey
from candor_client.mechanisms import Mechanism
from survey_app.authoring import mechanism_choice
from survey_app.kinds.planning_assumptions import Indices
from survey_app.tally import columns_of

COIN = mechanism_choice.make_flip(Decimal(2))


@dataclass(frozen=True)
class AskedFigure:
    """A figure of a question that only some of the devices are asked."""

    pair: str
    setting: str
    survey: Survey
    question: str
    asked_share: float  # how often a device is asked
    pq: Shares
    counted_bit: int  # a stored bit that counts, and one that does not, among those of its field
    other_bit: int
    find: Find


def asked_figures() -> Iterator[AskedFigure]:
    """Yield each figure, with the exact distribution of its count."""
    for draw, size, e in ((1, 5, 1), (2, 4, 2)):
        mechanism = mechanism_choice.make_drawn(size, draw, Decimal(e))
        survey, setting = make_survey([choice(size, type="multiple")], [(mechanism, ["a"])]), f"{draw} of {size}, ε {e}"
        pq, asked_share = (mechanism.p, mechanism.q), draw / size
        yield AskedFigure("option, `drawn`", setting, survey, "a", asked_share, pq, 1, 0, find_estimate("a", "o0"))
    pair_drawn = mechanism_choice.make_drawn(3, 2, Decimal(2))
    survey = make_survey([choice(3, type="multiple"), yes_no("b")], [(pair_drawn, ["a"]), (COIN, ["b"])], (3, 7))
    yield AskedFigure(
        "option, `drawn` in a block", "2 of 3, chance 0.3, ε 2", survey, "a", 0.2, (pair_drawn.p, pair_drawn.q), 1, 0,
        find_estimate("a", "o0"),
    )  # fmt: skip
    coin = mechanism_choice.make_flip(Decimal(1))
    three, fields = [yes_no("a"), yes_no("b"), yes_no("c")], [(coin, ["a"]), (coin, ["b"]), (coin, ["c"])]
    for name, asked_share, chances in (("1 of 3", 1 / 3, (1, 1, 1)), ("chance 0.15", 0.15, (3, 10, 7))):
        survey, find = make_survey(three, fields, chances), find_estimate("a", "yes")
        yield AskedFigure(
            "yes or no, with `ask`", f"{name}, ε 1", survey, "a", asked_share, (coin.p, coin.q), 0, -1, find
        )
    four, six, answers = (mechanism_choice.make_subset(k, 1, Decimal(2)) for k in (4, 6, 3))
    survey = make_survey([yes_no("a"), yes_no("b"), yes_no("c")], [(four, ["a", "b"]), (COIN, ["c"])], (27, 98))
    margin, cell = find_estimate("a", "yes"), find_in_crosstab("cells", "yes", "yes")
    yield AskedFigure(
        "margin of a block", "2 × 2, chance 0.216, ε 2", survey, "a", 0.216, union_chances(four, 2), 2, 0, margin
    )
    yield AskedFigure("cell of a block", "2 × 2, chance 0.216, ε 2", survey, "a", 0.216, (four.p, four.q), 3, 0, cell)
    hidden = scale(4, "b", show_if={"question": "a", "is": ["yes"]})  # six possible cells of ten: one no, five yes
    survey = make_survey([yes_no("a"), hidden, yes_no("c")], [(six, ["a", "b"]), (COIN, ["c"])], (3, 7))
    tree = "6 possible cells, chance 0.3, ε 2"
    yield AskedFigure("margin of a tree in a block", tree, survey, "a", 0.3, union_chances(six, 5), 1, 0, margin)
    yield AskedFigure("option after a filter", tree, survey, "b", 0.3, (six.p, six.q), 1, 0, find_estimate("b", "p0"))
    survey = survey_with_filter()
    find = find_estimate("b", "o0")
    yield AskedFigure(
        "option after a filter", "a block of its own, chance 0.4, ε 2", survey, "b", 0.4, (answers.p, answers.q), 0, 2,
        find,
    )  # fmt: skip


def survey_with_filter() -> Survey:
    """Return a survey with a follow-up in its own block: a device that draws it sends only the follow-up."""
    follow_up = choice(2, id="b", show_if={"question": "a", "is": ["yes"]})
    return make_survey(
        [yes_no("a"), follow_up], [(COIN, ["a"]), (mechanism_choice.make_subset(3, 1, Decimal(2)), ["b"])], (3, 2)
    )


def partly_asked_figures() -> Iterator[Case]:
    for part, n in product(asked_figures(), (20, 100)):
        asked_counts, ones = np.array([(m, y) for m in range(n + 1) for y in range(m + 1)]).T
        place = columns_of(part.survey, part.question)
        columns = {place.start + part.counted_bit: ones}
        if part.other_bit >= 0:
            columns[place.start + part.other_bit] = asked_counts - ones
        if place.asked_column is not None:
            columns[place.asked_column] = asked_counts
        first = binom.pmf(asked_counts, n, part.asked_share)
        truths = [
            PopulationTruth(
                f"{share:.3f}", (share,), chances=partial(_joint_chances, first, asked_counts, ones, part.pq, share)
            )
            for share in SHARES[::10]
        ]
        tallies = make_tallies(part.survey.width, columns)
        yield Case(part.pair, CLOPPER_PEARSON, part.setting, part.survey, n, part.find, truths, tallies=tallies)


def _joint_chances(first: Floats, asked_counts: Integers, ones: Integers, pq: Shares, share: float) -> Floats:
    chances: Floats = first * binom.pmf(ones, asked_counts, float(pq[1] + Fraction(share) * (pq[0] - pq[1])))
    return chances


def means() -> Iterator[Case]:
    """Yield cases for means of a field that some devices are asked, alone and in a block with another question."""
    three, six, levels = (mechanism_choice.make_subset(k, 1, Decimal(e)) for k, e in ((3, 2), (6, 3), (4, 2)))
    noise = mechanism_choice.make_geometric(11, Decimal(2))
    mean_cases = [
        ("1 of 2, k 3, ε 2", make_survey([scale(3), yes_no("b")], [(three, ["a"]), (COIN, ["b"])], (1, 1)), (40, 200)),
        ("with a yes or no, chance 0.3, ε 3", make_survey(
            [scale(3), yes_no("b"), yes_no("c")], [(six, ["a", "b"]), (COIN, ["c"])], (3, 7)), (100, 1000)),
    ]  # fmt: skip
    for setting, survey, sizes in mean_cases:
        for n in sizes:
            other_shares = {question.id: [0.5, 0.5] for question in survey.questions[1:]}
            truths = [
                PopulationTruth(
                    describe_shares(shares),
                    (mean_of([1, 2, 3])(shares),),
                    draw_independently({"a": shares, **other_shares}),
                )
                for shares in shapes(3)
            ]
            find = find_estimate("a", "mean")
            yield Case("mean, with `ask`", DIRICHLET, setting, survey, n, find, truths, effort=0.5)
    numbers: list[tuple[str, str, dict[str, Any], Mechanism]] = [
        ("number in a block", "4 levels, chance 0.3, ε 2", number(4, 60), levels),
        ("number in a block", "`geometric`, chance 0.3, ε 2", number(11, 60), noise),
    ]
    for pair, setting, question, mechanism in numbers:
        survey = make_survey([question, yes_no("b")], [(mechanism, ["a"]), (COIN, ["b"])], (3, 7))
        for n in (100, 1000):
            truths = [
                PopulationTruth(truth.name, truth.values, _with_second_answer(truth.people))
                for truth in truths_of(61, mean_of(range(61)))
                if truth.people
            ]
            yield Case(pair, DIRICHLET, setting, survey, n, find_estimate("a", "mean"), truths, effort=0.25)


def _with_second_answer(people: People) -> People:
    """Return the same people with a random answer to b: yes as often as no."""

    def draw(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        return {**people(count, rng), "b": rng.integers(0, 2, count)}

    return draw


def answers_after_a_filter() -> Iterator[Case]:
    """Yield cases for shares among the people to whom the follow-up was shown."""
    survey, find = survey_with_filter(), find_share_of_answers("b", "o0")
    for n in (100, 1000):
        truths = [
            PopulationTruth(
                f"{seen_share:g} see it, {first_share:g} of them",
                (first_share,),
                _people_with_follow_up(seen_share, first_share),
            )
            for seen_share, first_share in ((0.2, 0.5), (0.5, 0.1), (0.05, 0.5), (1.0, 0.98))
        ]
        setting = "a block of its own, chance 0.4, ε 2"
        yield Case("share of answers after a filter", FIELLER, setting, survey, n, find, truths, effort=0.25)


def _people_with_follow_up(seen_share: float, first_share: float) -> People:
    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        yes = rng.random(count) < seen_share
        return {"a": yes.astype(np.int64), "b": np.where(yes, (rng.random(count) >= first_share).astype(np.int64), 2)}

    return people
