"""One file, several surveys: the groups of a study, each with a link of its own.

The server knows who belongs to which group because it gave out the link, never because somebody answered. So every
group is a survey of its own, and their definitions differ in slug and group alone: what holds for one holds for all.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from client.canonical import NAME, name_at, plain_text
from survey_app.authoring.source import Node

LEAST_GROUPS, MOST_GROUPS = 2, 200
LONGEST_SLUG = 63
# What Unicode lets a screen leave out, but for what is refused anyway: joiners, marks of direction and variation,
# controls of shorthand, music and hieroglyphs. A label that differs from another in these alone looks the same.
WITHOUT_A_LOOK = re.compile(
    "[\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u2065\ufe00-\ufe0f\ufff0-\ufff8"
    "\U00013430-\U00013440\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff]"
)


class Group(NamedTuple):
    """A part of the people: its id, what respondents read, and how many belong to it, if that is known."""

    id: str
    label: str
    size: int | None = None


def read_groups(node: Node, study: str) -> tuple[Group, ...]:
    """What stands below `groups`; ids become the ends of slugs."""
    members = node.members()
    if not LEAST_GROUPS <= len(members) <= MOST_GROUPS:
        raise node.error(f"a study has from {LEAST_GROUPS} to {MOST_GROUPS} groups, not {len(members)}")
    groups = tuple(_read(members, study))
    sized = [group.size is not None for group in groups]
    if any(sized) and not all(sized):
        known, unknown = groups[sized.index(True)].id, groups[sized.index(False)].id
        raise members[unknown].error(f"{known} has a size and {unknown} has none: give every group one, or none")
    return groups


def _read(members: dict[str, Node], study: str) -> Iterator[Group]:
    labels: dict[str, str] = {}
    for name, node in members.items():
        if not NAME.fullmatch(name):
            raise node.error("a group is named by 1 to 63 of a-z, 0-9, _ and -, not starting with - or _")
        if len(slug := slug_of(study, name)) > LONGEST_SLUG:
            raise node.error(f"the address {slug} has {len(slug)} characters; {LONGEST_SLUG} are possible")
        said = node.mapping((), ("label", "size")) if node.value != "" else {}
        label = plain_text(said["label"].text(), said["label"].path) if "label" in said else name
        if (sight := _fold(label)) in labels:
            raise node.error(f"respondents would read {label!r} for {labels[sight]} too")
        labels[sight] = name
        yield Group(name, label, said["size"].integer(1) if "size" in said else None)


def _fold(label: str) -> str:
    """Return what two labels have in common that a reader could take for one another.

    Compatible characters and cases are one, as are spaces; characters without a look of their own are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())
    return " ".join(WITHOUT_A_LOOK.sub("", folded).split())


def slug_of(study: str, group: str) -> str:
    """The slug of a group's survey."""
    return f"{study}-{group}"


def checked_study(node: Node) -> str:
    """The slug of the study, which no survey has."""
    return name_at(node.text(), node.path)
