"""The layout of plain text in a terminal: columns, and sentences wrapped to a width."""

import textwrap
from collections.abc import Sequence

WIDTH = 110


def format_table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Align rows in columns as wide as they need to be; those in `right` are right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def wrap_sentence(sentence: str, indent: str = "") -> list[str]:
    """Wrap a sentence into lines of the usual width, all of them indented."""
    return textwrap.wrap(sentence, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
