"""One question of the author's file: its text, and the author's choices about its randomization."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from candor_client.mechanisms import Flip
from candor_client.question import Question
from candor_client.sampling import DENOMINATOR
from candor_client.types import TypeName, type_of
from survey_app.authoring import mechanism_choice
from survey_app.authoring.yaml_source import Node
from survey_app.kinds import kind_by_name

BATTERY = "battery"  # several scales at once; `entries` splits it
COMMON_KEYS = ("optional", "show_if", "weight", "epsilon")
DESIGNS = {"coin": ("3/4", "1/4"), "die": ("2/3", "1/3"), "forced_die": ("5/6", "1/6")}
LABELS = tuple(dict.fromkeys(key for name in TypeName if (key := type_of(name).labels_key)))  # options, points
SWITCHES = ("shuffle",)
DEFAULTS = {"step": 1}  # for keys that a definition needs and an author may omit
COMPUTED = {"levels": (2, "bins")}  # a provisional value, and the key that an author may write instead


@dataclass(frozen=True, eq=False)
class AuthoredQuestion:
    """A question with the author's choices about its randomization.

    It has either a fixed ε or a weight in the rest of ε. `need`, also the weight, multiplies the respondents it needs.
    """

    node: Node
    question: Question
    raw: dict[str, Any]
    fixed_epsilon: Fraction
    weight: Fraction
    need: Fraction
    design: Flip | None
    is_laplace: bool


def read_raw_question(node: Node) -> dict[str, Any]:
    """Return a question as the definition has it, except for the levels, which are chosen later.

    Raise AuthoringError if a key is missing, unknown or invalid.
    """
    if "type" not in node.members():
        raise node.error("missing_key", "type is missing")
    kind = TypeName(node.members()["type"].one_of(*TypeName, BATTERY))
    required, possible = type_of(kind).required_keys, type_of(kind).optional_keys
    needed = ("id", "type", "text", *(key for key in required if key not in DEFAULTS))
    allowed = {*required, *possible, *COMMON_KEYS, *kind_by_name(kind).author_keys} - COMPUTED.keys()
    parts = node.mapping(needed, allowed)
    if parts["text"].is_blank:
        raise parts["text"].error("empty", "has no text yet; write the question")
    raw: dict[str, Any] = {key: parts[key].text() for key in ("id", "type", "text")}
    _check_bounds(parts)
    raw |= {key: read_value(parts[key]) for key, read_value in READERS.items() if key in parts}
    unlisted = (key for key in (*required, *possible) if key in parts and key not in (*READERS, *SWITCHES))
    raw |= {key: parts[key].canonical_number() for key in unlisted}  # number keys of future types
    raw |= {key: value for key, value in DEFAULTS.items() if key in required and key not in parts}
    raw |= {key: value for key, (value, author_key) in COMPUTED.items() if key in possible and author_key not in parts}
    if "show_if" in parts:
        condition = parts["show_if"].mapping(("question", "is"), ())
        raw["show_if"] = {
            "question": condition["question"].text(),
            "is": _read_labels(condition["is"], 1, "answer of that question"),
        }
    elif "optional" in parts and parts["optional"].boolean():
        raw["optional"] = True
    raw |= {key: True for key in SWITCHES if key in parts and parts[key].boolean()}
    return raw


def _check_bounds(parts: dict[str, Node]) -> None:
    """Raise AuthoringError if a bound of a range is empty. One error names both bounds."""
    bounds = {"min": "smallest", "max": "largest"}
    missing = [key for key in bounds if key in parts and parts[key].is_blank]
    if missing:
        nouns = " and the ".join(bounds[key] for key in missing)
        raise parts[missing[0]].error("empty", f"is empty; write the {nouns} possible answer")


def _read_labels(node: Node, least: int, noun: str) -> list[str]:
    labels = [label.text() for label in node.items()]
    if len(labels) < least:
        raise node.error("too_few", f"needs at least {'two' if least > 1 else 'one'} {noun}")
    return labels


READERS: dict[str, Callable[[Node], Any]] = {  # readers of the keys that only some types have
    **{key: partial(_read_labels, least=2, noun=key) for key in LABELS},
    "scores": lambda node: [score.canonical_number() for score in node.items()],
    "min": Node.canonical_number,
    "max": Node.canonical_number,
    "step": Node.canonical_number,
    "bins": lambda node: node.integer(2),
    "unit": Node.text,
}


def read_authored_question(node: Node, question: Question, raw: dict[str, Any], *, split: bool) -> AuthoredQuestion:
    """Return a question with the author's choices about its randomization.

    If ε is split, a weight and a fixed ε exclude each other. Otherwise they can be combined. Raise AuthoringError if
    the choices contradict each other.
    """
    parts = node.members()
    keys = [key for key in ("design", "epsilon", *(["weight"] if split else [])) if key in parts]
    if len(keys) > 1:
        choices = "design, epsilon and weight" if split else "design and epsilon"
        raise parts[keys[1]].error(
            "conflict", f"cannot be combined with {keys[0]}; a question takes only one of {choices}"
        )
    weight = Fraction(parts["weight"].positive("a weight")) if "weight" in parts else Fraction(1)
    laplace = "mechanism" in parts and bool(parts["mechanism"].one_of("laplace"))
    if laplace and not can_have_noise(question):
        raise parts["mechanism"].error(
            "not_for_laplace", "laplace is only for a number without bins, optional or show_if"
        )
    if "design" in parts:
        if question.optional:
            raise parts["design"].error(
                "not_for_design", "a design is only for a yes_no question without optional or show_if"
            )
        flip = read_classic_design(parts["design"])
        return AuthoredQuestion(node, question, raw, Fraction(flip.epsilon), Fraction(0), weight, flip, laplace)
    if "epsilon" in parts:
        return AuthoredQuestion(node, question, raw, parts["epsilon"].epsilon(), Fraction(0), weight, None, laplace)
    return AuthoredQuestion(node, question, raw, Fraction(0), weight, weight, None, laplace)


def can_have_noise(question: Question) -> bool:
    """Return whether noise can be added to an answer: every respondent has one, and it becomes a level."""
    return type_of(question.type).has_levels(question) and not question.optional


def read_classic_design(node: Node) -> Flip:
    """Return the probabilities of a reported yes under a classic design. Raise AuthoringError if it is invalid."""
    if isinstance(node.value, str):
        name = node.one_of(*DESIGNS)
        p, q = (Fraction(share) for share in DESIGNS[name])
    else:
        parts = node.mapping((), ("warner", "gamma", "forced"))
        if len(parts) != 1:
            raise node.error(
                "bad_design", "must be coin, die or forced_die, or exactly one of warner, gamma and forced"
            )
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
    if math.floor(p * DENOMINATOR) <= math.ceil(q * DENOMINATOR):  # after rounding to integers
        raise node.error("uninformative", "this design gives no information (ε = 0); change its probabilities")
    if q <= 0 or p >= 1:
        raise node.error(
            "infinite_epsilon",
            "this design makes some reports reveal the answer with certainty (ε is infinite); change its probabilities",
        )
    return mechanism_choice.make_classic_flip(p, q)
