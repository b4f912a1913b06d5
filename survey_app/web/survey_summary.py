"""The API's summary of a survey, or of a study with its groups, for accounts that may manage it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from survey_app.authoring.timestamps import format_timestamp
from survey_app.store import PublishedSurvey, Role, User, now
from survey_app.web.access import role_of, store
from survey_app.web.console.survey_page import pinned_link, respondent_link


class Part(msgspec.Struct, omit_defaults=True):
    """A survey, or a group of a study: its link, and its number of reports so far, in steps."""

    slug: str
    digest: str
    link: str
    reports: int
    group: str | None = None
    size: int | None = None


class SurveySummary(msgspec.Struct, omit_defaults=True):
    """One survey, or one study; terms as in an author's file, dates in UTC."""

    slug: str
    title: str
    state: Literal["ready", "open", "paused", "closed"]
    role: Literal["reader", "editor", "owner"]
    by_invitation: bool
    results: Literal["public", "private"]
    opens: str | None
    closes: str | None
    max_reports: int | None
    deletes: str | None
    surveys: list[Part]
    advice: list[str] | msgspec.UnsetType = msgspec.UNSET


class Listing(msgspec.Struct):
    """All surveys of an account, and those that are shared with it."""

    surveys: list[SurveySummary]


def summarize_survey(groups: Sequence[PublishedSurvey], user: User) -> SurveySummary:
    """Return the summary of a survey or study for an account."""
    first = groups[0]
    terms, role = first.terms, role_of(user, first) or Role.READER
    opens, closes, deletes = (
        format_timestamp(moment) if moment else None for moment in (terms.opens, terms.closes, terms.deletes)
    )
    return SurveySummary(
        first.name,
        first.survey.title,
        first.state_at(now()).value,
        role.label,
        first.is_by_invitation,
        "public" if terms.public else "private",
        opens,
        closes,
        terms.max_reports,
        deletes,
        [_summarize_part(group) for group in groups],
    )


def _summarize_part(published: PublishedSurvey) -> Part:
    survey = published.survey
    link_text = (
        respondent_link(published) if published.is_by_invitation else pinned_link(published)
    )  # a bare link admits nobody
    reports = store().snapshot(published).reports
    return Part(survey.slug, survey.digest, link_text, reports, survey.group or None, published.terms.size)
