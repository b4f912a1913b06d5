"""Answers become indices exactly, or are refused; hidden questions say nothing."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor_client import randomize
from candor_client.answer import encode, index_of
from candor_client.errors import AnswerError
from tests.answers import EVERYTHING, GOOD
from tests.definitions import define, field, number, subset, survey, worked_example


def test_every_type_becomes_its_index() -> None:
    assert encode(survey(EVERYTHING), GOOD) == {
        "cheated": 1, "help": 2, "fair": 2, "used": 0b101, "hours": 12, "price": 3 * 3 // 11,
        "why": 1, "sure": 0, "shared": 1,
    }  # fmt: skip


def test_no_answer_is_the_last_symbol() -> None:
    indices = encode(survey(EVERYTHING), GOOD | {"help": None, "shared": None})
    assert (indices["help"], indices["shared"]) == (3, 2)
    assert encode(survey(EVERYTHING), {key: GOOD[key] for key in GOOD if key != "help"})["help"] == 3


def test_a_hidden_question_and_what_depends_on_it_say_nothing() -> None:
    indices = encode(survey(EVERYTHING), GOOD | {"cheated": False})
    assert (indices["why"], indices["sure"]) == (2, 2)
    indices = encode(survey(EVERYTHING), GOOD | {"why": "option 0", "used": ["item 1"]})
    assert (indices["why"], indices["sure"], indices["shared"]) == (0, 2, 2)


def test_a_number_without_an_answer_lies_beyond_its_grid() -> None:
    parsed = survey(define([number(optional=True)], [field(subset(3, 1), "hours")]))
    assert encode(parsed, {"hours": None}) == {"hours": 7}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("cheated", None), ("cheated", 1), ("cheated", "maybe"), ("cheated", "Yes"), ("cheated", []),
        ("help", "option 9"), ("help", 2), ("help", ""), ("help", ["option 1"]), ("help", True),
        ("fair", None), ("fair", 3), ("fair", "agree"),
        ("used", None), ("used", "item 0"), ("used", ["item 9"]), ("used", ["item 0", "item 0"]), ("used", [0]),
        ("used", {"item 0": 1}), ("used", b"item 0"), ("used", [["item 0"]]),
        ("hours", None), ("hours", 61), ("hours", -1), ("hours", "12.5"), ("hours", 12.5), ("hours", True),
        ("hours", "0x10"), ("hours", "1_000"), ("hours", "١٢"), ("hours", "1e1"), ("hours", " 5"), ("hours", ""),
        ("hours", float("nan")), ("hours", float("inf")), ("hours", Decimal("NaN")), ("hours", 10**30), ("hours", [5]),
        ("hours", 2 + 0j), ("hours", 60.0000001), ("hours", -0.0000001),
        ("price", "0.3"), ("price", 2.25), ("price", "-0.75"), ("price", "0.2500001"),
        ("nobody", 1), (7, 1), (None, 1),
    ],
)  # fmt: skip
def test_bad_answers_are_named_and_draw_nothing(name: Any, bad: Any) -> None:
    with pytest.raises(AnswerError) as refusal:
        randomize(survey(EVERYTHING), GOOD | {name: bad}, random_bytes=lambda count: pytest.fail("drew bytes"))
    assert refusal.value.path == str(name)


@pytest.mark.parametrize("missing", ["cheated", "fair", "used", "hours", "price"])
def test_a_missing_answer_is_an_error(missing: str) -> None:
    with pytest.raises(AnswerError, match=f"{missing}: an answer is missing"):
        randomize(survey(EVERYTHING), {key: GOOD[key] for key in GOOD if key != missing})


def test_a_bad_answer_to_a_hidden_question_is_still_an_error() -> None:
    with pytest.raises(AnswerError):
        encode(survey(EVERYTHING), GOOD | {"cheated": False, "why": "option 9"})


@pytest.mark.parametrize("answer", [12, "12", "12.0", "012", "+12", 12.0, Decimal(12), Decimal("12.00")])
def test_numbers_go_through_decimal_text(answer: Any) -> None:
    assert encode(survey(worked_example()), {"cheated": True, "help": None, "hours": answer})["hours"] == 12


@pytest.mark.parametrize(("answer", "index"), [(0.1, 1), (0.3, 3), ("0.7", 7), (1.1, 11), (-0.2, -2)])
def test_no_binary_float_moves_a_number(answer: Any, index: int) -> None:
    question = survey(define([number(min=-1, max=2, step="0.1", levels=2)], [field(subset(2, 1), "hours")])).questions[
        0
    ]
    assert index_of(question, answer) == index + 10


@given(st.integers(0, 1000), st.sampled_from(["0.001", "0.01", "0.5", 1, 3, "2.5"]), st.sampled_from([0, -7, "0.125"]))
def test_every_point_of_every_grid_has_its_index(i: int, step: Any, low: Any) -> None:
    highest = Decimal(low) + 1000 * Decimal(step)
    spelled: Any = int(highest) if highest == int(highest) else f"{highest.normalize():f}"
    question = survey(define([number(min=low, max=spelled, step=step)], [field(subset(2, 1), "hours")])).questions[0]
    assert question.steps == 1000
    assert index_of(question, f"{Decimal(low) + i * Decimal(step):f}") == i
