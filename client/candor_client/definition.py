"""The definition of a survey: public, immutable, identified by the SHA-256 of its bytes.

`Survey.from_json` refuses every malformed definition with the path to the fault. Each Survey it returns is well-formed.
`verify` checks whether the survey is private enough.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from candor_client import canonical, display, mechanisms
from candor_client.canonical import check_keys, parse_decimal, parse_integer, parse_list, parse_name, parse_text
from candor_client.display import Section, Translation
from candor_client.errors import DefinitionError
from candor_client.mechanisms import Mechanism
from candor_client.question import Question, find_oversized_questions, labels_of, parse_questions
from candor_client.ticket import Tickets, parse_tickets

FORMAT = "candor/2"
LARGEST_DEFINITION = 256_000
LARGEST_BITS = 47_000  # bytes of a report's bits
LARGEST_REPORT = 64_000  # bytes of the whole report as JSON, with a ticket
MOST_FIELDS = 4096
MOST_WORK = 2**20  # symbols that a device may have to process, over all fields
MOST_CELLS = 65_536  # combinations of one joint field, including impossible ones
MOST_CHANCES = 10**6

PROSE = ("description", "consent", "contact", "thanks")


@dataclass(frozen=True)
class Field:
    """A unit of randomization: one question, or the possible combinations of several.

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
        """The symbols of the questions, for each symbol of the field.

        It cannot be used for a multiple with the mechanism `drawn`, which has too many symbols.
        """
        return tuple(possible_cells(self.questions))

    @cached_property
    def symbols(self) -> Mapping[tuple[int, ...], int]:
        """The inverse of `cells`."""
        return {digits: symbol for symbol, digits in enumerate(self.cells)}

    def label(self, symbol: int) -> str:
        """Return the label of a symbol; for a joint field, the labels of each question."""
        digits = self.cells[symbol] if self.joint else (symbol,)
        return " + ".join(question.label(digit) for question, digit in zip(self.questions, digits, strict=True))


def possible_cells(questions: Sequence[Question]) -> Iterator[tuple[int, ...]]:
    """Yield the combinations that can occur, in order, the first question most significant.

    A question has no answer if another of these questions hides it. If its condition is on a question outside the
    field, every combination is possible.
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
    """A well-formed definition. `epsilon` is the claimed budget; `verify` computes the budget that is spent."""

    source: bytes = field(repr=False)
    slug: str
    title: str
    epsilon: Decimal
    questions: tuple[Question, ...]
    fields: tuple[Field, ...]
    ask: bool = False  # whether a device answers only one field, drawn at random
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
        """Return the survey of canonical bytes; raise DefinitionError with the path to the fault."""
        survey = cls.from_stored(source)
        for error in find_objections(survey):
            raise error
        return survey

    @classmethod
    def from_stored(cls, source: bytes) -> "Survey":
        """Parse a definition that a server may have published before 0.9.

        It skips `find_objections`. Only servers call it, never clients.
        """
        if len(source) > LARGEST_DEFINITION:
            raise DefinitionError("too_large", "", f"a definition may have at most {LARGEST_DEFINITION} bytes")
        return _parse_survey(canonical.loads(source), source)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the definition's bytes, in hexadecimal."""
        return hashlib.sha256(self.source).hexdigest()

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all questions."""
        return frozenset(question.id for question in self.questions)

    def question_ids_for(self, field_index: int) -> frozenset[str]:
        """Return the ids of the questions that a device asks for one field.

        These are the field's own questions and, as filters, the questions on which they depend.
        """
        ids = {question.id for question in self.fields[field_index].questions}
        for question in reversed(self.questions):
            if question.id in ids and question.show_if:
                ids.add(question.show_if.question)
        return frozenset(ids)

    def answer_probability(self, field: Field) -> Fraction:
        """Return the probability that a device answers a field: by its chance with `ask`, otherwise one."""
        return Fraction(field.chance, sum(other.chance for other in self.fields)) if self.ask else Fraction(1)

    @cached_property
    def width(self) -> int:
        """The number of stored bits of a report; with `ask`, each field is preceded by its asked bit."""
        return sum(field.mechanism.width + self.ask for field in self.fields)

    @cached_property
    def length(self) -> int:
        """The length of a report's bits in bytes."""
        return (self.width + 7) // 8


def find_objections(survey: Survey) -> Iterator[DefinitionError]:
    """Yield the errors that are new in 0.9: too many labels, too many fields, invisible characters."""
    yield from find_oversized_questions(survey.questions)
    if len(survey.fields) > MOST_FIELDS:
        yield DefinitionError(
            "too_large", "fields", f"has {len(survey.fields)} entries; at most {MOST_FIELDS} are allowed"
        )
    if canonical.INVISIBLE.search(survey.source.decode()) and (
        fault := canonical.find_invisible(canonical.loads(survey.source))
    ):
        yield DefinitionError("bad_value", *fault)


def _parse_survey(value: Any, source: bytes) -> Survey:
    optional = ("ask", "study", "group", "language", "sections", "completion", "translations", "tickets")
    check_keys(value, "", ("format", "slug", "title", "epsilon", "questions", "fields"), (*PROSE, *optional))
    if value["format"] != FORMAT:
        raise DefinitionError("bad_value", "format", f"must be {FORMAT!r}")
    values: dict[str, Any] = {key: parse_text(value[key], key) for key in ("title", *PROSE) if key in value}
    if "language" in value:
        values["language"] = display.parse_language(value["language"], "language", "en")
    values["slug"] = parse_name(value["slug"], "slug")
    if ("study" in value) != ("group" in value):
        raise DefinitionError("bad_value", "group", "study and group must be given together")
    if "study" in value:
        values |= {"study": parse_name(value["study"], "study"), "group": parse_text(value["group"], "group")}
        if not values["slug"].startswith(f"{values['study']}-"):
            raise DefinitionError("bad_value", "slug", f"must begin with {values['study']}-")
    values["epsilon"] = parse_decimal(value["epsilon"], "epsilon")
    if values["epsilon"] <= 0 or len(f"{values['epsilon']:f}".partition(".")[2]) > 12:
        raise DefinitionError("bad_value", "epsilon", "must be positive, with at most 12 decimals")
    if "ask" in value:
        values["ask"] = bool(parse_integer(value["ask"], "ask", 1, 1))
    values["questions"] = parse_questions(value["questions"])
    values["fields"] = _parse_fields(value["fields"], values["questions"], value["questions"], ask="ask" in value)
    if "sections" in value:
        values["sections"] = display.parse_sections(value["sections"], values["questions"])
    if "completion" in value:
        values["completion"] = display.parse_completion(value["completion"], "completion")
    if "tickets" in value:
        values["tickets"] = parse_tickets(value["tickets"], "tickets")
    survey = Survey(source=source, **values)
    if survey.length > LARGEST_BITS:
        raise DefinitionError("too_large", "fields", f"a report would have more than {LARGEST_BITS} bytes of bits")
    if "translations" in value:
        return replace(survey, translations=display.parse_translations(value["translations"], survey, "translations"))
    return survey


def _parse_fields(value: Any, questions: Sequence[Question], raws: Sequence[Any], *, ask: bool) -> tuple[Field, ...]:
    """Return the fields, which hold every question once; raise DefinitionError if they are malformed.

    The work of a device is estimated before any of it is done.
    """
    free = {question.id: place for place, question in enumerate(questions)}
    fields: list[Field] = []
    work = 0
    for i, raw in enumerate(parse_list(value, "fields", 1)):
        path = f"fields[{i}]"
        check_keys(raw, path, ("mechanism", "questions"), ("chance",) if ask else ())
        chance = parse_integer(raw["chance"], f"{path}.chance", 2, MOST_CHANCES) if "chance" in raw else 1
        places = [
            _claim_question(name, free, f"{path}.questions[{k}]")
            for k, name in _enumerate_names(raw["questions"], path)
        ]
        if places != sorted(places):
            raise DefinitionError("bad_value", f"{path}.questions", "must be in the order of the questions")
        form, members = raw["mechanism"], tuple(questions[place] for place in places)
        size, effort = _measure(form, members, f"{path}.mechanism")
        work += effort
        if work > MOST_WORK:
            raise DefinitionError("too_large", path, f"all fields together have more than {MOST_WORK} symbols")
        digest = hashlib.sha256(canonical.dumps({"mechanism": form, "questions": [raws[place] for place in places]}))
        size = sum(1 for _ in possible_cells(members)) if len(members) > 1 else size
        mechanism = mechanisms.parse(form, size, f"{path}.mechanism")
        fields.append(Field(members, mechanism, chance, digest.hexdigest()))
    if free:
        raise DefinitionError("bad_value", "fields", f"no field contains the question {next(iter(free))}")
    if sum(field.chance for field in fields) > MOST_CHANCES:
        raise DefinitionError("bad_value", "fields", f"the chances add up to more than {MOST_CHANCES}")
    return tuple(fields)


def _enumerate_names(value: Any, path: str) -> Iterator[tuple[int, Any]]:
    return enumerate(parse_list(value, f"{path}.questions", 1))


def _claim_question(name: Any, free: dict[str, int], path: str) -> int:
    if not isinstance(name, str) or name not in free:
        raise DefinitionError("bad_value", path, "must be a question that is in no other field")
    return free.pop(name)


def _measure(form: Any, questions: Sequence[Question], path: str) -> tuple[int, int]:
    """Return the size that a one-question field's mechanism must have, and the number of symbols to process."""
    mechanism = mechanisms.find_class(form)  # if there is none, `mechanisms.parse` raises an error
    size = prod(question.size for question in questions)
    if len(questions) > 1:
        if mechanism and not mechanism.fits_joint:
            raise DefinitionError("bad_mechanism", path, f"{mechanism.kind} is for a single question")
        if size > MOST_CELLS:
            raise DefinitionError("too_large", path, f"a joint field may have at most {MOST_CELLS} combinations")
    elif mechanism:
        return mechanism.fit(form, questions[0], path)
    return size, size
