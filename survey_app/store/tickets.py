"""Where tickets are kept: in a file beside the store, of one server alone; or nowhere.

What an issuer keeps must never share a journal with reports, so it is never in PostgreSQL. There the environment
variable CANDOR_TICKETS names a file, on one of the servers; the others give out no tickets, and say so.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from survey_app.store.protocol import Store
from survey_app.store.records import Key, StoreError
from survey_app.store.sqlite.tickets import Kept, TicketFile

NONE_HERE = (
    "this server gives out no tickets: with PostgreSQL they are kept in a file of one server. Name it there with "
    "CANDOR_TICKETS and let the proxy send /api/surveys/*/tickets to that server, or let another issuer invite"
)


class NoTickets(TicketFile):
    """In the place of a file: nothing is kept, nothing can be."""

    here = False

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))

    def migrate(self) -> None:
        """There is nothing to make."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """There is nothing that others could change."""
        yield

    def add_key(self, slug: str, key: Key, digest: str | None = None) -> None:
        """Refused."""
        raise StoreError(NONE_HERE)

    def invite(self, slug: str, hashes: Sequence[bytes]) -> None:
        """Refused."""
        raise StoreError(NONE_HERE)

    def private(self, digest: str) -> tuple[int, Key] | None:
        """Refused: it may be on another server."""
        raise StoreError(NONE_HERE)

    def living(self, slug: str | None = None) -> list[Kept]:
        """None."""
        return []

    def slugs(self) -> list[str]:
        """None."""
        return []

    def drop_key(self, digest: str) -> None:
        """There is none."""

    def invited(self, digest: str) -> dict[bytes, bool]:
        """Refused: they are on another server."""
        raise StoreError(NONE_HERE)

    def count(self, digest: str) -> tuple[int, int]:
        """Refused, as well."""
        raise StoreError(NONE_HERE)


def open_tickets(store: Store) -> TicketFile:
    """The tickets file of a store, made if there is none; or none."""
    path = store.beside("tickets")
    file = TicketFile(path) if path else NoTickets()
    file.migrate()
    return file
