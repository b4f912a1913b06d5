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
from client.mechanisms import Drawn, Flip, Geometric, Mechanism
from client.question import Question
from client.sampling import WHOLE
from client.words import digit_label
from survey_app.channel import Floats, geometric_chances
from survey_app.estimate.intervals import clopper_pearson
from survey_app.explain.chances import believed
from survey_app.plan.people import Indices
from survey_app.tally import Bits, columns

ALPHA = 0.05


def likelihoods(mechanism: Mechanism, bits: int) -> list[Fraction]:
    """P(these bits | symbol) for every symbol, up to a factor that is the same for all of them."""
    if isinstance(mechanism, Flip):
        one = [mechanism.q, mechanism.p]
        return one if bits else [1 - chance for chance in one]
    places = [i for i in range(mechanism.width) if bits >> (mechanism.width - 1 - i) & 1]
    if isinstance(mechanism, Geometric):
        return [Fraction(float(chance)) for chance in geometric_chances(mechanism)[:, places[0]]]
    if isinstance(mechanism, Drawn):
        kept = Fraction(mechanism.keep, WHOLE)
        other = (1 - kept) / (mechanism.sets - 1)
        sent = [(place // 2, place % 2) for place in places]
        masks = range(1 << mechanism.size)
        return [kept if all(mask >> option & 1 == said for option, said in sent) else other for mask in masks]
    named, unnamed = mechanism.p / mechanism.weight, (1 - mechanism.p) / (mechanism.size - mechanism.weight)
    return [named if symbol in places else unnamed for symbol in range(mechanism.size)]


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
    symbols = _symbols(field)
    if bits is None:
        chances = [Fraction(1)] * len(symbols)
    else:
        likely = likelihoods(field.mechanism, bits)
        chances = [likely[symbol] for symbol in symbols]
    for place, question in enumerate(field.questions):
        digits = [field.cells[symbol][place] if field.joint else symbol for symbol in symbols]
        for answer, fits in _answers(question, digits):
            inside = [chance for chance, fit in zip(chances, fits, strict=True) if fit]
            outside = [chance for chance, fit in zip(chances, fits, strict=True) if not fit]
            ratio = Fraction(sum(inside) * len(outside), sum(outside) * len(inside))
            yield Suspicion(question, answer, before, believed(before, ratio))


def _symbols(field: Field) -> list[int]:
    """What a device may have to randomize; of a multiple whose options are drawn, no answer excludes the options."""
    question, mechanism = field.questions[0], field.mechanism
    if isinstance(mechanism, Drawn):
        sets = range(1 << len(question.labels))
        return [*sets, len(sets)] if question.optional else [*sets]
    return [*range(mechanism.size)]


def _answers(question: Question, digits: Sequence[int]) -> Iterator[tuple[str, list[bool]]]:
    """What may be suspected of a question, and of each of its digits whether it fits."""
    if question.type == "multiple":
        for option, label in enumerate(question.labels):
            yield label, [bool(digit >> option & 1) for digit in digits]
    else:
        for wanted in range(question.size):
            yield digit_label(question, wanted), [digit == wanted for digit in digits]


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
        weights = np.array([counts * _likely(at.field, kinds, one) for one in seen])
        truth = kinds[which.reshape(-1)[mine]]
        for place, question in enumerate(at.field.questions):
            values = np.unique(kinds[:, place])
            holds = (kinds[:, place][:, None] == values).astype(float)
            guesses = values[np.argmax(weights @ holds, axis=1)] if len(seen) else values[:0]
            blind = values[np.argmax(counts @ holds)]
            right = int((guesses[pattern.reshape(-1)] == truth[:, place]).sum())
            found.append(Guessed(question, len(mine), right, int((truth[:, place] == blind).sum())))
    return found


def _likely(field: Field, kinds: Indices, bits: Sequence[int]) -> Floats:
    """P(these bits | answers) for every kind of person."""
    chances = np.array(likelihoods(field.mechanism, int("".join(map(str, bits)), 2)), dtype=float)
    return np.array([sum(part * chances[symbol] for symbol, part in _rounded(field, kind)) for kind in kinds])


def _rounded(field: Field, kind: Sequence[int]) -> Iterator[tuple[int, float]]:
    """The symbols that a person's answers may become, with their chances: only numbers are rounded by chance."""
    cells: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for question, index in zip(field.questions, kind, strict=True):
        cells = [((*cell, digit), part * more) for cell, part in cells for digit, more in _digits(question, int(index))]
    for cell, part in cells:
        yield (field.symbols[cell] if field.joint else cell[0]), part


def _digits(question: Question, index: int) -> list[tuple[int, float]]:
    if not question.levels:
        return [(index, 1.0)]
    if index > question.steps:
        return [(question.no_answer, 1.0)]
    level, rest = divmod(index * (question.levels - 1), question.steps)
    return [(level, 1 - rest / question.steps)] + [(level + 1, rest / question.steps)] * (rest > 0)
