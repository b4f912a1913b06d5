"""What a person has answered and spent, as a value: one entry for each definition, the sums, and the two limits.

Every definition is charged in full, once, with fresh noise; so the loss of a person is at most the sum shown here,
whatever servers and answers do (sequential composition). An entry goes from begun (the field to ask is drawn) over
taking (an invitation is being changed for a ticket) and ticket to made (bits and charge are there) and stored. Once a
server has acknowledged the report, everything that names it is deleted: id, bits, ticket, invitation, the field asked.
There is no key, no answer and nothing derived from one.

Sums are exact: charges are decimals of at most twelve places, rounded up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from candor_client.definition import Survey
from candor_client.errors import OtherServer
from candor_client.mechanisms import round_up
from candor_client.report import Report, from_text, to_text
from candor_client.ticket import MODULUS_BYTES, Blinding, Ticket
from candor_client.verify import check_limit, verify

Limit = float | str | Decimal | None

SURVEY_LIMIT = 8  # ε for all versions of a survey, and all groups of a study
SERVER_LIMIT = 24  # ε for all surveys of one host

TEXTS = ("slug", "study", "server", "day")
BYTES = ("prefix", "salt", "r", "signature", "id", "bits")  # base64url in a file; of what is not acknowledged yet


@dataclass(frozen=True)
class Entry:
    """What this device has to do with one definition; what is not there is empty."""

    slug: str
    study: str
    server: str  # with any path before the survey's
    epsilon: Decimal = Decimal(0)  # nothing is charged before a report is made
    day: str = ""  # on which it was made
    stored: bool = False  # whether a server has acknowledged it
    asked: int | None = None
    code: str = ""
    prefix: bytes = b""
    salt: bytes = b""
    r: bytes = b""
    signature: bytes = b""
    id: bytes = b""
    bits: bytes = b""

    @property
    def state(self) -> str:
        """How far it has come: begun, taking, ticket, made or stored."""
        if self.stored:
            return "stored"
        if self.bits:
            return "made"
        return "ticket" if self.signature else "taking" if self.r else "begun"

    @property
    def host(self) -> str:
        """The name of the server, without port and path."""
        return host_of(self.server)

    @property
    def name(self) -> str:
        """The survey of which this is a version or a group."""
        return self.study or self.slug

    @property
    def blinding(self) -> Blinding | None:
        """What a pending request for a ticket was made from."""
        return Blinding(self.prefix, self.salt, int.from_bytes(self.r, "big")) if self.r else None

    @property
    def ticket(self) -> Ticket | None:
        """The ticket, as long as it is needed."""
        return Ticket(self.prefix, self.signature) if self.signature else None

    def report(self, digest: str) -> Report:
        """The report that was made, as it is sent every time."""
        return Report(digest, self.id, self.bits, self.ticket)

    def taking(self, code: str, blinding: Blinding) -> "Entry":
        """Before a blinded message is sent: all that is needed to send the same again."""
        r = blinding.r.to_bytes(MODULUS_BYTES, "big")
        return replace(self, code=code, prefix=blinding.prefix, salt=blinding.salt, r=r)

    def holding(self, ticket: Ticket) -> "Entry":
        """With a ticket, and without the invitation that it was taken for."""
        return replace(self.without_ticket(), prefix=ticket.prefix, signature=ticket.signature)

    def without_ticket(self) -> "Entry":
        """Without a ticket, or the beginning of one."""
        return replace(self, code="", prefix=b"", salt=b"", r=b"", signature=b"")

    def making(self, report: Report, epsilon: Decimal, day: str) -> "Entry":
        """With its report, charged."""
        return replace(self, id=report.id, bits=report.bits, epsilon=epsilon, day=day)

    def acknowledged(self) -> "Entry":
        """What remains: where somebody took part, on which day, and what it cost."""
        return Entry(self.slug, self.study, self.server, self.epsilon, self.day, stored=True)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a file."""
        value: dict[str, Any] = {key: getattr(self, key) for key in TEXTS}
        value |= {"epsilon": f"{self.epsilon:f}", "stored": self.stored}
        value |= {"asked": self.asked} if self.asked is not None else {}
        value |= {"code": self.code} if self.code else {}
        return value | {key: to_text(data) for key in BYTES if (data := getattr(self, key))}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Entry":
        """The inverse; ValueError, TypeError, KeyError or ArithmeticError for anything else."""
        known = {*TEXTS, *BYTES, "epsilon", "stored", "asked", "code"}
        if unknown := value.keys() - known:
            raise ValueError(f"unknown key {min(unknown)[:40]!r}")
        given: dict[str, Any] = {key: value[key] for key in (*TEXTS, "stored")}
        given |= {key: value[key] for key in ("asked", "code") if key in value}
        given |= {key: from_text(value[key]) for key in BYTES if key in value}
        return cls(**given, epsilon=Decimal(value["epsilon"]))


@dataclass(frozen=True)
class Book:
    """The entries by digest."""

    entries: Mapping[str, Entry]

    def find(self, survey: Survey, server: str) -> Entry:
        """The entry of this definition, or one to begin with; OtherServer if it has begun elsewhere in earnest."""
        entry = self.entries.get(survey.digest, Entry(survey.slug, survey.study, server))
        if entry.server == server or entry.stored:
            return entry
        if entry.state == "begun":
            return replace(entry, server=server)
        raise OtherServer(
            f"this survey was begun at {entry.server}; the same report or ticket is not sent to {server}, "
            "where it could tell who you are there"
        )

    def with_entry(self, digest: str, entry: Entry) -> "Book":
        """This book with one entry added or replaced."""
        return Book({**self.entries, digest: entry})

    def spent(self) -> Decimal:
        """ε spent in all."""
        return total(self.entries.values())

    def spent_on_survey(self, survey: Survey, server: str) -> Decimal:
        """ε spent on all versions of this survey, and on all groups of its study, at this host."""
        host, name = host_of(server), survey.study or survey.slug
        return total(
            entry
            for entry in self.entries.values()
            if entry.host == host and (entry.slug == survey.slug or entry.name == name)
        )

    def spent_on_server(self, server: str) -> Decimal:
        """ε spent on all surveys of this host."""
        host = host_of(server)
        return total(entry for entry in self.entries.values() if entry.host == host)

    def check(self, survey: Survey, server: str, limit: Limit, server_limit: Limit) -> Decimal:
        """What answering would be charged; LimitExceeded if that is more than the person allows."""
        epsilon = round_up(verify(survey))
        check_limit(epsilon, limit, self.spent_on_survey(survey, server))
        check_limit(epsilon, server_limit, self.spent_on_server(server), host_of(server))
        return epsilon


def host_of(server: str) -> str:
    """The host name of a server: without scheme, port and path, in lower case."""
    return (urlsplit(server).hostname or "").rstrip(".")


def total(entries: Iterable[Entry]) -> Decimal:
    """What entries have been charged, exactly."""
    return sum((entry.epsilon for entry in entries), Decimal(0))
