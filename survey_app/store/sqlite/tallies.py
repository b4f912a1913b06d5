"""The tally of a survey in the SQLite store: one row; see `survey_app.store.tallies`."""

import sqlite3
from collections.abc import Iterable, Sequence

from survey_app.store.records import Submission
from survey_app.store.tallies import COLUMNS, Row, finished

WRITE = f"update tallies set ({COLUMNS}) = (?, ?, ?, ?, ?)"


def begin(connection: sqlite3.Connection, key: int, width: int) -> None:
    """The tally of a new survey."""
    connection.execute("insert into tallies values (?, ?, ?, ?, ?, ?, 0)", (key, *Row.empty(width)))


def grow(connection: sqlite3.Connection, key: int, arrived: Sequence[Submission]) -> None:
    """Count what arrived, and show what may be shown by now."""
    row = Row(*connection.execute(f"select {COLUMNS} from tallies where survey = ?", (key,)).fetchone())
    row = row.grown(arrived, lambda ids: [_bits(connection, key, one) for one in ids])
    connection.execute(f"{WRITE} where survey = ?", (*row, key))


def finish(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """The last step of surveys, for good."""
    for key in keys:
        query = f"select {COLUMNS} from tallies where survey = ? and final = 0"
        if row := connection.execute(query, (key,)).fetchone():
            connection.execute(f"{WRITE}, final = 1 where survey = ?", (*finished(Row(*row)), key))


def _bits(connection: sqlite3.Connection, key: int, id: bytes) -> bytes:
    row = connection.execute("select bits from reports where survey = ? and id = ?", (key, id)).fetchone()
    return bytes(row[0])
