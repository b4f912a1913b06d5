"""Assumptions about the answers before a survey, for designs, plans and trials.

20% say yes, and 30% choose each option of a multiple. Options of a choice, points and bins are equally popular. Numbers
are uniform over their range. One in ten people skips an optional question. Everybody who sees a question with `show_if`
answers it. Designs are judged by a large option, of 30%, even where a choice has many options.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from candor_client.question import Question
from survey_app.figures import Floats

YES_SHARE = 0.2
OPTION_SHARE = 0.3
SKIP_SHARE = 0.1
USUAL_SD = 1 / 6  # as a fraction of the range

Indices = npt.NDArray[np.int64]
Generator = np.random.Generator


class PlanError(Exception):
    """The requested plan is impossible: a stable code, and a message that says why and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class TruthError(Exception):
    """The assumed population of a truth file does not fit the survey."""


@dataclass(frozen=True)
class Guess:
    """The planner's guess about the answers; None means the default."""

    share: float | None = None
    mean: float | None = None
    sd: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise PlanError("bad_share", f"a share must be from 0 to 1, not {self.share:g}")
        if self.sd is not None and not 0 <= self.sd < math.inf:
            raise PlanError("bad_sd", f"a standard deviation must be finite and not negative, not {self.sd:g}")


@dataclass(frozen=True, eq=False)
class PlannedMean:
    """The planned mean of a question: the value and the assumed share of each answer, and the variance among people.

    `places` are the values scaled to 0…1, computed exactly, because two different scores may have the same float.
    `variance` is that of people's answers before rounding. `is_design_target` means that a design is judged by this
    mean, not by a share.
    """

    name: str
    values: Floats
    places: Floats
    shares: Floats
    centre: float
    variance: float
    is_design_target: bool


def check_share(question: Question, value: Any) -> float:
    """Return a share from a truth file as a float; raise TruthError if it is not a number from 0 to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise TruthError(f"{question.id}: {value!r} is not a share from 0 to 1")
    return float(value)


def even_share(question: Question) -> float:
    """Return the share of an answer if all are equally popular."""
    return 1 / question.no_answer


def even_mean(scores: Sequence[Fraction]) -> PlannedMean | None:
    """Return the planned mean score if all answers are equally popular; None if all scores are equal."""
    low, width = min(scores), max(scores) - min(scores)
    if not width:
        return None
    values, shares = np.array([float(score) for score in scores]), np.full(len(scores), 1 / len(scores))
    places = np.array([float((score - low) / width) for score in scores])
    centre = float(shares @ values)
    return PlannedMean(
        "mean", values, places, shares, centre, float(shares @ (values - centre) ** 2), is_design_target=True
    )
