"""The plan of a whole survey before its launch: the ε and margin of every question, and the alternatives.

The figures come from the mechanisms that authoring chooses for this file. They are compared with the three ways to ask
the same questions. For questions that are or could be randomized jointly, the plan has cells and margins of both
designs.
"""

from collections.abc import Sequence

from msgspec import Struct

from candor_client.verify import verify
from survey_app.authoring import BuiltSurvey, build_tree
from survey_app.authoring.ask import Ask
from survey_app.authoring.yaml_source import Node, parse_source
from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan.advice import advise
from survey_app.plan.ask_advice import AskRecommendation, recommend_ask
from survey_app.plan.crosstab_plan import CrosstabPlan, plan_crosstabs
from survey_app.plan.forecast import Forecast
from survey_app.plan.remarks import Remark, WordedRemark
from survey_app.plan.report_variance import NOT_WITH_BLOCKS
from survey_app.plan.study_plan import StudyPlan, adapt_settings, advise_groups, plan_groups
from survey_app.plan.target import Settings
from survey_app.plan.variants import RefusedVariant, Variant, plan_variants

DEFAULT = Settings(respondents=1000, margin=0.05)


class SurveyPlan(Struct, frozen=True):
    """The plan of a survey: `lines` are the forecasts of the file as written, `ways` has all variants.

    For a study, `lines` are about the total, or about one group if there is no total. `settings` has the number of
    respondents for `lines`, and `study` the plan of the groups. `remarks` has the advice as data, in the same order.
    """

    slug: str
    title: str
    epsilon: float
    ask: Ask
    blocks: list[list[str]]
    respondents: int | None
    settings: Settings
    lines: list[Forecast]
    ways: list[Variant]
    refused: list[RefusedVariant]
    choice: AskRecommendation | None
    crosses: list[CrosstabPlan]
    advice: list[str]
    remarks: list[Remark]
    study: StudyPlan | None = None

    def variant(self, ask: Ask) -> Variant | None:
        """Return the variant with this `ask`; None if it cannot be built."""
        return next((variant for variant in self.ways if variant.ask == ask), None)

    def reason(self, ask: Ask) -> str:
        """Return the reason why the variant with this `ask` cannot be built; empty if it can."""
        return next((refusal.reason for refusal in self.refused if refusal.ask == ask), "")


def plan_survey(
    source: bytes, settings: Settings = DEFAULT, *, json_file: bool = False, cross: Sequence[Sequence[str]] = ()
) -> SurveyPlan:
    """Return the plan of an author's file; `cross` lists questions to cross.

    The settings need respondents and a margin. Raise AuthoringError if the file is not a survey, PlanError if the
    settings do not fit.
    """
    tree = parse_source(source, json_file=json_file)
    return plan_built(tree, build_tree(tree), settings, cross=cross)


def plan_built(
    tree: Node, built: BuiltSurvey, settings: Settings, *, cross: Sequence[Sequence[str]] = (), thorough: bool = True
) -> SurveyPlan:
    """Return the plan of a built file; unless `thorough`, without cross-tabs and remedies."""
    survey, study_settings = built.survey, settings
    if survey.ask and settings.target.sample:
        raise PlanError("not_with_blocks", NOT_WITH_BLOCKS)
    settings = adapt_settings(built, study_settings)
    variants, refused = plan_variants(tree, built, settings)
    current = next(variant for variant in variants if variant.ask == built.design.ask)
    choice = recommend_ask(built, variants, refused, settings)
    best = next(
        (variant for variant in variants if choice and variant.ask == choice.ask and variant is not current), None
    )
    crosstabs = plan_crosstabs(tree, survey, settings, cross) if thorough else []
    study = plan_groups(built, study_settings, current.respondents)
    group_advice = advise_groups(study, current.lines, settings) if study else []
    worded = [*(advise(built, settings, current, best, crosstabs) if thorough else ()), *group_advice]
    worded += [WordedRemark(Remark(advice.code, list(advice.question_ids)), advice.sentence) for advice in built.advice]
    return SurveyPlan(
        slug=built.slug,
        title=survey.title,
        epsilon=float(verify(survey)),
        ask=current.ask,
        blocks=current.blocks,
        respondents=current.respondents,
        settings=settings,
        lines=current.lines,
        ways=variants,
        refused=refused,
        choice=choice,
        crosses=crosstabs,
        advice=[sentence for _, sentence in worded],
        remarks=[remark for remark, _ in worded],
        study=study,
    )
