"""Every sentence that a mechanism or a type asks for stands in the catalogues, and fills all of its blanks."""

import string
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import SystemRandom

import pytest

from candor_client.definition import Survey
from candor_client.mechanisms import MechanismName
from candor_client.types import TypeName
from survey_app.authoring import build_file
from survey_app.channels import channel_of
from survey_app.channels.sentences import Sentence, SymbolWords, coin_sentence
from survey_app.kinds import KINDS, kind_of
from survey_app.languages import LANGUAGES, load_strings
from tests import random_definitions
from tests.definitions import survey

CAMPUS = Path(__file__).parents[1] / "campus.yaml"
WORDS = SymbolWords("one of all", {})
NAMED = SymbolWords("one of all", {"no": "No", "yes": "Yes"})


def surveys() -> Iterator[Survey]:
    yield build_file(CAMPUS).survey
    yield from (survey(random_definitions.definition(SystemRandom())) for _ in range(60))


def asked() -> list[tuple[MechanismName | TypeName, Sentence]]:
    found: list[tuple[MechanismName | TypeName, Sentence]] = []
    for made in surveys():
        for field in made.fields:
            for words in (WORDS, NAMED):
                sentences = channel_of(field.mechanism).odds_sentences(field.questions[0], words)
                found += [(field.mechanism.kind, sentence) for sentence in sentences]
            for question in field.questions:
                if sentence := kind_of(question).symbol_sentence(question):
                    found.append((question.type, sentence))
    return found


def test_every_sentence_is_in_the_catalogues_with_all_its_blanks() -> None:
    found = asked()
    assert set(MechanismName) <= {name for name, _ in found}
    for name, sentence in found:
        section, _, key = sentence.key.partition(".")
        for language in LANGUAGES:
            blanks = {
                blank for _, blank, _, _ in string.Formatter().parse(load_strings()[section][key][language]) if blank
            }
            assert blanks <= set(sentence.values), f"{name}: {sentence.key}"


@pytest.mark.parametrize("name", list(TypeName))
def test_the_names_of_answers_that_no_author_writes_are_in_the_catalogues(name: TypeName) -> None:
    for key in KINDS[name].answer_name_keys:
        section, _, text = key.partition(".")
        assert set(load_strings()[section][text]) == set(LANGUAGES)


def test_a_coin_that_favours_a_side_tells_both_of_its_chances() -> None:
    coin = Fraction(7, 8), Fraction(3, 8)
    counts = {"people": 100, "true": 88, "other": 37}
    assert coin_sentence(None, coin, WORDS) == Sentence("privacy.option", counts)
    assert coin_sentence(None, coin, NAMED) == Sentence("privacy.flip", {**counts, "no": "No", "yes": "Yes"})
    blind = coin_sentence((100, 50), (Fraction(3, 4), Fraction(1, 4)), NAMED)
    assert blind == Sentence("privacy.blind", {"people": 100, "true": 50, "other": "one of all"})
