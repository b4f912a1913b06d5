"""What a definition holds for the eye alone: sections, a code at the end, translations.

Nothing of it changes what is sent; but it is part of the digest, so everybody is shown the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from client.canonical import check_keys, items, labels_at, only_true, plain_text
from client.errors import DefinitionError
from client.question import Question

if TYPE_CHECKING:
    from client.definition import Survey

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Section:
    """A heading before the question `first`; a grid shows scales with equal points as one table."""

    first: str
    title: str
    text: str = ""
    grid: bool = False


@dataclass(frozen=True)
class Words:
    """The words of one question in another language; labels are by position."""

    text: str
    labels: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Every text of a survey in another language; questions and sections are by position."""

    language: str
    title: str
    description: str = ""
    consent: str = ""
    contact: str = ""
    thanks: str = ""
    questions: tuple[Words, ...]
    sections: tuple[tuple[str, str], ...] = ()  # title and text


def language(value: Any, path: str, left_out: str) -> str:
    """A language tag other than one that goes without saying."""
    if not isinstance(value, str) or not LANGUAGE.fullmatch(value) or value == left_out:
        raise DefinitionError("bad_value", path, f"must be a language tag such as 'de'; {left_out!r} is left out")
    return value


def sections(value: Any, questions: Sequence[Question]) -> tuple[Section, ...]:
    """Headings in the order of the questions, each running to the next."""
    places = {question.id: place for place, question in enumerate(questions)}
    raws = items(value, "sections", 1)
    made: list[Section] = []
    starts: list[int] = []
    for i, raw in enumerate(raws):
        path = f"sections[{i}]"
        check_keys(raw, path, ("first", "title"), ("text", "grid"))
        first = raw["first"]
        if not isinstance(first, str) or first not in places or (starts and places[first] <= starts[-1]):
            raise DefinitionError("bad_value", f"{path}.first", "must be a question after the section before")
        starts.append(places[first])
        text = plain_text(raw["text"], f"{path}.text") if "text" in raw else ""
        grid = "grid" in raw and only_true(raw["grid"], f"{path}.grid")
        made.append(Section(first, plain_text(raw["title"], f"{path}.title"), text, grid))
    for i, (section, start, stop) in enumerate(zip(made, starts, [*starts[1:], len(questions)], strict=True)):
        inside = questions[start:stop]
        if section.grid and any(one.type != "scale" or one.labels != inside[0].labels for one in inside):
            raise DefinitionError("bad_value", f"sections[{i}].grid", "is for scales with equal points")
    return tuple(made)


def completion(value: Any, path: str) -> str:
    """A code, or an https address, which is shown and never followed by itself."""
    if "://" in plain_text(value, path) and not re.fullmatch(r"https://[\x21-\x7e]+", value):
        raise DefinitionError("bad_value", path, "must be a code or an https address")
    return str(value)


def translations(value: Any, survey: "Survey", path: str) -> tuple[Translation, ...]:
    """Each has every text that the original has, and no other."""
    if not isinstance(value, dict) or not value:
        raise DefinitionError("bad_value", path, "must be an object of languages, or left out")
    return tuple(_translation(tag, raw, survey, f"{path}.{tag[:40]}") for tag, raw in value.items())


def _translation(tag: str, value: Any, survey: "Survey", path: str) -> Translation:
    language(tag, path, survey.language)
    prose = [key for key in ("title", "description", "consent", "thanks") if getattr(survey, key)]
    parts = ["questions", *(["sections"] if survey.sections else [])]
    check_keys(value, path, (*prose, *parts), ["contact"] if survey.contact else [])
    texts = {key: plain_text(value[key], f"{path}.{key}") for key in (*prose, "contact") if key in value}
    check_keys(value["questions"], f"{path}.questions", [question.id for question in survey.questions])
    questions = tuple(
        _words(value["questions"][question.id], question, f"{path}.questions.{question.id}")
        for question in survey.questions
    )
    headings: list[tuple[str, str]] = []
    if survey.sections:
        raws = items(value["sections"], f"{path}.sections", 1)
        if len(raws) != len(survey.sections):
            raise DefinitionError("bad_value", f"{path}.sections", "needs one entry for every section")
        for i, (raw, section) in enumerate(zip(raws, survey.sections, strict=True)):
            headings.append(_heading(raw, section, f"{path}.sections[{i}]"))
    return Translation(language=tag, **texts, questions=questions, sections=tuple(headings))


def _words(value: Any, question: Question, path: str) -> Words:
    key = {"choice": "options", "multiple": "options", "scale": "points"}.get(question.type)
    wanted = ["text", *([key] if key else []), *(["unit"] if question.unit else [])]
    check_keys(value, path, wanted)
    labels = labels_at(value[key], f"{path}.{key}", 1) if key else ()
    if key and len(labels) != len(question.labels):
        raise DefinitionError("bad_value", f"{path}.{key}", "needs one entry for every label")
    unit = plain_text(value["unit"], f"{path}.unit") if question.unit else ""
    return Words(plain_text(value["text"], f"{path}.text"), labels, unit)


def _heading(value: Any, section: Section, path: str) -> tuple[str, str]:
    check_keys(value, path, ["title", *(["text"] if section.text else [])])
    text = plain_text(value["text"], f"{path}.text") if section.text else ""
    return plain_text(value["title"], f"{path}.title"), text
