"""What an issuer keeps, in a file of its own: hashes of codes, keys, and who has taken a ticket; never when, or in
which order.

A *rollback* journal, not a WAL: a WAL keeps one commit after the other, and beside the WAL of the reports the two
orders would say who sent what. Here a page is overwritten in its place and the journal truncated. The row of an
invitation is made when the invitation is, with room for the SHA-256 of the blinded message, so that taking a ticket
changes 32 bytes and moves nothing; `tests/store/test_tickets.py` compares the bytes. Codes belong to a slug, what is
taken to a code and a definition: whoever is invited may answer the next version too.
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
from survey_app.store.sqlite.database import LOCK_SECONDS, all_or_nothing, connect
from survey_app.store.sqlite.lock import PRIVATE, Lock, tighten

APPLICATION, VERSION = 0x43544B54, 1  # "CTKT": no other file of ours passes for this one
FREE, SPENT = bytes(32), b"\x01" * 32  # in the place of a hash: not taken; taken, and the hash destroyed

SCHEMA = """
create table codes (slug text not null, hash blob not null, primary key (slug, hash)) without rowid;
create table keys (key integer primary key autoincrement, slug text not null, modulus blob not null unique,
    private blob not null, digest text unique, definition blob, address text);
create table taken (key integer not null references keys, hash blob not null, message blob not null,
    primary key (key, hash)) without rowid;
"""


class Mark(Enum):
    """What became of a code that was brought with a blinded message."""

    MADE = "made"  # on disk now
    AGAIN = "again"  # the very message that it was marked with
    OTHER = "other"  # it was marked with another one
    UNKNOWN = "unknown"


class Kept(NamedTuple):
    """A key as it is kept, with the digest of its definition, unless it waits for one; the definition itself and where
    it is, if another server published it."""

    key: int
    slug: str
    modulus: int
    digest: str | None
    definition: bytes | None
    address: str | None


class TicketFile:
    """Codes, keys, and who has taken a ticket. A connection for each thread."""

    journal = "truncate"
    here = True  # whether there is a file at all

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
        """One transaction, alone among all processes; Unavailable if it cannot be made durable."""
        try:
            with all_or_nothing(self._connection) as connection:
                yield connection
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            self.close()
            raise Unavailable(f"the tickets file: {error}") from error

    def _all(self, query: str, *values: Any) -> list[Any]:
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
    def alone(self) -> Iterator[None]:
        """Nobody else publishes or ends surveys meanwhile: a key is here a moment before its survey is in the store."""
        with self._lock.held(LOCK_SECONDS):
            yield

    def migrate(self) -> None:
        """Make the file and its tables if there are none; safe to call at every start."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
            tighten(self.path, Path(f"{self.path}-journal"))
            application, version = (self._all(f"pragma {name}")[0][0] for name in ("application_id", "user_version"))
            if (application, version) == (0, 0) and not self._all("select 1 from sqlite_schema limit 1"):
                marks = f"pragma application_id={APPLICATION}; pragma user_version={VERSION}"
                with self.alone():
                    if not self._all("select 1 from sqlite_schema limit 1"):
                        self._connection.executescript(f"begin immediate; {SCHEMA} {marks}; commit;")
            elif (application, version) != (APPLICATION, VERSION):
                raise StoreError(f"{self.path} is no file of tickets that this Candor reads; it was not changed")
        except (OSError, sqlite3.DatabaseError, Unavailable) as error:
            raise StoreError(f"cannot open the tickets file {self.path}: {error}") from error
        finally:
            self.close()

    # keys

    def add_key(self, slug: str, key: Key, digest: str | None = None) -> None:
        """Keep a key for a definition, with room for every invitation of its slug; without digest, it waits for one."""
        with self._transaction() as connection:
            modulus = key.modulus.to_bytes(MODULUS_BYTES, "big")
            made = connection.execute(
                "insert into keys (slug, modulus, private, digest) values (?, ?, ?, ?)",
                (slug, modulus, key.to_bytes(), digest),
            )
            if digest is not None:
                _make_room(connection, int(made.lastrowid or 0), slug)

    def bind(self, kept: Kept, digest: str, definition: bytes, address: str) -> None:
        """Let a waiting key sign for a definition of another server; the slug's earlier one is signed for no more."""
        with self._transaction() as connection:
            query = "select key from keys where slug = ? and digest is not null and key != ?"
            for (earlier,) in connection.execute(query, (kept.slug, kept.key)).fetchall():
                _destroy(connection, earlier)
            values = (digest, definition, address, kept.key)
            connection.execute("update keys set digest = ?, definition = ?, address = ? where key = ?", values)
            _make_room(connection, kept.key, kept.slug)

    def living(self, slug: str | None = None) -> list[Kept]:
        """The keys that can sign, of one slug or of all, the oldest first."""
        rows = self._all(
            "select key, slug, modulus, digest, definition, address from keys"
            " where private != zeroblob(?) and (? is null or slug = ?) order by key",
            MODULUS_BYTES,
            slug,
            slug,
        )
        return [Kept(key, name, int.from_bytes(modulus, "big"), *rest) for key, name, modulus, *rest in rows]

    def private(self, digest: str) -> tuple[int, Key] | None:
        """The key of a definition and its row; None if there is none, or none any more."""
        for key, kept in self._all("select key, private from keys where digest = ?", digest):
            return (key, Key.from_bytes(kept)) if any(kept) else None
        return None

    def drop_key(self, digest: str) -> None:
        """Take a key away that came to nothing."""
        with self._transaction() as connection:
            connection.execute("delete from taken where key in (select key from keys where digest = ?)", (digest,))
            connection.execute("delete from keys where digest = ?", (digest,))

    def end(self, digest: str) -> None:
        """Destroy the private key of a definition and the hashes of what was signed; who took a ticket stays known."""
        with self._transaction() as connection:
            for (key,) in connection.execute("select key from keys where digest = ?", (digest,)).fetchall():
                _destroy(connection, key)

    def forget(self, slug: str) -> None:
        """Delete everything of a slug."""
        with self._transaction() as connection:
            connection.execute("delete from taken where key in (select key from keys where slug = ?)", (slug,))
            for table in ("keys", "codes"):
                connection.execute(f"delete from {table} where slug = ?", (slug,))

    def slugs(self) -> list[str]:
        """Every slug that something is kept of."""
        return [slug for (slug,) in self._all("select slug from keys union select slug from codes order by slug")]

    # codes

    def invite(self, slug: str, hashes: Sequence[bytes]) -> None:
        """Keep the hashes of new codes, in the order of hashes, with room for each definition that is signed for."""
        with self._transaction() as connection:
            ordered = sorted(hashes)
            connection.executemany("insert into codes values (?, ?)", [(slug, hashed) for hashed in ordered])
            query = "select key from keys where slug = ? and digest is not null and private != zeroblob(?)"
            for (key,) in connection.execute(query, (slug, MODULUS_BYTES)).fetchall():
                rows = [(key, hashed, FREE) for hashed in ordered]
                connection.executemany("insert into taken values (?, ?, ?)", rows)

    def is_invited(self, key: int, code: bytes) -> bool:
        """Return whether a code may take a ticket, or has taken one, for the definition with this key."""
        return bool(self._all("select 1 from taken where key = ? and hash = ?", key, code))

    def mark(self, key: int, code: bytes, message: bytes) -> Mark:
        """Mark a code as taken with the hash of a blinded message. On return it is on disk; or Unavailable."""
        with self._transaction() as connection:
            row = connection.execute("select message from taken where key = ? and hash = ?", (key, code)).fetchone()
            if row is None:
                return Mark.UNKNOWN
            if row[0] != FREE:
                return Mark.AGAIN if row[0] == message else Mark.OTHER
            connection.execute("update taken set message = ? where key = ? and hash = ?", (message, key, code))
        return Mark.MADE

    def invited(self, digest: str) -> dict[bytes, bool]:
        """The hash of every code that may take a ticket for a definition, and whether it has."""
        query = "select hash, message != ? from taken where key in (select key from keys where digest = ?)"
        return {bytes(hashed): bool(taken) for hashed, taken in self._all(query, FREE, digest)}

    def count(self, digest: str) -> tuple[int, int]:
        """How many are invited to answer a definition, and how many of them have taken a ticket."""
        query = "select count(*), coalesce(sum(message != ?), 0) from taken"
        row = self._all(f"{query} where key in (select key from keys where digest = ?)", FREE, digest)[0]
        return int(row[0]), int(row[1])


def _make_room(connection: sqlite3.Connection, key: int, slug: str) -> None:
    query = "insert into taken select ?, hash, ? from codes where slug = ? order by hash"
    connection.execute(query, (key, FREE, slug))


def _destroy(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("update keys set private = ? where key = ?", (bytes(MODULUS_BYTES), key))
    query = "update taken set message = ? where key = ? and message != ?"
    connection.execute(query, (SPENT, key, FREE))
