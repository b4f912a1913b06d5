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
        yield failure("database", f"PostgreSQL ({source}), and its driver is not installed", advice)
        return
    try:
        state = inspect(url)
    except StoreError as error:
        advice = "see that it runs, and that the address, the account and its password are right"
        yield failure("database", f"PostgreSQL ({source}) cannot be reached: {error}", advice)
        return
    label = f"{state.place}, PostgreSQL {state.server} ({source})"
    if not state.is_usable:
        problem = (
            f"was made by a newer Candor (version {state.version})" if state.version else "is no database of Candor's"
        )
        yield failure("database", f"{label} {problem}", "use the newer version here, too, or name another database")
    elif state.version == 0:
        yield warning("database", f"{label} is empty", "candor user add NAME begins it")
    else:
        yield healthy("database", f"{label}, version {state.version}")
    if state.is_unfinished_copy:
        yield failure("integrity", "it is an unfinished copy", "run the same candor copy, or restore, once more")
    if state.rewrite_failing_since:
        problem = f"untidy since {state.rewrite_failing_since}: the order of reports may be seen in it"
        yield failure("tidiness", problem, f"see why it cannot be rewritten ({DOCS})")
    for line in state.warnings:
        yield warning("surroundings", line, DOCS)
    if not state.warnings:
        yield healthy("surroundings", "no setting that this account may see keeps the order of reports")
    yield from definition_checks.findings(state.running_definitions)
    yield _check_tickets(environ.get(TICKETS))


def _check_tickets(path_setting: str | None) -> Finding:
    if not path_setting:
        return healthy("tickets", "none are given out here", f"{TICKETS} names the file, on one server")
    path = Path(path_setting)
    if not path.parent.is_dir():
        return failure("tickets", f"there is no folder for {path}", f"make it, or name another file in {TICKETS}")
    if path.exists() and path.stat().st_mode & NON_OWNER_BITS:
        return failure("tickets", f"others may open {path}", f"chmod 600 {path}")
    return healthy("tickets", str(path))
