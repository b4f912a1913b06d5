"""Answers as integers: an answer becomes an index, and an index becomes a symbol.

An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its grid.
Numbers are read as decimal text and never as binary floats.
A number with `levels` is then rounded at random to a level, which is the *symbol*.
Otherwise index and symbol are equal.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from candor_client.definition import Field, Survey
from candor_client.errors import AnswerError
from candor_client.question import Question, labels_of
from candor_client.sampling import RandomBytes
from candor_client.types import type_of


def encode(survey: Survey, answers: Mapping[str, Any], field_index: int | None = None) -> dict[str, int]:
    """Return the index of every question by its id; raise AnswerError for an answer that is missing or does not fit.

    If `field_index` is given, only the questions of that field and their filters need an answer.
    """
    for name in answers:
        if name not in survey.ids:
            raise AnswerError(str(name), "there is no such question")
    needed = survey.ids if field_index is None else survey.question_ids_for(field_index)
    indices: dict[str, int] = {}
    picked: dict[str, set[str]] = {}
    for question in survey.questions:
        answer = answers.get(question.id)
        if answer is not None:
            index = index_of(question, answer)
        elif question.optional or question.id not in needed:
            index = unanswered(question)
        else:
            raise AnswerError(question.id, "an answer is missing, and this question is not optional")
        if question.show_if and not is_visible(question, picked):
            index = unanswered(question)
        indices[question.id] = index
        picked[question.id] = labels_of(question, index)
    return indices


def is_visible(question: Question, picked: Mapping[str, Collection[str]]) -> bool:
    """Return whether this question is shown after the labels that were picked for earlier questions.

    No labels are picked for a hidden question.
    """
    condition = question.show_if
    return condition is None or bool(set(condition.labels) & set(picked[condition.question]))


def index_of(question: Question, answer: Any) -> int:
    """Return the index of an answer; raise AnswerError if it does not fit the question."""
    return type_of(question.type).index_of(question, answer)


def unanswered(question: Question) -> int:
    """Return the index that stands for no answer; for a number it lies beyond the grid."""
    return type_of(question.type).unanswered(question)


def symbol_of(field: Field, indices: Sequence[int], random_bytes: RandomBytes) -> int:
    """Return the symbol of a field from the indices of its questions.

    Numbers are rounded at random, in the order of the questions. The symbol of a joint field is the position of the
    result among the possible combinations.
    """
    digits = tuple(
        type_of(question.type).symbol_of(question, index, random_bytes)
        for question, index in zip(field.questions, indices, strict=True)
    )
    return field.symbols[digits] if field.joint else digits[0]
