"""The other entries among the questions, headings and batteries, in the editor's forms.

The statements of a battery are lines of a field, each with its id in front. A statement without an id gets one from its
first words.
"""

import re

from survey_app.authoring.authored_question import BATTERY
from survey_app.authoring.diagnostics import ids_of
from survey_app.authoring.entries import OPTIONAL_BATTERY_KEYS
from survey_app.authoring.yaml_source import Plain

SECTION = "section"
KEYS = {SECTION: ("section", "text"), BATTERY: ("type", "text", "points", "statements", *OPTIONAL_BATTERY_KEYS)}
REQUIRED_KEYS = {SECTION: {"section"}, BATTERY: {"text", "points", "statements"}}
STATEMENT = re.compile(r"([a-z0-9][a-z0-9_-]{0,62}):\s*(.*)")
MOST_WORDS = 4  # of a statement, in its id


def make_entry(kind: str) -> dict[str, Plain]:
    """Return a new section or battery without any content."""
    return {"section": ""} if kind == SECTION else {"type": kind, "text": "", "points": [], "statements": {}}


def handle_of(entry: Plain) -> str:
    """Return a text that identifies an entry even after it has moved: an id, or the words of a heading."""
    heading = entry.get(SECTION) if isinstance(entry, dict) else None
    return next(iter(ids_of(entry)), heading if isinstance(heading, str) else "")


def texts_of(entry: dict[str, Plain]) -> dict[str, str]:
    """Return the texts of the questions of an entry, by their ids."""
    statements = entry.get("statements")
    words = statements if entry.get("type") == BATTERY and isinstance(statements, dict) else {}
    return {name: str(words.get(name, entry.get("text", ""))) for name in ids_of(entry) if name}


def show_statements(key: str, value: Plain | None) -> dict[str, str]:
    """Return the field of statements, one per line. Return no field if the value is not a mapping of texts."""
    if value in (None, "", {}):
        return {key: ""}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return {}
    return {key: "\n".join(f"{name}: {' '.join(str(text).split())}" for name, text in value.items())}


def parse_statements(lines: list[str]) -> dict[str, Plain]:
    """Return the statements in these lines, by distinct ids."""
    statements: dict[str, Plain] = {}
    for line in filter(None, lines):
        match = STATEMENT.fullmatch(line)
        words = re.findall(r"[a-z0-9]+", line.lower())[:MOST_WORDS]
        name, text = (match[1], match[2]) if match else ("_".join(words)[:40] or "s", line)
        number, free_id = 1, name
        while free_id in statements:
            number += 1
            free_id = f"{name[:58]}-{number}"
        statements[free_id] = text
    return statements
