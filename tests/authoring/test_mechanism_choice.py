"""Which mechanism a question gets: the best one, with the published variance."""

from decimal import Decimal

import pytest

from candor_client.mechanisms import Drawn, Flip, Subset
from candor_client.question import Question
from candor_client.types import TypeName
from survey_app.authoring import mechanism_choice
from survey_app.authoring.mechanism_choice import bit_variance
from survey_app.channels.subset import SubsetChannel
from survey_app.plan.question_plan import make_question


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
    question = Question(id="x", type=TypeName.NUMBER, text="x", max=Decimal(1000), levels=2)
    chosen = mechanism_choice.choose([question], Decimal(epsilon))
    assert [one.levels for one in chosen.questions] == [levels]
    assert 4 * chosen.variance == pytest.approx(worst, rel=3e-3)


@pytest.mark.parametrize(
    ("options", "epsilon", "drawn_figure", "joint_figure", "winner"),
    [
        (2, "0.5", 8.26, 12.5, "drawn"),
        (2, "1", 2.26, 2.73, "drawn"),
        (2, "2", 0.78, 0.62, "subset"),
        (3, "2", 1.17, 1.23, "drawn"),
        (3, "3", 0.80, 0.46, "subset"),
        (4, "3", 1.06, 0.81, "drawn"),
        (5, "1", 5.65, 28.5, "drawn"),
        (5, "3", 1.33, 1.71, "drawn"),
        (5, "4", 1.15, 0.60, "drawn"),
    ],
)
def test_one_drawn_option_and_joint_sets_have_the_published_variances(
    options: int, epsilon: str, drawn_figure: float, joint_figure: float, winner: str
) -> None:
    drawn = mechanism_choice.make_drawn(options, 1, Decimal(epsilon))
    assert options * bit_variance(drawn, 0.3) == pytest.approx(drawn_figure, abs=0.006)
    cells = mechanism_choice.choose_subset(2**options, Decimal(epsilon))
    assert SubsetChannel(cells).union_variance(2 ** (options - 1), 0.3) == pytest.approx(joint_figure, rel=0.01)
    chosen = mechanism_choice.choose([multiple(options)], Decimal(epsilon))
    assert chosen.mechanism.kind == winner
    assert chosen.variance <= min(drawn_figure, joint_figure) * 1.01


@pytest.mark.parametrize(
    ("epsilon", "size", "weight", "at_zero"),
    [("0.5", 5, 2, 9.75), ("0.5", 20, 8, 14.10), ("1", 3, 1, 1.259), ("1", 10, 3, 2.839), ("1", 100, 27, 3.590),
     ("3", 10, 1, 0.0771), ("3", 100, 5, 0.197), ("3", 1000, 47, 0.2181)],
)  # fmt: skip
def test_the_better_weight_and_its_published_variance(epsilon: str, size: int, weight: int, at_zero: float) -> None:
    chosen = mechanism_choice.choose_subset(size, Decimal(epsilon))
    assert chosen.weight == weight
    assert bit_variance(chosen, 0) == pytest.approx(at_zero, rel=3e-3)


def multiple(options: int) -> Question:
    return Question(id="x", type=TypeName.MULTIPLE, text="x", labels=tuple(f"o{i}" for i in range(options)))


def test_one_bit_is_for_a_plain_yes_or_no_alone() -> None:
    """Two options are two symbols, of which each has a share that is asked for."""
    for question, kind in (
        (make_question("yes_no"), Flip),
        (make_question("yes_no", optional=True), Subset),
        (make_question("choice", options=2), Subset),
        (make_question("scale", options=2), Subset),
        (make_question("number", bins=2), Subset),
    ):
        assert isinstance(mechanism_choice.choose([question], Decimal(1)).mechanism, kind)
        assert isinstance(mechanism_choice.make_single(question, Decimal(1)), kind)


@pytest.mark.parametrize(
    ("epsilon", "respondents"), [("1", 17_374), ("2", 4_771), ("3", 2_374), ("4", 1_466), ("6", 758)]
)
def test_ten_options_of_which_the_best_number_is_drawn(epsilon: str, respondents: int) -> None:
    """A share of 30% to ±5 points, as published, rounded; one option a device: 6,008, 4,074, 3,004, 2,003 from ε = 2 on."""
    chosen = mechanism_choice.choose([multiple(10)], Decimal(epsilon))
    assert isinstance(chosen.mechanism, Drawn)
    assert round((1.959964 / 0.05) ** 2 * chosen.variance) == respondents


def test_where_all_options_would_be_drawn_all_sets_are_one_choice() -> None:
    """The same precision, and it tells which options go together."""
    for options, epsilon in ((2, "2"), (3, "3"), (3, "5")):
        assert isinstance(mechanism_choice.choose([multiple(options)], Decimal(epsilon)).mechanism, Subset)
