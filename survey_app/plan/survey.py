"""The table of a whole survey before its launch: every question's ε and margin, and what would change them.

The figures are those of the mechanisms that authoring chooses for this very file. Beside them stand the margins with
the best `ask`, and for questions that are, or could be, randomized together the cells and margins of both ways.
"""

from collections.abc import Sequence

from msgspec import Struct

from client.definition import Survey
from client.verify import verify
from survey_app.authoring import Built, build_tree
from survey_app.authoring.source import Node, read
from survey_app.plan.advice import advise
from survey_app.plan.cross import Cross, crosses
from survey_app.plan.forecast import Forecast, forecasts
from survey_app.plan.settings import Settings
from survey_app.plan.variants import variant

DEFAULT = Settings(respondents=1000, margin=0.05)


class Alternative(Struct, frozen=True):
    """The same survey where each device answers `ask` fields (None: all)."""

    ask: int | None
    lines: list[Forecast]


class SurveyPlan(Struct, frozen=True):
    """A survey before its launch."""

    slug: str
    title: str
    epsilon: float
    fields: int
    ask: int | None
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
    now = forecasts(survey, settings)
    best = _best(tree, survey, settings)
    alternatives = [best] if best else []
    if survey.ask is not None and (everything := variant(tree, drop_ask=True)):
        alternatives.append(Alternative(None, forecasts(everything.survey, settings)))
    crossed = crosses(tree, survey, settings, cross)
    return SurveyPlan(
        slug=survey.slug,
        title=survey.title,
        epsilon=float(verify(survey)),
        fields=len(survey.fields),
        ask=survey.ask,
        settings=settings,
        lines=now,
        alternatives=alternatives,
        crosses=crossed,
        notes=_notes(survey, best),
        advice=[
            *advise(survey, settings, now, (best.ask, best.lines) if best and best.ask else None, crossed),
            *built.advice,
        ],
    )


def _best(tree: Node, survey: Survey, settings: Settings) -> Alternative | None:
    """The survey with the best `ask`, if it is another than what it has."""
    if len(survey.fields) == 1 or any(question.show_if for question in survey.questions):
        return None
    built = variant(tree, ask="auto")
    if built is None or built.survey.ask == survey.ask:
        return None
    return Alternative(built.survey.ask, forecasts(built.survey, settings))


def _notes(survey: Survey, best: Alternative | None) -> list[str]:
    """Why nothing is said about `ask`, where that is so."""
    if len(survey.fields) == 1 or best:
        return []
    if any(question.show_if for question in survey.questions):
        return ["ask cannot be combined with show_if, so nothing is said about it"]
    if survey.ask is None:
        return ["asking every device everything is best here: ask would not narrow the margins on the whole"]
    return [f"ask: {survey.ask} is the best number of fields to ask"]
