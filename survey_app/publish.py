"""Publishing what an author's file became, and changing its terms: the one way, for command, console, API and tests.

A survey by invitation gets its key here, each group of a study one of its own. Keys are kept before the surveys are, so
that nobody is ever invited to a survey without one; keys whose surveys came to nothing are taken away again.

A file whose definition is published already is no new version, whatever its terms say: those are changed in place.
What an editor publishes under the name of a survey is a new version of it and belongs to its owner. Editors do not
delete, so they do not set the date of deletion either.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from client import canonical
from client.definition import Survey
from survey_app.authoring import Built
from survey_app.authoring.terms import Terms
from survey_app.store import Key, Member, Published, Role, State, Store, StoreError, TicketFile, User, now
from survey_app.tickets.keys import make_key, spelled


def publish(
    store: Store,
    tickets: TicketFile,
    built: Built,
    *,
    owner: int,
    state: State = State.OPEN,
    source: bytes | None = None,
    by: int | None = None,
    make_key: Callable[[], Key] = make_key,
) -> list[Published]:
    """Publish a survey, or all groups of a study, as new versions if the slugs are known; StoreError if that fails."""
    members = [Member(*one) for one in built.members]
    _check_phases(built)
    if built.invitations is None:
        return store.add_surveys(members, owner=owner, state=state, source=source, by=by)
    if not built.needs_key:
        with tickets.alone():
            _check_key(store, built.survey)
            return store.add_surveys(members, owner=owner, state=state, source=source, by=by)
    keys = [make_key() for _ in members]
    whole = [
        Member(built.invitations.complete(survey, spelled(key.modulus)), terms)
        for (survey, terms), key in zip(members, keys, strict=True)
    ]
    with tickets.alone():
        try:
            for (survey, _), key in zip(whole, keys, strict=True):
                tickets.add_key(survey.slug, key, survey.digest)
            return store.add_surveys(whole, owner=owner, state=state, source=source, by=by)
        except BaseException:
            for survey, _ in whole:
                tickets.drop_key(survey.digest)
            raise


class Difference(NamedTuple):
    """A term that an author's file says otherwise than the published survey; of a size also of which group."""

    term: str
    published: datetime | int | bool | None
    written: datetime | int | bool | None
    group: str = ""


def same_as(store: Store, built: Built) -> list[Published]:
    """The newest version, of a study all its groups, if a file says the very same; a key for tickets is not said.

    What is closed and by invitation may be asked again, with a key of its own.
    """
    newest = store.newest(built.slug)
    there = store.study(built.slug, unopened=True) or ([newest] if newest else [])
    if {one.survey.slug for one in there} != {survey.slug for survey in built.surveys}:
        return []
    known = {one.survey.slug: one for one in there}
    found = [known[survey.slug] for survey in built.surveys]
    is_same = all(
        _says(one.survey, built) == _says(survey, built) for one, survey in zip(found, built.surveys, strict=True)
    )
    return found if is_same and not (built.needs_key and found[0].state is State.CLOSED) else []


def _says(survey: Survey, built: Built) -> bytes | dict[str, Any]:
    """What two versions are compared by: the bytes, or all but the key that each gets anew."""
    if not built.needs_key or built.invitations is None:
        return survey.source
    said: dict[str, Any] = canonical.loads(survey.source)
    tickets = said.pop("tickets", dict(built.invitations.said))
    return said | {"tickets": {name: value for name, value in tickets.items() if name != "key"}}


def wanted_terms(found: Sequence[Published], built: Built) -> Terms:
    """Return the terms of a file whose survey is published; where it says no date, one by invitation keeps its own."""
    if built.invitations and built.terms.closes is None:
        return replace(built.terms, closes=found[0].terms.closes)
    return built.terms


def differences(found: Sequence[Published], built: Built) -> list[Difference]:
    """The terms that a file says otherwise than what is published."""
    old, new = found[0].terms, wanted_terms(found, built)
    terms = [
        Difference(name, getattr(old, name), getattr(new, name))
        for name in ("public", "opens", "closes", "max_reports", "deletes")
        if getattr(old, name) != getattr(new, name)
    ]
    sizes = zip(found, built.groups, built.sizes or [None] * len(built.groups), strict=True) if built.groups else ()
    return terms + [
        Difference("size", one.terms.size, size, group.id) for one, group, size in sizes if one.terms.size != size
    ]


def publish_as(
    store: Store, tickets: TicketFile, built: Built, user: User, *, state: State = State.OPEN, source: bytes | None
) -> list[Published]:
    """The same for an account: its own survey, or a new version of one that it edits."""
    edited = edited_by(store, user, built)
    same = same_as(store, built)
    if same and (edited or same[0].owner == user.key):  # with another key it would hide for ever what was sent so far
        raise StoreError(f"this very definition of {same[0].name} is published already: {same[0].survey.digest}")
    if edited is None:
        return publish(store, tickets, built, owner=user.key, state=state, source=source)
    if built.terms.deletes:
        _check_deletes(edited.terms, built.terms)
    return publish(store, tickets, built, owner=edited.owner, state=state, source=source, by=user.key)


def edited_by(store: Store, user: User, built: Built) -> Published | None:
    """The survey of another, shared with an account as editor, that a file would be the next version of; else None."""
    groups = store.study(built.slug, unopened=True)
    there = groups[0] if groups else store.newest(built.slug)
    return there if there and store.role_of(user, there) is Role.EDITOR else None


def set_terms(store: Store, published: Published, terms: Terms, user: User) -> Published:
    """Change the terms of a survey as an account that may; StoreError if they cannot be so."""
    if store.role_of(user, published) is not Role.OWNER:
        _check_deletes(published.terms, terms)
    return store.set_terms(published, terms, by=user.key)


def _check_deletes(old: Terms, new: Terms) -> None:
    if old.deletes != new.deletes:
        kept = f"stays {old.deletes:%Y-%m-%d %H:%M} UTC" if old.deletes else "is left out"
        raise StoreError(f"only the owner decides when the server deletes a survey by itself: deletes {kept}")


def _check_phases(built: Built) -> None:
    """Tickets are taken before `from`: one in the past would let nobody in."""
    begins = built.invitations.begins if built.invitations else None
    if begins and begins <= now():
        raise StoreError(f"from is {begins:%Y-%m-%d %H:%M} UTC, which has passed: nobody could take a ticket any more")


def _check_key(store: Store, survey: Survey) -> None:
    """A key is for one definition: the issuer does not see what it signs, so a ticket for one would be one for both."""
    if survey.tickets and (other := store.slug_with(spelled(survey.tickets.key).encode())):
        raise StoreError(f"the key in this file is that of {other}; ask its issuer for a new one (candor issuer key)")
