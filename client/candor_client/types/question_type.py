"""The base class of the question types.

Data are fields without defaults and behaviour is abstract methods, so that mypy reports what a new type lacks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from candor_client.sampling import RandomBytes

if TYPE_CHECKING:
    from candor_client.question import Question
    from candor_client.types import TypeName


@dataclass(frozen=True, kw_only=True)
class QuestionType(ABC):
    """A question type: how it is published, its possible answers, and the symbol of each answer.

    An *index* is exact and private to the device; a *symbol* is randomized by a mechanism. They differ only if an
    answer is rounded at random. The work of a method must not depend on the answer.
    """

    name: "TypeName"
    required_keys: tuple[str, ...]  # keys in a definition, in addition to id, type and text
    optional_keys: tuple[str, ...]  # optional keys, in addition to optional and show_if
    labels_key: str | None  # the key of the labels in a definition and its translations; None if authors write none
    has_labels: bool  # its answers have labels, which a condition can name
    has_sets: bool  # a symbol is a set of labels: a mask, label 0 least significant
    fits_grid: bool  # several of them with equal labels can be shown as one table
    lists_labels: bool  # a terminal lists the labels, and takes their numbers as answers

    @abstractmethod
    def parse(self, value: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the fields of a Question that this type sets; `value` has the right keys. Raise DefinitionError."""

    @abstractmethod
    def symbols(self, question: "Question") -> int:
        """Return the number of symbols, excluding the symbol for no answer."""

    @abstractmethod
    def index_of(self, question: "Question", answer: Any) -> int:
        """Return the index of an answer; raise AnswerError if it does not fit."""

    @abstractmethod
    def unanswered(self, question: "Question") -> int:
        """Return the index that stands for no answer."""

    @abstractmethod
    def labels_of(self, question: "Question", index: int) -> set[str]:
        """Return the labels that an index stands for; the empty set for no answer."""

    @abstractmethod
    def symbol_of(self, question: "Question", index: int, random_bytes: RandomBytes) -> int:
        """Return the symbol of an index; rounding draws the same number of bytes for every index."""

    @abstractmethod
    def label(self, question: "Question", symbol: int) -> str:
        """Return the label of a symbol other than the one for no answer."""

    @abstractmethod
    def answer_label(self, question: "Question", index: int) -> str:
        """Return the label of an index other than the one for no answer, before any rounding."""

    @abstractmethod
    def has_levels(self, question: "Question") -> bool:
        """Return whether the symbols are equally spaced numbers, so that noise can be added to them."""

    @abstractmethod
    def rounding_sentence(self, question: "Question") -> str:
        """Return a sentence on how an answer is rounded before it is randomized; empty if it is not rounded."""

    @abstractmethod
    def prompt(self, question: "Question") -> str:
        """Return a hint on what to type in a terminal."""

    @abstractmethod
    def parse_input(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        """Return the answer from text typed in a terminal; raise AnswerError if it cannot be read.

        `labels` are in the order on the screen.
        """
