"""The server's interface of a question type. Only the other modules of this package name single types.

Data are required fields and facts are abstract methods, so that mypy reports what a new type lacks. Methods with a
default follow from the others. `SingleAnswer` adds the methods that follow where each symbol is one answer.

A question's *answers* are the options of a multiple, otherwise its symbols. "No answer" comes last where people may
skip. An *index* is a person's exact answer; a *symbol* is the input of the device's randomization.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from candor_client.description import NO_ANSWER, digit_label
from candor_client.question import Question
from survey_app.channels.sentences import Sentence
from survey_app.figures import Family, FamilyName, Figure, FigureKind, Floats, Sum, make_share
from survey_app.kinds.planning_assumptions import Generator, Guess, Indices, PlannedMean

Starter = Mapping[str, str | list[Any]]


class AuthorValue(Enum):
    """The form of the value that an author writes under a key of a question type."""

    TEXT = auto()  # one text
    LIST = auto()  # several texts
    SWITCH = auto()  # true, or the key is absent
    DESIGN = auto()  # a classic design, by its name or with its probabilities


@dataclass(frozen=True, kw_only=True)
class QuestionKind(ABC):
    """The server's side of one question type."""

    name: str  # the name of the client's type
    menu: str  # its entry in the editor's list of types
    plan_name: str  # its name in plans: "a scale"
    codebook_name: str  # its name in codebooks: "a point of a scale"
    share_name: str  # the name of an answer that has a share, in plans: "point"
    share_phrase: str  # the same in a sentence: "a point"
    answers_name: str  # its answers, in advice to have fewer of them: "options"
    ddi_domain: str  # the response domain of DDI-Codebook
    exclusive: bool  # whether one symbol contains one answer, so that shares add up
    starter: Starter  # the keys that an author must write, with the editor's values for a new question
    author_keys: Mapping[str, AuthorValue]  # the keys that an author may write only for this type, in order
    preset_labels: tuple[str, ...]  # fixed labels, in the order of the editor
    template: str  # the editor's form for it, in templates/
    answer_name_keys: tuple[str, ...]  # the keys of its answers' names in the form's words; empty if authors name them
    can_force_answer: bool  # whether coins and dice can force its answer, as for a plain yes or no

    # The possible answers.

    @abstractmethod
    def answers(self, question: Question) -> Sequence[str]:
        """Return the names of the answers, without "no answer"."""

    @abstractmethod
    def answer_count(self, question: Question) -> int:
        """Return the number of answers, including "no answer" where people may skip."""

    def all_answers(self, question: Question) -> list[str]:
        """Return the names of all answers, with "no answer" last where people may skip."""
        return [*self.answers(question), *[NO_ANSWER] * question.optional]

    def symbol_labels(self, question: Question) -> list[str]:
        """Return a label for every symbol, with "no answer" last where people may skip."""
        return [digit_label(question, symbol) for symbol in range(question.size)]

    @abstractmethod
    def answers_in(self, question: Question, symbol: int) -> Sequence[int]:
        """Return the indices of the answers that a symbol contains."""

    @abstractmethod
    def symbol_for_answer(self, question: Question, answer: int) -> int:
        """Return the symbol that contains this answer and no other."""

    @abstractmethod
    def scores(self, question: Question) -> Sequence[float] | None:
        """Return the score of each answer, or None if the type has no mean."""

    def has_shares(self, question: Question) -> bool:
        """Return whether shares of answers can be estimated; not those of levels, between which a coin may choose."""
        return not self.is_rounded(question)

    @abstractmethod
    def is_ordered(self, question: Question) -> bool:
        """Return whether answers are in order, so that cumulative shares are meaningful."""

    @abstractmethod
    def is_rounded(self, question: Question) -> bool:
        """Return whether a coin on the device chooses between two symbols."""

    def value_range(self, question: Question) -> tuple[float, float]:
        """Return the lowest and the highest possible mean."""
        scores = self.scores(question) or (0.0, 1.0)
        return min(scores), max(scores)

    # The estimated figures, which follow from the methods above.

    def families(self, question: Question) -> list[Family]:
        """Return all families of figures that are estimated for a question."""
        families: list[Family] = []
        if self.has_shares(question):
            families.append(Family(FamilyName.SHARES, self.share_figures(question)))
        if self.scores(question) is not None:
            families.append(Family(FamilyName.MEAN, (self.mean_figure(question),)))
        if question.optional:
            families.append(Family(FamilyName.RESPONSE_RATE, (self.response_rate(question),)))
            if self.has_shares(question):
                families.append(Family(FamilyName.AMONG_ANSWERS, self._shares_among_answers(question)))
        if self.is_ordered(question):
            families.append(Family(FamilyName.CUMULATIVE, self._cumulative(question), is_derived=True))
        return families

    def share_figures(self, question: Question) -> tuple[Figure, ...]:
        """Return the share of each answer, with the share of "no answer" last where people may skip."""
        count = self.answer_count(question)
        figures = [make_share(label, [place], count) for place, label in enumerate(self.answers(question))]
        if question.optional:
            figures.append(make_share(NO_ANSWER, [count - 1], count, FigureKind.NO_ANSWER))
        return tuple(figures)

    def mean_figure(self, question: Question) -> Figure:
        """Return the mean score among the people who answered."""
        scores, (low, high) = list(self.scores(question) or ()), self.value_range(question)
        return Figure(
            name="mean",
            kind=FigureKind.MEAN,
            sum=Sum(np.array([*scores, *[0.0] * question.optional])),
            low=low,
            high=high,
            denominator=self.response_rate(question).sum if question.optional else None,
            is_rounded=self.is_rounded(question),
        )

    def response_rate(self, question: Question) -> Figure:
        """Return the response rate: the share of answers other than "no answer" among the devices asked."""
        no_answer = make_share("answered", [self.answer_count(question) - 1], self.answer_count(question))
        return replace(no_answer, sum=Sum(-no_answer.sum.weights, 1.0))

    def total_family(self, question: Question, labels: Sequence[str]) -> Family | None:
        """Return the family of the combined share of some labels, or None if shares do not add up."""
        if not (self.exclusive and self.has_shares(question)):
            return None
        names = self.all_answers(question)
        figure = make_share(" or ".join(labels), [names.index(label) for label in labels], self.answer_count(question))
        return Family(FamilyName.TOTAL, (figure,), is_derived=True)

    def _shares_among_answers(self, question: Question) -> tuple[Figure, ...]:
        answered = self.response_rate(question).sum
        return tuple(replace(figure, denominator=answered) for figure in self.share_figures(question)[:-1])

    def _cumulative(self, question: Question) -> tuple[Figure, ...]:
        names, count = self.answers(question), self.answer_count(question)
        return tuple(make_share(f"at most {name}", range(place + 1), count) for place, name in enumerate(names[:-1]))

    # Assumptions before the survey.

    @abstractmethod
    def usual_share(self, question: Question) -> float:
        """Return the assumed share of a yes, or of one option, point or bin, among the people who answer."""

    @abstractmethod
    def design_share(self, question: Question) -> float:
        """Return the share by which designs are judged, of a yes or of one option, point or bin."""

    @abstractmethod
    def condition_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        """Return the assumed share of people who answer with any of some labels, and so see a follow-up question.

        `guess` is the guessed share of a yes or of an option; None means the default.
        """

    @abstractmethod
    def planned_mean(self, question: Question, guess: Guess) -> PlannedMean | None:
        """Return the planned mean, or None if the type has no mean."""

    @abstractmethod
    def main_answers(self, question: Question) -> Sequence[int]:
        """Return the answers whose shares must reach the margin if the design is not judged by a mean."""

    def is_one_bit(self, question: Question) -> bool:
        """Return whether one bit is enough: there are two symbols, and only the share of one of them is of interest."""
        return question.size == 2 and len(self.main_answers(question)) == 1

    @abstractmethod
    def symbol_fractions(self, question: Question, cells: Sequence[int] | None) -> list[float]:
        """Return the fraction of a field's symbols that contain each answer.

        `cells` are the numbers of the field's symbols for each symbol of the question; None means one each.
        """

    @abstractmethod
    def truncate_answers(self, question: Question, count: int) -> Question:
        """Return the same question with only its first `count` answers."""

    # Levels, which authoring chooses for a question whose answers are rounded.

    def max_levels(self, question: Question) -> int:
        """Return the largest useful number of levels, at which each answer is a level; raise ValueError if none."""
        raise ValueError(f"answers to {self.plan_name} are not rounded")

    def set_levels(self, question: Question, levels: int) -> Question:
        """Return the same question with this number of levels; raise ValueError if answers are not rounded."""
        raise ValueError(f"answers to {self.plan_name} are not rounded")

    def compiled_keys(self, question: Question) -> dict[str, int]:
        """Return the keys of the question's definition that are computed instead of written by its author."""
        return {}

    # Simulated people.

    @abstractmethod
    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        """Return the indices of `count` simulated people; `truth` comes from a truth file, None means the default.

        Raise TruthError if `truth` does not fit the question.
        """

    @abstractmethod
    def sample_symbols(self, question: Question, indices: Indices, rng: Generator) -> Indices:
        """Return the symbols that the devices of people with these indices randomize."""

    @abstractmethod
    def symbol_chances(self, question: Question, index: int) -> list[tuple[int, float]]:
        """Return the symbols that an index may become, each with its probability."""

    @abstractmethod
    def true_values(self, question: Question, indices: Indices) -> Floats:
        """Return the exact score of each person who answered; empty if the type has no mean."""

    @abstractmethod
    def mark_answer(self, question: Question, answer: int, indices: Indices) -> npt.NDArray[np.bool_]:
        """Return a mask of the people whose index contains an answer, given by its position among the answers."""

    @abstractmethod
    def example(self, question: Question, symbol: int) -> Any:
        """Return an answer that has this symbol, as a person gives it."""

    # Texts for archives, papers and respondents.

    @abstractmethod
    def deniable_answer(self, question: Question) -> int | None:
        """Return the answer that people may deny by giving the only other answer; None if the type has none."""

    @abstractmethod
    def estimator_sentence(self, question: Question, bits: int) -> str:
        """Return a sentence on how the type's figures follow from shares of symbols; empty if nothing has to be added.

        `bits` is the number of stored bits. A single bit names only the second of two symbols.
        """

    @abstractmethod
    def symbol_sentence(self, question: Question) -> Sentence | None:
        """Return a sentence that explains what counts as an answer; None if that is simply the answer itself."""

    def random_example(self, question: Question, symbol: int, random: Random) -> Any:
        """Return an answer that has this symbol, drawn at random where there are several."""
        return self.example(question, symbol)

    def extreme_examples(self, question: Question) -> tuple[Any, Any]:
        """Return the two most distant answers: one with the first symbol and one with the last."""
        return self.example(question, 0), self.example(question, question.no_answer - 1)

    @abstractmethod
    def midpoint_example(self, question: Question, symbol: int) -> Any:
        """Return an answer that a coin rounds to this symbol or the next with nearly equal chances, or None."""

    def paper_example(self, question: Question, number: int) -> Any:
        """Return an example for paper: the answer that a large number selects."""
        return self.example(question, number % question.no_answer)

    def describe_answers(self, question: Question, most: int) -> str:
        """Return the answers as a phrase that names at most `most`; empty if the type's name is enough."""
        names = self.answers(question)
        rest = len(names) - most
        return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")

    @abstractmethod
    def codebook_facts(self, question: Question) -> list[tuple[str, str]]:
        """Return further facts about a question for a codebook, as pairs of a heading and a text."""

    @abstractmethod
    def codebook_rows(self, question: Question) -> list[list[str]]:
        """Return a row for each symbol with its meaning, and its score where there is a mean of scores."""


class SingleAnswer(QuestionKind):
    """A type in which each symbol is one answer."""

    def answers(self, question: Question) -> Sequence[str]:
        return [digit_label(question, symbol) for symbol in range(question.no_answer)]

    def answer_count(self, question: Question) -> int:
        return question.size

    def answers_in(self, question: Question, symbol: int) -> Sequence[int]:
        return (symbol,)

    def symbol_for_answer(self, question: Question, answer: int) -> int:
        return answer

    def main_answers(self, question: Question) -> Sequence[int]:
        return range(question.no_answer)

    def symbol_fractions(self, question: Question, cells: Sequence[int] | None) -> list[float]:
        if cells is None:
            return [1 / question.size] * question.no_answer
        total = sum(cells)
        return [count / total for count in cells[: question.no_answer]]
