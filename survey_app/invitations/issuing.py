"""Exchanging an invitation for a blind signature: make every check once, in order, then mark the code, then sign.

The checks are: size, JSON, digest, range of the message, state of the survey, invitation, number of tries of this code.
The mark is on disk before the message is signed, so a code never gets two signatures. The same message is signed again
at every request, so a lost reply or a crash loses no ticket. Marking waits for the disk, and signing for a process.
Both run on a separate thread, and the HTTP server waits for the future.
"""

import hashlib
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import msgspec

from candor_client.canonical import NAME
from candor_client.definition import Survey
from candor_client.errors import ReportError
from candor_client.report import from_base64url, to_base64url
from candor_client.ticket import MODULUS_BYTES, Tickets
from survey_app.accounts import hash_secret
from survey_app.collect.endpoint import Endpoint, Reply, too_large
from survey_app.collect.rate_limit import Counts, Limiter
from survey_app.invitations.signer import MOST_WAITING, Signer
from survey_app.problems import Problem
from survey_app.store import (
    MarkOutcome,
    Outcome,
    Store,
    StoreError,
    TicketFile,
    now,
    opened_version,
    state_refusal,
)

TICKETS = re.compile(rf"/api/surveys/({NAME.pattern})/tickets")
LARGEST_REQUEST = 2_000  # bytes: a digest, 384 bytes in base64url, and the JSON around them
TRIES = "10/hour"
LATER = "No ticket could be signed now. Nothing is lost: send the same message again later."


class SigningTarget(NamedTuple):
    """The definition of a slug that tickets are signed for now; `refusal` says why none are signed, if so."""

    digest: str
    tickets: Tickets
    refusal: Outcome | None = None


FindTarget = Callable[[str], SigningTarget]


def make_store_finder(store: Store) -> FindTarget:
    """Return a function that finds the open surveys of this server by slug, to sign tickets for them."""

    def find(slug: str) -> SigningTarget:
        published = opened_version(store, slug)
        if published is None:
            raise Problem("not_found", "There is no such survey.")
        tickets = published.survey.tickets
        if tickets is None or tickets.issuer:
            issuer = f"Tickets are issued by {tickets.issuer}." if tickets else "Anybody can answer without a ticket."
            raise Problem("not_found", issuer)
        return SigningTarget(published.survey.digest, tickets, state_refusal(published.state_at(now())))

    return find


def make_file_finder(file: TicketFile) -> FindTarget:
    """Return a function that finds definitions by slug that another server published and that are registered here."""

    def find(slug: str) -> SigningTarget:
        for key in file.active_keys(slug):
            if key.digest is not None and key.definition is not None:
                tickets = _tickets_of(key.definition)
                if tickets is not None:
                    return SigningTarget(key.digest, tickets)
        raise Problem("not_found", "This server issues no tickets for such a survey.")

    return find


@lru_cache(64)
def _tickets_of(definition: bytes) -> Tickets | None:
    """Return the tickets section of a definition, or None.

    It is cached: parsing a large definition takes 50 ms, and anybody may send invented codes.
    """
    return Survey.from_stored(definition).tickets


class _Wire(msgspec.Struct, forbid_unknown_fields=True):
    survey: str
    blinded: str


_wire = msgspec.json.Decoder(_Wire).decode


def _parse(body: bytes) -> tuple[str, bytes]:
    """Return the digest and the blinded message of a request. Raise Problem if it is malformed."""
    if len(body) > LARGEST_REQUEST:
        raise too_large(LARGEST_REQUEST)
    try:
        wire = _wire(body)
        if b"\\" in body or body.count(b'"') != 8:  # msgspec keeps the last of two equal keys, and reads escapes
            raise ReportError("malformed_request", "A key occurs twice, or a character is escaped.")
        message = from_base64url(wire.blinded)
    except (msgspec.DecodeError, UnicodeDecodeError, ReportError) as error:
        raise Problem("malformed_request", str(error)) from None
    if len(message) != MODULUS_BYTES:
        raise Problem("malformed_request", f"A blinded message must have {MODULUS_BYTES} bytes.")
    return wire.survey, message


class TicketIssuer:
    """The exchange of invitations for blind signatures."""

    def __init__(
        self, file: TicketFile, find: FindTarget, signer: Signer | None = None, counts: Counts | None = None
    ) -> None:
        self._file, self._find, self._signer = file, find, signer or Signer()
        self._tries = Limiter(TRIES, "invitations", counts)
        self._thread = ThreadPoolExecutor(1, "issuer")
        self._lock, self._waiting = threading.Lock(), 0

    def issue(self, slug: str, code: str | None, body: bytes) -> Future[bytes]:
        """Return a future of the blind signature for a code and the message in a request body.

        Raise Problem if the request is malformed or too many are waiting; later Problems are set on the future.
        """
        digest, message = _parse(body)
        hashed = hash_secret(code or "")
        with self._lock:
            if self._waiting >= MOST_WAITING:
                raise Problem("unavailable", LATER)
            self._waiting += 1
        result: Future[bytes] = Future()
        result.add_done_callback(self._count_done)
        marked = self._thread.submit(self._mark, slug, digest, hashed, message)
        marked.add_done_callback(lambda _: _pass_on(marked, result))
        return result

    def _count_done(self, _: Future[bytes]) -> None:
        with self._lock:
            self._waiting -= 1

    def _mark(self, slug: str, digest: str, code: bytes, message: bytes) -> Future[bytes]:
        target = self._find(slug)
        if digest != target.digest:
            raise Problem("wrong_survey", f"Tickets are signed for the definition {target.digest}.")
        if not 1 < int.from_bytes(message, "big") < target.tickets.key - 1:
            raise Problem("malformed_request", "A blinded message must be a number from 2 to the modulus minus two.")
        if target.refusal:
            raise Problem(target.refusal)
        if target.tickets.opens and now() >= target.tickets.opens:
            raise Problem("too_late")
        try:
            row_and_key = self._file.private_key(digest)
        except StoreError as error:  # the keys are on another server
            raise Problem("unavailable", str(error)) from None
        if row_and_key is None:  # closed in the meantime
            raise Problem("survey_closed")
        row, key = row_and_key
        if not self._file.is_invited(row, code):  # before the rate limit, or invented codes would fill it
            raise Problem("not_invited")
        try:
            self._tries.check(code.hex())
        except Problem as problem:
            detail = f"The limit of attempts with one invitation is {TRIES}."
            raise Problem(problem.code, detail, wait=problem.wait) from None
        mark = self._file.mark(row, code, hashlib.sha256(message).digest())
        if mark is MarkOutcome.UNKNOWN_CODE:
            raise Problem("not_invited")
        if mark is MarkOutcome.OTHER_MESSAGE:
            raise Problem("already_issued")
        return self._signer.sign(key, int.from_bytes(message, "big"))

    def close(self) -> None:
        """End the signing process and the thread."""
        self._thread.shutdown()
        self._signer.close()


def _pass_on(marked: Future[Future[bytes]], result: Future[bytes]) -> None:
    """Pass on an error of the thread that marks, or the outcome of the signing process once it is there."""
    if error := marked.exception():
        result.set_exception(error)
    else:
        marked.result().add_done_callback(lambda signed: _copy_result(signed, result))


def _copy_result(source: Future[bytes], result: Future[bytes]) -> None:
    if error := source.exception():
        result.set_exception(error)
    else:
        result.set_result(source.result())


def make_ticket_reply(signature: bytes) -> Reply:
    """Return the response that carries a signature."""
    return Reply(200, "application/json", b'{"signature":"%s"}' % to_base64url(signature).encode())


def ticket_endpoint(issuer: TicketIssuer, senders: Limiter) -> Endpoint[bytes]:
    """Return the endpoint that issues tickets. `senders` limits the requests of one address."""
    return Endpoint(TICKETS, LARGEST_REQUEST, senders, issuer.issue, make_ticket_reply, LATER)
