"""Writes tests/vectors/*.json: what every client must do, from the reference and never from a client.

Run `python -m tests.make_vectors` after a change of the wire; the files are part of the repository, so that a change
shows. The byte strings come from SHA-256 in counter mode, only to make the files the same every time.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import reference
from tests.answers import SMALL, all_answers
from tests.definitions import (
    COIN,
    define,
    encode,
    field,
    geometric,
    multiple,
    number,
    sampled,
    scale,
    subset,
    unary,
    worked,
    yes_no,
)
from tests.definitions import choice as choice_question
from tests.faults import FAULTS, MISFITS, SPOILT, THRESHOLD_STRINGS, changed

FOLDER = Path(__file__).parent / "vectors"
MOST_ANSWERS = 9

UNICODE = choice_question(options=2) | {"text": "Größe – 大小? 😀", "options": ["ja ‏", "n\u0131cht"]}
LARGE: dict[str, dict[str, Any]] = {
    "worked": worked(),
    "unicode": define([UNICODE], [field(subset(2, 1), "help")], title="Ünïcödé \u2029 😀", language="de"),
    "geometric": define([number(levels=7)], [field(geometric(2**62, 8), "hours")]),
    "geometric, coarse": define([number(max=50, levels=3)], [field(geometric(2**61, 6), "hours")]),
    "geometric, long": define([number(max=60, levels=61)], [field(geometric(2**64 - 2**61, 12), "hours")]),
    "levels on a long grid": define(
        [number(min="-1000000.5", max="1000000.5", step="0.001", levels=9)], [field(subset(9, 1), "hours")]
    ),
    "levels as many as numbers": define([number(max=6, levels=7)], [field(subset(7, 2), "hours")]),
    "the longest grid": define(
        [number(max=2**31 - 1, levels=2**20)], [field(geometric(2**40, 22), "hours")], epsilon=10**9
    ),
    "fifty of a hundred": define([number(max=99, bins=100)], [field(subset(100, 50), "hours")]),
    "unary of two hundred": define([number(max=399, bins=200)], [field(unary(200), "hours")]),
    "sixty options": define([multiple(options=60, optional=True)], [field(sampled(61, 5), "used")]),
    "all of many options": define([multiple(options=12)], [field(sampled(12, 12), "used")]),
    "joint of three": define(
        [yes_no(), scale(optional=True), number(max=9, levels=3, optional=True)],
        [field(subset(32, 7), "hours", "cheated", "fair")],
    ),
    "joint with a multiple": define([multiple(options=2), number(bins=3)], [field(unary(12), "used", "hours")]),
    "a chain of conditions": define(
        [
            multiple("a"),
            yes_no("b", show_if={"question": "a", "is": ["item 0", "item 2"]}),
            number("c", show_if={"question": "b", "is": ["no"]}),
            multiple("d", options=2, show_if={"question": "b", "is": ["yes"]}),
        ],
        [field(sampled(3, 2), "a"), field(subset(3, 1), "b"), field(subset(3, 1), "c"), field(subset(5, 2), "d")],
    ),
    "everything, two asked": define(
        [yes_no("a"), choice_question("b", optional=True), scale("c"), multiple("d"), number("e"), number("f", bins=3)],
        [
            field(COIN, "a"),
            field(subset(12, 3), "c", "b"),
            field(sampled(3, 1), "d"),
            field(subset(2, 1), "e"),
            field(unary(3), "f"),
        ],
        ask=2,
    ),
    "all asked": define([yes_no("a"), yes_no("b")], [field(COIN, "b"), field(COIN, "a")], ask=2),
}  # fmt: skip


def some_answers(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """All answers of a small survey, else a spread of them: first, last, and in between."""
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


def byte_strings() -> Iterator[bytes]:
    for i in itertools.count():
        blocks = (hashlib.sha256(f"candor vector {i} {j}".encode()).digest() for j in range(2048))
        yield b"".join(blocks)


def reports() -> list[dict[str, Any]]:
    """Byte string, definition and answers, and what must come of them; half of the byte strings keep to the borders."""
    strings = byte_strings()
    vectors: list[dict[str, Any]] = []
    for name, definition in {**SMALL, **LARGE}.items():
        answers = all_answers(definition) if name in SMALL else some_answers(definition)
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


def keyed() -> list[dict[str, Any]]:
    """A device key, definition and answers, and the bits and asked fields that must come of them."""
    vectors: list[dict[str, Any]] = []
    for i, (name, definition) in enumerate({**SMALL, **LARGE}.items()):
        answers = all_answers(definition) if name in SMALL else some_answers(definition)
        key = hashlib.sha256(f"candor key {i}".encode()).digest()
        for said in answers[:: max(1, len(answers) // 3)]:
            bits, asked = reference.keyed_bits(definition, said, key)
            vectors.append(
                {
                    "source": encode(definition).decode(),
                    "key": key.hex(),
                    "answers": said,
                    "bits": reference.pack(bits).hex(),
                    "asked": asked,
                }
            )
    return vectors


def refused() -> list[dict[str, str]]:
    """Definitions that must be refused, as hexadecimal bytes, with the code of the refusal."""
    sources = [(name, source, "not_canonical") for name, source in SPOILT.items()]
    for path, value, code, _ in FAULTS:
        sources.append((f"{path} = {value!r}"[:60], encode(changed(path, value)), code))
    for i, definition in enumerate(MISFITS):
        sources.append((f"misfit {i}", encode(definition), "bad_mechanism"))
    for text in THRESHOLD_STRINGS:
        sources.append((f"threshold {text}", encode(changed("fields.0.mechanism.one", text)), "bad_value"))
    wide = define([number(max=400_000, bins=400_000)], [field(unary(400_000), "hours")])
    sources.append(("a report that would be too large", encode(wide), "too_large"))
    return [{"name": name, "source": source.hex(), "code": code} for name, source, code in sources]


def make() -> dict[str, str]:
    """The files and their contents."""
    made = {"reports.json": reports(), "keyed.json": keyed(), "refused.json": refused()}
    return {name: json.dumps(vectors, ensure_ascii=False, indent=0) + "\n" for name, vectors in made.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in make().items():
        (FOLDER / name).write_text(text)
        print(name, len(json.loads(text)))
