"""The store: surveys, reports, tallies, accounts and drafts.

Reports are noisy bits under a random id, without time, address or order. Each survey has a tally: the number of reports
and one count for each stored bit. The tally changes in the same transaction as the reports. Results are read from a
*snapshot* of the tally that advances only in steps of at least twenty reports (`steps`). A visitor who polls must not
see the bits of any respondent, or the moment at which they came. A second implementation has to provide `Store`.
"""

from pathlib import Path

from survey_app.store.audit_events import Event, EventCode, EventData
from survey_app.store.protocol import Store
from survey_app.store.records import (
    Draft,
    Key,
    Link,
    Member,
    Outcome,
    PublishedSurvey,
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
    ticket_refusal,
    token_id,
)
from survey_app.store.sqlite import SqliteStore
from survey_app.store.sqlite.tickets import KeyRecord, MarkOutcome, TicketFile
from survey_app.store.steps import STEP
from survey_app.store.survey_versions import any_version, group_by_study, list_surveys, may_close, opened_version
from survey_app.store.ticket_location import NO_TICKETS, open_tickets

__all__ = [
    "NO_TICKETS",
    "STEP",
    "Draft",
    "Event",
    "EventCode",
    "EventData",
    "Key",
    "KeyRecord",
    "Link",
    "MarkOutcome",
    "Member",
    "Outcome",
    "PublishedSurvey",
    "Role",
    "Share",
    "State",
    "Store",
    "StoreError",
    "Submission",
    "TicketFile",
    "Token",
    "Unavailable",
    "User",
    "any_version",
    "group_by_study",
    "list_surveys",
    "may_close",
    "now",
    "open_store",
    "open_tickets",
    "opened_version",
    "state_refusal",
    "ticket_refusal",
    "token_id",
]  # fmt: skip


def open_store(url: str) -> Store:
    """Return the store at a URL: sqlite:///relative, sqlite:////absolute or postgresql://…

    Raise StoreError for any other URL.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return _postgres(url)
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return SqliteStore(Path(url.removeprefix("sqlite:///")))
    safe_url = f"…{url[url.rindex('@') :]}" if "@" in url else url  # hides a password
    raise StoreError(
        f"{safe_url!r} is not the URL of a database; use sqlite:///candor.db, sqlite:////an/absolute/path.db or "
        "postgresql://user@host/database"
    )


def _postgres(url: str) -> Store:
    try:
        from survey_app.store.postgres import PostgresStore  # its dependencies are an extra, and slow to import
        from survey_app.store.postgres.database import check_address
    except ImportError as error:
        raise StoreError(f"PostgreSQL needs an extra: pip install 'candor-survey[postgres]' ({error})") from None
    check_address(url)
    return PostgresStore(url)
