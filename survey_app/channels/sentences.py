"""Sentences on the respondents' pages about a mechanism or a question type, as keys with values for their blanks.

The words themselves are in `survey_app/languages`, in every language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from candor_client.mechanisms import share


@dataclass(frozen=True)
class Sentence:
    """A key and the values of its blanks: a count, a number in the question's unit, or words of the language."""

    key: str
    values: Mapping[str, int | Fraction | str]


@dataclass(frozen=True)
class SymbolWords:
    """The symbols of a field in one language: a phrase that lists all of them, and the words for "no" and "yes".

    `names` is empty unless these are the two symbols.
    """

    all: str
    names: Mapping[str, str]


def coin_sentence(mixture: tuple[int, int] | None, coin: tuple[Fraction, Fraction], words: SymbolWords) -> Sentence:
    """Return a sentence about a mixture of truth and uniform draws, otherwise about how often an answer is named."""
    if mixture:
        people, true = mixture
        return Sentence("privacy.blind", {"people": people, "true": true, "other": words.all})
    people, true, other = share(*coin)
    counts = {"people": people, "true": true, "other": other}
    return Sentence("privacy.flip" if words.names else "privacy.option", {**counts, **words.names})
