"""Shared code of the types whose answers are labels: finding a label, and reading its number from a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from candor_client.errors import AnswerError
from candor_client.sampling import RandomBytes
from candor_client.types.question_type import QuestionType

if TYPE_CHECKING:
    from candor_client.question import Question

MOST_NAMED = 8  # labels listed in an error message


class SingleLabel(QuestionType):
    """A type whose answer is one label; index and symbol are the position of the label."""

    def symbols(self, question: "Question") -> int:
        return len(question.labels)

    def index_of(self, question: "Question", answer: Any) -> int:
        return label_index(question, answer)

    def unanswered(self, question: "Question") -> int:
        return question.no_answer

    def labels_of(self, question: "Question", index: int) -> set[str]:
        return set(question.labels[index : index + 1])

    def symbol_of(self, question: "Question", index: int, random_bytes: RandomBytes) -> int:
        return index

    def label(self, question: "Question", symbol: int) -> str:
        return question.labels[symbol]

    def answer_label(self, question: "Question", index: int) -> str:
        return question.labels[index]

    def has_levels(self, question: "Question") -> bool:
        return False

    def rounding_sentence(self, question: "Question") -> str:
        return ""

    def prompt(self, question: "Question") -> str:
        return "a number"

    def parse_input(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        chosen = parse_typed_labels(question, labels, typed)
        if len(chosen) != 1 or chosen[0] is None:
            raise create_number_error(question)
        return chosen[0]


def label_index(question: "Question", label: Any) -> int:
    """Return the position of a label; raise AnswerError if there is no such label."""
    if not isinstance(label, str) or label not in question.places:
        labels = ", ".join(question.labels[:MOST_NAMED]) + (", ..." if len(question.labels) > MOST_NAMED else "")
        raise AnswerError(question.id, f"{str(label)[:40]!r} is not one of: {labels}")
    return question.places[label]


def parse_typed_labels(question: "Question", labels: Sequence[str], typed: str) -> list[str | None]:
    """Return the labels of the numbers in `typed`, counted from 1, and None for each 0; raise AnswerError."""
    try:
        places = [int(word) for word in typed.replace(",", " ").split()]
        return [labels[place - 1] if place > 0 else None for place in places]
    except (ValueError, IndexError):
        raise AnswerError(question.id, f"type numbers from 1 to {len(labels)}") from None


def create_number_error(question: "Question") -> AnswerError:
    """Return the error for text that is not the number of one label."""
    return AnswerError(question.id, f"type one number from 1 to {len(question.labels)}")
