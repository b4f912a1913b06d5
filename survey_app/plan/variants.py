"""A survey as it would be with another `ask` or other joint fields: the author's own file, changed and built again."""

import json
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from client.errors import DefinitionError
from survey_app.authoring import Built, build
from survey_app.authoring.fields import ASK
from survey_app.authoring.source import AuthoringError, Node
from survey_app.plan.forecast import Forecast, enough, forecasts
from survey_app.plan.settings import Settings


class Alternative(Struct, frozen=True):
    """The same questions with some `ask`: their blocks, what they tell, and the respondents for all margins."""

    ask: str
    blocks: list[list[str]]
    respondents: int | None
    lines: list[Forecast]


def variant(tree: Node, *, ask: str | None = None, joint: Sequence[Sequence[str]] | None = None) -> Built | None:
    """The survey with this `ask`, and with exactly these joint fields; None if it cannot be built."""
    content = cast(dict[str, Any], tree.plain())
    if ask is not None:
        content["ask"] = ask
    if joint is not None:
        content.pop("joint", None)
        content |= {"joint": [list(group) for group in joint]} if joint else {}
    try:
        return build(json.dumps(content, ensure_ascii=False).encode(), json_file=True)
    except (AuthoringError, DefinitionError):
        return None


def alternative(built: Built, settings: Settings) -> Alternative:
    """A survey as one of several to choose from."""
    lines = forecasts(built.survey, settings)
    blocks = [[question.id for question in field.questions] for field in built.survey.fields]
    return Alternative(built.design.ask, blocks, enough(lines), lines)


def alternatives(tree: Node, built: Built, settings: Settings) -> list[Alternative]:
    """The same file with the other words for `ask`, as far as they make another survey."""
    found, seen = list[Alternative](), {built.survey.source}
    for ask in ASK:
        other = variant(tree, ask=ask)
        if other and other.survey.source not in seen:
            seen.add(other.survey.source)
            found.append(alternative(other, settings))
    return found


def joint_of(tree: Node) -> list[list[str]]:
    """The joint fields that an author planned."""
    return [[node.text() for node in group.items()] for group in _members(tree.members().get("joint"))]


def _members(node: Node | None) -> list[Node]:
    return node.items() if node else []
