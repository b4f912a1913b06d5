"""Small definitions for tests, as plain dicts; `encode` spells them without the client's help."""

import json
from typing import Any

from candor_client import Survey

THREE_QUARTERS = str(3 * 2**62)
QUARTER = str(2**62)
COIN = {"kind": "flip", "one": THREE_QUARTERS, "zero": QUARTER}

WORKED_DIGEST = "d6723dc8286214a096007daf849f2c37176c6e376b290d6264099b37bb112e6e"


def yes_no(name: str = "cheated", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "yes_no", "text": "Did you copy?", **more}


def choice(name: str = "help", options: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "type": "choice",
        "text": "What helped?",
        "options": [f"option {i}" for i in range(options)],
        **more,
    }


def scale(name: str = "fair", **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "scale", "text": "It was fair.", "points": ["Disagree", "Neutral", "Agree"], **more}


def multiple(name: str = "used", options: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "type": "multiple",
        "text": "Which?",
        "options": [f"item {i}" for i in range(options)],
        **more,
    }


def number(name: str = "hours", **more: Any) -> dict[str, Any]:
    grain = {} if "bins" in more else {"levels": 2}
    return {"id": name, "type": "number", "text": "How many?", "min": 0, "max": 6, "step": 1, **grain, **more}


def field(mechanism: dict[str, Any], *questions: str, **more: Any) -> dict[str, Any]:
    return {"mechanism": mechanism, "questions": list(questions), **more}


def subset(size: int, weight: int, keep: int = 3 * 2**62) -> dict[str, Any]:
    return {"kind": "subset", "size": size, "weight": weight, "keep": str(keep)}


def drawn(size: int, draw: int, keep: int = 3 * 2**62) -> dict[str, Any]:
    return {"kind": "drawn", "size": size, "draw": draw, "keep": str(keep)}


def geometric(size: int = 7, ratio: int = 2**62) -> dict[str, Any]:
    return {"kind": "geometric", "size": size, "ratio": str(ratio)}


def define(questions: list[dict[str, Any]], fields: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "format": "candor/2",
        "slug": "exam",
        "title": "Exam honesty",
        "epsilon": 100,
        "questions": questions,
        "fields": fields,
        **more,
    }


def encode(definition: Any) -> bytes:
    return json.dumps(definition, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def survey(definition: dict[str, Any]) -> Survey:
    return Survey.from_json(encode(definition))


def simple() -> dict[str, Any]:
    """Return a definition with one yes-or-no question and two coins."""
    return define([yes_no()], [field(COIN, "cheated")], epsilon="1.098612288669")


def worked_example() -> dict[str, Any]:
    """Return the worked example of the protocol's description."""
    help_ = {"id": "help", "optional": True, "options": ["none", "notes", "phone"], "type": "choice"}
    hours = number("hours", max=60, unit="h") | {"text": "Hours of study a week?"}
    return define(
        [
            yes_no() | {"text": "Did you copy from somebody?"},
            help_ | {"text": "What did you use?"},
            hours,
        ],
        [
            field(COIN, "cheated"),
            field(subset(4, 1, 8768971294881393556), "help"),
            field(subset(2, 1, 13485650502877570762), "hours"),
        ],
        epsilon="3.098612288669",
    )
