"""What is assumed of people who were not asked yet, wherever a design, a plan or a trial needs a guess.

20% say yes, 30% choose each option of a multiple, options of a choice, points and bins are equally popular, numbers are
spread evenly over their range, one in ten skips an optional question, and one with `show_if` is answered by those who
see it. Designs are judged by a large option, of 30%, also where a choice has many.
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

YES = 0.2
OPTION = 0.3
SKIPPING = 0.1
USUAL_SD = 1 / 6  # of the range

Indices = npt.NDArray[np.int64]
Generator = np.random.Generator


class PlanError(Exception):
    """What was asked for cannot be planned; the message says why, and what to do."""


class TruthError(Exception):
    """What is said about the population does not fit the survey."""


@dataclass(frozen=True)
class Guess:
    """What the planner said about the answers; None where it is left to the defaults."""

    share: float | None = None
    mean: float | None = None
    sd: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise PlanError(f"a share is from 0 to 1, not {self.share:g}")
        if self.sd is not None and not 0 <= self.sd < math.inf:
            raise PlanError(f"a standard deviation cannot be {self.sd:g}")


@dataclass(frozen=True, eq=False)
class PlannedMean:
    """A mean before its survey: what each answer counts for, how many give it, and how much people differ.

    `places` are the values on a range from 0 to 1, worked out exactly: of two scores the floats may be one. `variance`
    is that of what people would say, before anything is rounded. The mean `leads` if it is the figure by which a design
    is judged; otherwise a share is.
    """

    name: str
    values: Floats
    places: Floats
    shares: Floats
    centre: float
    variance: float
    leads: bool


def check_share(question: Question, value: Any) -> float:
    """Return a share that somebody wrote into a truth file; TruthError if it is none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise TruthError(f"{question.id}: {value!r} is not a share from 0 to 1")
    return float(value)


def even_share(question: Question) -> float:
    """Return the share of an answer if all are equally popular."""
    return 1 / question.no_answer


def even_mean(scores: Sequence[Fraction]) -> PlannedMean | None:
    """Return the mean score if all answers are equally popular; None if all of them count the same."""
    low, width = min(scores), max(scores) - min(scores)
    if not width:
        return None
    values, even = np.array([float(score) for score in scores]), np.full(len(scores), 1 / len(scores))
    places = np.array([float((score - low) / width) for score in scores])
    centre = float(even @ values)
    return PlannedMean("mean", values, places, even, centre, float(even @ (values - centre) ** 2), leads=True)
