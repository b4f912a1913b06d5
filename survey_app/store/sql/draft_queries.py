"""Queries on drafts of surveys, and on the log of researchers' actions."""

from datetime import datetime

from survey_app.store.audit_events import NO_DATA, Event, EventCode, EventData, decode_data, encode_data
from survey_app.store.records import Draft, StoreError, now
from survey_app.store.sql.dialect import Base, Connection

MOST_DRAFTS = 1000


class Log(Base):
    """The log of researchers' actions; it holds nothing about respondents."""

    def _log(
        self,
        connection: Connection,
        owner: int,
        slug: str,
        code: EventCode,
        data: EventData = NO_DATA,
        *,
        moment: str | None = None,
        by: int | None = None,
    ) -> None:
        """Log an event in the transaction that causes it; an event due at a date is logged with that date.

        The log belongs to the owner; `by` is the account that acted, if it was not the owner.
        """
        values = (owner, slug, moment or now().isoformat(timespec="seconds"), code.value, encode_data(data))
        query = "insert into audit (owner, slug, moment, code, data) values (?, ?, ?, ?, ?)"
        event = self._insert(connection, query, values)
        if by is not None and by != owner:
            connection.execute("insert into actors values (?, ?)", (event, by))

    def record(
        self, owner: int, slug: str, code: EventCode, data: EventData = NO_DATA, *, by: int | None = None
    ) -> None:
        """Log an event; see `_log`."""
        with self._transaction() as connection:
            self._log(connection, owner, slug, code, data, by=by)

    def events(self, owner: int, slug: str | None = None) -> list[Event]:
        """Return the events of the surveys of an owner, the newest first."""
        rows = self._fetch_all(
            "select slug, moment, code, data, coalesce(name, '') from audit left join actors on event = audit.key"
            ' left join users on users.key = "user" where owner = ? and (cast(? as text) is null or slug = ?)'
            " order by audit.key desc",
            owner,
            slug,
            slug,
        )
        return [
            Event(slug, datetime.fromisoformat(moment), EventCode(code), decode_data(data), by)
            for slug, moment, code, data, by in rows
        ]


class Drafts(Base):
    """The drafts of each owner."""

    def save_draft(self, owner: int, source: bytes, key: int | None = None) -> int:
        """Save an author's file as a new draft, or in place of an older one; return its key.

        Raise StoreError if the owner has too many drafts, or if the older one is gone.
        """
        with self._transaction() as connection:
            if key is None:
                count = connection.execute("select count(*) from drafts where owner = ?", (owner,)).fetchone()[0]
                if count >= MOST_DRAFTS:
                    raise StoreError(f"there are already {count} drafts; delete some")
                return self._insert(connection, "insert into drafts (owner, source) values (?, ?)", (owner, source))
            values = (source, key, owner)
            cursor = connection.execute("update drafts set source = ? where key = ? and owner = ?", values)
            if not cursor.rowcount:
                raise StoreError("this draft no longer exists")
            return key

    def draft(self, owner: int, key: int) -> Draft | None:
        """Return one draft of an owner, or None."""
        row = self._fetch_one("select key, source from drafts where key = ? and owner = ?", key, owner)
        return row and Draft(row[0], bytes(row[1]))

    def drafts(self, owner: int) -> list[Draft]:
        """Return all drafts of an owner, the oldest first."""
        rows = self._fetch_all("select key, source from drafts where owner = ? order by key", owner)
        return [Draft(key, bytes(source)) for key, source in rows]

    def delete_draft(self, owner: int, key: int) -> None:
        """Delete a draft."""
        with self._transaction() as connection:
            connection.execute("delete from drafts where key = ? and owner = ?", (key, owner))
