"""The checks of an incoming report, shared by all HTTP servers; only noisy bits pass.

The order is fixed: size, JSON, digest, bits, ticket, id, state of the survey. For a survey by invitation, the id must
belong to the ticket, and the ticket must be signed. The ticket is dropped here, and only its id is stored.

`report_endpoint` is what the HTTP servers call.
"""

import gc
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from itertools import repeat

import msgspec

from candor_client.canonical import NAME
from candor_client.definition import LARGEST_REPORT, Survey
from candor_client.errors import ReportError
from candor_client.report import ID_BYTES, from_base64url, to_base64url, unpack
from candor_client.ticket import MODULUS_BYTES, PREFIX_BYTES, Ticket, message, ticket_id
from survey_app.collect.endpoint import Endpoint, Reply, problem_reply, too_large
from survey_app.collect.rate_limit import Limiter
from survey_app.collect.writer import Writer
from survey_app.invitations.keys import is_signed
from survey_app.problems import Problem
from survey_app.store import Outcome, Store, Submission

REPORTS = re.compile(rf"/api/surveys/({NAME.pattern})/reports")
DECODERS, CACHE_SIZE = 100, 4096
QUOTES, QUOTES_WITH_TICKET = 12, 22  # in a report without a ticket, and with one
ID_DIGITS, SEPARATOR = 22, '","bits":"'  # of an id in base64url; the text between the id and the bits
BITS_OFFSET = ID_DIGITS + len(SEPARATOR)


class _Ticket(msgspec.Struct, forbid_unknown_fields=True):
    prefix: str
    signature: str


class _Wire(msgspec.Struct, forbid_unknown_fields=True):
    survey: str
    id: str
    bits: str
    ticket: _Ticket | msgspec.UnsetType = msgspec.UNSET


_wire = msgspec.json.Decoder(_Wire).decode


class Decoder:
    """A decoder from bytes to validated submissions to one survey.

    It caches valid bits, so that a small survey, with few possible values, decodes fast.
    """

    def __init__(self, survey: Survey, key: int) -> None:
        self.survey, self.key = survey, key
        self._valid: dict[str, bytes] = {}

    def decode(self, body: bytes) -> Submission:
        """Return the submission in the body of a request. Raise Problem if it is invalid."""
        try:
            wire = _wire(body)
            # count the quotes: msgspec keeps the last of two equal keys, and decodes escapes in keys
            if b"\\" in body or body.count(b'"') != (QUOTES if wire.ticket is msgspec.UNSET else QUOTES_WITH_TICKET):
                raise ReportError("malformed_report", "A key occurs twice, or a character is escaped.")
            identity = _decode_sized(wire.id, ID_BYTES, "An id")
            ticket = None if wire.ticket is msgspec.UNSET else _ticket(wire.ticket)
            bits = self._valid.get(wire.bits)
            if bits is None or wire.survey != self.survey.digest:
                bits = self._validate(wire)
            if ticket or self.survey.tickets:
                self._check(identity, ticket)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Problem("malformed_report", f"The body is not the JSON of a report: {error}.") from None
        except ReportError as error:
            raise Problem(error.code, str(error)) from None
        return Submission(self.key, identity, bits)

    def decode_plain(self, lines: Sequence[bytes]) -> list[Submission] | None:
        """Return the submissions of many lines at once, if each is a valid report as the client writes it.

        Otherwise return None; then `decode` finds the faulty lines.
        """
        matches: list[str] = self._plain.findall(b"\n".join(lines).decode("ascii", "replace"))
        if len(matches) != len(lines) or self.survey.tickets:
            return None
        try:
            bits = [
                self._valid.get(text) or self._remember(text, from_base64url(text))
                for text in [pair[BITS_OFFSET:] for pair in matches]
            ]
        except ReportError:
            return None
        # 24 digits are 18 bytes, of which two are zero padding.
        ids = from_base64url("".join([f"{text[:ID_DIGITS]}AA" for text in matches]))
        keys = [ids[start : start + ID_BYTES] for start in range(0, len(ids), ID_BYTES + 2)]
        return list(map(Submission._make, zip(repeat(self.key), keys, bits, strict=False)))

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        """The pattern of a line as the client writes it; the last of the 22 digits of an id has two bits."""
        digits = len(to_base64url(bytes(self.survey.length)))
        pair = rf"([\w-]{{21}}[AQgw]{SEPARATOR}[\w-]{{{digits}}})"
        return re.compile(rf'^{{"survey":"{self.survey.digest}","id":"{pair}"}}$', re.ASCII | re.MULTILINE)

    def _validate(self, wire: _Wire) -> bytes:
        bits = from_base64url(wire.bits)
        if wire.survey != self.survey.digest:
            raise Problem("wrong_survey", f"The current definition is {self.survey.digest}.")
        return self._remember(wire.bits, bits)

    def _remember(self, text: str, bits: bytes) -> bytes:
        unpack(self.survey, bits)
        if len(self._valid) >= CACHE_SIZE:
            self._valid.clear()
        self._valid[text] = bits
        return bits

    def _check(self, identity: bytes, ticket: Ticket | None) -> None:
        """Raise Problem unless the id belongs to the ticket, and the ticket was signed for this definition."""
        if self.survey.tickets is None:
            raise Problem("malformed_report", "This survey uses no tickets.")
        if ticket is None:
            raise Problem("bad_ticket")
        if identity != ticket_id(ticket.prefix):
            raise Problem("bad_ticket", "The id of a report must be the id of its ticket.")
        if not is_signed(self.survey.tickets.key, message(ticket.prefix, self.survey.digest), ticket.signature):
            raise Problem("bad_ticket", "The ticket was not signed for this definition.")


def _ticket(wire: _Ticket) -> Ticket:
    prefix = _decode_sized(wire.prefix, PREFIX_BYTES, "The prefix of a ticket")
    return Ticket(prefix, _decode_sized(wire.signature, MODULUS_BYTES, "The signature of a ticket"))


def _decode_sized(text: str, length: int, what: str) -> bytes:
    data = from_base64url(text)
    if len(data) != length:
        raise ReportError("malformed_report", f"{what} must have {length} bytes.")
    return data


class Intake:
    """The intake of single reports. `destroy_keys` is passed on to the `Writer`."""

    def __init__(self, store: Store, destroy_keys: Callable[[], bool] = lambda: True) -> None:
        self._store, self._writer = store, Writer(store, destroy_keys)
        self._decoders: dict[str, Decoder] = {}

    def begin(self) -> None:
        """Start the writer, which first cleans up after a stop or a crash.

        Exempt all objects loaded so far from garbage collection. A full collection takes as long as storing ten
        thousand reports, and as many reports trigger one.
        """
        gc.freeze()
        self._writer.begin()

    def close(self) -> None:
        """Store the waiting reports, and stop the writer."""
        self._writer.close()

    def accept(self, slug: str, body: bytes) -> Future[Outcome]:
        """Validate one report and submit it to the writer; return a future of its outcome. Raise Problem if invalid."""
        if len(body) > LARGEST_REPORT:
            raise too_large(LARGEST_REPORT)
        current = self._store.current_key_and_digest(slug)
        if current is None:
            raise Problem("not_found", "There is no such survey.")
        try:
            return self._writer.submit(self._decoder(slug, *current).decode(body))
        except Problem as problem:
            if problem.code != "wrong_survey":
                raise
            return self._accept_resent(slug, body, problem)

    def _accept_resent(self, slug: str, body: bytes, problem: Problem) -> Future[Outcome]:
        """Return the outcome of a report to an older version, if that report is stored already; store nothing.

        Otherwise raise the given problem.
        """
        published = self._store.version(slug, _wire(body).survey)
        if published is None:
            raise problem
        try:
            submission = self._decoder(slug, published.key, published.survey.digest).decode(body)
        except Problem:  # the version is the first fault to report
            raise problem from None
        stored = self._store.bits_of(submission)
        if stored is None:
            raise problem
        outcome: Future[Outcome] = Future()
        outcome.set_result(Outcome.ALREADY_STORED if stored == submission.bits else Outcome.ID_TAKEN)
        return outcome

    def _decoder(self, slug: str, key: int, digest: str) -> Decoder:
        decoder = self._decoders.get(digest)
        if decoder is None or decoder.key != key:
            published = self._store.version(slug, digest)
            if published is None:
                raise Problem("not_found", "There is no such survey.")
            if len(self._decoders) >= DECODERS:
                self._decoders.clear()
            decoder = self._decoders[digest] = Decoder(published.survey, key)
        return decoder


STORED, ALREADY_STORED = (
    Reply(status, "application/json", b'{"status":"%s"}' % outcome.encode())
    for status, outcome in ((201, Outcome.STORED), (200, Outcome.ALREADY_STORED))
)


def make_report_reply(outcome: Outcome) -> Reply:
    """Return the response to a report, for what the store did with it."""
    if outcome is Outcome.STORED:
        return STORED
    return ALREADY_STORED if outcome is Outcome.ALREADY_STORED else problem_reply(Problem(outcome))


def report_endpoint(intake: Intake, senders: Limiter) -> Endpoint[Outcome]:
    """Return the endpoint that takes reports. `senders` limits the requests of one address."""

    def submit(slug: str, _: str | None, body: bytes) -> Future[Outcome]:
        return intake.accept(slug, body)

    return Endpoint(REPORTS, LARGEST_REPORT, senders, submit, make_report_reply)
