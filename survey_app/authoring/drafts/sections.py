"""What stands among the questions and is none: headings and batteries, as the editor's forms have them.

The statements of a battery are lines of a field, each with its id before it; one that was typed without an id gets it
from its first words.
"""

import re

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.entries import OF_BATTERY
from survey_app.authoring.yaml_source import Plain

SECTION = "section"
KEYS = {SECTION: ("section", "text"), BATTERY: ("type", "text", "points", "statements", *OF_BATTERY)}
NEEDED = {SECTION: {"section"}, BATTERY: {"text", "points", "statements"}}
STATEMENT = re.compile(r"([a-z0-9][a-z0-9_-]{0,62}):\s*(.*)")
MOST_WORDS = 4  # of a statement that make its id


def new_entry(kind: str) -> dict[str, Plain]:
    """A section or a battery to begin with: it says nothing that nobody has written."""
    return {"section": ""} if kind == SECTION else {"type": kind, "text": "", "points": [], "statements": {}}


def handle_of(entry: Plain) -> str:
    """What an entry is recognized by when it has moved: an id, or the words of a heading."""
    named = entry.get(SECTION) if isinstance(entry, dict) else None
    return next(iter(ids_of(entry)), named if isinstance(named, str) else "")


def texts_of(entry: dict[str, Plain]) -> dict[str, str]:
    """What the questions of an entry ask, by their ids."""
    statements = entry.get("statements")
    words = statements if entry.get("type") == BATTERY and isinstance(statements, dict) else {}
    return {name: str(words.get(name, entry.get("text", ""))) for name in ids_of(entry) if name}


def show_statements(key: str, value: Plain | None) -> dict[str, str]:
    """Statements one a line; no field for what is none."""
    if value in (None, "", {}):
        return {key: ""}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return {}
    return {key: "\n".join(f"{name}: {' '.join(str(text).split())}" for name, text in value.items())}


def statements_of(lines: list[str]) -> dict[str, Plain]:
    """What was typed, by ids that differ."""
    found: dict[str, Plain] = {}
    for line in filter(None, lines):
        match = STATEMENT.fullmatch(line)
        words = re.findall(r"[a-z0-9]+", line.lower())[:MOST_WORDS]
        name, text = (match[1], match[2]) if match else ("_".join(words)[:40] or "s", line)
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name[:58]}-{number}"
        found[free] = text
    return found
