"""Definitions with everything for display, and ways to spoil one: do both clients refuse the same ones alike?"""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from tests import random_definitions

KEY = "_" * 512
PROSE = ("description", "consent", "contact", "thanks")
JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, 16, 17, -1, 10**6, 2**53 - 1, "", " ", "x", "0", "00", "0.5", "1.0", "-0.25", "１",
    "\ufeff", "\u00a0", "a\x7f", "\u202e", str(2**64 - 1), str(2**64), [], {}, ["q0"], [["q0"]], ["a", "a"], {"x": 1},
    "en", "de", "q0", "yes_no", "number", "flip", "subset", "drawn", "geometric",
)  # fmt: skip
KEYS = (
    "x", "constructor", "__proto__", "ask", "chance", "optional", "show_if", "shuffle", "scores", "levels", "bins", "unit",
    "grid", "text", "draw", "weight", "size", "language", "study", "group", "contact", "completion", "sections",
    "translations", "tickets", "de", "1",
)  # fmt: skip


def make_definition(random: Random) -> dict[str, Any]:
    """Return a random definition with sections, translations and the rest."""
    made = random_definitions.definition(random) | {"slug": "exam-north"}
    made |= {key: f"{key} …" for key in PROSE if random.random() < 0.5}
    if random.random() < 0.5:
        made |= {"study": "exam", "group": "North", "language": "fr"}
    if random.random() < 0.5:
        made["completion"] = random.choice(["C-17", "https://example.org/?done"])
    if random.random() < 0.3:
        made["tickets"] = {"key": KEY, "issuer": "https://example.org", "from": "2026-12-10T00:00Z"}
    if random.random() < 0.5:
        made["sections"] = list(_sections(random, made["questions"]))
    if random.random() < 0.5:
        made["translations"] = {"de": _translation(made)}
    return made


def _sections(random: Random, questions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    starts = sorted(random.sample(range(len(questions)), random.randint(1, len(questions))))
    for start, stop in zip(starts, [*starts[1:], len(questions)], strict=True):
        points = {str(question.get("points")) for question in questions[start:stop]}
        grid = {"grid": True} if len(points) == 1 and "points" in questions[start] else {}
        yield {"first": questions[start]["id"], "title": "Part", **grid, **random.choice([{}, {"text": "More."}])}


def _translation(made: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {key: "Deutsch" for key in ("title", *PROSE) if key in made}
    told["questions"] = {question["id"]: _words(question) for question in made["questions"]}
    if "sections" in made:
        told["sections"] = [{key: "Teil" for key in ("title", "text") if key in one} for one in made["sections"]]
    return told


def _words(question: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {key: "Wort" for key in ("text", "unit") if key in question}
    lists = {key: [f"Wort {i}" for i in range(len(question[key]))] for key in ("options", "points") if key in question}
    return told | lists


def spoil(random: Random, definition: dict[str, Any]) -> dict[str, Any]:
    """Return the definition with one to three places changed, dropped, doubled or added."""
    made = copy.deepcopy(definition)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        holder, key = random.choice(list(_places(made)))
        change = random.randrange(6)
        if change == 0 or (change == 1 and isinstance(holder, list)):
            holder[key] = copy.deepcopy(random.choice(JUNK))
        elif change == 1:
            holder[random.choice(KEYS)] = copy.deepcopy(random.choice(JUNK))
        elif change == 2:
            del holder[key]
        elif change == 3 and isinstance(holder, list):
            holder.insert(random.randrange(len(holder)), copy.deepcopy(holder[key]))
        elif change == 4 and type(holder[key]) is int:
            holder[key] += random.choice([-1, 1])
        elif change == 4 and isinstance(holder[key], str):
            holder[key] = random.choice([holder[key][:-1], holder[key] + "0", holder[key] + "\n", holder[key].upper()])
        else:
            holder[key] = copy.deepcopy(random.choice([inner[place] for inner, place in _places(made)]))
    return made


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a value, as its container and its key or index."""
    inside: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, part in inside:
        yield value, key
        if isinstance(part, dict | list):
            yield from _places(part)
