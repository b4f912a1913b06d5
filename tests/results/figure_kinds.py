"""Every kind of question with every mechanism it can have, to combine into surveys."""

from collections.abc import Callable
from typing import Any

from candor_client import Survey
from tests.definitions import (
    COIN,
    choice,
    define,
    drawn,
    field,
    geometric,
    multiple,
    number,
    scale,
    subset,
    survey,
    yes_no,
)  # fmt: skip

Made = tuple[list[dict[str, Any]], dict[str, Any]]  # the questions of one field, and its mechanism

FIELDS: dict[str, Callable[[str, str], Made]] = {
    "coin": lambda a, b: ([yes_no(a)], COIN),
    "two points by coin": lambda a, b: ([scale(a, points=["no", "yes"])], COIN),
    "two levels": lambda a, b: ([number(a)], subset(2, 1)),
    "two levels by coin": lambda a, b: ([number(a)], COIN),
    "levels": lambda a, b: ([number(a, levels=3)], subset(3, 1)),
    "levels of several": lambda a, b: ([number(a, levels=4)], subset(4, 2)),
    "optional levels": lambda a, b: ([number(a, optional=True)], subset(3, 1)),
    "noise": lambda a, b: ([number(a, levels=7)], geometric()),
    "noise on a coarser grid": lambda a, b: ([number(a, levels=3)], geometric(3)),
    "one of three": lambda a, b: ([choice(a)], subset(3, 1)),
    "optional": lambda a, b: ([choice(a, optional=True)], subset(4, 1)),
    "two of four": lambda a, b: ([choice(a, 4)], subset(4, 2)),
    "points": lambda a, b: ([scale(a)], subset(3, 1)),
    "points of several": lambda a, b: ([scale(a, points=["1", "2", "3", "4"])], subset(4, 2)),
    "optional points": lambda a, b: ([scale(a, optional=True)], subset(4, 2)),
    "bins": lambda a, b: ([number(a, bins=3)], subset(3, 2)),
    "two optional bins": lambda a, b: ([number(a, bins=2, optional=True)], subset(3, 1)),
    "drawn": lambda a, b: ([multiple(a)], drawn(3, 1)),
    "all drawn": lambda a, b: ([multiple(a)], drawn(3, 3)),
    "optional drawn": lambda a, b: ([multiple(a, optional=True)], drawn(4, 2)),
    "sets": lambda a, b: ([multiple(a, 2)], subset(4, 1)),
    "sets of several": lambda a, b: ([multiple(a, 2, optional=True)], subset(5, 2)),
    "joint": lambda a, b: ([choice(a), scale(b)], subset(9, 1)),
    "joint of several": lambda a, b: ([choice(a), yes_no(b)], subset(6, 2)),
    "joint, hidden": lambda a, b: ([yes_no(a), scale(b, show_if={"question": a, "is": ["yes"]})], subset(5, 1)),
    "joint levels": lambda a, b: ([yes_no(a), number(b)], subset(4, 1)),
}


def make_survey(names: list[str], *, ask: bool = False) -> Survey:
    """Return a survey of these fields; with `ask` a later one is answered more often."""
    questions, fields = [], []
    for place, name in enumerate(names):
        asked, mechanism = FIELDS[name](f"q{place}a", f"q{place}b")
        questions += asked
        chance = {"chance": place + 1} if ask and place else {}
        fields.append(field(mechanism, *(question["id"] for question in asked), **chance))
    return survey(define(questions, fields, **({"ask": 1} if ask else {})))
