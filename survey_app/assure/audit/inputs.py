"""Which answers an audit gives: for every field two that are as far apart as its mechanism allows.

Many fields can be tried at once, since what a field sends hangs on its own answers alone. Only where a question is
asked because of another one, whose answer must then stay, the two take turns: that is what rounds are for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from client.answer import encode, index_of, shown, unanswered
from client.definition import Field, Survey
from client.question import Question, labels_of

Answers = dict[str, Any]


@dataclass(frozen=True)
class Round:
    """Two sets of answers, and for the fields tried in it the symbol that each set gives."""

    answers: tuple[Answers, Answers]
    symbols: dict[int, tuple[int, int]]


def rounds(survey: Survey) -> list[Round]:
    """As few rounds as it takes to try every field once."""
    left = list(range(len(survey.fields)))
    found: list[Round] = []
    while left:
        active: list[int] = []
        fixed: Answers = {}
        for index in left:
            wanted = _filters(survey, index)
            free = {one.id for other in (*active, index) for one in survey.fields[other].questions}
            together = fixed | wanted
            if not free & together.keys() and all(fixed.get(name, answer) == answer for name, answer in wanted.items()):
                active.append(index)
                fixed = together
        found.append(_round(survey, active, fixed))
        left = [index for index in left if index not in active]
    return found


def _filters(survey: Survey, index: int) -> Answers:
    """What others have to answer so that this field's questions are asked."""
    own = {question.id for question in survey.fields[index].questions}
    wanted: Answers = {}
    todo = [question for question in survey.fields[index].questions if question.show_if]
    while todo:
        condition = todo.pop().show_if
        if condition and condition.question not in own and condition.question not in wanted:
            parent = next(one for one in survey.questions if one.id == condition.question)
            wanted[parent.id] = [condition.labels[0]] if parent.type == "multiple" else condition.labels[0]
            todo.append(parent)
    return wanted


def _round(survey: Survey, active: list[int], fixed: Answers) -> Round:
    moving = {question.id for index in active for question in survey.fields[index].questions}
    low, high = (_answers(survey, moving, fixed, last=last) for last in (False, True))
    symbols = {index: (_symbol(survey, index, low), _symbol(survey, index, high)) for index in active}
    return Round((low, high), symbols)


def _answers(survey: Survey, moving: set[str], fixed: Answers, *, last: bool) -> Answers:
    answers: Answers = {}
    picked: dict[str, set[str]] = {}
    for question in survey.questions:
        if question.id in fixed:
            answers[question.id] = fixed[question.id]
        elif question.show_if and not shown(question, picked):
            answers[question.id] = None
        elif question.id in moving or not question.optional:
            answers[question.id] = _answer(question, last=last and question.id in moving)
        else:
            answers[question.id] = None
        answer = answers[question.id]
        index = unanswered(question) if answer is None else index_of(question, answer)
        picked[question.id] = labels_of(question, index)
    return answers


def _answer(question: Question, *, last: bool) -> Any:
    if question.type == "number":
        return f"{question.max if last else question.min:f}"
    if question.type == "multiple":
        return list(question.labels) if last else []
    return question.labels[-1 if last else 0]


def _symbol(survey: Survey, index: int, answers: Answers) -> int:
    """The symbol of a field: numbers lie at the ends of their range, where no rounding is drawn."""
    field: Field = survey.fields[index]
    indices = encode(survey, answers)
    digits = tuple(_digits(field, indices))
    return field.symbols[digits] if field.joint else digits[0]


def _digits(field: Field, indices: dict[str, int]) -> Iterator[int]:
    for question in field.questions:
        index = indices[question.id]
        if question.levels:
            index = question.no_answer if index > question.steps else index * (question.levels - 1) // question.steps
        yield index
