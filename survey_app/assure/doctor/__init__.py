"""Diagnosis of an installation, with advice for every problem: `candor doctor`.

Each check examines the running system and reports its findings.
No check changes anything, creates a database or prints a secret.
A property that cannot be examined from here is reported as unknown, not as healthy.
"""

import time
from collections.abc import Iterator, Mapping

from survey_app.assure.doctor import environment_checks, machine_checks, postgres_checks, proxy_checks, sqlite_checks
from survey_app.assure.doctor.finding import Finding, State, failure, healthy
from survey_app.store.location import file_of

__all__ = ["Finding", "State", "examine"]


def examine(db: str, source: str, url: str | None, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield all findings about an installation, from the machine outwards.

    `db` is the URL of the store, and `source` names the option or variable that set it.
    A running server is examined only if `url` is given.
    """
    clock_offset = time.time() - time.monotonic()
    yield from machine_checks.findings()
    path = file_of(db)
    if path is not None:
        yield from sqlite_checks.findings(path, source)
    elif db.startswith(("postgresql://", "postgres://")):
        yield from postgres_checks.findings(db, source, environ)
    else:
        value = "" if "@" in db else f" {db!r}"  # after an @ there may be a password
        advice = "use sqlite:///candor.db or postgresql://user@host/database"
        yield failure("database", "bad_url", f"the URL{value} ({source}) names neither a file nor a server", advice)
    yield from environment_checks.findings(environ, is_file_store=path is not None)
    yield machine_checks.check_clock(time.time(), clock_offset, time.time() - time.monotonic())
    if url is not None:
        yield from proxy_checks.findings(url, time.time())
    else:
        yield healthy("proxy", "not checked", "candor doctor --url https://… checks a running server", code="unknown")
