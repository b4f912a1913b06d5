"""One question, planned for a margin and for a number of respondents."""

import math
from decimal import Decimal
from typing import Any

import pytest

from survey_app.authoring.ask import Ask
from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan.question_plan import make_question, plan_question
from survey_app.plan.report_variance import POPULATION, RESPONDENTS, Target, margin
from survey_app.plan.target import Settings
from tests.published_plans import Z, yes_spread


@pytest.mark.parametrize("kind", ["yes_no", "choice", "scale", "multiple", "number"])
@pytest.mark.parametrize("target", [POPULATION, RESPONDENTS, Target(10**7)])
@pytest.mark.parametrize(("questions", "ask"), [(1, Ask.ALL), (5, Ask.ALL), (5, Ask.ONE)])
def test_every_type_is_planned_both_ways(kind: str, target: Target, questions: int, ask: Ask) -> None:
    question = make_question(kind, options=5)
    if ask is Ask.ONE and target.sample:
        with pytest.raises(PlanError) as refused:
            plan_question(question, Decimal(4), Settings(500, target=target), questions=questions, ask=ask)
        assert refused.value.code == "not_with_blocks"
        return

    def plan(**fixed: Any) -> Any:
        settings = Settings(target=target, **fixed)
        return plan_question(question, Decimal(4), settings, questions=questions, ask=ask).outlooks

    for needed, reached in zip(plan(margin=0.02), plan(respondents=20_000), strict=True):
        assert needed.precision.margin == pytest.approx(0.02 * (needed.high - needed.low))
        (again,) = [one for one in plan(respondents=needed.precision.respondents) if one.figure == needed.figure]
        assert again.precision.margin == pytest.approx(needed.precision.margin, rel=0.01)
        assert again.precision.margin <= needed.precision.margin * (1 + 1e-8)
        assert reached.instead["no privacy"].margin <= reached.precision.margin
        assert reached.smallest_difference > 0
        assert (reached.above_zero is not None) == reached.is_share
        if reached.above_zero is not None:
            (enough,) = [one for one in plan(respondents=reached.above_zero) if one.figure == reached.figure]
            assert enough.above_zero_power >= 0.8 - 1e-9


def test_bins_and_laplace_noise_are_planned_too() -> None:
    settings = Settings(respondents=1000)
    share, mean = plan_question(make_question("number", bins=5), Decimal(1), settings).outlooks
    assert (share.figure, mean.figure) == ("bin", "mean of bins")
    (noisy,) = plan_question(make_question("number"), Decimal(1), settings, laplace=True).outlooks
    clamped = 5.448 * 50**2 + 100 * 102 / 12  # noise, as published for [−1, 1], and people
    assert noisy.precision.margin == pytest.approx(Z * math.sqrt(clamped / 1000), rel=1e-3)
    two = plan_question(make_question("number", high=Decimal(1)), Decimal(1), settings).outlooks[0]
    assert two.precision.margin == pytest.approx(margin(yes_spread("1")(0.5), 1000), rel=1e-9)


def test_a_curator_releases_all_shares_at_once() -> None:
    def added(kind: str) -> float:
        (first, *_) = plan_question(make_question(kind, options=4), Decimal(1), Settings(respondents=1000)).outlooks
        without, laplace = (first.instead[name].margin for name in ("no privacy", "central Laplace"))
        return 1000 * math.sqrt(laplace**2 - without**2) / Z / math.sqrt(2) / (first.high - first.low)

    assert [added(kind) for kind in ("yes_no", "choice", "multiple", "scale")] == pytest.approx([1, 2, 4, 1])
