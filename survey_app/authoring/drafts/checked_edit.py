"""One change at a place of an author's file, and the check that nothing else changed.

A place is a path of keys and positions. The new text is parsed again and compared with the intended content. If they
differ, the edit is refused and the text stays unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from survey_app.authoring.drafts import splice
from survey_app.authoring.yaml_source import AuthoringError, Plain, read_content

BOM = "\ufeff"

Path = Sequence[str | int]


class EditError(Exception):
    """An edit that is impossible in this file: a stable code, and a message that tells the author what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def make_finder(path: Path) -> Callable[[Any], Any]:
    """Return a function that finds the node at a path, from the root of a text."""

    def find(root: Any) -> Any:
        for step in path:
            root = root.value[step] if isinstance(step, int) else splice.entries_of(root)[step][1]
        return root

    return find


def set_values(text: str, find: Callable[[Any], Any], changes: Mapping[str, Plain | None], order: Sequence[str]) -> str:
    """Set keys of the mapping that `find` returns, and return the new text. None as a value removes the key."""
    mapping = find(splice.compose(text))
    entries = splice.entries_of(mapping)
    values = {key: value for key, value in changes.items() if value is not None}
    cuts = [splice.replace_value(text, mapping, key, value) for key, value in values.items() if key in entries]
    new = {key: value for key, value in values.items() if key not in entries}
    text = splice.apply_cuts(text, [*cuts, *splice.insert_entries(text, mapping, new, order)])
    for key in (key for key, value in changes.items() if value is None and key in entries):
        text = splice.apply_cuts(text, [splice.drop_entry(text, find(splice.compose(text)), key)])
    return text


def merge(
    text: str, path: Path, old: Mapping[str, Plain], new: Mapping[str, Plain], order: Callable[[Path], Sequence[str]]
) -> str:
    """Change the mapping at a path from `old` to `new`, key by key, and return the new text.

    Mappings inside it are changed in the same way.
    """
    changes: dict[str, Plain | None] = {key: None for key in old if key not in new}
    for key, value in new.items():
        old_value = old.get(key)
        if isinstance(old_value, dict) and isinstance(value, dict) and old_value and value and old_value != value:
            text = merge(text, [*path, key], old_value, value, order)
        elif old_value != value:
            changes[key] = value
    return set_values(text, make_finder(path), changes, order(path)) if changes else text


def verify_edit(source: bytes, text: str, expected: Mapping[str, Plain]) -> bytes:
    """Return the new file if its content is as expected. Raise EditError if it is not."""
    mark = BOM if source.startswith(BOM.encode()) else ""
    new_source = (mark + text).encode()
    try:
        read_back: Plain = read_content(new_source).data
    except AuthoringError as error:
        read_back = str(error)
    if _trim(read_back) != _trim({**expected}):
        raise EditError(
            "not_editable",
            "The editor cannot make this change without touching other parts of the file. Edit the YAML instead.",
        )
    return new_source


def _trim(value: Plain) -> Plain:
    """Return the value without the space around texts, which authoring ignores."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_trim(item) for item in value]
    return {key: _trim(member) for key, member in value.items()}
