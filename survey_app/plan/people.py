"""The imagined people: what is assumed of those who were not asked yet, for plans, trials and simulations alike.

The usual assumptions are those of `survey_app.kinds.assumptions`; here a planner may have other guesses, and people are
drawn. A mean and an sd mean what they mean in a truth file of `candor simulate`: a normal distribution, cut to the
range.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from client.answer import unanswered
from client.definition import Survey
from client.question import Question
from survey_app.authoring import answering as usual
from survey_app.kinds import kind_of
from survey_app.kinds.assumptions import SKIPPING, Generator, Guess, Indices, TruthError, check_share


def option_share(question: Question, guess: Guess) -> float:
    """The share of a yes, or of one option, point or bin, among those who answer."""
    return kind_of(question).usual_share(question) if guess.share is None else guess.share


def answering(survey: Survey, question: Question, guess: Guess) -> float:
    """The share of those asked who answer: all, all but the skipping, or those to whom the question is shown."""
    return usual.answering(question, survey.questions, guess.share)


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
    """Return who sees a question: the people whose answer to its parent is any of some labels."""
    if question.show_if is None:
        raise ValueError("nothing hides this question")
    parent = next(one for one in survey.questions if one.id == question.show_if.question)
    places = [parent.labels.index(label) for label in question.show_if.labels]
    found: npt.NDArray[np.bool_] = np.any(
        [kind_of(parent).gives(parent, place, drawn[parent.id]) for place in places], axis=0
    )
    return found
