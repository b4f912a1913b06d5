"""The error of an estimate: the components of the variance of one report, and the variance from n reports.

Answers vary between people. This component shrinks when more of a finite population answers. It is zero if the estimate
is about the respondents themselves. The coins always vary. With N people in the population and
m = n · asked_share answers,

    Var = (1 − m/N) people/m + coins/m + curator_noise/n²,

where `asked_share` is the share of respondents who are asked. `curator_noise` is the variance of noise that a trusted
curator would add once (the central model). Margins are z standard errors.
"""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from survey_app.kinds.planning_assumptions import PlanError
from survey_app.languages import numbers

LEAST_RESPONDENTS = 2  # an estimate needs at least this many
ROUNDING = 1e-9  # so that 10,000.0000001 respondents are 10,000


@dataclass(frozen=True)
class Target:
    """The population of an estimate: a large one, one of `size` people, or only the respondents (`sample`)."""

    size: int | None = None
    sample: bool = False

    def __post_init__(self) -> None:
        if self.sample and self.size is not None:
            raise PlanError("two_targets", "an estimate is for a population or for the respondents alone, not for both")


POPULATION, RESPONDENTS = Target(), Target(sample=True)
NOT_WITH_BLOCKS = "results have no intervals for the respondents alone if each device draws a block; leave --sample out"


@dataclass(frozen=True)
class Spread:
    """The components of n times the variance of an estimate: between people, and from the coins.

    `asked_share` is the share of all respondents who are asked. `curator_noise` is the variance of the noise
    that a trusted curator adds to the sum.
    """

    people: float
    coins: float
    asked_share: float = 1.0
    curator_noise: float = 0.0

    @property
    def design_effect(self) -> float:
        """How many times more respondents the estimate needs than without privacy, for a large population."""
        return (self.people + self.coins) / (self.people * self.asked_share)


def z_score(confidence: float) -> float:
    """Return the half-width of a two-sided interval in standard errors. Raise PlanError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise PlanError("bad_confidence", f"a confidence must be between 0 and 1, such as 0.95, not {confidence:g}")
    return float(ndtri((1 + confidence) / 2))


def standard_error(spread: Spread, n: float, target: Target = POPULATION) -> float:
    """Return the standard error of an estimate from n respondents. Raise PlanError if the population is smaller."""
    if target.size is not None and n > target.size:
        raise PlanError(
            "above_population",
            f"{numbers.format_count(round(n))} respondents are more than the population of "
            f"{numbers.format_count(target.size)}",
        )
    answers = n * spread.asked_share
    population = n if target.sample else target.size or math.inf
    variance = (1 - answers / population) * spread.people + spread.coins
    return math.sqrt(max(variance, 0.0) / answers + spread.curator_noise / n**2)


def margin(spread: Spread, n: float, confidence: float = 0.95, target: Target = POPULATION) -> float:
    """Return the half-width of the interval from n respondents."""
    return z_score(confidence) * standard_error(spread, n, target)


def respondents_for_error(spread: Spread, error: float, target: Target = POPULATION) -> int | None:
    """Return the fewest respondents with at most this standard error; None if the whole population is not enough.

    The variance is A/n + curator_noise/n² − people/N. A is (people + coins)/asked_share, minus people for the sample
    target. This is a quadratic equation in 1/n. Raise PlanError unless the error is positive.
    """
    if not error > 0:
        raise PlanError("bad_margin", "a margin must be above zero")
    total = (spread.people + spread.coins) / spread.asked_share - (spread.people if target.sample else 0.0)
    variance = error**2 + (spread.people / target.size if target.size else 0.0)
    n = (total + math.sqrt(total**2 + 4 * variance * spread.curator_noise)) / (2 * variance)
    least = max(math.ceil(n * (1 - ROUNDING)), LEAST_RESPONDENTS)
    return None if target.size is not None and least > target.size else least


def respondents_for_margin(
    spread: Spread, half_width: float, confidence: float = 0.95, target: Target = POPULATION
) -> int | None:
    """Return the fewest respondents with at most this margin; None if the whole population is not enough."""
    return respondents_for_error(spread, half_width / z_score(confidence), target)
