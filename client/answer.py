"""What a person said, as integers: answers → indices → symbols.

An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its
grid, found through decimal text and never through binary floats. Numbers with `levels` are then rounded at random
to a level, which is the *symbol*; elsewhere index and symbol are the same.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from client.definition import Field, Survey
from client.errors import AnswerError
from client.question import Question, labels_of
from client.sampling import RandomBytes
from client.types import type_of


def encode(survey: Survey, answers: Mapping[str, Any], asked: int | None = None) -> dict[str, int]:
    """The index of every question; if one field is asked, only it and its filters need an answer."""
    for name in answers:
        if name not in survey.ids:
            raise AnswerError(str(name), "there is no such question")
    needed = survey.ids if asked is None else survey.needed(asked)
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
        if question.show_if and not shown(question, picked):
            index = unanswered(question)
        indices[question.id] = index
        picked[question.id] = labels_of(question, index)
    return indices


def shown(question: Question, picked: Mapping[str, Collection[str]]) -> bool:
    """Whether the labels picked so far show this question; a hidden question has picked none."""
    condition = question.show_if
    return condition is None or bool(set(condition.labels) & set(picked[condition.question]))


def index_of(question: Question, answer: Any) -> int:
    """The index of one given answer; AnswerError if it does not fit."""
    return type_of(question.type).index_of(question, answer)


def unanswered(question: Question) -> int:
    """The index that stands for no answer; a number's lies beyond its grid."""
    return type_of(question.type).unanswered(question)


def symbol_of(field: Field, indices: Sequence[int], random_bytes: RandomBytes) -> int:
    """The field's symbol: rounding draws in question order, then the place among the possible combinations."""
    digits = tuple(
        type_of(question.type).symbol_of(question, index, random_bytes)
        for question, index in zip(field.questions, indices, strict=True)
    )
    return field.symbols[digits] if field.joint else digits[0]
