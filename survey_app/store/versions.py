"""Which version a slug means: for everybody one that was opened, for its owner also one that waits.

A study is one thing with several groups, so lists have it once.
"""

from collections.abc import Iterable, Sequence

from survey_app.store.protocol import Store
from survey_app.store.records import Published, State
from survey_app.store.steps import may_have


def opened_version(store: Store, slug: str, digest: str | None = None) -> Published | None:
    """The version with this digest, or the newest; None if there is none, or if it was never opened."""
    current = store.current(slug)
    wanted = digest or (current and current[1])
    published = store.version(slug, wanted) if wanted else None
    return published if published and published.state is not State.READY else None


def any_version(store: Store, slug: str, digest: str | None = None) -> Published | None:
    """The version with this digest, or the newest that was opened; one that waits only if there is nothing else."""
    current = store.current(slug)
    wanted = digest or (current and current[1])
    return store.version(slug, wanted) if wanted else store.newest(slug)


def listed(store: Store, owner: int | None = None) -> list[list[Published]]:
    """Every survey, alone, and every study with its groups, of all or of one owner; by their slugs."""
    return grouped(store, store.surveys(owner))


def grouped(store: Store, surveys: Iterable[Published]) -> list[list[Published]]:
    """Surveys as people think of them: a study is one thing, with its groups."""
    found: dict[str, list[Published]] = {}
    for published in surveys:
        name = published.name
        if name not in found:
            found[name] = store.study(name) or [published]
    return [found[name] for name in sorted(found)]


def may_close(store: Store, groups: Sequence[Published], most: int) -> bool:
    """Whether a new limit may close a survey, or all groups of a study, at once: one that is raised cannot."""
    before = groups[0].terms.max_reports
    if groups[0].state not in (State.OPEN, State.PAUSED) or (before is not None and most >= before):
        return False
    return may_have(most, sum(store.snapshot(group).reports for group in groups), len(groups))
