"""What the server knows of a type of question. Only the modules beside this one know their names.

Data are required fields and facts are abstract methods, so that mypy names what a new type lacks: a default would be
silence. What has a default here follows from the rest. `OneAnswer` has what follows where one symbol is one answer.

A question's *answers* are the options of a multiple, otherwise its symbols; "no answer" comes last where people may
skip. An *index* is what a person said, exactly; a *symbol* is what the device randomizes.
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
from survey_app.figures import Family, FamilyName, Figure, FigureKind, Floats, Sum, share_of
from survey_app.kinds.assumptions import Generator, Guess, Indices, PlannedMean

Starter = Mapping[str, str | list[Any]]


class AuthorValue(Enum):
    """What an author writes under a key of a question type."""

    TEXT = auto()  # one text
    LIST = auto()  # several texts
    SWITCH = auto()  # true, or nothing
    DESIGN = auto()  # a classic design, by its name or with its chances


@dataclass(frozen=True, kw_only=True)
class QuestionKind(ABC):
    """One type of question, for the server."""

    name: str  # that of the client's type
    menu: str  # in the editor's list of types
    plan_name: str  # in plans: "a scale"
    codebook_name: str  # in codebooks: "a point of a scale"
    share_name: str  # what one share is a share of, in plans: "point"
    share_phrase: str  # the same in a sentence: "a point"
    answers_name: str  # its answers, where advice is to have fewer of them: "options"
    ddi_domain: str  # the response domain of DDI-Codebook
    exclusive: bool  # whether one symbol holds one answer, so that shares add up
    starter: Starter  # the keys that an author must write, as the editor begins a new question
    author_keys: Mapping[str, AuthorValue]  # the keys that an author may write for this type alone, in their order
    preset_labels: tuple[str, ...]  # labels that no author writes, as the editor lists them
    template: str  # the editor's form for it, in templates/
    own_words: tuple[str, ...]  # the keys of its answers' names in `explain/languages`; empty if authors name them
    on_paper: bool  # whether coins and dice can force its answer, a plain yes or no

    # What can be answered.

    @abstractmethod
    def answers(self, question: Question) -> Sequence[str]:
        """Return what can be answered, but for no answer."""

    @abstractmethod
    def count(self, question: Question) -> int:
        """Return how many answers there are; no answer is the last of them where people may skip."""

    def names(self, question: Question) -> list[str]:
        """Return the names of all answers, no answer among them where people may skip."""
        return [*self.answers(question), *[NO_ANSWER] * question.optional]

    def symbol_labels(self, question: Question) -> list[str]:
        """Return the words for every symbol, that of no answer among them where people may skip."""
        return [digit_label(question, symbol) for symbol in range(question.size)]

    @abstractmethod
    def holds(self, question: Question, symbol: int) -> Sequence[int]:
        """Return the answers that a symbol holds."""

    @abstractmethod
    def symbol_with(self, question: Question, answer: int) -> int:
        """Return the symbol that holds this answer and no other."""

    @abstractmethod
    def scores(self, question: Question) -> Sequence[float] | None:
        """Return what each answer counts for, if there is a mean."""

    def has_shares(self, question: Question) -> bool:
        """Whether the share of an answer means something; not of a level that a coin may have chosen."""
        return not self.is_rounded(question)

    @abstractmethod
    def is_ordered(self, question: Question) -> bool:
        """Whether "at most this" means something."""

    @abstractmethod
    def is_rounded(self, question: Question) -> bool:
        """Whether a coin chooses between two symbols."""

    def value_range(self, question: Question) -> tuple[float, float]:
        """Return the lowest and the highest mean."""
        scores = self.scores(question) or (0.0, 1.0)
        return min(scores), max(scores)

    # What is estimated: follows from the above.

    def families(self, question: Question) -> list[Family]:
        """Return everything that is estimated of a question."""
        found: list[Family] = []
        if self.has_shares(question):
            found.append(Family(FamilyName.SHARES, self.shares(question)))
        if self.scores(question) is not None:
            found.append(Family(FamilyName.MEAN, (self.mean(question),)))
        if question.optional:
            found.append(Family(FamilyName.ANSWERING, (self.answering(question),)))
            if self.has_shares(question):
                found.append(Family(FamilyName.ANSWERED, self._answered(question)))
        if self.is_ordered(question):
            found.append(Family(FamilyName.CUMULATIVE, self._cumulative(question), derived=True))
        return found

    def shares(self, question: Question) -> tuple[Figure, ...]:
        """Return the share of each answer, and that of no answer last where people may skip."""
        count = self.count(question)
        found = [share_of(label, [place], count) for place, label in enumerate(self.answers(question))]
        if question.optional:
            found.append(share_of(NO_ANSWER, [count - 1], count, FigureKind.NO_ANSWER))
        return tuple(found)

    def mean(self, question: Question) -> Figure:
        """Return the mean score of those who answered."""
        scores, (low, high) = list(self.scores(question) or ()), self.value_range(question)
        return Figure(
            name="mean",
            kind=FigureKind.MEAN,
            sum=Sum(np.array([*scores, *[0.0] * question.optional])),
            low=low,
            high=high,
            denominator=self.answering(question).sum if question.optional else None,
            rounded=self.is_rounded(question),
        )

    def answering(self, question: Question) -> Figure:
        """Return the share of devices that were asked and answered: all but those without an answer."""
        none = share_of("answered", [self.count(question) - 1], self.count(question))
        return replace(none, sum=Sum(-none.sum.weights, 1.0))

    def total(self, question: Question, labels: Sequence[str]) -> Family | None:
        """Return the share of those whose answer is any of some labels, if shares add up."""
        if not (self.exclusive and self.has_shares(question)):
            return None
        names = self.names(question)
        figure = share_of(" or ".join(labels), [names.index(label) for label in labels], self.count(question))
        return Family(FamilyName.TOTAL, (figure,), derived=True)

    def _answered(self, question: Question) -> tuple[Figure, ...]:
        below = self.answering(question).sum
        return tuple(replace(figure, denominator=below) for figure in self.shares(question)[:-1])

    def _cumulative(self, question: Question) -> tuple[Figure, ...]:
        names, count = self.answers(question), self.count(question)
        return tuple(share_of(f"at most {name}", range(place + 1), count) for place, name in enumerate(names[:-1]))

    # What is assumed before anybody was asked.

    @abstractmethod
    def usual_share(self, question: Question) -> float:
        """Return the share of a yes, or of one option, point or bin, among those who answer."""

    @abstractmethod
    def design_share(self, question: Question) -> float:
        """Return the same, where designs are judged by it and everybody sees the question."""

    @abstractmethod
    def shown_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        """Return the share of those who answer with any of some labels, if `guess` is that of a yes or an option."""

    @abstractmethod
    def planned_mean(self, question: Question, guess: Guess) -> PlannedMean | None:
        """Return the mean, if there will be one."""

    @abstractmethod
    def main_answers(self, question: Question) -> Sequence[int]:
        """Return the answers whose shares must reach the margin, if no mean must."""

    def is_one_bit(self, question: Question) -> bool:
        """Whether one bit says everything: there are two symbols, and the share of one of them is asked for."""
        return question.size == 2 and len(self.main_answers(question)) == 1

    @abstractmethod
    def parts(self, question: Question, cells: Sequence[int] | None) -> list[float]:
        """Return which parts of a field's symbols hold each answer; `cells` hold each symbol, by itself one each."""

    @abstractmethod
    def shortened(self, question: Question, count: int) -> Question:
        """Return the same question with its first `count` answers alone."""

    # What authoring chooses of a question whose answers are rounded.

    def most_levels(self, question: Question) -> int:
        """Return how many levels there can be, so that each answer is one of them."""
        raise ValueError(f"answers to {self.plan_name} are not rounded")

    def with_levels(self, question: Question, levels: int) -> Question:
        """Return the same question, its answers rounded to so many levels."""
        raise ValueError(f"answers to {self.plan_name} are not rounded")

    def chosen_keys(self, question: Question) -> dict[str, int]:
        """Return what a definition says of a question that its author did not."""
        return {}

    # Made-up people.

    @abstractmethod
    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        """Return the indices of `count` made-up people; `truth` is what a truth file says, None for the usual."""

    @abstractmethod
    def sample_symbols(self, question: Question, indices: Indices, rng: Generator) -> Indices:
        """Return the symbols that the devices of people with these indices randomize."""

    @abstractmethod
    def symbol_chances(self, question: Question, index: int) -> list[tuple[int, float]]:
        """Return the symbols that an index may become, each with its chance."""

    @abstractmethod
    def true_values(self, question: Question, indices: Indices) -> Floats:
        """Return what each of the people who answered counts for, exactly; for kinds with a mean."""

    @abstractmethod
    def gives(self, question: Question, answer: int, indices: Indices) -> npt.NDArray[np.bool_]:
        """Return whose index holds an answer, by its place among the answers."""

    @abstractmethod
    def example(self, question: Question, symbol: int) -> Any:
        """Return an answer, as a person gives it, whose symbol this is."""

    # Archives, papers, and what respondents are told.

    @abstractmethod
    def denied_answer(self, question: Question) -> int | None:
        """Return the answer that people may deny by giving the only other one, if there is such an answer."""

    @abstractmethod
    def estimator_sentence(self, question: Question, bits: int) -> str:
        """Return how its figures follow from the shares of symbols that `bits` stored bits name; empty if they do not.

        One bit names the second of two symbols alone.
        """

    @abstractmethod
    def symbol_sentence(self, question: Question) -> Sentence | None:
        """Return what counts as an answer, where that is not simply what was said."""

    def any_example(self, question: Question, symbol: int, random: Random) -> Any:
        """Return any answer whose symbol this is, drawn where there are several."""
        return self.example(question, symbol)

    def ends(self, question: Question) -> tuple[Any, Any]:
        """Return an answer with the first symbol and one with the last, which are as far apart as answers can be."""
        return self.example(question, 0), self.example(question, question.no_answer - 1)

    @abstractmethod
    def between(self, question: Question, symbol: int) -> Any:
        """Return an answer that a coin rounds to this symbol or to the next, nearly evenly; None if there is none."""

    def made_up(self, question: Question, number: int) -> Any:
        """Return an answer that follows from a large number, for an example on paper."""
        return self.example(question, number % question.no_answer)

    def listed_answers(self, question: Question, most: int) -> str:
        """Return what can be answered, at most so many by name; empty where the name of the type says it."""
        names = self.answers(question)
        more = len(names) - most
        return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")

    @abstractmethod
    def codebook_facts(self, question: Question) -> list[tuple[str, str]]:
        """Return what a codebook says of this type beside its name."""

    @abstractmethod
    def codebook_rows(self, question: Question) -> list[list[str]]:
        """Return what each symbol stands for, with its score where there is a mean of scores."""


class OneAnswer(QuestionKind):
    """A type of which each symbol is one answer."""

    def answers(self, question: Question) -> Sequence[str]:
        return [digit_label(question, symbol) for symbol in range(question.no_answer)]

    def count(self, question: Question) -> int:
        return question.size

    def holds(self, question: Question, symbol: int) -> Sequence[int]:
        return (symbol,)

    def symbol_with(self, question: Question, answer: int) -> int:
        return answer

    def main_answers(self, question: Question) -> Sequence[int]:
        return range(question.no_answer)

    def parts(self, question: Question, cells: Sequence[int] | None) -> list[float]:
        if cells is None:
            return [1 / question.size] * question.no_answer
        whole = sum(cells)
        return [held / whole for held in cells[: question.no_answer]]
