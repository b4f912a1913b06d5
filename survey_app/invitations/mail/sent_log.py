"""The log next to a list: who has which link and got which message. Only the researcher who invites has it.

The table `people.exam.sent.csv` next to `people.csv` has a line for each person: name, email, link, invited, reminded.
Only this table connects codes with people. It is rewritten, and moved into place, before the first message. Each
message then changes 20 bytes in place, on disk before the next message: `sending` before the text goes to the SMTP
server, and the moment when the server has accepted it. If a line still says `sending` when the table is read, the
program ended during that message. Then it is unknown whether the message was delivered.
"""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from survey_app.authoring.timestamps import parse_timestamp
from survey_app.invitations.codes import escape_cell
from survey_app.invitations.mail.recipients import ListError, Person
from survey_app.store.file_system import sync_folder

COLUMNS = ("name", "email", "link", "invited", "reminded")
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
WIDTH = 20
SENDING = "sending"


@dataclass
class SentLine:
    """One line: a person with their link, and the states of the two messages: empty, SENDING or the moment."""

    person: Person
    invited: str = ""
    reminded: str = ""

    @property
    def is_unsure(self) -> bool:
        """Whether it is unknown if a message was delivered."""
        return SENDING in (self.invited, self.reminded)

    @property
    def last(self) -> datetime | None:
        """The moment of the last message to this person, or None."""
        return max(
            (parse_timestamp(at) for at in (self.invited, self.reminded) if at not in ("", SENDING)), default=None
        )


def log_path(list_path: Path, slug: str) -> Path:
    """Return the path of the log for a list and a survey."""
    return list_path.with_name(f"{list_path.stem}.{slug}.sent.csv")


class SentLog:
    """The log, as it is on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = self._read_lines()
        self._places: dict[tuple[str, str], int] = {}

    def _read_lines(self) -> dict[str, SentLine]:
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError:
            raise ListError(
                f"{self.path} is no longer UTF-8; save it as UTF-8, because it records who got a message"
            ) from None
        rows = csv.DictReader(io.StringIO(text, newline=""))
        if not rows.fieldnames or not set(COLUMNS) <= set(rows.fieldnames):
            raise ListError(
                f"{self.path} must begin with {','.join(COLUMNS)}; restore it, because it records who got a message"
            )
        lines = {}
        for row in rows:
            name, email, link, *states = ((row[column] or "").strip() for column in COLUMNS)
            for state in states:
                if state not in ("", SENDING):
                    _check(state, f"{self.path}, line {rows.line_num}")
            person = Person(name, email, link)
            lines[person.key] = SentLine(person, *states)
        return lines

    def write(self, lines: Sequence[SentLine]) -> None:
        """Replace the table by these lines, readable by its owner only; on return it is on disk."""
        self.lines = {line.person.key: line for line in lines}
        self._places = {}
        content = bytearray(f"{','.join(COLUMNS)}\n".encode())
        for line in lines:
            text = io.StringIO()
            person = line.person
            csv.writer(text, lineterminator="").writerow(
                [escape_cell(person.name), escape_cell(person.email), person.link]
            )
            content += text.getvalue().encode()
            for column in ("invited", "reminded"):
                self._places[person.key, column] = len(content) + 1
                content += f",{getattr(line, column):{WIDTH}}".encode()
            content += b"\n"
        new = self.path.with_name(f".{self.path.name}.new")
        new.unlink(missing_ok=True)  # of a run that was killed; others might be able to read it
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        os.replace(new, self.path)
        sync_folder(self.path.parent)

    def mark(self, line: SentLine, column: str, state: str) -> None:
        """Record the state of a message in its column, `invited` or `reminded`; on return it is on disk."""
        setattr(line, column, state)
        handle = os.open(self.path, os.O_WRONLY)
        try:
            os.lseek(handle, self._places[line.person.key, column], os.SEEK_SET)
            os.write(handle, f"{state:{WIDTH}}".encode())
            os.fsync(handle)
        finally:
            os.close(handle)


def _check(state: str, place: str) -> None:
    try:
        parse_timestamp(state)
    except ValueError:
        raise ListError(f"{place}: {state!r} is not a time; it must say when a message was sent") from None
