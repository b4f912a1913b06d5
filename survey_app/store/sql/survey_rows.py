"""Conversion between rows of `surveys` and records."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from candor_client.definition import Survey
from survey_app.authoring.terms import Terms
from survey_app.store.records import Hold, PublishedSurvey, State

TERMS = "public, opens, closes, max_reports, deletes, size"
IS_FULL = (  # closed at its report limit; the groups of a study count together
    "state = 'closed' and max_reports is not null and max_reports <= (select sum(total) from tallies join surveys other"
    " on survey = other.key where other.key = s.key"
    " or (other.study = s.study and other.study != '' and other.version = s.version))"
)
SELECT_RUNNING = "select definition from surveys where state != 'closed' order by slug, key"
SELECT = f"select key, definition, state, {TERMS}, owner, {IS_FULL}, hold from surveys s"


TICKETS = tuple(f'"tickets":{{"{first}":' for first in ("from", "issuer", "key"))  # of invitation surveys
HOLD_INVITED = (  # for a database from before 0.9, which showed surveys by invitation in steps; see `Hold`
    "update surveys set hold = case when (select sum(shown) from tallies where survey = key) > 0"
    f" then {Hold.REST:d} else {Hold.ALL:d} end where state != 'closed' and ({{}});"
)


def published_from(row: Any) -> PublishedSurvey:
    """Build a version of a survey from a row of SELECT."""
    key, definition, state, public, opens, closes, max_reports, deletes, size, owner, full, hold = row
    terms = Terms(bool(public), _moment(opens), _moment(closes), max_reports, _moment(deletes), size)
    return PublishedSurvey(key, _survey(bytes(definition)), State(state), terms, owner, bool(full), Hold(hold))


def terms_values(terms: Terms) -> tuple[Any, ...]:
    """Return the values of the columns in TERMS."""
    opens, closes, deletes = (moment and moment_text(moment) for moment in (terms.opens, terms.closes, terms.deletes))
    return int(terms.public), opens, closes, terms.max_reports, deletes, terms.size


def moment_text(moment: datetime) -> str:
    """Format a moment as it is stored; the texts sort in the order of their moments."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


@lru_cache(maxsize=256)
def _survey(definition: bytes) -> Survey:
    """Parse a definition that this server published.

    Definitions from before 0.9 are accepted too; clients hold them to the rules of that time.
    """
    return Survey.from_stored(definition)
