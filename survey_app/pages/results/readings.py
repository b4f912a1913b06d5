"""What a reader of results may see, and what the page computes for it, kept by digest, snapshot and options.

Many readers look at the same numbers, and a live page asks again and again, so the documents of the API are kept. All
of them come from the snapshot of the tally; only a cross-tab of separate fields reads bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from survey_app.estimate.groups import GroupsError, check_same
from survey_app.estimate.intervals import Options
from survey_app.estimate.tables import PairError
from survey_app.explain import written
from survey_app.pages.access import check_scan, readable, reader, store, visible
from survey_app.pages.results.beside import Beside, beside
from survey_app.pages.results.choices import MOST_GROUPS, Choices
from survey_app.pages.results.crossed import Crossed
from survey_app.pages.results.crossing import side
from survey_app.pages.results.figures import View
from survey_app.pages.results.weights import Weights, weights_of
from survey_app.problems import Problem
from survey_app.results.crosstab import Crosstab, EmptyCrosstab, crosstab_document
from survey_app.results.document import Results, results
from survey_app.results.groups import Study, groups_document, study_document
from survey_app.store import Published, State, Store
from survey_app.tally import Tally


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


def crossed_document(snapshot: Snapshot, rows: str, columns: str, options: Options) -> Crosstab | EmptyCrosstab:
    """Two questions, as the API gives them."""
    check_scan(snapshot.published, snapshot.reports)
    return _crossed_document(snapshot, rows, columns, options)


@lru_cache(maxsize=8)
def _crossed_document(snapshot: Snapshot, rows: str, columns: str, options: Options) -> Crosstab | EmptyCrosstab:
    published = snapshot.published
    with snapshot.store.shown(published) as (tally, bits):
        return crosstab_document(published.survey, tally, bits, rows, columns, options)


@lru_cache(maxsize=4)
def compared_document(snapshots: tuple[Snapshot, ...], options: Options, weights: Weights | None = None) -> Study:
    """Several surveys side by side, and with weights together."""
    members = [(one.published.survey, one.tally) for one in snapshots]
    return groups_document(members, options, dict(weights) if weights else None)


def document_of_study(snapshots: Sequence[Snapshot], options: Options, weights: Weights | None = None) -> Study:
    """The groups of a study, as the API gives them; weights count instead of sizes."""
    sizes, final = tuple(one.published.terms.size for one in snapshots), snapshots[0].published.state is State.CLOSED
    return _document_of_study(tuple(snapshots), sizes, options, final, weights)


@lru_cache(maxsize=4)
def _document_of_study(
    snapshots: tuple[Snapshot, ...],
    sizes: tuple[int | None, ...],
    options: Options,
    final: bool,
    weights: Weights | None,
) -> Study:
    members = [(one.published.survey, one.tally) for one in snapshots]
    return study_document(members, sizes, options, final=final, weights=dict(weights) if weights else None)


def cross(snapshot: Snapshot, choices: Choices, view: View) -> tuple[Crossed | None, list[str]]:
    """The cross-tab that the reader wants, or why there is none."""
    if not choices.rows and not choices.columns:
        return None, []
    if not choices.rows or not choices.columns:
        lacking = "columns" if choices.rows else "rows"
        return None, [f"A cross-tab needs two questions, and none is chosen for the {lacking}: choose one there too."]
    if choices.rows == choices.columns:
        twice = "The same is chosen for the rows and for the columns"
        return None, [f"{twice}: choose two different questions, or two different options of one."]
    try:
        document = crossed_document(snapshot, choices.rows, choices.columns, choices.options)
    except PairError as error:
        return None, [f"No cross-tab: {error}."]
    if isinstance(document, EmptyCrosstab):
        return None, [f"No cross-tab: too few reports answer both questions ({document.n})."]
    survey = snapshot.published.survey
    return Crossed(survey, side(survey, choices.rows), side(survey, choices.columns), document, view), []


def compare(snapshot: Snapshot, choices: Choices, view: View) -> tuple[list[Beside], list[str]]:
    """The surveys that the reader wants side by side, or why they are not."""
    snapshots, messages = [snapshot], []
    if len(choices.others) > MOST_GROUPS:
        messages.append(f"At most {MOST_GROUPS} surveys can stand beside this one; these are the first.")
    for slug in choices.others[:MOST_GROUPS]:
        try:
            other = readable(visible(slug))
        except Problem:
            messages.append(f"There is no survey “{slug}” whose results you may see.")
            continue
        if other.survey.slug != snapshot.published.survey.slug:
            snapshots.append(Snapshot.of(other))
    if len(snapshots) == 1:
        return [], messages
    population = choices.options.population
    if population is not None and population < max(shown.reports for shown in snapshots):
        fewer = written.count(population)
        return [], [*messages, f"Not side by side: one of the surveys has more than {fewer} reports."]
    slugs = [one.published.survey.slug for one in snapshots]
    weights = None
    try:
        weights = weights_of(choices.typed, [(slug, slug) for slug in slugs])
    except GroupsError as error:
        messages.append(f"No total: {error}.")
    try:
        document = compared_document(tuple(snapshots), choices.options, weights)
    except GroupsError as error:
        return [], [*messages, f"Not side by side: {error}."]
    return beside(snapshot.published.survey, document, view), messages


def candidates(published: Published) -> list[Published]:
    """Surveys of the reader, or shared with them, that ask the same questions."""
    user = reader()
    alike: list[Published] = []
    for other in (*store().surveys(user.key), *store().shared_with(user.key)) if user else ():
        if other.survey.slug == published.survey.slug or other.state is State.READY:
            continue
        try:
            check_same([published.survey, other.survey])
        except GroupsError:
            continue
        alike.append(other)
    return alike


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
    rules += [f"with {written.count(published.terms.max_reports)} reports"] if published.terms.max_reports else []
    return f"The survey closes {' or '.join(rules)}." if rules else ""
