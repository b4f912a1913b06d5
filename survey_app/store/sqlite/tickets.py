"""The file of a ticket issuer: hashes of codes, keys, and which codes took a ticket; never when, or in which order.

It uses a *rollback* journal, not a WAL. A WAL stores one commit after the other; compared with the WAL of the reports,
the two orders would reveal who sent which report. Here a page is overwritten in place and the journal is truncated. The
row of an invitation is created with the invitation, with space for the SHA-256 of the blinded message. So taking a
ticket changes 32 bytes and moves nothing; `tests/store/test_tickets.py` compares the bytes. A code belongs to a slug. A
ticket belongs to a code and a definition, so an invited person may answer the next version too.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from candor_client.ticket import MODULUS_BYTES
from survey_app.store.records import Key, StoreError, Unavailable
from survey_app.store.sqlite.database import LOCK_SECONDS
from survey_app.store.sqlite.sqlite_file import SqliteFile, write_transaction

if TYPE_CHECKING:
    import sqlite_utils

IDENTITY = {"application_id": 0x43544B54, "user_version": 1}  # "CTKT": distinguishes this file from other files
KEY_OF = "select key from keys where digest = ?"
HAS_PRIVATE = f"private != zeroblob({MODULUS_BYTES})"  # the private key was not destroyed
FREE, SPENT = bytes(32), b"\x01" * 32  # in place of a hash: no ticket taken; ticket taken, hash destroyed

SCHEMA = """
create table codes (slug text not null, hash blob not null, primary key (slug, hash)) without rowid;
create table keys (key integer primary key autoincrement, slug text not null, modulus blob not null unique,
    private blob not null, digest text unique, definition blob, address text);
create table taken (key integer not null references keys, hash blob not null, message blob not null,
    primary key (key, hash)) without rowid;
"""


class MarkOutcome(Enum):
    """The outcome of marking a code with a blinded message."""

    FIRST_MESSAGE = "made"  # the first message, now on disk
    SAME_MESSAGE = "again"  # the code is marked with the same message
    OTHER_MESSAGE = "other"  # the code is marked with another message
    UNKNOWN_CODE = "unknown"


class KeyRecord(NamedTuple):
    """A stored key, with the digest of its definition, or None if it has no definition yet.

    `definition` and `address` are set if another server published the survey.
    """

    key: int
    slug: str
    modulus: int
    digest: str | None
    definition: bytes | None
    address: str | None


class TicketFile(SqliteFile):
    """The codes, the keys, and which codes have taken a ticket. Each thread has its own connection."""

    PRAGMAS: ClassVar = {
        "journal_mode": "truncate",
        "synchronous": "extra",
        "secure_delete": "on",
        "temp_store": "memory",
        "foreign_keys": "on",
    }
    NAME = "the tickets file"
    is_available = True  # whether this server has a ticket file

    @contextmanager
    def _transaction(self) -> Iterator["sqlite_utils.Database"]:
        """Open a writing transaction, alone among all processes.

        Raise Unavailable if it cannot be made durable.
        """
        try:
            with write_transaction((database := self._database).conn):
                yield database
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._fail(error) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Prevent others from publishing or ending surveys: a key is stored a moment before its survey.

        Raise Unavailable if another process holds the lock for too long.
        """
        with self._lock.hold(LOCK_SECONDS):
            yield

    def migrate(self) -> None:
        """Create the file and its tables if there are none; safe to call at every start.

        Raise StoreError if the file cannot be opened, or is not a tickets file of this version.
        """
        try:
            self._create(Path(f"{self.path}-journal"))
            database = self._database
            application, version = (database.execute(f"pragma {name}").fetchone()[0] for name in IDENTITY)
            if (application, version) == (0, 0) and not database.table_names():
                with self.lock(), write_transaction(database.conn):
                    if not database.table_names():
                        database.executescript(SCHEMA)
                        for name, value in IDENTITY.items():
                            database.execute(f"pragma {name}={value}")
            elif (application, version) != tuple(IDENTITY.values()):
                raise StoreError(
                    f"{self.path} is not a tickets file that this version of Candor can read; it was not changed"
                )
        except (OSError, sqlite3.DatabaseError, Unavailable) as error:
            raise StoreError(f"cannot open the tickets file {self.path}: {error}") from error
        finally:
            self.close()

    # keys

    def add_key(self, slug: str, key: Key, digest: str | None = None) -> None:
        """Store a key for a definition, with a row for every invitation of its slug.

        Without a digest, the key waits for a definition; see `bind`.
        """
        with self._transaction() as database:
            modulus = key.modulus.to_bytes(MODULUS_BYTES, "big")
            keys = database.table("keys")
            keys.insert({"slug": slug, "modulus": modulus, "private": key.to_bytes(), "digest": digest})
            if digest is not None:
                _add_invitations(database, int(keys.last_pk or 0), slug)

    def bind(self, record: KeyRecord, digest: str, definition: bytes, address: str) -> None:
        """Assign a definition of another server to a waiting key, and destroy the earlier keys of the slug."""
        with self._transaction() as database:
            _destroy(database, "slug = ? and digest is not null and key != ?", record.slug, record.key)
            values = {"digest": digest, "definition": definition, "address": address}
            database.table("keys").update(record.key, values)
            _add_invitations(database, record.key, record.slug)

    def active_keys(self, slug: str | None = None) -> list[KeyRecord]:
        """Return the keys that can sign, of one slug or of all slugs, the oldest first."""
        condition = f"{HAS_PRIVATE} and slug = coalesce(?, slug)"
        rows = self._rows("keys", condition, slug, select=", ".join(KeyRecord._fields), order_by="key")
        return [KeyRecord(**row | {"modulus": int.from_bytes(row["modulus"], "big")}) for row in rows]

    def private_key(self, digest: str) -> tuple[int, Key] | None:
        """Return the row number and the private key of a definition; None if it has none, or if it was destroyed."""
        for row in self._rows("keys", "digest = ?", digest):
            return (row["key"], Key.from_bytes(row["private"])) if any(row["private"]) else None
        return None

    def drop_key(self, digest: str) -> None:
        """Delete the key of a definition that was not published, and its tickets."""
        with self._transaction() as database:
            database.table("taken").delete_where(f"key in ({KEY_OF})", [digest])
            database.table("keys").delete_where("digest = ?", [digest])

    def destroy_key(self, digest: str) -> None:
        """Destroy the private key of a definition and the hashes of signed messages; keep which codes took one."""
        with self._transaction() as database:
            _destroy(database, "digest = ?", digest)

    def delete_slug(self, slug: str) -> None:
        """Delete all keys, codes and tickets of a slug."""
        with self._transaction() as database:
            database.table("taken").delete_where("key in (select key from keys where slug = ?)", [slug])
            for name in ("keys", "codes"):
                database.table(name).delete_where("slug = ?", [slug])

    def slugs(self) -> list[str]:
        """Return every slug that has keys or codes, sorted."""
        return [slug for (slug,) in self._fetch_all("select slug from keys union select slug from codes order by slug")]

    # codes

    def invite(self, slug: str, hashes: Sequence[bytes]) -> None:
        """Store the hashes of new codes, sorted, with a row for each definition that tickets are signed for."""
        with self._transaction() as database:
            ordered = sorted(hashes)
            database.table("codes").insert_all({"slug": slug, "hash": hashed} for hashed in ordered)
            active = f"slug = ? and digest is not null and {HAS_PRIVATE}"
            for row in list(database.table("keys").rows_where(active, [slug], select="key")):
                unused = ({"key": row["key"], "hash": hashed, "message": FREE} for hashed in ordered)
                database.table("taken").insert_all(unused)

    def is_invited(self, key: int, code: bytes) -> bool:
        """Return whether a code may take a ticket, or has taken one, for the definition with this key."""
        return bool(self._rows("taken", "key = ? and hash = ?", key, code))

    def mark(self, key: int, code: bytes, message: bytes) -> MarkOutcome:
        """Mark a code as used with the hash of a blinded message, and return the outcome; on return it is on disk.

        Raise Unavailable if it cannot be stored.
        """
        with self._transaction() as database:
            taken = database.table("taken")
            row = next(taken.rows_where("key = ? and hash = ?", [key, code]), None)
            if row is None:
                return MarkOutcome.UNKNOWN_CODE
            if row["message"] != FREE:
                return MarkOutcome.SAME_MESSAGE if row["message"] == message else MarkOutcome.OTHER_MESSAGE
            taken.update((key, code), {"message": message})
        return MarkOutcome.FIRST_MESSAGE

    def invitations(self, digest: str) -> dict[bytes, bool]:
        """Return, for the hash of every code invited to a definition, whether it has taken a ticket."""
        rows = self._rows("taken", f"key in ({KEY_OF})", digest)
        return {bytes(row["hash"]): row["message"] != FREE for row in rows}

    def count_invitations(self, digest: str) -> tuple[int, int]:
        """Return how many codes are invited to answer a definition, and how many of them have taken a ticket."""
        query = f"select count(*), coalesce(sum(message != ?), 0) from taken where key in ({KEY_OF})"
        invited, taken = self._fetch_one(query, FREE, digest)
        return int(invited), int(taken)

    def _rows(
        self, table: str, condition: str, *values: Any, select: str = "*", order_by: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of a table that meet a condition. Raise Unavailable if the file cannot be read."""
        try:
            return list(self._database.table(table).rows_where(condition, values, select=select, order_by=order_by))
        except sqlite3.DatabaseError as error:
            raise self._fail(error) from error


def _add_invitations(database: "sqlite_utils.Database", key: int, slug: str) -> None:
    query = "insert into taken select ?, hash, ? from codes where slug = ? order by hash"
    database.execute(query, (key, FREE, slug))


def _destroy(database: "sqlite_utils.Database", condition: str, *values: Any) -> None:
    """Destroy the private keys of the definitions that meet a condition, and the hashes of the messages they signed."""
    keys = database.table("keys")
    for row in list(keys.rows_where(condition, values, select="key")):
        keys.update(row["key"], {"private": bytes(MODULUS_BYTES)})
        database.execute("update taken set message = ? where key = ? and message != ?", (SPENT, row["key"], FREE))
