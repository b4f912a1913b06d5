"""Descriptions of bits and symbols, so that a respondent can see what is sent and how it is protected."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

from candor_client.answer import unanswered
from candor_client.definition import Field
from candor_client.mechanisms import EXACT, Geometric, Mechanism
from candor_client.mechanisms import share as share
from candor_client.question import NO_ANSWER as NO_ANSWER
from candor_client.question import Question
from candor_client.types import type_of
from candor_client.types.number import bin_range as bin_range
from candor_client.types.number import level_value as level_value
from candor_client.types.number import spell as spell

SUSPICION = 20  # a prior suspicion of one in so many, as in docs/methods.md §13
MOST_PEOPLE = 10**9  # a chance that needs more people to show a doubt is called certainty
NEARLY = Decimal("1e-12")  # so that an error in the fiftieth digit of three quarters is not rounded up


def describe(field: Field, bits: int) -> str:
    """Return a description of the bits of a field: "no", "notes or phone", "phone: yes"."""
    return field.mechanism.describe(field, bits)


def format_answers(field: Field, indices: Mapping[str, int]) -> str:
    """Return the respondent's answers to the questions of a field, before any rounding."""
    return " + ".join(_answer_label(question, indices[question.id]) for question in field.questions)


def split_by_question(field: Field, bits: int) -> list[tuple[Field, str]]:
    """Return the parts of a field with the text that is sent for each.

    A joint field is split by question if its bits name one combination of answers; any other field is one part.
    """
    symbol = field.mechanism.named_symbol(bits)
    if symbol is None or not field.joint:
        return [(field, describe(field, bits))]
    pairs = zip(field.questions, field.cells[symbol], strict=True)
    return [(replace(field, questions=(question,)), digit_label(question, digit)) for question, digit in pairs]


def _answer_label(question: Question, index: int) -> str:
    return NO_ANSWER if index == unanswered(question) else type_of(question.type).answer_label(question, index)


def symbol_label(field: Field, symbol: int) -> str:
    """Return the label of a symbol of a field; for a joint field, the labels of each question."""
    return field.label(symbol)


def digit_label(question: Question, symbol: int) -> str:
    """Return the label of a symbol of a question."""
    return question.label(symbol)


def median_noise(question: Question, mechanism: Geometric) -> Fraction:
    """Return the noise that about every second device exceeds or equals.

    It is zero if more than half of all devices send the number unchanged.
    """
    return mechanism.median_noise(question)


def blind_draw(mechanism: Mechanism) -> tuple[int, int] | None:
    """Return a number of people, and how many of their devices send the truth.

    All other devices draw uniformly from all cells, including the true one.
    Return None if no such draw describes the mechanism.
    """
    return mechanism.blind_draw()


def least_odds_against(before: Decimal, epsilon: Decimal) -> Decimal:
    """Return the least possible odds against a suspicion after a report: the odds before, divided by e^ε."""
    return before / epsilon.exp()


def posterior_in_hundred(suspicion: int, epsilon: Decimal) -> tuple[int, int]:
    """Return the most that a suspicion of one in `suspicion` can become, as cases and people.

    The odds grow by a factor of at most e^ε. The result is rounded up.
    """
    with localcontext(EXACT):
        return round_up_chance(1 / (1 + least_odds_against(Decimal(suspicion - 1), epsilon)))


def round_up_chance(chance: Decimal) -> tuple[int, int]:
    """Return a chance as cases and people, rounded up.

    The number of people is 100, or more if 100 would leave no doubt. Equal numbers mean practical certainty.
    """
    with localcontext(EXACT):
        people = 100
        while people <= MOST_PEOPLE:
            cases = int((people * chance - NEARLY).to_integral_value("ROUND_CEILING"))
            if cases < people:
                return cases, people
            people *= 10
    return 1, 1


def explain(field: Field) -> str:
    """Return an explanation of a field: how its numbers are rounded, and how the mechanism randomizes them."""
    rounding = [type_of(question.type).rounding_sentence(question) for question in field.questions]
    return "; ".join([*filter(None, rounding), odds_sentence(field)])


def odds_sentence(field: Field) -> str:
    """Return a sentence on how the device randomizes an answer, with numbers."""
    return field.mechanism.odds_sentence(field)
