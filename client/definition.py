"""The definition of a survey: public, immutable, named by the SHA-256 of its bytes.

`Survey.from_json` is the border: it refuses everything malformed with the path to the fault, and what it returns
can be trusted to be well-formed. Whether it is private enough is another question, for `verify`.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from math import prod
from typing import Any

from client import canonical, mechanism
from client.canonical import check_keys, decimal, integer, plain_text
from client.errors import DefinitionError
from client.mechanism import Geometric, Mechanism, Sampled

FORMAT = "candor/1"
LARGEST_DEFINITION = 256_000
LARGEST_REPORT = 64_000
MOST_STEPS = 2**31 - 1

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")

# For each type: the keys it needs and those it may have, beside the common ones.
TYPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "yes_no": ((), ()),
    "choice": (("options",), ()),
    "scale": (("points",), ("scores",)),
    "multiple": (("options",), ()),
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


@dataclass(frozen=True)
class Field:
    """What is randomized once: one question, or the product of several."""

    questions: tuple[Question, ...]
    mechanism: Mechanism
    digest: str

    @cached_property
    def size(self) -> int:
        """The number of symbols: mixed radix, the first question most significant."""
        return prod(question.size for question in self.questions)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A well-formed definition. `epsilon` is what it claims; `verify` computes what it spends."""

    source: bytes = field(repr=False)
    slug: str
    title: str
    epsilon: Decimal
    questions: tuple[Question, ...]
    fields: tuple[Field, ...]
    description: str = ""
    consent: str = ""
    contact: str = ""
    language: str = "en"
    ask: int | None = None

    @classmethod
    def from_json(cls, source: bytes) -> "Survey":
        """Parse canonical bytes; DefinitionError tells what is wrong, and where."""
        if len(source) > LARGEST_DEFINITION:
            raise DefinitionError("too_large", "", f"a definition has at most {LARGEST_DEFINITION} bytes")
        return _survey(canonical.loads(source), source)

    @cached_property
    def digest(self) -> str:
        """The name of this definition: SHA-256 of its bytes, in hexadecimal."""
        return hashlib.sha256(self.source).hexdigest()

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all questions."""
        return frozenset(question.id for question in self.questions)

    @cached_property
    def width(self) -> int:
        """Stored bits of a report; with `ask`, each field is preceded by its asked bit."""
        return sum(field.mechanism.width for field in self.fields) + (len(self.fields) if self.ask else 0)

    @cached_property
    def length(self) -> int:
        """The length of a report's bits in bytes."""
        return (self.width + 7) // 8


def _survey(value: Any, source: bytes) -> Survey:
    texts = ("description", "consent", "contact", "language")
    check_keys(value, "", ("format", "slug", "title", "epsilon", "questions", "fields"), (*texts, "ask"))
    if value["format"] != FORMAT:
        raise DefinitionError("bad_value", "format", f"must be {FORMAT!r}")
    given = {key: plain_text(value[key], key) for key in ("title", *texts) if key in value}
    language = given.get("language")
    if language == "en" or (language and not LANGUAGE.fullmatch(language)):
        raise DefinitionError("bad_value", "language", "must be a language tag such as 'de'; 'en' is left out")
    epsilon = decimal(value["epsilon"], "epsilon")
    if epsilon <= 0 or len(f"{epsilon:f}".partition(".")[2]) > 12:
        raise DefinitionError("bad_value", "epsilon", "must be positive, with at most 12 decimals")
    questions = parse_questions(value["questions"])
    known = {question.id: (question, raw) for question, raw in zip(questions, value["questions"], strict=True)}
    fields = tuple(_field(raw, known, f"fields[{i}]") for i, raw in enumerate(_items(value["fields"], "fields", 1)))
    if known:
        raise DefinitionError("bad_value", "fields", f"no field holds {next(iter(known))}")
    ask = None
    if "ask" in value:
        ask = integer(value["ask"], "ask", 1, len(fields))
        if any(question.show_if for question in questions):
            raise DefinitionError("bad_value", "ask", "cannot be combined with show_if")
    survey = Survey(
        source=source, slug=_name(value["slug"], "slug"), epsilon=epsilon, ask=ask,
        questions=questions, fields=fields, **given,
    )  # fmt: skip
    if survey.length * 4 // 3 + 150 > LARGEST_REPORT:
        raise DefinitionError("too_large", "fields", f"a report would exceed {LARGEST_REPORT} bytes")
    return survey


def parse_questions(value: Any) -> tuple[Question, ...]:
    """The questions of a definition, each knowing the earlier ones."""
    questions: list[Question] = []
    for i, raw in enumerate(_items(value, "questions", 1)):
        questions.append(_question(raw, questions, f"questions[{i}]"))
    return tuple(questions)


def _question(value: Any, earlier: Sequence[Question], path: str) -> Question:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in TYPES:
        raise DefinitionError("bad_value", f"{path}.type", f"must be one of {', '.join(TYPES)}")
    required, optional = TYPES[kind]
    check_keys(value, path, ("id", "type", "text", *required), ("optional", "show_if", *optional))
    given: dict[str, Any] = {"id": _name(value["id"], f"{path}.id"), "type": kind}
    if any(given["id"] == question.id for question in earlier):
        raise DefinitionError("bad_value", f"{path}.id", f"{given['id']} occurs twice")
    given["text"] = plain_text(value["text"], f"{path}.text")
    if "optional" in value and (value["optional"] is not True or "show_if" in value):
        raise DefinitionError("bad_value", f"{path}.optional", "must be true, or left out; show_if implies it")
    given["optional"] = "optional" in value or "show_if" in value
    if "show_if" in value:
        given["show_if"] = _condition(value["show_if"], earlier, f"{path}.show_if")
    if kind == "yes_no":
        given["labels"] = ("no", "yes")
    elif kind == "number":
        given |= _number(value, path)
    else:
        given["labels"] = _labels(value[required[0]], f"{path}.{required[0]}", 2)
    if "scores" in value:
        scores = _items(value["scores"], f"{path}.scores", 2)
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
    labels = _labels(value["is"], f"{path}.is", 1)
    if not set(labels) <= set(parent.labels):
        raise DefinitionError("bad_value", f"{path}.is", f"must be labels of {parent.id}")
    return Condition(parent.id, labels)


def _field(value: Any, known: dict[str, tuple[Question, Any]], path: str) -> Field:
    check_keys(value, path, ("mechanism", "questions"))
    questions: list[Question] = []
    raws: list[Any] = []
    for i, name in enumerate(_items(value["questions"], f"{path}.questions", 1)):
        if not isinstance(name, str) or name not in known:
            raise DefinitionError("bad_value", f"{path}.questions[{i}]", "must be a question of no other field")
        question, raw = known.pop(name)
        questions.append(question)
        raws.append(raw)
    form = value["mechanism"]
    only, path = questions[0], f"{path}.mechanism"
    kind = form.get("kind") if isinstance(form, dict) else None
    size = prod(question.size for question in questions)
    if kind == Sampled.kind:
        if len(questions) > 1 or only.type != "multiple":
            raise DefinitionError("bad_mechanism", path, "sampled is for one multiple question alone")
        size = len(only.labels) + only.optional
    elif kind == Geometric.kind and (len(questions) > 1 or not only.levels or only.optional):
        raise DefinitionError("bad_mechanism", path, "geometric is for one number with levels, not optional")
    digest = hashlib.sha256(canonical.dumps({"mechanism": form, "questions": raws})).hexdigest()
    return Field(tuple(questions), mechanism.parse(form, size, path), digest)


def _items(value: Any, path: str, least: int) -> list[Any]:
    if not isinstance(value, list):
        raise DefinitionError("bad_value", path, "must be a list")
    if len(value) < least:
        raise DefinitionError("bad_value", path, "at least two" if least == 2 else "at least one")
    return value


def _labels(value: Any, path: str, least: int) -> tuple[str, ...]:
    labels = tuple(plain_text(label, f"{path}[{i}]") for i, label in enumerate(_items(value, path, least)))
    if len(set(labels)) != len(labels):
        raise DefinitionError("bad_value", path, "must differ from one another")
    return labels


def _name(value: Any, path: str) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise DefinitionError("bad_value", path, "must be 1 to 63 of a-z, 0-9, _ and -, not starting with - or _")
    return value
