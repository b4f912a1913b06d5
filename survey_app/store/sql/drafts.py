"""Drafts of surveys, and the log of what researchers did."""

from datetime import datetime

from survey_app.store.records import Draft, Event, StoreError, now
from survey_app.store.sql.base import Base, Connection

MOST_DRAFTS = 1000


class Log(Base):
    """What researchers did; it holds nothing about respondents."""

    def _note(
        self,
        connection: Connection,
        owner: int,
        slug: str,
        what: str,
        moment: str | None = None,
        by: int | None = None,
    ) -> None:
        """Log what a researcher did, in the transaction that does it; what a date did, with that date.

        The log is the owner's; `by` is who did it, if that was somebody else.
        """
        values = (owner, slug, moment or now().isoformat(timespec="seconds"), what)
        event = self._insert(connection, "insert into audit (owner, slug, moment, what) values (?, ?, ?, ?)", values)
        if by is not None and by != owner:
            connection.execute("insert into actors values (?, ?)", (event, by))

    def record(self, owner: int, slug: str, what: str, by: int | None = None) -> None:
        """Log what a researcher did; see `_note`."""
        with self._transaction() as connection:
            self._note(connection, owner, slug, what, by=by)

    def events(self, owner: int, slug: str | None = None) -> list[Event]:
        """What was done with the surveys of an owner, the newest first."""
        rows = self._all(
            "select slug, moment, what, coalesce(name, '') from audit left join actors on event = audit.key"
            ' left join users on users.key = "user" where owner = ? and (cast(? as text) is null or slug = ?)'
            " order by audit.key desc",
            owner,
            slug,
            slug,
        )
        return [Event(slug, datetime.fromisoformat(moment), what, by) for slug, moment, what, by in rows]


class Drafts(Base):
    """Drafts are the owner's own words."""

    def save_draft(self, owner: int, source: bytes, key: int | None = None) -> int:
        """Keep an author's file, as a new one or in the place of an older one; its key."""
        with self._transaction() as connection:
            if key is None:
                count = connection.execute("select count(*) from drafts where owner = ?", (owner,)).fetchone()[0]
                if count >= MOST_DRAFTS:
                    raise StoreError(f"there are {count} drafts already; delete some")
                return self._insert(connection, "insert into drafts (owner, source) values (?, ?)", (owner, source))
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
