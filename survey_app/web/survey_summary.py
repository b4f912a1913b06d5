"""The API's summary of a survey, or of a study with its groups, for accounts that may manage it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from survey_app.authoring.timestamps import spelled
from survey_app.store import Published, Role, User, now
from survey_app.web.access import role_of, store
from survey_app.web.console.survey_page import link, pinned


class Part(msgspec.Struct, omit_defaults=True):
    """A survey, or a group of a study: where it is, and what it has so far, in steps."""

    slug: str
    digest: str
    link: str
    reports: int
    group: str | None = None
    size: int | None = None


class Told(msgspec.Struct, omit_defaults=True):
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

    surveys: list[Told]


def told(groups: Sequence[Published], user: User) -> Told:
    """Return the summary of a survey or study for an account."""
    first = groups[0]
    terms, role = first.terms, role_of(user, first) or Role.READER
    opens, closes, deletes = (
        spelled(moment) if moment else None for moment in (terms.opens, terms.closes, terms.deletes)
    )
    return Told(
        first.name,
        first.survey.title,
        first.at(now()).value,
        role.said,
        first.invited,
        "public" if terms.public else "private",
        opens,
        closes,
        terms.max_reports,
        deletes,
        [_part(group) for group in groups],
    )


def _part(published: Published) -> Part:
    survey = published.survey
    link_text = link(published) if published.invited else pinned(published)  # a bare link admits nobody
    reports = store().snapshot(published).reports
    return Part(survey.slug, survey.digest, link_text, reports, survey.group or None, published.terms.size)
