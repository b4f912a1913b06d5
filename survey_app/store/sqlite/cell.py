"""A report as it lies in the file: the bytes of its cell, and where they are.

A table without row numbers is a tree of pages; a leaf holds one cell for each row: how long it is, the types of its
columns, then the columns themselves (https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format"). The
cell is made here from what the row holds, and looked for as a whole: if it is found, nothing else is in it.
"""

import mmap
from collections.abc import Sequence
from pathlib import Path

from survey_app.store.records import Cell

WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # types of integers, and their bytes
BLOB = 12  # the type of no bytes; two more for each byte


def cell_of(path: Path, survey: int, id: bytes, bits: bytes) -> Cell | None:
    """The cell of a report in this file; None if it is not there, as while it lies in the write-ahead log."""
    kind, number = _integer(survey)
    types = b"".join(map(_varint, (kind, BLOB + 2 * len(id), BLOB + 2 * len(bits))))
    head = bytes([len(types) + 1]) + types
    whole = len(head) + len(number) + len(id) + len(bits)
    columns = (("survey", number), ("id", id), ("bits", bits))
    parts = (("how many bytes follow", _varint(whole)), ("the types of the columns", head), *columns)
    at = _find(path, [part for _, part in parts])
    return None if at < 0 else Cell(at, tuple(part for part in parts if part[1]))


def _find(path: Path, parts: Sequence[bytes]) -> int:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(b"".join(parts))


def _integer(value: int) -> tuple[int, bytes]:
    """The type of a whole number, and its bytes: 0 and 1 are types of their own, and take none."""
    if value in (0, 1):
        return 8 + value, b""
    kind = next(kind for kind, width in WIDTHS.items() if -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1)
    return kind, value.to_bytes(WIDTHS[kind], "big", signed=True)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the most significant first; all but the last have their first bit set."""
    last, rest = bytes([value & 127]), value >> 7
    while rest:
        last, rest = bytes([rest & 127 | 128]) + last, rest >> 7
    return last
