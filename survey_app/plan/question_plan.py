"""The plan of one question, or of several like it that share a budget, from ε only.

The local model is compared with no privacy, and with a trusted curator who releases the same figures at the same ε.
The curator releases all shares of a question at once. One person changes two shares of a choice, and can change all
shares of a multiple.
"""

import math
from decimal import Decimal, localcontext
from typing import Any

from msgspec import Struct

from candor_client.canonical import spell
from candor_client.errors import DefinitionError
from candor_client.mechanisms import publish
from candor_client.question import Question, parse_questions
from candor_client.types import TypeName, type_of
from survey_app.authoring.ask import Ask
from survey_app.authoring.authored_question import COMPUTED, can_have_noise
from survey_app.authoring.mechanism_choice import PRECISE
from survey_app.channels.posterior import SUSPICION, best_guess_chance, posterior_bound
from survey_app.kinds import kind_by_name, kind_of
from survey_app.kinds.planning_assumptions import SKIP_SHARE, PlanError
from survey_app.languages import numbers
from survey_app.plan import central_model
from survey_app.plan.estimands import (
    Estimand,
    format_mean_assumption,
    format_share_assumption,
    list_estimands,
    make_field,
)
from survey_app.plan.power import (
    MOST_EXACT,
    difference_power,
    difference_respondents,
    exact_positive_power,
    exact_positive_respondents,
    positive_power,
    positive_respondents,
    smallest_difference,
)
from survey_app.plan.report_variance import NOT_WITH_BLOCKS, POPULATION, Spread, margin
from survey_app.plan.target import Settings


class Precision(Struct, frozen=True):
    """A number of respondents and the margin it gives; None if the population is too small for the margin."""

    respondents: int | None
    margin: float


class GroupPower(Struct, frozen=True):
    """Two groups, the second at `share`: the respondents in each that detect the difference.

    `power` is that of the planned respondents.
    """

    share: float
    respondents: int | None
    power: float | None


class Prospect(Struct, frozen=True):
    """The plan of a share: its precision, that without privacy or with a trusted curator, and detectable effects."""

    figure: str
    planned: float
    low: float
    high: float
    precision: Precision
    census: float | None
    design_effect: float | None
    instead: dict[str, Precision]
    above_zero: int | None
    above_zero_is_exact: bool
    above_zero_power: float | None
    smallest_difference: float | None
    groups: GroupPower | None

    @property
    def is_share(self) -> bool:
        """Whether the figure is a share; otherwise it is a mean."""
        return True

    def assumption(self, type_name: str) -> str:
        """Return the figure in words, with its assumed value, for a question of this type."""
        return format_share_assumption(type_name, self.planned)


class MeanProspect(Prospect, frozen=True):
    """The plan of a mean."""

    @property
    def is_share(self) -> bool:
        return False

    def assumption(self, type_name: str) -> str:
        return format_mean_assumption(self.figure, self.planned)


class SinglePlan(Struct, frozen=True):
    """The plan of one question; `epsilon` is the total for one respondent, `field_epsilon` that of this question."""

    type: str
    epsilon: float
    field_epsilon: float
    mechanism: dict[str, int | str]
    questions: int
    ask: Ask
    confidence: float
    power: float
    population: int | None
    sample: bool
    delta: float
    outlooks: list[Prospect]
    suspicion: float
    guess: float


def needs_options(kind: str) -> bool:
    """Return whether the author of a question of this type writes its options."""
    return type_of(TypeName(kind)).labels_key is not None


def has_range(kind: str) -> bool:
    """Return whether a question of this type has a minimum and a maximum."""
    return {"min", "max"} <= {*type_of(TypeName(kind)).required_keys}


def make_question(
    kind: str,
    *,
    options: int | None = None,
    bins: int | None = None,
    low: Decimal = Decimal(0),
    high: Decimal = Decimal(100),
    step: Decimal = Decimal(1),
    optional: bool = False,
) -> Question:
    """Return a question without a text. Raise PlanError if its numbers are missing or invalid."""
    question_type = type_of(TypeName(kind))
    raw: dict[str, Any] = {"id": "question", "type": kind, "text": "?"}
    if question_type.labels_key:
        if options is None:
            raise PlanError("no_options", f"a {kind} needs its number of options")
        raw[question_type.labels_key] = [str(i + 1) for i in range(options)]
    if has_range(kind):
        raw |= {"min": spell(low), "max": spell(high), "step": spell(step)}
    starter = kind_by_name(kind).starter
    raw |= {
        key: spell(Decimal(str(starter[key])))
        for key in question_type.required_keys
        if key in starter and key not in raw
    }
    if bins is not None and "bins" in question_type.optional_keys:
        raw["bins"] = bins
    else:
        raw |= {key: value for key, (value, _) in COMPUTED.items() if key in question_type.optional_keys}
    if optional:
        raw["optional"] = True
    try:
        return parse_questions([raw])[0]
    except DefinitionError as error:
        raise PlanError("bad_question", f"{error.path.rpartition('.')[2]}: {error.reason}") from None


def plan_question(
    question: Question,
    epsilon: Decimal,
    settings: Settings,
    *,
    laplace: bool = False,
    questions: int = 1,
    ask: Ask = Ask.ALL,
    against: float | None = None,
) -> SinglePlan:
    """Return the plan of `questions` questions like this one at a total ε, if each device answers all of them or one.

    `against` is the share or mean of a second group to compare with. Raise PlanError if the plan is impossible.
    """
    if laplace and not can_have_noise(question):
        raise PlanError("not_for_laplace", "Laplace noise is only for a number without bins that everybody answers")
    alone = ask is Ask.ONE and questions > 1
    if alone and settings.target.sample:
        raise PlanError("not_with_blocks", NOT_WITH_BLOCKS)
    question_count = 1 if alone else questions
    response_rate = 1 - SKIP_SHARE if question.optional else 1.0
    with localcontext(PRECISE):
        field_epsilon = epsilon / question_count
    try:
        field = make_field((question,), field_epsilon, laplace=laplace, response_rate=response_rate if alone else None)
    except DefinitionError as error:
        raise PlanError(
            "no_mechanism",
            f"no mechanism exists at ε = {numbers.format_requested_epsilon(float(field_epsilon))}: {error.reason}",
        ) from None
    figures = list_estimands(
        field,
        field.questions[0],
        settings.guess,
        response_rate=response_rate,
        asked_share=question_count / questions,
    )
    with localcontext(PRECISE):
        total_epsilon = float(field.mechanism.epsilon * question_count)
    question_epsilon = float(epsilon) / questions
    return SinglePlan(
        type=question.type,
        epsilon=total_epsilon,
        field_epsilon=float(field.mechanism.epsilon),
        mechanism=publish(field.mechanism),
        questions=questions,
        ask=ask,
        confidence=settings.confidence,
        power=settings.power,
        population=settings.target.size,
        sample=settings.target.sample,
        delta=settings.delta,
        outlooks=[_plan_figure(estimand, question, settings, question_epsilon, against) for estimand in figures],
        suspicion=posterior_bound(1 / SUSPICION, total_epsilon),
        guess=best_guess_chance(total_epsilon),
    )


def compute_precision(spread: Spread, width: float, settings: Settings) -> Precision:
    """Return the margin at the fixed respondents, or the respondents for the fixed margin."""
    if settings.respondents is not None:
        return Precision(settings.respondents, settings.margin_of(spread))
    return Precision(settings.respondents_for(spread, width), (settings.margin or 0) * width)


def compute_reference_spreads(
    estimand: Estimand, question: Question, epsilon: float, delta: float = central_model.DELTA
) -> dict[str, Spread]:
    """Return the spreads of an estimand without privacy, and with a trusted curator at the same ε, by name."""
    people = estimand.spread.people
    if estimand.is_share:
        changeable = _count_changeable_shares(question)
        first, second = float(changeable), math.sqrt(changeable)
    else:
        first = second = estimand.width
    return {
        "no privacy": central_model.no_privacy(people),
        "central Laplace": central_model.laplace(people, epsilon, first),
        "central Gaussian": central_model.gaussian(people, epsilon, delta, second),
    }


def _count_changeable_shares(question: Question) -> int:
    """Return how many shares one person can change: the only one, two of a choice, or all of a multiple."""
    kind = kind_of(question)
    if not kind.exclusive:
        return len(kind.answers(question))
    return 1 if kind.is_one_bit(question) else 2


def _plan_figure(
    estimand: Estimand, question: Question, settings: Settings, epsilon: float, against: float | None
) -> Prospect:
    reached = compute_precision(estimand.spread, estimand.width, settings)
    n, test_settings = reached.respondents, (settings.power, settings.confidence, settings.target)
    references = compute_reference_spreads(estimand, question, epsilon, settings.delta)
    size = settings.target.size
    above_zero, is_exact = _find_respondents_above_zero(estimand, settings)
    prospect_class = Prospect if estimand.is_share else MeanProspect
    return prospect_class(
        figure=estimand.name,
        planned=estimand.planned,
        low=estimand.low,
        high=estimand.high,
        precision=reached,
        census=margin(estimand.spread, size, settings.confidence, settings.target) if size else None,
        design_effect=estimand.spread.design_effect if estimand.spread.people else None,
        instead={name: compute_precision(spread, estimand.width, settings) for name, spread in references.items()},
        above_zero=above_zero,
        above_zero_is_exact=is_exact,
        above_zero_power=_compute_above_zero_power(estimand, settings, n),
        smallest_difference=smallest_difference(
            estimand.spread_at, estimand.planned, n, *test_settings, highest=estimand.high
        )
        if n is not None
        else None,
        groups=_plan_group_power(estimand, settings, n, against) if against is not None else None,
    )


def _find_respondents_above_zero(estimand: Estimand, settings: Settings) -> tuple[int | None, bool]:
    """Return the respondents that show a share to be above zero, and whether the number is exact.

    It is exact where one bit is counted in a large population.
    """
    if not estimand.is_share or estimand.planned <= 0:
        return None, False
    if estimand.bits is not None and settings.target == POPULATION:
        answers = exact_positive_respondents(*estimand.bits, estimand.planned, settings.power, settings.confidence)
        return math.ceil(answers / estimand.spread.asked_share), answers <= MOST_EXACT
    respondents = positive_respondents(
        estimand.spread_at, estimand.planned, settings.power, settings.confidence, settings.target
    )
    return respondents, False


def _compute_above_zero_power(estimand: Estimand, settings: Settings, n: int | None) -> float | None:
    """Return the chance that n respondents show a share to be above zero; None for a mean or without n."""
    if n is None or not estimand.is_share or estimand.planned <= 0:
        return None
    answers = math.floor(n * estimand.spread.asked_share)
    if estimand.bits is not None and settings.target == POPULATION and 0 < answers <= MOST_EXACT:
        return exact_positive_power(*estimand.bits, estimand.planned, answers, settings.confidence)
    return positive_power(estimand.spread_at, estimand.planned, n, settings.confidence, settings.target)


def _plan_group_power(estimand: Estimand, settings: Settings, n: int | None, against: float) -> GroupPower:
    if not estimand.low <= against <= estimand.high:
        raise PlanError(
            "bad_comparison", f"{against:g} is outside the possible range from {estimand.low:g} to {estimand.high:g}"
        )
    spreads, difference = (
        (estimand.spread_at(estimand.planned), estimand.spread_at(against)),
        against - estimand.planned,
    )
    power = difference_power(*spreads, difference, n, settings.confidence, settings.target) if n is not None else None
    respondents = difference_respondents(*spreads, difference, settings.power, settings.confidence, settings.target)
    return GroupPower(against, respondents, power)
