"""One change at a place of an author's file, and the proof that nothing else changed.

A place is a path of keys and positions. The new text, read again, must say what was asked for and nothing else; if it
does not, the edit is refused and the text stays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from survey_app.authoring.drafts import splice
from survey_app.authoring.yaml_source import AuthoringError, Plain, content_of

BOM = "\ufeff"

Path = Sequence[str | int]


class EditError(Exception):
    """An edit that this file does not take; the message says what to do."""


def at(path: Path) -> Callable[[Any], Any]:
    """How the node at a path is found from the root of a text."""

    def find(root: Any) -> Any:
        for step in path:
            root = root.value[step] if isinstance(step, int) else splice.pairs(root)[step][1]
        return root

    return find


def put(text: str, find: Callable[[Any], Any], changes: Mapping[str, Plain | None], order: Sequence[str]) -> str:
    """Other values for keys of the mapping that is found in a text; None takes a key away."""
    mapping = find(splice.compose(text))
    there = splice.pairs(mapping)
    given = {key: value for key, value in changes.items() if value is not None}
    cuts = [splice.replace_value(text, mapping, key, value) for key, value in given.items() if key in there]
    new = {key: value for key, value in given.items() if key not in there}
    text = splice.apply(text, [*cuts, *splice.insert_entries(text, mapping, new, order)])
    for key in (key for key, value in changes.items() if value is None and key in there):
        text = splice.apply(text, [splice.drop_entry(text, find(splice.compose(text)), key)])
    return text


def merge(
    text: str, path: Path, old: Mapping[str, Plain], new: Mapping[str, Plain], order: Callable[[Path], Sequence[str]]
) -> str:
    """Change a mapping from what it says to what it should say, key by key, and mappings inside of it likewise."""
    changes: dict[str, Plain | None] = {key: None for key in old if key not in new}
    for key, value in new.items():
        was = old.get(key)
        if isinstance(was, dict) and isinstance(value, dict) and was and value and was != value:
            text = merge(text, [*path, key], was, value, order)
        elif was != value:
            changes[key] = value
    return put(text, at(path), changes, order(path)) if changes else text


def finish(source: bytes, text: str, expected: Mapping[str, Plain]) -> bytes:
    """The new file, if it says what it should."""
    mark = BOM if source.startswith(BOM.encode()) else ""
    done = (mark + text).encode()
    try:
        read_back: Plain = content_of(done).said
    except AuthoringError as error:
        read_back = str(error)
    if _trimmed(read_back) != _trimmed({**expected}):
        raise EditError(
            "This file is written in a way that the editor cannot change here without touching the rest of it. "
            "Change it in its YAML instead."
        )
    return done


def _trimmed(value: Plain) -> Plain:
    """The value without the space around texts, which authoring does not read."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    return {key: _trimmed(member) for key, member in value.items()}
