"""Where the bits of each field stand in a report and what they are called, and how reports are counted: a tally is all
that estimates need.

Counts are sums of bits, so a tally can grow by batches and be added to another; whoever reads stored bits, or their
counts, asks here for their place. Very many reports are added up before they are counted: of three rows of bits a
carry-save adder makes two, one that weighs 1 and one that weighs 2, with five operations on whole machine words, so
that of 63 rows six are left for the histograms.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor_client.definition import Field, Survey
from survey_app.channels import channel_of
from survey_app.channels.observations import Counts as Counts

MANY = 512  # reports from which a histogram is faster than unpacking
PARTS = 63  # rows that are added up: 2^6 − 1 leave one of each weight
PART_BYTES = 2**15  # of each, so that an adder stays in the cache
HELD_BYTES = 2**22  # of reports that are read at once
CELLS = 2**21  # unpacked bits at once; a sum of so few is exact in single precision
BYTE_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)

Bits = npt.NDArray[np.uint8]  # packed, a row for each report
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]
Cells = npt.NDArray[np.bool_]


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


def asked_bits(survey: Survey) -> Places:
    """Return for every stored bit two bits, one of which is 1 on a device that was asked for it; −1 where all are.

    With `ask` that is the asked bit of the field, twice; of an option that is drawn, its own two bits. A bit that a
    device was not asked for is stored as 0, and is missing in the files of `candor export`.
    """
    places = np.full((survey.width, 2), -1, dtype=np.intp)
    for at in columns(survey):
        own = channel_of(at.field.mechanism).asked_places()
        if own is not None:
            places[at.part] = at.start + own
        elif at.asked is not None:
            places[at.part] = at.asked
    return places


def missing_cells(asked: Places, bits: Bits) -> Cells | None:
    """Mark the cells of unpacked reports that their devices were not asked for; None where every device is asked."""
    if (asked < 0).all():
        return None
    missing: Cells = (bits[:, asked[:, 0]] | bits[:, asked[:, 1]]) == 0
    missing[:, asked[:, 0] < 0] = False
    return missing


def column_names(survey: Survey) -> list[str]:
    """A name for every stored bit, in order; no two are alike, also where capitals do not count.

    `cheated` for a plain yes or no, `help:notes` for one symbol, `help+fair:notes + Agree` for a cell of a joint field,
    `used:phone:no` and `used:phone:yes` for the two bits of an option that is drawn, `hours:30 h` for one level of a
    number, `help:asked` for the asked bit where each device answers one field.
    """
    wanted: list[str] = []
    for at in columns(survey):
        name = "+".join(question.id for question in at.field.questions)
        wanted += [f"{name}:asked"] * (at.asked is not None)
        bits = channel_of(at.field.mechanism).bits(at.field)
        wanted += [f"{name}:{bit.name}" if bit.name else name for bit in bits]
    names: list[str] = []
    taken: set[str] = set()
    for name in wanted:
        number, free = 1, name
        while free.casefold() in taken:
            number += 1
            free = f"{name} ({number})"
        taken.add(free.casefold())
        names.append(free)
    return names


def add_bits(counts: Counts, rows: Bits) -> None:
    """Add the stored bits of reports to counts, in place."""
    if len(rows) < MANY:
        counts += np.unpackbits(rows, axis=1, count=len(counts)).sum(axis=0, dtype=np.int64)
        return
    length = rows.shape[1]
    size = 8 * min(PART_BYTES // (8 * length), len(rows) // (8 * PARTS))  # rows of a part: whole machine words
    at = 0
    while size and at + PARTS * size <= len(rows):
        words = rows[at : at + PARTS * size].reshape(-1).view(np.uint64)
        for weight, plane in _planes(list(words.reshape(PARTS, -1))):
            _add_histograms(counts, plane.view(np.uint8).reshape(size, length), weight)
        at += PARTS * size
    if at < len(rows):
        _add_histograms(counts, rows[at:], 1)


def _planes(parts: list[Words]) -> Iterator[tuple[int, Words]]:
    """Few rows of bits, each with its weight, that add up to what many do: a tree of carry-save adders."""
    weight = 1
    while parts:
        carried = []
        while len(parts) > 2:
            a, b, c = parts.pop(), parts.pop(), parts.pop()
            half = a ^ b
            parts.append(half ^ c)
            carried.append(a & b | half & c)
        yield from ((weight, part) for part in parts)
        parts, weight = carried, 2 * weight


def _add_histograms(counts: Counts, rows: Bits, weight: int) -> None:
    for place, column in enumerate(rows.T):
        part = counts[8 * place : 8 * place + 8]
        part += weight * (np.bincount(column, minlength=256) @ BYTE_BITS)[: len(part)]


def add_pairs(pairs: Counts, rows: Bits) -> None:
    """Add to a square of counts, in place, how many reports have a one in both of two bits."""
    width = len(pairs)
    size = max(1, CELLS // width)
    for start in range(0, len(rows), size):
        bits = np.unpackbits(rows[start : start + size], axis=1, count=width).astype(np.float32)
        pairs += np.rint(bits.T @ bits).astype(np.int64)


def rows_at_once(survey: Survey, most: int) -> int:
    """Return how many reports to read at once: `most`, or fewer of long ones, whose bytes would fill the memory."""
    return max(1, min(most, HELD_BYTES // survey.length))


def rows_of(rows: Sequence[bytes]) -> Bits:
    """The bits of reports as the rows of an array."""
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


def blocks(rows: Iterable[Bits], size: int) -> Iterator[Bits]:
    """The same rows, `size` at a time."""
    waiting: list[Bits] = []
    count = 0
    for chunk in rows:
        while count + len(chunk) >= size:
            missing = size - count
            yield np.concatenate([*waiting, chunk[:missing]])
            waiting, count, chunk = [], 0, chunk[missing:]
        if len(chunk):
            waiting.append(chunk)
            count += len(chunk)
    if waiting:
        yield np.concatenate(waiting)
