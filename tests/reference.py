"""A slow, literal reading of the wire: what the bits of a report are, decision by decision.

It shares no code with `client/`. The randomness is a `Draw` with three verbs; one kind of Draw reads bytes, another
walks every path through the decisions and knows each path's probability, so that one description gives both the test
vectors and the exact distribution of the output.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Protocol

WHOLE = 2**64


class Draw(Protocol):
    def coin(self, threshold: int) -> bool: ...
    def below(self, bound: int) -> int: ...
    def identity(self) -> bytes: ...


class ByteDraw:
    """Decisions from a byte string; `used` counts what was read."""

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

    def identity(self) -> bytes:
        return self.take(16)


class TooDeep(Exception):
    """A path with more decisions than are wanted."""


class PathDraw:
    """One path: the given outcomes first, then the first outcome of everything.

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

    def identity(self) -> bytes:
        self.tape += bytes(range(16))
        return bytes(range(16))


def paths(run: Callable[[PathDraw], str], depth: int = 40) -> Iterator[tuple[Fraction, bytes, str]]:
    """Every path through `run` of at most `depth` decisions: its probability, a tape for it, its output."""
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
    """The exact probability of every possible row of bits."""
    chances: dict[str, Fraction] = {}
    for probability, _, output in paths(lambda draw: report_bits(definition, answers, draw)):
        chances[output] = chances.get(output, Fraction(0)) + probability
    return chances


def report(definition: dict[str, Any], answers: dict[str, Any], source: bytes) -> tuple[str, bytes, int]:
    """Bits, id and the number of bytes used."""
    draw = ByteDraw(source)
    bits = report_bits(definition, answers, draw)
    return bits, draw.identity(), draw.used


def pack(bits: str) -> bytes:
    padded = bits + "0" * (-len(bits) % 8)
    return bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8))


def report_bits(definition: dict[str, Any], answers: dict[str, Any], draw: Draw) -> str:
    """The stored bits as a text of 0 and 1, without padding."""
    questions = {question["id"]: question for question in definition["questions"]}
    hidden = hidden_questions(definition["questions"], answers)
    fields = definition["fields"]
    asked = set(range(len(fields)))
    if "ask" in definition:
        asked = set(pick(definition["ask"], list(range(len(fields))), draw))
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


def width(mechanism: dict[str, Any]) -> int:
    kind = mechanism["kind"]
    if kind == "flip":
        return 1
    if kind == "geometric":
        return int(mechanism["width"])
    return int(mechanism["size"]) * (2 if kind == "sampled" else 1)


def field_bits(mechanism: dict[str, Any], members: list[dict[str, Any]], said: list[Any], draw: Draw) -> str:
    kind = mechanism["kind"]
    if kind == "sampled":
        return sampled_bits(mechanism, members[0], said[0], draw)
    symbol = 0
    for question, answer in zip(members, said, strict=True):
        symbol = symbol * number_of_symbols(question) + symbol_of(question, answer, draw)
    if kind == "flip":
        return str(int(draw.coin(int(mechanism["one" if symbol == 1 else "zero"]))))
    if kind == "subset":
        held = draw.coin(int(mechanism["keep"]))
        others = [i for i in range(mechanism["size"]) if i != symbol]
        chosen = pick(mechanism["weight"] - (1 if held else 0), others, draw) + ([symbol] if held else [])
        return "".join("1" if i in chosen else "0" for i in range(mechanism["size"]))
    if kind == "unary":
        row = ""
        for i in range(mechanism["size"]):
            row += str(int(draw.coin(int(mechanism["one" if i == symbol else "zero"]))))
        return row
    level = symbol + heads_before_tail(mechanism, draw)
    level -= heads_before_tail(mechanism, draw)
    bits = mechanism["width"]
    level = min(max(level, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)
    return format(level % 2**bits, f"0{bits}b")


def heads_before_tail(mechanism: dict[str, Any], draw: Draw) -> int:
    heads = 0
    while draw.coin(int(mechanism["ratio"])):
        heads += 1
    return heads


def sampled_bits(mechanism: dict[str, Any], question: dict[str, Any], answer: Any, draw: Draw) -> str:
    options = [*question["options"], *([None] if is_optional(question) else [])]
    selected = [None] if answer is None else answer
    picked = pick(mechanism["draw"], list(range(mechanism["size"])), draw)
    row = ""
    for i, option in enumerate(options):
        if i not in picked:
            row += "00"
        else:
            row += "01" if draw.coin(int(mechanism["one" if option in selected else "zero"])) else "10"
    return row


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
    if answer is None:
        return number_of_symbols(question) - 1
    kind = question["type"]
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
    """A random path that keeps to the borders: heads and tails by the values next to the threshold, words next to the
    limit, each rejected word first. `tape` is what was read."""

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

    def identity(self) -> bytes:
        identity = self.source.take(16)
        self.tape += identity
        return identity


def epsilon(definition: dict[str, Any]) -> Decimal:
    """What a survey spends, to 30 digits, by the table of mechanisms."""
    questions = {question["id"]: question for question in definition["questions"]}
    losses = []
    for field in definition["fields"]:
        mechanism = field["mechanism"]
        one, zero, keep, ratio = (int(mechanism.get(key, 0)) for key in ("one", "zero", "keep", "ratio"))
        size, weight = mechanism.get("size", 0), mechanism.get("weight", 0)
        times = 1
        if mechanism["kind"] == "subset":
            odds = Fraction(keep * (size - weight), (WHOLE - keep) * weight)
        elif mechanism["kind"] == "unary":
            odds = Fraction(one * (WHOLE - zero), zero * (WHOLE - one))
        elif mechanism["kind"] == "geometric":
            odds, times = Fraction(WHOLE, ratio), questions[field["questions"][0]]["levels"] - 1
        else:
            odds = max(Fraction(one, zero), Fraction(WHOLE - zero, WHOLE - one))
            times = mechanism.get("draw", 1)
        with localcontext(Context(prec=40)):
            losses.append(times * (Decimal(odds.numerator).ln() - Decimal(odds.denominator).ln()))
    with localcontext(Context(prec=30)):
        return sum(sorted(losses, reverse=True)[: definition.get("ask")], Decimal(0))


class KeyedDraw(ByteDraw):
    """Decisions from HMAC-SHA-256(key, parts, each followed by a zero byte, then a counter of eight bytes)."""

    def __init__(self, key: bytes, *parts: str) -> None:
        super().__init__(b"")
        self.key, self.context = key, b"".join(part.encode() + b"\0" for part in parts)

    def take(self, count: int) -> bytes:
        while len(self.source) < self.used + count:
            counter = (len(self.source) // 32).to_bytes(8, "big")
            self.source += hmac.digest(self.key, self.context + counter, "sha256")
        return super().take(count)


def keyed_bits(definition: dict[str, Any], answers: dict[str, Any], key: bytes) -> tuple[str, list[int]]:
    """The bits that a device with this key sends, and the positions of the fields it answers."""
    questions = {question["id"]: question for question in definition["questions"]}
    hidden = hidden_questions(definition["questions"], answers)
    slug, fields = definition["slug"], definition["fields"]
    digests = []
    for field in fields:
        whole = {"mechanism": field["mechanism"], "questions": [questions[name] for name in field["questions"]]}
        text = json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digests.append(hashlib.sha256(text.encode()).hexdigest())
    asked = list(range(len(fields)))
    if "ask" in definition:
        context = hashlib.sha256("".join(digests).encode()).hexdigest()
        draw = KeyedDraw(key, slug, context, f"ask {definition['ask']}")
        asked = sorted(pick(definition["ask"], asked, draw))
    row = ""
    for position, (field, digest) in enumerate(zip(fields, digests, strict=True)):
        members = [questions[name] for name in field["questions"]]
        said = [None if member["id"] in hidden else answers.get(member["id"]) for member in members]
        if "ask" in definition:
            row += "1" if position in asked else "0"
        if position not in asked:
            row += "0" * width(field["mechanism"])
            continue
        codes = [str(index_before_rounding(member, answer)) for member, answer in zip(members, said, strict=True)]
        draw = KeyedDraw(key, slug, digest, f"[{','.join(codes)}]")
        row += field_bits(field["mechanism"], members, said, draw)
    return row, asked


def index_before_rounding(question: dict[str, Any], answer: Any) -> int:
    if "levels" not in question:
        if question["type"] == "multiple" and answer is None:
            return int(2 ** len(question["options"]))
        return symbol_of(question, answer, ByteDraw(b""))
    low, high, step = (Fraction(question[key]) for key in ("min", "max", "step"))
    return int((high - low) / step) + 1 if answer is None else int((Fraction(answer) - low) / step)
