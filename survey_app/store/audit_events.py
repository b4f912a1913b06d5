"""The events of the audit log: a code and its data. Words are made last, where an event is displayed.

The log holds actions of researchers, and what a date did; it holds nothing about respondents.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from survey_app.authoring.terms import Terms
from survey_app.authoring.timestamps import format_timestamp

TERM_NAMES = {  # of the fields of Terms, as authors write them
    "public": "results",
    "opens": "opens",
    "closes": "closes",
    "max_reports": "max_reports",
    "deletes": "deletes",
    "size": "size",
}
STOPPING_RULE = frozenset({"closes", "max_reports"})  # the terms that end a survey

TermValue = str | int | None


class EventCode(StrEnum):
    """What happened. A comment names the data that an event of this code has."""

    PUBLISHED = "published"  # open at once: digest
    ADDED = "added"  # published, but not open yet: digest
    OPENED = "opened"
    PAUSED = "paused"
    CLOSED = "closed"
    CLOSED_BY_DATE = "closed_by_date"
    TERMS_CHANGED = "terms_changed"  # terms
    DELETED = "deleted"
    DELETED_BY_DATE = "deleted_by_date"
    SHARED = "shared"  # account, role
    UNSHARED = "unshared"  # account
    LINK_MADE = "link_made"  # label
    LINK_WITHDRAWN = "link_withdrawn"  # label
    INVITATIONS_MADE = "invitations_made"  # count, unless an earlier version logged it without
    EXPORTED = "exported"  # format
    NOTE = "note"  # text: anything that no other code covers


class TermChange(msgspec.Struct, frozen=True):
    """The change of one term. `old` is unset in events of earlier versions, which logged the new value only."""

    new: TermValue
    old: TermValue | msgspec.UnsetType = msgspec.UNSET


class EventData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """The data of an event, stored as JSON without the fields that its code does not have.

    `digest` is the SHA-256 of a definition; earlier versions logged its first twelve digits.
    """

    digest: str = ""
    terms: Mapping[str, TermChange] = {}
    account: str = ""
    role: str = ""
    label: str = ""
    count: int | None = None
    format: str = ""
    text: str = ""


NO_DATA = EventData()


class Event(NamedTuple):
    """One entry of the audit log, with `by` if the researcher who acted is not the owner."""

    slug: str
    moment: datetime
    code: EventCode
    data: EventData = NO_DATA
    by: str = ""

    @property
    def changes_stopping_rule(self) -> bool:
        """Whether the event changed a term that ends the survey."""
        return self.code is EventCode.TERMS_CHANGED and not STOPPING_RULE.isdisjoint(self.data.terms)


def encode_data(data: EventData) -> str:
    """Return the data of an event as the store keeps it."""
    return msgspec.json.encode(data).decode()


def decode_data(text: str) -> EventData:
    """Return the data of an event from the text that `encode_data` returns."""
    return msgspec.json.decode(text, type=EventData)


def compare_terms(old: Terms, new: Terms) -> dict[str, TermChange]:
    """Return the terms that differ, by the names that authors write."""
    return {
        name: TermChange(_term_value(getattr(new, field)), _term_value(getattr(old, field)))
        for field, name in TERM_NAMES.items()
        if getattr(new, field) != getattr(old, field)
    }


def _term_value(value: Any) -> TermValue:
    """Return a term as authors write it."""
    if isinstance(value, bool):
        return "public" if value else "private"
    return format_timestamp(value) if isinstance(value, datetime) else value
