"""The parts of a definition that are only displayed: sections, a completion code, translations.

They do not change the report. They are part of the digest, so that every respondent sees the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from candor_client.canonical import check_keys, parse_labels, parse_list, parse_text, parse_true
from candor_client.errors import DefinitionError
from candor_client.question import Question
from candor_client.types import type_of

if TYPE_CHECKING:
    from candor_client.definition import Survey

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Section:
    """A heading before the question `first`; a grid shows scales with equal points as one table."""

    first: str
    title: str
    text: str = ""
    grid: bool = False


@dataclass(frozen=True)
class QuestionText:
    """The text of a question in another language; labels are by position, and untranslated for some types."""

    text: str
    labels: tuple[str, ...]
    unit: str


@dataclass(frozen=True, kw_only=True)
class Translation:
    """All texts of a survey in another language; questions and sections are by position."""

    language: str
    title: str
    description: str = ""
    consent: str = ""
    contact: str = ""
    thanks: str = ""
    questions: tuple[QuestionText, ...]
    sections: tuple[tuple[str, str], ...] = ()  # title and text


def parse_language(value: Any, path: str, default: str) -> str:
    """Return a language tag other than the default; raise DefinitionError for any other value."""
    if not isinstance(value, str) or not LANGUAGE.fullmatch(value) or value == default:
        raise DefinitionError("bad_value", path, f"must be a language tag such as 'de', other than {default!r}")
    return value


def parse_sections(value: Any, questions: Sequence[Question]) -> tuple[Section, ...]:
    """Return the sections in the order of their questions; raise DefinitionError if they are malformed."""
    places = {question.id: place for place, question in enumerate(questions)}
    raws = parse_list(value, "sections", 1)
    parsed: list[Section] = []
    starts: list[int] = []
    for i, raw in enumerate(raws):
        path = f"sections[{i}]"
        check_keys(raw, path, ("first", "title"), ("text", "grid"))
        first = raw["first"]
        if not isinstance(first, str) or first not in places or (starts and places[first] <= starts[-1]):
            raise DefinitionError(
                "bad_value", f"{path}.first", "must be a question after the start of the previous section"
            )
        starts.append(places[first])
        text = parse_text(raw["text"], f"{path}.text") if "text" in raw else ""
        grid = "grid" in raw and parse_true(raw["grid"], f"{path}.grid")
        parsed.append(Section(first, parse_text(raw["title"], f"{path}.title"), text, grid))
    for i, (section, start, stop) in enumerate(zip(parsed, starts, [*starts[1:], len(questions)], strict=True)):
        inside = questions[start:stop]
        equal = len({question.labels for question in inside}) == 1
        if section.grid and not (equal and all(type_of(question.type).fits_grid for question in inside)):
            raise DefinitionError("bad_value", f"sections[{i}].grid", "is for scales with equal points")
    return tuple(parsed)


def parse_completion(value: Any, path: str) -> str:
    """Return a completion code or https address, which no client opens; raise DefinitionError for other values."""
    if "://" in parse_text(value, path) and not re.fullmatch(r"https://[\x21-\x7e]+", value):
        raise DefinitionError("bad_value", path, "must be a code or an https address")
    return str(value)


def parse_translations(value: Any, survey: "Survey", path: str) -> tuple[Translation, ...]:
    """Return the translations; raise DefinitionError unless each has exactly the texts of the original."""
    if not isinstance(value, dict) or not value:
        raise DefinitionError("bad_value", path, "must be an object of languages, or left out")
    return tuple(_parse_translation(tag, raw, survey, f"{path}.{tag[:40]}") for tag, raw in value.items())


def _parse_translation(tag: str, value: Any, survey: "Survey", path: str) -> Translation:
    parse_language(tag, path, survey.language)
    prose = [key for key in ("title", "description", "consent", "thanks") if getattr(survey, key)]
    parts = ["questions", *(["sections"] if survey.sections else [])]
    check_keys(value, path, (*prose, *parts), ["contact"] if survey.contact else [])
    texts = {key: parse_text(value[key], f"{path}.{key}") for key in (*prose, "contact") if key in value}
    check_keys(value["questions"], f"{path}.questions", [question.id for question in survey.questions])
    questions = tuple(
        _parse_question_text(value["questions"][question.id], question, f"{path}.questions.{question.id}")
        for question in survey.questions
    )
    headings: list[tuple[str, str]] = []
    if survey.sections:
        raws = parse_list(value["sections"], f"{path}.sections", 1)
        if len(raws) != len(survey.sections):
            raise DefinitionError("bad_value", f"{path}.sections", "needs one entry for every section")
        for i, (raw, section) in enumerate(zip(raws, survey.sections, strict=True)):
            headings.append(_parse_heading(raw, section, f"{path}.sections[{i}]"))
    return Translation(language=tag, **texts, questions=questions, sections=tuple(headings))


def _parse_question_text(value: Any, question: Question, path: str) -> QuestionText:
    key, count = type_of(question.type).labels_key, len(question.labels)
    keys = ["text", *([key] if key else []), *(["unit"] if question.unit else [])]
    check_keys(value, path, keys)
    labels = parse_labels(value[key], f"{path}.{key}", 1) if key else question.labels
    if len(labels) != count:
        raise DefinitionError("bad_value", f"{path}.{key}", "needs one entry for every label")
    unit = parse_text(value["unit"], f"{path}.unit") if question.unit else ""
    return QuestionText(parse_text(value["text"], f"{path}.text"), labels, unit)


def _parse_heading(value: Any, section: Section, path: str) -> tuple[str, str]:
    check_keys(value, path, ["title", *(["text"] if section.text else [])])
    text = parse_text(value["text"], f"{path}.text") if section.text else ""
    return parse_text(value["title"], f"{path}.title"), text


def group_by_section(survey: "Survey") -> list[tuple[Section | None, list[Question]]]:
    """Return the questions by section; the section is None for questions before the first one."""
    starts = {section.first: section for section in survey.sections}
    parts: list[tuple[Section | None, list[Question]]] = []
    for question in survey.questions:
        if question.id in starts or not parts:
            parts.append((starts.get(question.id), []))
        parts[-1][1].append(question)
    return parts


def translate_survey(survey: "Survey", tag: str) -> "Survey":
    """Return the survey in another of its languages; unchanged if it has no such translation.

    Digest, fields and symbols stay the same, so that the same answers give the same report.
    """
    translation = next((item for item in survey.translations if item.language == tag), None)
    if translation is None:
        return survey
    labels = {
        question.id: dict(zip(question.labels, texts.labels, strict=True))
        for question, texts in zip(survey.questions, translation.questions, strict=True)
    }
    questions = {
        question.id: replace(
            question,
            text=texts.text,
            unit=texts.unit,
            labels=tuple(labels[question.id].values()),
            show_if=question.show_if
            and replace(
                question.show_if,
                labels=tuple(labels[question.show_if.question][label] for label in question.show_if.labels),
            ),
        )
        for question, texts in zip(survey.questions, translation.questions, strict=True)
    }
    return replace(
        survey,
        language=tag,
        title=translation.title,
        description=translation.description,
        consent=translation.consent,
        contact=translation.contact or survey.contact,
        thanks=translation.thanks,
        questions=tuple(questions.values()),
        fields=tuple(
            replace(field, questions=tuple(questions[question.id] for question in field.questions))
            for field in survey.fields
        ),
        sections=tuple(
            replace(section, title=title, text=text)
            for section, (title, text) in zip(survey.sections, translation.sections, strict=True)
        ),
    )


def list_languages(survey: "Survey") -> list[str]:
    """Return the languages of a survey, its original language first."""
    return [survey.language, *(translation.language for translation in survey.translations)]


def choose_language(survey: "Survey", tags: Sequence[str]) -> str:
    """Return the first of these languages that the survey has; its original language if it has none.

    The survey's `de` is returned for `de-AT` if the survey has no `de-AT`.
    """
    available = {tag.lower(): tag for tag in list_languages(survey)}
    for tag in (tag.lower() for tag in tags):
        if match := available.get(tag) or available.get(tag.partition("-")[0]):
            return match
    return survey.language
