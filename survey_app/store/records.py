"""What the store gives out and takes in."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import NamedTuple

from client.definition import Survey
from survey_app.authoring.terms import Terms

STEP = 20  # reports: results advance by no fewer


class StoreError(Exception):
    """The store refuses an administrative request; the message says why."""


class Unavailable(Exception):
    """The store cannot write now: disk full, locked, read-only. Nothing was acknowledged."""


class State(StrEnum):
    """The life of a survey; a closed one stays closed, since its results have advanced to the last report."""

    READY = "ready"  # published, and not open yet
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True)
class Published:
    """A version of a survey, and what its owner decided about it."""

    key: int
    survey: Survey
    state: State
    terms: Terms
    invited: bool
    owner: int

    def at(self, now: datetime) -> State:
        """The state at a moment, with opens and closes taken into account."""
        opens, closes = self.terms.opens, self.terms.closes
        if self.state is State.OPEN and closes and now >= closes:
            return State.CLOSED
        if self.state is State.OPEN and opens and now < opens:
            return State.READY
        return self.state


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


class Token(NamedTuple):
    """An API token, without the secret: the beginning of its hash names it."""

    id: str
    made: date


class Draft(NamedTuple):
    """An author's file that is not published yet, as it was written."""

    key: int
    source: bytes


class Event(NamedTuple):
    """Something that a researcher did; nothing here is about respondents."""

    slug: str
    moment: datetime
    what: str


def token_id(token_hash: bytes) -> str:
    """What names a token in lists: 32 bits of its hash tell some tokens apart, and help nobody to find one."""
    return token_hash.hex()[:8]


def now() -> datetime:
    """The moment, for opening and closing; it is never stored with a report."""
    return datetime.now(UTC)
