"""One question of a definition, and the number of symbols that its answers have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from candor_client.canonical import check_keys, parse_labels, parse_list, parse_name, parse_text, parse_true
from candor_client.errors import DefinitionError
from candor_client.types import TypeName, type_of
from candor_client.types.number import to_grid

MOST_LABELS = 1024  # options of a choice or multiple, points of a scale
MOST_NAMED = 8  # answers listed in an error message
NO_ANSWER = "no answer"

# For each type: its required keys and its optional keys, in addition to the common ones.
TYPES = {name.value: (type_of(name).required_keys, type_of(name).optional_keys) for name in TypeName}


@dataclass(frozen=True)
class Condition:
    """A question is shown only if an earlier one was answered with one of these labels."""

    question: str
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question; `labels` are the options of a choice or multiple, the points of a scale, or no and yes."""

    id: str
    type: TypeName
    text: str
    labels: tuple[str, ...] = ()
    scores: tuple[Decimal, ...] = ()
    optional: bool = False
    shuffle: bool = False
    show_if: Condition | None = None
    min: Decimal = Decimal(0)
    max: Decimal = Decimal(0)
    step: Decimal = Decimal(1)
    unit: str = ""
    levels: int = 0
    bins: int = 0

    @cached_property
    def steps(self) -> int:
        """The highest index N of a number on its grid; the lowest is 0."""
        low, high, step, _ = self.grid
        return (high - low) // step

    @cached_property
    def grid(self) -> tuple[int, int, int, int]:
        """min, max and step as integers in units of 10^−digits, followed by digits."""
        return to_grid(self.min, self.max, self.step)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The index of each label, as a dict: a lookup takes the same time for every label."""
        return {label: place for place, label in enumerate(self.labels)}

    @cached_property
    def no_answer(self) -> int:
        """The last symbol of an optional question; without it, the number of symbols."""
        return type_of(self.type).symbols(self)

    @cached_property
    def size(self) -> int:
        """The number of symbols."""
        return self.no_answer + self.optional

    def label(self, symbol: int) -> str:
        """Return the label of a symbol."""
        return NO_ANSWER if symbol == self.no_answer else type_of(self.type).label(self, symbol)


def labels_of(question: Question, index: int) -> set[str]:
    """Return the labels of an index: one, several for a multiple, none for no answer or a number."""
    return type_of(question.type).labels_of(question, index)


def find_oversized_questions(questions: Iterable[Question]) -> Iterator[DefinitionError]:
    """Yield an error for each question with more labels than are allowed as of 0.9."""
    for i, question in enumerate(questions):
        if (count := len(question.labels)) > MOST_LABELS:
            path = f"questions[{i}].{type_of(question.type).labels_key}"
            yield DefinitionError("too_large", path, f"has {count} entries; at most {MOST_LABELS} are allowed")


def parse_questions(value: Any) -> tuple[Question, ...]:
    """Return the questions of a definition, whose conditions refer to earlier ones; raise DefinitionError."""
    questions: list[Question] = []
    for i, raw in enumerate(parse_list(value, "questions", 1)):
        questions.append(_parse_question(raw, questions, f"questions[{i}]"))
    return tuple(questions)


def _parse_question(value: Any, earlier: Sequence[Question], path: str) -> Question:
    name = value.get("type") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in list(TypeName):
        raise DefinitionError("bad_value", f"{path}.type", f"must be one of {', '.join(TypeName)}")
    kind = type_of(TypeName(name))
    check_keys(value, path, ("id", "type", "text", *kind.required_keys), ("optional", "show_if", *kind.optional_keys))
    fields: dict[str, Any] = {"id": parse_name(value["id"], f"{path}.id"), "type": kind.name}
    if any(fields["id"] == question.id for question in earlier):
        raise DefinitionError("bad_value", f"{path}.id", f"{fields['id']} occurs twice")
    fields["text"] = parse_text(value["text"], f"{path}.text")
    if "optional" in value and (value["optional"] is not True or "show_if" in value):
        raise DefinitionError("bad_value", f"{path}.optional", "must be true, or left out; show_if implies it")
    fields["optional"] = "optional" in value or "show_if" in value
    if "shuffle" in value:
        fields["shuffle"] = parse_true(value["shuffle"], f"{path}.shuffle")
    if "show_if" in value:
        fields["show_if"] = _parse_condition(value["show_if"], earlier, f"{path}.show_if")
    return Question(**fields, **kind.parse(value, path))


def _parse_condition(value: Any, earlier: Sequence[Question], path: str) -> Condition:
    check_keys(value, path, ("question", "is"))
    parent = next((question for question in earlier if question.id == value["question"]), None)
    if parent is None or not type_of(parent.type).has_labels:
        raise DefinitionError("bad_value", f"{path}.question", "must be an earlier question with options")
    labels = parse_labels(value["is"], f"{path}.is", 1)
    if unknown := [label for label in labels if label not in parent.labels]:
        answers = ", ".join(parent.labels[:MOST_NAMED]) + (", …" if parent.labels[MOST_NAMED:] else "")
        reason = f"{unknown[0]!r} is not an answer of {parent.id}; its answers are {answers}"
        raise DefinitionError("bad_value", f"{path}.is", reason)
    return Condition(parent.id, labels)
