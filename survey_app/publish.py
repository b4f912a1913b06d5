"""Publishing what an author's file became: the one way, for the command, the console and the tests.

A survey by invitation gets its key here, each group of a study one of its own. Keys are kept before the surveys are, so
that nobody is ever invited to a survey without one; keys whose surveys came to nothing are taken away again.
"""

from collections.abc import Callable

from client.definition import Survey
from survey_app.authoring import Built
from survey_app.store import Key, Member, Published, State, Store, StoreError, TicketFile, now
from survey_app.tickets.keys import make_key, spelled


def publish(
    store: Store,
    tickets: TicketFile,
    built: Built,
    *,
    owner: int,
    state: State = State.OPEN,
    source: bytes | None = None,
    make_key: Callable[[], Key] = make_key,
) -> list[Published]:
    """Publish a survey, or all groups of a study, as new versions if the slugs are known; StoreError if that fails."""
    members = [Member(*one) for one in built.members]
    _check_phases(built)
    if built.invitations is None:
        return store.add_surveys(members, owner=owner, state=state, source=source)
    if not built.needs_key:
        with tickets.alone():
            _check_key(store, built.survey)
            return store.add_surveys(members, owner=owner, state=state, source=source)
    keys = [make_key() for _ in members]
    whole = [
        Member(built.invitations.complete(survey, spelled(key.modulus)), terms)
        for (survey, terms), key in zip(members, keys, strict=True)
    ]
    with tickets.alone():
        try:
            for (survey, _), key in zip(whole, keys, strict=True):
                tickets.add_key(survey.slug, key, survey.digest)
            return store.add_surveys(whole, owner=owner, state=state, source=source)
        except BaseException:
            for survey, _ in whole:
                tickets.drop_key(survey.digest)
            raise


def _check_phases(built: Built) -> None:
    """Tickets are taken before `from`: one in the past would let nobody in."""
    begins = built.invitations.begins if built.invitations else None
    if begins and begins <= now():
        raise StoreError(f"from is {begins:%Y-%m-%d %H:%M} UTC, which has passed: nobody could take a ticket any more")


def _check_key(store: Store, survey: Survey) -> None:
    """A key is for one definition: the issuer does not see what it signs, so a ticket for one would be one for both."""
    if survey.tickets and (other := store.slug_with(spelled(survey.tickets.key).encode())):
        raise StoreError(f"the key in this file is that of {other}; ask its issuer for a new one (candor issuer key)")
