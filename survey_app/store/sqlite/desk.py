"""What researchers have on their desk in the SQLite store: drafts of surveys, and the log of what they did."""

import sqlite3
from datetime import datetime

from survey_app.store import Event, Sketch, StoreError, now
from survey_app.store.sqlite.database import Database

MOST_SKETCHES = 1000


def note(connection: sqlite3.Connection, owner: int, slug: str, what: str) -> None:
    """Log what a researcher did, in the transaction that does it."""
    values = (owner, slug, now().isoformat(timespec="seconds"), what)
    connection.execute("insert into audit (owner, slug, moment, what) values (?, ?, ?, ?)", values)


class Desk(Database):
    """Drafts are the owner's own words; the log holds nothing about respondents."""

    def save_sketch(self, owner: int, source: bytes, key: int | None = None) -> int:
        """Keep an author's file, as a new one or in the place of an older one; its key."""
        with self._transaction() as connection:
            if key is None:
                count = connection.execute("select count(*) from sketches where owner = ?", (owner,)).fetchone()[0]
                if count >= MOST_SKETCHES:
                    raise StoreError(f"there are {count} drafts already; delete some")
                made = connection.execute("insert into sketches (owner, source) values (?, ?)", (owner, source))
                return int(made.lastrowid or 0)
            values = (source, key, owner)
            changed = connection.execute("update sketches set source = ? where key = ? and owner = ?", values)
            if not changed.rowcount:
                raise StoreError("this draft is gone")
            return key

    def sketch(self, owner: int, key: int) -> Sketch | None:
        """One draft of an owner."""
        row = self._one("select key, source from sketches where key = ? and owner = ?", key, owner)
        return row and Sketch(row[0], bytes(row[1]))

    def sketches(self, owner: int) -> list[Sketch]:
        """All drafts of an owner, the oldest first."""
        rows = self._all("select key, source from sketches where owner = ? order by key", owner)
        return [Sketch(key, bytes(source)) for key, source in rows]

    def delete_sketch(self, owner: int, key: int) -> None:
        """Throw a draft away."""
        with self._transaction() as connection:
            connection.execute("delete from sketches where key = ? and owner = ?", (key, owner))

    def record(self, owner: int, slug: str, what: str) -> None:
        """Log what a researcher did."""
        with self._transaction() as connection:
            note(connection, owner, slug, what)

    def events(self, owner: int, slug: str | None = None) -> list[Event]:
        """What an owner did, the newest first."""
        rows = self._all(
            "select slug, moment, what from audit where owner = ? and (? is null or slug = ?) order by key desc",
            owner,
            slug,
            slug,
        )
        return [Event(slug, datetime.fromisoformat(moment), what) for slug, moment, what in rows]
