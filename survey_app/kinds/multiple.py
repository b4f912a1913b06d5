"""The question type whose answer is any set of several options; a symbol is a set, as a bit mask."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from candor_client.description import NO_ANSWER
from candor_client.question import Question
from survey_app.channels.sentences import Sentence
from survey_app.figures import Floats
from survey_app.kinds.labels import check_labels
from survey_app.kinds.planning_assumptions import OPTION_SHARE, Generator, Guess, Indices, check_share
from survey_app.kinds.question_kind import AuthorValue, QuestionKind


@final
class Multiple(QuestionKind):
    """Options that do not exclude each other: option i is bit i of the symbol."""

    def answers(self, question: Question) -> Sequence[str]:
        return question.labels

    def answer_count(self, question: Question) -> int:
        return len(question.labels) + question.optional

    def answers_in(self, question: Question, symbol: int) -> Sequence[int]:
        count = len(question.labels)
        return [count] if symbol == question.no_answer else [i for i in range(count) if symbol >> i & 1]

    def symbol_for_answer(self, question: Question, answer: int) -> int:
        return 1 << answer

    def scores(self, question: Question) -> None:
        return None

    def is_ordered(self, question: Question) -> bool:
        return False

    def is_rounded(self, question: Question) -> bool:
        return False

    def usual_share(self, question: Question) -> float:
        return OPTION_SHARE

    def design_share(self, question: Question) -> float:
        return OPTION_SHARE

    def condition_share(self, question: Question, labels: Sequence[str], guess: float | None) -> float:
        return 1 - (1 - (OPTION_SHARE if guess is None else guess)) ** len(labels)

    def planned_mean(self, question: Question, guess: Guess) -> None:
        return None

    def main_answers(self, question: Question) -> Sequence[int]:
        return range(len(question.labels))

    def symbol_fractions(self, question: Question, cells: Sequence[int] | None) -> list[float]:
        count = len(question.labels)
        if cells is None:  # half of all sets; there may be too many to list
            return [question.no_answer // 2 / question.size] * count
        symbol_counts = [sum(cells[mask] for mask in range(question.no_answer) if mask >> i & 1) for i in range(count)]
        total = sum(cells)
        return [symbols / total for symbols in symbol_counts]

    def truncate_answers(self, question: Question, count: int) -> Question:
        return replace(question, labels=question.labels[:count])

    def draw(self, question: Question, truth: Any, count: int, rng: Generator) -> Indices:
        check_labels(question, truth)
        labels = question.labels
        chances = [check_share(question, OPTION_SHARE if truth is None else truth.get(label, 0)) for label in labels]
        is_chosen = rng.random((count, len(labels))) < np.array(chances)
        masks: Indices = is_chosen @ (1 << np.arange(len(labels), dtype=np.int64))
        return masks

    def sample_symbols(self, question: Question, indices: Indices, rng: Generator) -> Indices:
        return indices

    def symbol_chances(self, question: Question, index: int) -> list[tuple[int, float]]:
        return [(index, 1.0)]

    def true_values(self, question: Question, indices: Indices) -> Floats:
        return np.array([])

    def mark_answer(self, question: Question, answer: int, indices: Indices) -> npt.NDArray[np.bool_]:
        if answer == len(question.labels):
            skipped: npt.NDArray[np.bool_] = indices == question.no_answer
            return skipped
        is_chosen: npt.NDArray[np.bool_] = (indices >> answer & 1) == 1
        return is_chosen

    def example(self, question: Question, symbol: int) -> Any:
        return [label for place, label in enumerate(question.labels) if symbol >> place & 1]

    def midpoint_example(self, question: Question, symbol: int) -> None:
        return None

    def deniable_answer(self, question: Question) -> None:
        return None

    def estimator_sentence(self, question: Question, bits: int) -> str:
        return "The share of an option is the sum of the shares of the sets that contain it."

    def symbol_sentence(self, question: Question) -> Sentence:
        return Sentence("privacy.sets", {})

    def codebook_facts(self, question: Question) -> list[tuple[str, str]]:
        return []

    def codebook_rows(self, question: Question) -> list[list[str]]:
        """Return a row for each option, because there are too many sets to list."""
        rows = [[f"option {place}", label] for place, label in enumerate(question.labels)]
        return rows + [["", NO_ANSWER]] * question.optional


KIND = Multiple(
    name="multiple",
    menu="Multiple choice",
    plan_name="a multiple choice",
    codebook_name="any of several options",
    share_name="option",
    share_phrase="an option",
    answers_name="options",
    ddi_domain="multiple",
    exclusive=False,
    starter={"options": []},
    author_keys={"options": AuthorValue.LIST, "shuffle": AuthorValue.SWITCH},
    preset_labels=(),
    template="console/types/multiple.html",
    answer_name_keys=(),
    can_force_answer=False,
)
