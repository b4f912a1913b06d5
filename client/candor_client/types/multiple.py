"""The type `multiple`: any number of options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

from candor_client.canonical import parse_labels
from candor_client.errors import AnswerError
from candor_client.sampling import RandomBytes
from candor_client.types import TypeName
from candor_client.types.labels import create_number_error, label_index, parse_typed_labels
from candor_client.types.question_type import QuestionType

if TYPE_CHECKING:
    from candor_client.question import Question


@final
class Multiple(QuestionType):
    """A set of options: index and symbol are its mask, option 0 least significant."""

    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        return {"labels": parse_labels(value["options"], f"{path}.options", 2)}

    def symbols(self, question: "Question") -> int:
        return 1 << len(question.labels)

    def index_of(self, question: "Question", answer: Any) -> int:
        if not isinstance(answer, Sequence | set | frozenset) or isinstance(answer, str | bytes):
            raise AnswerError(question.id, "must be a list of options")
        chosen = {label_index(question, label) for label in answer}
        if len(chosen) != len(answer):
            raise AnswerError(question.id, "names an option twice")
        # every place is visited, so that each answer takes the same time
        return int("".join("01"[place in chosen] for place in reversed(range(len(question.labels)))), 2)

    def unanswered(self, question: "Question") -> int:
        return question.no_answer

    def labels_of(self, question: "Question", index: int) -> set[str]:
        mask = f"{index:0{len(question.labels)}b}"[::-1]
        return {label for label, bit in zip(question.labels, mask, strict=False) if bit == "1"}

    def symbol_of(self, question: "Question", index: int, random_bytes: RandomBytes) -> int:
        return index

    def label(self, question: "Question", symbol: int) -> str:
        chosen = self.labels_of(question, symbol)
        return "{" + ", ".join(label for label in question.labels if label in chosen) + "}"

    def answer_label(self, question: "Question", index: int) -> str:
        return self.label(question, index)

    def has_levels(self, question: "Question") -> bool:
        return False

    def rounding_sentence(self, question: "Question") -> str:
        return ""

    def prompt(self, question: "Question") -> str:
        return "numbers, separated by spaces; 0 for none"

    def parse_input(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        if not (chosen := parse_typed_labels(question, labels, typed)):
            raise create_number_error(question)
        return [label for label in chosen if label is not None]


TYPE = Multiple(
    name=TypeName.MULTIPLE,
    required_keys=("options",),
    optional_keys=("shuffle",),
    labels_key="options",
    has_labels=True,
    has_sets=True,
    fits_grid=False,
    lists_labels=True,
)
