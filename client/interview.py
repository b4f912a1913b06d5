"""How a person is asked in a terminal: one question after the other, and what becomes of each answer beside it."""

import textwrap
from typing import Any

from client import words
from client.answer import index_of, shown, unanswered
from client.definition import Field, Survey
from client.errors import AnswerError
from client.question import Question, labels_of

FILTER = "asked only to know what comes next; not sent"


def interview(survey: Survey, asked: int | None) -> dict[str, Any]:
    """The answers to all questions, or to those of the asked field with what they depend on."""
    needed = survey.ids if asked is None else survey.needed(asked)
    sent = survey.fields if asked is None else [survey.fields[asked]]
    untold = list(sent) if len(sent) > 1 else []  # of one field alone all was told before
    answers: dict[str, Any] = {}
    picked: dict[str, set[str]] = {}
    for question in survey.questions:
        picked[question.id] = set()
        if question.id in needed and shown(question, picked):
            field = next((field for field in sent if question in field.questions), None)
            answer = _ask(question, _note(field, untold))
            answers[question.id] = answer
            index = unanswered(question) if answer is None else index_of(question, answer)
            picked[question.id] = labels_of(question, index)
    return answers


def _note(field: Field | None, untold: list[Field]) -> str:
    """What is said beside a question: that it is a filter, or what becomes of the answer, once for each field."""
    if field is None:
        return f"{FILTER}; what is sent can hint at it, and the same dice protect it"
    if field not in untold:
        return ""
    untold.remove(field)
    together = f"together with {', '.join(question.id for question in field.questions[1:])}: " if field.joint else ""
    return together + words.explain(field)


def _ask(question: Question, note: str) -> Any:
    print(f"\n{textwrap.fill(question.text, 100)}")
    if note:
        print(textwrap.fill(f"({note})", 100, initial_indent="  ", subsequent_indent="   "))
    if question.type == "number":
        ends = f"from {question.min:f} to {question.max:f} {question.unit}".rstrip()
        hint = f"a number {ends}, in steps of {question.step:f}"
    elif question.type == "yes_no":
        hint = "yes or no"
    else:
        for i, label in enumerate(question.labels, 1):
            print(f"  {i}. {label}")
        hint = "numbers, separated by spaces; 0 for none" if question.type == "multiple" else "a number"
    hint += "; just Enter for no answer" if question.optional else ""
    while True:
        said = input(f"  ({hint}) > ").strip()
        if not said and question.optional:
            return None
        try:
            answer = _understand(question, said)
            index_of(question, answer)
            return answer
        except AnswerError as error:
            print(f"  {error}")


def _understand(question: Question, said: str) -> Any:
    """What was typed, as an answer: positions become labels."""
    if question.type == "yes_no":
        return {"y": "yes", "n": "no"}.get(said.lower(), said.lower())
    if question.type == "number":
        return said
    try:
        places = [int(word) for word in said.replace(",", " ").split()]
        labels = [question.labels[place - 1] for place in places if place > 0]
    except (ValueError, IndexError):
        raise AnswerError(question.id, f"type numbers from 1 to {len(question.labels)}") from None
    if question.type == "multiple" and places:
        return labels
    if len(places) != 1 or not labels:
        raise AnswerError(question.id, f"type one number from 1 to {len(question.labels)}")
    return labels[0]
