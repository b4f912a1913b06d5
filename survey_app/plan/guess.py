"""What is assumed about people who have not been asked yet.

Nothing is known before a survey, so a plan states its guesses: 20% say yes, options are equally popular (30% choose
each of a multiple), numbers are spread evenly over their range, one in ten skips an optional question. Shares are
among those who answer. A mean and an sd mean what they mean in a truth file of `candor simulate`: a normal
distribution, cut to the range.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from client.definition import Question, Survey
from survey_app.authoring.choose import PLANNING_OPTION, PLANNING_SHARE
from survey_app.estimate.intervals import Floats
from survey_app.plan.spread import PlanError

SKIPPING = 0.1
FINEST = 10_000  # points at which a distribution of numbers is computed


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


def option_share(question: Question, guess: Guess) -> float:
    """The share of a yes, or of one option, point or bin, among those who answer."""
    if guess.share is not None:
        return guess.share
    if question.type == "yes_no":
        return PLANNING_SHARE
    return PLANNING_OPTION if question.type == "multiple" else 1 / question.no_answer


def numbers(question: Question, guess: Guess) -> tuple[Floats, Floats]:
    """Places from 0 (the smallest number) to 1 (the largest), and the chance of each."""
    points = min(question.steps, FINEST)
    places = np.arange(points + 1) / points
    if guess.mean is None and guess.sd is None:
        return places, np.full(points + 1, 1 / (points + 1))
    low, width = float(question.min), float(question.max - question.min)
    centre = 0.5 if guess.mean is None else (guess.mean - low) / width
    if not 0 <= centre <= 1:
        raise PlanError(f"a mean of {guess.mean:g} is outside of the range, {question.min} to {question.max}")
    sd = 1 / 6 if guess.sd is None else guess.sd / width
    edges = places[1:] - 0.5 / points
    below = ndtr((edges - centre) / sd) if sd > 0 else (edges > centre).astype(float)
    return places, np.diff(below, prepend=0.0, append=1.0)


def answering(survey: Survey, question: Question, guess: Guess) -> float:
    """The share of those asked who answer: all, all but the skipping, or those to whom the question is shown."""
    if question.show_if is None:
        return 1 - SKIPPING if question.optional else 1.0
    shown = question.show_if
    parent = next(one for one in survey.questions if one.id == shown.question)
    share, count = option_share(parent, guess), len(shown.labels)
    if parent.type == "multiple":
        chosen = 1 - (1 - share) ** count
    elif parent.type == "yes_no":
        chosen = share * ("yes" in shown.labels) + (1 - share) * ("no" in shown.labels)
    else:
        chosen = count / len(parent.labels)
    return chosen * answering(survey, parent, guess)
