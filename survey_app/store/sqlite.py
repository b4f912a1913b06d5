"""The default store: one SQLite file.

WAL with `synchronous=FULL`, so that a commit is on disk; `secure_delete`, so that what was deleted is wiped; every
table that respondents touch is WITHOUT ROWID and keyed by something random, so that no order of arrival is kept.
sqlite-utils makes and migrates the tables; the hot path is plain sqlite3. Several processes may write: each takes a
lock on a file beside the database for the length of one transaction (`flock` queues fairly, SQLite's busy handler
does not).
"""

import fcntl
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sqlite_utils

from client.definition import Survey
from survey_app.store import (
    STEP,
    Counts,
    Outcome,
    Published,
    State,
    StoreError,
    Submission,
    Tally,
    Unavailable,
    User,
    add_bits,
    now,
)

VERSION = 1
BUSY_SECONDS = 5.0
CHECKPOINT_PAGES = 1000

SCHEMA = """
create table settings (name text primary key, value blob not null) without rowid;
create table users (
    key integer primary key, name text not null unique, password text not null,
    admin integer not null, disabled integer not null, stamp text not null);
create table tokens (hash blob primary key, user integer not null references users) without rowid;
create table surveys (
    key integer primary key autoincrement, slug text not null, version integer not null, digest text not null,
    definition blob not null, state text not null, public integer not null, opens text, closes text,
    max_reports integer, invited integer not null, owner integer not null references users,
    unique (slug, version), unique (slug, digest));
create table reports (survey integer not null, id blob not null, bits blob not null,
    primary key (survey, id)) without rowid;
create table tallies (survey integer primary key, reports integer not null, counts blob not null,
    shown integer not null, shown_counts blob not null);
create table invitations (survey integer not null, hash blob not null, place integer not null,
    primary key (survey, hash)) without rowid;
create table redeemed (survey integer primary key, used blob not null);
"""


class SqliteStore:
    """See `survey_app.store.Store`. A connection for each thread; one writer at a time, over all processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._mutex = threading.Lock()
        self.untidy = True  # somebody may have left it so
        self._rest_until = 0.0

    # connections

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            connection.executescript(
                f"pragma synchronous=full; pragma secure_delete=on; pragma wal_autocheckpoint={CHECKPOINT_PAGES};"
            )
            self._local.connection = connection
        return connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone among all processes; Unavailable if it cannot be made durable."""
        try:
            with self._mutex, open(f"{self.path}.lock", "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                connection = self._connection
                connection.execute("begin immediate")
                try:
                    yield connection
                    connection.execute("commit")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("rollback")
                    raise
        except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError) as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            self.close()
            raise Unavailable(str(error)) from error

    def _all(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            self.close()
            raise Unavailable(str(error)) from error

    def _one(self, query: str, *values: Any) -> Any:
        return next(iter(self._all(query, *values)), None)

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def tidy(self, *, now: bool = False) -> bool:
        """Leave no order of arrival at rest; False if others read just now, or if the last time is too recent.

        SQLite fills a page in the order of arrival, whatever the key, and the WAL keeps commits one after the other.
        So the file is rewritten in the order of keys, and the WAL truncated. Nobody can write meanwhile, so fifty
        times as long as it takes passes between two rewritings.
        """
        start = time.monotonic()
        if start < self._rest_until and not now:
            return False
        try:
            with self._mutex, open(f"{self.path}.lock", "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                connection = self._connection
                connection.execute(f"pragma busy_timeout={int(1000 * BUSY_SECONDS) if now else 0}")
                try:
                    connection.execute("vacuum")
                    busy = connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
                finally:
                    connection.execute(f"pragma busy_timeout={int(1000 * BUSY_SECONDS)}")
        except (sqlite3.DatabaseError, OSError):
            busy = 1
        self._rest_until = time.monotonic() + max(1.0, 50 * (time.monotonic() - start))
        self.untidy = bool(busy)
        return not busy

    # setting up

    def migrate(self) -> None:
        """Make the file and its tables, or bring them up to date; safe to call at every start."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            os.close(handle)
            with open(f"{self.path}.lock", "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                database = sqlite_utils.Database(str(self.path))
                try:
                    version = database.execute("pragma user_version").fetchone()[0]
                    if version > VERSION:
                        raise StoreError(f"{self.path} was made by a newer Candor (version {version})")
                    if version < 1:
                        database.enable_wal()
                        database.conn.executescript(f"begin; {SCHEMA} pragma user_version={VERSION}; commit;")
                        database.table("settings").insert({"name": "secret_key", "value": secrets.token_bytes(32)})
                finally:
                    database.close()
        except (OSError, sqlite3.DatabaseError) as error:
            raise StoreError(f"cannot open the database {self.path}: {error}") from error

    def secret_key(self) -> bytes:
        """The key that signs sessions; it survives restarts."""
        return bytes(self._one("select value from settings where name = 'secret_key'")[0])

    # surveys

    def add_survey(
        self,
        survey: Survey,
        *,
        owner: int,
        state: State,
        public: bool,
        opens: datetime | None,
        closes: datetime | None,
        max_reports: int | None,
        invited: bool,
    ) -> Published:
        """Publish a new version of a slug."""
        with self._transaction() as connection:
            last = connection.execute(
                "select max(version), owner from surveys where slug = ?", (survey.slug,)
            ).fetchone()
            if last[0] is not None and last[1] != owner:
                raise StoreError(f"the slug {survey.slug} belongs to somebody else; choose another")
            known = connection.execute(
                "select 1 from surveys where slug = ? and digest = ?", (survey.slug, survey.digest)
            ).fetchone()
            if known:
                raise StoreError(f"this very definition of {survey.slug} is published already: {survey.digest}")
            values = (
                survey.slug, (last[0] or 0) + 1, survey.digest, survey.source, state, public,
                opens and opens.isoformat(), closes and closes.isoformat(), max_reports, invited, owner,
            )  # fmt: skip
            cursor = connection.execute(
                "insert into surveys (slug, version, digest, definition, state, public, opens, closes, max_reports,"
                " invited, owner) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            key = cursor.lastrowid
            empty = np.zeros(survey.width, dtype=np.int64).tobytes()
            connection.execute("insert into tallies values (?, 0, ?, 0, ?)", (key, empty, empty))
            if state is State.OPEN:
                _end(connection, "slug = ? and key != ? and state = 'open'", survey.slug, key)
        published = self.version(survey.slug, survey.digest)
        if published is None:
            raise StoreError(f"{survey.slug} is gone")
        return published

    def newest(self, slug: str) -> Published | None:
        """The newest version of a slug."""
        return _published(self._one(f"{SELECT} where slug = ? order by version desc limit 1", slug))

    def version(self, slug: str, digest: str) -> Published | None:
        """One version of a slug."""
        return _published(self._one(f"{SELECT} where slug = ? and digest = ?", slug, digest))

    def surveys(self, owner: int | None = None) -> list[Published]:
        """The newest version of every slug, or of every slug of one owner."""
        rows = self._all(
            f"{SELECT} as s where version = (select coalesce(max(iif(state = 'draft', null, version)), max(version))"
            " from surveys where slug = s.slug) and (? is null or owner = ?) order by slug",
            owner,
            owner,
        )
        return [found for row in rows if (found := _published(row))]

    def set_state(self, published: Published, state: State) -> None:
        """Open a draft or close a survey; at closing the results advance to the last report."""
        with self._transaction() as connection:
            values = (state, published.key, state)
            query = "update surveys set state = ? where key = ? and (state != 'closed' or ? = 'closed')"
            if not connection.execute(query, values).rowcount:
                raise StoreError(f"{published.survey.slug} is closed and stays closed; publish a new version instead")
            if state is State.CLOSED:
                _end(connection, "key = ?", published.key)
            else:
                _end(connection, "slug = ? and key != ? and state = 'open'", published.survey.slug, published.key)
        self.tidy(now=True)

    def delete_survey(self, slug: str) -> None:
        """Delete all versions of a slug with their reports, and wipe the pages they lay on."""
        with self._transaction() as connection:
            keys = [row[0] for row in connection.execute("select key from surveys where slug = ?", (slug,))]
            for table in ("reports", "tallies", "invitations", "redeemed"):
                connection.executemany(f"delete from {table} where survey = ?", [(key,) for key in keys])
            connection.execute("delete from surveys where slug = ?", (slug,))
        self.tidy(now=True)

    def add_invitations(self, published: Published, hashes: Sequence[bytes]) -> None:
        """Remember the hashes of invitation codes; from then on the survey takes only invited reports."""
        with self._transaction() as connection:
            place = (published.key,)
            reports = connection.execute("select reports from tallies where survey = ?", place).fetchone()[0]
            if reports and not published.invited:
                raise StoreError(f"{published.survey.slug} has reports without invitation already")
            connection.execute("update surveys set invited = 1 where key = ?", place)
            old = connection.execute("select used from redeemed where survey = ?", place).fetchone()
            used = old[0] if old else b""
            rows = [(published.key, one, len(used) + i) for i, one in enumerate(sorted(hashes))]
            connection.executemany("insert into invitations values (?, ?, ?)", rows)
            connection.execute("replace into redeemed values (?, ?)", (published.key, used + bytes(len(rows))))

    # reports

    def current(self, slug: str) -> tuple[int, str] | None:
        """Key and digest of the newest version of a slug that is no draft."""
        query = "select key, digest from surveys where slug = ? and state != 'draft' order by version desc limit 1"
        row = self._one(query, slug)
        return row and (row[0], row[1])

    def write(self, take: Callable[[], Sequence[Submission]]) -> list[Outcome]:
        """Store what `take` gives once the lock is held, in one transaction; on return it is on disk.

        Unavailable means that nothing was stored. Whatever arrived while others held the lock shares one fsync.
        """
        outcomes: list[Outcome] = []
        with self._transaction() as connection:
            books: dict[int, _Book] = {}
            moment = now()
            submissions = take()
            for key in {submission.survey for submission in submissions}:
                books[key] = _Book.open(connection, key, moment)
            if len(books) == 1 and books[submissions[0].survey].take_all(connection, submissions):
                outcomes = [Outcome.STORED] * len(submissions)
            else:
                outcomes = [books[one.survey].take(connection, one) for one in submissions]
            for key, book in books.items():
                book.close(connection, key)
        self.untidy = True
        return outcomes

    def snapshot(self, published: Published) -> Tally:
        """The tally that may be shown: the last step of twenty, or everything after closing."""
        row = self._one("select reports, counts, shown, shown_counts from tallies where survey = ?", published.key)
        if published.at(now()) is State.CLOSED:
            return Tally(row[0], _counts(row[1]))
        return Tally(row[2], _counts(row[3]))

    def recount(self, published: Published, progress: Callable[[int], None]) -> tuple[Tally, Tally]:
        """The tally as it is kept, and as a recount of all reports finds it, at one moment; for the operator alone."""
        connection = self._connection
        connection.execute("begin")
        try:
            row = connection.execute(
                "select reports, counts from tallies where survey = ?", (published.key,)
            ).fetchone()
            cursor = connection.execute("select bits from reports where survey = ?", (published.key,))
            counts, reports = np.zeros(published.survey.width, dtype=np.int64), 0
            while rows := [bits for (bits,) in cursor.fetchmany(10_000)]:
                add_bits(counts, rows)
                reports += len(rows)
                progress(len(rows))
        finally:
            connection.execute("rollback")
        return Tally(row[0], _counts(row[1])), Tally(reports, counts)

    # accounts

    def add_user(self, name: str, password: str) -> User:
        """Add an account; the first is the administrator's."""
        try:
            with self._transaction() as connection:
                first = connection.execute("select count(*) from users").fetchone()[0] == 0
                connection.execute(
                    "insert into users (name, password, admin, disabled, stamp) values (?, ?, ?, 0, ?)",
                    (name, password, first, secrets.token_hex(8)),
                )
        except sqlite3.IntegrityError:
            raise StoreError(f"there is an account {name!r} already") from None
        user = self.user_named(name)
        if user is None:
            raise StoreError(f"the account {name!r} is gone")
        return user

    def user(self, key: int) -> User | None:
        """The account with this key."""
        return _user(self._one(f"{SELECT_USER} where key = ?", key))

    def user_named(self, name: str) -> User | None:
        """The account with this name."""
        return _user(self._one(f"{SELECT_USER} where name = ?", name))

    def users(self) -> list[User]:
        """All accounts."""
        return [found for row in self._all(SELECT_USER) if (found := _user(row))]

    def set_password(self, user: User, password: str) -> None:
        """Change the hash of a password, and end the sessions of its account."""
        with self._transaction() as connection:
            connection.execute(
                "update users set password = ?, stamp = ? where key = ?", (password, secrets.token_hex(8), user.key)
            )

    def set_disabled(self, user: User, disabled: bool) -> None:
        """Close or reopen an account, and end its sessions."""
        with self._transaction() as connection:
            connection.execute(
                "update users set disabled = ?, stamp = ? where key = ?", (disabled, secrets.token_hex(8), user.key)
            )

    def end_sessions(self, user: User) -> None:
        """End all sessions of an account."""
        with self._transaction() as connection:
            connection.execute("update users set stamp = ? where key = ?", (secrets.token_hex(8), user.key))

    def add_token(self, user: User, token_hash: bytes) -> None:
        """Remember the hash of an API token."""
        with self._transaction() as connection:
            connection.execute("insert into tokens values (?, ?)", (token_hash, user.key))

    def user_of_token(self, token_hash: bytes) -> User | None:
        """The account that a token speaks for, unless it is disabled."""
        row = self._one(
            f"{SELECT_USER} where disabled = 0 and key = (select user from tokens where hash = ?)", token_hash
        )
        return _user(row)


def _end(connection: sqlite3.Connection, where: str, *values: Any) -> None:
    """Close surveys for good: their results advance to the last report."""
    shown = "update tallies set shown = reports, shown_counts = counts where survey in (select key from surveys where"
    connection.execute(f"{shown} {where})", values)
    connection.execute(f"update surveys set state = 'closed' where {where}", values)


SELECT = "select key, definition, state, public, opens, closes, max_reports, invited, owner from surveys"
SELECT_USER = "select key, name, password, admin, disabled, stamp from users"


class _Book:
    """One survey during one transaction: its state, its tally, and the reports that came in."""

    def __init__(self, width: int, reports: int, closed: Outcome | None, most: int | None, invited: bool) -> None:
        self.width, self.reports, self.closed, self.most, self.invited = width, reports, closed, most, invited
        self.rows: list[bytes] = []

    @classmethod
    def open(cls, connection: sqlite3.Connection, key: int, moment: datetime) -> "_Book":
        row = connection.execute(f"{SELECT} where key = ?", (key,)).fetchone()
        published = _published(row)
        if published is None:
            return cls(0, 0, Outcome.CLOSED, None, False)
        state = published.at(moment)
        closed = {State.CLOSED: Outcome.CLOSED, State.DRAFT: Outcome.NOT_OPEN}.get(state)
        reports = connection.execute("select reports from tallies where survey = ?", (key,)).fetchone()[0]
        return cls(published.survey.width, reports, closed, published.max_reports, published.invited)

    def take_all(self, connection: sqlite3.Connection, submissions: Sequence[Submission]) -> bool:
        """Store all at once, if all are new and nothing about any of them has to be looked up."""
        full = self.most is not None and self.reports + len(submissions) > self.most
        if self.closed or self.invited or full:
            return False
        connection.execute("savepoint all_at_once")
        before = connection.total_changes
        rows = [(one.survey, one.id, one.bits) for one in submissions]
        connection.executemany("insert or ignore into reports values (?, ?, ?)", rows)
        if connection.total_changes - before < len(rows):
            connection.execute("rollback to all_at_once")
            return False
        self.rows.extend(one.bits for one in submissions)
        return True

    def take(self, connection: sqlite3.Connection, submission: Submission) -> Outcome:
        """Store one, or tell why not."""
        place = (submission.survey, submission.id)
        known = connection.execute("select bits from reports where survey = ? and id = ?", place).fetchone()
        if known is not None:
            return Outcome.ALREADY_STORED if known[0] == submission.bits else Outcome.ID_TAKEN
        if self.closed:
            return self.closed
        if self.most is not None and self.reports + len(self.rows) >= self.most:
            return Outcome.FULL
        if self.invited:
            refusal = self._redeem(connection, submission)
            if refusal:
                return refusal
        connection.execute("insert into reports values (?, ?, ?)", (*place, submission.bits))
        self.rows.append(submission.bits)
        return Outcome.STORED

    def _redeem(self, connection: sqlite3.Connection, submission: Submission) -> Outcome | None:
        """Mark an invitation as used, in one row for all of them: rows of their own would lie in the order of use."""
        code = (submission.survey, submission.invitation)
        row = connection.execute("select place from invitations where survey = ? and hash = ?", code).fetchone()
        if row is None:
            return Outcome.NOT_INVITED
        key = (submission.survey,)
        used = bytearray(connection.execute("select used from redeemed where survey = ?", key).fetchone()[0])
        if used[row[0]]:
            return Outcome.ALREADY_USED
        used[row[0]] = 1
        connection.execute("update redeemed set used = ? where survey = ?", (bytes(used), *key))
        return None

    def close(self, connection: sqlite3.Connection, key: int) -> None:
        """Add what came in to the tally, and let the snapshot take its step."""
        if not self.rows:
            return
        row = connection.execute("select reports, counts, shown from tallies where survey = ?", (key,)).fetchone()
        counts = _counts(row[1])
        add_bits(counts, self.rows)
        reports = row[0] + len(self.rows)
        connection.execute(
            "update tallies set reports = ?, counts = ? where survey = ?", (reports, counts.tobytes(), key)
        )
        if reports - row[2] >= STEP or reports == self.most:
            connection.execute("update tallies set shown = reports, shown_counts = counts where survey = ?", (key,))


def _counts(blob: bytes) -> Counts:
    return np.frombuffer(blob, dtype=np.int64).copy()


@lru_cache(maxsize=256)
def _survey(definition: bytes) -> Survey:
    return Survey.from_json(definition)


def _published(row: Any) -> Published | None:
    if row is None:
        return None
    key, definition, state, public, opens, closes, max_reports, invited, owner = row
    return Published(
        key=key,
        survey=_survey(bytes(definition)),
        state=State(state),
        public=bool(public),
        opens=opens and datetime.fromisoformat(opens),
        closes=closes and datetime.fromisoformat(closes),
        max_reports=max_reports,
        invited=bool(invited),
        owner=owner,
    )


def _user(row: Any) -> User | None:
    if row is None:
        return None
    return User(row[0], row[1], row[2], bool(row[3]), bool(row[4]), row[5])
