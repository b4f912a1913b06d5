"""A slow, literal implementation of the protocol: the bits of a report, decision by decision.

It shares no code with `client/`. The randomness is a `Draw` with four verbs; one kind of Draw reads bytes, another
follows every path through the decisions and knows each path's probability, so that one description gives both the test
vectors and the exact distribution of the output.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Protocol

WHOLE = 2**64


class Draw(Protocol):
    def coin(self, threshold: int) -> bool: ...
    def below(self, bound: int) -> int: ...
    def word(self, borders: list[int]) -> int: ...
    def identity(self) -> bytes: ...


class ByteDraw:
    """Decisions from a byte string; `used` counts the bytes read."""

    def __init__(self, source: bytes) -> None:
        self.source, self.used = source, 0

    def take(self, count: int) -> bytes:
        if self.used + count > len(self.source):
            raise EOFError("the byte string is too short")
        self.used += count
        return self.source[self.used - count : self.used]

    def coin(self, threshold: int) -> bool:
        return int.from_bytes(self.take(8), "big") < threshold

    def below(self, bound: int) -> int:
        while True:
            x = int.from_bytes(self.take(4), "big")
            if x < 2**32 - 2**32 % bound:
                return x % bound

    def word(self, borders: list[int]) -> int:
        return int.from_bytes(self.take(8), "big")

    def identity(self) -> bytes:
        return self.take(16)


class TooDeep(Exception):
    """A path with more decisions than allowed."""


class PathDraw:
    """One path: the given outcomes first, then the first outcome of every decision.

    `tape` is a byte string that leads down this path, always by the values next to the borders: the last that is heads,
    the first that is tails, and for `below` a rejected word before the last accepted one.
    """

    def __init__(self, outcomes: list[int], depth: int) -> None:
        self.outcomes, self.depth = outcomes, depth
        self.counts: list[int] = []
        self.probability = Fraction(1)
        self.tape = b""

    def _decide(self, count: int) -> int:
        place = len(self.counts)
        if place >= self.depth:
            raise TooDeep
        self.counts.append(count)
        if place == len(self.outcomes):
            self.outcomes.append(0)
        return self.outcomes[place]

    def coin(self, threshold: int) -> bool:
        heads = self._decide(2) == 0
        self.probability *= Fraction(threshold if heads else WHOLE - threshold, WHOLE)
        self.tape += (threshold - heads).to_bytes(8, "big")
        return heads

    def below(self, bound: int) -> int:
        value = self._decide(bound)
        self.probability *= Fraction(1, bound)
        limit = 2**32 - 2**32 % bound
        if limit < 2**32:
            self.tape += limit.to_bytes(4, "big")
        self.tape += (limit - bound + value).to_bytes(4, "big")
        return value

    def word(self, borders: list[int]) -> int:
        ends = sorted({0, *borders, WHOLE})
        place = self._decide(len(ends) - 1)
        self.probability *= Fraction(ends[place + 1] - ends[place], WHOLE)
        self.tape += (ends[place + 1] - 1).to_bytes(8, "big")
        return ends[place + 1] - 1

    def identity(self) -> bytes:
        self.tape += bytes(range(16))
        return bytes(range(16))


def paths(run: Callable[[PathDraw], str], depth: int = 40) -> Iterator[tuple[Fraction, bytes, str]]:
    """Yield every path through `run` of at most `depth` decisions: its probability, a tape for it, its output."""
    outcomes: list[int] = []
    while True:
        draw = PathDraw(outcomes, depth)
        try:
            output = run(draw)
            yield draw.probability, draw.tape, output
        except TooDeep:
            pass
        while outcomes and outcomes[-1] == draw.counts[len(outcomes) - 1] - 1:
            outcomes.pop()
        if not outcomes:
            return
        outcomes[-1] += 1


def distribution(definition: dict[str, Any], answers: dict[str, Any]) -> dict[str, Fraction]:
    """Return the exact probability of every possible row of bits."""
    chances: dict[str, Fraction] = {}
    for probability, _, output in paths(lambda draw: report_bits(definition, answers, draw)):
        chances[output] = chances.get(output, Fraction(0)) + probability
    return chances


def report(definition: dict[str, Any], answers: dict[str, Any], source: bytes) -> tuple[str, bytes, int]:
    """Return bits, id and the number of bytes used."""
    draw = ByteDraw(source)
    bits = report_bits(definition, answers, draw)
    return bits, draw.identity(), draw.used


def pack(bits: str) -> bytes:
    padded = bits + "0" * (-len(bits) % 8)
    return bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8))


def report_bits(definition: dict[str, Any], answers: dict[str, Any], draw: Draw) -> str:
    """Return the stored bits as a text of 0 and 1, without padding."""
    questions = {question["id"]: question for question in definition["questions"]}
    hidden = hidden_questions(definition["questions"], answers)
    fields = definition["fields"]
    asked = {asked_field(fields, draw)} if "ask" in definition else set(range(len(fields)))
    row = ""
    for position, field in enumerate(fields):
        members = [questions[name] for name in field["questions"]]
        said = [None if member["id"] in hidden else answers.get(member["id"]) for member in members]
        if "ask" in definition:
            row += "1" if position in asked else "0"
        if position in asked:
            row += field_bits(field["mechanism"], members, said, draw)
        else:
            row += "0" * width(field["mechanism"])
    return row


def asked_field(fields: list[dict[str, Any]], draw: Draw) -> int:
    """Return the index of the first field whose cumulative chance exceeds the number drawn."""
    chances = [field.get("chance", 1) for field in fields]
    u = draw.below(sum(chances))
    return next(place for place in range(len(fields)) if sum(chances[: place + 1]) > u)


def hidden_questions(questions: list[dict[str, Any]], answers: dict[str, Any]) -> set[str]:
    hidden: set[str] = set()
    for question in questions:
        condition = question.get("show_if")
        if condition is None:
            continue
        parent = condition["question"]
        given = answers.get(parent)
        if isinstance(given, bool):
            given = "yes" if given else "no"
        labels = given if isinstance(given, list) else [given]
        if parent in hidden or not any(label in condition["is"] for label in labels):
            hidden.add(question["id"])
    return hidden


INVISIBLE = {
    0xAD, 0x115F, 0x1160, 0x180E, 0x200B, *range(0x2060, 0x2065), *range(0x206A, 0x2070), 0x2800, 0x3164, 0xFEFF, 0xFFA0,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),
}  # fmt: skip


def has_invisible(text: str) -> bool:
    """Return whether a text holds an invisible character; a definition must have none."""
    around = ["", *text, ""]
    for before, one, after in zip(around, text, around[2:], strict=False):
        if ord(one) in INVISIBLE:
            return True
        if ord(one) in (0x200C, 0x200D) and not (can_join(before) and can_join(after)):
            return True
    return False


def can_join(neighbour: str) -> bool:
    """Return whether a joiner may stand next to this character; beyond the ends of a text it may not."""
    return neighbour != "" and ord(neighbour) >= 0x600 and not 0x2000 <= ord(neighbour) <= 0x206F


def width(mechanism: dict[str, Any]) -> int:
    kind = mechanism["kind"]
    return 1 if kind == "flip" else int(mechanism["size"]) * (2 if kind == "drawn" else 1)


def field_bits(mechanism: dict[str, Any], members: list[dict[str, Any]], said: list[Any], draw: Draw) -> str:
    kind, size = mechanism["kind"], mechanism.get("size", 2)
    if kind == "drawn":
        return drawn_bits(mechanism, members[0], said[0], draw)
    digits = tuple(symbol_of(question, answer, draw) for question, answer in zip(members, said, strict=True))
    symbol = combinations(members).index(digits)
    if kind == "flip":
        return str(int(draw.coin(int(mechanism["one" if symbol == 1 else "zero"]))))
    if kind == "subset":
        held = draw.coin(int(mechanism["keep"]))
        chosen = pick(mechanism["weight"], [i for i in range(size) if i != symbol], draw)
        if held:
            chosen[-1] = symbol
        return "".join("1" if i in chosen else "0" for i in range(size))
    up = tails(mechanism)
    u = draw.word([*up, *(WHOLE - tail for tail in up)])
    level = symbol + len([tail for tail in up if u < tail]) - len([tail for tail in up if WHOLE - 1 - u < tail])
    level = min(max(level, 0), size - 1)
    return "".join("1" if i == level else "0" for i in range(size))


def tails(mechanism: dict[str, Any]) -> list[int]:
    """Return G_1 … G_(L−1) = 2^64 r^k/(1 + r), rounded up."""
    ratio = Fraction(int(mechanism["ratio"]), WHOLE)
    return [math.ceil(WHOLE * ratio**k / (1 + ratio)) for k in range(1, mechanism["size"])]


def combinations(members: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    """Return the combinations that can occur, in order; a hidden member has no answer."""
    names = [question["id"] for question in members]
    found = []
    for digits in itertools.product(*(range(number_of_symbols(question)) for question in members)):
        fits = True
        for question, digit in zip(members, digits, strict=True):
            condition = question.get("show_if")
            if condition is None or condition["question"] not in names:
                continue
            parent = members[names.index(condition["question"])]
            given = labels_of_symbol(parent, digits[names.index(parent["id"])])
            if not set(given) & set(condition["is"]) and digit != number_of_symbols(question) - 1:
                fits = False
        if fits:
            found.append(digits)
    return found


def labels_of_symbol(question: dict[str, Any], symbol: int) -> list[str]:
    labels: list[str] = question.get("options") or question.get("points") or ["no", "yes"]
    if question["type"] == "multiple":
        return [label for i, label in enumerate(labels) if symbol < 2 ** len(labels) and symbol // 2**i % 2]
    return labels[symbol : symbol + 1]


def drawn_bits(mechanism: dict[str, Any], question: dict[str, Any], answer: Any, draw: Draw) -> str:
    options = [*question["options"], *([None] if is_optional(question) else [])]
    selected = [None] if answer is None else answer
    asked = sorted(pick(mechanism["draw"], list(range(mechanism["size"])), draw))
    truth = sum(2**i for i, place in enumerate(asked) if options[place] in selected)
    held = draw.coin(int(mechanism["keep"]))
    (sent,) = pick(1, [i for i in range(2 ** mechanism["draw"]) if i != truth], draw)
    if held:
        sent = truth
    row = ["00"] * mechanism["size"]
    for i, place in enumerate(asked):
        row[place] = "01" if sent // 2**i % 2 else "10"
    return "".join(row)


def pick(count: int, items: list[int], draw: Draw) -> list[int]:
    for i in range(count):
        j = i + draw.below(len(items) - i)
        items[i], items[j] = items[j], items[i]
    return items[:count]


def is_optional(question: dict[str, Any]) -> bool:
    return bool(question.get("optional")) or "show_if" in question


def number_of_symbols(question: dict[str, Any]) -> int:
    kind = question["type"]
    if kind == "yes_no":
        count = 2
    elif kind == "number":
        count = question.get("levels") or question["bins"]
    elif kind == "multiple":
        count = 2 ** len(question["options"])
    else:
        count = len(question.get("options") or question["points"])
    return int(count) + is_optional(question)


def symbol_of(question: dict[str, Any], answer: Any, draw: Draw) -> int:
    kind = question["type"]
    if answer is None:
        if "levels" in question:
            low, high, step = (Fraction(question[key]) for key in ("min", "max", "step"))
            draw.below(int((high - low) / step))
        return number_of_symbols(question) - 1
    if kind == "yes_no":
        return 1 if answer in (True, "yes") else 0
    if kind == "multiple":
        return sum(2**i for i, option in enumerate(question["options"]) if option in answer)
    if kind != "number":
        labels = question.get("options") or question["points"]
        return int(labels.index(answer))
    low, high, step = (Fraction(question[key]) for key in ("min", "max", "step"))
    index, steps = (Fraction(answer) - low) / step, (high - low) / step
    if "bins" in question:
        return int(index) * int(question["bins"]) // (int(steps) + 1)
    position = int(index) * (question["levels"] - 1)
    level, rest = position // int(steps), position % int(steps)
    return int(level) + (1 if draw.below(int(steps)) < rest else 0)


class RandomPath:
    """A random path that keeps to the borders.

    Heads and tails come by the values next to the threshold, words are next to the limit, after a rejected word.
    `tape` has the bytes read.
    """

    def __init__(self, source: bytes) -> None:
        self.source = ByteDraw(source)
        self.tape = b""

    def coin(self, threshold: int) -> bool:
        heads = self.source.coin(threshold)
        self.tape += (threshold - heads).to_bytes(8, "big")
        return heads

    def below(self, bound: int) -> int:
        value = self.source.below(bound)
        limit = 2**32 - 2**32 % bound
        if limit < 2**32:
            self.tape += (2**32 - 1).to_bytes(4, "big") + limit.to_bytes(4, "big")
        self.tape += (limit - bound + value).to_bytes(4, "big")
        return value

    def word(self, borders: list[int]) -> int:
        u = self.source.word(borders)
        value = min(border for border in [*borders, WHOLE] if border > u) - 1
        self.tape += value.to_bytes(8, "big")
        return value

    def identity(self) -> bytes:
        identity = self.source.take(16)
        self.tape += identity
        return identity


def epsilon(definition: dict[str, Any]) -> Decimal:
    """Return the ε that a survey spends, to 30 digits, by the table of mechanisms."""
    losses = []
    for field in definition["fields"]:
        mechanism = field["mechanism"]
        one, zero, keep = (int(mechanism.get(key, 0)) for key in ("one", "zero", "keep"))
        size, weight = mechanism.get("size", 0), mechanism.get("weight", 0)
        if mechanism["kind"] == "flip":
            odds = max(Fraction(one, zero), Fraction(WHOLE - zero, WHOLE - one))
        elif mechanism["kind"] == "subset":
            odds = Fraction(keep * (size - weight), (WHOLE - keep) * weight)
        elif mechanism["kind"] == "drawn":
            odds = Fraction(keep * (2 ** mechanism["draw"] - 1), WHOLE - keep)
        else:
            up = tails(mechanism)
            odds = Fraction(WHOLE - up[0], up[-1])
            inner = [WHOLE - 2 * up[0]] + [up[d - 1] - up[d] for d in range(1, size - 1)]
            if size > 2:
                odds = max(odds, Fraction(max(inner), min(inner)))
        with localcontext(Context(prec=60)):
            losses.append((Decimal(odds.numerator) / odds.denominator).ln())
    with localcontext(Context(prec=30)):
        return max(losses) if "ask" in definition else sum(losses, Decimal(0))
