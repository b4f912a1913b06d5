"""What every question type has to say.

Data are fields without defaults and facts are abstract methods, so that mypy names what a new type leaves out.
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
    """A kind of question: how it is published, what answers it takes, and which symbol an answer becomes.

    An *index* is exact and private to the device; a *symbol* is what a mechanism randomizes. They differ only where an
    answer is rounded at random. The work of a method must not depend on which answer it is given.
    """

    name: "TypeName"
    required: tuple[str, ...]  # keys in a definition, beside id, type and text
    possible: tuple[str, ...]  # further keys that may be there, beside optional and show_if
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
        """Return the number of symbols, without the one for no answer."""

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
        """Return the words for a symbol that is an answer."""

    @abstractmethod
    def answer_label(self, question: "Question", index: int) -> str:
        """Return the words for an index that is an answer, before any rounding."""

    @abstractmethod
    def has_levels(self, question: "Question") -> bool:
        """Tell whether the symbols are equally spaced numbers, so that noise can be added to them."""

    @abstractmethod
    def rounding_sentence(self, question: "Question") -> str:
        """Return how an answer is rounded before it is randomized; empty if it never is."""

    @abstractmethod
    def prompt(self, question: "Question") -> str:
        """Return what to type in a terminal."""

    @abstractmethod
    def understand(self, question: "Question", labels: Sequence[str], typed: str) -> Any:
        """Return what was typed as an answer; `labels` are in the order on the screen. Raise AnswerError."""
