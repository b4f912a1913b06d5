"""The desk where an invitation is exchanged for a blind signature: every check once, in order, then mark, then sign.

Size, JSON, digest, the message's range, state of the survey, the invitation, tries of this code. The mark is on disk
before the signature is made, so that nobody gets two; the same message is signed again whenever it is brought, so that
nobody loses theirs to a lost reply or a crash. Marking waits for the disk and signing for a process, on a thread of the
desk's own; whoever carries HTTP waits for the future.
"""

import hashlib
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import msgspec

from candor_client.canonical import NAME
from candor_client.definition import Survey
from candor_client.errors import ReportError
from candor_client.report import from_text, to_text
from candor_client.ticket import MODULUS_BYTES, Tickets
from survey_app.accounts import secret_hash
from survey_app.collect.intake import Reply, reply
from survey_app.collect.rate_limit import Counts, Limiter
from survey_app.invitations.signer import MOST_WAITING, Signer
from survey_app.problems import Problem
from survey_app.store import (
    Mark,
    Outcome,
    Store,
    StoreError,
    TicketFile,
    Unavailable,
    now,
    opened_version,
    state_refusal,
)

TICKETS = re.compile(rf"/api/surveys/({NAME.pattern})/tickets")
LARGEST_REQUEST = 2_000  # bytes: a digest, 384 bytes in base64url, and the JSON around them
TRIES = "10/hour"
LATER = "No ticket could be signed just now. Bring the same message again later: nothing is lost."


class Issued(NamedTuple):
    """The definition of a slug that tickets are signed for now; or the code of the problem why none are."""

    digest: str
    tickets: Tickets
    refusal: Outcome | None = None


Find = Callable[[str], Issued]


def of_store(store: Store) -> Find:
    """Sign for the surveys of this server, while they are open."""

    def find(slug: str) -> Issued:
        published = opened_version(store, slug)
        if published is None:
            raise Problem("not_found", "There is no such survey.")
        tickets = published.survey.tickets
        if tickets is None or tickets.issuer:
            who = f"by {tickets.issuer}" if tickets else "to nobody: anybody may answer this survey"
            raise Problem("not_found", f"Tickets are given out {who}.")
        return Issued(published.survey.digest, tickets, state_refusal(published.at(now())))

    return find


def of_file(file: TicketFile) -> Find:
    """Sign for definitions that were published elsewhere and registered here."""

    def find(slug: str) -> Issued:
        for kept in file.living(slug):
            if kept.digest is not None and kept.definition is not None:
                tickets = _tickets_of(kept.definition)
                if tickets is not None:
                    return Issued(kept.digest, tickets)
        raise Problem("not_found", "No tickets are given out for such a survey here.")

    return find


@lru_cache(64)
def _tickets_of(definition: bytes) -> Tickets | None:
    """Parse a definition once: a large one takes 50 ms, and anybody may bring invented codes."""
    return Survey.from_stored(definition).tickets


class _Wire(msgspec.Struct, forbid_unknown_fields=True):
    survey: str
    blinded: str


_wire = msgspec.json.Decoder(_Wire).decode


def _parse(body: bytes) -> tuple[str, bytes]:
    """The digest and the blinded message of a request; a Problem if it is none."""
    if len(body) > LARGEST_REQUEST:
        raise Problem("too_large", f"At most {LARGEST_REQUEST} bytes.")
    try:
        wire = _wire(body)
        if b"\\" in body or body.count(b'"') != 8:  # msgspec keeps the last of two equal keys, and reads escapes
            raise ReportError("malformed_request", "A key occurs twice, or something is escaped.")
        message = from_text(wire.blinded)
    except (msgspec.DecodeError, UnicodeDecodeError, ReportError) as error:
        raise Problem("malformed_request", str(error)) from None
    if len(message) != MODULUS_BYTES:
        raise Problem("malformed_request", f"A blinded message has {MODULUS_BYTES} bytes.")
    return wire.survey, message


class Desk:
    """Takes invitations, gives blind signatures."""

    def __init__(
        self, file: TicketFile, find: Find, signer: Signer | None = None, counts: Counts | None = None
    ) -> None:
        self._file, self._find, self._signer = file, find, signer or Signer()
        self._tries = Limiter(TRIES, "invitations", counts)
        self._thread = ThreadPoolExecutor(1, "desk")
        self._lock, self._waiting = threading.Lock(), 0

    def take(self, slug: str, code: str | None, body: bytes) -> Future[bytes]:
        """The blind signature for a code and the message of a request, once it is made. A Problem, now or then."""
        digest, message = _parse(body)
        hashed = secret_hash(code or "")
        with self._lock:
            if self._waiting >= MOST_WAITING:
                raise Problem("unavailable", LATER)
            self._waiting += 1
        result: Future[bytes] = Future()
        result.add_done_callback(self._leave)
        self._thread.submit(self._serve, slug, digest, hashed, message, result)
        return result

    def _leave(self, _: Future[bytes]) -> None:
        with self._lock:
            self._waiting -= 1

    def _serve(self, slug: str, digest: str, code: bytes, message: bytes, result: Future[bytes]) -> None:
        try:
            signed = self._mark(slug, digest, code, message)
        except Exception as error:  # whoever waits must hear of it
            with suppress(InvalidStateError):
                result.set_exception(error)
            return
        signed.add_done_callback(lambda done: _pass_on(done, result))

    def _mark(self, slug: str, digest: str, code: bytes, message: bytes) -> Future[bytes]:
        issued = self._find(slug)
        if digest != issued.digest:
            raise Problem("wrong_survey", f"Tickets are signed for the definition {issued.digest}.")
        if not 1 < int.from_bytes(message, "big") < issued.tickets.key - 1:
            raise Problem("malformed_request", "A blinded message is a number from 2 to the modulus less two.")
        if issued.refusal:
            raise Problem(issued.refusal)
        if issued.tickets.opens and now() >= issued.tickets.opens:
            raise Problem("too_late")
        try:
            found = self._file.private(digest)
        except StoreError as error:  # they are kept elsewhere
            raise Problem("unavailable", str(error)) from None
        if found is None:  # closed while we looked
            raise Problem("survey_closed")
        row, key = found
        if not self._file.is_invited(row, code):  # counted, invented codes would fill the cells of real ones
            raise Problem("not_invited")
        try:
            self._tries.check(code.hex())
        except Problem as problem:
            told = f"One invitation may be brought so often: {TRIES}."
            raise Problem(problem.code, told, wait=problem.wait) from None
        mark = self._file.mark(row, code, hashlib.sha256(message).digest())
        if mark is Mark.UNKNOWN:
            raise Problem("not_invited")
        if mark is Mark.OTHER:
            raise Problem("already_issued")
        return self._signer.sign(key, int.from_bytes(message, "big"))

    def close(self) -> None:
        """End the signing process and the thread."""
        self._thread.shutdown()
        self._signer.close()


def _pass_on(done: Future[bytes], result: Future[bytes]) -> None:
    with suppress(InvalidStateError):  # a request that has given up
        error = done.exception()
        if error is None:
            result.set_result(done.result())
        else:
            result.set_exception(error)


def ticket_reply(outcome: bytes | BaseException) -> Reply:
    """What a respondent hears of a ticket."""
    if isinstance(outcome, bytes):
        return Reply(200, "application/json", b'{"signature":"%s"}' % to_text(outcome).encode())
    if isinstance(outcome, Unavailable | TimeoutError):
        return reply(Problem("unavailable", LATER))
    return reply(outcome)
