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
    surveys, keys = list(built.surveys), dict[str, Key]()
    if built.invitations is not None and built.needs_key:
        for place, survey in enumerate(surveys):
            key = make_key()
            surveys[place] = built.invitations.complete(survey, spelled(key.modulus))
            keys[surveys[place].digest] = key
    members = [Member(survey, terms) for survey, (_, terms) in zip(surveys, built.members, strict=True)]
    with tickets.alone():
        try:
            for survey in surveys:
                if survey.digest in keys:
                    tickets.add_key(survey.slug, keys[survey.digest], survey.digest)
            return store.add_surveys(members, owner=owner, state=state, source=source)
        except BaseException:
            for digest in keys:
                tickets.drop_key(digest)
            raise
