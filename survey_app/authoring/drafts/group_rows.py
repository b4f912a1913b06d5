"""The groups of a study in the editor: rows of a form, and the little that they change in the file.

A row is a group: what respondents read, the end of its link, and how many people it has. A row without a name and a
label is no group; so emptying one takes the group away, and the empty rows below are for new ones. Groups that stay
keep their place and their comments.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from survey_app.authoring.drafts import splice
from survey_app.authoring.drafts.edits import EditError, content_of, finish, put, set_survey
from survey_app.authoring.drafts.form_fields import Shown, tidy
from survey_app.authoring.drafts.yaml_text import scalar
from survey_app.authoring.yaml_source import Plain

EMPTY_ROWS = 2
PARTS = ("label", "name", "size")
KEYS = ("label", "size")
LONGEST_NAME = 40  # of one that is made of a label


class Row(NamedTuple):
    """A group as it shall be: what it was called, if it was there; its name now, its label and its size, if any."""

    was: str
    name: str
    label: str
    size: str

    @property
    def said(self) -> dict[str, Plain]:
        """What stands below its name."""
        return {key: text for key, text in (("label", self.label), ("size", self.size)) if text}


def show(said: Mapping[str, Plain]) -> Shown:
    """The fields of the form, with empty rows at the end; nothing where a form cannot show what the file says."""
    rows = _rows(said)
    if rows is None:
        return {}
    fields = {"groups": str(len(rows) + EMPTY_ROWS)}
    for place, row in enumerate([*rows, *[Row("", "", "", "")] * EMPTY_ROWS]):
        fields |= {_field(place, part): getattr(row, part) for part in PARTS}
    return fields


def _field(place: int, part: str) -> str:
    return f"group-{place}-{part}"


def _rows(said: Mapping[str, Plain]) -> list[Row] | None:
    groups = said.get("groups", {})
    if groups == "":
        return []
    if not isinstance(groups, dict):
        return None
    rows: list[Row] = []
    for name, member in groups.items():
        known = member if isinstance(member, dict) else {}
        label, size = (known.get(key, "") for key in KEYS)
        if not (isinstance(label, str) and isinstance(size, str) and set(known) <= set(KEYS)):
            return None
        if not isinstance(member, dict) and member != "":
            return None
        rows.append(Row(name, name, tidy(label), tidy(size)))
    return rows


def wanted(said: Mapping[str, Plain], sent: Mapping[str, str]) -> list[Row] | None:
    """The groups that a form asks for; None where it changes nothing."""
    old = _rows(said)
    if old is None or not sent.get("groups", "").isdecimal():
        return None
    shown, rows = show(said), list[Row]()
    for place in range(min(int(sent["groups"]), len(old) + EMPTY_ROWS)):
        label, name, size = (
            " ".join(tidy(sent.get(_field(place, part), shown[_field(place, part)])).split()) for part in PARTS
        )
        if not label and not name:
            continue
        size = re.sub(r"(?<=\d),(?=\d{3})", "", size)  # as numbers of people are written
        taken = {row.name for row in rows} | {row.name for row in old[place + 1 :]}
        rows.append(Row(old[place].was if place < len(old) else "", name or named_like(label, taken), label, size))
    return None if rows == old else rows


def named_like(label: str, taken: set[str]) -> str:
    """The end of a link that reads like a label."""
    plain = unicodedata.normalize("NFKD", label.lower()).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME].strip("-") or "group"
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def set_groups(source: bytes, rows: Sequence[Row]) -> bytes:
    """Other groups; those that stay keep their place in the file, and new ones come last."""
    content = content_of(source)
    old = content.said.get("groups")
    if len({row.name for row in rows}) < len(rows):
        raise EditError("Two groups have the same link.")
    if not isinstance(old, dict) or not any(row.was in old for row in rows):
        return set_survey(source, {"groups": {row.name: row.said for row in rows} or None})
    text, kept = content.text, [row for row in rows if row.was in old]
    for name in set(old) - {row.was for row in kept}:
        text = splice.apply(text, [splice.drop_entry(text, _groups(splice.compose(text)), name)])
    node = _groups(splice.compose(text))
    renamed = [row for row in kept if row.name != row.was]
    text = splice.apply(text, [splice.rename_key(text, node, row.was, scalar(row.name, flow=True)) for row in renamed])
    expected: dict[str, Plain] = {row.name: row.said for row in rows}
    for row in kept:
        said = old[row.was]
        if not row.said and not said:
            expected[row.name] = said
        elif row.said and isinstance(said, dict) and said:
            differ = {key: row.said.get(key) for key in KEYS if row.said.get(key) != said.get(key)}
            text = put(text, _group(row.name), differ, KEYS)
        else:
            text = put(text, _groups, {row.name: row.said}, ())
    text = put(text, _groups, {row.name: row.said for row in rows if row not in kept}, ())
    return finish(source, text, {**content.said, "groups": expected})


def _groups(root: Any) -> Any:
    return splice.pairs(root)["groups"][1]


def _group(name: str) -> Callable[[Any], Any]:
    return lambda root: splice.pairs(_groups(root))[name][1]
