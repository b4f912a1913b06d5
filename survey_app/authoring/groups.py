"""The groups of a study: one file becomes several surveys, each with its own link.

The server knows the group of a respondent because it issued the link, never from an answer. So every group is a survey
of its own. The definitions differ only in slug and group, so a guarantee for one holds for all.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from candor_client.canonical import NAME, parse_name, parse_text
from survey_app.authoring.yaml_source import Node

LEAST_GROUPS, MOST_GROUPS = 2, 200
LONGEST_SLUG = 63
# Characters that Unicode lets a screen omit, except those refused anyway: joiners, marks of direction and variation,
# controls of shorthand, music and hieroglyphs. Two labels that differ only in these look the same.
INVISIBLE = re.compile(
    "[\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u2065\ufe00-\ufe0f\ufff0-\ufff8"
    "\U00013430-\U00013440\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff]"
)


class Group(NamedTuple):
    """A group of people: its id, the label that respondents read, and its size if that is known."""

    id: str
    label: str
    size: int | None = None


def read_groups(node: Node, study: str) -> tuple[Group, ...]:
    """Return the groups below the key `groups`. Their ids become the ends of slugs. Raise AuthoringError if invalid."""
    members = node.members()
    if not LEAST_GROUPS <= len(members) <= MOST_GROUPS:
        raise node.error("group_count", f"a study needs {LEAST_GROUPS} to {MOST_GROUPS} groups, not {len(members)}")
    groups = tuple(_parse_groups(members, study))
    has_size = [group.size is not None for group in groups]
    if any(has_size) and not all(has_size):
        sized, unsized = groups[has_size.index(True)].id, groups[has_size.index(False)].id
        raise members[unsized].error(
            "size_missing", f"{sized} has a size and {unsized} has none; give a size to every group, or to none"
        )
    return groups


def _parse_groups(members: dict[str, Node], study: str) -> Iterator[Group]:
    labels: dict[str, str] = {}
    for name, node in members.items():
        if not NAME.fullmatch(name):
            raise node.error(
                "bad_name", "the name of a group must be 1 to 63 of a-z, 0-9, _ and -, not starting with - or _"
            )
        if len(slug := slug_of(study, name)) > LONGEST_SLUG:
            raise node.error(
                "too_long",
                f"the address {slug} has {len(slug)} characters; at most {LONGEST_SLUG} are allowed: shorten the name",
            )
        fields = node.mapping((), ("label", "size")) if node.value != "" else {}
        label = parse_text(fields["label"].text(), fields["label"].path) if "label" in fields else name
        if (folded_label := _fold(label)) in labels:
            raise node.error(
                "duplicate", f"the label {label!r} looks like that of group {labels[folded_label]}; change one of them"
            )
        labels[folded_label] = name
        yield Group(name, label, fields["size"].integer(1) if "size" in fields else None)


def _fold(label: str) -> str:
    """Return a key that is equal for two labels that a reader could confuse.

    Compatibility variants, cases and spaces are unified. Invisible characters are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())
    return " ".join(INVISIBLE.sub("", folded).split())


def slug_of(study: str, group: str) -> str:
    """Return the slug of a group's survey."""
    return f"{study}-{group}"


def read_study_slug(node: Node) -> str:
    """Return the slug of the study, which none of its surveys has. Raise an error if it is not a valid name."""
    return parse_name(node.text(), node.path)
