"""What an owner changes while people answer, what dates do, and what can never be changed again."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from survey_app.authoring.terms import Terms
from survey_app.store import Event, EventCode, EventData, Outcome, PublishedSurvey, State, StoreError, Submission
from survey_app.store.audit_events import TermChange, TermValue
from tests.definitions import survey, worked_example
from tests.fixtures import add, add_worked_example, submission
from tests.golden_files import Golden
from tests.store.conftest import Place

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Kept:
    """A store at noon, and the survey in it."""

    def __init__(self, place: Place) -> None:
        self.place, self.store = place, place.open()
        self.first = add_worked_example(self.store)
        self.at(NOON)

    def at(self, moment: datetime) -> None:
        self.store.clock = lambda: moment

    def report(self, count: int = 1) -> list[Submission]:
        made = [submission(self.first) for _ in range(count)]
        assert self.store.write(made.copy) == [Outcome.STORED] * count
        return made

    @property
    def now(self) -> PublishedSurvey:
        found = self.store.version("exam", self.first.survey.digest)
        assert found is not None
        return found

    def set(self, **terms: Any) -> PublishedSurvey:
        now = self.now
        return self.store.set_terms(now, replace(now.terms, **terms))

    @property
    def shown(self) -> int:
        return self.store.snapshot(self.first).reports

    def log(self) -> list[Event]:
        return self.store.events(self.first.owner, "exam")


@pytest.fixture
def kept(place: Place) -> Iterator[Kept]:
    kept = Kept(place)
    yield kept
    kept.store.close()


def test_terms_change_while_people_answer_and_the_log_says_how(kept: Kept) -> None:
    changed = kept.set(public=False, closes=NOON + HOUR, max_reports=50, deletes=NOON + 2 * HOUR)
    assert changed == kept.now
    assert changed.terms == Terms(False, None, NOON + HOUR, 50, NOON + 2 * HOUR)
    assert changed.state is State.OPEN
    values: dict[str, tuple[TermValue, TermValue]] = {
        "results": ("public", "private"),
        "closes": (None, "2030-01-01T13:00Z"),
        "max_reports": (None, 50),
        "deletes": (None, "2030-01-01T14:00Z"),
    }
    data = EventData(terms={name: TermChange(new, old) for name, (old, new) in values.items()})
    assert kept.log()[0][2:4] == (EventCode.TERMS_CHANGED, data)
    kept.set(public=True, closes=None, max_reports=None, deletes=None)
    assert kept.now.terms == Terms(public=True)
    back = EventData(terms={name: TermChange(old, new) for name, (old, new) in values.items()})
    assert kept.log()[0][2:4] == (EventCode.TERMS_CHANGED, back)
    before = kept.log()
    kept.set()
    assert kept.log() == before
    kept.report()


def test_a_date_that_is_moved_counts_where_it_was_moved_to(kept: Kept) -> None:
    kept.set(closes=NOON + HOUR)
    kept.set(closes=NOON + 3 * HOUR)
    kept.at(NOON + 2 * HOUR)
    kept.report()
    kept.at(NOON + 3 * HOUR)
    assert kept.store.write([submission(kept.first)].copy) == [Outcome.CLOSED]
    assert kept.now.state is State.CLOSED


@pytest.mark.parametrize("terms", [{"closes": NOON}, {"closes": NOON - HOUR}, {"max_reports": 45}, {"max_reports": 1}])
@pytest.mark.parametrize("paused", [False, True])
def test_a_past_date_or_a_reached_quota_closes_at_once(kept: Kept, terms: dict[str, Any], paused: bool) -> None:
    kept.report(45)
    if paused:
        kept.store.set_state(kept.now, State.PAUSED)
    assert kept.shown == 25
    closed = kept.set(**terms)
    assert (closed.state, closed.full) == (State.CLOSED, "max_reports" in terms)
    assert kept.store.is_final(closed)
    assert kept.shown == 45
    assert kept.log()[0].code is EventCode.CLOSED


def test_a_quota_above_what_came_closes_nothing(kept: Kept) -> None:
    kept.report(45)
    assert kept.set(max_reports=46).state is State.OPEN
    assert kept.shown == 25
    kept.report()
    assert kept.now.full
    assert kept.shown == 46


@pytest.mark.parametrize("end", ["hand", "date", "quota", "version"])
def test_of_a_final_version_only_visibility_and_deletion_change(kept: Kept, end: str) -> None:
    kept.report(5)
    if end == "hand":
        kept.store.set_state(kept.now, State.CLOSED)
    elif end == "date":
        kept.set(closes=NOON + HOUR)
        kept.at(NOON + 2 * HOUR)
    elif end == "quota":
        kept.set(max_reports=6)
        kept.report()
    else:
        add(kept.store, survey(worked_example() | {"title": "Second"}), owner=kept.first.owner)
    assert kept.now.state is State.CLOSED
    before = kept.now.terms
    for change in ({"closes": NOON + 9 * HOUR}, {"max_reports": 900}):
        with pytest.raises(StoreError, match="is closed"):
            kept.set(**change)
    assert kept.now.terms == before
    changes: dict[str, Any] = {"public": not before.public, "deletes": NOON + 9 * HOUR}
    assert kept.set(**changes).terms == replace(before, **changes)
    assert kept.now.state is State.CLOSED
    for state in (State.OPEN, State.PAUSED):
        with pytest.raises(StoreError, match="stays closed"):
            kept.store.set_state(kept.now, state)
    assert kept.shown == 0


def test_a_stale_reading_of_a_survey_changes_no_final_one(kept: Kept) -> None:
    stale = kept.now
    kept.store.set_state(stale, State.CLOSED)
    with pytest.raises(StoreError, match="is closed"):
        kept.store.set_terms(stale, replace(stale.terms, max_reports=7))
    kept.store.delete_survey("exam")
    for change in (lambda: kept.store.set_terms(stale, Terms()), lambda: kept.store.set_state(stale, State.OPEN)):
        with pytest.raises(StoreError):
            change()


@pytest.mark.parametrize(
    "terms",
    [
        {"opens": NOON + HOUR, "closes": NOON + HOUR},
        {"closes": NOON + HOUR, "deletes": NOON + HOUR},
        {"opens": NOON + HOUR, "deletes": NOON + HOUR},
        {"deletes": NOON},
    ],
    ids="-".join,
)
def test_terms_that_contradict_each_other_are_refused(kept: Kept, terms: dict[str, Any], golden: Golden) -> None:
    before = kept.now.terms
    with pytest.raises(StoreError) as changed:
        kept.set(**terms)
    with pytest.raises(StoreError) as published:
        add(kept.store, survey(worked_example() | {"slug": "other"}), Terms(**terms), owner=kept.first.owner)
    assert str(changed.value) == str(published.value)
    assert kept.now.terms == before and kept.store.newest_version("other") is None
    golden(changed.value)


def test_pausing_shows_nothing(kept: Kept) -> None:
    kept.report(59)
    for _ in range(3):
        kept.store.set_state(kept.now, State.PAUSED)
        assert kept.shown == 39
        kept.store.set_state(kept.now, State.OPEN)
        assert kept.shown == 39
    assert [event.code for event in kept.log()[:2]] == [EventCode.OPENED, EventCode.PAUSED]


def test_what_was_never_opened_is_neither_paused_nor_closed(kept: Kept) -> None:
    ready = add(kept.store, survey(worked_example() | {"slug": "later"}), owner=kept.first.owner, state=State.READY)
    for state in (State.PAUSED, State.CLOSED):
        with pytest.raises(StoreError, match="never opened"):
            kept.store.set_state(ready, state)


def test_a_survey_whose_date_has_passed_is_not_opened(kept: Kept) -> None:
    terms = Terms(closes=NOON + HOUR)
    ready = add(
        kept.store, survey(worked_example() | {"slug": "later"}), terms, owner=kept.first.owner, state=State.READY
    )
    kept.at(NOON + 2 * HOUR)
    with pytest.raises(StoreError, match="has passed; set another"):
        kept.store.set_state(ready, State.OPEN)
    kept.store.set_terms(ready, Terms(closes=NOON + 3 * HOUR))
    kept.store.set_state(ready, State.OPEN)
    found = kept.store.newest_version("later")
    assert found is not None
    assert found.state is State.OPEN


def test_a_version_that_was_overtaken_before_it_opened_never_opens(kept: Kept) -> None:
    waiting = add(kept.store, survey(worked_example() | {"title": "B"}), owner=kept.first.owner, state=State.READY)
    newer = add(kept.store, survey(worked_example() | {"title": "C"}), owner=kept.first.owner)
    assert kept.store.is_final(waiting)
    assert not kept.store.is_final(newer)
    with pytest.raises(StoreError, match="stays closed"):
        kept.store.set_state(waiting, State.OPEN)
    assert kept.store.final_digests() == {kept.first.survey.digest, waiting.survey.digest}


def test_going_on_after_a_pause_leaves_a_newer_version_waiting(kept: Kept) -> None:
    waiting = add(kept.store, survey(worked_example() | {"title": "B"}), owner=kept.first.owner, state=State.READY)
    kept.store.set_state(kept.now, State.PAUSED)
    kept.store.set_state(kept.now, State.OPEN)
    assert not kept.store.is_final(waiting)
    kept.store.set_state(kept.now, State.PAUSED)
    kept.store.set_state(waiting, State.OPEN)
    assert kept.now.state is State.CLOSED


def test_the_process_that_notices_a_date_writes_it_down(kept: Kept) -> None:
    kept.set(closes=NOON + HOUR)
    kept.report(25)
    assert not kept.store.expire()
    kept.at(NOON + HOUR)
    assert kept.shown == 0
    assert kept.store.expire()
    assert not kept.store.expire()
    assert kept.shown == 25
    assert kept.log()[0].code is EventCode.CLOSED_BY_DATE
    assert kept.log()[0].moment == NOON + HOUR  # the date's, nobody's report's
    kept.at(NOON)
    assert kept.now.state is State.CLOSED


def test_a_paused_survey_closes_by_its_date_too(kept: Kept) -> None:
    kept.set(closes=NOON + HOUR)
    kept.store.set_state(kept.now, State.PAUSED)
    kept.at(NOON + HOUR)
    assert kept.now.state is State.CLOSED


def test_a_store_that_cannot_write_shows_what_it_showed(kept: Kept) -> None:
    kept.set(closes=NOON + HOUR)
    kept.report(45)
    kept.at(NOON + HOUR)
    kept.place.block()
    assert (kept.now.state, kept.shown) == (State.OPEN, 25)
    kept.place.unblock()
    assert (kept.now.state, kept.shown) == (State.CLOSED, 45)


def test_at_its_date_a_survey_is_deleted_with_its_reports(kept: Kept) -> None:
    kept.set(closes=NOON + HOUR, deletes=NOON + 2 * HOUR)
    ids = [one.id for one in kept.report(45)]
    kept.at(NOON + HOUR)
    assert kept.now.state is State.CLOSED
    kept.at(NOON + 2 * HOUR)
    assert kept.store.newest_version("exam") is None
    assert kept.store.surveys() == []
    assert kept.store.needs_rewrite
    assert kept.store.tidy(now=True)
    content = kept.place.content()
    assert not any(one in content for one in ids)
    assert kept.log()[0].code is EventCode.DELETED_BY_DATE
    assert kept.store.write([submission(kept.first)].copy) == [Outcome.CLOSED]


def test_what_is_to_be_deleted_is_not_shown_even_if_it_cannot_be(kept: Kept) -> None:
    kept.set(deletes=NOON + HOUR)
    kept.at(NOON + HOUR)
    kept.place.block()
    assert kept.store.newest_version("exam") is None
    kept.place.unblock()


def test_the_date_of_a_version_deletes_it_and_all_before_it(kept: Kept) -> None:
    kept.set(deletes=NOON + 9 * HOUR)
    second = add(
        kept.store, survey(worked_example() | {"title": "B"}), Terms(deletes=NOON + HOUR), owner=kept.first.owner
    )
    third = add(kept.store, survey(worked_example() | {"title": "C"}), owner=kept.first.owner)
    kept.at(NOON + HOUR)
    kept.store.expire()
    assert kept.store.version("exam", kept.first.survey.digest) is None
    assert kept.store.version("exam", second.survey.digest) is None
    assert kept.store.version("exam", third.survey.digest) == third
