"""Random author's files: every key of docs/authoring.md occurs in some of them, and one in eight has a fault.

The same seed gives the same file. Nothing here imports the product. The dates fit a survey that is published at
PUBLISHED and answered at ANSWERED; at OVER every closing date has passed, and at DELETED every date of deletion.
"""

import json
import string
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests import blind_signature_reference

Entry = dict[str, Any]
File = dict[str, Any]

WORDS = ("Ada", "blue", "café", "draußen", "=1+1", "<b>bold</b>", "a & b", 'the "other"', "naïve", "9,5", "Ω", "maybe")
FAULTY = 0.125
PUBLISHED = datetime(2030, 1, 1, 12, tzinfo=UTC)
OPENS = "2030-01-05T00:00Z"
TICKETS_UNTIL = "2030-01-08T00:00Z"
ANSWERED = datetime(2030, 1, 15, 12, tzinfo=UTC)  # less than 28 days after PUBLISHED
CLOSES = "2030-03-01T12:30+02:00"
OVER = datetime(2030, 4, 1, 12, tzinfo=UTC)
DELETES = "2030-06-01T00:00Z"
DELETED = datetime(2030, 7, 1, 12, tzinfo=UTC)


def write_file(random: Random) -> str:
    """Return the text of a file, as an author may write it; one in eight has a fault."""
    content = draw_content(random)
    if random.random() >= FAULTY:
        return spell(content)
    return random.choice(FAULTS)(random, content)


def spell(content: File) -> str:
    """Return a file as YAML: a line for each key and each question, its value in JSON's notation."""
    lines = []
    for key, value in content.items():
        if key == "questions":
            lines += ["questions:", *(f"  - {json.dumps(entry, ensure_ascii=False)}" for entry in value)]
        else:
            lines.append(f"{key}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def draw_content(random: Random) -> File:
    """Return a valid file, as a mapping."""
    ask = random.choice(["all", "all", "one", "auto"])
    content: File = {"slug": f"s{random.randrange(10**6)}", "title": _draw_text(random, "Title")}
    for key in ("description", "consent", "thanks"):
        if random.random() < 0.3:
            content[key] = f"{_draw_text(random, key)}\n\nA second paragraph."
    if random.random() < 0.3:
        content["contact"] = "study@example.org"
    if random.random() < 0.15:
        content["completion"] = random.choice(["CODE-17", "https://panel.example/done"])
    content["language"] = random.choice(["en", "en", "de", "es", "fr", "pt-BR"])
    content["epsilon"] = random.choice([0.5, 1, 2, 2, 3, 4, 6, 9])
    if content["epsilon"] > 8:
        content["accept_weak_privacy"] = True
    if ask != "all" or random.random() < 0.3:
        content["ask"] = ask
    content["results"] = random.choice(["public", "public", "private"])
    content["questions"] = _draw_questions(random, content["epsilon"], ask)
    _add_joint(random, content)
    _add_terms(random, content)
    if random.random() < 0.2:
        languages = [tag for tag in random.sample(["de", "es", "it"], 2) if tag != content["language"]]
        content["translations"] = {tag: translate(content, tag) for tag in languages}
    return content


def _draw_text(random: Random, prefix: str) -> str:
    return f"{prefix}: {random.choice(WORDS)}"


def _draw_labels(random: Random, most: int) -> list[str]:
    return random.sample(WORDS, random.randint(2, most))


def _draw_questions(random: Random, total: float, ask: str) -> list[Entry]:
    entries: list[Entry] = []
    for _ in range(random.randint(1, 5)):
        if random.random() < 0.12:
            text = {"text": "Think back."} if random.random() < 0.5 else {}
            entries.append({"section": _draw_text(random, "Section")} | text)
        if random.random() < 0.12:
            if entries and "section" not in entries[-1] and any("section" in entry for entry in entries):
                entries.append({"section": _draw_text(random, "Next")})
            entries += [_draw_battery(random, len(entries)), {"section": _draw_text(random, "After")}]
        entries.append(_draw_question(random, f"q{len(entries)}", entries, total, ask))
    return entries


def _draw_battery(random: Random, place: int) -> Entry:
    points = _draw_labels(random, 4)
    battery: Entry = {"type": "battery", "text": _draw_text(random, "Battery"), "points": points}
    if random.random() < 0.3:
        battery["scores"] = [*range(len(points))]
    if random.random() < 0.3:
        battery["optional"] = True
    count = random.randint(2, 3)
    return battery | {"statements": {f"b{place}-{i}": _draw_text(random, f"Statement {i}") for i in range(count)}}


DESIGNS: list[Any] = [
    "coin", "die", "forced_die", {"gamma": 0.25}, {"warner": 0.7}, {"forced": {"truth": 0.5, "yes": 0.5}},
]  # fmt: skip


def _fits_budget(total: float, ask: str, earlier: list[Entry]) -> bool:
    """Tell whether ε suffices for another design."""
    return total >= 3 and (ask != "all" or not any("design" in entry for entry in earlier))


def _draw_question(random: Random, name: str, earlier: list[Entry], total: float, ask: str) -> Entry:
    kind = random.choice(["yes_no", "yes_no", "choice", "scale", "multiple", "number", "number"])
    question: Entry = {"id": name, "type": kind, "text": f"{_draw_text(random, name)}?"}
    if kind in ("choice", "multiple"):
        question["options"] = _draw_labels(random, 6 if kind == "choice" else 4)
        if random.random() < 0.2:
            question["shuffle"] = True
    elif kind == "scale":
        question["points"] = _draw_labels(random, 5)
        if random.random() < 0.3:
            question["scores"] = [2 * i - 3 for i in range(len(question["points"]))]
    elif kind == "number":
        low, steps, step = random.choice([0, -5, 100]), random.choice([3, 10, 60, 500]), random.choice([1, 0.5, 10])
        question |= {"min": low, "max": low + steps * step, "step": step}
        if random.random() < 0.4:
            question["unit"] = "h"
        grain = random.choice(["levels", "bins", "laplace"])
        if grain == "bins":
            question["bins"] = random.randint(2, min(steps + 1, 5))
        elif grain == "laplace":
            return question | {"mechanism": "laplace"}
    parents = [entry for entry in earlier if list_labels(entry)]
    if parents and random.random() < 0.3:
        parent = random.choice(parents)
        labels = list_labels(parent)
        question["show_if"] = {
            "question": parent["id"],
            "is": random.sample(labels, random.randint(1, len(labels) - 1)),
        }
    elif random.random() < 0.25:
        question["optional"] = True
    elif kind == "yes_no" and _fits_budget(total, ask, earlier) and random.random() < 0.5:
        return question | {"design": random.choice(DESIGNS)}
    if random.random() < 0.2:
        question["weight"] = random.choice([0.5, 2])
    elif total >= 3 and ask == "all" and random.random() < 0.1 and not any("epsilon" in entry for entry in earlier):
        question["epsilon"] = 0.5
    return question


def list_labels(entry: Entry) -> list[str]:
    """Return the answers to which a condition may refer; none for a number, a section or a battery."""
    if entry.get("type") == "yes_no":
        return ["no", "yes"]
    if entry.get("type") in ("choice", "multiple"):
        return [*entry["options"]]
    return [*entry["points"]] if entry.get("type") == "scale" else []


def _add_joint(random: Random, content: File) -> None:
    free = [entry["id"] for entry in content["questions"] if entry.get("type") in ("yes_no", "choice", "scale")
            and not {"design", "epsilon", "weight"} & {*entry}]  # fmt: skip
    if len(free) > 1 and random.random() < 0.3:
        content["joint"] = [random.sample(free, 2)]


def _add_terms(random: Random, content: File) -> None:
    if random.random() < 0.1:
        content["opens"] = OPENS
    if random.random() < 0.2:
        content["closes"] = CLOSES
        if random.random() < 0.5:
            content["deletes"] = DELETES
    if random.random() < 0.15:
        key = urlsafe_b64encode(blind_signature_reference.KEYS[0].n.to_bytes(384, "big")).decode()
        ways: list[Any] = [True, {"from": TICKETS_UNTIL}, {"issuer": "https://council.example", "key": key}]
        content["invitations"] = random.choice(ways)
    elif random.random() < 0.1:
        content["max_reports"] = 100_000
    if random.random() < 0.12:
        with_sizes = random.random() < 0.5
        content["groups"] = {
            name: {"label": name.title()} | ({"size": 1000 * (i + 1)} if with_sizes else {})
            for i, name in enumerate(random.sample(["north", "south", "east"], random.randint(2, 3)))
        }


def translate(content: File, tag: str) -> dict[str, Any]:
    """Return the texts of a file in another language: each with the language's tag before it."""

    def prefix(text: str) -> str:
        return f"{tag}. {text}"

    texts = {
        key: prefix(content[key]) for key in ("title", "description", "consent", "thanks", "contact") if key in content
    }
    sections: list[Any] = []
    questions: dict[str, Any] = {}
    above: Entry = {}
    for entry in content["questions"]:
        if "section" in entry:
            text = {"text": prefix(entry["text"])} if "text" in entry else {}
            sections.append({"title": prefix(entry["section"])} | text)
        elif entry["type"] == "battery":
            if "section" in above:  # right under a section its heading ends the section's introduction
                introduction = [text for text in (above.get("text"), entry["text"]) if text]
                sections[-1]["text"] = prefix(" ".join(introduction))
            else:
                sections.append({"title": prefix(entry["text"])})
            for place, (name, text) in enumerate(entry["statements"].items()):
                points = {} if place else {"points": [prefix(label) for label in entry["points"]]}
                questions[name] = {"text": prefix(text)} | points
        else:
            lists = {key: [prefix(label) for label in entry[key]] for key in ("options", "points") if key in entry}
            unit = {"unit": prefix(entry["unit"])} if "unit" in entry else {}
            questions[entry["id"]] = {"text": prefix(entry["text"])} | lists | unit
        above = entry
    return texts | ({"sections": sections} if sections else {}) | {"questions": questions}


# Faults: each makes a file that is refused, by a message that names a line.

Fault = Callable[[Random, File], str]


def _without(key: str) -> Fault:
    return lambda _, content: spell({name: value for name, value in content.items() if name != key})


def _with(**keys: Any) -> Fault:
    return lambda _, content: spell(content | keys)


def _with_question(question: Entry) -> Fault:
    return lambda _, content: spell(content | {"questions": [*content["questions"], question]})


def _open_bracket(random: Random, content: File) -> str:
    return spell(content).replace("questions:", "questions: [", 1)


def _insert_mark(random: Random, content: File) -> str:
    """Return a file with a punctuation mark too many, anywhere; it may be valid by luck."""
    text = spell(content)
    place = random.randrange(len(text))
    return text[:place] + random.choice(string.punctuation) + text[place:]


def _ask(name: str = "more", kind: str = "yes_no", **keys: Any) -> Entry:
    return {"id": name, "type": kind, "text": "And?"} | keys


FAULTS: list[Fault] = [
    *map(_without, ("slug", "title", "questions", "epsilon")),
    *(_with(**{key: value}) for key, value in (
        ("slug", "Not A Slug"), ("epsilon", -1), ("epsilon", "lots"), ("epsilon", 40), ("ask", "some"), ("colour", "red"),
        ("results", "secret"), ("closes", "tomorrow"), ("closes", "2031-02-30T00:00Z"), ("max_reports", 0), ("title", ""),
        ("language", "Klingon!"), ("joint", [["q0", "nobody"]]), ("groups", {"one": {}}), ("groups", {"a": {"size": 3}, "b": {}}),
        ("invitations", {"issuer": "http://council.example"}), ("completion", "http://panel.example"), ("questions", []),
        ("translations", {"de": {"title": "Nur der Titel"}}), ("opens", "2031-01-01"),
    )),
    *map(_with_question, (
        _ask(kind="essay"), _ask("q0 q0"), _ask(kind="choice", options=["one"]), _ask(kind="choice", options=["a", "a"]),
        _ask(kind="number", min=0, max=10, step=3), _ask(kind="number", min=5, max=1), _ask(kind="scale", points=["a", "b"], scores=[1]),
        _ask(design="coin", optional=True), _ask(design={"warner": 0.5}), _ask(show_if={"question": "later", "is": ["yes"]}),
        _ask(weight=-1), _ask(kind="number", min=0, max=9, bins=99), _ask(kind="number", min=0, max=9, mechanism="gauss"), _ask(hidden=True),
    )),
    _open_bracket, _insert_mark, _insert_mark,
]  # fmt: skip
