"""The reference's exact results for one mechanism alone, and all possible answers to a definition."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from candor_client.mechanisms import Drawn, Flip, Geometric, Mechanism, publish
from tests import reference
from tests.answers import all_answers
from tests.definitions import choice, multiple, number, yes_no


@cache
def mechanism_bits(mechanism: Mechanism, symbol: int) -> Mapping[str, Fraction]:
    """Return P(stored bits | symbol), a mask for drawn options."""
    question, answer = _make_question(mechanism, symbol)
    chances: defaultdict[str, Fraction] = defaultdict(Fraction)
    form = publish(mechanism)
    for chance, _, bits in reference.paths(lambda draw: reference.field_bits(form, [question], [answer], draw)):
        chances[bits] += chance
    return MappingProxyType(chances)


def bit_moments(
    mechanism: Mechanism, truth: dict[int, Fraction], score: Callable[[str], Fraction]
) -> tuple[Fraction, Fraction]:
    """Return mean and variance of a score of the stored bits of one report, for these shares of the symbols."""
    mean = second = Fraction(0)
    for symbol, share in truth.items():
        for bits, chance in mechanism_bits(mechanism, symbol).items():
            mean += share * chance * score(bits)
            second += share * chance * score(bits) ** 2
    return mean, second - mean**2


def _make_question(mechanism: Mechanism, symbol: int) -> tuple[dict[str, Any], Any]:
    """Return a question for a mechanism, and the answer with this symbol."""
    if isinstance(mechanism, Flip):
        return yes_no(), bool(symbol)
    if isinstance(mechanism, Drawn):
        question = multiple(options=mechanism.size)
        return question, [option for i, option in enumerate(question["options"]) if symbol >> i & 1]
    if isinstance(mechanism, Geometric):
        return number(max=mechanism.size - 1, levels=mechanism.size), symbol
    return choice(options=mechanism.size), f"option {symbol}"


def all_visible_answers(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all possible answers, with none to hidden questions; some occur several times."""
    found = all_answers(definition)
    for answers in found:
        for name in reference.hidden_questions(definition["questions"], answers):
            answers[name] = None
    return found
