"""Two questions at once: cells, shares within rows, differences, from the bits of every pair of mechanisms.

That every cell is unbiased is computed exactly: from the distribution of whole reports, each report as often as
its chance says. Coverage is simulated; a figure falls below its bound with probability 1e-8, so no check raises a false
alarm more often than 1e-6, and intervals made the wrong way are shown to fall below it.
"""

import math
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from candor_client import Survey
from candor_client.mechanisms import publish
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import mechanism_choice
from survey_app.estimate.contingency import CrosstabEstimates, PairError, SeparateBlocksError
from survey_app.estimate.crosstab import crosstab
from survey_app.estimate.intervals import Method, Options
from survey_app.estimate.refusal_codes import RefusalCode
from survey_app.kinds import kind_of
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
from tests.exact import all_visible_answers
from tests.golden_files import Golden
from tests.reference import distribution

AFTER_YES = {"question": "a", "is": ["yes"]}
DIE = {"kind": "flip", "one": str(5 * 2**61), "zero": str(2**61)}


def tally_of(parsed: Survey, rows: Bits) -> Tally:
    return Tally(len(rows), np.unpackbits(rows, axis=1, count=parsed.width).sum(axis=0, dtype=np.int64))


def crossed(parsed: Survey, rows: Bits, left: str, right: str, options: Options | None = None) -> CrosstabEstimates:
    """From rows in pieces."""
    pieces = (rows[start : start + 700] for start in range(0, len(rows), 700))
    return crosstab(parsed, left, right, tally_of(parsed, rows), pieces, options or Options())


# every pair of mechanisms, exactly


PAIRS: dict[str, dict[str, Any]] = {
    "flip, flip": define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(DIE, "b")]),
    "flip, one of three": define([yes_no("a"), choice_question("b")], [field(COIN, "a"), field(subset(3, 1), "b")]),
    "flip, two of four": define(
        [yes_no("a"), choice_question("b", options=3, optional=True)], [field(COIN, "a"), field(subset(4, 2), "b")]
    ),
    "two of three, one of two": define(
        [choice_question("a"), scale("b", points=["x", "y"])],
        [field(subset(3, 2, 7 * 2**61), "a"), field(subset(2, 1), "b")],
    ),
    "flip, drawn": define([yes_no("a"), multiple("b", options=2)], [field(COIN, "a"), field(drawn(2, 1), "b")]),
    "drawn with no answer, flip": define(
        [multiple("a", options=2, optional=True), yes_no("b")], [field(drawn(3, 2), "a"), field(COIN, "b")]
    ),
    "two of three drawn, one of two drawn": define(
        [multiple("a"), multiple("b", options=2)],
        [field(drawn(3, 2, 7 * 2**61), "a"), field(drawn(2, 1), "b")],
    ),
    "cells of a multiple, bins": define(
        [multiple("a", options=2), number("b", max=3, bins=2)], [field(subset(4, 1), "a"), field(subset(2, 1), "b")]
    ),
    "joint": define([yes_no("a"), choice_question("b", options=2)], [field(subset(4, 1), "a", "b")]),
    "joint, two of six": define([yes_no("a"), choice_question("b")], [field(subset(6, 2), "a", "b")]),
    "joint, one hides the other": define(
        [yes_no("a"), choice_question("b", options=2, show_if=AFTER_YES)], [field(subset(4, 1), "a", "b")]
    ),
    "joint, one hides the other, two of seven": define(
        [choice_question("a", optional=True), yes_no("b", show_if={"question": "a", "is": ["option 1", "option 2"]})],
        [field(subset(8, 2, 7 * 2**61), "a", "b")],
    ),
    "joint, hidden by a set": define(
        [multiple("a", options=2), yes_no("b", show_if={"question": "a", "is": ["item 0"]})],
        [field(subset(8, 1), "a", "b")],
    ),
    "two of three in a joint": define(
        [yes_no("a"), yes_no("c"), yes_no("b")], [field(subset(8, 1, 15 * 2**60), "a", "c", "b")]
    ),
    "two of three in a joint, the third hidden": define(
        [yes_no("a"), yes_no("b"), choice_question("c", options=2, show_if=AFTER_YES)],
        [field(subset(8, 1, 15 * 2**60), "a", "b", "c")],
    ),
    "two of three in a joint, the third hidden, two of eight": define(
        [yes_no("a"), yes_no("b"), choice_question("c", options=2, show_if=AFTER_YES)],
        [field(subset(8, 2), "a", "b", "c")],
    ),
    "a margin of a joint, flip": define(
        [yes_no("a"), yes_no("c"), yes_no("b")], [field(subset(4, 2), "a", "c"), field(COIN, "b")]
    ),
    "an uneven margin of a joint, flip": define(
        [yes_no("a"), choice_question("c", options=2, show_if=AFTER_YES), yes_no("b")],
        [field(subset(4, 1), "a", "c"), field(COIN, "b")],
    ),
    "an uneven margin of a joint of several, flip": define(
        [yes_no("a"), choice_question("c", options=2, show_if=AFTER_YES), yes_no("b")],
        [field(subset(4, 2), "a", "c"), field(COIN, "b")],
    ),
    "flip, its follow-up": define(
        [yes_no("a"), choice_question("b", options=2, show_if=AFTER_YES)],
        [field(COIN, "a"), field(subset(3, 1), "b")],
    ),
    "a follow-up, what decides it": define(
        [choice_question("b", optional=True), yes_no("a", show_if={"question": "b", "is": ["option 1", "option 2"]})],
        [field(subset(4, 2), "b"), field(subset(3, 1), "a")],
    ),
    "drawn with no answer, its follow-up": define(
        [multiple("a", options=2, optional=True), yes_no("b", show_if={"question": "a", "is": ["item 0"]})],
        [field(drawn(3, 1), "a"), field(subset(3, 1), "b")],
    ),
    "cells of a multiple, its follow-up": define(
        [multiple("a", options=2), yes_no("b", show_if={"question": "a", "is": ["item 0"]})],
        [field(subset(4, 1), "a"), field(subset(3, 1), "b")],
    ),
    "flip, the follow-up of a follow-up": define(
        [yes_no("a"), yes_no("c", show_if=AFTER_YES), yes_no("b", show_if={"question": "c", "is": ["no"]})],
        [field(COIN, "a"), field(subset(3, 1), "c"), field(subset(3, 1), "b")],
    ),
    "follow-ups that exclude each other": define(
        [yes_no("c"), yes_no("a", show_if={"question": "c", "is": ["yes"]}),
         yes_no("b", show_if={"question": "c", "is": ["no"]})],
        [field(COIN, "c"), field(subset(3, 1), "a"), field(subset(3, 1), "b")],
    ),
    "ask one of two, joint": define(
        [yes_no("a"), yes_no("c"), yes_no("b")], [field(subset(4, 1), "a", "b"), field(COIN, "c")], ask=1
    ),
}  # fmt: skip


def expected_rows(definition: dict[str, Any], weights: list[int]) -> Bits:
    """Every possible report of people who answer so often, as often as its exact chance says."""
    chances: dict[str, Fraction] = {}
    for weight, answers in zip(weights, all_visible_answers(definition), strict=True):
        for row, chance in distribution(definition, answers).items():
            chances[row] = chances.get(row, Fraction(0)) + weight * chance
    common = math.lcm(*(chance.denominator for chance in chances.values()))
    counts = [int(chance * common) for chance in chances.values()]
    least = math.gcd(*counts)
    packed = np.packbits([[int(bit) for bit in row] for row in chances], axis=1)
    return np.repeat(packed, [count // least for count in counts], axis=0)


def says(question: dict[str, Any], answer: Any, name: str) -> bool:
    """Whether an answer is what a row or a column of the table is named for."""
    if answer is None or name == "no answer":
        return answer is None and name == "no answer"
    if question["type"] == "yes_no":
        return bool(answer == (name == "yes"))
    if question["type"] == "multiple":
        return "{" + ", ".join(answer) + "}" == name if name.startswith("{") else name in answer
    if question["type"] == "number":
        low, _, high = name.partition(" to ")
        return bool(int(low) <= answer <= int(high or low))
    return bool(answer == name)


@pytest.mark.parametrize("name", PAIRS)
def test_cells_shares_and_differences_are_exact_in_expectation(name: str) -> None:
    definition = PAIRS[name]
    parsed, answers = survey(definition), all_visible_answers(definition)
    weights = [1 + i * i % 7 for i in range(len(answers))]
    rows = expected_rows(definition, weights)
    assert len(rows) < 500_000
    found = crossed(parsed, rows, "a", "b")
    questions = {question["id"]: question for question in definition["questions"]}

    def share(left: str | None, right: str | None) -> float:
        held = [
            weight for weight, answer in zip(weights, answers, strict=True)
            if (left is None or says(questions["a"], answer["a"], left))
            and (right is None or says(questions["b"], answer["b"], right))
        ]  # fmt: skip
        return sum(held) / sum(weights)

    pairs = [(a, b) for a in found.rows for b in found.columns]
    assert [cell.options for cell in found.cells] == [one for one in pairs if share(*one)]
    for cell, within in zip(found.cells, found.within, strict=True):
        a, b = cell.options
        assert within.options == cell.options
        assert cell.estimate.unbiased == pytest.approx(share(a, b), abs=1e-6)
        assert cell.estimate.estimate == pytest.approx(share(a, b), abs=1e-6)
        assert within.estimate.unbiased == pytest.approx(share(a, b) / share(a, None), abs=1e-6)
        for one in (cell.estimate, within.estimate):
            assert one.n == found.n
            if one.interval.method is Method.CERTAIN:
                assert [b for b in found.columns if share(a, b)] == [cell.options[1]]
                assert one.unbiased == one.interval.low == one.interval.high == 1
            else:
                assert one.interval.low < one.unbiased < one.interval.high
    first = found.rows[0]
    several = [a for a in found.rows if sum(share(a, b) > 0 for b in found.columns) > 1]
    assert [line.options for line in found.differences] == [
        (a, b) for a, b in pairs if a != first and {a, first} <= set(several) and share(a, b) and share(first, b)
    ]
    for line in found.differences:
        a, b = line.options
        gap = share(a, b) / share(a, None) - share(first, b) / share(first, None)
        assert line.estimate.unbiased == pytest.approx(gap, abs=1e-6)
    assert (found.test is None) == (len(found.cells) < len(pairs))
    assert found.test is None or 0 <= found.test.p_value <= 1


@pytest.mark.parametrize(
    "name", [name for name in PAIRS if not name.startswith(("joint", "two of three in", "ask one"))]
)
def test_the_variance_of_a_cell_is_known_before_it_is_seen(name: str) -> None:
    """Of separate fields: half an interval is 1.96 standard errors of the products of scores, seen report by report."""
    definition = PAIRS[name]
    parsed = survey(definition)
    rows = expected_rows(definition, [1 + i * i % 7 for i in range(len(all_visible_answers(definition)))])
    many = np.concatenate([rows] * (1 + 20_000 // len(rows)))
    few, found = (crossed(parsed, some, "a", "b") for some in (rows, many))
    for one, cell in zip(few.cells, found.cells, strict=True):
        assert one.estimate.unbiased == pytest.approx(cell.estimate.unbiased)
        half = (cell.estimate.limits.raw.high - cell.estimate.limits.raw.low) / 2
        assert half == pytest.approx(1.96 * deviation(parsed, many, *cell.options) / math.sqrt(found.n), rel=0.05)


def deviation(parsed: Survey, rows: Bits, left: str, right: str) -> float:
    """The standard deviation of u·v over reports, by running each distinct report alone, twice."""
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    values: list[float] = []
    weights: list[int] = []
    for row, count in zip(distinct, counts, strict=True):
        alone = crossed(parsed, np.stack([row, row]), "a", "b")
        if alone.n:
            place = [cell.options for cell in alone.cells].index((left, right))
            values.append(alone.cells[place].estimate.unbiased)
            weights.append(int(count))
    mean = np.average(values, weights=weights)
    return math.sqrt(np.average((np.array(values) - mean) ** 2, weights=weights))


# coverage


def simulated(definition: dict[str, Any], cells: list[list[float]], n: int, runs: int) -> Iterator[tuple[Survey, Bits]]:
    """Reports of `runs` surveys whose questions a and b have these joint shares."""
    parsed, rng, table = survey(definition), np.random.default_rng(), np.array(cells)
    said = rng.choice(table.size, runs * n, p=table.ravel())
    indices = {"a": said // table.shape[1], "b": said % table.shape[1]}
    for question in parsed.questions:
        indices.setdefault(question.id, rng.integers(0, question.size, runs * n))
    rows = np.concatenate(list(reports(parsed, indices, rng)))
    for start in range(0, len(rows), n):
        yield parsed, rows[start : start + n]


def pair(left: Any, right: Any, columns: int = 2) -> dict[str, Any]:
    return define(
        [yes_no("a"), yes_no("b") if columns == 2 else choice_question("b", options=columns)],
        [field(publish(left), "a"), field(publish(right), "b")],
    )


COVERED: list[tuple[str, dict[str, Any], list[list[float]], int, int]] = [
    ("2×2, ε .5", pair(mechanism_choice.make_flip(Decimal("0.5")), mechanism_choice.make_flip(Decimal("0.5"))), [[0.4, 0.2], [0.1, 0.3]], 5000, 200),
    ("2×2, ε 1", pair(mechanism_choice.make_flip(Decimal(1)), mechanism_choice.make_flip(Decimal(1))), [[0.4, 0.2], [0.1, 0.3]], 1000, 400),
    ("2×3, ε 3", pair(mechanism_choice.make_flip(Decimal(3)), mechanism_choice.make_subset(3, 1, Decimal(3)), 3), [[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]], 500, 300),
    ("2×3 of two, ε 2", pair(mechanism_choice.make_flip(Decimal(2)), mechanism_choice.make_subset(3, 2, Decimal(2)), 3), [[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]], 800, 300),
    ("joint 2×2, ε 2", define([yes_no("a"), yes_no("b")], [field(publish(mechanism_choice.make_subset(4, 1, Decimal(2))), "a", "b")]), [[0.4, 0.2], [0.1, 0.3]], 500, 300),
    ("joint 2×3 of two, ε 2", define([yes_no("a"), choice_question("b")], [field(publish(mechanism_choice.make_subset(6, 2, Decimal(2))), "a", "b")]), [[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]], 500, 300),
    ("joint 2×3 with two gaps, ε 2", define([yes_no("a"), choice_question("b", options=2, show_if=AFTER_YES)], [field(publish(mechanism_choice.make_subset(4, 1, Decimal(2))), "a", "b")]), [[0, 0, 0.5], [0.25, 0.15, 0.1]], 400, 300),
    ("joint 3×3 with two gaps, ε 2", define([scale("a"), choice_question("b", options=2, show_if={"question": "a", "is": ["Disagree", "Agree"]})], [field(publish(mechanism_choice.make_subset(7, 2, Decimal(2))), "a", "b")]), [[0.2, 0.1, 0.05], [0, 0, 0.3], [0.05, 0.2, 0.1]], 600, 300),
    ("2×3, two drawn, ε 2 and 3", define([yes_no("a"), multiple("b", options=3)], [field(publish(mechanism_choice.make_flip(Decimal(2))), "a"), field(publish(mechanism_choice.make_drawn(3, 2, Decimal(3))), "b")]), [[0.2, 0.1, 0.1, 0, 0, 0, 0.2, 0], [0.05, 0.15, 0, 0, 0, 0, 0, 0.2]], 1000, 200),
    ("sparse, ε 5", pair(mechanism_choice.make_flip(Decimal(5)), mechanism_choice.make_flip(Decimal(5))), [[0.9, 0.05], [0.04, 0.01]], 20, 600),
    ("sparse, ε 3", pair(mechanism_choice.make_flip(Decimal(3)), mechanism_choice.make_flip(Decimal(3))), [[0.9, 0.05], [0.04, 0.01]], 100, 600),
    ("sparse joint, ε 5", define([yes_no("a"), yes_no("b")], [field(publish(mechanism_choice.make_subset(4, 1, Decimal(5))), "a", "b")]), [[0.9, 0.05], [0.04, 0.01]], 50, 200),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "definition", "cells", "n", "runs"), COVERED)
def test_cells_shares_and_differences_are_covered(
    name: str, definition: dict[str, Any], cells: list[list[float]], n: int, runs: int
) -> None:
    """Published, for ordinary cells: .947 to .953, and .951 to .958 for shares and differences."""
    table = np.array(cells)
    rows_held = table.sum(axis=1, keepdims=True)
    if definition["questions"][1]["type"] == "multiple":  # from sets to options
        table = table @ (np.arange(table.shape[1])[:, None] >> np.arange(3) & 1)
    shares = table / rows_held
    truths = [table, shares, shares - shares[0]]
    held, third = Counter[tuple[int, int, int]](), Counter[tuple[int, int, int]]()
    for parsed, rows in simulated(definition, cells, n, runs):
        found = crossed(parsed, rows, "a", "b")
        for kind, lines in enumerate((found.cells, found.within, found.differences)):
            for line in lines:
                i, j = found.rows.index(line.options[0]), found.columns.index(line.options[1])
                low, high, truth = line.estimate.interval.low, line.estimate.interval.high, truths[kind][i, j]
                assert high - low > 1e-4 or line.estimate.interval.method is Method.CERTAIN
                held[kind, i, j] += bool(low <= truth <= high)
                third[kind, i, j] += bool(low + (high - low) / 3 <= truth <= high - (high - low) / 3)
    several = shares.max(axis=1, keepdims=True) < 1
    assert len(held) == 2 * (table > 0).sum() + ((table * table[0] > 0) & several & several[0])[1:].sum()
    assert min(held.values()) / runs >= lowest_share(0.95, runs)
    if not name.startswith("sparse"):  # there, intervals are wide for want of reports; see the next test
        assert min(third.values()) / runs < lowest_share(0.95, runs)


JOINT_FOUR = define(
    [yes_no("a"), yes_no("b")], [field(publish(mechanism_choice.make_subset(4, 1, Decimal(4))), "a", "b")]
)
JOINT_SIX = define(
    [yes_no("a"), yes_no("b")], [field(publish(mechanism_choice.make_subset(4, 1, Decimal(6))), "a", "b")]
)
DECIDED: list[tuple[dict[str, Any], list[list[float]], int]] = [
    (JOINT_FOUR, [[0.5, 0], [0, 0.5]], 50),
    (pair(mechanism_choice.make_flip(Decimal(3)), mechanism_choice.make_flip(Decimal(3))), [[0.5, 0], [0, 0.5]], 20),
    (JOINT_SIX, [[0.5, 0], [0, 0.5]], 300),
    (JOINT_SIX, [[0.475, 0.025], [0.025, 0.475]], 50),
    (
        pair(mechanism_choice.make_flip(Decimal(5)), mechanism_choice.make_flip(Decimal(5))),
        [[0.45, 0.05], [0.05, 0.45]],
        20,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "cells", "n"), DECIDED)
def test_rows_that_decide_their_columns_have_covered_differences(
    definition: dict[str, Any], cells: list[list[float]], n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A difference of 1, or nearly: .93 to .98, from limits that are not cut; from cut ones .79 to .81."""
    monkeypatch.setattr("survey_app.estimate.hypotheses.DRAWS", 199, raising=False)
    runs, table = 400, np.array(cells)
    truth = table[1, 1] / table[1].sum() - table[0, 1] / table[0].sum()
    held = third = 0
    for parsed, rows in simulated(definition, cells, n, runs):
        found = crossed(parsed, rows, "a", "b").differences[1].estimate
        low, high = found.interval.low, found.interval.high
        held += low - 1e-9 <= truth <= high + 1e-9
        third += low + (high - low) / 3 <= truth <= high - (high - low) / 3
        assert -1 <= low <= high <= 1
    assert held / runs >= lowest_share(0.93, runs)
    assert third / runs < lowest_share(0.93, runs)


def test_rows_that_are_each_of_one_mind_leave_a_difference_open() -> None:
    """Ten no and no, ten yes and yes: their correlation seems to be +1, and would leave [.84, 1]."""
    parsed = survey(pair(mechanism_choice.make_flip(Decimal(5)), mechanism_choice.make_flip(Decimal(5))))
    rows = np.repeat(np.array([[0b00], [0b11]], dtype=np.uint8) << 6, 10, axis=0)
    found = crossed(parsed, rows, "a", "b").differences[1].estimate.interval
    assert found.low < 0.6
    assert found.high == 1


def test_variance_seen_in_the_reports_is_not_enough_for_a_small_cell() -> None:
    """Wald's interval, mean ± 1.96 sd/√n of the scores, covers a cell of 1% at ε 5 and n 20 in 19% of runs."""
    made, n, runs = mechanism_choice.make_flip(Decimal(5)), 20, 600
    p, q = float(made.p), float(made.q)
    held = 0
    for parsed, rows in simulated(pair(made, made), [[0.9, 0.05], [0.04, 0.01]], n, runs):
        bits = np.unpackbits(rows, axis=1, count=parsed.width)
        scores = ((bits - q) / (p - q)).prod(axis=1)
        held += abs(scores.mean() - 0.01) <= 1.96 * scores.std() / math.sqrt(n)
    assert held / runs < 0.4


def test_one_stray_report_does_not_prove_a_cell() -> None:
    """At ε 8, of 500 people who all say no, one device or more says yes in 15% of surveys; half a report allows for it."""
    parsed = survey(pair(mechanism_choice.make_flip(Decimal(8)), mechanism_choice.make_flip(Decimal(8))))
    rows = np.repeat(np.array([[0b00], [0b01]], dtype=np.uint8) << 6, [499, 1], axis=0)
    found = crossed(parsed, rows, "a", "b")
    for line in (found.cells[1], found.within[1]):
        assert line.options == ("no", "yes")
        assert line.estimate.interval.low == 0
        assert 0.002 < line.estimate.interval.high < 0.02


def test_simultaneous_cells_are_wider() -> None:
    parsed, rows = next(
        simulated(
            pair(mechanism_choice.make_flip(Decimal(1)), mechanism_choice.make_flip(Decimal(1))),
            [[0.4, 0.2], [0.1, 0.3]],
            500,
            1,
        )
    )
    alone, together = (crossed(parsed, rows, "a", "b", Options(simultaneous=wide)) for wide in (False, True))
    singly = crossed(parsed, rows, "a", "b", Options(confidence=1 - 0.05 / 4))
    for one, other, same in zip(alone.cells, together.cells, singly.cells, strict=True):
        assert other.estimate.interval.low <= one.estimate.interval.low
        assert other.estimate.interval.high >= one.estimate.interval.high
        assert other.estimate.interval.low == pytest.approx(same.estimate.interval.low)


def test_a_noised_predictor_does_not_draw_the_difference_to_zero() -> None:
    """The difference of the two rows is Cov(x̃, ỹ)/((p−q)² π̂(1−π̂)), the slope of y on the true x; on x̃ it is not half."""
    made = mechanism_choice.make_flip(Decimal(1))
    p, q, rng, n = float(made.p), float(made.q), np.random.default_rng(), 100_000
    x = (rng.random(n) < 0.3).astype(np.int64)
    y = (rng.random(n) < 0.2 + 0.6 * x).astype(np.int64)
    parsed = survey(pair(made, made))
    rows = np.concatenate(list(reports(parsed, {"a": x, "b": y}, rng)))
    seen = np.unpackbits(rows, axis=1, count=2).astype(float)
    share = (seen[:, 0].mean() - q) / (p - q)
    covariance = np.cov(seen.T, bias=True)
    slope = crossed(parsed, rows, "a", "b").differences[1].estimate
    assert slope.unbiased == pytest.approx(covariance[0, 1] / ((p - q) ** 2 * share * (1 - share)), rel=1e-9)
    error = (slope.interval.high - slope.interval.low) / 3.92
    assert abs(slope.unbiased - 0.6) < 5.5 * error  # false alarm 4e-8
    naive = covariance[0, 1] / covariance[0, 0] / (p - q)  # y without its noise, x with it
    assert naive / 0.6 == pytest.approx(0.805 / 2, abs=0.06)


# the border


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("name", PAIRS)
def test_under_two_reports_there_is_no_table(name: str, n: int) -> None:
    parsed = survey(PAIRS[name])
    rows = expected_rows(PAIRS[name], [1] * len(all_visible_answers(PAIRS[name])))[:n]
    found = crossed(parsed, rows, "a", "b")
    assert (found.cells, found.within, found.differences, found.test) == ([], [], [], None)
    assert found.n <= n


@pytest.mark.parametrize("name", PAIRS)
def test_reports_that_are_all_alike_give_no_certainties(name: str) -> None:
    parsed = survey(PAIRS[name])
    for row in np.unique(expected_rows(PAIRS[name], [1] * len(all_visible_answers(PAIRS[name]))), axis=0)[:12]:
        for n in (2, 20):
            found = crossed(parsed, np.tile(row, (n, 1)), "a", "b")
            for line in [*found.cells, *found.within, *found.differences]:
                one = line.estimate
                assert math.isfinite(one.estimate)
                assert one.interval.method is Method.CERTAIN or one.interval.high - one.interval.low > 1e-3
            assert found.test is None or found.test.p_value >= 0


def test_two_bins_by_a_coin_are_crossed_under_their_own_names() -> None:
    parsed = survey(define([yes_no("a"), number("b", bins=2)], [field(COIN, "a"), field(COIN, "b")]))
    found = crossed(parsed, np.tile(np.array([[0], [64], [128], [192]], dtype=np.uint8), (5, 1)), "a", "b")
    assert found.columns == tuple(kind_of(parsed.questions[1]).all_answers(parsed.questions[1]))
    assert len(found.cells) == 4


def test_a_row_of_nobody_can_hold_anything() -> None:
    parsed = survey(PAIRS["flip, flip"])
    rows = np.tile(np.array([[0]], dtype=np.uint8), (40, 1))
    found = crossed(parsed, rows, "a", "b")
    for line in found.within[2:]:
        assert math.isnan(line.estimate.unbiased)
        assert (line.estimate.interval.low, line.estimate.interval.high) == (0, 1)
    for line in found.differences:
        assert (line.estimate.interval.low, line.estimate.interval.high) == (-1, 1)
    assert found.test is not None
    assert found.test.p_value == 1


@pytest.mark.parametrize(
    ("left", "right", "code", "named"),
    [
        ("a", "a", RefusalCode.REPEATED, ""),
        ("a", "missing", RefusalCode.UNKNOWN_QUESTION, "'missing'"),
        ("hours", "a", RefusalCode.NO_SHARES, "hours "),
        ("a", "spend", RefusalCode.NO_SHARES, "spend "),
        ("wide", "long", RefusalCode.TOO_MANY_CELLS, "40 × 30"),
    ],
    ids=["same", "missing", "number", "other-number", "cells"],
)
def test_what_cannot_be_crossed_is_said(left: str, right: str, code: RefusalCode, named: str, golden: Golden) -> None:
    questions = [
        yes_no("a"), number("hours"), number("spend", levels=7),
        choice_question("wide", options=40), choice_question("long", options=30),
    ]  # fmt: skip
    forms = [COIN, subset(2, 1), geometric(7), subset(40, 1), subset(30, 1)]
    parsed = survey(define(questions, [field(form, q["id"]) for form, q in zip(forms, questions, strict=True)]))
    with pytest.raises(PairError) as caught:
        crossed(parsed, np.zeros((0, parsed.length), dtype=np.uint8), left, right)
    assert caught.value.code is code and named in caught.value.message
    golden(caught.value)


def forbidden() -> Iterator[Bits]:
    raise AssertionError("it was read")
    yield


def test_what_no_device_answered_together_cannot_be_crossed(golden: Golden) -> None:
    parsed = survey(PAIRS["ask one of two, joint"])
    with pytest.raises(SeparateBlocksError) as caught:
        crosstab(parsed, "a", "c", Tally(100, np.full(parsed.width, 20)), forbidden(), Options())
    assert "joint: [[a, c]]" in caught.value.message
    golden(caught.value)


def test_a_joint_field_needs_no_scan() -> None:
    parsed = survey(PAIRS["joint"])
    found = crosstab(parsed, "a", "b", Tally(100, np.array([40, 30, 20, 10])), forbidden(), Options())
    assert len(found.cells) == 4
    assert all(cell.estimate.interval.coverage == "guaranteed" for cell in found.cells)
    turned = crosstab(parsed, "b", "a", Tally(100, np.array([40, 30, 20, 10])), forbidden(), Options())
    assert turned.test is not None and found.test is not None
    assert turned.test.statistic == pytest.approx(found.test.statistic, abs=1e-6)
    assert turned.cells[1].estimate.unbiased == pytest.approx(found.cells[2].estimate.unbiased)


def test_reports_are_read_piece_by_piece() -> None:
    """A million reports in a hundred pieces take the memory of a few pieces, not of all."""
    parsed, rng = survey(PAIRS["flip, one of three"]), np.random.default_rng()
    piece = np.concatenate(
        list(reports(parsed, {"a": rng.integers(0, 2, 10_000), "b": rng.integers(0, 3, 10_000)}, rng))
    )
    crossed(parsed, piece, "a", "b")
    pieces = 100
    tracemalloc.start()
    found = crosstab(
        parsed, "a", "b", Tally(0, np.zeros(4, dtype=np.int64)), (piece.copy() for _ in range(pieces)), Options()
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n == pieces * len(piece)
    assert peak < 8_000_000
