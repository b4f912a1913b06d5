"""The tally of a survey or of a shard of it: all reports, the shown reports and the ids of pending reports.

It changes in the transaction that stores, closes or deletes; `survey_app.store.steps` decides which reports are shown.
Reports that came one by one and reports that came in batches wait in two queues. Otherwise an owner could fill a batch
to push out the report of the one respondent who waits.

At every moment shown_counts are the ones in all reports outside both queues, and total = shown + the ids in both. The
exception is a survey with everything withheld and nothing shown yet. Its ids are not listed, since all are hidden. Each
database decides how to store a tally.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from candor_client.report import ID_BYTES
from survey_app.store.records import Hold, Submission
from survey_app.store.steps import STEP, choose_pending
from survey_app.tally import Counts, Tally, add_bits, stack_reports

COLUMNS = "total, counts, shown, shown_counts, pending, batched"
MARKS = ", ".join("?" * len(COLUMNS.split(", ")))
HIDDEN_COLUMNS = "shown, shown_counts, pending, batched"

BitsOf = Callable[[Sequence[bytes]], Iterable[bytes]]  # looks up the stored bits of some ids


class TallyRow(NamedTuple):
    """The values of COLUMNS, as they are stored."""

    total: int
    counts: bytes
    shown: int
    shown_counts: bytes
    pending: bytes
    batched: bytes

    @classmethod
    def empty(cls, width: int) -> "TallyRow":
        """Return the tally of no reports."""
        zeros = np.zeros(width, dtype=np.int64).tobytes()
        return cls(0, zeros, 0, zeros, b"", b"")

    def add_reports(self, submissions: Sequence[Submission], bits_of: BitsOf, *, batch: bool, hold: Hold) -> "TallyRow":
        """Return the tally with new reports added, and with all reports shown that may be shown by now.

        `bits_of` looks up the bits of earlier reports.
        """
        counts = decode_counts(self.counts)
        add_bits(counts, stack_reports([submission.bits for submission in submissions]))
        row = self._replace(total=self.total + len(submissions), counts=counts.tobytes())
        if hold is Hold.ALL:
            return row
        queued = [*split_ids(self.batched if batch else self.pending), *(submission.id for submission in submissions)]
        remaining = sorted(queued) if hold is Hold.REST else choose_pending(queued, final=False)
        queue = b"".join(remaining)
        row = row._replace(batched=queue) if batch else row._replace(pending=queue)
        if len(remaining) == len(queued):
            return row
        new_bits = {submission.id: submission.bits for submission in submissions}
        return row._show_unqueued(lambda ids: _look_up_bits(ids, new_bits, bits_of))

    def finish(self, bits_of: BitsOf) -> "TallyRow":
        """Return the tally after the last step.

        Each queue is shown if it holds at least a step, and otherwise never.
        """
        pending, batched = (
            b"".join(choose_pending(split_ids(queue), final=True)) for queue in (self.pending, self.batched)
        )
        if (pending, batched) == (self.pending, self.batched):
            return self
        return self._replace(pending=pending, batched=batched)._show_unqueued(bits_of)

    def reveal(self) -> "TallyRow":
        """Return the tally of a survey whose withheld reports are shown now.

        They are all shown if they are at least a step, and otherwise none.
        """
        if self.total - self.shown < STEP:
            return self
        return self._replace(shown=self.total, shown_counts=self.counts, pending=b"", batched=b"")

    def _show_unqueued(self, bits_of: BitsOf) -> "TallyRow":
        """Return the tally with all reports shown that are outside the queues."""
        ids = split_ids(self.pending + self.batched)
        counts = decode_counts(self.counts)
        hidden = np.zeros_like(counts)
        if ids:
            add_bits(hidden, stack_reports(list(bits_of(ids))))
        return self._replace(shown=self.total - len(ids), shown_counts=(counts - hidden).tobytes())


def _look_up_bits(ids: Sequence[bytes], new_bits: dict[bytes, bytes], bits_of: BitsOf) -> list[bytes]:
    """Return the bits of some ids, from the new reports or from earlier ones."""
    earlier = [id for id in ids if id not in new_bits]
    return [*(new_bits[id] for id in ids if id in new_bits), *(bits_of(earlier) if earlier else ())]


def merge_shards(rows: Sequence[TallyRow]) -> TallyRow:
    """Return the shards of a survey merged into one tally."""
    totals, counts, shown_totals, shown_counts, pending, batched = zip(*rows, strict=True)
    return TallyRow(
        sum(totals),
        _sum(counts).tobytes(),
        sum(shown_totals),
        _sum(shown_counts).tobytes(),
        b"".join(sorted(id for part in pending for id in split_ids(part))),
        b"".join(sorted(id for part in batched for id in split_ids(part))),
    )


def tally_of(rows: Sequence[tuple[int, bytes]]) -> Tally:
    """Return the number of reports and their counts, summed over all shards of a survey."""
    return Tally(sum(row[0] for row in rows), _sum([row[1] for row in rows]))


def hidden_ids(rows: Sequence[tuple[int, bytes, bytes, bytes]]) -> frozenset[bytes] | None:
    """Return the ids that no reader may see, from rows of HIDDEN_COLUMNS; None if all are hidden."""
    if not any(row[0] for row in rows):
        return None
    return frozenset(id for row in rows for queue in row[2:] for id in split_ids(queue))


def _sum(parts: Sequence[bytes]) -> Counts:
    total: Counts = np.sum([decode_counts(part) for part in parts], axis=0, dtype=np.int64)
    return total


def split_ids(blob: bytes) -> list[bytes]:
    """Split concatenated ids."""
    return [blob[i : i + ID_BYTES] for i in range(0, len(blob), ID_BYTES)]


def decode_counts(blob: bytes) -> Counts:
    """Decode stored counts."""
    return np.frombuffer(blob, dtype=np.int64).copy()
