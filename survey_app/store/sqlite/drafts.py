"""Drafts of surveys in the SQLite store, and the log of what researchers did."""

import sqlite3
from datetime import datetime

from survey_app.store.records import Draft, Event, StoreError, now
from survey_app.store.sqlite.database import Database

MOST_DRAFTS = 1000


def note(connection: sqlite3.Connection, owner: int, slug: str, what: str, moment: str | None = None) -> None:
    """Log what a researcher did, in the transaction that does it; what a date did, with that date."""
    values = (owner, slug, moment or now().isoformat(timespec="seconds"), what)
    connection.execute("insert into audit (owner, slug, moment, what) values (?, ?, ?, ?)", values)


class Drafts(Database):
    """Drafts are the owner's own words; the log holds nothing about respondents."""

    def save_draft(self, owner: int, source: bytes, key: int | None = None) -> int:
        """Keep an author's file, as a new one or in the place of an older one; its key."""
        with self._transaction() as connection:
            if key is None:
                count = connection.execute("select count(*) from drafts where owner = ?", (owner,)).fetchone()[0]
                if count >= MOST_DRAFTS:
                    raise StoreError(f"there are {count} drafts already; delete some")
                made = connection.execute("insert into drafts (owner, source) values (?, ?)", (owner, source))
                return int(made.lastrowid or 0)
            values = (source, key, owner)
            changed = connection.execute("update drafts set source = ? where key = ? and owner = ?", values)
            if not changed.rowcount:
                raise StoreError("this draft is gone")
            return key

    def draft(self, owner: int, key: int) -> Draft | None:
        """One draft of an owner."""
        row = self._one("select key, source from drafts where key = ? and owner = ?", key, owner)
        return row and Draft(row[0], bytes(row[1]))

    def drafts(self, owner: int) -> list[Draft]:
        """All drafts of an owner, the oldest first."""
        rows = self._all("select key, source from drafts where owner = ? order by key", owner)
        return [Draft(key, bytes(source)) for key, source in rows]

    def delete_draft(self, owner: int, key: int) -> None:
        """Throw a draft away."""
        with self._transaction() as connection:
            connection.execute("delete from drafts where key = ? and owner = ?", (key, owner))

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
