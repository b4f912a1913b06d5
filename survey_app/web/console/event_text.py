"""The words for an event of the audit log. The store keeps codes with data; only pages of the console have words."""

from typing import assert_never

from msgspec import UNSET

from survey_app.languages import numbers
from survey_app.store import Event, EventCode, EventData
from survey_app.store.audit_events import TermChange, TermValue

SHORT_DIGEST = 12  # digits


def describe_event(event: Event) -> str:
    """Return what happened, in English, without a period; without the account that acted."""
    data = event.data
    match event.code:
        case EventCode.PUBLISHED:
            return f"published {data.digest[:SHORT_DIGEST]}"
        case EventCode.ADDED:
            return f"added {data.digest[:SHORT_DIGEST]}, not open yet"
        case EventCode.OPENED:
            return "opened"
        case EventCode.PAUSED:
            return "paused"
        case EventCode.CLOSED:
            return "closed"
        case EventCode.CLOSED_BY_DATE:
            return "closed at its closing date"
        case EventCode.TERMS_CHANGED:
            return f"changed terms: {_describe_terms(data)}"
        case EventCode.DELETED:
            return "deleted, with all versions and reports"
        case EventCode.DELETED_BY_DATE:
            return "deleted at its deletion date, with all reports"
        case EventCode.SHARED:
            return f"shared with {data.account} as {data.role}"
        case EventCode.UNSHARED:
            return f"no longer shared with {data.account}"
        case EventCode.LINK_MADE:
            return f"made a link to the results, for {data.label}"
        case EventCode.LINK_WITHDRAWN:
            return f"withdrew the link to the results, for {data.label}"
        case EventCode.INVITATIONS_MADE:
            return f"made {_count_invitations(data.count)}"
        case EventCode.EXPORTED:
            return f"exported raw data as {data.format}"
        case EventCode.NOTE:
            return data.text
        case _:
            assert_never(event.code)


def _describe_terms(data: EventData) -> str:
    """Return the changed terms, each with its old value, if the log has it, and its new value."""
    return ", ".join(f"{name}{_describe_change(change)}" for name, change in data.terms.items())


def _describe_change(change: TermChange) -> str:
    old = "" if change.old is UNSET else f" from {_format_value(change.old)}"
    return f"{old} to {_format_value(change.new)}"


def _format_value(value: TermValue) -> str:
    return "none" if value is None else str(value)


def _count_invitations(count: int | None) -> str:
    if count is None:
        return "invitations"
    return f"{numbers.format_count(count)} invitation{'s' if count != 1 else ''}"
