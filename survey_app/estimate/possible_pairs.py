"""The pairs of answers to two questions that can occur together.

A question with `show_if` has no answer unless its condition holds, and nor have the questions that depend on it. Two
follow-ups of one question exclude each other if no answer to it shows both.
"""

import numpy as np
import numpy.typing as npt

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate.question_estimates import joint_symbols
from survey_app.kinds import kind_of
from survey_app.tally import columns_of

RequiredLabels = dict[str, frozenset[str]]  # for each question, labels of which one must be the answer


def possible_cells(survey: Survey, rows: Question, columns: Question) -> npt.NDArray[np.bool_]:
    """Return a mask of the cells of a cross-tab: whether the answers of its row and column can occur together."""
    field = columns_of(survey, rows.id).field
    if columns in field.questions:
        possible = np.zeros((rows.size, columns.size), dtype=np.bool_)
        possible[tuple(np.transpose(list(joint_symbols(field, (rows, columns)))))] = True
        return possible
    left, right = _answers(survey, rows), _answers(survey, columns)
    mask = [
        [_can_cooccur(survey, (rows, row_answer), (columns, column_answer)) for column_answer in right]
        for row_answer in left
    ]
    return np.array(mask, dtype=np.bool_)


def _answers(survey: Survey, question: Question) -> list[set[str] | None]:
    """Return the answers that each row or column stands for, None for "no answer".

    They are a single answer, or all answers that a symbol holds.
    """
    kind = kind_of(question)
    names = kind.answers(question)
    answers = [{name} for name in names]
    if not _reads_answers(survey, question):
        answers = [
            {names[place] for place in kind.answers_in(question, symbol)} for symbol in range(question.no_answer)
        ]
    return [*answers, *([None] if question.optional else [])]


def _reads_answers(survey: Survey, question: Question) -> bool:
    return channel_of(columns_of(survey, question.id).field.mechanism).reads_answers


def _can_cooccur(survey: Survey, *answers: tuple[Question, set[str] | None]) -> bool:
    questions = {question.id: question for question in survey.questions}
    required: RequiredLabels = {}
    for question, answer in answers:
        if answer is not None and not _require_conditions(questions, question, required):
            return False
    return all(
        _is_allowed(survey, question, answer, required[question.id])
        for question, answer in answers
        if question.id in required
    )


def _require_conditions(questions: dict[str, Question], question: Question, required: RequiredLabels) -> bool:
    """Add the conditions for an answer to this question to the required labels; return False if they contradict."""
    while condition := question.show_if:
        question = questions[condition.question]
        allowed = frozenset(condition.labels)
        if kind_of(question).exclusive:  # otherwise a person can give several answers
            allowed &= required.get(question.id, allowed)
        required[question.id] = allowed
        if not allowed:
            return False
    return True


def _is_allowed(survey: Survey, question: Question, answer: set[str] | None, allowed: frozenset[str]) -> bool:
    """Return whether an answer is compatible with the allowed labels.

    An option that is reported by itself is always compatible, because other options may have been chosen too.
    """
    if answer is None:
        return False
    return _reads_answers(survey, question) or bool(answer & allowed)
