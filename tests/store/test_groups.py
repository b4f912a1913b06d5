"""The groups of a study are published, versioned, opened, paused, closed and deleted together, or not at all."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from candor_client import Survey, randomize
from survey_app.authoring.terms import Terms
from survey_app.store import Member, Outcome, PublishedSurvey, State, StoreError, Submission
from tests.definitions import simple, survey
from tests.fixtures import add
from tests.golden_files import Golden
from tests.store.conftest import Place

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def group(name: str, study: str = "exam", **changes: Any) -> Survey:
    return survey(simple() | {"slug": f"{study}-{name}", "study": study, "group": name.title()} | changes)


def members(*names: str, study: str = "exam", title: str = "Exam", **terms: Any) -> list[Member]:
    sizes = {"north": 12_000, "south": 8_000}
    return [Member(group(name, study, title=title), Terms(size=sizes.get(name), **terms)) for name in names]


def reports(published: PublishedSurvey, count: int) -> list[Submission]:
    made = [randomize(published.survey, {"cheated": True}) for _ in range(count)]
    return [Submission(published.key, one.id, one.bits) for one in made]


class Kept:
    """A store with two accounts, at noon."""

    def __init__(self, place: Place) -> None:
        self.store = place.open(lambda: NOON)
        self.store.migrate()
        self.ada, self.eve = (self.store.add_user(name, "-").key for name in ("ada", "eve"))

    def publish(self, *names: str, state: State = State.OPEN, **options: Any) -> list[PublishedSurvey]:
        owner = options.pop("owner", self.ada)
        return self.store.add_surveys(members(*(names or ("north", "south")), **options), owner=owner, state=state)

    def states(self, slug: str = "exam") -> list[State]:
        return [one.state for one in self.store.study(slug)]

    def shown(self) -> list[int]:
        return [self.store.snapshot(one).reports for one in self.store.study("exam")]


@pytest.fixture
def kept(place: Place) -> Iterator[Kept]:
    kept = Kept(place)
    yield kept
    kept.store.close()


def test_a_study_is_its_groups_in_the_order_of_publishing(kept: Kept) -> None:
    published = kept.publish("south", "north", "east")
    assert kept.store.study("exam") == published
    assert [one.survey.group for one in published] == ["South", "North", "East"]
    assert [one.terms.size for one in published] == [8_000, 12_000, None]
    assert kept.store.newest_version("exam-south") == published[0]
    assert kept.store.newest_version("exam") is None
    assert kept.store.study("exam-south") == kept.store.study("") == kept.store.study("other") == []


def test_what_is_no_study_is_not_published_together(kept: Kept) -> None:
    alone = Member(survey(simple() | {"slug": "a"}), Terms())
    for made in (
        [],
        [alone, Member(survey(simple() | {"slug": "b"}), Terms())],
        [alone, *members("north")],
        [*members("north"), *members("south", study="other")],
        members("north", "north"),
    ):
        with pytest.raises(StoreError, match="groups of one study"):
            kept.store.add_surveys(made, owner=kept.ada)
    assert kept.store.surveys() == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["exam"], "exam"),
        ("exam", ["exam"]),
        (["exam-south"], "exam"),
        ("exam", ["exam-south"]),
        ("exam", "exam-south"),
    ],
    ids=["study-after-survey", "survey-after-study", "group-after-survey", "survey-after-group", "study-after-group"],
)
def test_a_taken_slug_is_an_error_and_nothing_is_published(
    kept: Kept, first: str | list[str], second: str | list[str], golden: Golden
) -> None:
    def publish(wanted: str | list[str]) -> None:
        if isinstance(wanted, str):
            kept.publish(study=wanted)
        else:
            add(kept.store, survey(simple() | {"slug": wanted[0]}), owner=kept.ada)

    publish(first)
    before = kept.store.surveys()
    with pytest.raises(StoreError) as caught:
        publish(second)
    assert kept.store.surveys() == before
    golden(caught.value)


def test_two_studies_cannot_meet_in_one_slug(kept: Kept) -> None:
    kept.publish("b-c", study="a")
    with pytest.raises(StoreError, match="the slug a-b-c is taken"):
        kept.publish("c", "d", study="a-b")
    assert kept.store.study("a-b") == []


def test_a_study_of_somebody_else_is_theirs_with_every_slug(kept: Kept, golden: Golden) -> None:
    kept.publish()
    before = kept.store.surveys()
    for names in (("south", "west"), ("west", "east")):
        with pytest.raises(StoreError) as caught:
            kept.publish(*names, study="exam", owner=kept.eve)
        golden(caught.value, " ".join(names))
    with pytest.raises(StoreError) as alone:
        add(kept.store, survey(simple()), owner=kept.eve)
    golden(alone.value, "alone")
    assert kept.store.surveys() == before


def test_one_definition_that_is_known_stops_all(kept: Kept, golden: Golden) -> None:
    published = kept.publish()
    with pytest.raises(StoreError) as caught:
        kept.publish("west", "north")
    golden(caught.value)
    assert kept.store.study("exam") == published
    assert kept.store.newest_version("exam-west") is None


def test_a_new_version_closes_all_groups_of_the_old_one(kept: Kept) -> None:
    """Also a group that the new version has no more."""
    kept.publish()
    new = kept.publish("north", "west", title="Exam again")
    assert kept.store.study("exam") == new
    assert kept.states() == [State.OPEN, State.OPEN]
    south = kept.store.newest_version("exam-south")
    assert south is not None
    assert south.state is State.CLOSED
    assert kept.store.is_final(south)


def test_a_version_that_waits_leaves_the_open_one_in_place(kept: Kept) -> None:
    old = kept.publish()
    new = kept.publish(title="Exam again", state=State.READY)
    assert kept.store.study("exam") == old
    kept.store.set_state(new[1], State.OPEN)
    assert [one.key for one in kept.store.study("exam")] == [one.key for one in new]
    assert kept.states() == [State.OPEN, State.OPEN]
    assert all(kept.store.is_final(one) for one in old)


@pytest.mark.parametrize("which", [0, 1])
def test_whatever_is_done_to_one_group_is_done_to_all(kept: Kept, which: int) -> None:
    one = kept.publish()[which]
    for state in (State.PAUSED, State.OPEN, State.CLOSED):
        kept.store.set_state(one, state)
        assert kept.states() == [state, state]
    assert all(kept.store.is_final(one) for one in kept.store.study("exam"))


def test_each_group_takes_its_own_last_step(kept: Kept) -> None:
    north, south = kept.publish()
    kept.store.write(reports(north, 45).copy)
    kept.store.write(reports(south, 19).copy)
    assert kept.shown() == [25, 0]
    kept.store.set_state(south, State.CLOSED)
    assert kept.shown() == [45, 0]


def test_terms_are_of_all_groups_and_the_size_of_one(kept: Kept) -> None:
    north, _ = kept.publish()
    kept.store.set_terms(north, Terms(True, None, NOON + HOUR, 100, NOON + 2 * HOUR, 13_000))
    shared = (True, None, NOON + HOUR, 100, NOON + 2 * HOUR)
    assert [one.terms for one in kept.store.study("exam")] == [Terms(*shared, 13_000), Terms(*shared, 8_000)]


def test_a_date_closes_and_deletes_all_groups(kept: Kept) -> None:
    kept.publish(closes=NOON + HOUR, deletes=NOON + 2 * HOUR)
    kept.store.clock = lambda: NOON + HOUR
    assert kept.states() == [State.CLOSED, State.CLOSED]
    kept.store.clock = lambda: NOON + 2 * HOUR
    assert kept.store.study("exam") == []
    assert kept.store.surveys() == []


def test_a_report_that_comes_too_late_closes_all_groups(kept: Kept) -> None:
    north, south = kept.publish(closes=NOON + HOUR)
    kept.store.write(reports(south, 30).copy)
    kept.store.clock = lambda: NOON + HOUR
    assert kept.store.write(reports(north, 1).copy) == [Outcome.CLOSED]
    assert kept.store._fetch_one("select count(*) from surveys where state = 'closed'")[0] == 2
    assert kept.store.snapshot(south).reports == 30


def test_a_quota_counts_all_groups_and_closes_them_in_one_commit(kept: Kept) -> None:
    north, south = kept.publish(max_reports=60)
    kept.store.write(reports(north, 30).copy)
    assert kept.states() == [State.OPEN, State.OPEN]
    mixed = [one for pair in zip(reports(north, 20), reports(south, 20), strict=True) for one in pair]
    outcomes = kept.store.write(mixed.copy)
    assert outcomes == [Outcome.STORED] * 30 + [Outcome.FULL] * 10
    assert kept.states() == [State.CLOSED, State.CLOSED]
    assert all(one.full for one in kept.store.study("exam"))
    assert kept.shown() == [45, 0]
    for one in (north, south):
        assert kept.store.write(reports(one, 1).copy) == [Outcome.FULL]


@pytest.mark.parametrize("slug", ["exam", "exam-south"])
def test_a_study_is_deleted_as_a_whole(kept: Kept, slug: str) -> None:
    north, south = kept.publish()
    made = reports(north, 45)
    kept.store.write(made.copy)
    other = add(kept.store, survey(simple() | {"slug": "exams"}), owner=kept.ada)
    kept.store.delete_survey(slug)
    assert kept.store.surveys() == [other]
    assert all(kept.store.bits_of(one) is None for one in made)
    assert kept.store.is_final(south)
    assert kept.publish(owner=kept.eve)
