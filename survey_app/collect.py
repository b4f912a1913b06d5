"""Receive reports: validate, store durably, acknowledge. Nothing but noisy bits gets through.

The endpoint for single reports lies in front of the app, because most of the work of a request through Flask's routing
would go into things a report has no use for; `benchmarks/collect.py` measures it. Checks run in one
order: size, JSON, digest, bits, id, state of the survey, invitation. A request waits until its report is on disk;
whatever arrives meanwhile shares the next fsync.
"""

import hashlib
import hmac
import json
import logging
import queue
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import msgspec
from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from client.definition import LARGEST_REPORT, NAME, Survey
from client.errors import ReportError
from client.report import ID_BYTES, from_text, unpack
from survey_app.problems import CONTENT_TYPE, Problem
from survey_app.store import Outcome, Store, Submission, Unavailable

log = logging.getLogger(__name__)

PLACE = re.compile(rf"/api/surveys/({NAME.pattern})/reports")
DEFAULT_RATE_LIMIT = "3000/minute"  # a lecture hall shares one address
LENGTH = re.compile(r"[0-9]{1,20}")
LARGEST_BATCH = 32_000_000
MOST_AT_ONCE = 512
LISTED_LINES = 100
WAIT_SECONDS = 30
TIDY_SECONDS, TIDY_AT_LEAST = 1.0, 60.0  # when it is quiet, and when it never is
REMEMBERED = 4096

StartResponse = Callable[..., Any]
Environ = dict[str, Any]

RESPONDENT_HEADERS = [
    ("Access-Control-Allow-Origin", "*"),
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
]
ALLOW = [("Allow", "POST, OPTIONS")]
PREFLIGHT_HEADERS = [
    ("Access-Control-Allow-Methods", "GET, POST"),
    ("Access-Control-Allow-Headers", "Content-Type, Candor-Invitation"),
    ("Access-Control-Max-Age", "86400"),
]


class _Wire(msgspec.Struct, forbid_unknown_fields=True):
    survey: str
    id: str
    bits: str


_wire = msgspec.json.Decoder(_Wire).decode


class Decoder:
    """Turns bytes into validated submissions to one survey.

    Bits that were found valid are remembered, so that a small survey, where few rows of bits exist, decodes fast.
    """

    def __init__(self, survey: Survey, key: int) -> None:
        self.survey, self.key = survey, key
        self._valid: dict[str, bytes] = {}

    def decode(self, body: bytes, invitation: bytes | None = None) -> Submission:
        """A submission, or a Problem."""
        try:
            wire = _wire(body)
            if body.count(b'"') != 12:  # three keys and three values; msgspec keeps the last of two equal keys
                raise ReportError("malformed_report", "A key occurs twice, or a text is escaped.")
            identity = from_text(wire.id)
            if len(identity) != ID_BYTES:
                raise ReportError("malformed_report", f"An id has {ID_BYTES} bytes.")
            bits = self._valid.get(wire.bits)
            if bits is None or wire.survey != self.survey.digest:
                bits = self._validate(wire)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Problem("malformed_report", str(error)) from None
        except ReportError as error:
            raise Problem(error.code, str(error)) from None
        return Submission(self.key, identity, bits, invitation)

    def _validate(self, wire: _Wire) -> bytes:
        bits = from_text(wire.bits)
        if wire.survey != self.survey.digest:
            raise Problem("wrong_survey", f"The current definition is {self.survey.digest}.")
        unpack(self.survey, bits)
        if len(self._valid) >= REMEMBERED:
            self._valid.clear()
        self._valid[wire.bits] = bits
        return bits


def invitation_hash(code: str) -> bytes:
    """What is kept of an invitation code: codes have 128 bits, so a plain hash cannot be searched."""
    return hashlib.sha256(code.encode()).digest()


class Writer:
    """One thread that stores whatever is waiting, and tells each waiting request what became of its report."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: queue.SimpleQueue[tuple[Submission, Future[Outcome]]] = queue.SimpleQueue()
        self._start = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, submission: Submission) -> Future[Outcome]:
        """What becomes of a report, once it is on disk; or Unavailable."""
        future: Future[Outcome] = Future()
        self._queue.put((submission, future))
        if self._thread is None or not self._thread.is_alive():
            self.begin()
        return future

    def begin(self) -> None:
        """Start the thread in the process that serves, not in one that forks later."""
        with self._start:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        tidied = time.monotonic()
        while True:
            try:
                waiting = [self._queue.get(timeout=TIDY_SECONDS)]
            except queue.Empty:
                waiting = []
            if self._store.untidy and (not waiting or time.monotonic() - tidied > TIDY_AT_LEAST):
                self._store.tidy()
                tidied = time.monotonic()
            if not waiting:
                continue

            def drain(waiting: list[tuple[Submission, Future[Outcome]]] = waiting) -> Sequence[Submission]:
                while len(waiting) < MOST_AT_ONCE:
                    try:
                        waiting.append(self._queue.get_nowait())
                    except queue.Empty:
                        break
                return [submission for submission, _ in waiting]

            try:
                outcomes = self._store.write(drain)
            except Exception as error:  # each waiting request must hear of it
                for _, future in waiting:
                    with suppress(InvalidStateError):  # a request that has given up
                        future.set_exception(error)
            else:
                for (_, future), outcome in zip(waiting, outcomes, strict=True):
                    with suppress(InvalidStateError):
                        future.set_result(outcome)


class Limiter:
    """So many requests a minute from one address, which is kept only as a hash with a salt that changes every hour."""

    def __init__(self, limit: str) -> None:
        self._limit: RateLimitItem | None = None if limit == "off" else parse(limit)
        self._window = FixedWindowRateLimiter(MemoryStorage())
        self._salt, self._hour = b"", -1

    def check(self, address: str) -> None:
        """Raise a Problem if the address has had enough."""
        if self._limit is None:
            return
        hour = int(time.monotonic() // 3600)
        if hour != self._hour:
            self._salt, self._hour = secrets.token_bytes(16), hour
        key = hmac.digest(self._salt, address.encode(), "sha256")[:16].hex()
        if not self._window.hit(self._limit, key):
            raise Problem("too_many_requests")


Answer = tuple[int, str, bytes]  # status, content type, body


class Intake:
    """Takes single reports. As a WSGI callable it waits for the disk, and passes everything else on to the app."""

    def __init__(self, app: Callable[[Environ, StartResponse], Iterable[bytes]], store: Store, limit: str) -> None:
        self._app, self._store = app, store
        self._writer, self._limiter = Writer(store), Limiter(limit)
        self._decoders: dict[str, Decoder] = {}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        place = PLACE.fullmatch(environ.get("PATH_INFO", ""))
        if place is None:
            return self._app(environ, start_response)
        headers = RESPONDENT_HEADERS
        if environ["REQUEST_METHOD"] == "OPTIONS":
            start_response("204 No Content", headers + PREFLIGHT_HEADERS)
            return []
        try:
            if environ["REQUEST_METHOD"] != "POST":
                raise Problem("method_not_allowed")
            self.limit(environ.get("REMOTE_ADDR", ""))
            body = _read(environ, LARGEST_REPORT)
            future = self.accept(place[1], body, environ.get("HTTP_CANDOR_INVITATION"))
            status, kind, answer = self.answer(future.result(timeout=WAIT_SECONDS))
        except Exception as error:  # a Problem or not, it ends in a problem document
            status, kind, answer = self.answer(error)
        length = ("Content-Length", str(len(answer)))
        start_response(f"{status} {HTTPStatus(status).phrase}", [("Content-Type", kind), length, *ALLOW, *headers])
        return [answer]

    def begin(self) -> None:
        """Start the writer, which first tidies up what a stop or a crash has left."""
        self._writer.begin()

    def limit(self, address: str) -> None:
        """Raise a Problem if this address has had enough."""
        self._limiter.check(address)

    def accept(self, slug: str, body: bytes, invitation: str | None) -> Future[Outcome]:
        """Validate one report and hand it to the writer; what comes of it is in the future. Problem if it is none."""
        current = self._store.current(slug)
        if current is None:
            raise Problem("not_found", "There is no such survey.")
        hashed = invitation_hash(invitation) if invitation else None
        return self._writer.submit(self._decoder(slug, *current).decode(body, hashed))

    @staticmethod
    def answer(outcome: Outcome | BaseException) -> Answer:
        """What a respondent hears."""
        if outcome is Outcome.STORED or outcome is Outcome.ALREADY_STORED:
            status = 201 if outcome is Outcome.STORED else 200
            return status, "application/json", b'{"status":"%s"}' % outcome.encode()
        if isinstance(outcome, Outcome):
            problem = Problem(outcome)
        elif isinstance(outcome, Problem):
            problem = outcome
        elif isinstance(outcome, Unavailable | TimeoutError):
            problem = Problem("unavailable")
        else:
            log.error("%s while a report was taken", type(outcome).__name__, exc_info=outcome)
            problem = Problem("internal_error")
        return problem.status, CONTENT_TYPE, problem.body()

    def _decoder(self, slug: str, key: int, digest: str) -> Decoder:
        decoder = self._decoders.get(digest)
        if decoder is None or decoder.key != key:
            published = self._store.version(slug, digest)
            if published is None:
                raise Problem("not_found", "There is no such survey.")
            if len(self._decoders) >= 100:
                self._decoders.clear()
            decoder = self._decoders[digest] = Decoder(published.survey, key)
        return decoder


def read_batch(store: Store, slug: str, body: bytes) -> dict[str, Any]:
    """Store an NDJSON batch, in transactions of a few hundred; how many lines became what, and which were rejected."""
    current = store.current(slug)
    published = current and store.version(slug, current[1])
    if published is None:
        raise Problem("not_found", "There is no such survey.")
    if published.invited:
        raise Problem("forbidden", "A survey by invitation takes no batches.")
    result: dict[str, Any] = {"stored": 0, "already_stored": 0, "rejected": {}, "rejected_lines": []}

    def reject(code: str, line: int) -> None:
        result["rejected"][code] = result["rejected"].get(code, 0) + 1
        if len(result["rejected_lines"]) < LISTED_LINES:
            result["rejected_lines"].append(line)

    decoder = Decoder(published.survey, published.key)
    waiting: list[tuple[int, Submission]] = []

    def flush() -> None:
        outcomes = store.write(lambda: [submission for _, submission in waiting])
        for (line, _), outcome in zip(waiting, outcomes, strict=True):
            if outcome in (Outcome.STORED, Outcome.ALREADY_STORED):
                result[outcome] += 1
            else:
                reject(outcome, line)
        waiting.clear()

    try:
        for line, text in enumerate(body.split(b"\n"), 1):
            if text.strip():
                try:
                    if len(text) > LARGEST_REPORT:
                        raise Problem("too_large")
                    waiting.append((line, decoder.decode(text)))
                except Problem as problem:
                    reject(problem.code, line)
            if len(waiting) >= 16 * MOST_AT_ONCE:
                flush()
        if waiting:
            flush()
    except Unavailable:
        raise Problem("unavailable", f"Stopped after: {json.dumps(result)}") from None
    return result


def _read(environ: Environ, most: int) -> bytes:
    """The body, or a Problem before it is read if it is too large."""
    said = environ.get("CONTENT_LENGTH") or ""
    if said and not LENGTH.fullmatch(said):
        raise Problem("malformed_request", "Content-Length is no number.")
    length = int(said) if said else -1
    if length > most:
        raise Problem("too_large", f"At most {most} bytes.")
    body: bytes = environ["wsgi.input"].read(length if length >= 0 else most + 1)
    if len(body) > most:
        raise Problem("too_large", f"At most {most} bytes.")
    return body
