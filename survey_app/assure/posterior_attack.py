"""How much an attacker who has the disk learns from a report: exactly by Bayes, and simulated with known answers.

The published integers give the probability of a row of bits under each answer.
A suspicion grows or shrinks in that proportion (`survey_app.channels.posterior`), by a factor of at most e^ε.
*The attack* is the strongest attack on bits alone.
The attacker knows whose row it is and how many respondents gave each answer, and guesses the likeliest answer.
The measure is how much more often that guess is right than the guess of the same attacker without the bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from candor_client.definition import Field, Survey
from candor_client.question import Question
from survey_app.assure.answer_mixtures import mixture_of
from survey_app.channels import channel_of
from survey_app.channels.channel import Indices
from survey_app.channels.posterior import update_odds
from survey_app.estimate.intervals import clopper_pearson
from survey_app.kinds import kind_of
from survey_app.tally import Bits, columns

ALPHA = 0.05


@dataclass(frozen=True)
class Suspicion:
    """The probability that a respondent gave an answer to a question, before and after their report was seen."""

    question: Question
    answer: str
    before: Fraction
    after: Fraction


def suspicions(field: Field, bits: int | None, before: Fraction) -> Iterator[Suspicion]:
    """Yield each suspicion about the answers to a field, with its probability after the report.

    `bits` is None if the field was not asked; the probability then stays at `before`.
    Nothing is known apart from the suspicion: all symbols that fit it are equally likely, and so are all others.
    A number stands for the level to which the device rounded it.
    """
    symbols = range(field.size)  # where options are drawn, no answer excludes the others
    likely = None if bits is None else channel_of(field.mechanism).likelihood(bits)
    chances = [Fraction(1) if likely is None else likely[symbol] for symbol in symbols]
    for position, question in enumerate(field.questions):
        digits = [field.cells[symbol][position] if field.joint else symbol for symbol in symbols]
        for answer, fits in _answers(question, digits):
            inside = [chance for chance, fit in zip(chances, fits, strict=True) if fit]
            outside = [chance for chance, fit in zip(chances, fits, strict=True) if not fit]
            ratio = Fraction(sum(inside) * len(outside), sum(outside) * len(inside))
            yield Suspicion(question, answer, before, update_odds(before, ratio))


def _answers(question: Question, digits: Sequence[int]) -> Iterator[tuple[str, list[bool]]]:
    """Yield each answer that may be suspected for a question, and for each digit whether it fits that answer."""
    kind = kind_of(question)
    answers_by_digit = [kind.answers_in(question, digit) for digit in digits]
    names = kind.all_answers(question) if kind.exclusive else kind.answers(question)
    for answer, name in enumerate(names):
        yield name, [answer in answers for answers in answers_by_digit]


@dataclass(frozen=True)
class GuessCount:
    """How often a question's answer was guessed right among the respondents asked, with and without the bits."""

    question: Question
    asked: int
    correct: int
    baseline_correct: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval (Clopper and Pearson) of the share guessed right from the bits."""
        return clopper_pearson(self.correct, self.correct, self.asked, ALPHA)

    @property
    def baseline_interval(self) -> tuple[float, float]:
        """The 95% interval (Clopper and Pearson) of the share guessed right without the bits."""
        return clopper_pearson(self.baseline_correct, self.baseline_correct, self.asked, ALPHA)


def simulate_attack(survey: Survey, people: Mapping[str, Indices], rows: Bits) -> list[GuessCount]:
    """Guess every answer of every respondent from their row, and return how often each question was guessed right.

    The attacker knows which row belongs to which respondent, and the share of every answer.
    """
    bits = np.unpackbits(rows, axis=1, count=survey.width)
    results = []
    for at in columns(survey):
        row_numbers = np.flatnonzero(bits[:, at.asked_column]) if at.asked_column is not None else np.arange(len(bits))
        answers = np.stack([people[question.id] for question in at.field.questions], axis=1)
        combinations, combination_of_person, counts = np.unique(
            answers, axis=0, return_inverse=True, return_counts=True
        )
        patterns, pattern = np.unique(bits[row_numbers][:, at.bit_slice], axis=0, return_inverse=True)
        symbols = [mixture_of(at.field, [int(index) for index in combination]) for combination in combinations]
        weights = np.array(
            [
                counts * np.array([sum(part * chances[symbol] for symbol, part in mixture) for mixture in symbols])
                for chances in channel_of(at.field.mechanism).row_likelihoods(patterns)
            ]
        )
        truth = combinations[combination_of_person.reshape(-1)[row_numbers]]
        for place, question in enumerate(at.field.questions):
            values = np.unique(combinations[:, place])
            holds = (combinations[:, place][:, None] == values).astype(float)
            guesses = values[np.argmax(weights @ holds, axis=1)] if len(patterns) else values[:0]
            prior_guess = values[np.argmax(counts @ holds)]
            right = int((guesses[pattern.reshape(-1)] == truth[:, place]).sum())
            results.append(GuessCount(question, len(row_numbers), right, int((truth[:, place] == prior_guess).sum())))
    return results
