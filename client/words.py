"""What bits and symbols say, in words, so that a person can see what is sent and what it protects."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

from client.definition import Field
from client.mechanisms import EXACT, Drawn, Flip, Geometric, Subset
from client.question import Question, labels_of

NO_ANSWER = "no answer"
MOST_NAMED = 12
MOST_LISTED = 5  # values that a number may be rounded to
MORE_DIGITS = 3  # of a level that lies between two values of the grid
FEWEST_SHOWN = 10  # devices that do otherwise; fewer would round too much away
SUSPICION = 20  # someone thought: one in so many; the one that docs/methods.md §13 tells
MOST_PEOPLE = 10**9  # above that, a chance is called certainty
NEARLY = Decimal("1e-12")  # so that fifty digits of three quarters are not rounded up


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
    like much more noise, or none. The first count is rounded up and the second down, so that protection never looks
    better than it is.
    """
    people = 100
    while people * min(q, 1 - p) < FEWEST_SHOWN:
        people *= 10
    return people, ceil(people * p), floor(people * q)


def blind(mechanism: Flip | Subset | Drawn) -> tuple[int, int] | None:
    """Of so many people, so many devices send the truth; all others draw blindly from all cells, the truth included.

    With p = P(a cell is sent | it is true) and q = P(it is sent | another is), the truth has p − q of its own, and the
    rest falls on all cells alike. None where no such draw explains what is sent: where several are named at once, or a
    coin favours one side, the chances of all cells do not add up to one.
    """
    others = 1 if isinstance(mechanism, Drawn) else mechanism.size - 1  # of an option: the other side
    if mechanism.p + others * mechanism.q != 1:
        return None
    truth = mechanism.p - mechanism.q
    return share(truth, 1 - truth)[:2]


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
    return "; ".join([*filter(None, map(_rounding, field.questions)), odds_sentence(field)])


def _rounding(question: Question) -> str:
    """The values that a number is rounded to, unless each number is one of them."""
    if not 0 < question.levels <= question.steps:
        return ""
    values = [digit_label(question, level) for level in range(question.levels)]
    listed = " or ".join(values) if len(values) <= MOST_LISTED else f"{values[0]}, {values[1]}, ... {values[-1]}"
    return f"first the number is rounded at random to {listed}, nearer is likelier, and that counts as what was said"


def odds_sentence(field: Field) -> str:
    """What the device does to an answer, in numbers."""
    mechanism, question = field.mechanism, field.questions[0]
    if isinstance(mechanism, Geometric):
        if not (off := away(question, mechanism)):
            return "random noise is added, but on more than half of all devices it leaves the number as it is"
        far = _with_unit(question, off)
        return f"random noise is added, on about every second device at least {far}; what leaves the range is cut there"
    if told := blind(mechanism):
        people, truth = told
        cases = f"in about {truth:,} of {people:,} cases"
        if isinstance(mechanism, Drawn):
            options = f"reports on {mechanism.draw} of {mechanism.size} options, drawn at random"
            return f"{options}: {cases} what was said, otherwise yes or no for each, drawn blindly"
        return f"{cases} the device sends what was said, otherwise {_one_of(field)}, drawn blindly"
    people, p, q = share(mechanism.p, mechanism.q)
    group = f"of {people:,}"
    if isinstance(mechanism, Subset):
        named = f"names {mechanism.weight} of {mechanism.size} possible answers"
        said = f"{group} people who gave an answer, about {p:,} devices name it"
        return f"{named}; {said}; {group} who gave another, about {q:,} do"
    no, yes = symbol_label(field, 0), symbol_label(field, 1)
    return f"{group} people with {yes}, about {p:,} devices send {yes}; {group} with {no}, about {q:,} do"


def _one_of(field: Field) -> str:
    """What is drawn from, by its names if it has but two."""
    question, size = field.questions[0], field.size
    if size == 2:
        return f"{symbol_label(field, 1)} or {symbol_label(field, 0)}"
    several = field.joint or question.type == "multiple"
    return f"one of all {size:,} {'combinations of answers' if several else 'possible answers'}"


def _with_unit(question: Question, value: Fraction) -> str:
    return f"{spell(question, value)} {question.unit}".strip()


def spell(question: Question, value: Fraction) -> str:
    """A number of a question as a decimal: exact on its grid, and rounded to three digits more between two values."""
    *_, digits = question.grid
    places = digits + MORE_DIGITS
    units = floor(value * 10**places + Fraction(1, 2))
    whole, decimals = divmod(abs(units), 10**places)
    return f"{'-' * (units < 0)}{whole}.{decimals:0{places}}".rstrip("0").rstrip(".")
