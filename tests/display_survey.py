"""A survey with everything for display: consent, sections, a battery, shuffled options, thanks, a completion."""

from typing import Any

from tests.definitions import COIN, define, field, number, subset, yes_no
from tests.form_browser import options

POINTS = ("Disagree strongly", "Disagree", "Neither", "Agree", "Agree strongly")
STATEMENTS = {"calm": "I am calm.", "tense": "I feel tense before an exam.", "tired": "I am tired."}
DRINKS = ("tea", "coffee", "water", "milk", "juice", "none")
LOW = 3 * 2**61  # keeps less, so that a device allows all of it
ADDRESS = "https://panel.example/complete?cc=C1A2B3"


def study(**more: Any) -> dict[str, Any]:
    """Return a survey of three sections, the second of them a battery whose last statement is optional."""
    battery = [options(name, "scale", *POINTS) | {"text": text} for name, text in STATEMENTS.items()]
    battery[-1]["optional"] = True
    questions = [
        yes_no() | {"text": "Did you copy?"},
        *battery,
        options("drink", "choice", *DRINKS, shuffle=True, optional=True) | {"text": "What do you drink?"},
        number("hours", show_if={"question": "cheated", "is": ["yes"]}) | {"text": "How many hours?"},
    ]
    fields = [
        field(COIN, "cheated"),
        *(field(subset(5 + ("optional" in one), 1, LOW), one["id"]) for one in battery),
        field(subset(len(DRINKS) + 1, 1, LOW), "drink"),
        field(subset(3, 1, LOW), "hours"),
    ]
    texts = {
        "title": "Exams and you",
        "consent": "You take part of your own free will.\u2029You may stop at any time.",
        "thanks": "That was a great help.\u2029Come again!",
        "completion": ADDRESS,
        "sections": [
            {"first": "calm", "grid": True, "title": "How do you feel?", "text": "Think of the last week."},
            {"first": "drink", "title": "Habits", "text": "Nearly done.\u2029Two more."},
        ],
    }
    return define(questions, fields, **({"epsilon": 6} | texts | more))
