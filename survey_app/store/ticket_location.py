"""The location of tickets: a file next to the store, on one server only; or none.

The data of an issuer must never share a journal with reports, so it is never in PostgreSQL. There the environment
variable CANDOR_TICKETS names a file on one of the servers. The other servers issue no tickets and say so.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from survey_app.store.protocol import Store
from survey_app.store.records import Key, StoreError
from survey_app.store.sqlite.tickets import KeyRecord, TicketFile

NO_TICKETS = (
    "this server issues no tickets: with PostgreSQL, tickets are in a file on one server. On that server, set "
    "CANDOR_TICKETS to the file, and let the proxy send /api/surveys/*/tickets there; or use a separate issuer"
)


class NoTickets(TicketFile):
    """A stand-in for the ticket file on servers that have none; it stores nothing."""

    is_available = False

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))

    def migrate(self) -> None:
        """Do nothing: there are no tables to create."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Do nothing: there is no file that others could change."""
        yield

    def add_key(self, slug: str, key: Key, digest: str | None = None) -> None:
        """Raise StoreError."""
        raise StoreError(NO_TICKETS)

    def invite(self, slug: str, hashes: Sequence[bytes]) -> None:
        """Raise StoreError."""
        raise StoreError(NO_TICKETS)

    def private_key(self, digest: str) -> tuple[int, Key] | None:
        """Raise StoreError: the key may be on another server."""
        raise StoreError(NO_TICKETS)

    def active_keys(self, slug: str | None = None) -> list[KeyRecord]:
        """Return no keys."""
        return []

    def slugs(self) -> list[str]:
        """Return no slugs."""
        return []

    def drop_key(self, digest: str) -> None:
        """Do nothing: there is no key."""

    def invitations(self, digest: str) -> dict[bytes, bool]:
        """Raise StoreError: the invitations are on another server."""
        raise StoreError(NO_TICKETS)

    def count_invitations(self, digest: str) -> tuple[int, int]:
        """Raise StoreError: the invitations are on another server."""
        raise StoreError(NO_TICKETS)


def open_tickets(store: Store) -> TicketFile:
    """Return the ticket file of a store, created if needed; or a stand-in if this server has none."""
    path = store.sidecar_path("tickets")
    file = TicketFile(path) if path else NoTickets()
    file.migrate()
    return file
