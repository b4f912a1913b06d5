"""Where the bits of each field stand in a report; one place for everyone who reads stored bits or their counts."""

from collections.abc import Iterator
from dataclasses import dataclass

from client.definition import Field, Survey


@dataclass(frozen=True)
class Columns:
    """A field, its stored bits, and with `ask` the column that tells whether it was asked."""

    field: Field
    start: int
    stop: int
    asked: int | None

    @property
    def part(self) -> slice:
        """The field's own bits, without the asked bit."""
        return slice(self.start, self.stop)


def columns(survey: Survey) -> Iterator[Columns]:
    """The columns of every field, in order."""
    at = 0
    for field in survey.fields:
        asked = at if survey.ask is not None else None
        at += survey.ask is not None
        yield Columns(field, at, at + field.mechanism.width, asked)
        at += field.mechanism.width


def columns_of(survey: Survey, question: str) -> Columns:
    """The columns of the field that holds a question."""
    return next(one for one in columns(survey) if any(member.id == question for member in one.field.questions))
