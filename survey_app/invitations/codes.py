"""Making invitations, and seeing who has taken a ticket. Codes are given out once, and only their hashes are kept.

Names never come here: whoever invites has a list of names and links, and looks the codes of that list up.
"""

import csv
import hmac
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import structs

from candor_client.address import Address
from candor_client.errors import CandorError
from survey_app.accounts import new_code, secret_hash
from survey_app.results.survey_document import Results
from survey_app.store import STEP, Published, Store, StoreError, TicketFile

COLUMNS = ("name", "link")
MOST_AT_ONCE = 100_000  # invitations, by a page or the API
FORMULA = ("=", "+", "-", "@", "\t")


def invite(file: TicketFile, slug: str, count: int) -> list[str]:
    """New codes, in no order."""
    codes = [new_code() for _ in range(count)]
    file.invite(slug, [secret_hash(code) for code in codes])
    return codes


def link(address: str, code: str, digest: str) -> str:
    """The link of one invitation: what is secret stands behind #, which no browser sends."""
    return f"{address}#code={code}&sha256={digest}"


def as_cell(text: str) -> str:
    """What a spreadsheet would take for a formula gets a space before it, which reading the list takes away again; so
    does static/console/invitations.js."""
    return f" {text}" if text.startswith(FORMULA) else text


def as_csv(names: Sequence[str], links: Iterable[str]) -> str:
    """The list of whoever invites: a name and a link a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(zip(map(as_cell, names), links, strict=True))
    return text.getvalue()


class Invited(NamedTuple):
    """How many were invited and have taken a ticket; the hashes, in hexadecimal, of codes that were not brought yet."""

    invited: int
    taken: int
    not_taken: list[str]


class Shown(NamedTuple):
    """What anybody may see of the invitations: steps, as of everything."""

    invited: int
    taken: int


def shown(store: Store, file: TicketFile, published: Published) -> Shown | None:
    """How the invitations stand, in steps; None where nobody is invited here."""
    survey = published.survey
    if survey.tickets is None or survey.tickets.issuer or not file.here:
        return None
    secret, final = store.secret_key(), store.is_final(published)
    made, taken = file.count(survey.digest)
    return Shown(
        *(
            count_in_steps(count, secret, f"{name} {survey.digest}", final=final)
            for name, count in (("invited", made), ("taken", taken))
        )
    )


def count_in_steps(count: int, secret: bytes, name: str, *, final: bool) -> int:
    """Return how much of a count is shown: at least a step less than there is, in steps whose lengths, from STEP to
    2·STEP − 1, are drawn from a secret. So nobody who adds to it can tell when somebody else does. At the end the rest
    is shown if it is a step, and otherwise never."""
    total, number = 0, 0
    while True:
        drawn = hmac.digest(secret, f"candor steps {name} {number}".encode(), "sha256")
        length = STEP + int.from_bytes(drawn[:8], "big") % STEP
        if total + length + STEP > count:
            return count if final and count - total >= STEP else total
        total, number = total + length, number + 1


def counted(found: Results, store: Store, file: TicketFile, published: Published) -> Results:
    """Results with the numbers of invitations and tickets, where this server invites."""
    counts = shown(store, file, published)
    return structs.replace(found, **counts._asdict()) if counts else found


def invited(file: TicketFile, digest: str) -> Invited:
    """How the invitations to answer a definition stand."""
    found = file.invited(digest)
    return Invited(
        len(found), sum(found.values()), sorted(hashed.hex() for hashed, taken in found.items() if not taken)
    )


def absent(file: TicketFile, digest: str, listed: str) -> list[str]:
    """Who of such a list has not taken a ticket, in its order; StoreError if it is no such list."""
    found = file.invited(digest)
    rows = csv.DictReader(io.StringIO(listed))
    if not rows.fieldnames or not set(COLUMNS) <= set(rows.fieldnames):
        raise StoreError("this is not the list that invite made: its first line is name,link")
    names = []
    for row in rows:
        taken = found.get(secret_hash(code_of(row["link"])))
        if taken is None:
            raise StoreError(f"the link of {row['name']} is no invitation to this survey")
        if not taken:
            names.append(row["name"].strip())
    return names


def code_of(address: str) -> str:
    """The code in a link of an invitation, with or without its host; StoreError if it has none."""
    try:
        code = Address.parse(address if "://" in address else f"https://localhost{address}").invitation
    except CandorError as error:
        raise StoreError(str(error)) from None
    if code is None:
        raise StoreError(f"{address} has no code")
    return code
