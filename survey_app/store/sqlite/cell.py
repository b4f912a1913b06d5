"""A report as it lies in the file: the bytes of its cell, part by part.

A table without row numbers is a tree of pages; a leaf holds one cell for each row: how long it is, the types of its
columns, then the columns themselves (https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format"). The
cell follows from what the row holds, and a test finds it in the file as a whole. Where it lies is not told: a page is
filled in the order of arrival until the file is tidied, and then the place counts all reports before it, also pending.
"""

WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # types of integers, and their bytes
BLOB = 12  # the type of no bytes; two more for each byte


def cell(survey: int, id: bytes, bits: bytes) -> list[tuple[str, bytes]]:
    """The parts of a report's cell, each with what it is; together they are all that is kept of it."""
    kind, number = _integer(survey)
    types = b"".join(map(_varint, (kind, BLOB + 2 * len(id), BLOB + 2 * len(bits))))
    head = bytes([len(types) + 1]) + types
    whole = len(head) + len(number) + len(id) + len(bits)
    told = (("how many bytes follow", _varint(whole)), ("the types of the columns", head))
    return [part for part in (*told, ("survey", number), ("id", id), ("bits", bits)) if part[1]]


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
