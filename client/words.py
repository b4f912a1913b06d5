"""What bits and symbols say, in words, so that a person can see what is sent and what it protects."""

from collections.abc import Mapping
from fractions import Fraction
from math import floor

from client.definition import Field
from client.mechanism import Drawn, Flip, Geometric
from client.question import Question, labels_of

NO_ANSWER = "no answer"
MOST_NAMED = 12
MORE_DIGITS = 3  # of a level that lies between two values of the grid
FEWEST_SHOWN = 10  # devices that do otherwise; fewer would round too much away


def describe(field: Field, bits: int) -> str:
    """What the bits of a field say: "no", "notes or phone", "phone: yes"."""
    mechanism = field.mechanism
    if isinstance(mechanism, Flip):
        return symbol_label(field, bits)
    places = [i for i in range(mechanism.width) if bits >> (mechanism.width - 1 - i) & 1]
    if isinstance(mechanism, Drawn):
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
    digits = field.cells[symbol] if field.joint else (symbol,)
    return " + ".join(digit_label(question, digit) for question, digit in zip(field.questions, digits, strict=True))


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
    return _with_unit(question, low) if low == high else f"{spell(question, low)} to {_with_unit(question, high)}"


def level_value(question: Question, level: int) -> Fraction:
    """The number at a level."""
    return Fraction(question.min) + level * (Fraction(question.max) - Fraction(question.min)) / (question.levels - 1)


def bin_range(question: Question, symbol: int) -> tuple[Fraction, Fraction]:
    """The lowest and the highest number of a bin: all i with i·B div (N+1) = symbol."""
    first = -(-symbol * (question.steps + 1) // question.bins)
    last = -(-(symbol + 1) * (question.steps + 1) // question.bins) - 1
    low, step = Fraction(question.min), Fraction(question.step)
    return low + first * step, low + last * step


def away(question: Question, mechanism: Geometric) -> Fraction:
    """How much noise about every second device adds; zero if more than half send the number as it is."""
    return level_value(question, mechanism.median_shift()) - Fraction(question.min)


def share(p: Fraction, q: Fraction) -> tuple[int, int, int]:
    """Of so many people whose answer it is, so many devices send it, and of as many others so many.

    There are as many people as it takes to see ten devices that do otherwise: rounded, noise that is rare would look
    like much more noise, or none.
    """
    people = 100
    while people * min(q, 1 - p) < FEWEST_SHOWN:
        people *= 10
    return people, round(people * p), round(people * q)


def odds_sentence(field: Field) -> str:
    """How often a device sends the truth."""
    mechanism = field.mechanism
    if isinstance(mechanism, Geometric):
        question = field.questions[0]
        if not (off := away(question, mechanism)):
            return "random noise is added, but on more than half of all devices it leaves the number as it is"
        far = _with_unit(question, off)
        return f"random noise is added, on about every second device at least {far}; what leaves the range is cut there"
    people, p, q = share(mechanism.p, mechanism.q)
    group = f"of {people:,}"
    if isinstance(mechanism, Flip):
        no, yes = symbol_label(field, 0), symbol_label(field, 1)
        return f"{group} people with {yes}, about {p:,} devices send {yes}; {group} with {no}, about {q:,} do"
    if isinstance(mechanism, Drawn):
        drawn = f"reports on {mechanism.draw} of {mechanism.size} options, drawn at random"
        said = f"{group} people who chose such an option, about {p:,} devices say so"
        return f"{drawn}; {said}; {group} who did not, about {q:,} do"
    said = f"{group} people who gave an answer, about {p:,} devices name it"
    return f"{said}; {group} who gave another, about {q:,} do"


def _with_unit(question: Question, value: Fraction) -> str:
    return f"{spell(question, value)} {question.unit}".strip()


def spell(question: Question, value: Fraction) -> str:
    """A number of a question as a decimal: exact on its grid, and rounded to three digits more between two values."""
    *_, digits = question.grid
    places = digits + MORE_DIGITS
    units = floor(value * 10**places + Fraction(1, 2))
    whole, decimals = divmod(abs(units), 10**places)
    return f"{'-' * (units < 0)}{whole}.{decimals:0{places}}".rstrip("0").rstrip(".")
