"""The ledger: one small file on the device, written before a report is shown or sent.

One device makes one report per definition, and stores its id, bits and charge first. Every later attempt repeats the
same bytes, so that neither a failing server nor an impatient respondent can redraw the noise. The secrets of a ticket
request are stored before it is sent, so that it can be repeated after a lost reply.

`spending` defines the content of the file, and which parts are deleted once a report is acknowledged.

The file has a checksum. A damaged file is reported, never replaced, because a lost ledger would mean spending twice.
"""

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from candor_client import canonical
from candor_client.definition import Survey
from candor_client.errors import CandorError, LedgerCorrupt, LedgerError, LedgerOld
from candor_client.report import draw_field, randomize
from candor_client.sampling import RandomBytes
from candor_client.spending import SERVER_LIMIT, SURVEY_LIMIT, Entry, Limit, Spending
from candor_client.ticket import Ticket, TicketRequest

FORMAT = "candor-ledger/2"
OLD_FORMAT = "candor-ledger/1"


def default_path() -> Path:
    """Return CANDOR_LEDGER, or a path in the platform's folder for application data."""
    if path := os.environ.get("CANDOR_LEDGER"):
        return Path(path)
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "candor" / "ledger.json"


class Ledger:
    """The respondent's spending in a file, safe for concurrent processes.

    Everything that a method returns is already on disk.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = path

    @property
    def path(self) -> Path:
        """The path of the file; the default is looked up at each use."""
        return default_path() if self._path is None else Path(self._path)

    def read(self) -> Spending:
        """Return the content of the file, empty if there is none; raise LedgerError if it cannot be read."""
        try:
            source = self.path.read_bytes()
        except FileNotFoundError:
            return Spending({})
        except OSError as error:
            raise LedgerError(f"cannot read the ledger {self.path}: {error.strerror}") from error
        try:
            return _parse(source)
        except LedgerOld:
            raise LedgerOld(
                f"the ledger {self.path} has an earlier format, from which answers can be worked out. Delete it "
                "(`candor ledger forget`) or move it to a safe place; then a new one is created. The ε spent in the "
                "old one is no longer counted: do not answer a survey again that you have answered before."
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, CandorError) as error:
            raise LedgerCorrupt(
                f"the ledger {self.path} is damaged ({error}). Restore it from a backup. If there is none, move the "
                "damaged file away, and a new one is created. If you then answer a survey again, it could learn more "
                "than its ε about you."
            ) from None

    def begin(self, survey: Survey, server: str, random_bytes: RandomBytes = secrets.token_bytes) -> Entry:
        """Return the entry of a survey whose first question is about to be shown.

        With `ask`, the field to answer is drawn here, once and for all.
        """
        with self._hold_lock():
            spending = self.read()
            entry = spending.find_entry(survey, server)
            if survey.ask and entry.asked is None and entry.state != "stored":
                entry = replace(entry, asked=draw_field(survey, random_bytes))
                self._write(spending.with_entry(survey.digest, entry))
            return entry

    def take(self, survey: Survey, server: str, code: str, random_bytes: RandomBytes = secrets.token_bytes) -> Entry:
        """Store the secrets of a ticket request before it is sent, and return the entry.

        If a request is pending already, its secrets stay the same.
        """
        with self._hold_lock():
            spending = self.read()
            entry = spending.find_entry(survey, server)
            if survey.tickets and code and entry.state == "begun":
                entry = entry.with_ticket_request(code, TicketRequest.draw(survey.tickets.key, random_bytes))
                self._write(spending.with_entry(survey.digest, entry))
            return entry

    def drop(self, digest: str, pending: TicketRequest) -> None:
        """Delete a ticket request that was refused permanently."""
        with self._hold_lock():
            spending = self.read()
            entry = spending.entries.get(digest)
            if entry and entry.ticket_request == pending:
                self._write(spending.with_entry(digest, entry.without_ticket()))

    def keep(self, survey: Survey, server: str, ticket: Ticket) -> Entry:
        """Verify and store a ticket, and return the entry; raise BadTicket if it is not for this survey.

        A ticket that is stored already stays, and so does a report made with it.
        """
        if survey.tickets is None:
            raise ValueError("this survey takes no tickets")
        ticket.check(survey.tickets.key, survey.digest)
        with self._hold_lock():
            spending = self.read()
            entry = spending.find_entry(survey, server)
            if entry.state in ("begun", "taking"):
                entry = entry.with_ticket(ticket)
                self._write(spending.with_entry(survey.digest, entry))
            return entry

    def make(
        self,
        survey: Survey,
        answers: Mapping[str, Any],
        *,
        server: str,
        day: str,
        limit: Limit = SURVEY_LIMIT,
        server_limit: Limit = SERVER_LIMIT,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> tuple[Entry, bool]:
        """Return the entry with the only report to this definition, and whether it was made by this call.

        Raise LimitExceeded if it would spend more than the limits allow.
        """
        with self._hold_lock():
            spending = self.read()
            entry = spending.find_entry(survey, server)
            if entry.state in ("made", "stored"):
                return entry, False
            epsilon = spending.charge(survey, server, limit, server_limit)
            if survey.ask and entry.asked is None:
                entry = replace(entry, asked=draw_field(survey, random_bytes))
                self._write(spending.with_entry(survey.digest, entry))
            report = randomize(survey, answers, asked=entry.asked, ticket=entry.ticket, random_bytes=random_bytes)
            entry = entry.with_report(report, epsilon, day)
            self._write(spending.with_entry(survey.digest, entry))
            return entry, True

    def acknowledge(self, digest: str) -> None:
        """Delete everything that identifies a report, after the server has stored it or another with its ticket."""
        with self._hold_lock():
            spending = self.read()
            entry = spending.entries.get(digest)
            if entry and entry.state == "made":
                self._write(spending.with_entry(digest, entry.without_report()))

    def forget(self) -> None:
        """Delete the file, even if it is damaged or of an old format."""
        with self._hold_lock():
            for path in (self.path, self._new):
                path.unlink(missing_ok=True)

    @property
    def _new(self) -> Path:
        return self.path.with_name(self.path.name + ".new")

    def _write(self, spending: Spending) -> None:
        try:
            handle = os.open(self._new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "wb") as file:
                file.write(_serialize(spending))
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
    def _hold_lock(self) -> Iterator[None]:
        if not self.path.name or self.path.is_dir():
            raise LedgerError(f"{self.path} is a folder; a ledger must be a file")
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LedgerError(f"cannot lock the ledger {self.path}: {error.strerror}") from error
        with open(handle, "r+b") as file:
            _lock(file.fileno())
            yield


class MemoryLedger(Ledger):
    """A ledger in memory, for callers that keep no record; it is lost when the call ends."""

    def __init__(self) -> None:
        super().__init__()
        self._spending = Spending({})

    def read(self) -> Spending:
        """Return the content so far."""
        return self._spending

    def _write(self, spending: Spending) -> None:
        self._spending = spending

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _serialize(spending: Spending) -> bytes:
    """Return the content of the file, sorted by digest to hide the order in which surveys were answered."""
    entries = {digest: entry.to_json() for digest, entry in sorted(spending.entries.items())}
    content = {"format": FORMAT, "entries": entries}
    sealed = {"ledger": content, "sha256": hashlib.sha256(canonical.dumps(content)).hexdigest()}
    return json.dumps(sealed, indent=1).encode()


def _parse(source: bytes) -> Spending:
    sealed = json.loads(source)
    content = sealed["ledger"]
    if content["format"] == OLD_FORMAT:
        raise LedgerOld(OLD_FORMAT)
    if hashlib.sha256(canonical.dumps(content)).hexdigest() != sealed["sha256"]:
        raise ValueError("its checksum does not match")
    if content["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    return Spending({digest: Entry.from_json(entry) for digest, entry in content["entries"].items()})
