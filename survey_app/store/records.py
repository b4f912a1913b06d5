"""The records that the store accepts and returns."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple, assert_never

from candor_client.definition import Survey
from candor_client.ticket import MODULUS_BYTES
from survey_app.authoring.terms import Terms


class StoreError(Exception):
    """An administrative request that the store refuses; the message says why."""


class Unavailable(Exception):
    """The store cannot write now: disk full, locked or read-only. Nothing was acknowledged."""


def ticket_refusal(survey: Survey, moment: datetime) -> str | None:
    """Return why nobody can take a ticket any more, or None while people can.

    Tickets are taken before answering begins.
    """
    begins = survey.tickets.opens if survey.tickets else None
    if begins is None or moment < begins:
        return None
    return f"Answering began on {begins:%Y-%m-%d %H:%M} UTC, so tickets can no longer be taken"


class State(StrEnum):
    """The state of a survey. A closed survey stays closed, since its last step has been taken."""

    READY = "ready"  # published, not open yet
    OPEN = "open"
    PAUSED = "paused"  # for a while; pausing shows no reports
    CLOSED = "closed"


class Hold(IntEnum):
    """How much of a survey by invitation is withheld, in any state.

    An owner sees at once who has taken a ticket. Therefore nothing made of bits is shown before a date that was set
    before the first ticket (Steps, rule 6).
    """

    NONE = 0  # open to anybody and shown in steps, or by invitation and its date has passed
    ALL = 1  # nothing is shown before `closes`
    REST = 2  # made before 0.9: shown reports stay shown, the rest waits for `closes`
    FOREVER = 3  # replaced by a newer version before that date

    @property
    def waits(self) -> bool:
        """Whether reports are shown once `closes` is reached."""
        return self in (Hold.ALL, Hold.REST)


class Member(NamedTuple):
    """A survey to be published: alone, or as a group of a study."""

    survey: Survey
    terms: Terms


@dataclass(frozen=True)
class PublishedSurvey:
    """A version of a survey, with the decisions of its owner.

    `full` means that it closed because it reached its report limit.
    """

    key: int
    survey: Survey
    state: State
    terms: Terms
    owner: int
    full: bool = False
    hold: Hold = Hold.NONE

    @property
    def is_by_invitation(self) -> bool:
        """Whether only people with an invitation can answer."""
        return self.survey.tickets is not None

    @property
    def release_date(self) -> datetime | None:
        """The date from which withheld reports are shown.

        None if nothing is withheld, if no date is set, or if the reports will never be shown.
        """
        return self.terms.closes if self.hold.waits else None

    @property
    def name(self) -> str:
        """The slug of the study if this is one of its groups, otherwise the slug of the survey."""
        return self.survey.study or self.survey.slug

    def state_at(self, now: datetime) -> State:
        """Return the state at a moment: ready before the opening date.

        Closing is not read from a clock. The store records it together with the last step.
        """
        opens = self.terms.opens
        return State.READY if self.state is State.OPEN and opens and now < opens else self.state

    def is_due(self, now: datetime) -> bool:
        """Return whether a date has passed that the store has not recorded yet.

        The store then has to close the survey, to show the withheld reports, or to delete the survey.
        """
        runs = self.state in (State.OPEN, State.PAUSED)
        waits = self.state is State.CLOSED and self.hold.waits
        over = (runs or waits) and self.terms.closes is not None and now >= self.terms.closes
        return over or (self.terms.deletes is not None and now >= self.terms.deletes)


class Outcome(StrEnum):
    """The outcome of submitting one report; all but the first two are codes of problems."""

    STORED = "stored"
    ALREADY_STORED = "already_stored"
    ID_TAKEN = "id_taken"
    NOT_OPEN = "survey_not_open"
    TOO_EARLY = "too_early"
    PAUSED = "survey_paused"
    CLOSED = "survey_closed"
    FULL = "survey_full"


def refusal_of(published: PublishedSurvey, moment: datetime) -> Outcome | None:
    """Return why a survey accepts no reports at a moment, or None if it does."""
    tickets = published.survey.tickets
    if refusal := state_refusal(published.state_at(moment), full=published.full):
        return refusal
    return Outcome.TOO_EARLY if tickets and tickets.opens and moment < tickets.opens else None


def state_refusal(state: State, *, full: bool = False) -> Outcome | None:
    """Return why a survey in this state accepts no reports, or None if it does.

    A `full` survey closed because it reached its report limit.
    """
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
        """The public part of the key."""
        return self.p * self.q

    def to_bytes(self) -> bytes:
        """Encode the key as it is stored: in as many bytes as the modulus has."""
        return b"".join(prime.to_bytes(MODULUS_BYTES // 2, "big") for prime in self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Key":
        """Decode a key from the bytes that `to_bytes` returns."""
        half = MODULUS_BYTES // 2
        return cls(int.from_bytes(data[:half], "big"), int.from_bytes(data[half:], "big"))


@dataclass(frozen=True)
class User:
    """An account. The stamp changes with the password and ends every session."""

    key: int
    name: str
    password: str
    admin: bool
    disabled: bool
    stamp: str


class Role(IntEnum):
    """The role of an account in a survey. Each role includes the rights of the roles before it."""

    READER = 1  # sees and downloads private results
    EDITOR = 2  # changes terms, opens, pauses, closes, publishes new versions, invites
    OWNER = 3  # shares, deletes, reads the log

    @property
    def label(self) -> Literal["reader", "editor", "owner"]:
        """The name of the role, as it is displayed and stored."""
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
    """The name of an account, and its role in a survey of another owner."""

    name: str
    role: Role


class Link(NamedTuple):
    """A link to private results, without the secret; the beginning of its hash identifies it."""

    id: str
    label: str
    creation_date: date


class Token(NamedTuple):
    """An API token, without the secret; the beginning of its hash identifies it."""

    id: str
    creation_date: date


class Draft(NamedTuple):
    """An author's file as it was written, not published yet."""

    key: int
    source: bytes


def token_id(token_hash: bytes) -> str:
    """Return the id that identifies a token in lists.

    32 bits of its hash tell some tokens apart, and help nobody to find a token.
    """
    return token_hash.hex()[:8]


def now() -> datetime:
    """Return the current moment, for opening and closing; it is never stored with a report."""
    return datetime.now(UTC)
