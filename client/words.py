"""What bits and symbols say, in words, so that a person can see what is sent and what it protects."""

from collections.abc import Mapping
from fractions import Fraction

from client.answer import labels_of
from client.definition import Field, Question
from client.mechanism import Flip, Geometric, Sampled

NO_ANSWER = "no answer"
MOST_NAMED = 12


def describe(field: Field, bits: int) -> str:
    """What the bits of a field say: "no", "notes or phone", "phone: yes"."""
    mechanism = field.mechanism
    if isinstance(mechanism, Geometric):
        return _with_unit(field.questions[0], level_value(field.questions[0], mechanism.level(bits)))
    if isinstance(mechanism, Flip):
        return symbol_label(field, bits)
    places = [i for i in range(mechanism.width) if bits >> (mechanism.width - 1 - i) & 1]
    if isinstance(mechanism, Sampled):
        options = [*field.questions[0].labels, NO_ANSWER]
        return ", ".join(f"{options[place // 2]}: {'yes' if place % 2 else 'no'}" for place in places)
    named = [symbol_label(field, place) for place in places[:MOST_NAMED]]
    if len(places) > MOST_NAMED:
        named.append(f"{len(places) - MOST_NAMED} more")
    return " or ".join(named) or "none of them"


def said(field: Field, indices: Mapping[str, int]) -> str:
    """What a person said to the questions of a field, before any rounding."""
    answers: list[str] = []
    for question in field.questions:
        index = indices[question.id]
        if question.levels and index <= question.steps:
            answers.append(_with_unit(question, Fraction(question.min) + index * Fraction(question.step)))
        else:
            answers.append(digit_label(question, question.levels if question.levels else index))
    return " + ".join(answers)


def symbol_label(field: Field, symbol: int) -> str:
    """The words for one symbol of a field; for a joint field, those of each question."""
    labels: list[str] = []
    for question in reversed(field.questions):
        symbol, digit = divmod(symbol, question.size)
        labels.append(digit_label(question, digit))
    return " + ".join(reversed(labels))


def digit_label(question: Question, symbol: int) -> str:
    """The words for one symbol of a question."""
    if symbol == question.no_answer:
        return NO_ANSWER
    if question.type == "multiple":
        chosen = labels_of(question, symbol)
        return "{" + ", ".join(label for label in question.labels if label in chosen) + "}"
    if question.labels:
        return question.labels[symbol]
    if question.levels:
        return _with_unit(question, level_value(question, symbol))
    low, high = bin_range(question, symbol)
    return _with_unit(question, low) if low == high else f"{_number(low)} to {_with_unit(question, high)}"


def level_value(question: Question, level: int) -> Fraction:
    """The number at a level; noise may take a level beyond the range."""
    return Fraction(question.min) + level * (Fraction(question.max) - Fraction(question.min)) / (question.levels - 1)


def bin_range(question: Question, symbol: int) -> tuple[Fraction, Fraction]:
    """The lowest and the highest number of a bin: all i with i·B div (N+1) = symbol."""
    first = -(-symbol * (question.steps + 1) // question.bins)
    last = -(-(symbol + 1) * (question.steps + 1) // question.bins) - 1
    low, step = Fraction(question.min), Fraction(question.step)
    return low + first * step, low + last * step


def odds_sentence(field: Field) -> str:
    """How often a device sends the truth, out of 100 devices, or of as many as it takes to see the noise."""
    mechanism = field.mechanism
    if isinstance(mechanism, Geometric):
        question = field.questions[0]
        away = level_value(question, mechanism.median_shift()) - Fraction(question.min)
        return f"random noise is added; every second device sends a number at least {_with_unit(question, away)} off"
    people = 100
    while people * min(mechanism.q, 1 - mechanism.p) < Fraction(1, 2):
        people *= 10
    p, q = round(people * mechanism.p), round(people * mechanism.q)
    if isinstance(mechanism, Flip):
        no, yes = symbol_label(field, 0), symbol_label(field, 1)
        return f"of {people:,} people with {yes}, {p:,} devices send {yes}; of {people:,} with {no}, {q:,} do"
    return f"of {people:,} people with an answer, {p:,} devices name it; of {people:,} without it, {q:,} do"


def _with_unit(question: Question, value: Fraction) -> str:
    return f"{_number(value)} {question.unit}".strip()


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
