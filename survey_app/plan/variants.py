"""The ways to ask the same questions: everything split, the author's own blocks, the best blocks.

Each is the author's own file, changed and built again: with another `ask`, or with other joint fields.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from msgspec import Struct

from client.errors import DefinitionError
from survey_app.authoring import Built, build
from survey_app.authoring.ask import Ask
from survey_app.authoring.source import AuthoringError, Node
from survey_app.plan.forecast import Forecast, enough, forecasts
from survey_app.plan.settings import Settings
from survey_app.plan.spread import POPULATION

NAMES = {Ask.ALL: "everything split", Ask.ONE: "your blocks", Ask.AUTO: "best blocks"}
HALF = 0.5  # the share at which most respondents are needed


class Way(Struct, frozen=True):
    """The same questions with one `ask`: their blocks, what they tell, and the respondents for all margins.

    `at_half` is how many those are if all shares are ½, whatever the blocks were made for; `least` is the block that is
    drawn least often, `fewest` the part of all respondents who answer it.
    """

    ask: Ask
    name: str
    blocks: list[list[str]]
    least: list[str]
    fewest: float
    respondents: int | None
    at_half: int | None
    lines: list[Forecast]


class Refused(Struct, frozen=True):
    """A way that these questions do not go, and why."""

    ask: Ask
    name: str
    reason: str


def variant(tree: Node, *, ask: Ask | None = None, joint: Sequence[Sequence[str]] | None = None) -> Built | None:
    """The survey with this `ask`, and with exactly these joint fields; None if it cannot be built."""
    try:
        return _built(tree, ask, joint)
    except (AuthoringError, DefinitionError):
        return None


def _built(tree: Node, ask: Ask | None, joint: Sequence[Sequence[str]] | None = None) -> Built:
    content = cast(dict[str, Any], tree.plain())
    content.pop("groups", None)  # all of them are asked alike
    if ask is not None:
        content["ask"] = ask
    if joint is not None:
        content.pop("joint", None)
        content |= {"joint": [list(group) for group in joint]} if joint else {}
    return build(json.dumps(content, ensure_ascii=False).encode(), json_file=True, bare=True)


def ways(tree: Node, built: Built, settings: Settings) -> tuple[list[Way], list[Refused]]:
    """The file with each `ask`, its own among them, and those that it cannot have."""
    found, refused = list[Way](), list[Refused]()
    for ask, name in NAMES.items():
        try:
            found.append(_way(built if ask == built.design.ask else _built(tree, ask), ask, settings))
        except (AuthoringError, DefinitionError) as error:
            refused.append(Refused(ask, name, error.reason))
    return found, refused


def _way(built: Built, ask: Ask, settings: Settings) -> Way:
    survey = built.survey
    if survey.ask and settings.target.sample:  # as the results will have it
        settings = replace(settings, target=POPULATION)
    lines = forecasts(survey, settings)
    least = min(survey.fields, key=survey.part)
    half = replace(settings, guess=replace(settings.guess, share=HALF))
    return Way(
        ask,
        NAMES[ask],
        [[question.id for question in field.questions] for field in survey.fields],
        [question.id for question in least.questions],
        float(survey.part(least)),
        enough(lines),
        enough(forecasts(survey, half)),
        lines,
    )


def joint_of(tree: Node) -> list[list[str]]:
    """The joint fields that an author planned."""
    return [[node.text() for node in group.items()] for group in _members(tree.members().get("joint"))]


def _members(node: Node | None) -> list[Node]:
    return node.items() if node else []
