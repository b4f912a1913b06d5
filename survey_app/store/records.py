"""What the store gives out and takes in."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple, assert_never

from client.definition import Survey
from client.ticket import MODULUS_BYTES
from survey_app.authoring.terms import Terms


class StoreError(Exception):
    """The store refuses an administrative request; the message says why."""


class Unavailable(Exception):
    """The store cannot write now: disk full, locked, read-only. Nothing was acknowledged."""


def too_late(survey: Survey, moment: datetime) -> str | None:
    """Why nobody can be let in any more, if answering began: tickets are taken before it."""
    begins = survey.tickets.opens if survey.tickets else None
    if begins is None or moment < begins:
        return None
    return f"Answering began on {begins:%Y-%m-%d %H:%M} UTC; nobody can take a ticket any more"


class State(StrEnum):
    """The life of a survey; a closed one stays closed, since its last step is taken."""

    READY = "ready"  # published, and not open yet
    OPEN = "open"
    PAUSED = "paused"  # for a while; nothing is shown by it
    CLOSED = "closed"


class Hold(IntEnum):
    """What of a survey by invitation is withheld, whatever its state. An owner sees who has taken a ticket at once, so
    nothing made of bits is shown before a date that was set before the first ticket (Steps, rule 6)."""

    NONE = 0  # open to anybody: shown in steps; or by invitation, and its date has passed
    ALL = 1  # nothing is shown before `closes`
    REST = 2  # made before 0.9: what had been shown stays, the rest waits for `closes`
    FOREVER = 3  # replaced before that date

    @property
    def waits(self) -> bool:
        """Whether reports are shown once `closes` is reached."""
        return self in (Hold.ALL, Hold.REST)


class Member(NamedTuple):
    """A survey to be published: alone, or as a group of a study together with others."""

    survey: Survey
    terms: Terms


@dataclass(frozen=True)
class Published:
    """A version of a survey, and what its owner decided about it. `full`: it closed because it had all it wanted."""

    key: int
    survey: Survey
    state: State
    terms: Terms
    owner: int
    full: bool = False
    hold: Hold = Hold.NONE

    @property
    def invited(self) -> bool:
        """Whether only people with an invitation can answer."""
        return self.survey.tickets is not None

    @property
    def shown_from(self) -> datetime | None:
        """From when on what is withheld is shown; None if nothing is, if no date is set, or if it never will be."""
        return self.terms.closes if self.hold.waits else None

    @property
    def name(self) -> str:
        """The slug of the whole: of the study, if this is one of its groups."""
        return self.survey.study or self.survey.slug

    def at(self, now: datetime) -> State:
        """The state at a moment, before which it may not have opened yet. Closing is not read from a clock: the
        store writes it down, with its last step."""
        opens = self.terms.opens
        return State.READY if self.state is State.OPEN and opens and now < opens else self.state

    def is_due(self, now: datetime) -> bool:
        """Whether a date has passed that nobody has written down yet: the store has to close the survey, to show what
        it withheld, or to delete it."""
        runs = self.state in (State.OPEN, State.PAUSED)
        waits = self.state is State.CLOSED and self.hold.waits
        over = (runs or waits) and self.terms.closes is not None and now >= self.terms.closes
        return over or (self.terms.deletes is not None and now >= self.terms.deletes)


class Outcome(StrEnum):
    """What became of one report; all but the first two are codes of problems."""

    STORED = "stored"
    ALREADY_STORED = "already_stored"
    ID_TAKEN = "id_taken"
    NOT_OPEN = "survey_not_open"
    TOO_EARLY = "too_early"
    PAUSED = "survey_paused"
    CLOSED = "survey_closed"
    FULL = "survey_full"


def refusal_of(published: Published, moment: datetime) -> Outcome | None:
    """Why a survey takes no reports now."""
    tickets = published.survey.tickets
    if refusal := state_refusal(published.at(moment), full=published.full):
        return refusal
    return Outcome.TOO_EARLY if tickets and tickets.opens and moment < tickets.opens else None


def state_refusal(state: State, *, full: bool = False) -> Outcome | None:
    """Return why a survey in this state takes no reports; a `full` one closed because it had all it wanted."""
    match state:
        case State.READY:
            return Outcome.NOT_OPEN
        case State.OPEN:
            return None
        case State.PAUSED:
            return Outcome.PAUSED
        case State.CLOSED:
            return Outcome.FULL if full else Outcome.CLOSED
        case _:
            assert_never(state)


class Submission(NamedTuple):
    """One validated report on its way into the store."""

    survey: int
    id: bytes
    bits: bytes


class Key(NamedTuple):
    """A private key: its two primes."""

    p: int
    q: int

    @property
    def modulus(self) -> int:
        """What is public of it."""
        return self.p * self.q

    def to_bytes(self) -> bytes:
        """As it is kept: as many bytes as the modulus has."""
        return b"".join(prime.to_bytes(MODULUS_BYTES // 2, "big") for prime in self)

    @classmethod
    def from_bytes(cls, kept: bytes) -> "Key":
        """The inverse of `to_bytes`."""
        half = MODULUS_BYTES // 2
        return cls(int.from_bytes(kept[:half], "big"), int.from_bytes(kept[half:], "big"))


@dataclass(frozen=True)
class User:
    """An account; the stamp changes with the password and ends every session."""

    key: int
    name: str
    password: str
    admin: bool
    disabled: bool
    stamp: str


class Role(IntEnum):
    """What an account is to a survey; each may do what those before it may."""

    READER = 1  # sees private results, and takes them along
    EDITOR = 2  # changes terms, opens, pauses, closes, publishes new versions, invites
    OWNER = 3  # shares, deletes, reads the log

    @property
    def said(self) -> Literal["reader", "editor", "owner"]:
        """As people and the file say it."""
        match self:
            case Role.READER:
                return "reader"
            case Role.EDITOR:
                return "editor"
            case Role.OWNER:
                return "owner"
            case _:
                assert_never(self)


class Share(NamedTuple):
    """An account, by its name, and what it is to a survey of another."""

    name: str
    role: Role


class Link(NamedTuple):
    """A link to private results, without the secret: the beginning of its hash names it."""

    id: str
    label: str
    made: date


class Token(NamedTuple):
    """An API token, without the secret: the beginning of its hash names it."""

    id: str
    made: date


class Draft(NamedTuple):
    """An author's file that is not published yet, as it was written."""

    key: int
    source: bytes


class Event(NamedTuple):
    """Something that a researcher did, `by` another than the owner; nothing here is about respondents."""

    slug: str
    moment: datetime
    what: str
    by: str = ""


def token_id(token_hash: bytes) -> str:
    """What names a token in lists: 32 bits of its hash tell some tokens apart, and help nobody to find one."""
    return token_hash.hex()[:8]


def now() -> datetime:
    """The moment, for opening and closing; it is never stored with a report."""
    return datetime.now(UTC)
