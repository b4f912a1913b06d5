"""Which answers to two questions can occur together.

A question that is shown only after some answers to another is unanswered after the others; so are those that hang on
it. Two follow-ups of one question exclude each other where no answer to it shows both.
"""

import numpy as np
import numpy.typing as npt

from candor_client.definition import Survey
from candor_client.question import Question
from survey_app.channels import channel_of
from survey_app.estimate.question_estimates import joint_members
from survey_app.kinds import kind_of
from survey_app.tally import columns_of

Needed = dict[str, frozenset[str]]  # by question: one of these was answered


def possible_cells(survey: Survey, rows: Question, columns: Question) -> npt.NDArray[np.bool_]:
    """Return by the places of their answers in a cross-tab whether two of them can occur together."""
    field = columns_of(survey, rows.id).field
    if columns in field.questions:
        possible = np.zeros((rows.size, columns.size), dtype=np.bool_)
        possible[tuple(np.transpose(list(joint_members(field, (rows, columns)))))] = True
        return possible
    left, right = _answers(survey, rows), _answers(survey, columns)
    found = [[_together(survey, (rows, one), (columns, other)) for other in right] for one in left]
    return np.array(found, dtype=np.bool_)


def _answers(survey: Survey, question: Question) -> list[set[str] | None]:
    """What each row or column says, nothing if it is no answer: an answer, or all that a symbol holds."""
    kind = kind_of(question)
    names = kind.answers(question)
    said = [{name} for name in names]
    if not _reads_answers(survey, question):
        said = [{names[place] for place in kind.holds(question, symbol)} for symbol in range(question.no_answer)]
    return [*said, *([None] if question.optional else [])]


def _reads_answers(survey: Survey, question: Question) -> bool:
    return channel_of(columns_of(survey, question.id).field.mechanism).reads_answers


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
        if kind_of(question).exclusive:  # otherwise several can be said at once
            wanted &= needed.get(question.id, wanted)
        needed[question.id] = wanted
        if not wanted:
            return False
    return True


def _fits(survey: Survey, question: Question, answer: set[str] | None, wanted: frozenset[str]) -> bool:
    """An answer that is read by itself leaves open what else was said."""
    if answer is None:
        return False
    return _reads_answers(survey, question) or bool(answer & wanted)
