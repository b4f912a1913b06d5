"""Checks of a store in PostgreSQL: its connection, its contents, and server settings that keep the order of reports."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from survey_app.assure.doctor import definition_checks
from survey_app.assure.doctor.finding import Finding, failed, fine, warned
from survey_app.store import StoreError
from survey_app.store.sqlite.lock import OTHERS

DOCS = "docs/operations.md, PostgreSQL"
TICKETS = "CANDOR_TICKETS"


def findings(url: str, found_by: str, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield all findings about the store at this URL; none contains its password."""
    try:
        from survey_app.store.postgres.inspection import inspect  # needs the extra "postgres"
    except ImportError:
        advice = "pip install 'candor-survey[postgres]'"
        yield failed("database", f"PostgreSQL ({found_by}), and its driver is not installed", advice)
        return
    try:
        state = inspect(url)
    except StoreError as error:
        advice = "see that it runs, and that the address, the account and its password are right"
        yield failed("database", f"PostgreSQL ({found_by}) cannot be reached: {error}", advice)
        return
    label = f"{state.place}, PostgreSQL {state.server} ({found_by})"
    if not state.usable:
        problem = (
            f"was made by a newer Candor (version {state.version})" if state.version else "is no database of Candor's"
        )
        yield failed("database", f"{label} {problem}", "use the newer version here, too, or name another database")
    elif state.version == 0:
        yield warned("database", f"{label} is empty", "candor user add NAME begins it")
    else:
        yield fine("database", f"{label}, version {state.version}")
    if state.unfinished:
        yield failed("integrity", "it is an unfinished copy", "run the same candor copy, or restore, once more")
    if state.untidy_since:
        problem = f"untidy since {state.untidy_since}: the order of reports may be seen in it"
        yield failed("tidiness", problem, f"see why it cannot be rewritten ({DOCS})")
    for line in state.warnings:
        yield warned("surroundings", line, DOCS)
    if not state.warnings:
        yield fine("surroundings", "no setting that this account may see keeps the order of reports")
    yield from definition_checks.findings(state.running)
    yield _tickets(environ.get(TICKETS))


def _tickets(named: str | None) -> Finding:
    if not named:
        return fine("tickets", "none are given out here", f"{TICKETS} names the file, on one server")
    path = Path(named)
    if not path.parent.is_dir():
        return failed("tickets", f"there is no folder for {path}", f"make it, or name another file in {TICKETS}")
    if path.exists() and path.stat().st_mode & OTHERS:
        return failed("tickets", f"others may open {path}", f"chmod 600 {path}")
    return fine("tickets", str(path))
