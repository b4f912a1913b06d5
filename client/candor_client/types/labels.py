"""What types share whose answers are labels: finding a label, and answering by its number on the screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from candor_client.errors import AnswerError
from candor_client.sampling import RandomBytes
from candor_client.types.question_type import QuestionType

if TYPE_CHECKING:
    from candor_client.question import Question

MOST_NAMED = 8  # labels in a complaint


class OneLabel(QuestionType):
    """A type whose answer is one of the labels; its place is the index and the symbol."""

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

    def understand(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        chosen = typed_labels(question, labels, typed)
        if len(chosen) != 1 or chosen[0] is None:
            raise needs_number(question)
        return chosen[0]


def label_index(question: "Question", label: Any) -> int:
    """Return the place of a label; raise AnswerError if there is no such label."""
    if not isinstance(label, str) or label not in question.places:
        known = ", ".join(question.labels[:MOST_NAMED]) + (", ..." if len(question.labels) > MOST_NAMED else "")
        raise AnswerError(question.id, f"{str(label)[:40]!r} is not one of: {known}")
    return question.places[label]


def typed_labels(question: "Question", labels: Sequence[str], typed: str) -> list[str | None]:
    """Return the labels whose numbers were typed, the first being 1, and None for each 0; raise AnswerError."""
    try:
        places = [int(word) for word in typed.replace(",", " ").split()]
        return [labels[place - 1] if place > 0 else None for place in places]
    except (ValueError, IndexError):
        raise AnswerError(question.id, f"type numbers from 1 to {len(labels)}") from None


def needs_number(question: "Question") -> AnswerError:
    """Return the error of typing no label's number where one is needed."""
    return AnswerError(question.id, f"type one number from 1 to {len(question.labels)}")
