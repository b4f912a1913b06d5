"""Assumptions about respondents, and simulated respondents, for plans, trials and simulations.

The default assumptions are in `survey_app.kinds.assumptions`; here a planner may override them. A mean and an sd mean
the same as in a truth file of `candor simulate`: a normal distribution, truncated to the range.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from candor_client.answer import unanswered
from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.authoring import response_rate as usual
from survey_app.kinds import kind_of
from survey_app.kinds.assumptions import SKIPPING, Generator, Guess, Indices, TruthError, check_share


def option_share(question: Question, guess: Guess) -> float:
    """Return the share of a yes, or of one option, point or bin, among respondents who answer."""
    return kind_of(question).usual_share(question) if guess.share is None else guess.share


def answering(survey: Survey, question: Question, guess: Guess) -> float:
    """Return the share of respondents who answer: without those who skip, or to whom the question is not shown."""
    return usual.answering(question, survey.questions, guess.share)


def draw_people(survey: Survey, truth: Mapping[str, Any], count: int, rng: Generator) -> dict[str, Indices]:
    """Draw answers for `count` respondents; return the symbol indices of each question.

    Questions are independent, except that a condition may hide one. `truth` gives for a yes_no the share of yes, for a
    choice or scale the share of each label, for a multiple the share that picks each label. For a number it gives mean
    and sd. `{"no_answer": share, "of": …}` gives the share that skips. Missing entries take the defaults of a plan.
    Raise TruthError if `truth` does not fit the survey.
    """
    unknown = set(truth) - survey.ids
    if unknown:
        raise TruthError(f"there is no question {min(unknown)!r}")
    drawn: dict[str, Indices] = {}
    for question in survey.questions:
        told = truth.get(question.id)
        skipped = SKIPPING if told is None and question.optional and not question.show_if else 0.0
        if isinstance(told, Mapping) and "no_answer" in told:
            skipped, told = check_share(question, told["no_answer"]), told.get("of")
        indices = kind_of(question).draw(question, told, count, rng)
        none = unanswered(question)
        if skipped:
            if not question.optional:
                raise TruthError(f"{question.id} is not optional")
            indices = np.where(rng.random(count) < skipped, none, indices)
        if question.show_if:
            indices = np.where(_shown(survey, question, drawn), indices, none)
        drawn[question.id] = indices
    return drawn


def _shown(survey: Survey, question: Question, drawn: Mapping[str, Indices]) -> npt.NDArray[np.bool_]:
    """Return a mask of the respondents who see a question: their answer to its parent is one of its labels."""
    if question.show_if is None:
        raise ValueError("nothing hides this question")
    parent = next(one for one in survey.questions if one.id == question.show_if.question)
    places = [parent.labels.index(label) for label in question.show_if.labels]
    found: npt.NDArray[np.bool_] = np.any(
        [kind_of(parent).gives(parent, place, drawn[parent.id]) for place in places], axis=0
    )
    return found
