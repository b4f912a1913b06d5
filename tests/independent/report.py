"""From answers to the bytes that are sent: "Symbols", "Sampling" and "The report" of the page."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.independent import NUMBERS, WHOLE, Object, digest_of, spell
from tests.independent.definition import read_definition
from tests.independent.mechanism import cells_of, is_optional, names, size, steps, tails, width
from tests.independent.ticket import ticket_id

Bytes = Callable[[int], bytes]


def coin(threshold: str, draw: Bytes) -> bool:
    return int.from_bytes(draw(8), "big") < int(threshold)


def below(bound: int, draw: Bytes) -> int:
    x = 2**32
    while x >= 2**32 - 2**32 % bound:
        x = int.from_bytes(draw(4), "big")
    return x % bound


def pick(count: int, entries: list[int], draw: Bytes) -> list[int]:
    for i in range(count):
        j = i + below(len(entries) - i, draw)
        entries[i], entries[j] = entries[j], entries[i]
    return entries[:count]


def subset(true: int, count: int, weight: int, keep: str, draw: Bytes) -> list[int]:
    held = coin(keep, draw)
    picked = pick(weight, [one for one in range(count) if one != true], draw)
    return [*picked[:-1], true] if held else picked


def bits_of(definition: Object, answers: Object, draw: Bytes) -> bytes:
    """Return the noisy bits of a report, packed."""
    said = dict[str, Any]()
    for question in definition["questions"]:
        given = answers.get(question["id"])
        given = {True: "yes", False: "no"}[given] if isinstance(given, bool) else given
        parent = said.get(question["show_if"]["question"]) if "show_if" in question else None
        met = {*(parent if isinstance(parent, list) else [parent])} & {*question.get("show_if", {"is": []})["is"]}
        said[question["id"]] = given if met or "show_if" not in question else None
    questions, fields, row = {one["id"]: one for one in definition["questions"]}, definition["fields"], ""
    sums = list(itertools.accumulate(field.get("chance", 1) for field in fields))
    u = below(sums[-1], draw) if "ask" in definition else None
    asked = None if u is None else next(place for place, reached in enumerate(sums) if reached > u)
    for place, field in enumerate(fields):
        row += "" if asked is None else str(int(place == asked))
        members = [questions[one] for one in field["questions"]]
        mine = asked in (None, place)
        row += field_bits(field["mechanism"], members, said, draw) if mine else "0" * width(field["mechanism"])
    return int(row.ljust(-(-len(row) // 8) * 8, "0"), 2).to_bytes(-(-len(row) // 8), "big")


def field_bits(made: Object, members: list[Object], said: Object, draw: Bytes) -> str:
    if made["kind"] == "drawn":
        options = [*members[0]["options"], *[None] * is_optional(members[0])]
        chosen = [None] if said[members[0]["id"]] is None else said[members[0]["id"]]
        asked = sorted(pick(made["draw"], list(range(made["size"])), draw))
        true = sum(1 << i for i, option in enumerate(asked) if options[option] in chosen)
        (sent,) = subset(true, 2 ** made["draw"], 1, made["keep"], draw)
        pairs = ["00"] * made["size"]
        for i, option in enumerate(asked):
            pairs[option] = "01" if sent >> i & 1 else "10"
        return "".join(pairs)
    digits = tuple(symbol_of(one, said[one["id"]], draw) for one in members)
    symbol = cells_of(members).index(digits) if len(members) > 1 else digits[0]
    if made["kind"] == "flip":
        return str(int(coin(made["one" if symbol else "zero"], draw)))
    ones = subset(symbol, made["size"], made["weight"], made["keep"], draw) if made["kind"] == "subset" else []
    if made["kind"] == "geometric":
        u, up = int.from_bytes(draw(8), "big"), tails(made)
        level = symbol + sum(u < tail for tail in up) - sum(WHOLE - 1 - u < tail for tail in up)
        ones = [max(0, min(made["size"] - 1, level))]
    return "".join(str(int(one in ones)) for one in range(made["size"]))


def symbol_of(question: Object, answer: Any, draw: Bytes) -> int:
    if question["type"] == "number":
        n = steps(question)
        index = (
            0
            if answer is None
            else int((Fraction(str(answer)) - Fraction(question["min"])) / Fraction(question["step"]))
        )
        if "levels" in question:
            level, rest = divmod(index * (question["levels"] - 1), n)
            level += below(n, draw) < rest
            return int(question["levels"]) if answer is None else level
        return int(question["bins"]) if answer is None else index * int(question["bins"]) // (n + 1)
    if answer is None:
        return size(question) - 1
    if question["type"] == "multiple":
        return sum(1 << names(question).index(one) for one in answer)
    return names(question).index(answer)


def report(source: bytes, answers: Object, draw: Bytes, ticket: tuple[bytes, bytes] | None = None) -> bytes:
    """Return the report, byte for byte as it is sent."""
    bits = bits_of(read_definition(source), answers, draw)
    if ticket is None:
        more, identity = "", draw(NUMBERS["bytes of an id"])
    else:
        more = f',"ticket":{{"prefix":"{spell(ticket[0])}","signature":"{spell(ticket[1])}"}}'
        identity = ticket_id(ticket[0])
    return f'{{"survey":"{digest_of(source)}","id":"{spell(identity)}","bits":"{spell(bits)}"{more}}}'.encode()
