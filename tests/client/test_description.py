"""What a person reads about bits."""

import re
from fractions import Fraction

import pytest

from candor_client.definition import Field
from candor_client.description import (
    blind_draw,
    describe,
    digit_label,
    format_answers,
    median_noise,
    odds_sentence,
    symbol_label,
)
from candor_client.mechanisms import Drawn, Flip, Geometric, Subset, parse, share
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
from tests.golden_files import Golden


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


WEAK = {"kind": "flip", "one": str(2**64 - 2**50), "zero": str(2**50)}
BLIND = {
    "coin": (one(field(COIN, "cheated"), yes_no()), ["50", "100", "yes", "no"]),
    "answers": (one(field(subset(4, 1), "fair"), scale(optional=True)), ["67", "100", "4"]),
    "weak": (one(field(WEAK, "cheated"), yes_no()), ["99,988", "100,000", "yes", "no"]),
    "joint": (one(field(subset(6, 1), "cheated", "fair"), yes_no(), scale()), ["70", "100", "6"]),
    "sets": (one(field(subset(8, 1), "used"), multiple()), ["72", "100", "8"]),
    "drawn": (one(field(drawn(4, 2), "used"), multiple(optional=True)), ["2", "4", "67", "100"]),
    "number": (one(field(subset(2, 1), "hours"), number(max=40, unit="years")), ["50", "100", "40 years", "0 years"]),
}


@pytest.mark.parametrize(("field_", "facts"), BLIND.values(), ids=BLIND)
def test_a_blind_draw_in_words(field_: Field, facts: list[str], golden: Golden) -> None:
    sentence = odds_sentence(field_)
    draw = blind_draw(field_.mechanism)
    assert draw is not None and all(f"{count:,}" in facts for count in draw)
    assert all(re.search(rf"\b{fact}\b", sentence) for fact in facts)
    golden(sentence)


def test_the_same_coin_by_another_name_has_the_same_words() -> None:
    assert odds_sentence(one(field(subset(2, 1), "cheated"), yes_no())) == odds_sentence(BLIND["coin"][0])


def test_odds_in_words_where_no_blind_draw_explains_them(golden: Golden) -> None:
    favours_yes = one(field({"kind": "flip", "one": str(3 * 2**62), "zero": str(2**63)}, "cheated"), yes_no())
    named = one(field(subset(4, 2), "fair"), scale(optional=True))
    for name, field_, counts in (("coin", favours_yes, (100, 75, 50)), ("set", named, (100, 75, 41))):
        mechanism, sentence = field_.mechanism, odds_sentence(field_)
        assert isinstance(mechanism, Flip | Subset)
        assert blind_draw(mechanism) is None and share(mechanism.p, mechanism.q) == counts
        assert [sentence.count(f" {count} ") for count in counts] == [2, 1, 1]
        golden(sentence, name)
    many = one(field(subset(40, 39, 2**64 - 1), "hours"), number(max=39, bins=40))
    assert describe(many, 2**40 - 2).endswith("11 or 27 more")


def test_noise_in_words(golden: Golden) -> None:
    for name, ratio, noise in (("noisy", 2**63, 30), ("calm", 2**62, 0)):
        field_ = one(field(geometric(3, ratio), "hours"), HOURS)
        assert isinstance(field_.mechanism, Geometric)
        assert median_noise(field_.questions[0], field_.mechanism) == noise
        assert ("30 h" in odds_sentence(field_)) == bool(noise)
        golden(odds_sentence(field_), name)


CELLS = [COIN, *(subset(size, 1, keep) for size in (2, 3, 4, 12, 60) for keep in (2**64 * 3 // 5, 2**64 - 2**54))]


@pytest.mark.parametrize("form", CELLS, ids=str)
def test_the_sentence_is_the_mechanism(form: dict[str, object]) -> None:
    """The truth with chance t, otherwise each of all cells alike, has the published chances to the last digit."""
    mechanism = parse(form, int(str(form.get("size", 2))), "")
    assert isinstance(mechanism, Flip | Subset)
    truth = mechanism.p - mechanism.q
    blindly = (1 - truth) / mechanism.size
    assert (truth + blindly, blindly) == (mechanism.p, mechanism.q)
    e = mechanism.odds
    assert truth == 1 / (1 + mechanism.size / (e - 1))  # 1/(1+tau)
    told = blind_draw(mechanism)
    assert told is not None
    people, cases = told
    assert truth <= Fraction(cases, people) < truth + Fraction(1, people)  # never fewer than there are
    assert people * (1 - truth) >= 10


@pytest.mark.parametrize("draw", [1, 2, 3])
def test_the_sentence_about_drawn_options_is_the_mechanism(draw: int) -> None:
    """Of an asked option, the truth with chance t, otherwise yes or no alike; and of all of them together."""
    mechanism = parse(drawn(5, draw, 2**64 * 2 // 3 + 2**62), 5, "")
    assert isinstance(mechanism, Drawn)
    truth = mechanism.p - mechanism.q
    assert (truth + (1 - truth) / 2, (1 - truth) / 2) == (mechanism.p, mechanism.q)
    kept = Fraction(mechanism.keep, 2**64)
    assert kept == truth + (1 - truth) / mechanism.sets
    assert blind_draw(mechanism) is not None


def test_numbers_are_spelled_exactly() -> None:
    fine = one(field(subset(2, 1), "hours"), number(min="-1234567.5", max="7654321.25", step="0.25", levels=2))
    assert [describe(fine, bits) for bits in (0b10, 0b01)] == ["-1234567.5", "7654321.25"]
    assert format_answers(fine, {"hours": 3}) == "-1234566.75"
    thirds = one(field(subset(4, 1), "hours"), number(min=-1, max=0, step="0.01", levels=4))
    assert [describe(thirds, 8 >> level) for level in range(4)] == ["-1", "-0.66667", "-0.33333", "0"]
    wide = one(field(subset(2, 1), "hours"), number(max=2**31 - 1, bins=2))
    assert describe(wide, 0b10) == "0 to 1073741823"
