"""What bits and symbols say, in words, so that a person can see what is sent and what it protects."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction

from client.answer import unanswered
from client.definition import Field
from client.mechanisms import EXACT, Geometric, Mechanism
from client.mechanisms import share as share
from client.question import NO_ANSWER as NO_ANSWER
from client.question import Question
from client.types import type_of
from client.types.number import bin_range as bin_range
from client.types.number import level_value as level_value
from client.types.number import spell as spell

SUSPICION = 20  # someone thought: one in so many; the one that docs/methods.md §13 tells
MOST_PEOPLE = 10**9  # above that, a chance is called certainty
NEARLY = Decimal("1e-12")  # so that fifty digits of three quarters are not rounded up


def describe(field: Field, bits: int) -> str:
    """What the bits of a field say: "no", "notes or phone", "phone: yes"."""
    return field.mechanism.describe(field, bits)


def said(field: Field, indices: Mapping[str, int]) -> str:
    """What a person said to the questions of a field, before any rounding."""
    return " + ".join(_answer_label(question, indices[question.id]) for question in field.questions)


def _answer_label(question: Question, index: int) -> str:
    return NO_ANSWER if index == unanswered(question) else type_of(question.type).answer_label(question, index)


def symbol_label(field: Field, symbol: int) -> str:
    """The words for one symbol of a field; for a joint field, those of each question."""
    return field.label(symbol)


def digit_label(question: Question, symbol: int) -> str:
    """The words for one symbol of a question."""
    return question.label(symbol)


def away(question: Question, mechanism: Geometric) -> Fraction:
    """How much noise about every second device adds; zero if more than half send the number as it is."""
    return mechanism.away(question)


def blind(mechanism: Mechanism) -> tuple[int, int] | None:
    """Of so many people, so many devices send the truth; all others draw blindly from all cells, the truth included."""
    return mechanism.blind_draw()


def against(before: Decimal, epsilon: Decimal) -> Decimal:
    """The odds against a suspicion once a report is seen, e^ε times smaller at the most."""
    return before / epsilon.exp()


def of_hundred(suspicion: int, epsilon: Decimal) -> tuple[int, int]:
    """What a suspicion of one in `suspicion` can become at the most: odds times e^ε, rounded up."""
    with localcontext(EXACT):
        return round_up_chance(1 / (1 + against(Decimal(suspicion - 1), epsilon)))


def round_up_chance(chance: Decimal) -> tuple[int, int]:
    """Return a chance as cases out of a hundred people, or of as many as leave a doubt, rounded up.

    All of them means as good as certain.
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
    """One field in words: how its numbers are rounded, and what chance does then."""
    rounding = [type_of(question.type).rounding_sentence(question) for question in field.questions]
    return "; ".join([*filter(None, rounding), odds_sentence(field)])


def odds_sentence(field: Field) -> str:
    """What the device does to an answer, in numbers."""
    return field.mechanism.odds_sentence(field)
