"""The interview in a terminal: one question after the other, each with a note on how its answer is randomized.

The questions may be shown in a translation; answers always use the labels of the original.
The language, and the order of shuffled options, are forgotten when the command ends.
"""

import secrets
import textwrap
from collections.abc import Mapping
from typing import Any

from candor_client import description
from candor_client.answer import index_of, shown, unanswered
from candor_client.definition import Field, Survey
from candor_client.display import in_language, languages, parted, preferred
from candor_client.errors import AnswerError
from candor_client.question import Question, labels_of
from candor_client.sampling import RandomBytes, pick
from candor_client.types import type_of

FILTER = "asked only to know what comes next; not sent"
WIDTH = 100
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def interview(
    survey: Survey, asked: int | None, spoken: Survey | None = None, random_bytes: RandomBytes = secrets.token_bytes
) -> dict[str, Any]:
    """Ask the questions and return the answers by id of the question.

    If `field_index` is given, ask only the questions of that field and the questions on which they depend.
    `translated` is the survey in the language that is shown.
    `random_bytes` draws only the order of shuffled options on the screen.
    """
    spoken = spoken or survey
    needed = survey.ids if asked is None else survey.needed(asked)
    fields = survey.fields if asked is None else [survey.fields[asked]]
    unexplained = list(fields) if len(fields) > 1 else []  # a single field was explained before the interview
    current, sections = None, {question.id: section for section, inside in parted(spoken) for question in inside}
    answers: dict[str, Any] = {}
    picked: dict[str, set[str]] = {}
    for question, translation in zip(survey.questions, spoken.questions, strict=True):
        picked[question.id] = set()
        if question.id in needed and shown(question, picked):
            if (section := sections[question.id]) and section is not current:
                current = section
                print(f"\n{section.title}\n{'-' * min(len(section.title), WIDTH)}{_below(section.text)}")
            field = next((field for field in fields if question in field.questions), None)
            answer = _ask(question, translation, _note(field, unexplained), random_bytes)
            answers[question.id] = answer
            index = unanswered(question) if answer is None else index_of(question, answer)
            picked[question.id] = labels_of(question, index)
    return answers


def paragraphs(text: str) -> str:
    """Return text wrapped for a terminal; U+2029 separates its paragraphs."""
    return "\n".join(textwrap.fill(paragraph, WIDTH) for paragraph in text.split("\u2029")) if text else ""


def _below(text: str) -> str:
    return f"\n{paragraphs(text)}" if text else ""


def _note(field: Field | None, untold: list[Field]) -> str:
    """Return the note of a question: that it is a filter, or how its field is randomized, once for each field."""
    if field is None:
        return f"{FILTER}; what is sent can hint at it, and the same dice protect it"
    if field not in untold:
        return ""
    untold.remove(field)
    joint = f"together with {', '.join(question.id for question in field.questions[1:])}: " if field.joint else ""
    return joint + description.explain(field)


def _ask(question: Question, spoken: Question, note: str, random_bytes: RandomBytes) -> Any:
    print(f"\n{textwrap.fill(spoken.text, WIDTH)}")
    if note:
        print(textwrap.fill(f"({note})", WIDTH, initial_indent="  ", subsequent_indent="   "))
    order = list(range(len(question.labels)))
    if question.shuffle:
        pick(len(order), order, random_bytes)
    labels = [question.labels[place] for place in order]
    kind = type_of(question.type)
    if kind.lists_labels:
        for i, place in enumerate(order, 1):
            print(f"  {i}. {spoken.labels[place]}")
    hint = kind.prompt(spoken) + ("; just Enter for no answer" if question.optional else "")
    while True:
        text = input(f"  ({hint}) > ").strip()
        if not text and question.optional:
            return None
        try:
            answer = kind.understand(question, labels, text)
            index_of(question, answer)
            return answer
        except AnswerError as error:
            print(f"  {error}")


def farewell(survey: Survey) -> str:
    """Return the author's thanks, and the completion code or address, which is the same for all respondents.

    The address is printed and never opened.
    """
    parts = [paragraphs(survey.thanks)]
    if "://" in survey.completion:
        parts.append(
            f"{survey.completion}\n"
            + textwrap.fill(
                "This address is the same for everybody. It is not opened from here: whoever runs it can see that you "
                "come, though not what you answered.",
                WIDTH,
            )
        )
    elif survey.completion:
        parts.append(f"Your code, the same for everybody: {survey.completion}")
    return "".join(f"\n{part}\n" for part in parts if part)


def in_words_of(survey: Survey, wanted: str | None, environment: Mapping[str, str]) -> Survey:
    """Return the survey in the language `choice`, or in the language of this terminal if `choice` is None.

    Raise AnswerError if the survey is not in that language. The language is not sent to any server.
    """
    if wanted is None:
        locale = environment.get("LANGUAGE") or next((environment[key] for key in LOCALE if environment.get(key)), "")
        tags = [name.split(".")[0].split("@")[0].replace("_", "-") for name in locale.split(":") if name]
        return in_language(survey, preferred(survey, tags))
    if wanted not in (available := languages(survey)):
        raise AnswerError("--language", f"this survey is in {', '.join(available)}")
    return in_language(survey, wanted)
