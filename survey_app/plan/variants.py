"""Variants of a survey: ε split over all questions, the author's blocks, the best blocks.

Each variant is the author's file, changed and built again: with another `ask`, or with other joint fields.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from msgspec import Struct

from candor_client.errors import DefinitionError
from survey_app.authoring import BuiltSurvey, build
from survey_app.authoring.ask import Ask
from survey_app.authoring.yaml_source import AuthoringError, Node
from survey_app.plan.forecast import Forecast, find_sufficient_respondents, forecast_survey
from survey_app.plan.report_variance import POPULATION
from survey_app.plan.target import Settings

VARIANT_NAMES = {Ask.ALL: "everything split", Ask.ONE: "your blocks", Ask.AUTO: "best blocks"}
HALF_SHARE = 0.5  # the share at which most respondents are needed


class Variant(Struct, frozen=True):
    """The questions with one `ask`: the blocks, the forecasts, and the respondents for the margins of all questions.

    `at_half` is that number if all shares are ½. `least` is the block that is drawn least often, and `fewest` the
    fraction of respondents who answer it.
    """

    ask: Ask
    name: str
    blocks: list[list[str]]
    least: list[str]
    fewest: float
    respondents: int | None
    at_half: int | None
    lines: list[Forecast]


class RefusedVariant(Struct, frozen=True):
    """A variant that cannot be built, with the reason and its code."""

    ask: Ask
    name: str
    code: str
    reason: str


def build_variant(
    tree: Node, *, ask: Ask | None = None, joint: Sequence[Sequence[str]] | None = None
) -> BuiltSurvey | None:
    """Build the survey with this `ask` and exactly these joint fields; return None if it cannot be built."""
    try:
        return _rebuild(tree, ask, joint)
    except (AuthoringError, DefinitionError):
        return None


def _rebuild(tree: Node, ask: Ask | None, joint: Sequence[Sequence[str]] | None = None) -> BuiltSurvey:
    content = cast(dict[str, Any], tree.plain())
    content.pop("groups", None)  # all groups answer the same questions
    if ask is not None:
        content["ask"] = ask
    if joint is not None:
        content.pop("joint", None)
        content |= {"joint": [list(group) for group in joint]} if joint else {}
    return build(json.dumps(content, ensure_ascii=False).encode(), json_file=True, bare=True)


def plan_variants(tree: Node, built: BuiltSurvey, settings: Settings) -> tuple[list[Variant], list[RefusedVariant]]:
    """Return the variants of a file with each `ask`, and the refused ones with their reasons."""
    variants, refused = list[Variant](), list[RefusedVariant]()
    for ask, name in VARIANT_NAMES.items():
        try:
            variants.append(_plan_variant(built if ask == built.design.ask else _rebuild(tree, ask), ask, settings))
        except (AuthoringError, DefinitionError) as error:
            refused.append(RefusedVariant(ask, name, error.code, error.reason))
    return variants, refused


def _plan_variant(built: BuiltSurvey, ask: Ask, settings: Settings) -> Variant:
    survey = built.survey
    if survey.ask and settings.target.sample:  # as in the results
        settings = replace(settings, target=POPULATION)
    lines = forecast_survey(survey, settings)
    least = min(survey.fields, key=survey.answer_probability)
    half = replace(settings, guess=replace(settings.guess, share=HALF_SHARE))
    return Variant(
        ask,
        VARIANT_NAMES[ask],
        [[question.id for question in field.questions] for field in survey.fields],
        [question.id for question in least.questions],
        float(survey.answer_probability(least)),
        find_sufficient_respondents(lines),
        find_sufficient_respondents(forecast_survey(survey, half)),
        lines,
    )


def read_joint_fields(tree: Node) -> list[list[str]]:
    """Return the joint fields in an author's file, as lists of question ids."""
    return [[node.text() for node in group.items()] for group in _list_items(tree.members().get("joint"))]


def _list_items(node: Node | None) -> list[Node]:
    return node.items() if node else []
