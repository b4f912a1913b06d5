"""What is kept, and what the rest of the server may ask of it.

Reports are noisy bits under a random id, without time, address or order. A tally for each survey, the number of reports
and one count for each stored bit, changes in the same transaction. Results are read from a *snapshot* of the tally that
advances only in steps of at least twenty reports, and at closing: whoever polls must not see anyone's bits or their
moment. `Store` is what a second implementation has to offer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from client.definition import Survey

STEP = 20
MANY = 512
BYTE_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)

Counts = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]  # packed, a row for each report


class StoreError(Exception):
    """The store refuses an administrative request; the message says why."""


class Unavailable(Exception):
    """The store cannot write now: disk full, locked, read-only. Nothing was acknowledged."""


class State(StrEnum):
    """The life of a survey; a closed one stays closed, since its results have advanced to the last report."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True)
class Published:
    """A version of a survey, and what its owner decided about it."""

    key: int
    survey: Survey
    state: State
    public: bool
    opens: datetime | None
    closes: datetime | None
    max_reports: int | None
    invited: bool
    owner: int

    def at(self, now: datetime) -> State:
        """The state at a moment, with opens and closes taken into account."""
        if self.state is State.OPEN and self.closes and now >= self.closes:
            return State.CLOSED
        if self.state is State.OPEN and self.opens and now < self.opens:
            return State.DRAFT
        return self.state


@dataclass(frozen=True)
class Tally:
    """How many reports, and how many ones in each stored bit."""

    reports: int
    counts: Counts


class Outcome(StrEnum):
    """What became of one report; the last six are codes of problems."""

    STORED = "stored"
    ALREADY_STORED = "already_stored"
    ID_TAKEN = "id_taken"
    NOT_OPEN = "survey_not_open"
    CLOSED = "survey_closed"
    FULL = "survey_full"
    NOT_INVITED = "not_invited"
    ALREADY_USED = "already_used"


class Submission(NamedTuple):
    """One validated report on its way into the store."""

    survey: int
    id: bytes
    bits: bytes
    invitation: bytes | None = None  # the hash of a code


@dataclass(frozen=True)
class User:
    """An account; the stamp changes with the password and ends every session."""

    key: int
    name: str
    password: str
    admin: bool
    disabled: bool
    stamp: str


class Sketch(NamedTuple):
    """An author's file that is not published yet, as it was written."""

    key: int
    source: bytes


class Event(NamedTuple):
    """Something that a researcher did; nothing here is about respondents."""

    slug: str
    moment: datetime
    what: str


class Store(Protocol):
    """Everything the server needs to keep. `untidy` tells that the order of arrival may still be seen in it."""

    untidy: bool

    def migrate(self) -> None: ...
    def secret_key(self) -> bytes: ...

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
        source: bytes | None = None,
    ) -> Published: ...
    def newest(self, slug: str) -> Published | None: ...
    def version(self, slug: str, digest: str) -> Published | None: ...
    def source(self, published: Published) -> bytes | None: ...
    def surveys(self, owner: int | None = None) -> list[Published]: ...
    def set_state(self, published: Published, state: State) -> None: ...
    def delete_survey(self, slug: str) -> None: ...
    def add_invitations(self, published: Published, hashes: Sequence[bytes]) -> None: ...

    def current(self, slug: str) -> tuple[int, str] | None: ...
    def write(self, take: Callable[[], Sequence[Submission]]) -> list[Outcome]: ...
    def snapshot(self, published: Published) -> Tally: ...
    def scan(self, published: Published) -> Iterator[Bits]: ...
    def recount(self, published: Published, progress: Callable[[int], None]) -> tuple[Tally, Tally]: ...
    def tidy(self, *, now: bool = False) -> bool: ...

    def add_user(self, name: str, password: str) -> User: ...
    def user(self, key: int) -> User | None: ...
    def user_named(self, name: str) -> User | None: ...
    def users(self) -> list[User]: ...
    def set_password(self, user: User, password: str) -> None: ...
    def set_disabled(self, user: User, disabled: bool) -> None: ...
    def end_sessions(self, user: User) -> None: ...
    def add_token(self, user: User, token_hash: bytes) -> None: ...
    def user_of_token(self, token_hash: bytes) -> User | None: ...

    def save_sketch(self, owner: int, source: bytes, key: int | None = None) -> int: ...
    def sketch(self, owner: int, key: int) -> Sketch | None: ...
    def sketches(self, owner: int) -> list[Sketch]: ...
    def delete_sketch(self, owner: int, key: int) -> None: ...
    def record(self, owner: int, slug: str, what: str) -> None: ...
    def events(self, owner: int, slug: str | None = None) -> list[Event]: ...

    def close(self) -> None: ...


def now() -> datetime:
    """The moment, for opening and closing; it is never stored with a report."""
    return datetime.now(UTC)


def add_bits(counts: Counts, rows: Bits) -> None:
    """Add the stored bits of reports to counts, in place: a histogram of each byte, where there are many."""
    if len(rows) < MANY:
        counts += np.unpackbits(rows, axis=1, count=len(counts)).sum(axis=0, dtype=np.int64)
        return
    for place, column in enumerate(rows.T):
        part = counts[8 * place : 8 * place + 8]
        part += (np.bincount(column, minlength=256) @ BYTE_BITS)[: len(part)]


def rows_of(rows: Sequence[bytes]) -> Bits:
    """The bits of reports as the rows of an array."""
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)


def open_store(url: str) -> Store:
    """The store that a URL names: sqlite:///relative, sqlite:////absolute."""
    from survey_app.store.sqlite import SqliteStore

    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return SqliteStore(Path(url.removeprefix("sqlite:///")))
    raise StoreError(f"{url!r} names no store; write sqlite:///candor.db, or sqlite:////an/absolute/path.db")
