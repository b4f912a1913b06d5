"""What an author says about one question: what is asked, and how it should be randomized."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from client.mechanisms import Flip
from client.question import TYPES, Question
from client.sampling import WHOLE
from survey_app.authoring import choose
from survey_app.authoring.source import Node

BATTERY = "battery"  # several scales at once; `entries` takes it apart
COMMON = ("optional", "show_if", "weight", "epsilon")
AUTHORED: dict[str, tuple[str, ...]] = {"yes_no": ("design",), "number": ("bins", "mechanism", "unit", "step")}
DESIGNS = {"coin": ("3/4", "1/4"), "die": ("2/3", "1/3"), "forced_die": ("5/6", "1/6")}


@dataclass(frozen=True, eq=False)
class Item:
    """A question with what the author said about its randomization.

    It has a fixed ε, or a weight in the rest; `need`, the weight again, multiplies the respondents that it needs.
    """

    node: Node
    question: Question
    raw: dict[str, Any]
    fixed: Fraction
    weight: Fraction
    need: Fraction
    design: Flip | None
    laplace: bool


def raw_question(node: Node) -> dict[str, Any]:
    """The question as the definition has it, but for the levels, which are chosen later."""
    if "type" not in node.members():
        raise node.error("type is missing")
    kind = node.members()["type"].one_of(*TYPES, BATTERY)
    required, extra = TYPES[kind]
    needed = ("id", "type", "text", *(key for key in required if key != "step"))
    allowed = {*extra, *COMMON, *AUTHORED.get(kind, ())} - {"levels"}
    parts = node.mapping(needed, allowed)
    if parts["text"].is_blank:
        raise parts["text"].error("has no text yet; write what you ask")
    raw: dict[str, Any] = {key: parts[key].text() for key in ("id", "type", "text")}
    for key in ("options", "points"):
        if key in parts:
            raw[key] = _labels(parts[key], 2, key)
    if "scores" in parts:
        raw["scores"] = [score.spelled() for score in parts["scores"].items()]
    if kind == "number":
        _bounded(parts)
        raw |= {key: parts[key].spelled() for key in ("min", "max", "step") if key in parts}
        raw.setdefault("step", 1)
        raw |= {"bins": parts["bins"].integer(2)} if "bins" in parts else {"levels": 2}
    if "unit" in parts:
        raw["unit"] = parts["unit"].text()
    if "show_if" in parts:
        condition = parts["show_if"].mapping(("question", "is"), ())
        raw["show_if"] = {
            "question": condition["question"].text(),
            "is": _labels(condition["is"], 1, "answers of that question"),
        }
    elif "optional" in parts and parts["optional"].truth():
        raw["optional"] = True
    if "shuffle" in parts and parts["shuffle"].truth():
        raw["shuffle"] = True
    return raw


def _bounded(parts: dict[str, Node]) -> None:
    """Of a number that is being written: both bounds are asked for at once."""
    missing = [key for key in ("min", "max") if parts[key].is_blank]
    if missing:
        what = {"min": "least", "max": "most"}
        wanted = " and the ".join(what[key] for key in missing)
        raise parts[missing[0]].error(f"is empty; write the {wanted} that can be answered")


def _labels(node: Node, least: int, what: str) -> list[str]:
    labels = [label.text() for label in node.items()]
    if len(labels) < least:
        raise node.error(f"needs at least {'two' if least > 1 else 'one'} of the {what}")
    return labels


def wish_of(node: Node, question: Question, raw: dict[str, Any], *, split: bool) -> Item:
    """What an author wants of one question; a weight beside a fixed ε says something only if no ε is split."""
    parts = node.members()
    own = [key for key in ("design", "epsilon", *(["weight"] if split else [])) if key in parts]
    if len(own) > 1:
        others = "design, epsilon and weight" if split else "design and epsilon"
        raise parts[own[1]].error(f"has {own[0]} already; a question takes only one of {others}")
    weight = Fraction(parts["weight"].positive("a weight")) if "weight" in parts else Fraction(1)
    laplace = "mechanism" in parts and bool(parts["mechanism"].one_of("laplace"))
    if laplace and (question.optional or question.bins):
        raise parts["mechanism"].error("laplace is for numbers without bins, optional and show_if")
    if "design" in parts:
        if question.optional:
            raise parts["design"].error("a design is for a plain yes or no, without optional and show_if")
        flip = design_coins(parts["design"])
        return Item(node, question, raw, Fraction(flip.epsilon), Fraction(0), weight, flip, laplace)
    if "epsilon" in parts:
        return Item(node, question, raw, parts["epsilon"].epsilon(), Fraction(0), weight, None, laplace)
    return Item(node, question, raw, Fraction(0), weight, weight, None, laplace)


def design_coins(node: Node) -> Flip:
    """A classic design, as the probabilities of a reported yes."""
    if isinstance(node.value, str):
        name = node.one_of(*DESIGNS)
        p, q = (Fraction(share) for share in DESIGNS[name])
    else:
        parts = node.mapping((), ("warner", "gamma", "forced"))
        if len(parts) != 1:
            raise node.error("a design is one of coin, die, forced_die, warner, gamma and forced")
        ((name, value),) = parts.items()
        if name == "forced":
            forced = value.mapping(("truth", "yes"), ())
            truth, yes = forced["truth"].share(), forced["yes"].share()
            q = (1 - truth) * yes
            p = truth + q
        elif name == "gamma":
            p, q = Fraction(1, 2) + value.share(), Fraction(1, 2) - value.share()
        else:
            p = max(value.share(), 1 - value.share())
            q = 1 - p
    if math.floor(p * WHOLE) <= math.ceil(q * WHOLE):  # as the integers will have it
        raise node.error("this design says nothing about the answer: ε = 0")
    if q <= 0 or p >= 1:
        raise node.error("with this design some answers give a person away for certain: ε is infinite")
    return choose.design(p, q)
