"""What a row of bits tells a reader: by Bayes from the integers, never beyond ε, and as often as theory says."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from candor_client.definition import Survey
from survey_app.assure.posterior_attack import simulate_attack, suspicions
from survey_app.assure.simulation import devices
from survey_app.channels import channel_of
from survey_app.channels.posterior import posterior_bound, update_odds
from survey_app.tally import stack_reports
from tests import reference
from tests.definitions import COIN, choice, define, drawn, field, geometric, multiple, number, subset, survey, yes_no

FAR = 5.5  # standard errors: four numbers together raise a false alarm with chance below 1e-6
TWENTIETH = Fraction(1, 20)
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "flip": (yes_no("a"), COIN),
    "subset": (choice("a", 4), subset(4, 2)),
    "drawn": (multiple("a"), drawn(3, 2)),
    "drawn or nothing": (multiple("a", optional=True), drawn(4, 2)),
    "geometric": (number("a", max=6, levels=7), geometric(7)),
}


def answers(question: dict[str, Any]) -> list[Any]:
    """What can be said, in the order of symbols."""
    options = question.get("options", [])
    if question["type"] == "multiple":
        sets: list[Any] = [[one for i, one in enumerate(options) if mask >> i & 1] for mask in range(2 ** len(options))]
        return [*sets, None] if question.get("optional") else sets
    return options or ([False, True] if question["type"] == "yes_no" else [*range(7)])


def one(kind: str) -> tuple[Survey, list[dict[str, Fraction]]]:
    """A survey of one question, and for every answer the chance of each row of bits, by the literal reading."""
    question, mechanism = KINDS[kind]
    made = define([question], [field(mechanism, "a")], epsilon=10)
    return survey(made), [reference.distribution(made, {"a": answer}) for answer in answers(question)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_row_says_of_each_answer_is_what_the_devices_do(kind: str) -> None:
    made, exact = one(kind)
    channel = channel_of(made.fields[0].mechanism)
    for bits in {bits for chances in exact for bits in chances}:
        told = channel.likelihood(int(bits, 2))
        seen = [chances.get(bits, Fraction(0)) for chances in exact]
        ratios = {round(float(chance / told[symbol] / seen[0] * told[0]), 9) for symbol, chance in enumerate(seen)}
        assert ratios == {1.0}, bits


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_moves_a_suspicion_beyond_epsilon(kind: str) -> None:
    made, exact = one(kind)
    part = made.fields[0]
    rows = {int(bits, 2) for chances in exact for bits in chances}
    after = [found.after for bits in rows for found in suspicions(part, bits, TWENTIETH)]
    bound = posterior_bound(1 / 20, float(part.mechanism.epsilon))
    assert max(after) <= bound + 1e-12
    assert min(after) < TWENTIETH < max(after)


def test_a_suspicion_of_one_in_twenty_becomes_three_in_twenty_two_by_two_coins() -> None:
    part = one("flip")[0].fields[0]
    no, yes = suspicions(part, 1, TWENTIETH)
    assert (no.answer, no.after) == ("no", Fraction(1, 58))
    assert (yes.answer, yes.after) == ("yes", Fraction(3, 22))
    assert float(yes.after) == pytest.approx(posterior_bound(1 / 20, math.log(3))), "as far as ε allows"
    assert update_odds(Fraction(1, 2), Fraction(1)) == Fraction(1, 2)


def test_what_was_not_asked_stays_as_it_was() -> None:
    made, _ = one("drawn")
    part, labels = made.fields[0], made.questions[0].labels
    assert {found.after for found in suspicions(part, None, TWENTIETH)} == {TWENTIETH}
    asked_two = {found.answer: found.after for found in suspicions(part, 0b011000, TWENTIETH)}
    assert asked_two[labels[2]] == TWENTIETH, "options 0 and 1 were asked, 0: yes, 1: no"
    assert asked_two[labels[0]] > TWENTIETH > asked_two[labels[1]]


def test_two_questions_in_one_field_are_suspected_one_by_one() -> None:
    made = survey(define([yes_no("a"), yes_no("b")], [field(subset(4, 1), "a", "b")], epsilon=10))
    told = {(found.question.id, found.answer): found.after for found in suspicions(made.fields[0], 0b0010, TWENTIETH)}
    assert told["a", "yes"] == told["b", "no"] == update_odds(TWENTIETH, Fraction(5))  # (3/4 + 1/12) : (1/12 + 1/12)
    assert told["a", "no"] == told["b", "yes"] == update_odds(TWENTIETH, Fraction(1, 5))


def test_the_likeliest_is_guessed_from_the_bits_and_the_commonest_without() -> None:
    made = survey(define([yes_no()], [field(COIN, "cheated")]))
    people = np.array([1] * 4 + [0] * 6)
    sent = [1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    (found,) = simulate_attack(made, {"cheated": people}, stack_reports([bytes([bit << 7]) for bit in sent]))
    assert (found.asked, found.correct, found.baseline_correct) == (10, 7, 6)
    low, high = found.interval
    assert low == pytest.approx(0.3475, abs=1e-4) and high == pytest.approx(0.9333, abs=1e-4)  # of 7 in 10
    (rare,) = simulate_attack(
        made, {"cheated": np.array([1] + [0] * 9)}, stack_reports([bytes([bit << 7]) for bit in sent])
    )
    assert (rare.correct, rare.baseline_correct) == (9, 9), (
        "one in ten stays less likely than not: the bits change no guess"
    )


def test_a_number_is_guessed_by_how_its_device_rounds_it() -> None:
    """Of 0, 15 and 60, sent as 0 h or 60 h: 15 is rounded up once in four times."""
    made = survey(define([number(max=60, levels=2)], [field(subset(2, 1), "hours")]))
    people = np.array([0] * 2 + [15] * 5 + [60] * 4)
    rows = stack_reports([b"\x80"] * 7 + [b"\x40"] * 4)
    (found,) = simulate_attack(made, {"hours": people}, rows)
    # sent 0 h: 2·3/4 = 1.5, 5·(3/4·3/4 + 1/4·1/4) = 3.1, 4·1/4 = 1; sent 60 h: 0.5, 5·(3/4·1/4 + 1/4·3/4) = 1.9, 3
    assert (found.correct, found.baseline_correct) == (5 + 4, 5)


def test_the_attack_is_right_as_often_as_theory_says_if_it_knows_whose_row_it_is_and_not_otherwise() -> None:
    made = survey(define([yes_no("a"), yes_no("b")], [field(COIN, "a"), field(COIN, "b")], ask=1, epsilon=2))
    rng = np.random.default_rng()
    count = 20_000
    people = {name: np.arange(count) % 2 for name in ("a", "b")}
    rows = np.concatenate(list(devices.reports(made, people, rng)))
    for found in simulate_attack(made, people, rows):
        assert abs(found.correct / found.asked - 3 / 4) < FAR * math.sqrt(3 / 16 / found.asked)
        assert 9_000 < found.asked < 11_000
    for found in simulate_attack(made, people, rng.permutation(rows)):  # as on the disk: rows without names
        assert abs(found.correct / found.asked - 1 / 2) < FAR * math.sqrt(1 / 4 / found.asked)
