"""The tally of a survey in the SQLite store: what arrived, what is shown of it, and which reports are pending.

It changes in the transaction that stores, closes or deletes; `survey_app.store.steps` says what is shown. At every
moment total = shown + number of pending ids, and shown_counts are the ones in all reports but those.
"""

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np

from client.report import ID_BYTES
from survey_app.store.records import Submission
from survey_app.store.steps import stay
from survey_app.tally import Counts, add_bits, rows_of


def begin(connection: sqlite3.Connection, key: int, width: int) -> None:
    """The tally of a new survey."""
    empty = np.zeros(width, dtype=np.int64).tobytes()
    connection.execute("insert into tallies values (?, 0, ?, 0, ?, x'', 0)", (key, empty, empty))


def grow(connection: sqlite3.Connection, key: int, arrived: Sequence[Submission]) -> None:
    """Count what arrived, and show what may be shown by now."""
    row = connection.execute("select total, counts, pending from tallies where survey = ?", (key,)).fetchone()
    counts, total = counts_of(row[1]), row[0] + len(arrived)
    add_bits(counts, rows_of([one.bits for one in arrived]))
    pending = [*ids_of(row[2]), *(one.id for one in arrived)]
    staying = stay(pending, final=False)
    connection.execute(
        "update tallies set total = ?, counts = ?, pending = ? where survey = ?",
        (total, counts.tobytes(), b"".join(staying), key),
    )
    if len(staying) == len(pending):
        return
    hidden, kept = np.zeros_like(counts), set(staying)
    known = {one.id: one.bits for one in arrived if one.id in kept}
    if staying:
        add_bits(hidden, rows_of([known.get(one) or _bits(connection, key, one) for one in staying]))
    connection.execute(
        "update tallies set shown = ?, shown_counts = ? where survey = ?",
        (total - len(staying), (counts - hidden).tobytes(), key),
    )


def finish(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """The last step of surveys, for good."""
    for key in keys:
        row = connection.execute("select pending from tallies where survey = ? and not final", (key,)).fetchone()
        if row is None:
            continue
        connection.execute("update tallies set final = 1 where survey = ?", (key,))
        if not stay(ids_of(row[0]), final=True):
            connection.execute(
                "update tallies set shown = total, shown_counts = counts, pending = x'' where survey = ?", (key,)
            )


def is_final(connection: sqlite3.Connection, key: int) -> bool:
    """Whether the last step was taken; also of a survey that is gone."""
    row = connection.execute("select final from tallies where survey = ?", (key,)).fetchone()
    return row is None or bool(row[0])


def total_of(connection: sqlite3.Connection, keys: Sequence[int]) -> int:
    """How many reports surveys have, in all: for quotas, never to be shown."""
    marks = ", ".join("?" * len(keys))
    row = connection.execute(f"select coalesce(sum(total), 0) from tallies where survey in ({marks})", keys).fetchone()
    return int(row[0])


def ids_of(blob: bytes) -> list[bytes]:
    """The ids in a row of them."""
    return [blob[i : i + ID_BYTES] for i in range(0, len(blob), ID_BYTES)]


def counts_of(blob: bytes) -> Counts:
    """Counts as they are kept."""
    return np.frombuffer(blob, dtype=np.int64).copy()


def _bits(connection: sqlite3.Connection, key: int, id: bytes) -> bytes:
    row = connection.execute("select bits from reports where survey = ? and id = ?", (key, id)).fetchone()
    return bytes(row[0])
