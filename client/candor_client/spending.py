"""The content of a ledger, as a value: one entry for each definition, the sums, and the two limits.

Every definition is charged in full, once, with fresh noise. So a respondent's privacy loss is at most the sum of the
charges, for every behaviour of servers and every answer (sequential composition).

An entry passes through five states. In `begun` the field to ask is drawn. In `taking` an invitation is being exchanged
for a ticket. In `ticket` the ticket is stored. In `made` the report and its charge are stored. In `stored` a server has
acknowledged the report, and everything that identifies it is deleted: id, bits, ticket, invitation, the field asked.
An entry never holds a key, an answer or anything derived from an answer.

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
from candor_client.report import Report, from_base64url, to_base64url
from candor_client.ticket import MODULUS_BYTES, Ticket, TicketRequest
from candor_client.verify import check_limit, verify

Limit = float | str | Decimal | None

SURVEY_LIMIT = 8  # ε for all versions of a survey, and all groups of a study
SERVER_LIMIT = 24  # ε for all surveys of one host

TEXT_KEYS = ("slug", "study", "server", "day")
BYTES_KEYS = ("prefix", "salt", "r", "signature", "id", "bits")  # base64url; deleted on acknowledgement


@dataclass(frozen=True)
class Entry:
    """The state of one definition on this device; values that do not exist are empty."""

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
        """The state of the entry: begun, taking, ticket, made or stored."""
        if self.stored:
            return "stored"
        if self.bits:
            return "made"
        return "ticket" if self.signature else "taking" if self.r else "begun"

    @property
    def host(self) -> str:
        """The host name of the server, without port and path."""
        return host_of(self.server)

    @property
    def name(self) -> str:
        """The study, or the slug of a survey without a study; versions and groups share this name."""
        return self.study or self.slug

    @property
    def ticket_request(self) -> TicketRequest | None:
        """The secrets of a pending ticket request; None if there is no such request."""
        return TicketRequest(self.prefix, self.salt, int.from_bytes(self.r, "big")) if self.r else None

    @property
    def ticket(self) -> Ticket | None:
        """The ticket until the report is acknowledged; None if there is no ticket."""
        return Ticket(self.prefix, self.signature) if self.signature else None

    def report(self, digest: str) -> Report:
        """Return the report of this entry; every attempt sends the same report."""
        return Report(digest, self.id, self.bits, self.ticket)

    def with_ticket_request(self, code: str, blinding: TicketRequest) -> "Entry":
        """Return the entry with an invitation code and the secrets of a ticket request, so that it can be repeated."""
        r = blinding.r.to_bytes(MODULUS_BYTES, "big")
        return replace(self, code=code, prefix=blinding.prefix, salt=blinding.salt, r=r)

    def with_ticket(self, ticket: Ticket) -> "Entry":
        """Return the entry with a ticket, and without the invitation and the secrets of its request."""
        return replace(self.without_ticket(), prefix=ticket.prefix, signature=ticket.signature)

    def without_ticket(self) -> "Entry":
        """Return the entry without a ticket or a ticket request."""
        return replace(self, code="", prefix=b"", salt=b"", r=b"", signature=b"")

    def with_report(self, report: Report, epsilon: Decimal, day: str) -> "Entry":
        """Return the entry with its report, its charge and the day."""
        return replace(self, id=report.id, bits=report.bits, epsilon=epsilon, day=day)

    def without_report(self) -> "Entry":
        """Return the entry after acknowledgement: survey, server, day and charge, without the report."""
        return Entry(self.slug, self.study, self.server, self.epsilon, self.day, stored=True)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as JSON, without its empty values."""
        value: dict[str, Any] = {key: getattr(self, key) for key in TEXT_KEYS}
        value |= {"epsilon": f"{self.epsilon:f}", "stored": self.stored}
        value |= {"asked": self.asked} if self.asked is not None else {}
        value |= {"code": self.code} if self.code else {}
        return value | {key: to_base64url(data) for key in BYTES_KEYS if (data := getattr(self, key))}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Entry":
        """Return the entry from JSON; raise ValueError, TypeError, KeyError or ArithmeticError if it is malformed."""
        allowed = {*TEXT_KEYS, *BYTES_KEYS, "epsilon", "stored", "asked", "code"}
        if unknown := value.keys() - allowed:
            raise ValueError(f"unknown key {min(unknown)[:40]!r}")
        fields: dict[str, Any] = {key: value[key] for key in (*TEXT_KEYS, "stored")}
        fields |= {key: value[key] for key in ("asked", "code") if key in value}
        fields |= {key: from_base64url(value[key]) for key in BYTES_KEYS if key in value}
        return cls(**fields, epsilon=Decimal(value["epsilon"]))


@dataclass(frozen=True)
class Spending:
    """The content of a ledger: its entries by the digest of their definition."""

    entries: Mapping[str, Entry]

    def find_entry(self, survey: Survey, server: str) -> Entry:
        """Return the entry of a survey, or a new one; raise OtherServer if a ticket or report is for another server."""
        entry = self.entries.get(survey.digest, Entry(survey.slug, survey.study, server))
        if entry.server == server or entry.stored:
            return entry
        if entry.state == "begun":
            return replace(entry, server=server)
        raise OtherServer(
            f"this survey was begun at {entry.server}. The same report or ticket is not sent to {server}, because it "
            "could reveal who you are there"
        )

    def with_entry(self, digest: str, entry: Entry) -> "Spending":
        """Return the content with one entry added or replaced."""
        return Spending({**self.entries, digest: entry})

    def total(self) -> Decimal:
        """Return the total ε spent."""
        return sum_charges(self.entries.values())

    def spent_on_survey(self, survey: Survey, server: str) -> Decimal:
        """Return the ε spent on all versions of a survey and all groups of its study, at one host."""
        host, name = host_of(server), survey.study or survey.slug
        return sum_charges(
            entry
            for entry in self.entries.values()
            if entry.host == host and (entry.slug == survey.slug or entry.name == name)
        )

    def spent_on_server(self, server: str) -> Decimal:
        """Return the ε spent on all surveys of one host."""
        host = host_of(server)
        return sum_charges(entry for entry in self.entries.values() if entry.host == host)

    def charge(self, survey: Survey, server: str, limit: Limit, server_limit: Limit) -> Decimal:
        """Return the charge for answering a survey; raise LimitExceeded if it exceeds a limit."""
        epsilon = round_up(verify(survey))
        check_limit(epsilon, limit, self.spent_on_survey(survey, server))
        check_limit(epsilon, server_limit, self.spent_on_server(server), host_of(server))
        return epsilon


def host_of(server: str) -> str:
    """Return the host name of a server in lower case, without scheme, port and path."""
    return (urlsplit(server).hostname or "").rstrip(".")


def sum_charges(entries: Iterable[Entry]) -> Decimal:
    """Return the exact sum of the charges of some entries."""
    return sum((entry.epsilon for entry in entries), Decimal(0))
