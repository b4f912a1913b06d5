"""A survey read in one of its languages: what it says is translated, what it means is as it was.

The twin of `static/form/language.js`. Labels are by position, and conditions are translated with the labels that they
name, so symbols and bits are those of the original. Only to be read: its digest stays the original's.
"""

from collections.abc import Iterable
from dataclasses import replace

from candor_client.definition import Field, Survey
from candor_client.display import Translation
from candor_client.question import Condition, Question


def languages(survey: Survey) -> list[str]:
    """The survey's own language first."""
    return [survey.language, *(translation.language for translation in survey.translations)]


def language_for(offered: list[str], wishes: Iterable[str]) -> str:
    """The first that the reader prefers and that is offered, whatever their region; else the first that is offered."""

    def main(tag: str) -> str:
        return tag.lower().split("-")[0]

    for wish in wishes:
        same = [tag for tag in offered if tag.lower() == wish.lower()]
        if found := same + [tag for tag in offered if main(tag) == main(wish)]:
            return found[0]
    return offered[0]


def localized(survey: Survey, language: str) -> Survey:
    """The survey in this language; in its own, if it has no such translation."""
    found = next((one for one in survey.translations if one.language == language), None)
    if found is None:
        return survey
    questions = _questions(survey.questions, found)

    def translate(field: Field) -> Field:
        return replace(field, questions=tuple(questions[one.id] for one in field.questions))

    return replace(
        survey,
        language=language,
        questions=tuple(questions.values()),
        fields=tuple(map(translate, survey.fields)),
        **{key: getattr(found, key) or getattr(survey, key) for key in ("title", "description", "consent", "contact")},
    )


def _questions(originals: tuple[Question, ...], found: Translation) -> dict[str, Question]:
    made: dict[str, Question] = {}
    labels: dict[str, dict[str, str]] = {}
    for original, words in zip(originals, found.questions, strict=True):
        labels[original.id] = dict(zip(original.labels, words.labels, strict=True))
        condition = original.show_if
        if condition:
            known = labels[condition.question]
            condition = Condition(condition.question, tuple(known[label] for label in condition.labels))
        made[original.id] = replace(original, text=words.text, unit=words.unit, labels=words.labels, show_if=condition)
    return made
