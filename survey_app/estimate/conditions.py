"""Which answers to two questions can occur together.

A question that is shown only after some answers to another is unanswered after the others; so are those that hang on
it. Two follow-ups of one question exclude each other where no answer to it shows both.
"""

import numpy as np
import numpy.typing as npt

from client.definition import Survey
from client.mechanisms import Drawn
from client.question import Question, labels_of
from survey_app.tally import columns_of

Needed = dict[str, frozenset[str]]  # by question: one of these was answered


def occurring(survey: Survey, rows: Question, columns: Question) -> npt.NDArray[np.bool_]:
    """By the places of their answers in a cross-tab, whether two of them can occur together."""
    left, right = _answers(survey, rows), _answers(survey, columns)
    found = [[_together(survey, (rows, one), (columns, other)) for other in right] for one in left]
    return np.array(found, dtype=np.bool_)


def _answers(survey: Survey, question: Question) -> list[set[str] | None]:
    """What each answer says, nothing if it is none; drawn options leave open what else was said."""
    drawn = isinstance(columns_of(survey, question.id).field.mechanism, Drawn)
    symbols = [{label} for label in question.labels] if drawn else _labels(question)
    return [*symbols, *([None] if question.optional else [])]


def _labels(question: Question) -> list[set[str]]:
    return [labels_of(question, index) for index in range(question.no_answer)]


def _together(survey: Survey, *said: tuple[Question, set[str] | None]) -> bool:
    questions = {question.id: question for question in survey.questions}
    needed: Needed = {}
    for question, answer in said:
        if answer is not None and not _need(questions, question, needed):
            return False
    return all(
        _fits(survey, question, answer, needed[question.id]) for question, answer in said if question.id in needed
    )


def _need(questions: dict[str, Question], question: Question, needed: Needed) -> bool:
    """Add what an answer to this question needs; False if that contradicts what is needed already."""
    while condition := question.show_if:
        question = questions[condition.question]
        wanted = frozenset(condition.labels)
        if question.type != "multiple":  # of which several can be said at once
            wanted &= needed.get(question.id, wanted)
        needed[question.id] = wanted
        if not wanted:
            return False
    return True


def _fits(survey: Survey, question: Question, answer: set[str] | None, wanted: frozenset[str]) -> bool:
    if answer is None:
        return False
    drawn = isinstance(columns_of(survey, question.id).field.mechanism, Drawn)
    return drawn or bool(answer & wanted)
