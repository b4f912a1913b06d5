"""The definition of a survey: public, immutable, named by the SHA-256 of its bytes.

`Survey.from_json` is the border: it refuses everything malformed with the path to the fault, and what it returns
can be trusted to be well-formed. Whether it is private enough is another question, for `verify`.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from client import canonical, display, mechanisms
from client.canonical import check_keys, decimal, integer, items, name_at, plain_text
from client.display import Section, Translation
from client.errors import DefinitionError
from client.mechanisms import Mechanism
from client.question import Question, count_labels, labels_of, parse_questions
from client.ticket import Tickets, parse_tickets

FORMAT = "candor/2"
LARGEST_DEFINITION = 256_000
LARGEST_BITS = 47_000  # bytes of a report's bits
LARGEST_REPORT = 64_000  # bytes of the JSON around them, a ticket included
MOST_FIELDS = 4096
MOST_WORK = 2**20  # symbols that a device may have to look at, over all fields
MOST_CELLS = 65_536  # combinations of one joint field, those that cannot occur included
MOST_CHANCES = 10**6

PROSE = ("description", "consent", "contact", "thanks")


@dataclass(frozen=True)
class Field:
    """What is randomized once: one question, or the possible combinations of several.

    With `ask`, a device answers this field with a probability in proportion to its `chance`.
    """

    questions: tuple[Question, ...]
    mechanism: Mechanism
    chance: int
    digest: str

    @property
    def size(self) -> int:
        """The number of symbols."""
        return len(self.cells) if self.joint else self.questions[0].size

    @property
    def joint(self) -> bool:
        """Whether several questions are randomized together."""
        return len(self.questions) > 1

    @cached_property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """For every symbol, the symbols of the questions; not to be asked of a multiple whose options are drawn."""
        return tuple(possible_cells(self.questions))

    @cached_property
    def symbols(self) -> Mapping[tuple[int, ...], int]:
        """The inverse of `cells`."""
        return {digits: symbol for symbol, digits in enumerate(self.cells)}

    def label(self, symbol: int) -> str:
        """Return the words for one symbol; for a joint field, those of each question."""
        digits = self.cells[symbol] if self.joint else (symbol,)
        return " + ".join(question.label(digit) for question, digit in zip(self.questions, digits, strict=True))


def possible_cells(questions: Sequence[Question]) -> Iterator[tuple[int, ...]]:
    """The combinations that can occur, in order, the first question most significant.

    A question that another of them hides has no answer; if the other lies outside, anything may have happened.
    """
    places = {question.id: place for place, question in enumerate(questions)}

    def extend(digits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(digits) == len(questions):
            yield digits
            return
        question = questions[len(digits)]
        condition = question.show_if
        allowed = range(question.size)
        if condition and condition.question in places:
            place = places[condition.question]
            if not labels_of(questions[place], digits[place]) & set(condition.labels):
                allowed = range(question.no_answer, question.size)
        for digit in allowed:
            yield from extend((*digits, digit))

    return extend(())


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A well-formed definition. `epsilon` is what it claims; `verify` computes what it spends."""

    source: bytes = field(repr=False)
    slug: str
    title: str
    epsilon: Decimal
    questions: tuple[Question, ...]
    fields: tuple[Field, ...]
    ask: bool = False  # whether a device answers one field only, which it draws
    study: str = ""
    group: str = ""
    description: str = ""
    consent: str = ""
    contact: str = ""
    language: str = "en"
    sections: tuple[Section, ...] = ()
    thanks: str = ""
    completion: str = ""
    translations: tuple[Translation, ...] = ()
    tickets: Tickets | None = None

    @classmethod
    def from_json(cls, source: bytes) -> "Survey":
        """Parse canonical bytes; DefinitionError tells what is wrong, and where."""
        survey = cls.from_stored(source)
        for error in objections(survey):
            raise error
        return survey

    @classmethod
    def from_stored(cls, source: bytes) -> "Survey":
        """Parse a definition that a server may have published before 0.9: without `objections`. Clients never do."""
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

    def needed(self, asked: int) -> frozenset[str]:
        """The questions that a device puts to ask one field: its own, and as filters those on which they depend."""
        wanted = {question.id for question in self.fields[asked].questions}
        for question in reversed(self.questions):
            if question.id in wanted and question.show_if:
                wanted.add(question.show_if.question)
        return frozenset(wanted)

    def part(self, field: Field) -> Fraction:
        """The probability that a device answers a field: by its chance with `ask`, otherwise one."""
        return Fraction(field.chance, sum(one.chance for one in self.fields)) if self.ask else Fraction(1)

    @cached_property
    def width(self) -> int:
        """Stored bits of a report; with `ask`, each field is preceded by its asked bit."""
        return sum(field.mechanism.width + self.ask for field in self.fields)

    @cached_property
    def length(self) -> int:
        """The length of a report's bits in bytes."""
        return (self.width + 7) // 8


def objections(survey: Survey) -> Iterator[DefinitionError]:
    """Yield what is refused as of 0.9 and was not before: too many labels or fields, invisible characters."""
    yield from count_labels(survey.questions)
    if len(survey.fields) > MOST_FIELDS:
        yield DefinitionError("too_large", "fields", f"has {len(survey.fields)} entries; {MOST_FIELDS} are allowed")
    if canonical.INVISIBLE.search(survey.source.decode()) and (
        found := canonical.find_invisible(canonical.loads(survey.source))
    ):
        yield DefinitionError("bad_value", *found)


def _survey(value: Any, source: bytes) -> Survey:
    more = ("ask", "study", "group", "language", "sections", "completion", "translations", "tickets")
    check_keys(value, "", ("format", "slug", "title", "epsilon", "questions", "fields"), (*PROSE, *more))
    if value["format"] != FORMAT:
        raise DefinitionError("bad_value", "format", f"must be {FORMAT!r}")
    given: dict[str, Any] = {key: plain_text(value[key], key) for key in ("title", *PROSE) if key in value}
    if "language" in value:
        given["language"] = display.language(value["language"], "language", "en")
    given["slug"] = name_at(value["slug"], "slug")
    if ("study" in value) != ("group" in value):
        raise DefinitionError("bad_value", "group", "study and group go together")
    if "study" in value:
        given |= {"study": name_at(value["study"], "study"), "group": plain_text(value["group"], "group")}
        if not given["slug"].startswith(f"{given['study']}-"):
            raise DefinitionError("bad_value", "slug", f"must begin with {given['study']}-")
    given["epsilon"] = decimal(value["epsilon"], "epsilon")
    if given["epsilon"] <= 0 or len(f"{given['epsilon']:f}".partition(".")[2]) > 12:
        raise DefinitionError("bad_value", "epsilon", "must be positive, with at most 12 decimals")
    if "ask" in value:
        given["ask"] = bool(integer(value["ask"], "ask", 1, 1))
    given["questions"] = parse_questions(value["questions"])
    given["fields"] = _fields(value["fields"], given["questions"], value["questions"], ask="ask" in value)
    if "sections" in value:
        given["sections"] = display.sections(value["sections"], given["questions"])
    if "completion" in value:
        given["completion"] = display.completion(value["completion"], "completion")
    if "tickets" in value:
        given["tickets"] = parse_tickets(value["tickets"], "tickets")
    survey = Survey(source=source, **given)
    if survey.length > LARGEST_BITS:
        raise DefinitionError("too_large", "fields", f"a report would have more than {LARGEST_BITS} bytes of bits")
    if "translations" in value:
        return replace(survey, translations=display.translations(value["translations"], survey, "translations"))
    return survey


def _fields(value: Any, questions: Sequence[Question], raws: Sequence[Any], *, ask: bool) -> tuple[Field, ...]:
    """The fields, which hold every question once; what a device may have to work is counted before it is done."""
    free = {question.id: place for place, question in enumerate(questions)}
    fields: list[Field] = []
    work = 0
    for i, raw in enumerate(items(value, "fields", 1)):
        path = f"fields[{i}]"
        check_keys(raw, path, ("mechanism", "questions"), ("chance",) if ask else ())
        chance = integer(raw["chance"], f"{path}.chance", 2, MOST_CHANCES) if "chance" in raw else 1
        places = [_place(name, free, f"{path}.questions[{k}]") for k, name in _named(raw["questions"], path)]
        if places != sorted(places):
            raise DefinitionError("bad_value", f"{path}.questions", "must be in the order of the questions")
        form, members = raw["mechanism"], tuple(questions[place] for place in places)
        size, effort = _size(form, members, f"{path}.mechanism")
        work += effort
        if work > MOST_WORK:
            raise DefinitionError("too_large", path, f"all fields together have more than {MOST_WORK} symbols")
        digest = hashlib.sha256(canonical.dumps({"mechanism": form, "questions": [raws[place] for place in places]}))
        size = sum(1 for _ in possible_cells(members)) if len(members) > 1 else size
        made = mechanisms.parse(form, size, f"{path}.mechanism")
        fields.append(Field(members, made, chance, digest.hexdigest()))
    if free:
        raise DefinitionError("bad_value", "fields", f"no field holds {next(iter(free))}")
    if sum(field.chance for field in fields) > MOST_CHANCES:
        raise DefinitionError("bad_value", "fields", f"the chances add up to more than {MOST_CHANCES}")
    return tuple(fields)


def _named(value: Any, path: str) -> Iterator[tuple[int, Any]]:
    return enumerate(items(value, f"{path}.questions", 1))


def _place(name: Any, free: dict[str, int], path: str) -> int:
    if not isinstance(name, str) or name not in free:
        raise DefinitionError("bad_value", path, "must be a question of no other field")
    return free.pop(name)


def _size(form: Any, questions: Sequence[Question], path: str) -> tuple[int, int]:
    """The size that a field's mechanism has to have, if it is one question's, and the symbols to look at."""
    mechanism = mechanisms.find_class(form)  # if there is none, `mechanisms.parse` says so
    size = prod(question.size for question in questions)
    if len(questions) > 1:
        if mechanism and not mechanism.fits_joint:
            raise DefinitionError("bad_mechanism", path, f"{mechanism.kind} is for one question alone")
        if size > MOST_CELLS:
            raise DefinitionError("too_large", path, f"a joint field has at most {MOST_CELLS} combinations")
    elif mechanism:
        return mechanism.fit(form, questions[0], path)
    return size, size
