"""What is kept beside a list: who has which link, and which message they got; for whoever invites, and nobody else.

The table `people.exam.sent.csv` beside `people.csv` has a line for each person: name, email, link, invited, reminded.
It is the only place that says which code is whose. It is written anew, and moved to its place, before the first
message; each message then changes 20 bytes of it in place, on disk before the next one: `sending` before its text is
given to the SMTP server, and the moment when the server has it. Whoever is still `sending` when the table is read was
being written to when something ended, and nobody knows whether it came through.
"""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from survey_app.authoring.timestamps import moment_of
from survey_app.invitations.codes import as_cell
from survey_app.invitations.mail.recipients import ListError, Person

COLUMNS = ("name", "email", "link", "invited", "reminded")
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
WIDTH = 20
SENDING = "sending"


@dataclass
class Sent:
    """One line: a person with their link, and what became of the two messages: empty, SENDING or the moment."""

    person: Person
    invited: str = ""
    reminded: str = ""

    @property
    def unsure(self) -> bool:
        """Whether nobody knows if the last message came through."""
        return SENDING in (self.invited, self.reminded)

    @property
    def last(self) -> datetime | None:
        """When they were last written to."""
        return max((moment_of(at) for at in (self.invited, self.reminded) if at not in ("", SENDING)), default=None)


def beside(listed: Path, slug: str) -> Path:
    """Where the table of a list and a survey lies."""
    return listed.with_name(f"{listed.stem}.{slug}.sent.csv")


class Kept:
    """The table, as it is on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = self._read()
        self._places: dict[tuple[str, str], int] = {}

    def _read(self) -> dict[str, Sent]:
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError:
            raise ListError(f"{self.path} is not UTF-8 any more; save it so, it says who got a message") from None
        rows = csv.DictReader(io.StringIO(text, newline=""))
        if not rows.fieldnames or not set(COLUMNS) <= set(rows.fieldnames):
            raise ListError(f"{self.path} does not begin with {','.join(COLUMNS)}; it says who got a message")
        lines = {}
        for row in rows:
            name, email, link, *states = ((row[column] or "").strip() for column in COLUMNS)
            for state in states:
                if state not in ("", SENDING):
                    _check(state, f"{self.path}, line {rows.line_num}")
            person = Person(name, email, link)
            lines[person.key] = Sent(person, *states)
        return lines

    def write(self, lines: Sequence[Sent]) -> None:
        """Put a whole table in the place of the old one, for nobody else to read; on return it is on disk."""
        self.lines = {line.person.key: line for line in lines}
        self._places = {}
        whole = bytearray(f"{','.join(COLUMNS)}\n".encode())
        for line in lines:
            text = io.StringIO()
            person = line.person
            csv.writer(text, lineterminator="").writerow([as_cell(person.name), as_cell(person.email), person.link])
            whole += text.getvalue().encode()
            for what in ("invited", "reminded"):
                self._places[person.key, what] = len(whole) + 1
                whole += f",{getattr(line, what):{WIDTH}}".encode()
            whole += b"\n"
        new = self.path.with_name(f".{self.path.name}.new")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o600)
            file.write(whole)
            file.flush()
            os.fsync(handle)
        os.replace(new, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def mark(self, line: Sent, what: str, state: str) -> None:
        """Say what became of a message, `invited` or `reminded`; on return it is on disk."""
        setattr(line, what, state)
        handle = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(handle, f"{state:{WIDTH}}".encode(), self._places[line.person.key, what])
            os.fsync(handle)
        finally:
            os.close(handle)


def _check(state: str, place: str) -> None:
    try:
        moment_of(state)
    except ValueError:
        raise ListError(f"{place}: {state!r} is no moment; it says when a message was sent") from None
