"""The settings of a plan: respondents or a margin, with confidence, power and assumptions."""

from dataclasses import dataclass, field

from survey_app.kinds.planning_assumptions import Guess, PlanError
from survey_app.languages import numbers
from survey_app.plan.central_model import DELTA
from survey_app.plan.report_variance import POPULATION, Spread, Target, margin, respondents_for_margin, z_score


@dataclass(frozen=True)
class Settings:
    """A number of respondents, a margin (as a fraction of the possible range), or both; with confidence and power.

    Raise PlanError if the numbers are out of range.
    """

    respondents: int | None = None
    margin: float | None = None
    confidence: float = 0.95
    power: float = 0.8
    target: Target = POPULATION
    guess: Guess = field(default_factory=Guess)
    delta: float = DELTA

    def __post_init__(self) -> None:
        z_score(self.confidence)
        size = self.target.size
        if size is not None and self.respondents is not None and self.respondents > size:
            raise PlanError(
                "above_population",
                f"{numbers.format_count(self.respondents)} respondents are more than the population of "
                f"{numbers.format_count(size)}",
            )
        if self.margin is not None and not 0 < self.margin < 1:
            raise PlanError(
                "bad_margin",
                f"a margin must be a fraction of the possible range, such as 0.05 for 5 points, not {self.margin:g}",
            )

    def margin_of(self, spread: Spread) -> float:
        """Return the margin at the planned respondents. Raise PlanError without a number of respondents."""
        if self.respondents is None:
            raise PlanError("no_respondents", "a margin needs a number of respondents")
        return margin(spread, self.respondents, self.confidence, self.target)

    def respondents_for(self, spread: Spread, width: float) -> int | None:
        """Return the respondents for the target margin, on a range of this width; None if too many.

        Raise PlanError without a margin.
        """
        if self.margin is None:
            raise PlanError("no_margin", "a number of respondents needs a margin")
        return respondents_for_margin(spread, self.margin * width, self.confidence, self.target)
