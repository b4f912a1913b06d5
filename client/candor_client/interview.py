"""The interview in a terminal: one question after the other, each with a note on how its answer is randomized.

The questions may be shown in a translation; answers always use the labels of the original.
The language, and the order of shuffled options, are forgotten when the command ends.
"""

import secrets
import textwrap
from collections.abc import Mapping
from typing import Any

from candor_client import description
from candor_client.answer import index_of, is_visible, unanswered
from candor_client.definition import Field, Survey
from candor_client.display import choose_language, group_by_section, list_languages, translate_survey
from candor_client.errors import AnswerError
from candor_client.question import Question, labels_of
from candor_client.sampling import RandomBytes, pick
from candor_client.types import type_of

FILTER = "asked only to know what comes next; not sent"
WIDTH = 100
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def interview(
    survey: Survey,
    field_index: int | None,
    translated: Survey | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> dict[str, Any]:
    """Ask the questions and return the answers by id of the question.

    If `field_index` is given, ask only the questions of that field and the questions on which they depend.
    `translated` is the survey in the language that is shown.
    `random_bytes` draws only the order of shuffled options on the screen.
    """
    translated = translated or survey
    needed = survey.ids if field_index is None else survey.question_ids_for(field_index)
    fields = survey.fields if field_index is None else [survey.fields[field_index]]
    unexplained = list(fields) if len(fields) > 1 else []  # a single field was explained before the interview
    current, sections = (
        None,
        {question.id: section for section, inside in group_by_section(translated) for question in inside},
    )
    answers: dict[str, Any] = {}
    picked: dict[str, set[str]] = {}
    for question, translation in zip(survey.questions, translated.questions, strict=True):
        picked[question.id] = set()
        if question.id in needed and is_visible(question, picked):
            if (section := sections[question.id]) and section is not current:
                current = section
                print(f"\n{section.title}\n{'-' * min(len(section.title), WIDTH)}{_format_section_text(section.text)}")
            field = next((field for field in fields if question in field.questions), None)
            answer = _ask(question, translation, _note(field, unexplained), random_bytes)
            answers[question.id] = answer
            index = unanswered(question) if answer is None else index_of(question, answer)
            picked[question.id] = labels_of(question, index)
    return answers


def wrap_paragraphs(text: str) -> str:
    """Return text wrapped for a terminal; U+2029 separates its paragraphs."""
    return "\n".join(textwrap.fill(paragraph, WIDTH) for paragraph in text.split("\u2029")) if text else ""


def _format_section_text(text: str) -> str:
    return f"\n{wrap_paragraphs(text)}" if text else ""


def _note(field: Field | None, unexplained: list[Field]) -> str:
    """Return the note of a question: that it is a filter, or how its field is randomized, once for each field."""
    if field is None:
        return f"{FILTER}; what is sent can hint at it, and the same randomization protects it"
    if field not in unexplained:
        return ""
    unexplained.remove(field)
    joint = f"together with {', '.join(question.id for question in field.questions[1:])}: " if field.joint else ""
    return joint + description.explain(field)


def _ask(question: Question, translated: Question, note: str, random_bytes: RandomBytes) -> Any:
    print(f"\n{textwrap.fill(translated.text, WIDTH)}")
    if note:
        print(textwrap.fill(f"({note})", WIDTH, initial_indent="  ", subsequent_indent="   "))
    order = list(range(len(question.labels)))
    if question.shuffle:
        pick(len(order), order, random_bytes)
    labels = [question.labels[place] for place in order]
    kind = type_of(question.type)
    if kind.lists_labels:
        for i, place in enumerate(order, 1):
            print(f"  {i}. {translated.labels[place]}")
    hint = kind.prompt(translated) + ("; press Enter for no answer" if question.optional else "")
    while True:
        text = input(f"  ({hint}) > ").strip()
        if not text and question.optional:
            return None
        try:
            answer = kind.parse_input(question, labels, text)
            index_of(question, answer)
            return answer
        except AnswerError as error:
            print(f"  {error}")


def format_farewell(survey: Survey) -> str:
    """Return the author's thanks, and the completion code or address, which is the same for all respondents.

    The address is printed and never opened.
    """
    parts = [wrap_paragraphs(survey.thanks)]
    if "://" in survey.completion:
        parts.append(
            f"{survey.completion}\n"
            + textwrap.fill(
                "This address is the same for everybody. It is not opened automatically: its operator can see that you "
                "visit it, but not what you answered.",
                WIDTH,
            )
        )
    elif survey.completion:
        parts.append(f"Your code, the same for everybody: {survey.completion}")
    return "".join(f"\n{part}\n" for part in parts if part)


def translate_for_terminal(survey: Survey, choice: str | None, environment: Mapping[str, str]) -> Survey:
    """Return the survey in the language `choice`, or in the language of this terminal if `choice` is None.

    Raise AnswerError if the survey is not in that language. The language is not sent to any server.
    """
    if choice is None:
        locale = environment.get("LANGUAGE") or next((environment[key] for key in LOCALE if environment.get(key)), "")
        tags = [name.split(".")[0].split("@")[0].replace("_", "-") for name in locale.split(":") if name]
        return translate_survey(survey, choose_language(survey, tags))
    if choice not in (available := list_languages(survey)):
        raise AnswerError("--language", f"this survey is available in {', '.join(available)}")
    return translate_survey(survey, choice)
