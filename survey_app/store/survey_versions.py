"""Finding the version that a slug refers to.

Visitors get a version that was opened; the owner may also get one that is ready. A study with several groups appears
once in lists.
"""

from collections.abc import Iterable, Sequence

from survey_app.store.protocol import Store
from survey_app.store.records import PublishedSurvey, State
from survey_app.store.steps import could_reach_limit


def opened_version(store: Store, slug: str, digest: str | None = None) -> PublishedSurvey | None:
    """Return the version with this digest, or the newest version.

    Return None if there is none, or if it was never opened.
    """
    current = store.current_key_and_digest(slug)
    chosen = digest or (current and current[1])
    published = store.version(slug, chosen) if chosen else None
    return published if published and published.state is not State.READY else None


def any_version(store: Store, slug: str, digest: str | None = None) -> PublishedSurvey | None:
    """Return the version with this digest, or the newest that was opened.

    A version that was never opened is returned only if there is no other.
    """
    current = store.current_key_and_digest(slug)
    chosen = digest or (current and current[1])
    return store.version(slug, chosen) if chosen else store.newest_version(slug)


def list_surveys(store: Store, owner: int | None = None) -> list[list[PublishedSurvey]]:
    """Return every survey, and every study with its groups, of all owners or of one, sorted by slug."""
    return group_by_study(store, store.surveys(owner))


def group_by_study(store: Store, surveys: Iterable[PublishedSurvey]) -> list[list[PublishedSurvey]]:
    """Group surveys by study; a survey that belongs to no study is a group of its own."""
    groups: dict[str, list[PublishedSurvey]] = {}
    for published in surveys:
        name = published.name
        if name not in groups:
            groups[name] = store.study(name) or [published]
    return [groups[name] for name in sorted(groups)]


def may_close(store: Store, groups: Sequence[PublishedSurvey], most: int) -> bool:
    """Return whether a new report limit may close a survey, or all groups of a study, at once.

    A limit that is raised cannot.
    """
    old_limit = groups[0].terms.max_reports
    if groups[0].state not in (State.OPEN, State.PAUSED) or (old_limit is not None and most >= old_limit):
        return False
    return could_reach_limit(most, sum(store.snapshot(group).reports for group in groups), len(groups))
