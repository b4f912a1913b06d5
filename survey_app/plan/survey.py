"""The table of a whole survey before its launch: every question's ε and margin, and what would change them.

The figures are those of the mechanisms that authoring chooses for this very file. Beside them stand the same questions
with every other `ask`, and for questions that are, or could be, randomized together the cells and margins of both ways.
"""

from collections.abc import Sequence

from msgspec import Struct

from client.definition import Survey
from client.verify import verify
from survey_app.authoring import Built, build_tree
from survey_app.authoring.source import Node, read
from survey_app.plan.advice import advise
from survey_app.plan.cross import Cross, crosses
from survey_app.plan.forecast import Forecast
from survey_app.plan.settings import Settings
from survey_app.plan.variants import Alternative, alternative, alternatives

DEFAULT = Settings(respondents=1000, margin=0.05)


class SurveyPlan(Struct, frozen=True):
    """A survey before its launch."""

    slug: str
    title: str
    epsilon: float
    ask: str
    blocks: list[list[str]]
    respondents: int | None
    settings: Settings
    lines: list[Forecast]
    alternatives: list[Alternative]
    crosses: list[Cross]
    notes: list[str]
    advice: list[str]


def plan_survey(
    source: bytes, settings: Settings = DEFAULT, *, json_file: bool = False, cross: Sequence[Sequence[str]] = ()
) -> SurveyPlan:
    """The plan of an author's file; AuthoringError if it is not one. The settings need respondents and a margin."""
    tree = read(source, json_file=json_file)
    return plan_built(tree, build_tree(tree), settings, cross=cross)


def plan_built(tree: Node, built: Built, settings: Settings, *, cross: Sequence[Sequence[str]] = ()) -> SurveyPlan:
    """The plan of a file that was read and built already."""
    survey = built.survey
    now, others = alternative(built, settings), alternatives(tree, built, settings)
    crossed = crosses(tree, survey, settings, cross)
    return SurveyPlan(
        slug=survey.slug,
        title=survey.title,
        epsilon=float(verify(survey)),
        ask=now.ask,
        blocks=now.blocks,
        respondents=now.respondents,
        settings=settings,
        lines=now.lines,
        alternatives=others,
        crosses=crossed,
        notes=_notes(survey, others),
        advice=[*advise(survey, settings, now, others, crossed), *built.advice],
    )


def _notes(survey: Survey, others: Sequence[Alternative]) -> list[str]:
    """What `ask` does here, where that is not plain from the table."""
    if len(survey.questions) > 1 and len(survey.fields) == 1:
        return ["every device answers everything, as one block"]
    if survey.ask and not any(other.ask == "auto" for other in others):
        return ["these are the blocks that need the fewest respondents"]
    return []
