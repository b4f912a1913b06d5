"""How a row of `surveys` is read and written."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from client.definition import Survey
from survey_app.authoring.terms import Terms
from survey_app.store.records import Hold, Published, State

TERMS = "public, opens, closes, max_reports, deletes, size"
FULL = (  # closed, and with as many reports as it wanted; the groups of a study count together
    "state = 'closed' and max_reports is not null and max_reports <= (select sum(total) from tallies join surveys other"
    " on survey = other.key where other.key = s.key"
    " or (other.study = s.study and other.study != '' and other.version = s.version))"
)
RUNNING = "select definition from surveys where state != 'closed' order by slug, key"
SELECT = f"select key, definition, state, {TERMS}, owner, {FULL}, hold from surveys s"


TICKETS = tuple(f'"tickets":{{"{first}":' for first in ("from", "issuer", "key"))  # in definitions by invitation
HOLD_INVITED = (  # for a database of before 0.9, whose surveys by invitation were shown in steps; see `Hold`
    "update surveys set hold = case when (select sum(shown) from tallies where survey = key) > 0"
    f" then {Hold.REST:d} else {Hold.ALL:d} end where state != 'closed' and ({{}});"
)


def published_from(row: Any) -> Published:
    """A version of a survey from a row of SELECT."""
    key, definition, state, public, opens, closes, max_reports, deletes, size, owner, full, hold = row
    terms = Terms(bool(public), _moment(opens), _moment(closes), max_reports, _moment(deletes), size)
    return Published(key, _survey(bytes(definition)), State(state), terms, owner, bool(full), Hold(hold))


def terms_values(terms: Terms) -> tuple[Any, ...]:
    """The columns of TERMS."""
    opens, closes, deletes = (moment and moment_text(moment) for moment in (terms.opens, terms.closes, terms.deletes))
    return int(terms.public), opens, closes, terms.max_reports, deletes, terms.size


def moment_text(moment: datetime) -> str:
    """A moment as it is kept: such texts are in the order of their moments."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


@lru_cache(maxsize=256)
def _survey(definition: bytes) -> Survey:
    """Parse what this server published: also before 0.9, whose rules the clients hold it to."""
    return Survey.from_stored(definition)
