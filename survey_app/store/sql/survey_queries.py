"""Queries on published surveys and their versions."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from candor_client.definition import Survey
from survey_app.store.audit_events import EventCode, EventData
from survey_app.store.records import Member, PublishedSurvey, State, StoreError, Unavailable
from survey_app.store.sql.dialect import Connection
from survey_app.store.sql.state_queries import States, hold_of
from survey_app.store.sql.survey_rows import SELECT, TERMS, published_from, terms_values
from survey_app.store.term_changes import check_terms, opening_terms

NEWEST = "coalesce(max(case when state != 'ready' then version end), max(version))"  # prefers opened ones


class Surveys(States):
    """The surveys that owners publish."""

    def add_surveys(
        self,
        members: Sequence[Member],
        *,
        owner: int,
        state: State = State.OPEN,
        source: bytes | None = None,
        by: int | None = None,
    ) -> list[PublishedSurvey]:
        """Publish a survey, or all groups of a study, as a new version; or nothing if one is refused.

        `source` is the author's file they were built from. Raise StoreError if the slug is taken or the terms are
        refused.
        """
        if state not in (State.READY, State.OPEN):
            raise StoreError("a survey can only be published as ready or open")
        study = _study_of(members)
        with self._transaction() as connection:
            if state is State.OPEN:
                members = [Member(survey, opening_terms(survey, terms, self.clock())) for survey, terms in members]
            for survey, terms in members:
                check_terms(survey, terms, self.clock())
                _check_name(connection, survey, owner)
            name = study or members[0].survey.slug
            query = f"select coalesce(max(version), 0) + 1 from surveys where {'study' if study else 'slug'} = ?"
            version = connection.execute(query, (name,)).fetchone()[0]
            keys = []
            for survey, terms in members:
                values = (survey.slug, study, version, survey.digest, state.value, *terms_values(terms), owner)
                values = (*values, int(hold_of(survey)))
                key = self._insert(
                    connection,
                    "insert into surveys (slug, study, version, digest, state,"
                    f" {TERMS}, owner, hold, definition, source)"
                    f" values ({', '.join('?' * (len(values) + 2))})",
                    (*values, survey.source, source),
                )
                keys.append(key)
                self._create_tally(connection, key, survey.width)
                code = EventCode.PUBLISHED if state is State.OPEN else EventCode.ADDED
                self._log(connection, owner, survey.slug, code, EventData(digest=survey.digest), by=by)
            if state is State.OPEN:
                self._supersede(connection, keys[0])
                self._close_if_due(connection, keys, self.clock())
            rows = [connection.execute(f"{SELECT} where key = ?", (key,)).fetchone() for key in keys]
        return [published_from(row) for row in rows]

    def current_key_and_digest(self, slug: str) -> tuple[int, str] | None:
        """Return key and digest of the newest version of a slug that was opened, or None."""
        query = "select key, digest from surveys where slug = ? and state != 'ready' order by version desc limit 1"
        row = self._fetch_one(query, slug)
        return row and (row[0], row[1])

    def newest_version(self, slug: str) -> PublishedSurvey | None:
        """Return the newest version of a slug, or None."""
        return next(iter(self._read_versions("where slug = ? order by version desc limit 1", slug)), None)

    def version(self, slug: str, digest: str) -> PublishedSurvey | None:
        """Return the version of a slug with this digest, or None."""
        return next(iter(self._read_versions("where slug = ? and digest = ?", slug, digest)), None)

    def study(self, slug: str, *, unopened: bool = False) -> list[PublishedSurvey]:
        """Return the groups of a study in the order of publishing, or an empty list if there is no study.

        They are of the newest version that was opened. If none was, or with `unopened`, they are of the newest version.
        """
        if not slug:
            return []
        newest = f"(select {'max(version)' if unopened else NEWEST} from surveys where study = ?)"
        return self._read_versions(f"where study = ? and version = {newest} order by key", slug, slug)

    def find_slug_containing(self, part: bytes) -> str | None:
        """Return the slug of a definition that contains these bytes, for example a key; or None."""
        row = self._fetch_one(f"select slug from surveys where {self.DEFINITION_CONTAINS} limit 1", part)
        return row and str(row[0])

    def surveys(self, owner: int | None = None) -> list[PublishedSurvey]:
        """Return the newest version of every slug, or of every slug of one owner."""
        return self._read_versions(
            f"where version = (select {NEWEST} from surveys where slug = s.slug)"
            " and (cast(? as bigint) is null or owner = ?) order by slug",
            owner,
            owner,
        )

    def source(self, published: PublishedSurvey) -> bytes | None:
        """Return the author's file that a version was built from, or None if it was not stored."""
        row = self._fetch_one("select source from surveys where key = ?", published.key)
        return bytes(row[0]) if row and row[0] is not None else None

    def _read_versions(self, where: str, *values: Any) -> list[PublishedSurvey]:
        """Return versions in their present state; dates that have passed are recorded first."""
        versions = [published_from(row) for row in self._fetch_all(f"{SELECT} {where}", *values)]
        moment = self.clock()
        if not any(version.is_due(moment) for version in versions):
            return versions
        with suppress(Unavailable):  # without it, only results that were shown before are shown
            self.expire()
        versions = [published_from(row) for row in self._fetch_all(f"{SELECT} {where}", *values)]
        return [version for version in versions if not version.terms.deletes or moment < version.terms.deletes]


def _study_of(members: Sequence[Member]) -> str:
    """Return the study that surveys are groups of; empty for a survey of its own.

    Raise StoreError if they are not distinct groups of one study.
    """
    studies, slugs = {member.survey.study for member in members}, {member.survey.slug for member in members}
    if len(studies) != 1 or len(slugs) != len(members) or (len(members) > 1 and "" in studies):
        raise StoreError("only groups of one study can be published together, and each group only once")
    return studies.pop()


def _check_name(connection: Connection, survey: Survey, owner: int) -> None:
    """Raise StoreError for a slug that is taken; the bare name of a study is reserved for the study."""
    slug, study = survey.slug, survey.study

    def exists(where: str, *values: Any) -> bool:
        return connection.execute(f"select 1 from surveys where {where} limit 1", values).fetchone() is not None

    if exists("(slug = ? or study = ?) and owner != ?", slug, study or slug, owner):
        raise StoreError(f"the slug {slug} belongs to somebody else; choose another")
    if study and exists("slug = ?", study):
        raise StoreError(f"there is already a survey {study}; a study needs a slug of its own")
    if exists("study = ?", slug):
        raise StoreError(f"the slug {slug} is reserved for the study {slug}; choose another")
    if exists("slug = ? and study != ?", slug, study):
        owner_kind = "another study or survey" if study else "a group of a study"
        raise StoreError(f"the slug {slug} is taken by {owner_kind}; choose another")
    if exists("slug = ? and digest = ?", slug, survey.digest):
        hint = "; a new version needs a change in every group, such as another description" if study else ""
        raise StoreError(f"this definition of {slug} is already published: {survey.digest}{hint}")
