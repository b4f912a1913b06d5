"""Publishing what an author's file became: the one way, for the command, the console and the tests.

A survey by invitation gets its key here. It is kept before the survey is, so that nobody is ever invited to a survey
without one; a key whose survey came to nothing is taken away again.
"""

from collections.abc import Callable

from survey_app.authoring import Built
from survey_app.store import Member, Published, State, Store
from survey_app.tickets.file import TicketFile
from survey_app.tickets.keys import Key, make_key, spelled


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
    if built.invitations is None or not built.needs_key:
        return store.add_surveys([Member(built.survey, built.terms)], owner=owner, state=state, source=source)
    key = make_key()
    survey = built.invitations.complete(built.survey, spelled(key.modulus))
    with tickets.alone():
        tickets.add_key(survey.slug, key, survey.digest)
        try:
            return store.add_surveys([Member(survey, built.terms)], owner=owner, state=state, source=source)
        except BaseException:
            tickets.drop_key(survey.digest)
            raise
