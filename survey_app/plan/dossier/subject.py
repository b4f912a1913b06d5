"""What a dossier is about: a survey, or a study with all its groups, from an author's file or as it was published.

Where this server invites, the key for tickets is made at publishing and is part of the definition. A file has no digest
before that, and a dossier of it quotes none: a board would register a survey that nobody can answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from client.definition import Survey
from survey_app.authoring import Built
from survey_app.authoring.groups import Group
from survey_app.authoring.terms import Terms
from survey_app.plan.survey import DEFAULT
from survey_app.store import Published

MADE_LATER = "made at publishing"


@dataclass(frozen=True)
class Subject:
    """The definitions, of a study one for each of its groups; `keyless` ones get their keys at publishing."""

    surveys: tuple[Survey, ...]
    terms: Terms
    groups: tuple[Group, ...] = ()
    keyless: bool = False
    announced: datetime | None = None  # from when keyless ones will take reports, if tickets are taken before

    @classmethod
    def of_file(cls, built: Built) -> "Subject":
        """What an author's file became."""
        begins = built.invitations.begins if built.invitations else None
        return cls(built.surveys, built.terms, built.groups, built.needs_key, begins)

    @classmethod
    def of_published(cls, versions: Sequence[Published]) -> "Subject":
        """A published survey, or all groups of a study."""
        several = versions if len(versions) > 1 else ()
        groups = tuple(Group(one.survey.slug, one.survey.group, one.terms.size) for one in several)
        return cls(tuple(one.survey for one in versions), replace(versions[0].terms, size=None), groups)

    @property
    def survey(self) -> Survey:
        """The only definition, or that of the first group: they differ in slug and group alone, and in their keys."""
        return self.surveys[0]

    @property
    def slug(self) -> str:
        """What the whole of it is called."""
        return self.survey.study if self.groups else self.survey.slug

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """How many people each group has; None where that is not known."""
        return tuple(group.size for group in self.groups if group.size) or None

    @property
    def digests(self) -> list[str]:
        """The name of every definition, or that there is none yet."""
        return [MADE_LATER if self.keyless else survey.digest for survey in self.surveys]

    @property
    def invited(self) -> bool:
        """Whether only people with an invitation can answer."""
        return self.keyless or self.survey.tickets is not None

    @property
    def begins(self) -> datetime | None:
        """From when reports are taken, if tickets are taken before."""
        return self.survey.tickets.opens if self.survey.tickets else self.announced

    @property
    def issuer(self) -> str:
        """Who invites, if it is another server."""
        return self.survey.tickets.issuer if self.survey.tickets else ""

    @property
    def expected(self) -> int:
        """How many respondents to plan for where nobody says: all that are wanted, else everybody in the groups."""
        most = (self.terms.max_reports or 0) * len(self.surveys)
        return most or sum(self.sizes or ()) or DEFAULT.respondents or 0
