"""Sentences of the respondents' pages that a mechanism or a type needs: their keys, with what fills the blanks.

The words themselves are in `explain/languages`, in every language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from candor_client.mechanisms import share


@dataclass(frozen=True)
class Sentence:
    """A key and the values of its blanks: a count, a number of the question in its unit, or words of the language."""

    key: str
    values: Mapping[str, int | Fraction | str]


@dataclass(frozen=True)
class SymbolWords:
    """The symbols of a field in a language: all of them in a phrase, and "no" and "yes" where these are the two."""

    all: str
    names: Mapping[str, str]


def coin_sentence(blind: tuple[int, int] | None, coin: tuple[Fraction, Fraction], words: SymbolWords) -> Sentence:
    """Return what a device does that sends the truth or draws blindly, otherwise how often it names an answer."""
    if blind:
        people, true = blind
        return Sentence("privacy.blind", {"people": people, "true": true, "other": words.all})
    people, true, other = share(*coin)
    counts = {"people": people, "true": true, "other": other}
    return Sentence("privacy.flip" if words.names else "privacy.option", {**counts, **words.names})
