"""What this device has answered, and what it has spent: one small file that stays on the device.

One device makes one report per definition. Id, bits and charge are on disk before they are shown or sent, and every
later attempt repeats the same bytes, so that neither a failing server nor an impatient person can have the noise
redrawn. Across versions and waves of one slug the noise is keyed, not redrawn (Erlingsson, Pihur and Korolova 2014
call it permanent): the byte stream of a field is

    HMAC-SHA-256(device key, slug ‖ 0 ‖ field digest ‖ 0 ‖ indices before rounding ‖ 0 ‖ counter), counter = 0, 1, …

with the indices as canonical JSON, `[3]`, and the counter as eight bytes, big-endian. The same question with the same
answer therefore gives the same bits, at no further cost; a changed answer is a new draw and a new charge, and that it
changed may show. Which noise was drawn before is known by its tag, the first bytes of a stream of its own; charging
by the bits instead would make draws free once all outcomes had been seen. Slugs never share noise, because equal bits
would link a person across surveys.

No answer is written down, but whoever copies the file has the key beside bits and tags and can work answers out: it
is as private as the answers are. It carries a checksum; a damaged file is reported, never replaced, since a lost key
would mean spending twice.
"""

import hashlib
import hmac
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

from client import canonical
from client.answer import encode
from client.definition import Field, Survey
from client.errors import CandorError, LedgerCorrupt, LedgerError, OtherServer
from client.mechanism import EXACT, round_up
from client.report import Report, assemble, draw_asked, from_text, to_text
from client.sampling import RandomBytes
from client.verify import check_limit

FORMAT = "candor-ledger/1"
KEY_BYTES = 32
TAG_BYTES = 12


@dataclass(frozen=True)
class Entry:
    """One report this device has made."""

    slug: str
    origin: str  # the server it was made for; its id must never reach another
    report: Report
    epsilon: Decimal
    stored: bool  # whether a server has acknowledged it


@dataclass(frozen=True)
class Book:
    """The ledger's content; `drawn` holds the tags of all noise that was ever drawn."""

    key: bytes
    entries: Mapping[str, Entry]
    drawn: frozenset[str]

    def spent(self, slug: str | None = None) -> Decimal:
        """ε spent on one slug, or on all."""
        return sum((e.epsilon for e in self.entries.values() if slug in (None, e.slug)), Decimal(0))

    def asked(self, survey: Survey) -> int | None:
        """The field this device answers, None if all; the same in every wave with the same fields."""
        if not survey.ask:
            return None
        drawn = "".join(f"{field.digest} {field.chance} " for field in survey.fields)
        fields = hashlib.sha256(drawn.encode()).hexdigest()
        return draw_asked(survey, keyed_stream(self.key, survey.slug, fields, "ask"))

    def answer(self, survey: Survey, answers: Mapping[str, Any], origin: str, random_bytes: RandomBytes) -> "Book":
        """This book with one more entry."""
        charges: dict[str, Decimal] = {}

        def noise(field: Field, codes: list[int]) -> RandomBytes:
            context = (survey.slug, field.digest, canonical.dumps(codes).decode())
            tag = to_text(keyed_stream(self.key, *context, "drawn")(TAG_BYTES))
            if tag not in self.drawn:
                charges[tag] = field.mechanism.epsilon
            return keyed_stream(self.key, *context)

        asked = self.asked(survey)
        report = assemble(survey, encode(survey, answers, asked), asked, noise, random_bytes)
        with localcontext(EXACT):
            charge = sum(charges.values(), Decimal(0))
        entry = Entry(survey.slug, origin, report, round_up(charge), stored=False)
        entries = {**self.entries, survey.digest: entry}
        return replace(self, entries=entries, drawn=self.drawn.union(charges))


def keyed_stream(key: bytes, *context: str) -> RandomBytes:
    """A byte source that is a function of the key and the context."""
    prefix = hmac.new(key, b"".join(part.encode() + b"\0" for part in context), hashlib.sha256)
    left, counter = bytearray(), 0

    def random_bytes(count: int) -> bytes:
        nonlocal counter
        while len(left) < count:
            digest = prefix.copy()
            digest.update(counter.to_bytes(8, "big"))
            left.extend(digest.digest())
            counter += 1
        taken = bytes(left[:count])
        del left[:count]
        return taken

    return random_bytes


def default_path() -> Path:
    """CANDOR_LEDGER, or the platform's place for a program's data."""
    if named := os.environ.get("CANDOR_LEDGER"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "candor" / "ledger.json"


class Ledger:
    """The ledger in a file; safe under several processes at once."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """Where it is; the default place is looked up at each use."""
        return default_path() if self._path is None else Path(self._path)

    def read(self) -> Book | None:
        """The content, or None if this device has no ledger yet."""
        try:
            source = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot read the ledger {self.path}: {error.strerror}") from error
        try:
            return _parse(source)
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, CandorError) as error:
            raise LedgerCorrupt(
                f"the ledger {self.path} is damaged ({error}). Restore it from a backup. If there is none, move it "
                "away to begin a new one; surveys answered before could then learn more than their ε about you."
            ) from None

    def open(self, random_bytes: RandomBytes = secrets.token_bytes) -> Book:
        """The content, after making the device's key if there was none."""
        with self._locked():
            return self._read_or_begin(random_bytes)

    def make(
        self,
        survey: Survey,
        answers: Mapping[str, Any],
        *,
        limit: float | str | Decimal | None,
        origin: str = "",
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> tuple[Entry, bool]:
        """The one report to this definition, and whether it was made just now; it is on disk on return."""
        with self._locked():
            book = self._read_or_begin(random_bytes)
            if survey.digest in book.entries:
                entry = book.entries[survey.digest]
                if entry.origin != origin:
                    raise OtherServer(
                        f"this survey was answered at {entry.origin}; the same report is not sent to {origin}, "
                        "where its id could tell who you are there"
                    )
                return entry, False
            after = book.answer(survey, answers, origin, random_bytes)
            entry = after.entries[survey.digest]
            check_limit(entry.epsilon, limit, book.spent(survey.slug))
            self._write(after)
            return entry, True

    def mark_stored(self, digest: str) -> None:
        """Remember that a server acknowledged the report."""
        with self._locked():
            book = self.read()
            if book and digest in book.entries and not book.entries[digest].stored:
                entry = replace(book.entries[digest], stored=True)
                self._write(replace(book, entries={**book.entries, digest: entry}))

    def forget(self) -> None:
        """Delete the file, damaged or not: key, reports, charges."""
        with self._locked():
            for path in (self.path, self._new):
                path.unlink(missing_ok=True)

    @property
    def _new(self) -> Path:
        return self.path.with_name(self.path.name + ".new")

    def _read_or_begin(self, random_bytes: RandomBytes) -> Book:
        book = self.read()
        if book is None:
            key = random_bytes(KEY_BYTES)
            if len(key) != KEY_BYTES:
                raise ValueError(f"random_bytes({KEY_BYTES}) returned {len(key)} bytes")
            book = Book(key, {}, frozenset())
            self._write(book)
        return book

    def _write(self, book: Book) -> None:
        try:
            handle = os.open(self._new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "wb") as file:
                file.write(_spell(book))
                file.flush()
                os.fsync(file.fileno())
            os.replace(self._new, self.path)
            if os.name == "posix":
                directory = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(directory)
                finally:
                    os.close(directory)
        except OSError as error:
            raise LedgerError(f"cannot write the ledger {self.path}: {error.strerror}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if not self.path.name or self.path.is_dir():
            raise LedgerError(f"{self.path} is a directory; a ledger is a file")
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LedgerError(f"cannot lock the ledger {self.path}: {error.strerror}") from error
        with open(handle, "r+b") as file:
            _lock(file.fileno())
            yield


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _spell(book: Book) -> bytes:
    content = {
        "format": FORMAT,
        "key": to_text(book.key),
        "reports": {
            digest: {
                "slug": entry.slug,
                "origin": entry.origin,
                "id": to_text(entry.report.id),
                "bits": to_text(entry.report.bits),
                "epsilon": str(entry.epsilon),
                "stored": entry.stored,
            }
            for digest, entry in book.entries.items()
        },
        "drawn": sorted(book.drawn),
    }
    sealed = {"ledger": content, "sha256": hashlib.sha256(canonical.dumps(content)).hexdigest()}
    return json.dumps(sealed, indent=1).encode()


def _parse(source: bytes) -> Book:
    sealed = json.loads(source)
    content = sealed["ledger"]
    if hashlib.sha256(canonical.dumps(content)).hexdigest() != sealed["sha256"]:
        raise ValueError("its checksum does not match")
    if content["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    entries = {
        digest: Entry(
            entry["slug"],
            entry["origin"],
            Report(digest, from_text(entry["id"]), from_text(entry["bits"])),
            Decimal(entry["epsilon"]),
            entry["stored"],
        )
        for digest, entry in content["reports"].items()
    }
    return Book(from_text(content["key"]), entries, frozenset(content["drawn"]))
