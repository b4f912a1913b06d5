"""What is kept, and what the rest of the server may ask of it.

Reports are noisy bits under a random id, without time, address or order. A tally for each survey, the number of reports
and one count for each stored bit, changes in the same transaction. Results are read from a *snapshot* of the tally that
advances only in steps of at least twenty reports (`steps`): whoever polls must not see anyone's bits or their moment.
`Store` is what a second implementation has to offer.
"""

from pathlib import Path

from survey_app.store.protocol import Store
from survey_app.store.records import (
    Draft,
    Event,
    Key,
    Link,
    Member,
    Outcome,
    Published,
    Role,
    Share,
    State,
    StoreError,
    Submission,
    Token,
    Unavailable,
    User,
    now,
    state_refusal,
    token_id,
    too_late,
)
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.tickets import Kept, Mark, TicketFile
from survey_app.store.steps import STEP
from survey_app.store.tickets import NONE_HERE, open_tickets
from survey_app.store.versions import any_version, grouped, listed, may_close, opened_version

__all__ = [
    "NONE_HERE", "STEP", "Draft", "Event", "Kept", "Key", "Link", "Mark", "Member", "Outcome",
    "Published", "Role", "Share", "State", "Store", "StoreError", "Submission", "TicketFile", "Token", "Unavailable",
    "User", "any_version", "grouped", "listed", "may_close", "now", "open_store", "open_tickets", "opened_version",
    "state_refusal", "token_id", "too_late",
]  # fmt: skip


def open_store(url: str) -> Store:
    """The store that a URL names: sqlite:///relative, sqlite:////absolute, postgresql://…"""
    if url.startswith(("postgresql://", "postgres://")):
        return _postgres(url)
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return SqliteStore(Path(url.removeprefix("sqlite:///")))
    shown = f"…{url[url.rindex('@') :]}" if "@" in url else url  # without a password
    raise StoreError(
        f"{shown!r} names no store; write sqlite:///candor.db, sqlite:////an/absolute/path.db or postgresql://user@host/database"
    )


def _postgres(url: str) -> Store:
    try:
        from survey_app.store.postgres import PostgresStore  # what it needs comes with an extra, and takes a moment
        from survey_app.store.postgres.database import check_address
    except ImportError as error:
        raise StoreError(f"PostgreSQL needs an extra: pip install 'candor-survey[postgres]' ({error})") from None
    check_address(url)
    return PostgresStore(url)
