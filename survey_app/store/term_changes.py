"""The terms that a survey may have, and the changes that it accepts."""

from dataclasses import replace
from datetime import datetime, timedelta

from candor_client.definition import Survey
from survey_app.authoring.terms import Terms
from survey_app.store.audit_events import TERM_NAMES
from survey_app.store.records import PublishedSurvey, State, StoreError

# from opening to `closes` for a survey by invitation, unless its author wrote a date
DEFAULT_DURATION = timedelta(days=28)
SHORTEST_DURATION = timedelta(days=1)
MUTABLE_AFTER_CLOSING = ("public", "deletes", "size")  # the mutable terms of a closed survey


def check_terms(survey: Survey, terms: Terms, moment: datetime) -> None:
    """Raise StoreError for terms that are invalid or impossible for this survey."""
    if fault := terms.fault:
        raise StoreError(f"{fault[0]} {fault[1]}")
    if survey.tickets and terms.max_reports is not None:
        raise StoreError(
            f"{survey.slug} is by invitation: its invitations limit the number of reports, so it allows no max_reports"
        )
    if survey.tickets and survey.tickets.opens and terms.closes and terms.closes <= survey.tickets.opens:
        opens = f"{survey.tickets.opens:%Y-%m-%d %H:%M} UTC"
        raise StoreError(f"{survey.slug} accepts answers from {opens}, so closes must be later")
    if terms.deletes and terms.deletes <= moment:
        raise StoreError("deletes must be in the future")


def opening_terms(survey: Survey, terms: Terms, moment: datetime) -> Terms:
    """Return the terms of a survey that opens; raise StoreError if it cannot open with them.

    A survey by invitation needs a date, `closes`, before its first ticket. Nothing made of bits is shown before that
    date.
    """
    if survey.tickets is None:
        return terms
    begins = max(filter(None, (moment, terms.opens, survey.tickets.opens)))
    if terms.closes is None:
        terms = replace(terms, closes=begins.replace(second=0, microsecond=0) + DEFAULT_DURATION)
        if terms.fault:
            raise StoreError(
                f"{survey.slug} closes 28 days after it opens unless closes is set, but deletes is earlier; set closes"
            )
    elif terms.closes < begins + SHORTEST_DURATION:
        raise StoreError(
            f"{survey.slug} is by invitation: its results are shown at closes, which must be at least a day after it "
            "opens; set a later closes"
        )
    return terms


def check_change(before: PublishedSurvey, terms: Terms, moment: datetime, *, final: bool) -> None:
    """Raise StoreError for changes that a survey does not accept in its state."""
    old, slug, waits = before.terms, before.survey.slug, before.hold.waits
    if final or before.state is State.CLOSED:
        undated = waits and old.closes is None  # from before 0.9: without a date its results would never be shown
        allowed = replace(old, **{name: getattr(terms, name) for name in MUTABLE_AFTER_CLOSING})
        if undated:
            allowed = replace(allowed, closes=terms.closes)
        if terms != allowed:
            names = ", ".join(TERM_NAMES[name] for name in MUTABLE_AFTER_CLOSING)
            raise StoreError(f"{slug} is closed: only {names} can be changed")
    if not waits or before.state is State.READY or (terms.opens, terms.closes) == (old.opens, old.closes):
        return
    if old.closes and (terms.closes is None or terms.closes < old.closes):
        raise StoreError(
            f"{slug} is by invitation: the date at which its results are shown (closes) can only be moved later"
        )
    begins = moment if old.closes is None else terms.opens
    if terms.closes and begins and terms.closes < begins + SHORTEST_DURATION:
        raise StoreError(
            f"{slug} is by invitation: its results are shown at closes, which must be at least a day after "
            f"{'now' if old.closes is None else 'it opens'}"
        )
