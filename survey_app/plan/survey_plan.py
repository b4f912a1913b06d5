"""The plan of a whole survey before its launch: the ε and margin of every question, and the alternatives.

The figures come from the mechanisms that authoring chooses for this file. They are compared with the three ways to ask
the same questions. For questions that are or could be randomized jointly, the plan has cells and margins of both
designs.
"""

from collections.abc import Sequence

from msgspec import Struct

from candor_client.verify import verify
from survey_app.authoring import Built, build_tree
from survey_app.authoring.ask import Ask
from survey_app.authoring.yaml_source import Node, read
from survey_app.kinds.assumptions import PlanError
from survey_app.plan.advice import advise
from survey_app.plan.ask_advice import Choice, choose
from survey_app.plan.crosstab_plan import Cross, crosses
from survey_app.plan.forecast import Forecast
from survey_app.plan.report_variance import NOT_WITH_BLOCKS
from survey_app.plan.study_plan import StudyPlan, advise_groups, as_one, plan_groups
from survey_app.plan.target import Settings
from survey_app.plan.variants import Refused, Way, ways

DEFAULT = Settings(respondents=1000, margin=0.05)


class SurveyPlan(Struct, frozen=True):
    """A survey before its launch; `lines` are those of the way that the file goes, one of `ways`.

    Of a study they are those of its total, or of one group where there is none; `settings` tells at how many
    respondents, and `study` what each group will tell.
    """

    slug: str
    title: str
    epsilon: float
    ask: Ask
    blocks: list[list[str]]
    respondents: int | None
    settings: Settings
    lines: list[Forecast]
    ways: list[Way]
    refused: list[Refused]
    choice: Choice | None
    crosses: list[Cross]
    advice: list[str]
    study: StudyPlan | None = None

    def way(self, ask: Ask) -> Way | None:
        """Return the variant with this `ask`; None if it cannot be built."""
        return next((way for way in self.ways if way.ask == ask), None)

    def reason(self, ask: Ask) -> str:
        """Return the reason why the variant with this `ask` cannot be built; empty if it can."""
        return next((one.reason for one in self.refused if one.ask == ask), "")


def plan_survey(
    source: bytes, settings: Settings = DEFAULT, *, json_file: bool = False, cross: Sequence[Sequence[str]] = ()
) -> SurveyPlan:
    """Return the plan of an author's file; `cross` lists questions to cross.

    The settings need respondents and a margin. Raise AuthoringError if the file is not a survey, PlanError if the
    settings do not fit.
    """
    tree = read(source, json_file=json_file)
    return plan_built(tree, build_tree(tree), settings, cross=cross)


def plan_built(
    tree: Node, built: Built, settings: Settings, *, cross: Sequence[Sequence[str]] = (), thorough: bool = True
) -> SurveyPlan:
    """Return the plan of a built file; unless `thorough`, without cross-tabs and remedies."""
    survey, expected = built.survey, settings
    if survey.ask and settings.target.sample:
        raise PlanError(NOT_WITH_BLOCKS)
    settings = as_one(built, expected)
    known, refused = ways(tree, built, settings)
    now = next(way for way in known if way.ask == built.design.ask)
    choice = choose(built, known, refused, settings)
    better = next((way for way in known if choice and way.ask == choice.ask and way is not now), None)
    crossed = crosses(tree, survey, settings, cross) if thorough else []
    study = plan_groups(built, expected, now.respondents)
    about_groups = advise_groups(study, now.lines, settings) if study else []
    return SurveyPlan(
        slug=built.slug,
        title=survey.title,
        epsilon=float(verify(survey)),
        ask=now.ask,
        blocks=now.blocks,
        respondents=now.respondents,
        settings=settings,
        lines=now.lines,
        ways=known,
        refused=refused,
        choice=choice,
        crosses=crossed,
        advice=[*(advise(built, settings, now, better, crossed) if thorough else ()), *about_groups, *built.advice],
        study=study,
    )
