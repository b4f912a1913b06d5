"""Every string exists in every language, with the same blanks to fill in."""

import re
import string

import pytest

from survey_app.languages import LANGUAGES, Words, load_strings

STRINGS = [(section, key, texts) for section, keys in load_strings().items() for key, texts in keys.items()]


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize(("section", "key", "texts"), STRINGS, ids=[f"{section}.{key}" for section, key, _ in STRINGS])
def test_a_string_is_complete(section: str, key: str, texts: dict[str, str]) -> None:
    assert set(texts) == set(LANGUAGES)
    assert len({frozenset(blanks(text)) for text in texts.values()}) == 1
    assert all(text.strip() == text and text for text in texts.values())


@pytest.mark.parametrize(("section", "key", "texts"), STRINGS, ids=[f"{section}.{key}" for section, key, _ in STRINGS])
def test_french_marks_stay_on_their_line(section: str, key: str, texts: dict[str, str]) -> None:
    assert not re.search(" [;:?!»]|« ", texts["fr"])


def test_the_survey_decides() -> None:
    assert Words("de-AT").language == "de"
    assert (Words("ar").language, Words("ar").direction) == ("en", "rtl")
