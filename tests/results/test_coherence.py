"""Displayed points agree: within a question, between its lists, between pages; and sums over groups are clipped once.

What is claimed here holds whatever the reports say, so reports are few and made up anew each time.
"""

from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pytest

from candor_client import Survey
from candor_client.mechanisms import publish
from survey_app.assure.simulation.devices import reports
from survey_app.authoring import mechanism_choice
from survey_app.estimate.intervals import Options
from survey_app.estimate.projection import project
from survey_app.estimate.question_estimates import evidence_of, joint_cells
from survey_app.results.crosstab_document import Crosstab, make_crosstab
from survey_app.results.group_document import Study, compare_groups
from survey_app.results.survey_document import Line, QuestionPart, Results, results
from survey_app.tally import Bits, Tally
from tests.definitions import COIN, choice, define, field, multiple, scale, subset, survey, yes_no
from tests.results.figure_kinds import FIELDS, make_survey

TIMES = 12


def answered_by(made: Survey, count: int, rng: np.random.Generator) -> Bits:
    """Return reports of people most of whose answers are alike."""
    indices: dict[str, Any] = {}
    for question in made.questions:
        top = question.steps + 1 if question.levels else question.size
        top = 2 ** len(question.labels) if question.type == "multiple" else top
        indices[question.id] = np.where(rng.random(count) < 0.8, 0, rng.integers(0, top, count))
    for question in made.questions:
        if question.show_if:  # the parent says the first, which hides it
            indices[question.id] = np.where(indices[made.questions[0].id] == 0, question.no_answer, 0)
    return np.concatenate(list(reports(made, indices, rng)))


def tallied(made: Survey, rows: Bits) -> Tally:
    return Tally(len(rows), np.unpackbits(rows, axis=1, count=made.width).sum(axis=0, dtype=np.int64))


def drawn_results(made: Survey, count: int) -> Results:
    tally = tallied(made, answered_by(made, count, np.random.default_rng()))
    totals = {question.id: [question.labels[1:]] for question in made.questions if question.type in ("choice", "scale")}
    return results(made, tally, totals=totals)


def points(lines: tuple[Line, ...], *kinds: str) -> list[float]:
    return [line.estimate for line in lines if line.kind in kinds]


@pytest.mark.parametrize("name", [name for name in FIELDS if "drawn" not in name and "coin" not in name])
def test_what_is_displayed_of_a_question_comes_from_one_set_of_shares(name: str) -> None:
    made = make_survey([name])
    for _ in range(TIMES):
        for question, part in zip(made.questions, drawn_results(made, 25).questions, strict=True):
            if question.type != "multiple" and not question.levels:
                agree(question, part)
            if question.optional and not question.levels:
                *shares, none = points(part.estimates, "share", "no_answer")
                among = [share / (1 - none) if none < 1 - 1e-9 else 0.5 for share in shares]
                assert points(part.answered, "share") == pytest.approx(among, abs=1e-6)


def agree(question: Any, part: QuestionPart) -> None:
    shares = points(part.estimates, "share", "no_answer")
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0
    assert points(part.cumulative, "share") == pytest.approx(np.cumsum(shares)[: len(part.cumulative)].tolist())
    assert points(part.totals, "share") == pytest.approx([sum(shares[1 : len(question.labels)])] * len(part.totals))
    for mean in points(part.estimates, "mean"):
        given = np.array(shares[: question.no_answer])
        scores = np.arange(1, len(given) + 1)
        assert mean == pytest.approx(given @ scores / given.sum() if given.sum() > 1e-9 else scores.mean(), abs=1e-5)


@pytest.mark.parametrize("name", ["joint", "joint of several", "joint, hidden"])
def test_the_cells_of_a_joint_field_add_up_to_what_its_questions_show(name: str) -> None:
    made = make_survey([name])
    for _ in range(TIMES):
        document = drawn_results(made, 25)
        for place, part in enumerate(document.questions):
            for line in part.estimates:
                if line.kind != "mean":
                    held = sum(one.estimate for one in document.joint[0].estimates if one.options[place] == line.option)
                    assert held == pytest.approx(line.estimate, abs=1e-6)


def crossed(made: Survey, rows: Bits, left: str, right: str) -> Crosstab:
    found = make_crosstab(made, tallied(made, rows), [rows], left, right, Options())
    assert isinstance(found, Crosstab)
    return found


@pytest.mark.parametrize(
    ("fields", "pair"),
    [
        (["joint"], ("q0a", "q0b")),
        (["coin", "one of three"], ("q0a", "q1a")),
        (["two of four", "optional points"], ("q0a", "q1a")),
        (["joint of several", "coin"], ("q0a", "q1a")),
    ],
)
def test_a_cross_tab_shows_the_margins_of_the_results(fields: list[str], pair: tuple[str, str]) -> None:
    """And of its cells its rows, and of those their differences."""
    made, rng = make_survey(fields), np.random.default_rng()
    for _ in range(TIMES):
        rows = answered_by(made, 30, rng)
        shown = {part.id: part.estimates for part in results(made, tallied(made, rows)).questions}
        table = crossed(made, rows, *pair)
        for place, name in enumerate(pair):
            for line in shown[name]:
                if line.kind != "mean":
                    held = sum(cell.estimate for cell in table.estimates if cell.options[place] == line.option)
                    assert held == pytest.approx(line.estimate, abs=1e-5)
        cells = {line.options: line.estimate for line in table.estimates}
        within = {line.options: line.estimate for line in table.within_rows}
        for (row, column), share in within.items():
            held = sum(cells[row, other] for other in table.column_options)
            assert share == pytest.approx(cells[row, column] / held if held else 0.5)
        for line in table.differences:
            first = within[table.row_options[0], line.options[1]]
            assert line.estimate == pytest.approx(within[line.options[0], line.options[1]] - first)


def test_a_question_shows_the_same_whatever_it_was_randomized_with() -> None:
    """Margins come first: 5% yes beside 20 options, ε 2, 500 reports, would be 21% on average if cells were projected and
    added up. (The mean of 200 surveys has a standard error of 1%.)
    """
    mechanism = mechanism_choice.make_subset(40, 1, Decimal(2))
    made = survey(define([yes_no("a"), choice("b", options=20)], [field(publish(mechanism), "a", "b")]))
    p, q = float(mechanism.p), float(mechanism.q)
    cells = np.outer([0.95, 0.05], 1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum()).ravel()
    counts = np.random.default_rng().multinomial(500, q + (p - q) * cells, size=200)
    shown = [results(made, Tally(500, one)).questions[0].estimates[1] for one in counts]
    clipped = [min(max(line.unbiased or 0.0, 0.0), 1.0) for line in shown]
    assert [line.estimate for line in shown] == pytest.approx(clipped, abs=1e-5)
    added = project((counts / 500 - q) / (p - q))[:, 20:].sum(axis=1).mean()
    assert added == pytest.approx(0.21, abs=0.05)
    assert np.mean(clipped) == pytest.approx(0.09, abs=0.05)


def test_no_point_lies_outside_its_interval() -> None:
    """So that this could fail: points that all lie in the middle would."""
    outside = far = total = 0
    for name in ("one of three", "two of four", "joint", "sets", "points"):
        made = make_survey([name])
        for _ in range(60):
            for part in drawn_results(made, 40).questions:
                for line in part.estimates:
                    total += 1
                    outside += not line.low - 1e-6 <= line.estimate <= line.high + 1e-6
                    far += not line.low <= (0.5 if line.kind != "mean" else 2.0) <= line.high
    assert outside == 0 and far / total > 0.01


def test_cells_of_rare_answers_stretch_their_intervals_in_some_two_percent() -> None:
    """Three yes or no of 5% each in one field, ε 2, 650 reports: the price of margins that come first."""
    mechanism = mechanism_choice.make_subset(8, 1, Decimal(2))
    made = survey(define([yes_no("a"), yes_no("b"), yes_no("c")], [field(publish(mechanism), "a", "b", "c")]))
    yes = np.array([0.95, 0.05])
    cells = np.multiply.outer(np.outer(yes, yes), yes).ravel()
    chances = float(mechanism.q) + float(mechanism.p - mechanism.q) * cells
    shown = [
        (cell.estimate, line)
        for counts in np.random.default_rng().multinomial(650, chances, size=150)
        for cell, line in zip(
            joint_cells(next(evidence_of(made, Tally(650, counts))), made.questions, Options()),
            results(made, Tally(650, counts)).joint[0].estimates,
            strict=True,
        )
    ]
    outside = [not one.interval.low - 1e-6 <= one.estimate <= one.interval.high + 1e-6 for one, _ in shown]
    assert 0.002 < np.mean(outside) < 0.06
    assert all(line.low <= line.estimate <= line.high for _, line in shown)


def test_many_options_and_few_reports_are_said_to_lower_the_points() -> None:
    made = survey(define([choice(options=100)], [field(subset(100, 1, 2**61), "help")]))
    counts = np.full(100, 8)
    assert results(made, Tally(800, counts)).questions[0].lowered == 0
    counts[::2], counts[1::2] = 3, 13
    counts[7] = 50
    part = results(made, Tally(int(counts.sum()), counts)).questions[0]
    leading = part.estimates[7]
    assert leading.unbiased is not None
    assert part.lowered == pytest.approx(leading.unbiased - leading.estimate)
    assert part.lowered > 0.03


def test_the_leading_of_many_options_is_displayed_too_low_and_this_is_said() -> None:
    """100 options, ε 1, 1,000 reports: 30% shows as 25% on average; a mean of 30 surveys errs by less than 1%."""
    mechanism = mechanism_choice.make_subset(100, 27, Decimal(1))
    made, rng = survey(define([choice(options=100)], [field(publish(mechanism), "help")])), np.random.default_rng()
    shares = np.full(100, 0.7 / 99)
    shares[0] = 0.3
    parts = [
        results(made, tallied(made, np.concatenate(list(reports(made, {"help": said}, rng))))).questions[0]
        for said in rng.choice(100, (30, 1000), p=shares)
    ]
    assert np.mean([part.estimates[0].estimate for part in parts]) == pytest.approx(0.25, abs=0.04)
    assert np.mean([part.estimates[0].unbiased or 0 for part in parts]) == pytest.approx(0.3, abs=0.06)
    assert np.mean([part.lowered for part in parts]) == pytest.approx(0.05, abs=0.03)


# ratios


def test_ratios_do_not_call_themselves_unbiased() -> None:
    made = make_survey(["optional points", "coin"])
    rows = answered_by(made, 60, np.random.default_rng())
    document = msgspec.to_builtins(results(made, tallied(made, rows)))
    points_part, coin = document["questions"]
    for line in [*points_part["answered"], points_part["estimates"][-1]]:
        assert line["unbiased"] is None
        assert line["raw"] is None or isinstance(line["raw"], float)
    for line in [*points_part["estimates"][:-1], *coin["estimates"]]:
        assert isinstance(line["unbiased"], float)
        assert "raw" not in line
    table = msgspec.to_builtins(crossed(made, rows, "q1a", "q0a"))
    assert all("raw" not in line for line in table["estimates"])
    assert all("raw" in line and line["unbiased"] is None for line in (*table["within_rows"], *table["differences"]))


# groups


def study(counts: list[list[int]], definition: dict[str, Any], weights: list[float] | None = None) -> Study:
    members = [
        (survey(definition | {"slug": f"group-{i}"}), Tally(max(sum(one), 100), np.array(one)))
        for i, one in enumerate(counts)
    ]
    given = dict(zip((made.slug for made, _ in members), weights or [1.0] * len(members), strict=True))
    return compare_groups(members, Options(), given)


def test_a_weighted_sum_is_clipped_once() -> None:
    """Ten groups of 100 whose unbiased shares are −10% and 12%: the whole is 1%, not 6%."""
    made = define([yes_no()], [field(COIN, "cheated")])
    found = study([[20], [31]] * 5, made)
    assert found.total
    yes = found.total.questions[0].estimates[1]
    assert yes.unbiased == pytest.approx(0.01)
    assert yes.estimate == pytest.approx(0.01)


def test_a_difference_of_groups_is_that_of_the_shares_beside_it() -> None:
    """Unbiased 12% and −10%, shown 12.0% and 0.0%: the difference beside them is 12 points, and 22 without bias."""
    found = study([[20], [31]], define([yes_no()], [field(COIN, "cheated")]))
    gap = found.differences[0].questions[0].estimates[1]
    assert (gap.unbiased, gap.estimate) == pytest.approx((0.22, 0.12))
    assert gap.low <= gap.estimate <= gap.high


def test_the_points_of_all_groups_together_sum_to_one_and_give_the_mean() -> None:
    made = define([scale()], [field(subset(3, 1), "fair")])
    found = study([[95, 3, 2], [10, 0, 90], [40, 0, 60]], made, [1, 1, 2])
    assert found.total
    *shares, mean = (line.estimate for line in found.total.questions[0].estimates)
    assert sum(shares) == pytest.approx(1)
    assert mean == pytest.approx(np.dot(shares, [1, 2, 3]))
    unbiased = [line.unbiased for line in found.total.questions[0].estimates[:3]]
    assert shares[1] == 0 > (unbiased[1] or 0)
    lowered = [(value or 0) - share for value, share in zip(unbiased, shares, strict=True)]
    assert lowered[0] == pytest.approx(lowered[2])  # one projection, of the sums


def test_groups_are_tested_all_at_once() -> None:
    """Where all were randomized alike and each report names one symbol; not a multiple, not several symbols at once."""
    questions = [yes_no(), scale(), choice(options=4), multiple(options=2)]
    fields = [
        field(COIN, "cheated"), field(subset(3, 1), "fair"), field(subset(4, 2), "help"), field(subset(4, 1), "used"),
    ]  # fmt: skip
    same, other = ([40, 50, 30, 20, 60, 50, 50, 40, 40, 20, 20, 20], [90, 10, 10, 80, 60, 50, 50, 40, 40, 20, 20, 20])
    members = [
        (survey(define(questions, fields, slug=slug)), Tally(100, np.array(counts)))
        for slug, counts in (("a", same), ("b", same), ("c", other))
    ]
    found = compare_groups(members, Options())
    assert [one.id for one in found.tests] == ["cheated", "fair"]
    assert all(one.test.p_value < 1e-6 and one.test.method == "chi_square" for one in found.tests)
    assert [one.test.df for one in found.tests] == [2, 4]
    assert {round(one.test.p_value, 6) for one in compare_groups(members[:2], Options()).tests} == {1.0}
    other_coin = {"kind": "flip", "one": str(5 * 2**61), "zero": str(2**61)}
    unlike = survey(define(questions, [field(other_coin, "cheated"), *fields[1:]], slug="d"))
    mixed = compare_groups([members[0], (unlike, members[1][1])], Options())
    assert [one.id for one in mixed.tests] == ["fair"]
