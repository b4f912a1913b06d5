"""The file of a ticket issuer: hashes of codes, keys, and which codes took a ticket; never when, or in which order.

It uses a *rollback* journal, not a WAL. A WAL stores one commit after the other; compared with the WAL of the reports,
the two orders would reveal who sent which report. Here a page is overwritten in place and the journal is truncated. The
row of an invitation is created with the invitation, with space for the SHA-256 of the blinded message. So taking a
ticket changes 32 bytes and moves nothing; `tests/store/test_tickets.py` compares the bytes. A code belongs to a slug. A
ticket belongs to a code and a definition, so an invited person may answer the next version too.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from candor_client.ticket import MODULUS_BYTES
from survey_app.store.records import Key, StoreError, Unavailable
from survey_app.store.sqlite.database import LOCK_SECONDS, connect, write_transaction
from survey_app.store.sqlite.lock import OWNER_ONLY, Lock, restrict_access

APPLICATION, VERSION = 0x43544B54, 1  # "CTKT": distinguishes this file from our other files
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


class TicketFile:
    """The codes, the keys, and which codes have taken a ticket. Each thread has its own connection."""

    journal = "truncate"
    is_available = True  # whether this server has a ticket file

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = Lock(path)

    # connections

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path)
            connection.executescript(
                f"pragma journal_mode={self.journal}; pragma synchronous=extra; pragma secure_delete=on;"
                " pragma temp_store=memory; pragma foreign_keys=on;"
            )
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a writing transaction, alone among all processes.

        Raise Unavailable if it cannot be made durable.
        """
        try:
            with write_transaction(self._connection) as connection:
                yield connection
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            self.close()
            raise Unavailable(f"the tickets file: {error}") from error

    def _fetch_all(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            self.close()
            raise Unavailable(f"the tickets file: {error}") from error

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

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
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
            restrict_access(self.path, Path(f"{self.path}-journal"))
            application, version = (
                self._fetch_all(f"pragma {name}")[0][0] for name in ("application_id", "user_version")
            )
            if (application, version) == (0, 0) and not self._fetch_all("select 1 from sqlite_schema limit 1"):
                marks = f"pragma application_id={APPLICATION}; pragma user_version={VERSION}"
                with self.lock():
                    if not self._fetch_all("select 1 from sqlite_schema limit 1"):
                        self._connection.executescript(f"begin immediate; {SCHEMA} {marks}; commit;")
            elif (application, version) != (APPLICATION, VERSION):
                raise StoreError(f"{self.path} is no file of tickets that this Candor reads; it was not changed")
        except (OSError, sqlite3.DatabaseError, Unavailable) as error:
            raise StoreError(f"cannot open the tickets file {self.path}: {error}") from error
        finally:
            self.close()

    # keys

    def add_key(self, slug: str, key: Key, digest: str | None = None) -> None:
        """Store a key for a definition, with a row for every invitation of its slug.

        Without a digest, the key waits for a definition; see `bind`.
        """
        with self._transaction() as connection:
            modulus = key.modulus.to_bytes(MODULUS_BYTES, "big")
            cursor = connection.execute(
                "insert into keys (slug, modulus, private, digest) values (?, ?, ?, ?)",
                (slug, modulus, key.to_bytes(), digest),
            )
            if digest is not None:
                _add_invitations(connection, int(cursor.lastrowid or 0), slug)

    def bind(self, record: KeyRecord, digest: str, definition: bytes, address: str) -> None:
        """Assign a definition of another server to a waiting key, and destroy the earlier keys of the slug."""
        with self._transaction() as connection:
            query = "select key from keys where slug = ? and digest is not null and key != ?"
            for (earlier,) in connection.execute(query, (record.slug, record.key)).fetchall():
                _destroy(connection, earlier)
            values = (digest, definition, address, record.key)
            connection.execute("update keys set digest = ?, definition = ?, address = ? where key = ?", values)
            _add_invitations(connection, record.key, record.slug)

    def active_keys(self, slug: str | None = None) -> list[KeyRecord]:
        """Return the keys that can sign, of one slug or of all slugs, the oldest first."""
        rows = self._fetch_all(
            "select key, slug, modulus, digest, definition, address from keys"
            " where private != zeroblob(?) and (? is null or slug = ?) order by key",
            MODULUS_BYTES,
            slug,
            slug,
        )
        return [KeyRecord(key, name, int.from_bytes(modulus, "big"), *rest) for key, name, modulus, *rest in rows]

    def private_key(self, digest: str) -> tuple[int, Key] | None:
        """Return the row number and the private key of a definition; None if it has none, or if it was destroyed."""
        for key, private in self._fetch_all("select key, private from keys where digest = ?", digest):
            return (key, Key.from_bytes(private)) if any(private) else None
        return None

    def drop_key(self, digest: str) -> None:
        """Delete the key of a definition that was not published, and its tickets."""
        with self._transaction() as connection:
            connection.execute("delete from taken where key in (select key from keys where digest = ?)", (digest,))
            connection.execute("delete from keys where digest = ?", (digest,))

    def destroy_key(self, digest: str) -> None:
        """Destroy the private key of a definition and the hashes of signed messages; keep which codes took one."""
        with self._transaction() as connection:
            for (key,) in connection.execute("select key from keys where digest = ?", (digest,)).fetchall():
                _destroy(connection, key)

    def delete_slug(self, slug: str) -> None:
        """Delete all keys, codes and tickets of a slug."""
        with self._transaction() as connection:
            connection.execute("delete from taken where key in (select key from keys where slug = ?)", (slug,))
            for table in ("keys", "codes"):
                connection.execute(f"delete from {table} where slug = ?", (slug,))

    def slugs(self) -> list[str]:
        """Return every slug that has keys or codes, sorted."""
        return [slug for (slug,) in self._fetch_all("select slug from keys union select slug from codes order by slug")]

    # codes

    def invite(self, slug: str, hashes: Sequence[bytes]) -> None:
        """Store the hashes of new codes, sorted, with a row for each definition that tickets are signed for."""
        with self._transaction() as connection:
            ordered = sorted(hashes)
            connection.executemany("insert into codes values (?, ?)", [(slug, hashed) for hashed in ordered])
            query = "select key from keys where slug = ? and digest is not null and private != zeroblob(?)"
            for (key,) in connection.execute(query, (slug, MODULUS_BYTES)).fetchall():
                rows = [(key, hashed, FREE) for hashed in ordered]
                connection.executemany("insert into taken values (?, ?, ?)", rows)

    def is_invited(self, key: int, code: bytes) -> bool:
        """Return whether a code may take a ticket, or has taken one, for the definition with this key."""
        return bool(self._fetch_all("select 1 from taken where key = ? and hash = ?", key, code))

    def mark(self, key: int, code: bytes, message: bytes) -> MarkOutcome:
        """Mark a code as used with the hash of a blinded message, and return the outcome; on return it is on disk.

        Raise Unavailable if it cannot be stored.
        """
        with self._transaction() as connection:
            row = connection.execute("select message from taken where key = ? and hash = ?", (key, code)).fetchone()
            if row is None:
                return MarkOutcome.UNKNOWN_CODE
            if row[0] != FREE:
                return MarkOutcome.SAME_MESSAGE if row[0] == message else MarkOutcome.OTHER_MESSAGE
            connection.execute("update taken set message = ? where key = ? and hash = ?", (message, key, code))
        return MarkOutcome.FIRST_MESSAGE

    def invitations(self, digest: str) -> dict[bytes, bool]:
        """Return, for the hash of every code invited to a definition, whether it has taken a ticket."""
        query = "select hash, message != ? from taken where key in (select key from keys where digest = ?)"
        return {bytes(hashed): bool(taken) for hashed, taken in self._fetch_all(query, FREE, digest)}

    def count_invitations(self, digest: str) -> tuple[int, int]:
        """Return how many codes are invited to answer a definition, and how many of them have taken a ticket."""
        query = "select count(*), coalesce(sum(message != ?), 0) from taken"
        row = self._fetch_all(f"{query} where key in (select key from keys where digest = ?)", FREE, digest)[0]
        return int(row[0]), int(row[1])


def _add_invitations(connection: sqlite3.Connection, key: int, slug: str) -> None:
    query = "insert into taken select ?, hash, ? from codes where slug = ? order by hash"
    connection.execute(query, (key, FREE, slug))


def _destroy(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("update keys set private = ? where key = ?", (bytes(MODULUS_BYTES), key))
    query = "update taken set message = ? where key = ? and message != ?"
    connection.execute(query, (SPENT, key, FREE))
