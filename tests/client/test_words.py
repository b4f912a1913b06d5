"""What a person reads about bits."""

import pytest

from client.definition import Field
from client.words import describe, digit_label, odds_sentence, said, symbol_label
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


def one(definition_field: dict[str, object], *questions: dict[str, object]) -> Field:
    return survey(define(list(questions), [definition_field])).fields[0]


HOURS = number(max=60, unit="h", levels=3)


@pytest.mark.parametrize(
    ("field_", "bits", "said"),
    [
        (one(field(COIN, "cheated"), yes_no()), 1, "yes"),
        (one(field(COIN, "cheated"), yes_no()), 0, "no"),
        (one(field(subset(4, 2), "fair"), scale(optional=True)), 0b1001, "Disagree or no answer"),
        (one(field(drawn(4, 2), "used"), multiple(optional=True)), 0b01000010, "item 0: yes, no answer: no"),
        (one(field(subset(8, 1), "used"), multiple()), 0b00000100, "{item 0, item 2}"),
        (one(field(subset(3, 1), "hours"), HOURS), 0b010, "30 h"),
        (one(field(subset(3, 1), "hours"), number(bins=3)), 0b100, "0 to 2"),
        (one(field(subset(7, 1), "hours"), number(bins=7)), 0b1000000, "0"),
        (one(field(geometric(3), "hours"), HOURS), 0b001, "60 h"),
        (one(field(subset(6, 1), "cheated", "fair"), yes_no(), scale()), 0b000001, "yes + Agree"),
        (one(field(subset(2, 1), "hours"), number(max="0.7", step="0.1", levels=2)), 0b01, "0.7"),
    ],
)
def test_bits_in_words(field_: Field, bits: int, said: str) -> None:
    assert describe(field_, bits) == said


def test_every_number_lies_in_the_bin_that_names_it() -> None:
    question = one(field(subset(4, 1), "hours"), number(max=10, bins=4)).questions[0]
    labels = [digit_label(question, i * 4 // 11) for i in range(11)]
    assert labels == ["0 to 2"] * 3 + ["3 to 5"] * 3 + ["6 to 8"] * 3 + ["9 to 10"] * 2


def test_joint_symbols_are_mixed_radix() -> None:
    joint = one(field(subset(6, 1), "cheated", "fair"), yes_no(), scale())
    assert [symbol_label(joint, i) for i in (0, 2, 3)] == ["no + Disagree", "no + Agree", "yes + Disagree"]


def test_joint_symbols_are_possible_combinations() -> None:
    joint = one(
        field(subset(4, 1), "cheated", "why"),
        yes_no(),
        choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]}),
    )
    said = ["no + no answer", "yes + option 0", "yes + option 1", "yes + no answer"]
    assert [symbol_label(joint, i) for i in range(4)] == said


def test_odds_in_words() -> None:
    coin = one(field(COIN, "cheated"), yes_no())
    assert odds_sentence(coin) == "of 100 people with yes, about 75 devices send yes; of 100 with no, about 25 do"
    five = one(field(subset(4, 1), "fair"), scale(optional=True))
    assert odds_sentence(five) == (
        "of 1,000 people who gave an answer, about 750 devices name it; of 1,000 who gave another, about 83 do"
    )
    weak = one(field({"kind": "flip", "one": str(2**64 - 2**50), "zero": str(2**50)}, "cheated"), yes_no())
    assert odds_sentence(weak) == (
        "of 1,000,000 people with yes, about 999,939 devices send yes; of 1,000,000 with no, about 61 do"
    )
    some = one(field(drawn(4, 2), "used"), multiple(optional=True))
    assert odds_sentence(some).startswith("reports on 2 of 4 options, drawn at random; of 100 people who chose")
    many = one(field(subset(40, 39, 2**64 - 1), "hours"), number(max=39, bins=40))
    assert describe(many, 2**40 - 2).endswith("11 or 27 more")
    noisy = one(field(geometric(3, 2**63), "hours"), HOURS)
    assert odds_sentence(noisy) == (
        "random noise is added, on about every second device at least 30 h; what leaves the range is cut there"
    )
    calm = one(field(geometric(3, 2**62), "hours"), HOURS)
    assert "on more than half of all devices it leaves the number as it is" in odds_sentence(calm)


def test_numbers_are_spelled_exactly() -> None:
    fine = one(field(subset(2, 1), "hours"), number(min="-1234567.5", max="7654321.25", step="0.25", levels=2))
    assert [describe(fine, bits) for bits in (0b10, 0b01)] == ["-1234567.5", "7654321.25"]
    assert said(fine, {"hours": 3}) == "-1234566.75"
    thirds = one(field(subset(4, 1), "hours"), number(min=-1, max=0, step="0.01", levels=4))
    assert [describe(thirds, 8 >> level) for level in range(4)] == ["-1", "-0.66667", "-0.33333", "0"]
    wide = one(field(subset(2, 1), "hours"), number(max=2**31 - 1, bins=2))
    assert describe(wide, 0b10) == "0 to 1073741823"
