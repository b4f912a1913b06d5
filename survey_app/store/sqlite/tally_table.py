"""The tally of a survey in the SQLite store: one row; see `survey_app.store.tally_row`."""

import sqlite3
from collections.abc import Iterable, Sequence

from survey_app.store.records import Hold, Submission
from survey_app.store.tally_row import COLUMNS, MARKS, BitsOf, TallyRow

INSERT = f"insert into tallies (survey, {COLUMNS}, final) values (?, {MARKS}, ?)"
WRITE = f"update tallies set ({COLUMNS}) = ({MARKS})"


def create_tally(connection: sqlite3.Connection, key: int, width: int) -> None:
    """Insert the tally of a new survey."""
    connection.execute(INSERT, (key, *TallyRow.empty(width), 0))


def add_reports(
    connection: sqlite3.Connection, key: int, submissions: Sequence[Submission], *, batch: bool, hold: Hold
) -> None:
    """Add new reports to the tally of a survey, and show the reports that may be shown by now."""
    row = TallyRow(*connection.execute(f"select {COLUMNS} from tallies where survey = ?", (key,)).fetchone())
    row = row.add_reports(submissions, _bits_of(connection, key), batch=batch, hold=hold)
    connection.execute(f"{WRITE} where survey = ?", (*row, key))


def finish(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Take the last step of surveys, for good; withheld reports stay withheld."""
    for key in keys:
        query = f"select hold, {COLUMNS} from tallies join surveys on key = survey where survey = ? and final = 0"
        if stored := connection.execute(query, (key,)).fetchone():
            row = TallyRow(*stored[1:])
            row = row if stored[0] else row.finish(_bits_of(connection, key))
            connection.execute(f"{WRITE}, final = 1 where survey = ?", (*row, key))


def reveal(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Show the withheld reports of surveys."""
    for key in keys:
        row = TallyRow(*connection.execute(f"select {COLUMNS} from tallies where survey = ?", (key,)).fetchone())
        connection.execute(f"{WRITE} where survey = ?", (*row.reveal(), key))


def _bits_of(connection: sqlite3.Connection, key: int) -> BitsOf:
    query = "select bits from reports where survey = ? and id = ?"
    return lambda ids: [bytes(connection.execute(query, (key, id)).fetchone()[0]) for id in ids]
