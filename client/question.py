"""One question of a definition: what is asked, and how many symbols its answers have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from client.canonical import check_keys, decimal, integer, items, labels_at, name_at, only_true, plain_text
from client.errors import DefinitionError

MOST_STEPS = 2**31 - 1
MOST_LABELS = 1024  # options of a choice or multiple, points of a scale
MOST_NAMED = 8  # answers in a complaint

# For each type: the keys it needs and those it may have, beside the common ones.
TYPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "yes_no": ((), ()),
    "choice": (("options",), ("shuffle",)),
    "scale": (("points",), ("scores",)),
    "multiple": (("options",), ("shuffle",)),
    "number": (("min", "max", "step"), ("unit", "levels", "bins")),
}


@dataclass(frozen=True)
class Condition:
    """A question is shown only if an earlier one was answered with one of these labels."""

    question: str
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question; `labels` are the options of a choice or multiple, the points of a scale, or no and yes."""

    id: str
    type: str
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
        """N: a number's index runs from 0 to N."""
        low, high, step, _ = self.grid
        return (high - low) // step

    @cached_property
    def grid(self) -> tuple[int, int, int, int]:
        """min, max and step as integers, in units of 10^−digits, and those digits."""
        return to_grid(self.min, self.max, self.step)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The index of each label: finding the last takes no longer than finding the first."""
        return {label: place for place, label in enumerate(self.labels)}

    @cached_property
    def no_answer(self) -> int:
        """The last symbol of an optional question; without it, the number of symbols."""
        if self.type == "multiple":
            return 1 << len(self.labels)
        return len(self.labels) or self.levels or self.bins

    @cached_property
    def size(self) -> int:
        """The number of symbols."""
        return self.no_answer + self.optional


def to_grid(low: Decimal, high: Decimal, step: Decimal) -> tuple[int, int, int, int]:
    """Three decimals as integers in the largest unit 10^−digits that fits them all, and those digits."""
    texts = [f"{value:f}".partition(".") for value in (low, high, step)]
    digits = max(len(decimals) for _, _, decimals in texts)
    least, most, width = (int(whole + decimals.ljust(digits, "0")) for whole, _, decimals in texts)
    return least, most, width, digits


def labels_of(question: Question, index: int) -> set[str]:
    """The labels that an index stands for: one, several for a multiple, none for no answer or a number."""
    if question.type == "multiple":
        mask = f"{index:0{len(question.labels)}b}"[::-1]
        return {label for label, bit in zip(question.labels, mask, strict=False) if bit == "1"}
    return {question.labels[index]} if index < len(question.labels) else set()


def count_labels(questions: Iterable[Question]) -> Iterator[DefinitionError]:
    """Yield an error for each question with more labels than are allowed as of 0.9."""
    for i, question in enumerate(questions):
        if len(question.labels) > MOST_LABELS:
            path = f"questions[{i}].{'points' if question.type == 'scale' else 'options'}"
            yield DefinitionError("too_large", path, f"has {len(question.labels)} entries; {MOST_LABELS} are allowed")


def parse_questions(value: Any) -> tuple[Question, ...]:
    """The questions of a definition, each knowing the earlier ones."""
    questions: list[Question] = []
    for i, raw in enumerate(items(value, "questions", 1)):
        questions.append(_question(raw, questions, f"questions[{i}]"))
    return tuple(questions)


def _question(value: Any, earlier: Sequence[Question], path: str) -> Question:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in TYPES:
        raise DefinitionError("bad_value", f"{path}.type", f"must be one of {', '.join(TYPES)}")
    required, optional = TYPES[kind]
    check_keys(value, path, ("id", "type", "text", *required), ("optional", "show_if", *optional))
    given: dict[str, Any] = {"id": name_at(value["id"], f"{path}.id"), "type": kind}
    if any(given["id"] == question.id for question in earlier):
        raise DefinitionError("bad_value", f"{path}.id", f"{given['id']} occurs twice")
    given["text"] = plain_text(value["text"], f"{path}.text")
    if "optional" in value and (value["optional"] is not True or "show_if" in value):
        raise DefinitionError("bad_value", f"{path}.optional", "must be true, or left out; show_if implies it")
    given["optional"] = "optional" in value or "show_if" in value
    if "shuffle" in value:
        given["shuffle"] = only_true(value["shuffle"], f"{path}.shuffle")
    if "show_if" in value:
        given["show_if"] = _condition(value["show_if"], earlier, f"{path}.show_if")
    if kind == "yes_no":
        given["labels"] = ("no", "yes")
    elif kind == "number":
        given |= _number(value, path)
    else:
        given["labels"] = labels_at(value[required[0]], f"{path}.{required[0]}", 2)
    if "scores" in value:
        scores = items(value["scores"], f"{path}.scores", 2)
        given["scores"] = tuple(decimal(score, f"{path}.scores[{i}]") for i, score in enumerate(scores))
        if len(scores) != len(given["labels"]):
            raise DefinitionError("bad_value", f"{path}.scores", "needs one score for every point")
    return Question(**given)


def _number(value: dict[str, Any], path: str) -> dict[str, Any]:
    low, high, step = (decimal(value[key], f"{path}.{key}") for key in ("min", "max", "step"))
    if low >= high:
        raise DefinitionError("bad_value", f"{path}.max", "must be above min")
    least, most, width, _ = to_grid(low, high, step)
    steps = (most - least) // width if width > 0 else 0
    if steps * width != most - least or steps > MOST_STEPS:
        reason = "must be positive and divide max - min into at most 2^31 - 1 whole steps"
        raise DefinitionError("bad_value", f"{path}.step", reason)
    given: dict[str, Any] = {"min": low, "max": high, "step": step}
    if "unit" in value:
        given["unit"] = plain_text(value["unit"], f"{path}.unit")
    if ("levels" in value) == ("bins" in value):
        raise DefinitionError("bad_value", path, "needs levels or bins, and not both")
    grain = "levels" if "levels" in value else "bins"
    given[grain] = integer(value[grain], f"{path}.{grain}", 2, steps + 1)
    return given


def _condition(value: Any, earlier: Sequence[Question], path: str) -> Condition:
    check_keys(value, path, ("question", "is"))
    parent = next((question for question in earlier if question.id == value["question"]), None)
    if parent is None or parent.type == "number":
        raise DefinitionError("bad_value", f"{path}.question", "must be an earlier question with options")
    labels = labels_at(value["is"], f"{path}.is", 1)
    if strange := [label for label in labels if label not in parent.labels]:
        known = ", ".join(parent.labels[:MOST_NAMED]) + (", …" if len(parent.labels) > MOST_NAMED else "")
        reason = f"{strange[0]!r} is no answer of {parent.id}; its answers are {known}"
        raise DefinitionError("bad_value", f"{path}.is", reason)
    return Condition(parent.id, labels)
