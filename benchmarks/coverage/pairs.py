"""Pairs of questions: cells, shares within rows and their differences, also under strong association; and tests.

A test of independence is listed like an interval: it covers if it does not reject independent answers at 5%.
So its size is one minus the coverage.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product

import numpy as np

from benchmarks.coverage.finders import find_in_crosstab, find_p_value
from benchmarks.coverage.study import Case, People, PopulationTruth, make_survey
from benchmarks.coverage.truths import (
    CLOPPER_PEARSON,
    MOVER,
    SCORE,
    choice,
    draw_independently,
    draw_jointly,
    scale,
    yes_no,
)
from candor_client.definition import Survey
from survey_app.authoring import mechanism_choice
from survey_app.kinds.planning_assumptions import Indices

Table = Sequence[Sequence[float]]
PARTS = ("cells", "within", "differences")
LEVEL = 0.05 + 1e-6  # a p-value of exactly 5% rejects


def ordinary_tables() -> Iterator[Case]:
    """Yield cases for cells, shares within rows and their differences, of two separate fields and of a joint field."""
    tables = {
        "independent": [[0.48, 0.32], [0.12, 0.08]],
        "together": [[0.6, 0.1], [0.1, 0.2]],
        "rare": [[0.85, 0.05], [0.05, 0.05]],
    }
    yield from _cases_of_tables(
        "two questions", tables, "two fields, 2 × 2, ε 1 each", _survey_of_flips("1", "1"), (500, 5000)
    )
    yield from _cases_of_tables(
        "two questions", tables, "two fields, 2 × 2, ε 3 each", _survey_of_flips("3", "3"), (100, 500)
    )
    flip, subset = mechanism_choice.make_flip(Decimal(1)), mechanism_choice.make_subset(2, 1, Decimal(1))
    mixed_survey = make_survey([yes_no(), yes_no("b")], [(flip, ["a"]), (subset, ["b"])])
    yield from _cases_of_tables("two questions", tables, "`flip` and `subset`, ε 1 each", mixed_survey, (1000,))
    yield from _cases_of_tables("two questions", tables, "joint field, ε 2", _survey_with_joint_flips("2"), (100, 1000))


def strong_association() -> Iterator[Case]:
    """Yield cases in which one answer decides the other, or almost: differences at ±1 and close to it."""
    tables = {
        "a is b": [[0.5, 0], [0, 0.5]],
        "a is b, rare": [[0.95, 0], [0, 0.05]],
        "a is not b": [[0, 0.5], [0.5, 0]],
        "rates 0.01 and 0.99": [[0.495, 0.005], [0.005, 0.495]],
        "rates 0.05 and 0.95": [[0.475, 0.025], [0.025, 0.475]],
    }
    settings = [
        ("two fields, ε 3 each", _survey_of_flips("3", "3"), (20, 300)),
        ("joint field, ε 4", _survey_with_joint_flips("4"), (50,)),
        ("joint field, ε 6", _survey_with_joint_flips("6"), (50, 300)),
        ("joint field, ε 8", _survey_with_joint_flips("8"), (100, 2000)),
    ]  # fmt: skip
    for name, survey, sizes in settings:
        yield from _cases_of_tables("strong association", tables, name, survey, sizes)


def _survey_of_flips(first: str, second: str) -> Survey:
    fields = [(mechanism_choice.make_flip(Decimal(first)), ["a"]), (mechanism_choice.make_flip(Decimal(second)), ["b"])]
    return make_survey([yes_no(), yes_no("b")], fields)


def _survey_with_joint_flips(epsilon: str) -> Survey:
    return make_survey([yes_no(), yes_no("b")], [(mechanism_choice.make_subset(4, 1, Decimal(epsilon)), ["a", "b"])])


def _cases_of_tables(
    pair: str, tables: Mapping[str, Table], name: str, survey: Survey, sizes: Sequence[int]
) -> Iterator[Case]:
    cells = CLOPPER_PEARSON if len(survey.fields) == 1 else SCORE
    for n, part in product(sizes, PARTS):
        truths = [
            PopulationTruth(title, (_true_figure(part, table),), draw_jointly(table)) for title, table in tables.items()
        ]
        method = {"cells": cells, "within": SCORE, "differences": MOVER}[part]
        find, effort = find_in_crosstab(part, "yes", "yes"), min(0.5, 500 / n)
        yield Case(f"{pair}, {part}", method, name, survey, n, find, truths, effort=effort, scan=True)


def _true_figure(part: str, table: Table) -> float:
    (a, b), (c, d) = table
    return {"cells": d, "within": d / (c + d), "differences": d / (c + d) - b / (a + b)}[part]


def two_options() -> Iterator[Case]:
    """Yield cases for two options of one question, estimated from the devices that were asked about both."""
    tables = {
        "independent": [[0.49, 0.21], [0.21, 0.09]],
        "never both": [[0.4, 0.3], [0.3, 0]],
        "rare": [[0.9, 0.04], [0.04, 0.02]],
    }
    for size, draw, e, n in ((3, 2, "2", 300), (5, 3, "3", 300), (5, 3, "3", 2000)):
        survey = make_survey(
            [choice(size, type="multiple")], [(mechanism_choice.make_drawn(size, draw, Decimal(e)), ["a"])]
        )
        for part in PARTS:
            truths = [
                PopulationTruth(title, (_true_figure(part, table),), _people_choosing(table))
                for title, table in tables.items()
            ]
            method = {"cells": CLOPPER_PEARSON, "within": SCORE, "differences": MOVER}[part]
            find = find_in_crosstab(part, "o0: yes", "o1: yes", rows="a:o0", columns="a:o1")
            setting = f"{draw} of {size} drawn, ε {e}"
            yield Case(f"two options, {part}", method, setting, survey, n, find, truths, effort=0.5, scan=True)


def _people_choosing(table: Table) -> People:
    """Return people who choose the first two options as in this table, and none of the others."""
    pairs = draw_jointly(table)

    def people(count: int, rng: np.random.Generator) -> dict[str, Indices]:
        answers = pairs(count, rng)
        return {"a": answers["a"] + 2 * answers["b"]}

    return people


EVEN, RARE, CONSTANT = "even", "rare", "constant"


def independence_tests() -> Iterator[Case]:
    """Yield cases of independent answers, in ordinary tables and in tables whose cells expect few reports."""
    separate_cases = [
        ("2 × 2, ε 3 each", _survey_of_two_fields(2, 2, "3"), 500),
        ("4 × 3, ε 3 each", _survey_of_two_fields(4, 3, "3"), 20),
        ("4 × 3, ε 3 each", _survey_of_two_fields(4, 3, "3"), 50),
        ("4 × 3, ε 5 each", _survey_of_two_fields(4, 3, "5"), 50),
        ("2 × 5, ε 3 each", _survey_of_two_fields(2, 5, "3"), 50),
        ("2 × 5, ε 5 each", _survey_of_two_fields(2, 5, "5"), 2000),
        ("8 × 5, w 2, ε 1 each", _survey_of_two_fields(8, 5, "1", weight=2), 50),
        ("8 × 5, w 2, ε 1 each", _survey_of_two_fields(8, 5, "1", weight=2), 500),
    ]  # fmt: skip
    joint_cases = [
        ("2 × 2, ε 2", _survey_of_joint_field(2, 2, "2"), 20), ("2 × 2, ε 2", _survey_of_joint_field(2, 2, "2"), 500),
        ("4 × 3, ε 8", _survey_of_joint_field(4, 3, "8"), 20), ("4 × 3, ε 3", _survey_of_joint_field(4, 3, "3"), 500),
    ]  # fmt: skip
    for pair, settings in (("two fields", separate_cases), ("joint field", joint_cases)):
        for setting, survey, n in settings:
            truths = [PopulationTruth(kind, (LEVEL,), _independent(survey, kind)) for kind in (EVEN, RARE, CONSTANT)]
            yield Case(
                f"test of independence, {pair}", "not rejected at 5%", setting, survey, n, find_p_value("a", "b"),
                truths, effort=0.5, scan=True,
            )  # fmt: skip


def _survey_of_two_fields(first: int, second: int, epsilon: str, weight: int = 1) -> Survey:
    mechanisms = [mechanism_choice.make_subset(size, weight, Decimal(epsilon)) for size in (first, second)]
    return make_survey([choice(first), scale(second, "b")], [(mechanisms[0], ["a"]), (mechanisms[1], ["b"])])


def _survey_of_joint_field(first: int, second: int, epsilon: str) -> Survey:
    cells = mechanism_choice.make_subset(first * second, 1, Decimal(epsilon))
    return make_survey([choice(first), scale(second, "b")], [(cells, ["a", "b"])])


def _independent(survey: Survey, kind: str) -> People:
    return draw_independently({question.id: _shares(len(question.labels), kind) for question in survey.questions})


def _shares(size: int, kind: str) -> list[float]:
    if kind == EVEN:
        return [1 / size] * size
    rest = 0.0 if kind == CONSTANT else 0.06
    return [1 - rest, *[rest / (size - 1)] * (size - 1)]
