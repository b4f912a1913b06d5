"""What is wrong with an installation, and what to do about it: `candor doctor`.

Each check looks at the real thing and tells what it found; none changes anything, makes a database or tells a secret.
What cannot be seen from here is said, rather than passed for well.
"""

import time
from collections.abc import Iterator, Mapping

from survey_app.server.doctor import address, machine, postgres, settings, sqlite
from survey_app.server.doctor.finding import Finding, State, failed, fine
from survey_app.store.place import file_of

__all__ = ["Finding", "State", "examine"]


def examine(db: str, found_by: str, url: str | None, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Everything that can be told, in the order in which a person would ask; `found_by` says who named the store."""
    begun = time.time() - time.monotonic()
    yield from machine.findings()
    path = file_of(db)
    if path is not None:
        yield from sqlite.findings(path, found_by)
    elif db.startswith(("postgresql://", "postgres://")):
        yield from postgres.findings(db, found_by, environ)
    else:
        what = "names no store" if "@" in db else f"is {db!r}, which names no store"
        yield failed("database", f"{found_by} {what}", "write sqlite:///candor.db or postgresql://user@host/database")
    yield from settings.findings(environ, in_a_file=path is not None)
    yield machine.clock(time.time(), begun, time.time() - time.monotonic())
    if url is not None:
        yield from address.findings(url, time.time())
    else:
        yield fine("proxy", "not looked at", "candor doctor --url https://… asks a server that runs")
