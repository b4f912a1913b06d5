"""A survey in another language means the same: the same symbols, the same cells, the same conditions."""

import pytest

from survey_app.languages.translation import choose_language, list_languages, translate_survey
from tests.definitions import choice, define, field, subset, survey, yes_no
from tests.display_survey import study
from tests.translated_survey import add_translations


def test_only_the_words_change() -> None:
    asked = [choice("help"), yes_no("again", show_if={"question": "help", "is": ["option 1"]})]
    original = survey(add_translations(define(asked, [field(subset(5, 1), "help", "again")], title="Exam"), de="«de»"))
    german = translate_survey(original, "de")
    assert list_languages(original) == ["en", "de"]
    assert (german.title, german.language, german.digest) == ("«de» Exam", "de", original.digest)
    assert german.questions[0].labels == tuple(f"«de» {label}" for label in original.questions[0].labels)
    assert german.questions[1].labels == ("no", "yes"), "these words are ours"
    assert german.fields[0].questions == german.questions
    assert german.fields[0].cells == original.fields[0].cells
    assert translate_survey(original, "fr") is original


def test_what_a_translation_may_leave_out_is_the_original_s() -> None:
    whole = survey(add_translations(study(contact="ada@example.org"), de="«de»"))
    assert translate_survey(whole, "de").contact == "ada@example.org"
    assert translate_survey(whole, "de").consent.startswith("«de» ")


@pytest.mark.parametrize(("wishes", "language"), [
    (["de-AT"], "de"), (["fr", "de"], "de"), (["pt-PT"], "pt-BR"), (["PT", "en"], "pt"), (["pt-br"], "pt-BR"),
    ([], "en"), (["x", "*"], "en"),
])  # fmt: skip
def test_a_reader_gets_the_first_language_of_theirs_that_is_offered(wishes: list[str], language: str) -> None:
    assert choose_language(["en", "de", "pt-BR", "pt"], wishes) == language
