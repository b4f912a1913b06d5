"""Small definitions of every mechanism with all the answers that one can give to them, and one long one."""

import itertools
from typing import Any

from tests.definitions import (
    COIN,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    yes_no,
)
from tests.definitions import choice as choice_question

ODD = {"kind": "flip", "one": str(11 * 2**60 + 12345), "zero": str(3 * 2**60 + 777)}

SKEWED = {"kind": "flip", "one": str(2**63), "zero": str(2**62)}

SMALL: dict[str, dict[str, Any]] = {
    "flip": define([yes_no()], [field(COIN, "cheated")]),
    "flip, odd": define([yes_no()], [field(ODD, "cheated")]),
    "flip, asymmetric": define([yes_no()], [field(SKEWED, "cheated")]),
    "k-ary": define([choice_question()], [field(subset(3, 1), "help")]),
    "subset": define([choice_question(options=5)], [field(subset(5, 2), "help")]),
    "subset, optional": define([choice_question(options=4, optional=True)], [field(subset(5, 3), "help")]),
    "scale": define([scale()], [field(subset(3, 2), "fair")]),
    "drawn": define([multiple()], [field(drawn(3, 1), "used")]),
    "drawn, two of three": define([multiple()], [field(drawn(3, 2), "used")]),
    "drawn, all": define([multiple()], [field(drawn(3, 3, 2**62), "used")]),
    "drawn, optional": define([multiple(options=2, optional=True)], [field(drawn(3, 2, 2**63), "used")]),
    "cells": define([multiple(options=2)], [field(subset(4, 1), "used")]),
    "cells, optional": define([multiple(options=2, optional=True)], [field(subset(5, 2), "used")]),
    "levels": define([number(max=3)], [field(subset(2, 1), "hours")]),
    "levels, optional": define([number(max=4, levels=3, optional=True)], [field(subset(4, 1), "hours")]),
    "bins": define([number(bins=3)], [field(subset(3, 1), "hours")]),
    "bins, optional": define([number(bins=2, optional=True)], [field(subset(3, 1), "hours")]),
    "geometric": define([number(max=3, levels=4)], [field(geometric(4), "hours")]),
    "geometric, two levels": define([number(max=1)], [field(geometric(2, 2**61), "hours")]),
    "joint": define(
        [yes_no(), choice_question(options=2, optional=True)], [field(subset(6, 2), "cheated", "help")]
    ),
    "joint with levels": define([number(max=2), yes_no()], [field(subset(4, 1), "hours", "cheated")]),
    "joint, hidden": define(
        [yes_no(), choice_question(options=2, show_if={"question": "cheated", "is": ["yes"]})],
        [field(subset(4, 1), "cheated", "help")],
    ),
    "joint, hidden by a set": define(
        [multiple(options=2), number(max=2, show_if={"question": "used", "is": ["item 1"]})],
        [field(subset(8, 1), "used", "hours")],
    ),
    "two fields": define(
        [yes_no("a"), yes_no("b")], [field(COIN, "a"), field(ODD, "b")]
    ),
    "ask": define(
        [yes_no("a"), yes_no("b"), choice_question(options=2)],
        [field(COIN, "a"), field(ODD, "b"), field(subset(2, 1), "help")],
        ask=1,
    ),
    "ask with chances": define(
        [yes_no("a"), yes_no("b"), choice_question(options=2)],
        [field(COIN, "a", chance=3), field(ODD, "b"), field(subset(2, 1, 7 * 2**61), "help", chance=2)],
        ask=1,
    ),
    "hidden": define(
        [yes_no(), choice_question(options=2, show_if={"question": "cheated", "is": ["yes"]})],
        [field(COIN, "cheated"), field(subset(3, 1), "help")],
    ),
    "filter": define(
        [yes_no(), choice_question(options=2, show_if={"question": "cheated", "is": ["yes"]})],
        [field(COIN, "cheated"), field(subset(3, 1), "help", chance=4)],
        ask=1,
    ),
}  # fmt: skip


def all_answers(definition: dict[str, Any]) -> list[dict[str, Any]]:
    ranges: list[list[Any]] = []
    for question in definition["questions"]:
        values: list[Any]
        if question["type"] == "yes_no":
            values = [False, True]
        elif question["type"] == "multiple":
            options = question["options"]
            values = [[o for i, o in enumerate(options) if mask >> i & 1] for mask in range(2 ** len(options))]
        elif question["type"] == "number":
            values = list(range(question["min"], question["max"] + 1))
        else:
            values = list(question.get("options") or question["points"])
        if question.get("optional") or "show_if" in question:
            values.append(None)
        ranges.append(values)
    names = [question["id"] for question in definition["questions"]]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*ranges)]


EVERYTHING = define(
    [
        yes_no(),
        choice_question(optional=True),
        scale(),
        multiple(),
        number("hours", max=60, unit="h"),
        number("price", min="-0.5", max=2, step="0.25", bins=3),
        choice_question("why", options=2, show_if={"question": "cheated", "is": ["yes"]}),
        yes_no("sure", show_if={"question": "why", "is": ["option 1"]}),
        yes_no("shared", show_if={"question": "used", "is": ["item 0", "item 2"]}),
    ],
    [
        field(COIN, "cheated"),
        field(subset(4, 1), "help"),
        field(subset(3, 1), "fair"),
        field(drawn(3, 1), "used"),
        field(subset(2, 1), "hours"),
        field(subset(3, 1), "price"),
        field(subset(3, 1), "why"),
        field(subset(3, 1), "sure"),
        field(subset(3, 1), "shared"),
    ],
)

GOOD: dict[str, Any] = {
    "cheated": True,
    "help": "option 2",
    "fair": "Agree",
    "used": ["item 2", "item 0"],
    "hours": 12,
    "price": "0.25",
    "why": "option 1",
    "sure": False,
    "shared": True,
}
