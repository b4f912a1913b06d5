"""Snapshots of surveys, and the cache of the results computed from them, by snapshot and options.

Many readers load the same numbers, and a live page loads them again and again. So the documents of the API are cached,
here and next to each view. They are computed from the tally of the snapshot, except that cross-tabs of separate fields
and regressions also read bits.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from survey_app.estimate.intervals import Options
from survey_app.languages import numbers
from survey_app.results.survey_document import Results, results
from survey_app.store import Event, EventCode, PublishedSurvey, Store
from survey_app.tally import Tally
from survey_app.web.access import store


@dataclass(frozen=True)
class Snapshot:
    """The tally that a survey shows at one step. Two snapshots are equal if their survey and counts are equal."""

    store_key: tuple[int, int]  # the store, and the key of the survey in it
    digest: str
    reports: int
    counts: bytes
    published: PublishedSurvey = field(compare=False)
    tally: Tally = field(compare=False)
    store: Store = field(compare=False)

    @classmethod
    def of(cls, published: PublishedSurvey) -> "Snapshot":
        """Return the current snapshot of a survey."""
        database, survey = store(), published.survey
        tally = database.snapshot(published)
        place = (id(database), published.key)
        return cls(place, survey.digest, tally.reports, tally.counts.tobytes(), published, tally, database)


@lru_cache(maxsize=16)
def cached_results(snapshot: Snapshot, options: Options) -> Results:
    """Return the results of a snapshot, as the API returns them, from the cache if possible."""
    return results(snapshot.published.survey, snapshot.tally, options)


def has_stopping_rule_changed(published: PublishedSurvey) -> bool:
    """Return whether the stopping rule was changed while people could already answer, according to the log."""
    surveys = [survey.survey for survey in store().study(published.survey.study)] or [published.survey]
    events = [event for survey in surveys for event in reversed(store().events(published.owner, survey.slug))]
    events.sort(key=lambda event: event.moment)
    digests = tuple(survey.digest for survey in surveys)

    def is_own(event: Event) -> bool:
        return bool(event.data.digest) and any(digest.startswith(event.data.digest) for digest in digests)

    begin = next((place for place, event in enumerate(events) if is_own(event)), 0)
    has_changed = was_paused = False
    for event in events[begin:]:
        if event.code is EventCode.PUBLISHED and not is_own(event):
            break  # a newer version
        if event.code is EventCode.OPENED and not was_paused:
            has_changed = False  # nobody had seen what changed before the survey opened
        was_paused = was_paused or event.code is EventCode.PAUSED
        has_changed = has_changed or event.changes_stopping_rule
    return has_changed


def describe_stopping_rule(published: PublishedSurvey) -> str:
    """Return the sentence that states the stopping rule; empty without one."""
    rules = [f"at {published.terms.closes:%Y-%m-%d %H:%M} UTC"] if published.terms.closes else []
    rules += (
        [f"after {numbers.format_count(published.terms.max_reports)} reports"] if published.terms.max_reports else []
    )
    return f"The survey closes {' or '.join(rules)}." if rules else ""
