"""The bytes of a report's cell in the SQLite file, part by part.

A table without row numbers is a tree of pages. A leaf has one cell per row: its length, the types of its columns, then
the columns (https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format"). The cell is computed from the
values of the row, and a test finds these bytes in the file. The position of the cell is not revealed. A page is filled
in the order of arrival until the file is rewritten; after that, the position counts all earlier reports, even pending
ones.
"""

WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # types of integers, and their bytes
BLOB = 12  # the type of no bytes; two more for each byte


def encode_cell(survey: int, id: bytes, bits: bytes) -> list[tuple[str, bytes]]:
    """Return all parts of a report's cell, each with its description, in the order in which they are stored."""
    kind, number = _encode_integer(survey)
    types = b"".join(map(_encode_varint, (kind, BLOB + 2 * len(id), BLOB + 2 * len(bits))))
    head = bytes([len(types) + 1]) + types
    length = len(head) + len(number) + len(id) + len(bits)
    header = (("how many bytes follow", _encode_varint(length)), ("the types of the columns", head))
    return [part for part in (*header, ("survey", number), ("id", id), ("bits", bits)) if part[1]]


def _encode_integer(value: int) -> tuple[int, bytes]:
    """Return the type of an integer and its bytes; 0 and 1 have types of their own, and no bytes."""
    if value in (0, 1):
        return 8 + value, b""
    kind = next(kind for kind, width in WIDTHS.items() if -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1)
    return kind, value.to_bytes(WIDTHS[kind], "big", signed=True)


def _encode_varint(value: int) -> bytes:
    """Encode an integer with seven bits per byte, most significant first; all but the last have the top bit set."""
    last, rest = bytes([value & 127]), value >> 7
    while rest:
        last, rest = bytes([rest & 127 | 128]) + last, rest >> 7
    return last
