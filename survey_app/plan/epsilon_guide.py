"""The meaning of ε in numbers: the respondents it takes, and the information that one report gives about a person.

The information of a report comes from `survey_app.channels.posterior`. For the risk to a respondent, the ε of the whole
survey counts.
"""

import math
from decimal import Decimal

from msgspec import Struct

from survey_app.authoring import mechanism_choice
from survey_app.authoring.mechanism_choice import bit_variance
from survey_app.channels.posterior import SUSPICION, best_guess_chance, posterior_bound
from survey_app.kinds.planning_assumptions import PlanError
from survey_app.plan.central_model import no_privacy
from survey_app.plan.power import exact_positive_respondents, positive_respondents
from survey_app.plan.report_variance import Spread, respondents_for_margin

POWER = 0.8
LEVELS: tuple[tuple[str, Decimal | None], ...] = (
    ("no privacy", None),
    ("0.5", Decimal("0.5")),
    ("1", Decimal(1)),
    ("ln 3", Decimal(3).ln()),
    ("ln 5", Decimal(5).ln()),
    ("2", Decimal(2)),
    ("3", Decimal(3)),
    ("4", Decimal(4)),
)


class PrivacyLevel(Struct, frozen=True):
    """One level of privacy: the respondents needed for three tasks, and the information in one report."""

    name: str
    epsilon: float | None
    rare: int  # a share of 5%, to ±2.5 points
    usual: int  # a share of 20%, to ±5 points
    shown: int | None  # a share of 5%, shown to be above zero with power 0.8; None without privacy
    shown_exactly: int | None  # as `shown`, but exact: the normal approximation is optimistic at a large ε
    suspicion: float  # the most that a suspicion of 5% can become
    guess: float


def list_levels() -> list[PrivacyLevel]:
    """Return the levels for a yes/no question, from no privacy to ε = 4, at 95% confidence."""
    return [_compute_level(name, epsilon) for name, epsilon in LEVELS]


def _compute_level(name: str, epsilon: Decimal | None) -> PrivacyLevel:
    flip = mechanism_choice.make_flip(epsilon) if epsilon is not None else None

    def spread_at(share: float) -> Spread:
        people = share * (1 - share)
        return Spread(people, bit_variance(flip, share) - people) if flip else no_privacy(people)

    max_loss = float(flip.epsilon) if flip else math.inf
    detection = positive_respondents(spread_at, 0.05, POWER) if flip else None
    exact_detection = exact_positive_respondents(flip.p, flip.q, 0.05, POWER) if flip else None
    rare, usual = respondents_for_margin(spread_at(0.05), 0.025), respondents_for_margin(spread_at(0.2), 0.05)
    if rare is None or usual is None:
        raise PlanError("too_large", "no population is large enough")
    return PrivacyLevel(
        name,
        max_loss if flip else None,
        rare,
        usual,
        detection,
        exact_detection,
        posterior_bound(1 / SUSPICION, max_loss),
        best_guess_chance(max_loss),
    )
