"""Every string exists in every language, with the same blanks to fill in."""

import re
import string

from survey_app.languages import LANGUAGES, Words, load_strings

STRINGS = [(section, key, texts) for section, keys in load_strings().items() for key, texts in keys.items()]


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_string_is_complete() -> None:
    for section, key, texts in STRINGS:
        name = f"{section}.{key}"
        assert set(texts) == set(LANGUAGES), name
        assert len({frozenset(blanks(text)) for text in texts.values()}) == 1, name
        assert all(text.strip() == text and text for text in texts.values()), name


def test_french_marks_stay_on_their_line() -> None:
    assert not [f"{section}.{key}" for section, key, texts in STRINGS if re.search(" [;:?!»]|« ", texts["fr"])]


def test_the_survey_decides() -> None:
    assert Words("de-AT").language == "de"
    assert (Words("ar").language, Words("ar").direction) == ("en", "rtl")
