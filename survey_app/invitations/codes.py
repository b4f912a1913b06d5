"""Creating invitations, and finding out which codes have taken a ticket.

Codes are returned once, and only their hashes are stored. Names are never stored: the researcher who invites has a list
of names and links, and looks up the codes of that list.
"""

import csv
import hmac
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import structs

from candor_client.address import Address
from candor_client.errors import CandorError
from survey_app.accounts import hash_secret, new_code
from survey_app.results.survey_document import Results
from survey_app.store import STEP, PublishedSurvey, Store, StoreError, TicketFile

COLUMNS = ("name", "link")
MOST_AT_ONCE = 100_000  # invitations, by a page or the API
FORMULA = ("=", "+", "-", "@", "\t")


def invite(file: TicketFile, slug: str, count: int) -> list[str]:
    """Create and store new invitations to a survey; return their codes."""
    codes = [new_code() for _ in range(count)]
    file.invite(slug, [hash_secret(code) for code in codes])
    return codes


def format_link(address: str, code: str, digest: str) -> str:
    """Return the link of one invitation; the secret code is in the fragment after #, which no browser sends."""
    return f"{address}#code={code}&sha256={digest}"


def escape_cell(text: str) -> str:
    """Put a space before a text that a spreadsheet would take for a formula; reading the list removes it again.

    static/console/invitations.js does the same.
    """
    return f" {text}" if text.startswith(FORMULA) else text


def format_csv(names: Sequence[str], links: Iterable[str]) -> str:
    """Return the list of invitations as CSV, with a name and a link on each line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(zip(map(escape_cell, names), links, strict=True))
    return text.getvalue()


class InvitationStatus(NamedTuple):
    """The numbers of invitations and tickets taken, and the hashes of unused codes, in hexadecimal."""

    invited: int
    taken: int
    not_taken: list[str]


class PublicCounts(NamedTuple):
    """The public numbers of invitations and tickets taken; like all public numbers, they advance in steps."""

    invited: int
    taken: int


def public_counts(store: Store, file: TicketFile, published: PublishedSurvey) -> PublicCounts | None:
    """Return the numbers of invitations and tickets in steps; None if this server invites nobody to the survey."""
    survey = published.survey
    if survey.tickets is None or survey.tickets.issuer or not file.is_available:
        return None
    secret, final = store.secret_key(), store.is_final(published)
    created, taken = file.count_invitations(survey.digest)
    return PublicCounts(
        *(
            count_in_steps(count, secret, f"{name} {survey.digest}", final=final)
            for name, count in (("invited", created), ("taken", taken))
        )
    )


def count_in_steps(count: int, secret: bytes, name: str, *, final: bool) -> int:
    """Return the part of a count that is shown: at least a step less than the count.

    It advances in steps whose lengths, from STEP to 2·STEP − 1, are drawn with a secret. So a person who adds to the
    count cannot tell when others do. If the count is final, the rest is shown if it is a step, and otherwise never.
    """
    total, number = 0, 0
    while True:
        digest = hmac.digest(secret, f"candor steps {name} {number}".encode(), "sha256")
        length = STEP + int.from_bytes(digest[:8], "big") % STEP
        if total + length + STEP > count:
            return count if final and count - total >= STEP else total
        total, number = total + length, number + 1


def add_invitation_counts(results: Results, store: Store, file: TicketFile, published: PublishedSurvey) -> Results:
    """Return results with the numbers of invitations and tickets added, if this server invites to the survey."""
    counts = public_counts(store, file, published)
    return structs.replace(results, **counts._asdict()) if counts else results


def invitation_status(file: TicketFile, digest: str) -> InvitationStatus:
    """Return the numbers of invitations and tickets of a definition, and its unused codes."""
    is_taken = file.invitations(digest)
    return InvitationStatus(
        len(is_taken), sum(is_taken.values()), sorted(hashed.hex() for hashed, taken in is_taken.items() if not taken)
    )


def names_without_ticket(file: TicketFile, digest: str, list_csv: str) -> list[str]:
    """Return the names on a list of invitations that have not taken a ticket, in the order of the list.

    Raise StoreError if the CSV is not a list that `format_csv` made, or if a link is no invitation to this survey.
    """
    is_taken = file.invitations(digest)
    rows = csv.DictReader(io.StringIO(list_csv))
    if not rows.fieldnames or not set(COLUMNS) <= set(rows.fieldnames):
        raise StoreError("this is not a list that invite printed: its first line must be name,link")
    names = []
    for row in rows:
        taken = is_taken.get(hash_secret(parse_code(row["link"])))
        if taken is None:
            raise StoreError(f"the link of {row['name']} is not an invitation to this survey")
        if not taken:
            names.append(row["name"].strip())
    return names


def parse_code(address: str) -> str:
    """Return the code in the link of an invitation, with or without its host. Raise StoreError if it has none."""
    try:
        code = Address.parse(address if "://" in address else f"https://localhost{address}").invitation
    except CandorError as error:
        raise StoreError(str(error)) from None
    if code is None:
        raise StoreError(f"{address} has no invitation code")
    return code
