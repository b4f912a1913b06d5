"""Which terms a survey may have, and how a change of them is told in the log."""

from datetime import datetime

from client.definition import Survey
from survey_app.authoring.moments import spelled
from survey_app.authoring.terms import Terms
from survey_app.store.records import StoreError


def check_terms(survey: Survey, terms: Terms, moment: datetime) -> None:
    """Refuse terms that cannot be."""
    if fault := terms.fault:
        raise StoreError(f"{fault[0]} {fault[1]}")
    if survey.tickets and terms.max_reports is not None:
        raise StoreError(
            f"{survey.slug} is by invitation: as many can answer as were invited, so it takes no max_reports"
        )
    if survey.tickets and survey.tickets.opens and terms.closes and terms.closes <= survey.tickets.opens:
        raise StoreError(f"{survey.slug} takes answers from {survey.tickets.opens:%Y-%m-%d %H:%M} UTC; it closes later")
    if terms.deletes and terms.deletes <= moment:
        raise StoreError("deletes lies in the past")


def changed(old: Terms, new: Terms) -> list[str]:
    """What was changed, in words for the log."""
    told = []
    if old.public != new.public:
        told.append(f"results {'public' if new.public else 'private'}")
    for name in ("opens", "closes", "max_reports", "deletes", "size"):
        value = getattr(new, name)
        if value != getattr(old, name):
            said = spelled(value) if isinstance(value, datetime) else value
            told.append(f"{name} {'none' if said is None else said}")
    return told
