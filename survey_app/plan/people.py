"""The imagined people: what is assumed of those who were not asked yet, for plans, trials and simulations alike.

The usual assumptions are those of `survey_app.authoring.imagined`; here a planner may have other guesses, and people
are drawn. A mean and an sd mean what they mean in a truth file of `candor simulate`: a normal distribution, cut to the
range.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from client.answer import unanswered
from client.definition import Survey
from client.question import Question
from survey_app.authoring import imagined
from survey_app.authoring.imagined import OPTION, SKIPPING, YES
from survey_app.channel import Floats
from survey_app.plan.spread import PlanError

USUAL_SD = 1 / 6  # of the range

Indices = npt.NDArray[np.int64]
Generator = np.random.Generator


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
    return imagined.usual_share(question) if guess.share is None else guess.share


def numbers(question: Question, guess: Guess) -> tuple[Floats, Floats]:
    """Places from 0 (the smallest number) to 1 (the largest), and the chance of each."""
    places, chances = imagined.spread_evenly(question)
    if guess.mean is None and guess.sd is None:
        return places, chances
    low, width = float(question.min), float(question.max - question.min)
    centre = 0.5 if guess.mean is None else (guess.mean - low) / width
    if not 0 <= centre <= 1:
        raise PlanError(f"a mean of {guess.mean:g} is outside of the range, {question.min} to {question.max}")
    sd = USUAL_SD if guess.sd is None else guess.sd / width
    edges = (places[1:] + places[:-1]) / 2
    below = ndtr((edges - centre) / sd) if sd > 0 else (edges > centre).astype(float)
    return places, np.diff(below, prepend=0.0, append=1.0)


def answering(survey: Survey, question: Question, guess: Guess) -> float:
    """The share of those asked who answer: all, all but the skipping, or those to whom the question is shown."""
    return imagined.answering(question, survey.questions, guess.share)


class TruthError(Exception):
    """What is said about the population does not fit the survey."""


def draw_people(survey: Survey, truth: Mapping[str, Any], count: int, rng: Generator) -> dict[str, Indices]:
    """The index of every question for each of `count` people; questions are independent but for what hides them.

    `truth` gives for a yes_no the share of yes; for a choice or scale the share of each label; for a multiple the share
    that picks each label; for a number its mean and sd. `{"no_answer": share, "of": …}` says how many skip. Whatever it
    leaves open is as a plan without a guess has it.
    """
    unknown = set(truth) - survey.ids
    if unknown:
        raise TruthError(f"there is no question {min(unknown)!r}")
    drawn: dict[str, Indices] = {}
    for question in survey.questions:
        told = truth.get(question.id)
        skipped = SKIPPING if told is None and question.optional and not question.show_if else 0.0
        if isinstance(told, Mapping) and "no_answer" in told:
            skipped, told = _share(question, told["no_answer"]), told.get("of")
        indices = _draw(question, told, count, rng)
        none = unanswered(question)
        if skipped:
            if not question.optional:
                raise TruthError(f"{question.id} is not optional")
            indices = np.where(rng.random(count) < skipped, none, indices)
        if question.show_if:
            indices = np.where(_shown(survey, question, drawn), indices, none)
        drawn[question.id] = indices
    return drawn


def _share(question: Question, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise TruthError(f"{question.id}: {value!r} is not a share from 0 to 1")
    return float(value)


def _draw(question: Question, told: Any, count: int, rng: Generator) -> Indices:
    labels = question.labels
    if question.type == "number":
        return _numbers(question, told, count, rng)
    if question.type == "yes_no":
        return (rng.random(count) < _share(question, YES if told is None else told)).astype(np.int64)
    if told is not None and (not isinstance(told, Mapping) or set(told) - set(labels)):
        raise TruthError(f"{question.id}: give a share for each of {', '.join(labels[:8])}")
    if question.type == "multiple":
        chances = [_share(question, OPTION if told is None else told.get(label, 0)) for label in labels]
        picked = rng.random((count, len(labels))) < np.array(chances)
        return picked @ (1 << np.arange(len(labels), dtype=np.int64))
    shares = np.array([1.0 if told is None else _share(question, told.get(label, 0)) for label in labels])
    if shares.sum() <= 0:
        raise TruthError(f"{question.id}: all shares are 0")
    return rng.choice(len(labels), count, p=shares / shares.sum())


def _numbers(question: Question, told: Any, count: int, rng: Generator) -> Indices:
    low, high, step = float(question.min), float(question.max), float(question.step)
    if told is None:
        index = rng.integers(0, question.steps + 1, count)
    else:
        try:
            mean, sd = float(told.get("mean", (low + high) / 2)), float(told.get("sd", USUAL_SD * (high - low)))
        except (AttributeError, TypeError, ValueError):
            raise TruthError(f"{question.id}: give mean and sd") from None
        index = np.clip(np.rint((rng.normal(mean, sd, count) - low) / step), 0, question.steps).astype(np.int64)
    return index * question.bins // (question.steps + 1) if question.bins else index


def _shown(survey: Survey, question: Question, drawn: Mapping[str, Indices]) -> npt.NDArray[np.bool_]:
    """A parent without an answer has an index beyond its labels, or no bit set among them."""
    if question.show_if is None:
        raise ValueError("nothing hides this question")
    parent = next(one for one in survey.questions if one.id == question.show_if.question)
    places = [parent.labels.index(label) for label in question.show_if.labels]
    column = drawn[parent.id]
    if parent.type == "multiple":
        mask = sum(1 << place for place in places)
        return (column & mask) > 0
    return np.isin(column, places)
