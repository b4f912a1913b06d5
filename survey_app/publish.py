"""Publishing what an author's file became: the one way, for the command, the console and the tests.

A survey by invitation gets its key here, each group of a study one of its own. Keys are kept before the surveys are, so
that nobody is ever invited to a survey without one; keys whose surveys came to nothing are taken away again.
"""

from collections.abc import Callable

from survey_app.authoring import Built
from survey_app.store import Key, Member, Published, State, Store, TicketFile
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
    if built.invitations is None or not built.needs_key:
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
