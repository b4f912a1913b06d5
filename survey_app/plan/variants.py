"""A survey as it would be with another `ask` or other joint fields: the author's own file, changed and built again."""

import json
from collections.abc import Sequence
from typing import Any

from client.errors import DefinitionError
from survey_app.authoring import Draft, build
from survey_app.authoring.source import AuthoringError, Node


def variant(
    tree: Node, *, ask: str | None = None, joint: Sequence[Sequence[str]] | None = None, drop_ask: bool = False
) -> Draft | None:
    """The draft with this `ask` (or without), and with exactly these joint fields; None if it cannot be built."""
    said = plain(tree)
    if ask is not None:
        said["ask"] = ask
    elif drop_ask:
        said.pop("ask", None)
    if joint is not None:
        said.pop("joint", None)
        said |= {"joint": [list(group) for group in joint]} if joint else {}
    try:
        return build(json.dumps(said, ensure_ascii=False).encode(), json_file=True)
    except (AuthoringError, DefinitionError):
        return None


def plain(node: Node) -> Any:
    """What a node holds, as lists, mappings and text."""
    if isinstance(node.value, dict):
        return {key: plain(member) for key, member in node.value.items()}
    if isinstance(node.value, list):
        return [plain(member) for member in node.value]
    return node.value


def joint_of(tree: Node) -> list[list[str]]:
    """The joint fields that an author planned."""
    return [[node.text() for node in group.items()] for group in _members(tree.members().get("joint"))]


def _members(node: Node | None) -> list[Node]:
    return node.items() if node else []
