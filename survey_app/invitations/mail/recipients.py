"""Parsing the list of recipients: a CSV with one address per line.

Parsing is strict, because a wrong address writes to the wrong person. The column `email` is required, `name` and `link`
are optional; a list from `candor survey invite` or the console has them. Other columns are ignored. All faults are
reported at once, each with its line.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from candor_client.address import HOST

LOCAL = re.compile(r"[^\s@<>()\[\],;:\\\"]{1,64}")
LONGEST_NAME = 200
DELIMITERS = ",;\t"  # spreadsheets use the delimiter of their country


class ListError(Exception):
    """Nothing can be sent: the message says why."""


class ListFaults(ListError):
    """The faults of a list, one per line; the message does not name the file."""


class Person(NamedTuple):
    """A recipient; the link is empty unless the list has one."""

    name: str
    email: str
    link: str = ""

    @property
    def key(self) -> str:
        """The address in lower case, which identifies a person."""
        return self.email.casefold()


class RecipientList(NamedTuple):
    """The people on a list, each once and in the order of the list, and one sentence for each skipped duplicate."""

    people: list[Person]
    duplicates: list[str]


def read_recipients(data: bytes) -> RecipientList:
    """Return the people on a list. Raise ListFaults with all its faults."""
    rows = _rows(data)
    everybody: dict[str, tuple[int, Person]] = {}
    faults, left_out = [], []
    for line, row in rows:
        name, email, link = ((row.get(key) or "").strip() for key in ("name", "email", "link"))
        if not any((name, email, link)):
            continue
        if fault := _fault(name, email):
            faults.append(f"line {line}: {fault}")
            continue
        person = Person(name, normalize_address(email), link)
        if person.key in everybody:
            first_line = everybody[person.key][0]
            left_out.append(f"line {line}: {email} is already on line {first_line}, and gets only one message")
            continue
        everybody[person.key] = line, person
    if faults:
        raise ListFaults("\n".join(faults))
    if not everybody:
        raise ListFaults("this list has no recipients")
    return RecipientList([person for _, person in everybody.values()], left_out)


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ListFaults(f"line {line}: this is not UTF-8; save the table as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [column.strip().casefold() for column in next(reader, [])]
        if "email" not in columns:
            raise ListFaults("line 1: the first line must name the columns, including email, as in name,email")
        if len(set(columns)) < len(columns):
            raise ListFaults("line 1: a column name occurs twice")
        for row in reader:
            if row and len(row) != len(columns):
                counts = f"expected {len(columns)} columns, as in the first line, but found {len(row)}"
                raise ListFaults(f"line {reader.line_num}: {counts}")
            yield reader.line_num, dict(zip(columns, row, strict=False))
    except csv.Error as error:
        raise ListFaults(f"line {reader.line_num}: {error}") from None


def _fault(name: str, email: str) -> str | None:
    if not is_single_line(name) or len(name) > LONGEST_NAME:
        return f"a name must have at most {LONGEST_NAME} characters, on one line"
    try:
        normalize_address(email)
    except ValueError:
        return f"{email!r} is not an address such as ada@example.org" if email else "the address is missing"
    return None


def is_single_line(text: str) -> bool:
    """Return whether a text has no line break or control character; text after one could become a header."""
    return not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text)


def normalize_address(email: str) -> str:
    """Return an address with its host in the form of the network (IDNA). Raise ValueError if it is no address."""
    local, _, host = email.rpartition("@")
    if not LOCAL.fullmatch(local) or not local.isprintable() or ".." in f".{local}.":
        raise ValueError(email)
    ascii_host = host.encode("idna").decode("ascii").lower()
    if not HOST.fullmatch(ascii_host) or ascii_host.endswith("."):
        raise ValueError(email)
    return f"{local}@{ascii_host}"
