"""Write tests/vectors/*.json: what every client must do, from the reference and never from a client.

Run `python -m tests.make_vectors` after a change of the protocol; the files are part of the repository, so that a
change shows. The byte strings come from SHA-256 in counter mode, only to make the files the same every time.
"""

import base64
import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import blind_signature_reference, reference
from tests.answers import SMALL, all_answers
from tests.definitions import (
    COIN,
    define,
    drawn,
    encode,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    worked_example,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.invalid_definitions import (
    CONTRADICTIONS,
    FAULTS,
    JOINED,
    MISFITS,
    SPOILT,
    THRESHOLD_STRINGS,
    TOO_LARGE,
    change_definition,
)

FOLDER = Path(__file__).parent / "vectors"
MOST_ANSWERS = 9
WORKED_ANSWERS = {"cheated": True, "help": "notes", "hours": 12}
FILTER_ANSWERS = {"a": ["item 1"], "b": True, "c": "option 2", "d": "Agree"}

UNICODE = choice_question(options=2) | {"text": "Größe – 大小? 😀", "options": ["ja ‏", "n\u0131cht"]}
HOURS = number(unit="h")
KEY = "_" * 511 + "9"  # 3,072 bits, all of them one but the last but one
GERMAN = {
    "title": "Ehrlich",
    "description": "Wofür",
    "consent": "Einverstanden",
    "thanks": "Danke",
    "questions": {
        "help": {"text": "Was half?", "options": ["a", "b", "c"]},
        "used": {"text": "Welche?", "options": ["d", "e"]},
        "calm": {"text": "Ruhig", "points": ["nein", "weder noch", "ja"]},
        "tense": {"text": "Nervös", "points": ["nein", "weder noch", "ja"]},
        "hours": {"text": "Wie viele?", "unit": "Std."},
    },
    "sections": [{"title": "Erstens"}, {"title": "Wie geht es?", "text": "Heute"}, {"title": "Zuletzt"}],
}
LARGE: dict[str, dict[str, Any]] = {
    "worked": worked_example(),
    "unicode": define([UNICODE], [field(subset(2, 1), "help")], title="Ünïcödé \u2029 😀", language="de"),
    "geometric, coarse": define([number(max=50, levels=3)], [field(geometric(3, 2**61), "hours")]),
    "geometric, long": define([number(max=63, levels=64)], [field(geometric(64, 2**64 - 2**60), "hours")]),
    "geometric, almost uniform": define([number(max=63, levels=5)], [field(geometric(5, 2**64 - 2**20), "hours")]),
    "geometric, almost silent": define([number(max=63, levels=4)], [field(geometric(4, 2**44), "hours")]),
    "levels on a long grid": define(
        [number(min="-1000000.5", max="1000000.5", step="0.001", levels=9)], [field(subset(9, 1), "hours")]
    ),
    "levels as many as numbers": define([number(max=6, levels=7)], [field(subset(7, 2), "hours")]),
    "the longest grid": define([number(max=2**31 - 1, levels=64)], [field(geometric(64, 2**63 + 1), "hours")]),
    "fifty of a hundred": define([number(max=99, bins=100)], [field(subset(100, 50), "hours")]),
    "hundreds of bins": define([number(max=399, bins=200)], [field(subset(200, 30), "hours")]),
    "sixty options": define([multiple(options=60, optional=True)], [field(drawn(61, 5), "used")]),
    "all of many options": define([multiple(options=12)], [field(drawn(12, 12), "used")]),
    "as many as can be drawn": define([multiple(options=20)], [field(drawn(20, 16), "used")]),
    "joint of three": define(
        [yes_no(), scale(optional=True), number(max=9, levels=3, optional=True)],
        [field(subset(32, 7), "cheated", "fair", "hours")],
    ),
    "joint with a multiple": define([multiple(options=2), number(bins=3)], [field(subset(12, 1), "used", "hours")]),
    "a chain of conditions": define(
        [
            multiple("a"),
            yes_no("b", show_if={"question": "a", "is": ["item 0", "item 2"]}),
            number("c", show_if={"question": "b", "is": ["no"]}),
            multiple("d", options=2, show_if={"question": "b", "is": ["yes"]}),
        ],
        [field(drawn(3, 2), "a"), field(subset(3, 1), "b"), field(subset(3, 1), "c"), field(subset(5, 2), "d")],
    ),
    "a chain of conditions, joint": define(
        [
            multiple("a", options=2, optional=True),
            yes_no("b", show_if={"question": "a", "is": ["item 1"]}),
            number("c", show_if={"question": "b", "is": ["no"]}),
            choice_question("d", options=2, show_if={"question": "b", "is": ["yes"]}),
        ],
        [field(subset(17, 1), "a", "b", "c", "d")],
    ),
    "a joint whose parent lies outside": define(
        [
            yes_no("a"),
            yes_no("b", show_if={"question": "a", "is": ["yes"]}),
            choice_question("c", options=2, show_if={"question": "b", "is": ["yes"]}),
        ],
        [field(subset(6, 1), "a", "c"), field(subset(3, 1), "b", chance=7)],
        ask=1,
    ),
    "everything, one asked": define(
        [yes_no("a"), choice_question("b", optional=True), scale("c"), multiple("d"), number("e"), number("f", bins=3)],
        [
            field(COIN, "a"),
            field(subset(12, 3), "b", "c", chance=250_000),
            field(drawn(3, 2), "d", chance=300_000),
            field(subset(2, 1), "e", chance=7),
            field(subset(3, 1), "f", chance=449_992),
        ],
        ask=1,
    ),
    "filters": define(
        [
            multiple("a"),
            yes_no("b", show_if={"question": "a", "is": ["item 1"]}),
            choice_question("c", show_if={"question": "b", "is": ["yes"]}),
            scale("d"),
        ],
        [field(drawn(3, 1), "a"), field(subset(3, 1), "b"), field(subset(12, 1), "c", "d", chance=9)],
        ask=1,
    ),
    "one field, and asked": define([yes_no("a")], [field(COIN, "a")], ask=1),
    "for the eye": define(
        [choice_question(shuffle=True), multiple(shuffle=True, options=2), scale("calm"), scale("tense"), HOURS],
        [
            field(subset(3, 1), "help"),
            field(subset(4, 1), "used"),
            field(subset(9, 1), "calm", "tense"),
            field(subset(2, 1), "hours"),
        ],
        description="What for",
        consent="I agree",
        contact="x@example.org",
        thanks="Thank you",
        completion="https://example.org/done?code=7",
        sections=[
            {"first": "help", "title": "First"},
            {"first": "calm", "title": "How do you feel?", "text": "Today", "grid": True},
            {"first": "hours", "title": "Last"},
        ],
        slug="exam-north",
        study="exam",
        group="Norden",
        translations={"de": GERMAN},
    ),
    "by invitation": define(
        [yes_no()],
        [field(COIN, "cheated")],
        tickets={"key": KEY, "issuer": "https://office.example.org", "from": "2026-12-10T00:00Z"},
    ),
    "joiners": define([UNICODE | {"options": JOINED}], [field(subset(len(JOINED), 1), "help")]),
}  # fmt: skip


def some_answers(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all answers of a small survey, or a spread of them: first, last, and in between."""
    ranges: list[list[Any]] = []
    for question in definition["questions"]:
        kind = question["type"]
        if kind == "number":
            low, high, step = question["min"], question["max"], question["step"]
            if isinstance(low, int):
                values: list[Any] = [low, high, low + step, (low + high) // 2 if high < 100 else high - 7]
            else:
                values = [low, high, "0.5", "-999999.999", "12.250"]
        elif kind == "multiple":
            options = question["options"]
            values = [[], options, options[:1], options[-1:], options[::-2]]
        elif kind == "yes_no":
            values = [False, True]
        else:
            values = list(question.get("options") or question["points"])
        if question.get("optional") or "show_if" in question:
            values.append(None)
        ranges.append(values)
    names = [question["id"] for question in definition["questions"]]
    length = min(max(MOST_ANSWERS, max(map(len, ranges))), 24)
    rows = [
        [values[(i * (j + 1) + i // len(values)) % len(values)] for j, values in enumerate(ranges)]
        for i in range(length)
    ]
    return [dict(zip(names, row, strict=True)) for row in rows]


def answers_to(name: str, definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answers for a survey; none where nobody can answer without a ticket."""
    if "tickets" in definition:
        return []
    return all_answers(definition) if name in SMALL else some_answers(definition)


def byte_strings() -> Iterator[bytes]:
    for i in itertools.count():
        blocks = (hashlib.sha256(f"candor vector {i} {j}".encode()).digest() for j in range(2048))
        yield b"".join(blocks)


def report_vectors() -> list[dict[str, Any]]:
    """Return byte strings, definitions and answers, with the expected reports.

    Half of the byte strings lead to values next to the thresholds.
    """
    strings = byte_strings()
    vectors: list[dict[str, Any]] = []
    for name, definition in {**SMALL, **LARGE}.items():
        answers = answers_to(name, definition)
        cases = []
        for said in answers[:: max(1, len(answers) // MOST_ANSWERS)]:
            source = next(strings)
            bits, identity, used = reference.report(definition, said, source)
            cases.append(
                {"answers": said, "tape": source[:used].hex(), "bits": reference.pack(bits).hex(), "id": identity.hex()}
            )
            path = reference.RandomPath(next(strings))
            bits, identity = reference.report_bits(definition, said, path), path.identity()
            cases.append(
                {"answers": said, "tape": path.tape.hex(), "bits": reference.pack(bits).hex(), "id": identity.hex()}
            )
        vectors.append(
            {
                "name": name,
                "source": encode(definition).decode(),
                "digest": hashlib.sha256(encode(definition)).hexdigest(),
                "epsilon": str(reference.epsilon(definition)),
                "cases": cases,
            }
        )
    return vectors


def add_tickets(key: blind_signature_reference.Key, definition: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a definition whose tickets a key signs."""
    n = base64.urlsafe_b64encode(key.n.to_bytes(384, "big")).decode()
    return definition | {"tickets": {"key": n, **more}}


def ticket_vectors() -> list[dict[str, Any]]:
    """Return keys with their primes, definitions and byte strings, with the expected tickets and a report with each.

    The last tapes begin their r with numbers that have to be drawn again: too large, zero, with a common factor.
    """
    vectors: list[dict[str, Any]] = []
    for i, key in enumerate(blind_signature_reference.KEYS):
        for j, (definition, said) in enumerate(
            [(worked_example(), WORKED_ANSWERS), (LARGE["filters"], FILTER_ANSWERS)]
        ):
            source = encode(add_tickets(key, definition))
            drawn_again = [2**3072 - 1, key.n, 0, key.p, 5 * key.q][: 5 * j]
            tape = blind_signature_reference.tape(f"candor ticket {i} {j}", 80) + b"".join(
                r.to_bytes(384, "big") for r in drawn_again
            )
            tape += blind_signature_reference.tape(f"candor blinding {i} {j}", 4 * 384)
            ticket = blind_signature_reference.take(key, hashlib.sha256(source).hexdigest(), tape)
            path = reference.RandomPath(blind_signature_reference.tape(f"candor report {i} {j}", 4096))
            bits = reference.pack(reference.report_bits(definition, said, path)).hex()
            report = {"answers": said, "tape": path.tape.hex(), "bits": bits}
            vectors.append({"source": source.decode(), **ticket, "report": report})
    return vectors


def refusal_vectors() -> list[dict[str, str]]:
    """Return definitions that must be refused, as hexadecimal bytes, with the code of the refusal."""
    sources = [(name, source, "not_canonical") for name, source in SPOILT.items()]
    for path, value, code, _ in FAULTS:
        sources.append((f"{path} = {value!r}"[:60], encode(change_definition(path, value)), code))
    for i, definition in enumerate(MISFITS):
        sources.append((f"misfit {i}", encode(definition), "bad_mechanism"))
    for text in THRESHOLD_STRINGS:
        sources.append((f"threshold {text}", encode(change_definition("fields.0.mechanism.one", text)), "bad_value"))
    for i, definition in enumerate(CONTRADICTIONS):
        sources.append((f"contradiction {i}", encode(definition), "bad_value"))
    for i, definition in enumerate(TOO_LARGE):
        sources.append((f"too large {i}", encode(definition), "too_large"))
    return [{"name": name, "source": source.hex(), "code": code} for name, source, code in sources]


def make() -> dict[str, str]:
    """Return the files and their contents."""
    made = {"reports.json": report_vectors(), "tickets.json": ticket_vectors(), "refused.json": refusal_vectors()}
    return {name: json.dumps(vectors, ensure_ascii=False, indent=0) + "\n" for name, vectors in made.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in make().items():
        (FOLDER / name).write_text(text)
        print(name, len(json.loads(text)))
