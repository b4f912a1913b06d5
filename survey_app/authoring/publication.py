"""Publishing a built survey and changing its terms, for the command line, the console, the API and the tests.

A survey by invitation gets its key here; each group of a study gets its own. Keys are stored before the surveys, so
that nobody is ever invited to a survey without a key. If storing the surveys fails, their keys are removed again.

A file whose definition is already published is not a new version, even if its terms differ: terms are changed in
place. If an editor publishes a new version of a survey, it belongs to the survey's owner. Editors cannot delete a
survey, so they cannot set its deletion date either.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from candor_client import canonical
from candor_client.definition import Survey
from survey_app.authoring import BuiltSurvey
from survey_app.authoring.invitation_terms import format_modulus
from survey_app.authoring.terms import Terms
from survey_app.store import Key, Member, PublishedSurvey, Role, State, Store, StoreError, TicketFile, User, now


def publish(
    store: Store,
    tickets: TicketFile,
    built: BuiltSurvey,
    *,
    owner: int,
    state: State = State.OPEN,
    source: bytes | None = None,
    by: int | None = None,
    make_key: Callable[[], Key],
) -> list[PublishedSurvey]:
    """Publish a survey, or all groups of a study. Raise StoreError on failure.

    If a slug exists, its survey gets a new version.
    """
    members = [Member(*member) for member in built.members]
    _check_phases(built)
    if built.invitations is None:
        return store.add_surveys(members, owner=owner, state=state, source=source, by=by)
    if not built.needs_key:
        with tickets.lock():
            _check_key(store, built.survey)
            return store.add_surveys(members, owner=owner, state=state, source=source, by=by)
    keys = [make_key() for _ in members]
    complete_members = [
        Member(built.invitations.complete(survey, format_modulus(key.modulus)), terms)
        for (survey, terms), key in zip(members, keys, strict=True)
    ]
    with tickets.lock():
        try:
            for (survey, _), key in zip(complete_members, keys, strict=True):
                tickets.add_key(survey.slug, key, survey.digest)
            return store.add_surveys(complete_members, owner=owner, state=state, source=source, by=by)
        except BaseException:
            for survey, _ in complete_members:
                tickets.drop_key(survey.digest)
            raise


class Difference(NamedTuple):
    """A term in which an author's file differs from the published survey. A size also names its group."""

    term: str
    published: datetime | int | bool | None
    written: datetime | int | bool | None
    group: str = ""


def find_published(store: Store, built: BuiltSurvey) -> list[PublishedSurvey]:
    """Return the published versions that have exactly the definition of a file, or an empty list.

    They are the newest version of a survey, or all groups of a study. A key for tickets is not compared. A closed
    survey by invitation may be published again, with a new key.
    """
    newest = store.newest_version(built.slug)
    versions = store.study(built.slug, unopened=True) or ([newest] if newest else [])
    if {version.survey.slug for version in versions} != {survey.slug for survey in built.surveys}:
        return []
    version_by_slug = {version.survey.slug: version for version in versions}
    matches = [version_by_slug[survey.slug] for survey in built.surveys]
    is_same = all(
        _comparable_content(version.survey, built) == _comparable_content(survey, built)
        for version, survey in zip(matches, built.surveys, strict=True)
    )
    return matches if is_same and not (built.needs_key and matches[0].state is State.CLOSED) else []


def _comparable_content(survey: Survey, built: BuiltSurvey) -> bytes | dict[str, Any]:
    """Return the content by which two versions are compared: the bytes, or all but the key that each version gets."""
    if not built.needs_key or built.invitations is None:
        return survey.source
    content: dict[str, Any] = canonical.loads(survey.source)
    tickets = content.pop("tickets", dict(built.invitations.entries))
    return content | {"tickets": {name: value for name, value in tickets.items() if name != "key"}}


def resolve_terms(versions: Sequence[PublishedSurvey], built: BuiltSurvey) -> Terms:
    """Return the terms of a file whose survey is published.

    A survey by invitation keeps its closing date if the file has none.
    """
    if built.invitations and built.terms.closes is None:
        return replace(built.terms, closes=versions[0].terms.closes)
    return built.terms


def list_differences(versions: Sequence[PublishedSurvey], built: BuiltSurvey) -> list[Difference]:
    """Return the terms in which a file differs from the published versions."""
    old, new = versions[0].terms, resolve_terms(versions, built)
    terms = [
        Difference(name, getattr(old, name), getattr(new, name))
        for name in ("public", "opens", "closes", "max_reports", "deletes")
        if getattr(old, name) != getattr(new, name)
    ]
    sizes = zip(versions, built.groups, built.sizes or [None] * len(built.groups), strict=True) if built.groups else ()
    return terms + [
        Difference("size", version.terms.size, size, group.id)
        for version, group, size in sizes
        if version.terms.size != size
    ]


def publish_as(
    store: Store,
    tickets: TicketFile,
    built: BuiltSurvey,
    user: User,
    *,
    state: State = State.OPEN,
    source: bytes | None,
    make_key: Callable[[], Key],
) -> list[PublishedSurvey]:
    """Publish a survey as an account: its own survey, or a new version of a survey that it edits.

    Raise StoreError if this definition is published already, or if publishing fails.
    """
    edited_survey = find_edited_survey(store, user, built)
    same = find_published(store, built)
    if same and (edited_survey or same[0].owner == user.key):  # a new key would hide all reports sent so far
        raise StoreError(f"this definition of {same[0].name} is already published: {same[0].survey.digest}")
    if edited_survey is None:
        return publish(store, tickets, built, owner=user.key, state=state, source=source, make_key=make_key)
    if built.terms.deletes:
        _check_deletes(edited_survey.terms, built.terms)
    return publish(
        store, tickets, built, owner=edited_survey.owner, state=state, source=source, by=user.key, make_key=make_key
    )


def find_edited_survey(store: Store, user: User, built: BuiltSurvey) -> PublishedSurvey | None:
    """Return the survey whose next version a file would be, if the account is its editor; else None."""
    groups = store.study(built.slug, unopened=True)
    published = groups[0] if groups else store.newest_version(built.slug)
    return published if published and store.role_of(user, published) is Role.EDITOR else None


def set_terms(store: Store, published: PublishedSurvey, terms: Terms, user: User) -> PublishedSurvey:
    """Change the terms of a survey on behalf of an account. Raise StoreError if the account may not change them."""
    if store.role_of(user, published) is not Role.OWNER:
        _check_deletes(published.terms, terms)
    return store.set_terms(published, terms, by=user.key)


def _check_deletes(old: Terms, new: Terms) -> None:
    if old.deletes != new.deletes:
        rule = f"keep deletes at {old.deletes:%Y-%m-%d %H:%M} UTC" if old.deletes else "leave deletes out"
        raise StoreError(f"only the owner can set the date at which the server deletes a survey; {rule}")


def _check_phases(built: BuiltSurvey) -> None:
    """Raise StoreError if `from` has passed. Tickets are taken before it, so nobody could take part."""
    start = built.invitations.start if built.invitations else None
    if start and start <= now():
        raise StoreError(
            f"from is {start:%Y-%m-%d %H:%M} UTC, which has passed, so nobody could take a ticket; set a later time"
        )


def _check_key(store: Store, survey: Survey) -> None:
    """Raise StoreError if another survey has this key.

    The issuer does not see the definition for which it signs, so a ticket for one survey would be valid for both.
    """
    if survey.tickets and (slug := store.find_slug_containing(format_modulus(survey.tickets.key).encode())):
        raise StoreError(f"the key in this file belongs to {slug}; ask its issuer for a new one (candor issuer key)")
