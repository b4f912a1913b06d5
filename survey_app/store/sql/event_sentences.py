"""The English sentences in which earlier versions logged events, and their migration to codes with data.

A sentence that no version wrote becomes a `note` with the sentence as its text. Nothing is lost.
"""

import re
from collections.abc import Callable

from survey_app.store.audit_events import (
    NO_DATA,
    TERM_NAMES,
    EventCode,
    EventData,
    TermChange,
    TermValue,
    encode_data,
)

SENTENCES = {  # without data
    "opened": EventCode.OPENED,
    "paused": EventCode.PAUSED,
    "closed": EventCode.CLOSED,
    "closed by its date": EventCode.CLOSED_BY_DATE,
    "deleted, with all versions and reports": EventCode.DELETED,
    "deleted by its date, with all reports": EventCode.DELETED_BY_DATE,
    "made invitations": EventCode.INVITATIONS_MADE,
}
TERM = (
    r"(?:results (?:public|private)|(?:opens|closes|deletes) (?:none|[0-9T:Z-]+)|(?:max_reports|size) (?:none|[0-9]+))"
)
PATTERNS: tuple[tuple[str, EventCode, Callable[[re.Match[str]], EventData]], ...] = (
    (r"published ([0-9a-f]{12})", EventCode.PUBLISHED, lambda match: EventData(digest=match[1])),
    (r"added ([0-9a-f]{12})", EventCode.ADDED, lambda match: EventData(digest=match[1])),
    (rf"terms: ({TERM}(?:, {TERM})*)", EventCode.TERMS_CHANGED, lambda match: EventData(terms=_parse_terms(match[1]))),
    (r"no longer shared with (.+)", EventCode.UNSHARED, lambda match: EventData(account=match[1])),
    (
        r"shared with (.+) as (reader|editor)",
        EventCode.SHARED,
        lambda match: EventData(account=match[1], role=match[2]),
    ),
    (r"made a link to the results, for (.+)", EventCode.LINK_MADE, lambda match: EventData(label=match[1])),
    (r"withdrew the link to the results, for (.+)", EventCode.LINK_WITHDRAWN, lambda match: EventData(label=match[1])),
    (
        r"made ([0-9]+(?:,[0-9]{3})*) invitations",
        EventCode.INVITATIONS_MADE,
        lambda match: EventData(count=int(match[1].replace(",", ""))),
    ),
    # "noisy bits" is the wording of 0.5
    (r"exported (?:raw data|noisy bits) as (\w+)", EventCode.EXPORTED, lambda match: EventData(format=match[1])),
)


def parse_sentence(text: str) -> tuple[EventCode, EventData]:
    """Return the code and the data of a sentence that an earlier version logged; a note if none wrote it."""
    if code := SENTENCES.get(text):
        return code, NO_DATA
    for pattern, code, data_of in PATTERNS:
        if match := re.fullmatch(pattern, text):
            return code, data_of(match)
    return EventCode.NOTE, EventData(text=text)


def migrate_sentence(text: str) -> tuple[str, str]:
    """Return the values of the columns `code` and `data` for a sentence."""
    code, data = parse_sentence(text)
    return code.value, encode_data(data)


def _parse_terms(text: str) -> dict[str, TermChange]:
    """Return the changes that a sentence lists; it has new values only."""
    pairs = (part.split(" ", 1) for part in text.split(", "))
    return {name: TermChange(_parse_value(name, value)) for name, value in pairs}


def _parse_value(name: str, value: str) -> TermValue:
    if value == "none":
        return None
    return int(value) if name in (TERM_NAMES["max_reports"], TERM_NAMES["size"]) else value
