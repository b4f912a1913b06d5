"""Who is written to: a CSV with an address a line, read strictly, because a wrong one writes to the wrong person.

`email` is needed, `name` and `link` may be there (a list that `candor survey invite` or the console made has them);
whatever else stands in the table is left alone. Every fault is told with its line, all at once.
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
DELIMITERS = ",;\t"  # spreadsheets write what their country writes


class ListError(Exception):
    """What is wrong with a list, a line for each fault."""


class Person(NamedTuple):
    """Somebody to write to; the link is empty unless the list has one."""

    name: str
    email: str
    link: str = ""

    @property
    def key(self) -> str:
        """What tells two people apart: the address, however it is written."""
        return self.email.casefold()


class People(NamedTuple):
    """Everybody of a list, once, in its order; and what was left out, a sentence each."""

    everybody: list[Person]
    left_out: list[str]


def read(data: bytes) -> People:
    """The people of a list; ListError with everything that is wrong with it."""
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
        person = Person(name, plain(email), link)
        if person.key in everybody:
            before = everybody[person.key][0]
            left_out.append(f"line {line}: {email} stands on line {before} already, and gets one message")
            continue
        everybody[person.key] = line, person
    if faults:
        raise ListError("\n".join(faults))
    if not everybody:
        raise ListError("there is nobody on this list")
    return People([person for _, person in everybody.values()], left_out)


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ListError(f"line {line}: this is not UTF-8; save the table as CSV in UTF-8") from None
    head = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [column.strip().casefold() for column in next(reader, [])]
        if "email" not in columns:
            raise ListError("line 1: the first line names the columns, and one of them is email: name,email")
        if len(set(columns)) < len(columns):
            raise ListError("line 1: a column stands there twice")
        for row in reader:
            if row and len(row) != len(columns):
                raise ListError(f"line {reader.line_num}: it has {len(row)} columns, and the first line {len(columns)}")
            yield reader.line_num, dict(zip(columns, row, strict=False))
    except csv.Error as error:
        raise ListError(f"line {reader.line_num}: {error}") from None


def _fault(name: str, email: str) -> str | None:
    if not on_one_line(name) or len(name) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME} characters, on one line"
    try:
        plain(email)
    except ValueError:
        return f"{email!r} is not an address, such as ada@example.org" if email else "the address is missing"
    return None


def on_one_line(text: str) -> bool:
    """Whether a text has no character that ends a line, or controls anything: what is behind it would be a header."""
    return not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text)


def plain(email: str) -> str:
    """An address with its host as the network writes it (IDNA); ValueError if it is none."""
    local, _, host = email.rpartition("@")
    if not LOCAL.fullmatch(local) or not local.isprintable() or ".." in f".{local}.":
        raise ValueError(email)
    named = host.encode("idna").decode("ascii").lower()
    if not HOST.fullmatch(named) or named.endswith("."):
        raise ValueError(email)
    return f"{local}@{named}"
