"""What a person said, as integers: answers → indices → symbols.

An *index* is exact and private to the device: an option's position, a set's mask, or a number's position on its
grid, found through decimal text and never through binary floats. Numbers with `levels` are then rounded at random
to a level, which is the *symbol*; elsewhere index and symbol are the same.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from client.definition import Field, Survey
from client.errors import AnswerError
from client.question import Question, labels_of
from client.sampling import RandomBytes, below

DECIMAL_TEXT = re.compile(r"[+-]?[0-9]{1,17}(\.[0-9]{1,17})?")


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
    if question.type == "number":
        return _number_index(question, answer)
    if question.type == "multiple":
        if not isinstance(answer, Sequence | set | frozenset) or isinstance(answer, str | bytes):
            raise AnswerError(question.id, "must be a list of options")
        chosen = {_label_index(question, label) for label in answer}
        if len(chosen) != len(answer):
            raise AnswerError(question.id, "names an option twice")
        # all places, whichever are chosen: no answer takes longer than another
        return int("".join("01"[place in chosen] for place in reversed(range(len(question.labels)))), 2)
    if question.type == "yes_no" and isinstance(answer, bool):
        return int(answer)
    return _label_index(question, answer)


def _label_index(question: Question, label: Any) -> int:
    if not isinstance(label, str) or label not in question.places:
        known = ", ".join(question.labels[:8]) + (", ..." if len(question.labels) > 8 else "")
        raise AnswerError(question.id, f"{str(label)[:40]!r} is not one of: {known}")
    return question.places[label]


def _number_index(question: Question, answer: Any) -> int:
    text = format(Decimal(repr(answer)), "f") if type(answer) is float else str(answer)
    if type(answer) not in (int, float, str, Decimal) or not DECIMAL_TEXT.fullmatch(text):
        raise AnswerError(question.id, f"{text[:40]!r} is not a decimal number")
    low, high, step, digits = question.grid
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    value = int(whole + decimals[:digits].ljust(digits, "0"))
    if not low <= value <= high:
        raise AnswerError(question.id, f"{text} is not from {question.min:f} to {question.max:f}")
    index, rest = divmod(value - low, step)
    if rest or len(decimals) > digits:
        raise AnswerError(question.id, f"{text} is not {question.min:f} plus a multiple of {question.step:f}")
    return index * question.bins // (question.steps + 1) if question.bins else index


def unanswered(question: Question) -> int:
    """The index that stands for no answer; a number's lies beyond its grid."""
    return question.steps + 1 if question.levels else question.no_answer


def symbol_of(field: Field, indices: Sequence[int], random_bytes: RandomBytes) -> int:
    """The field's symbol: rounding draws in question order, then the place among the possible combinations."""
    digits = tuple(
        _round(question, index, random_bytes) if question.levels else index
        for question, index in zip(field.questions, indices, strict=True)
    )
    return field.symbols[digits] if field.joint else digits[0]


def _round(question: Question, index: int, random_bytes: RandomBytes) -> int:
    """A level, drawn between the two next to the number; drawn and ignored for no answer."""
    level, rest = divmod(index * (question.levels - 1), question.steps)
    level += below(question.steps, random_bytes) < rest
    return question.no_answer if index > question.steps else level
