"""Checks of a store in PostgreSQL: its connection, its contents, and server settings that keep the order of reports."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from survey_app.assure.doctor import definition_checks
from survey_app.assure.doctor.finding import Finding, failure, healthy, warning
from survey_app.store import StoreError
from survey_app.store.sqlite.lock import NON_OWNER_BITS

DOCS = "docs/operations.md, PostgreSQL"
TICKETS = "CANDOR_TICKETS"


def findings(url: str, source: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield all findings about the store at this URL; none contains its password."""
    try:
        from survey_app.store.postgres.inspection import inspect  # needs the extra "postgres"
    except ImportError:
        advice = "pip install 'candor-survey[postgres]'"
        yield failure("database", "no_driver", f"PostgreSQL ({source}): its driver is not installed", advice)
        return
    try:
        state = inspect(url)
    except StoreError as error:
        advice = "check that it is running, and check the address, the account and its password"
        yield failure("database", "unreachable", f"PostgreSQL ({source}) cannot be reached: {error}", advice)
        return
    label = f"{state.place}, PostgreSQL {state.server} ({source})"
    if not state.is_usable and state.version:
        problem = f"{label} was made by a newer Candor (version {state.version})"
        yield failure("database", "newer", problem, "use the newer Candor here too, or name another database")
    elif not state.is_usable:
        yield failure("database", "foreign", f"{label} is not a Candor database", "name another database")
    elif state.version == 0:
        yield warning("database", "empty", f"{label} is empty", "candor user add NAME creates the tables")
    else:
        yield healthy("database", f"{label}, version {state.version}")
    if state.is_unfinished_copy:
        advice = "repeat the candor copy or candor restore that made it"
        yield failure("integrity", "unfinished_copy", "the database is an unfinished copy", advice)
    if state.rewrite_failing_since:
        problem = f"not rewritten since {state.rewrite_failing_since}: the order of reports may be readable in it"
        yield failure("tidiness", "rewrite_fails", problem, f"find out why it cannot be rewritten ({DOCS})")
    for line in state.warnings:
        yield warning("surroundings", "keeps_order", line, DOCS)
    if not state.warnings:
        yield healthy("surroundings", "no setting visible to this account keeps the order of reports")
    yield from definition_checks.findings(state.running_definitions)
    yield _check_tickets(environ.get(TICKETS))


def _check_tickets(path_setting: str | None) -> Finding:
    if not path_setting:
        advice = f"to issue tickets, set {TICKETS} to a file on one server"
        return healthy("tickets", "this server issues no tickets", advice, code="none")
    path = Path(path_setting)
    if not path.parent.is_dir():
        advice = f"create it, or name another file in {TICKETS}"
        return failure("tickets", "no_folder", f"there is no folder for {path}", advice)
    if path.exists() and path.stat().st_mode & NON_OWNER_BITS:
        return failure("tickets", "open_to_others", f"other users can open {path}", f"chmod 600 {path}")
    return healthy("tickets", str(path))
