"""Fetch, verify, take a ticket, randomize, remember, send: the way of an answer, in order.

A report is on disk before it is sent, and whatever the server answers, it is offered the same bytes again or nothing.
An invitation never travels with a report: it buys a ticket, and what the issuer signs it has not seen.

How long a device takes to randomize tells nothing: a report leaves at the first whole second, counted from when the
device began to randomize, by which it is on disk.
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
from candor_client.errors import LedgerError, PinMismatch, Refused, ReportError, TicketNeeded, TooEarly, TooLate
from candor_client.ledger import Ledger, NoLedger
from candor_client.report import Report, from_text, to_text
from candor_client.sampling import RandomBytes
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, Book, Entry, Limit
from candor_client.ticket import Ticket
from candor_client.transport import ATTEMPTS, get, post
from candor_client.verify import verify

DEFAULT_LEDGER = Ledger()
NO_TICKET = ("not_invited", "already_issued")  # of a pending invitation: another one may take its place


@dataclass(frozen=True)
class Clock:
    """What time it is, how much has passed, and how to wait."""

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    pause: Callable[[float], None]

    @property
    def day(self) -> str:
        """Today, in UTC."""
        return self.now().strftime("%Y-%m-%d")

    def until_whole_second(self, begun: float) -> None:
        """Wait for the next whole second, the first at the earliest, counted from a reading of `monotonic`."""
        passed = self.monotonic() - begun
        self.pause(max(1, math.ceil(passed)) - passed)


SYSTEM_CLOCK = Clock(lambda: datetime.now(UTC), time.monotonic, time.sleep)


@dataclass(frozen=True)
class Receipt:
    """What a person can keep: which survey, what was sent, and what it cost. It does not say which row is theirs."""

    survey: str
    bits: bytes | None  # None where the survey was answered before, and nothing was sent
    status: str
    epsilon: Decimal
    repeated: bool  # an earlier report stands, and these answers were not used

    def to_json(self) -> bytes:
        """The receipt as a file to save."""
        value = {"survey": self.survey, "status": self.status, "epsilon": canonical.spell(self.epsilon)}
        return canonical.dumps(value | ({} if self.bits is None else {"bits": to_text(self.bits)}))


def fetch(url: str) -> Survey:
    """The survey at this address: well-formed, of this slug, and the one the link pins, if it pins one."""
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
    """The ticket of this device: the one it has, the one in the link, or one for the link's invitation."""
    address, survey = Address.parse(url), fetch(url)
    return Device(ledger or NoLedger(), limit, server_limit, random_bytes, clock).ticket(address, survey)


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
    """Answer a survey. `limit=None` allows any ε and `ledger=None` keeps no record; both must be said."""
    address, survey = Address.parse(url), fetch(url)
    device = Device(ledger or NoLedger(), limit, server_limit, random_bytes, clock)
    entry = device.entry(address, survey)
    if not entry.stored:
        verify(survey, limit)
        if survey.tickets and entry.state != "made":
            if ledger is None:
                check_phase(survey, clock)  # a ticket that cannot be kept is not taken before it can be used
            device.ticket(address, survey)
            check_phase(survey, clock)
    begun = clock.monotonic()
    entry, made = device.make(address, survey, answers)
    return Receipt(
        survey.digest, entry.bits or None, device.send(address, survey, entry, begun), entry.epsilon, not made
    )


def submit(url: str, report: Report, *, attempts: int = ATTEMPTS, clock: Clock = SYSTEM_CLOCK) -> str:
    """Send one report: "stored" or "already_stored". Unreachable servers get the same bytes again, a few times."""
    return _submit(Address.parse(url), report, attempts, clock)


def check_phase(survey: Survey, clock: Clock) -> None:
    """TooEarly while tickets are taken and nobody answers yet."""
    opens = survey.tickets.opens if survey.tickets else None
    if opens and clock.now() < opens:
        raise TooEarly(
            f"this survey takes answers from {opens:%Y-%m-%d %H:%M} UTC on. Come back then; a ticket that was taken "
            "waits in the ledger of this device.",
            opens,
        )


@dataclass(frozen=True)
class Device:
    """What answers a survey: a ledger and its limits, a source of randomness, a clock."""

    ledger: Ledger
    limit: Limit = SURVEY_LIMIT
    server_limit: Limit = SERVER_LIMIT
    random_bytes: RandomBytes = secrets.token_bytes
    clock: Clock = SYSTEM_CLOCK

    def entry(self, address: Address, survey: Survey, book: Book | None = None) -> Entry:
        """What the ledger knows of this definition."""
        return (book or self.ledger.read()).find(survey, address.server)

    def awaits_issuer(self, address: Address, survey: Survey) -> bool:
        """Whether a ticket has yet to be taken at the issuer's; TicketNeeded or TooLate if none can be."""
        entry = self.entry(address, survey)
        if survey.tickets is None or entry.ticket or entry.stored or address.ticket:
            return False
        if not (entry.blinding or address.invitation):
            raise TicketNeeded("this survey is by invitation; open the link that you were sent, with its #code=…")
        opens = survey.tickets.opens
        if opens and self.clock.now() >= opens:
            raise TooLate(f"tickets for this survey were given out until {opens:%Y-%m-%d %H:%M} UTC", opens)
        return True

    def brought(self, address: Address, survey: Survey) -> Ticket | None:
        """The ticket of the link, if this device has none: the person who made it would recognise the report."""
        entry = self.entry(address, survey)
        return None if entry.ticket or entry.stored else address.ticket

    def ticket(self, address: Address, survey: Survey) -> Ticket:
        """The ticket, from the ledger, the link or the issuer; a request that is pending is repeated first."""
        book = self.ledger.read()
        entry = self.entry(address, survey, book)
        if not self.awaits_issuer(address, survey):
            if brought := self.brought(address, survey):
                entry = self.ledger.keep(survey, address.server, brought)
            return _held(entry)
        book.check(survey, address.server, self.limit, self.server_limit)
        if entry.blinding and address.invitation not in (None, entry.code):
            try:
                return self._take(address, survey, entry)
            except Refused as refusal:
                if refusal.code not in NO_TICKET:
                    raise
                self.ledger.drop(survey.digest, entry.blinding)
        entry = self.ledger.take(survey, address.server, address.invitation or "", self.random_bytes)
        return entry.ticket or self._take(address, survey, entry)

    def _take(self, address: Address, survey: Survey, entry: Entry) -> Ticket:
        """Send what is pending: the same bytes every time, whatever happens in between."""
        if survey.tickets is None or entry.blinding is None:
            return _held(entry)
        blinded = to_text(entry.blinding.blinded(survey.tickets.key, survey.digest))
        signature = post(
            address.issuer(survey),
            f'{{"survey":"{survey.digest}","blinded":"{blinded}"}}'.encode(),
            _signature,
            headers={"Candor-Invitation": entry.code},
            attempts=ATTEMPTS,
            pause=self.clock.pause,
        )
        ticket = entry.blinding.unblind(survey.tickets.key, survey.digest, signature)
        return _held(self.ledger.keep(survey, address.server, ticket))

    def make(self, address: Address, survey: Survey, answers: Mapping[str, Any]) -> tuple[Entry, bool]:
        """The one report of this device to this definition, on disk, and whether it was made just now."""
        return self.ledger.make(
            survey,
            answers,
            server=address.server,
            day=self.clock.day,
            limit=self.limit,
            server_limit=self.server_limit,
            random_bytes=self.random_bytes,
        )

    def send(self, address: Address, survey: Survey, entry: Entry, begun: float) -> str:
        """Send what was made, at a whole second after `begun`, and forget it; nothing if that is done already.

        A ticket that another report came with ends it too; the charge stays.
        """
        if entry.stored:
            return "already_stored"
        self.clock.until_whole_second(begun)
        try:
            status = _submit(address, entry.report(survey.digest), ATTEMPTS, self.clock)
        except Refused as refusal:
            if entry.ticket and refusal.code == "id_taken":  # another report came with it, and counts
                self._end(survey)
            raise
        self._end(survey)
        return status

    def _end(self, survey: Survey) -> None:
        with suppress(LedgerError):  # what the server said must not be lost for it; the same bytes may be sent again
            self.ledger.acknowledge(survey.digest)


def _submit(address: Address, report: Report, attempts: int, clock: Clock) -> str:
    return post(f"{address.api}/reports", report.to_json(), _acknowledged, attempts=attempts, pause=clock.pause)


def _acknowledged(reply: Any) -> str | None:
    said = reply.get("status") if isinstance(reply, dict) else None
    return said if said in ("stored", "already_stored") else None


def _signature(reply: Any) -> bytes | None:
    with suppress(KeyError, TypeError, AttributeError, ReportError):
        return from_text(reply["signature"])
    return None


def _held(entry: Entry) -> Ticket:
    if entry.ticket is None:
        raise TicketNeeded("there is no ticket: this survey takes none, or this device has used it and forgotten it")
    return entry.ticket
