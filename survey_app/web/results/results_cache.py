"""What a reader of results may see, and what the page computes for it, kept by digest, snapshot and options.

Many readers look at the same numbers, and a live page asks again and again, so the documents of the API are kept, here
and beside each view. All come from the snapshot of the tally; cross-tabs of separate fields and regressions read bits.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from survey_app.estimate.intervals import Options
from survey_app.languages import numbers
from survey_app.results.survey_document import Results, results
from survey_app.store import Published, Store
from survey_app.tally import Tally
from survey_app.web.access import store


@dataclass(frozen=True)
class Snapshot:
    """What a survey shows at one step; two of them are the same if their numbers are."""

    place: tuple[int, int]  # which store, and which survey in it
    digest: str
    reports: int
    counts: bytes
    published: Published = field(compare=False)
    tally: Tally = field(compare=False)
    store: Store = field(compare=False)

    @classmethod
    def of(cls, published: Published) -> "Snapshot":
        """The present step of a survey."""
        kept, survey = store(), published.survey
        tally = kept.snapshot(published)
        place = (id(kept), published.key)
        return cls(place, survey.digest, tally.reports, tally.counts.tobytes(), published, tally, kept)


@lru_cache(maxsize=16)
def document(snapshot: Snapshot, options: Options) -> Results:
    """The results, as the API gives them."""
    return results(snapshot.published.survey, snapshot.tally, options)


def moved(published: Published) -> bool:
    """Whether the stopping rule was changed when people could answer already, as the log has it."""
    together = [one.survey for one in store().study(published.survey.study)] or [published.survey]
    events = [event for one in together for event in reversed(store().events(published.owner, one.slug))]
    told = [event.what for event in sorted(events, key=lambda event: event.moment)]
    own = tuple(f" {one.digest[:12]}" for one in together)
    begin = next((place for place, what in enumerate(told) if what.endswith(own)), 0)
    changed = paused = False
    for what in told[begin:]:
        if what.startswith("published ") and not what.endswith(own):
            break  # a newer version
        if what == "opened" and not paused:
            changed = False  # what was changed before, nobody had seen
        paused = paused or what == "paused"
        changed = changed or (what.startswith("terms: ") and any(rule in what for rule in ("closes ", "max_reports ")))
    return changed


def stopping(published: Published) -> str:
    """The stopping rule that was published."""
    rules = [f"at {published.terms.closes:%Y-%m-%d %H:%M} UTC"] if published.terms.closes else []
    rules += [f"with {numbers.count(published.terms.max_reports)} reports"] if published.terms.max_reports else []
    return f"The survey closes {' or '.join(rules)}." if rules else ""
