"""The subject of a dossier: a survey, or a study with all its groups, from an author's file or as published.

If this server issues the invitations, it makes the key for tickets at publishing, and the key is part of the
definition. Before publishing, a file has no digest, and its dossier quotes none. Otherwise a board would register a
survey that nobody can answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from candor_client.definition import Survey
from survey_app.authoring import BuiltSurvey
from survey_app.authoring.groups import Group
from survey_app.authoring.terms import Terms
from survey_app.plan.survey_plan import DEFAULT
from survey_app.store import PublishedSurvey

PENDING_DIGEST = "made at publishing"


@dataclass(frozen=True)
class Subject:
    """The definition of a survey, or one for each group of a study; `is_keyless` if publishing will make the keys."""

    surveys: tuple[Survey, ...]
    terms: Terms
    groups: tuple[Group, ...] = ()
    is_keyless: bool = False
    announced_opening: datetime | None = None  # opening date of keyless surveys with an earlier ticket phase

    @classmethod
    def from_file(cls, built: BuiltSurvey) -> "Subject":
        """Return the subject of an author's built file."""
        opening = built.invitations.start if built.invitations else None
        return cls(built.surveys, built.terms, built.groups, built.needs_key, opening)

    @classmethod
    def from_published(cls, versions: Sequence[PublishedSurvey]) -> "Subject":
        """Return the subject of a published survey, or of all groups of a study."""
        group_versions = versions if len(versions) > 1 else ()
        groups = tuple(
            Group(version.survey.slug, version.survey.group, version.terms.size) for version in group_versions
        )
        return cls(tuple(version.survey for version in versions), replace(versions[0].terms, size=None), groups)

    @property
    def survey(self) -> Survey:
        """The only definition, or that of the first group; groups differ only in slug, group and key."""
        return self.surveys[0]

    @property
    def slug(self) -> str:
        """The slug of the survey, or of the study."""
        return self.survey.study if self.groups else self.survey.slug

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The number of people in each group; None if unknown."""
        return tuple(group.size for group in self.groups if group.size) or None

    @property
    def digests(self) -> list[str]:
        """The digest of each definition, or PENDING_DIGEST."""
        return [PENDING_DIGEST if self.is_keyless else survey.digest for survey in self.surveys]

    @property
    def is_by_invitation(self) -> bool:
        """Whether only people with an invitation can answer."""
        return self.is_keyless or self.survey.tickets is not None

    @property
    def collection_start(self) -> datetime | None:
        """The time from which reports are accepted, if there is an earlier ticket phase."""
        return self.survey.tickets.opens if self.survey.tickets else self.announced_opening

    @property
    def issuer(self) -> str:
        """The address of the issuer, if it is another server."""
        return self.survey.tickets.issuer if self.survey.tickets else ""

    @property
    def expected_respondents(self) -> int:
        """The number of respondents to plan for: the report limit, else the sizes of the groups, else DEFAULT."""
        limit = (self.terms.max_reports or 0) * len(self.surveys)
        return limit or sum(self.sizes or ()) or DEFAULT.respondents or 0
