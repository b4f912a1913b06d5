"""The positions and names of the bits in a report, and the tally: the counts of ones, all that estimates need.

Counts are sums of bits, so tallies can grow by batches and be added up. Large numbers of reports are summed before they
are counted: a carry-save adder turns three rows of bits into two, one of weight 1 and one of weight 2. It takes five
operations on whole machine words, and reduces 63 rows to six for the histograms.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor_client.definition import Field, Survey
from survey_app.channels import channel_of
from survey_app.channels.observations import Counts as Counts

HISTOGRAM_REPORTS = 512  # number of reports from which a histogram is faster than unpacking
ADDER_ROWS = 63  # rows that one adder sums: 2^6 − 1 rows leave one row of each weight
PART_BYTES = 2**15  # size of each row, so that the adder stays in the CPU cache
HELD_BYTES = 2**22  # bytes of reports to read at a time
CELLS = 2**21  # unpacked bits at a time; a sum of this many bits is exact in single precision
BYTE_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)

Bits = npt.NDArray[np.uint8]  # packed, a row for each report
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]
Cells = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tally:
    """The number of reports, and the number of ones in each stored bit."""

    reports: int
    counts: Counts

    @classmethod
    def empty(cls, survey: Survey) -> "Tally":
        """Return the tally of a survey without reports."""
        return cls(0, np.zeros(survey.width, dtype=np.int64))


@dataclass(frozen=True)
class Columns:
    """The columns of a field: its stored bits, and with `ask` the asked bit, which is 1 if the device answered it."""

    field: Field
    start: int
    stop: int
    asked_column: int | None

    @property
    def bit_slice(self) -> slice:
        """The columns of the field's own bits, without the asked bit."""
        return slice(self.start, self.stop)


def columns(survey: Survey) -> Iterator[Columns]:
    """Yield the columns of every field, in order."""
    position = 0
    for field in survey.fields:
        asked_column = position if survey.ask else None
        position += survey.ask
        yield Columns(field, position, position + field.mechanism.width, asked_column)
        position += field.mechanism.width


def columns_of(survey: Survey, question: str) -> Columns:
    """Return the columns of the field that contains a question, given its id."""
    return next(place for place in columns(survey) if any(member.id == question for member in place.field.questions))


def find_asked_bits(survey: Survey) -> Places:
    """Return for every stored bit the indices of two bits; either is 1 exactly on devices that were asked for the bit.

    With `ask` both are the asked bit of the field. For a drawn option they are the option's own two bits. Where every
    device is asked, both are −1. A bit that a device was not asked for is stored as 0, and is missing in the files of
    `candor export`.
    """
    places = np.full((survey.width, 2), -1, dtype=np.intp)
    for place in columns(survey):
        option_bits = channel_of(place.field.mechanism).asked_places()
        if option_bits is not None:
            places[place.bit_slice] = place.start + option_bits
        elif place.asked_column is not None:
            places[place.bit_slice] = place.asked_column
    return places


def mark_missing(indicators: Places, bits: Bits) -> Cells | None:
    """Return a mask of the bits in unpacked reports that their devices were not asked for.

    The first argument is the result of `find_asked_bits`. Return None if every device is asked everything.
    """
    if (indicators < 0).all():
        return None
    missing: Cells = (bits[:, indicators[:, 0]] | bits[:, indicators[:, 1]]) == 0
    missing[:, indicators[:, 0] < 0] = False
    return missing


def column_names(survey: Survey) -> list[str]:
    """Return a name for every stored bit, in order; names are unique even if case is ignored.

    Names are `cheated` for a plain yes or no, `help:notes` for one symbol, `help+fair:notes + Agree` for a cell of a
    joint field, `used:phone:no` and `used:phone:yes` for the two bits of a drawn option, `hours:30 h` for one level of
    a number, and `help:asked` for the asked bit where each device answers one field.
    """
    candidates: list[str] = []
    for place in columns(survey):
        name = "+".join(question.id for question in place.field.questions)
        candidates += [f"{name}:asked"] * (place.asked_column is not None)
        bits = channel_of(place.field.mechanism).bits(place.field)
        candidates += [f"{name}:{bit.name}" if bit.name else name for bit in bits]
    names: list[str] = []
    used: set[str] = set()
    for name in candidates:
        number, unique = 1, name
        while unique.casefold() in used:
            number += 1
            unique = f"{name} ({number})"
        used.add(unique.casefold())
        names.append(unique)
    return names


def add_bits(counts: Counts, rows: Bits) -> None:
    """Add the stored bits of reports to counts, in place."""
    if len(rows) < HISTOGRAM_REPORTS:
        counts += np.unpackbits(rows, axis=1, count=len(counts)).sum(axis=0, dtype=np.int64)
        return
    length = rows.shape[1]
    size = 8 * min(PART_BYTES // (8 * length), len(rows) // (8 * ADDER_ROWS))  # rows of a part: whole machine words
    start = 0
    while size and start + ADDER_ROWS * size <= len(rows):
        words = rows[start : start + ADDER_ROWS * size].reshape(-1).view(np.uint64)
        for weight, plane in _add_with_carry(list(words.reshape(ADDER_ROWS, -1))):
            _add_histograms(counts, plane.view(np.uint8).reshape(size, length), weight)
        start += ADDER_ROWS * size
    if start < len(rows):
        _add_histograms(counts, rows[start:], 1)


def _add_with_carry(parts: list[Words]) -> Iterator[tuple[int, Words]]:
    """Yield a few rows of bits, each with its weight, that add up to the same sums as many rows.

    A tree of carry-save adders computes them.
    """
    weight = 1
    while parts:
        carries = []
        while len(parts) > 2:
            a, b, c = parts.pop(), parts.pop(), parts.pop()
            half = a ^ b
            parts.append(half ^ c)
            carries.append(a & b | half & c)
        yield from ((weight, part) for part in parts)
        parts, weight = carries, 2 * weight


def _add_histograms(counts: Counts, rows: Bits, weight: int) -> None:
    for place, column in enumerate(rows.T):
        part = counts[8 * place : 8 * place + 8]
        part += weight * (np.bincount(column, minlength=256) @ BYTE_BITS)[: len(part)]


def add_pairs(pairs: Counts, rows: Bits) -> None:
    """Add to a square matrix, in place, the number of reports with ones in both bits of each pair."""
    width = len(pairs)
    size = max(1, CELLS // width)
    for start in range(0, len(rows), size):
        bits = np.unpackbits(rows[start : start + size], axis=1, count=width).astype(np.float32)
        pairs += np.rint(bits.T @ bits).astype(np.int64)


def rows_at_once(survey: Survey, most: int) -> int:
    """Return the number of reports to read at a time: `most`, or fewer if reports are long, to limit memory."""
    return max(1, min(most, HELD_BYTES // survey.length))


def stack_reports(rows: Sequence[bytes]) -> Bits:
    """Return the packed bits of reports as an array with a row for each report."""
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


def rebatch(rows: Iterable[Bits], size: int) -> Iterator[Bits]:
    """Yield the same rows in chunks of `size`; the last chunk may be smaller."""
    pending: list[Bits] = []
    count = 0
    for chunk in rows:
        while count + len(chunk) >= size:
            missing = size - count
            yield np.concatenate([*pending, chunk[:missing]])
            pending, count, chunk = [], 0, chunk[missing:]
        if len(chunk):
            pending.append(chunk)
            count += len(chunk)
    if pending:
        yield np.concatenate(pending)
