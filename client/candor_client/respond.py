"""The steps of answering a survey, in order: fetch, verify, take a ticket, randomize, store, send.

A report is on disk before it is sent. After any reply of the server, the client sends the same bytes again or nothing.
An invitation is never sent with a report: it is exchanged for a ticket, which the issuer signs without seeing it.

The time that a device takes to randomize is hidden: a report is sent at the first whole second after it is on disk,
counted from the moment when the device began to randomize.
"""

import math
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from candor_client import canonical
from candor_client.address import Address
from candor_client.definition import Survey
from candor_client.errors import LedgerError, PinMismatch, ReportError, ServerRefusal, TicketNeeded, TooEarly, TooLate
from candor_client.ledger import Ledger, MemoryLedger
from candor_client.report import Report, from_base64url, to_base64url
from candor_client.sampling import RandomBytes
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, Entry, Limit, Spending
from candor_client.ticket import Ticket
from candor_client.transport import ATTEMPTS, get, post
from candor_client.verify import verify

DEFAULT_LEDGER = Ledger()
REFUSALS = ("not_invited", "already_issued")  # refusals of a pending request; another invitation may replace it


@dataclass(frozen=True)
class Clock:
    """The time of day, a monotonic clock, and a function that waits."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    pause: Callable[[float], None]

    @property
    def day(self) -> str:
        """The current day, in UTC."""
        return self.now().strftime("%Y-%m-%d")

    def wait_for_second(self, start: float) -> None:
        """Wait until a whole number of seconds, at least one, has passed since `start`, a reading of `monotonic`."""
        elapsed = self.monotonic() - start
        self.pause(max(1, math.ceil(elapsed)) - elapsed)


SYSTEM_CLOCK = Clock(lambda: datetime.now(UTC), time.monotonic, time.sleep)


@dataclass(frozen=True)
class Receipt:
    """A receipt for the respondent: the survey, the bits and their ε. It does not identify the report."""

    survey: str
    bits: bytes | None  # None if the survey was answered before, so that nothing was sent
    status: str
    epsilon: Decimal
    repeated: bool  # whether an earlier report was sent, and these answers were not used

    def to_json(self) -> bytes:
        """Return the receipt as canonical JSON, to be saved in a file."""
        value = {"survey": self.survey, "status": self.status, "epsilon": canonical.spell(self.epsilon)}
        return canonical.dumps(value | ({} if self.bits is None else {"bits": to_base64url(self.bits)}))


def fetch(url: str) -> Survey:
    """Return the survey at an address; raise DefinitionError if it is malformed, or TransportError.

    Raise PinMismatch if it has another slug than the address, or another digest than the link pins.
    """
    address = Address.parse(url)
    survey = Survey.from_json(get(address.api))
    if survey.slug != address.slug:
        raise PinMismatch(f"asked for {address.slug}, but the server sent {survey.slug}")
    if address.pin not in (None, survey.digest):
        raise PinMismatch(
            f"the link pins the definition {address.pin}, but the server sent {survey.digest}; do not answer it"
        )
    return survey


def take_ticket(
    url: str,
    *,
    limit: Limit = SURVEY_LIMIT,
    server_limit: Limit = SERVER_LIMIT,
    ledger: Ledger | None = DEFAULT_LEDGER,
    random_bytes: RandomBytes = secrets.token_bytes,
    clock: Clock = SYSTEM_CLOCK,
) -> Ticket:
    """Return the ticket of this device: from the ledger, from the link, or issued for the link's invitation."""
    address, survey = Address.parse(url), fetch(url)
    return Device(ledger or MemoryLedger(), limit, server_limit, random_bytes, clock).ticket(address, survey)


def respond(
    url: str,
    answers: Mapping[str, Any],
    *,
    limit: Limit = SURVEY_LIMIT,
    server_limit: Limit = SERVER_LIMIT,
    ledger: Ledger | None = DEFAULT_LEDGER,
    random_bytes: RandomBytes = secrets.token_bytes,
    clock: Clock = SYSTEM_CLOCK,
) -> Receipt:
    """Answer a survey and return the receipt; raise CandorError.

    `limit=None` and `server_limit=None` allow any ε, and `ledger=None` keeps no record.
    If this device has made its report already, the same report is sent again and `answers` are not used.
    """
    address, survey = Address.parse(url), fetch(url)
    device = Device(ledger or MemoryLedger(), limit, server_limit, random_bytes, clock)
    device.prepare(address, survey)
    start = clock.monotonic()
    entry, is_new = device.make(address, survey, answers)
    return Receipt(
        survey.digest, entry.bits or None, device.send(address, survey, entry, start), entry.epsilon, not is_new
    )


def submit(url: str, report: Report, *, attempts: int = ATTEMPTS, clock: Clock = SYSTEM_CLOCK) -> str:
    """Send one report and return "stored" or "already_stored"; raise TransportError.

    The same bytes are sent again, up to `attempts` times, while the server is unreachable.
    """
    return _submit(Address.parse(url), report, attempts, clock)


def check_phase(survey: Survey, clock: Clock) -> None:
    """Raise TooEarly before the moment from which a survey accepts reports."""
    opens = survey.tickets.opens if survey.tickets else None
    if opens and clock.now() < opens:
        raise TooEarly(
            f"this survey accepts answers from {opens:%Y-%m-%d %H:%M} UTC on. Come back then. If you have taken a "
            "ticket, it is stored in the ledger of this device.",
            opens,
        )


@dataclass(frozen=True)
class Device:
    """A device that answers surveys: a ledger, the limits, a source of randomness and a clock."""

    ledger: Ledger
    limit: Limit = SURVEY_LIMIT
    server_limit: Limit = SERVER_LIMIT
    random_bytes: RandomBytes = secrets.token_bytes
    clock: Clock = SYSTEM_CLOCK

    def entry(self, address: Address, survey: Survey, spending: Spending | None = None) -> Entry:
        """Return the ledger's entry for a survey, or a new one; raise OtherServer."""
        return (spending or self.ledger.read()).find_entry(survey, address.server)

    def prepare(self, address: Address, survey: Survey) -> Entry:
        """Return the entry of a survey that can be answered now: verified, with a ticket, and with a field drawn.

        Raise PrivacyError, TicketError, OtherServer or TransportError if it cannot. If this device has made its report
        already, only the claim and the limit for the survey are checked.
        """
        entry = self.entry(address, survey)
        if entry.stored:
            return entry
        verify(survey, self.limit)
        if entry.state == "made":
            return entry
        if survey.tickets:
            if isinstance(self.ledger, MemoryLedger):
                check_phase(survey, self.clock)  # a ticket in memory is lost at the end, so it is not taken too early
            self.ticket(address, survey)
            check_phase(survey, self.clock)
        self.ledger.read().charge(survey, address.server, self.limit, self.server_limit)
        return self.ledger.begin(survey, address.server, self.random_bytes)

    def awaits_issuer(self, address: Address, survey: Survey) -> bool:
        """Return whether a ticket must still be taken from the issuer; raise TicketNeeded or TooLate if that fails."""
        entry = self.entry(address, survey)
        if survey.tickets is None or entry.ticket or entry.stored or address.ticket:
            return False
        if not (entry.ticket_request or address.invitation):
            raise TicketNeeded(
                "this survey is by invitation; open the complete link that you were sent, with its #code=…"
            )
        opens = survey.tickets.opens
        if opens and self.clock.now() >= opens:
            raise TooLate(f"tickets for this survey were issued until {opens:%Y-%m-%d %H:%M} UTC", opens)
        return True

    def link_ticket(self, address: Address, survey: Survey) -> Ticket | None:
        """Return the ticket of the link if this device has none of its own; None otherwise.

        The person who made that ticket could recognise the report.
        """
        entry = self.entry(address, survey)
        return None if entry.ticket or entry.stored else address.ticket

    def ticket(self, address: Address, survey: Survey) -> Ticket:
        """Return the ticket from the ledger, the link or the issuer; a pending request is repeated first.

        Raise TicketError, LimitExceeded or TransportError if there is none.
        """
        spending = self.ledger.read()
        entry = self.entry(address, survey, spending)
        if not self.awaits_issuer(address, survey):
            if ticket := self.link_ticket(address, survey):
                entry = self.ledger.keep(survey, address.server, ticket)
            return _require_ticket(entry)
        spending.charge(survey, address.server, self.limit, self.server_limit)
        if entry.ticket_request and address.invitation not in (None, entry.code):
            try:
                return self._take(address, survey, entry)
            except ServerRefusal as refusal:
                if refusal.code not in REFUSALS:
                    raise
                self.ledger.drop(survey.digest, entry.ticket_request)
        entry = self.ledger.take(survey, address.server, address.invitation or "", self.random_bytes)
        return entry.ticket or self._take(address, survey, entry)

    def _take(self, address: Address, survey: Survey, entry: Entry) -> Ticket:
        """Send the pending ticket request, store the ticket and return it. Every attempt sends the same bytes."""
        if survey.tickets is None or entry.ticket_request is None:
            return _require_ticket(entry)
        blinded = to_base64url(entry.ticket_request.blind_message(survey.tickets.key, survey.digest))
        signature = post(
            address.issuer(survey),
            f'{{"survey":"{survey.digest}","blinded":"{blinded}"}}'.encode(),
            _parse_signature,
            headers={"Candor-Invitation": entry.code},
            attempts=ATTEMPTS,
            pause=self.clock.pause,
        )
        ticket = entry.ticket_request.unblind(survey.tickets.key, survey.digest, signature)
        return _require_ticket(self.ledger.keep(survey, address.server, ticket))

    def make(self, address: Address, survey: Survey, answers: Mapping[str, Any]) -> tuple[Entry, bool]:
        """Return the entry with this device's only report to a survey, and whether this call made the report.

        The report is on disk.
        """
        return self.ledger.make(
            survey,
            answers,
            server=address.server,
            day=self.clock.day,
            limit=self.limit,
            server_limit=self.server_limit,
            random_bytes=self.random_bytes,
        )

    def send(self, address: Address, survey: Survey, entry: Entry, start: float) -> str:
        """Send the report of an entry at a whole second after `start`, and return its status.

        After acknowledgement the report is deleted from the ledger; its charge stays. It is deleted too if another
        report with the same ticket was stored. A report that the server has stored already is not sent again.
        """
        if entry.stored:
            return "already_stored"
        self.clock.wait_for_second(start)
        try:
            status = _submit(address, entry.report(survey.digest), ATTEMPTS, self.clock)
        except ServerRefusal as refusal:
            if entry.ticket and refusal.code == "id_taken":  # another report with this ticket was stored
                self._forget_report(survey)
            raise
        self._forget_report(survey)
        return status

    def _forget_report(self, survey: Survey) -> None:
        with suppress(LedgerError):  # the server's reply matters more; the same bytes may be sent again
            self.ledger.acknowledge(survey.digest)


def _submit(address: Address, report: Report, attempts: int, clock: Clock) -> str:
    return post(f"{address.api}/reports", report.to_json(), _parse_status, attempts=attempts, pause=clock.pause)


def _parse_status(reply: Any) -> str | None:
    status = reply.get("status") if isinstance(reply, dict) else None
    return status if status in ("stored", "already_stored") else None


def _parse_signature(reply: Any) -> bytes | None:
    with suppress(KeyError, TypeError, AttributeError, ReportError):
        return from_base64url(reply["signature"])
    return None


def _require_ticket(entry: Entry) -> Ticket:
    if entry.ticket is None:
        raise TicketNeeded("there is no ticket: this survey uses none, or this device has used and deleted it")
    return entry.ticket
