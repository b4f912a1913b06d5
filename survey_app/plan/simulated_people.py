"""Assumptions about respondents, and simulated respondents, for plans, trials and simulations.

The defaults are in `survey_app.kinds.planning_assumptions`; here a planner may override them. A mean and an sd mean the
same as in a truth file of `candor simulate`: a normal distribution, truncated to the range.
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
from survey_app.kinds.planning_assumptions import SKIP_SHARE, Generator, Guess, Indices, TruthError, check_share


def option_share(question: Question, guess: Guess) -> float:
    """Return the share of a yes, or of one option, point or bin, among respondents who answer."""
    return kind_of(question).usual_share(question) if guess.share is None else guess.share


def compute_response_rate(survey: Survey, question: Question, guess: Guess) -> float:
    """Return the share of respondents who answer: without those who skip, or to whom the question is not shown."""
    return usual.predict_response_rate(question, survey.questions, guess.share)


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
    answers: dict[str, Indices] = {}
    for question in survey.questions:
        answer_shares = truth.get(question.id)
        skip_share = SKIP_SHARE if answer_shares is None and question.optional and not question.show_if else 0.0
        if isinstance(answer_shares, Mapping) and "no_answer" in answer_shares:
            skip_share, answer_shares = check_share(question, answer_shares["no_answer"]), answer_shares.get("of")
        indices = kind_of(question).draw(question, answer_shares, count, rng)
        no_answer = unanswered(question)
        if skip_share:
            if not question.optional:
                raise TruthError(f"{question.id} is not optional; leave no_answer out")
            indices = np.where(rng.random(count) < skip_share, no_answer, indices)
        if question.show_if:
            indices = np.where(_mask_viewers(survey, question, answers), indices, no_answer)
        answers[question.id] = indices
    return answers


def _mask_viewers(survey: Survey, question: Question, answers: Mapping[str, Indices]) -> npt.NDArray[np.bool_]:
    """Return a mask of the respondents who see a question: their answer to its parent is one of its labels."""
    if question.show_if is None:
        raise ValueError("nothing hides this question")
    parent = next(candidate for candidate in survey.questions if candidate.id == question.show_if.question)
    label_indices = [parent.labels.index(label) for label in question.show_if.labels]
    mask: npt.NDArray[np.bool_] = np.any(
        [kind_of(parent).mark_answer(parent, index, answers[parent.id]) for index in label_indices], axis=0
    )
    return mask
