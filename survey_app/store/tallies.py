"""The tally of a survey, or of a part of it: what arrived, what is shown of it, and which reports are pending.

It changes in the transaction that stores, closes or deletes; `survey_app.store.steps` says what is shown. At every
moment total = shown + number of pending ids, and shown_counts are the ones in all reports but those. How it is kept is
each database's own affair.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from client.report import ID_BYTES
from survey_app.store.records import Submission
from survey_app.store.steps import stay
from survey_app.tally import Counts, Tally, add_bits, rows_of

COLUMNS = "total, counts, shown, shown_counts, pending"


class Row(NamedTuple):
    """COLUMNS, as they are kept."""

    total: int
    counts: bytes
    shown: int
    shown_counts: bytes
    pending: bytes

    @classmethod
    def empty(cls, width: int) -> "Row":
        """Of no report."""
        zeros = np.zeros(width, dtype=np.int64).tobytes()
        return cls(0, zeros, 0, zeros, b"")

    def grown(self, arrived: Sequence[Submission], bits_of: Callable[[Sequence[bytes]], Iterable[bytes]]) -> "Row":
        """With what arrived, and with what may be shown by now; `bits_of` finds those of earlier reports."""
        counts, total = counts_of(self.counts), self.total + len(arrived)
        add_bits(counts, rows_of([one.bits for one in arrived]))
        pending = [*ids_of(self.pending), *(one.id for one in arrived)]
        staying = stay(pending, final=False)
        grown = self._replace(total=total, counts=counts.tobytes(), pending=b"".join(staying))
        if len(staying) == len(pending):
            return grown
        hidden, kept = np.zeros_like(counts), set(staying)
        here = {one.id: one.bits for one in arrived if one.id in kept}
        earlier = [one for one in staying if one not in here]
        if staying:
            bits = [*(here[one] for one in staying if one in here), *(bits_of(earlier) if earlier else ())]
            add_bits(hidden, rows_of(bits))
        return grown._replace(shown=total - len(staying), shown_counts=(counts - hidden).tobytes())


def finished(row: Row) -> Row:
    """After the last step."""
    if stay(ids_of(row.pending), final=True):
        return row
    return row._replace(shown=row.total, shown_counts=row.counts, pending=b"")


def merged(rows: Sequence[Row]) -> Row:
    """The parts of a survey as one tally."""
    totals, counts, shown, shown_counts, pending = zip(*rows, strict=True)
    return Row(
        sum(totals),
        _sum(counts).tobytes(),
        sum(shown),
        _sum(shown_counts).tobytes(),
        b"".join(sorted(id for part in pending for id in ids_of(part))),
    )


def tally_of(rows: Sequence[tuple[int, bytes]]) -> Tally:
    """A number of reports and their counts, over all parts of a survey."""
    return Tally(sum(row[0] for row in rows), _sum([row[1] for row in rows]))


def _sum(parts: Sequence[bytes]) -> Counts:
    total: Counts = np.sum([counts_of(part) for part in parts], axis=0, dtype=np.int64)
    return total


def ids_of(blob: bytes) -> list[bytes]:
    """The ids in a row of them."""
    return [blob[i : i + ID_BYTES] for i in range(0, len(blob), ID_BYTES)]


def counts_of(blob: bytes) -> Counts:
    """Counts as they are kept."""
    return np.frombuffer(blob, dtype=np.int64).copy()
