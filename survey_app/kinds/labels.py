"""The common base of the question types whose answer is one of several labels, without rounding."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from candor_client.description import digit_label
from candor_client.question import Question
from survey_app.figures import Floats
from survey_app.kinds.planning_assumptions import Generator, Indices, TruthError, check_share
from survey_app.kinds.question_kind import SingleAnswer


class SingleLabel(SingleAnswer):
    """A type whose answer is one of its labels; the label's position is both the index and the symbol."""

    def is_rounded(self, question: Question) -> bool:
        return False

    def condition_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        return len(labels) / len(question.labels)

    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        return draw_label(question, truth, count, rng)

    def example(self, question: Question, symbol: int) -> Any:
        return question.labels[symbol]

    def symbol_sentence(self, question: Question) -> None:
        return None

    def truncate_answers(self, question: Question, count: int) -> Question:
        return replace(question, labels=question.labels[:count], scores=question.scores[:count])

    def sample_symbols(self, question: Question, indices: Indices, rng: Generator) -> Indices:
        return indices

    def symbol_chances(self, question: Question, index: int) -> list[tuple[int, float]]:
        return [(index, 1.0)]

    def true_values(self, question: Question, indices: Indices) -> Floats:
        return np.array(self.scores(question) or ())[indices[indices < question.no_answer]]

    def mark_answer(self, question: Question, answer: int, indices: Indices) -> npt.NDArray[np.bool_]:
        matches: npt.NDArray[np.bool_] = indices == answer
        return matches

    def midpoint_example(self, question: Question, symbol: int) -> None:
        return None

    def codebook_facts(self, question: Question) -> list[tuple[str, str]]:
        return []

    def codebook_rows(self, question: Question) -> list[list[str]]:
        rows = [[str(symbol), digit_label(question, symbol)] for symbol in range(question.size)]
        scores = self.scores(question)
        if scores is None:
            return rows
        score_texts = [*(f"{score:g}" for score in scores), *[""] * question.optional]
        return [[*row, score] for row, score in zip(rows, score_texts, strict=True)]


def check_labels(question: Question, truth: Any) -> None:
    """Raise TruthError unless a truth is None or a mapping from some of the question's labels to shares."""
    if truth is not None and (not isinstance(truth, Mapping) or set(truth) - set(question.labels)):
        raise TruthError(f"{question.id}: give a mapping of shares for {', '.join(question.labels[:8])}")


def draw_label(question: Question, truth: Any, count: int, rng: Generator) -> Indices:
    """Return the index of the label that each of `count` simulated people chooses.

    `truth` maps labels to shares, which need not sum to one; None means equal shares.
    Raise TruthError if it is invalid or if all its shares are 0.
    """
    check_labels(question, truth)
    labels = question.labels
    shares = np.array([1.0 if truth is None else check_share(question, truth.get(label, 0)) for label in labels])
    if shares.sum() <= 0:
        raise TruthError(f"{question.id}: all shares are 0; at least one must be above 0")
    return rng.choice(len(labels), count, p=shares / shares.sum())
