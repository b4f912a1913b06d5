"""A survey as it would be with another `ask` or other joint fields: the author's own file, changed and built again."""

import json
from collections.abc import Sequence
from typing import Any, cast

from client.errors import DefinitionError
from survey_app.authoring import Built, build
from survey_app.authoring.source import AuthoringError, Node


def variant(
    tree: Node, *, ask: str | None = None, joint: Sequence[Sequence[str]] | None = None, drop_ask: bool = False
) -> Built | None:
    """The survey with this `ask` (or without), and with exactly these joint fields; None if it cannot be built."""
    content = cast(dict[str, Any], tree.plain())
    if ask is not None:
        content["ask"] = ask
    elif drop_ask:
        content.pop("ask", None)
    if joint is not None:
        content.pop("joint", None)
        content |= {"joint": [list(group) for group in joint]} if joint else {}
    try:
        return build(json.dumps(content, ensure_ascii=False).encode(), json_file=True)
    except (AuthoringError, DefinitionError):
        return None


def joint_of(tree: Node) -> list[list[str]]:
    """The joint fields that an author planned."""
    return [[node.text() for node in group.items()] for group in _members(tree.members().get("joint"))]


def _members(node: Node | None) -> list[Node]:
    return node.items() if node else []
