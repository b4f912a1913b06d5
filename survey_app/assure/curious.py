"""What whoever has the disk learns from a report: exactly by Bayes, and tried out on people whose answers are known.

Of a row of bits the mechanism tells how likely each answer makes it; the published integers say all of that. A
suspicion grows or shrinks in that proportion (`survey_app.explain.chances`), never beyond e^ε. *The attack* is the
strongest there is on bits alone: the attacker knows whose row it is and how many people gave each answer, and guesses
the likeliest. What counts is how much more often that is right than what the same attacker guesses without the bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from client.definition import Field, Survey
from client.question import Question
from survey_app.assure.mixtures import mixture_of
from survey_app.channels import channel_of
from survey_app.channels.base import Indices
from survey_app.estimate.intervals import clopper_pearson
from survey_app.explain.chances import believed
from survey_app.kinds import kind_of
from survey_app.tally import Bits, columns

ALPHA = 0.05


@dataclass(frozen=True)
class Suspicion:
    """That somebody gave an answer to a question: how likely before their report was seen, and after."""

    question: Question
    answer: str
    before: Fraction
    after: Fraction


def suspicions(field: Field, bits: int | None, before: Fraction) -> Iterator[Suspicion]:
    """What each suspicion about a field's answers becomes; with None, where the field was not asked, what it was.

    Apart from the suspicion nothing is known: what fits it is equally likely, and so is what does not. A number means
    the level that the device has rounded it to.
    """
    symbols = range(field.size)  # of options that are drawn, no answer excludes the others
    likely = None if bits is None else channel_of(field.mechanism).likelihood(bits)
    chances = [Fraction(1) if likely is None else likely[symbol] for symbol in symbols]
    for place, question in enumerate(field.questions):
        digits = [field.cells[symbol][place] if field.joint else symbol for symbol in symbols]
        for answer, fits in _answers(question, digits):
            inside = [chance for chance, fit in zip(chances, fits, strict=True) if fit]
            outside = [chance for chance, fit in zip(chances, fits, strict=True) if not fit]
            ratio = Fraction(sum(inside) * len(outside), sum(outside) * len(inside))
            yield Suspicion(question, answer, before, believed(before, ratio))


def _answers(question: Question, digits: Sequence[int]) -> Iterator[tuple[str, list[bool]]]:
    """What may be suspected of a question, and of each of its digits whether it fits."""
    kind = kind_of(question)
    held = [kind.holds(question, digit) for digit in digits]
    names = kind.names(question) if kind.exclusive else kind.answers(question)
    for answer, name in enumerate(names):
        yield name, [answer in answers for answers in held]


@dataclass(frozen=True)
class Guessed:
    """How often a question's answer was guessed of the people who were asked: from the bits, and without."""

    question: Question
    asked: int
    right: int
    blind: int

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share guessed right from the bits: Clopper and Pearson's, 95%."""
        return clopper_pearson(self.right, self.right, self.asked, ALPHA)

    @property
    def blind_interval(self) -> tuple[float, float]:
        """The same without the bits."""
        return clopper_pearson(self.blind, self.blind, self.asked, ALPHA)


def attack(survey: Survey, people: Mapping[str, Indices], rows: Bits) -> list[Guessed]:
    """Guess every answer of everybody from their own row; the attacker knows which row is whose, and all shares."""
    bits = np.unpackbits(rows, axis=1, count=survey.width)
    found = []
    for at in columns(survey):
        mine = np.flatnonzero(bits[:, at.asked]) if at.asked is not None else np.arange(len(bits))
        answers = np.stack([people[question.id] for question in at.field.questions], axis=1)
        kinds, which, counts = np.unique(answers, axis=0, return_inverse=True, return_counts=True)
        seen, pattern = np.unique(bits[mine][:, at.part], axis=0, return_inverse=True)
        symbols = [mixture_of(at.field, [int(index) for index in kind]) for kind in kinds]
        weights = np.array(
            [
                counts * np.array([sum(part * chances[symbol] for symbol, part in one) for one in symbols])
                for chances in channel_of(at.field.mechanism).likelihoods(seen)
            ]
        )
        truth = kinds[which.reshape(-1)[mine]]
        for place, question in enumerate(at.field.questions):
            values = np.unique(kinds[:, place])
            holds = (kinds[:, place][:, None] == values).astype(float)
            guesses = values[np.argmax(weights @ holds, axis=1)] if len(seen) else values[:0]
            blind = values[np.argmax(counts @ holds)]
            right = int((guesses[pattern.reshape(-1)] == truth[:, place]).sum())
            found.append(Guessed(question, len(mine), right, int((truth[:, place] == blind).sum())))
    return found
