"""The groups of a study in the editor: rows of a form, and the small changes that they make in the file.

A row is a group: its label, the end of its link, and its number of people. A row without a name and a label is not
a group. So emptying a row removes the group, and the empty rows at the end are for new ones. Groups that stay keep
their place and their comments.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.edits import EditError, read_content, set_survey, set_values, verify_edit
from survey_app.authoring.drafts.form_fields import FieldValues, tidy
from survey_app.authoring.drafts.yaml_text import format_scalar
from survey_app.authoring.yaml_source import Plain

EMPTY_ROWS = 2
PARTS = ("label", "name", "size")
KEYS = ("label", "size")
LONGEST_NAME = 40  # of a name that is derived from a label


class GroupRow(NamedTuple):
    """A group in the form: its name before, if it existed; its new name; and its label and size, if any."""

    old_name: str
    name: str
    label: str
    size: str

    @property
    def data(self) -> dict[str, Plain]:
        """The members below its name in the file."""
        return {key: text for key, text in (("label", self.label), ("size", self.size)) if text}


def show_groups(data: Mapping[str, Plain]) -> FieldValues:
    """Return the fields of the form, with empty rows at the end.

    Return none if a form cannot show the groups of the file.
    """
    rows = _read_rows(data)
    if rows is None:
        return {}
    fields = {"groups": str(len(rows) + EMPTY_ROWS)}
    for place, row in enumerate([*rows, *[GroupRow("", "", "", "")] * EMPTY_ROWS]):
        fields |= {_field(place, part): getattr(row, part) for part in PARTS}
    return fields


def _field(place: int, part: str) -> str:
    return f"group-{place}-{part}"


def _read_rows(data: Mapping[str, Plain]) -> list[GroupRow] | None:
    groups = data.get("groups", {})
    if groups == "":
        return []
    if not isinstance(groups, dict):
        return None
    rows: list[GroupRow] = []
    for name, member in groups.items():
        fields = member if isinstance(member, dict) else {}
        label, size = (fields.get(key, "") for key in KEYS)
        if not (isinstance(label, str) and isinstance(size, str) and set(fields) <= set(KEYS)):
            return None
        if not isinstance(member, dict) and member != "":
            return None
        rows.append(GroupRow(name, name, tidy(label), tidy(size)))
    return rows


def parse_rows(data: Mapping[str, Plain], form: Mapping[str, str]) -> list[GroupRow] | None:
    """Return the groups that a form requests, or None if it changes nothing."""
    old = _read_rows(data)
    if old is None or not form.get("groups", "").isdecimal():
        return None
    fields, rows = show_groups(data), list[GroupRow]()
    for place in range(min(int(form["groups"]), len(old) + EMPTY_ROWS)):
        label, name, size = (
            " ".join(tidy(form.get(_field(place, part), fields[_field(place, part)])).split()) for part in PARTS
        )
        if not label and not name:
            continue
        size = re.sub(r"(?<=\d),(?=\d{3})", "", size)  # as numbers of people are written
        used_names = {row.name for row in rows} | {row.name for row in old[place + 1 :]}
        rows.append(
            GroupRow(
                old[place].old_name if place < len(old) else "", name or make_group_name(label, used_names), label, size
            )
        )
    return None if rows == old else rows


def make_group_name(label: str, used_names: set[str]) -> str:
    """Return a name for a group that resembles its label, and that no other group has."""
    plain = unicodedata.normalize("NFKD", label.lower()).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].strip("-") or "group"
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(used_names) + 2))
    return next(name for name in names if name not in used_names)


def set_groups(source: bytes, rows: Sequence[GroupRow]) -> bytes:
    """Set the groups of a study, and return the new file. Raise EditError if two groups have the same name.

    Groups that stay keep their place in the file, and new ones come last.
    """
    content = read_content(source)
    old = content.data.get("groups")
    if len({row.name for row in rows}) < len(rows):
        raise EditError("duplicate", "Two groups have the same link. Change one of them.")
    if not isinstance(old, dict) or not any(row.old_name in old for row in rows):
        return set_survey(source, {"groups": {row.name: row.data for row in rows} or None})
    text, remaining = content.text, [row for row in rows if row.old_name in old]
    for name in set(old) - {row.old_name for row in remaining}:
        text = splice.apply_cuts(text, [splice.drop_entry(text, _groups(splice.compose(text)), name)])
    node = _groups(splice.compose(text))
    renamed = [row for row in remaining if row.name != row.old_name]
    text = splice.apply_cuts(
        text, [splice.rename_key(text, node, row.old_name, format_scalar(row.name, flow=True)) for row in renamed]
    )
    expected: dict[str, Plain] = {row.name: row.data for row in rows}
    for row in remaining:
        old_value = old[row.old_name]
        if not row.data and not old_value:
            expected[row.name] = old_value
        elif row.data and isinstance(old_value, dict) and old_value:
            changes = {key: row.data.get(key) for key in KEYS if row.data.get(key) != old_value.get(key)}
            text = set_values(text, _group(row.name), changes, KEYS)
        else:
            text = set_values(text, _groups, {row.name: row.data}, ())
    text = set_values(text, _groups, {row.name: row.data for row in rows if row not in remaining}, ())
    return verify_edit(source, text, {**content.data, "groups": expected})


def _groups(root: Any) -> Any:
    return splice.entries_of(root)["groups"][1]


def _group(name: str) -> Callable[[Any], Any]:
    return lambda root: splice.entries_of(_groups(root))[name][1]
