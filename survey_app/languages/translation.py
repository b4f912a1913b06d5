"""A survey in one of its languages, with translated texts and the meaning of the original.

`static/form/language.js` does the same in the browser. Labels are matched by position, and conditions are translated
with their labels, so symbols and bits are those of the original. The result is for display only: it keeps the digest of
the original.
"""

from collections.abc import Iterable
from dataclasses import replace

from candor_client.definition import Field, Survey
from candor_client.display import Translation
from candor_client.question import Condition, Question


def list_languages(survey: Survey) -> list[str]:
    """Return the languages of a survey, its own first."""
    return [survey.language, *(translation.language for translation in survey.translations)]


def choose_language(offered: list[str], wishes: Iterable[str]) -> str:
    """Return the first preferred language that is offered, in any region; else the first that is offered."""

    def main(tag: str) -> str:
        return tag.lower().split("-")[0]

    for wish in wishes:
        exact_matches = [tag for tag in offered if tag.lower() == wish.lower()]
        if matches := exact_matches + [tag for tag in offered if main(tag) == main(wish)]:
            return matches[0]
    return offered[0]


def translate_survey(survey: Survey, language: str) -> Survey:
    """Return the survey in a language, or unchanged if it has no translation into it."""
    translation = next((candidate for candidate in survey.translations if candidate.language == language), None)
    if translation is None:
        return survey
    questions = _questions(survey.questions, translation)

    def translate(field: Field) -> Field:
        return replace(field, questions=tuple(questions[question.id] for question in field.questions))

    return replace(
        survey,
        language=language,
        questions=tuple(questions.values()),
        fields=tuple(map(translate, survey.fields)),
        **{
            key: getattr(translation, key) or getattr(survey, key)
            for key in ("title", "description", "consent", "contact")
        },
    )


def _questions(originals: tuple[Question, ...], translation: Translation) -> dict[str, Question]:
    questions: dict[str, Question] = {}
    labels: dict[str, dict[str, str]] = {}
    for original, words in zip(originals, translation.questions, strict=True):
        labels[original.id] = dict(zip(original.labels, words.labels, strict=True))
        condition = original.show_if
        if condition:
            translations = labels[condition.question]
            condition = Condition(condition.question, tuple(translations[label] for label in condition.labels))
        questions[original.id] = replace(
            original, text=words.text, unit=words.unit, labels=words.labels, show_if=condition
        )
    return questions
