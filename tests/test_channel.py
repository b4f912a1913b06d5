"""The plan's variances, against exact enumeration and published figures."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from client.definition import Question
from client.mechanism import Sampled, Subset
from survey_app.authoring import choose
from survey_app.channel import (
    bit_variance,
    geometric_variance,
    level_variance,
    sampled_variance,
    share_variance,
    union_variance,
)
from tests import reference
from tests.definitions import choice as choice_question
from tests.definitions import define, field, subset


@pytest.mark.parametrize(("size", "weight", "union"), [(4, 1, 2), (5, 2, 2), (6, 3, 3), (4, 2, 1)])
def test_union_variance_is_that_of_the_enumerated_bits(size: int, weight: int, union: int) -> None:
    definition = define([choice_question(options=size)], [field(subset(size, weight), "help")])
    share = Fraction(3, 10)
    mean = second = Fraction(0)
    for symbol, chance in ((0, share), (size - 1, 1 - share)):
        for row, probability in reference.distribution(definition, {"help": f"option {symbol}"}).items():
            count = row[:union].count("1")
            mean += chance * probability * count
            second += chance * probability * count**2
    made = Subset(size=size, weight=weight, keep=3 * 2**62)
    expected = (second - mean**2) / (made.p - made.q) ** 2
    assert union_variance(made, union, 0.3) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "levels", "worst"),
    [
        ("0.1", 2, 400.7),
        ("0.5", 2, 16.67),
        ("1", 2, 4.683),
        ("2", 3, 1.0),
        ("3", 4, 0.388),
        ("4", 5, 0.177),
        ("5", 7, 0.086),
    ],
)
def test_the_best_number_of_levels(epsilon: str, levels: int, worst: float) -> None:
    question = Question(id="x", type="number", text="x", max=Decimal(1000), levels=2)
    chosen = choose.choose([question], Decimal(epsilon))
    assert chosen.levels == (levels,)
    assert 4 * chosen.variance == pytest.approx(worst, rel=3e-3)


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_level_variance_is_the_worst_over_a_fine_grid(levels: int) -> None:
    made = choose.subset(levels, 1, Decimal("1.7"))
    p, q = float(made.p), float(made.q)
    grid = [2 * j / (levels - 1) - 1 for j in range(levels)]
    worst = 0.0
    for i in range(4001):
        t = i / 2000 - 1
        j = min(int((t + 1) / 2 * (levels - 1)), levels - 2)
        up = (t - grid[j]) / (grid[j + 1] - grid[j])
        square = up * grid[j + 1] ** 2 + (1 - up) * grid[j] ** 2
        worst = max(worst, ((p - q) * square + q * sum(v * v for v in grid)) / (p - q) ** 2 - t * t)
    assert level_variance(p, q, levels) == pytest.approx(worst, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "epsilon", "sampled_figure", "joint_figure", "winner"),
    [
        (2, "0.5", 8.26, 12.5, "sampled"),
        (2, "1", 2.26, 2.73, "sampled"),
        (2, "2", 0.78, 0.62, "subset"),
        (3, "2", 1.17, 1.23, "sampled"),
        (3, "3", 0.80, 0.46, "subset"),
        (4, "3", 1.06, 0.81, "subset"),
        (5, "1", 5.65, 28.5, "sampled"),
        (5, "3", 1.33, 1.71, "sampled"),
        (5, "4", 1.15, 0.60, "subset"),
    ],
)
def test_multiples_are_sampled_or_joint_by_their_variance(
    options: int, epsilon: str, sampled_figure: float, joint_figure: float, winner: str
) -> None:
    coins = choose.flip(Decimal(epsilon))
    drawn = Sampled(size=options, draw=1, one=coins.one, zero=coins.zero)
    assert sampled_variance(drawn, 0.3) == pytest.approx(sampled_figure, abs=0.006)
    cells = choose.categories(2**options, Decimal(epsilon))
    assert isinstance(cells, Subset)
    assert union_variance(cells, 2 ** (options - 1), 0.3) == pytest.approx(joint_figure, rel=0.01)
    question = Question(id="x", type="multiple", text="x", labels=tuple("abcde"[:options]))
    assert choose.choose([question], Decimal(epsilon)).mechanism.kind == winner


@pytest.mark.parametrize(
    ("epsilon", "size", "weight", "at_zero"),
    [("0.5", 5, 2, 9.75), ("0.5", 20, 8, 14.10), ("1", 3, 1, 1.259), ("1", 10, 3, 2.839), ("1", 100, 27, 3.590),
     ("3", 10, 1, 0.0771), ("3", 100, 5, 0.197), ("3", 1000, 47, 0.2181)],
)  # fmt: skip
def test_the_better_weight_and_its_published_variance(epsilon: str, size: int, weight: int, at_zero: float) -> None:
    chosen = choose.categories(size, Decimal(epsilon))
    assert isinstance(chosen, Subset)
    assert chosen.weight == weight
    assert bit_variance(chosen, 0) == pytest.approx(at_zero, rel=3e-3)


def test_unary_takes_over_where_it_is_within_a_percent() -> None:
    for epsilon in ("0.5", "1", "3"):
        border = math.ceil(50 * (math.exp(float(epsilon)) + 1) + 100)
        assert choose.categories(border - 1, Decimal(epsilon)).kind == "subset"
        chosen = choose.categories(border, Decimal(epsilon))
        assert chosen.kind == "unary"
        weights = (int(border / (math.exp(float(epsilon)) + 1)) + i for i in (0, 1))
        best = min(bit_variance(choose.subset(border, w, Decimal(epsilon)), 1 / border) for w in weights)
        assert bit_variance(chosen, 1 / border) <= 1.0101 * best


def test_symmetric_response_and_laplace_figures() -> None:
    """The source's designs: γ = ¼, n = 100, share .2 has sd .09539; Laplace on [−1, 1] has 8/ε²."""
    assert math.sqrt(share_variance(0.75, 0.25, 0.2) / 100) == pytest.approx(0.09539, abs=5e-6)
    made = choose.geometric(2001, Decimal(1))
    assert geometric_variance(made.ratio / 2**64, 2001, rounded=False) == pytest.approx(8, rel=1e-3)
