"""Where the bits of each field stand in a report, and how reports are counted: a tally is all that estimates need.

Counts are sums of bits, so a tally can grow by batches and be added to another; whoever reads stored bits, or their
counts, asks here for their place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from client.definition import Field, Survey

MANY = 512
BYTE_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)

Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]  # packed, a row for each report


@dataclass(frozen=True)
class Tally:
    """How many reports, and how many ones in each stored bit."""

    reports: int
    counts: Counts

    @classmethod
    def empty(cls, survey: Survey) -> "Tally":
        """Of no report."""
        return cls(0, np.zeros(survey.width, dtype=np.int64))


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
        asked = at if survey.ask else None
        at += survey.ask
        yield Columns(field, at, at + field.mechanism.width, asked)
        at += field.mechanism.width


def columns_of(survey: Survey, question: str) -> Columns:
    """The columns of the field that holds a question."""
    return next(one for one in columns(survey) if any(member.id == question for member in one.field.questions))


def add_bits(counts: Counts, rows: Bits) -> None:
    """Add the stored bits of reports to counts, in place: a histogram of each byte, where there are many."""
    if len(rows) < MANY:
        counts += np.unpackbits(rows, axis=1, count=len(counts)).sum(axis=0, dtype=np.int64)
        return
    for place, column in enumerate(rows.T):
        part = counts[8 * place : 8 * place + 8]
        part += (np.bincount(column, minlength=256) @ BYTE_BITS)[: len(part)]


def rows_of(rows: Sequence[bytes]) -> Bits:
    """The bits of reports as the rows of an array."""
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)
