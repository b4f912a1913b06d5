"""Reports that come one by one and reports that come in batches wait in two queues, each under the step rule."""

from collections.abc import Iterator

import pytest

from survey_app.store import Outcome, PublishedSurvey, State
from survey_app.tally import add_bits
from tests.definitions import simple, survey
from tests.fixtures import TOKEN, Installation, add_worked_example, check_refused, make_report, submission
from tests.store.conftest import AnyStore, Place


@pytest.fixture
def opened(place: Place) -> Iterator[tuple[AnyStore, PublishedSurvey]]:
    store = place.open()
    yield store, add_worked_example(store)
    store.close()


def write(store: AnyStore, published: PublishedSurvey, count: int, *, batch: bool) -> list[bytes]:
    sent = [submission(published) for _ in range(count)]
    assert store.write(sent.copy, batch=batch) == [Outcome.STORED] * count
    return [one.bits for one in sent]


def shown(store: AnyStore, published: PublishedSurvey) -> int:
    with store.open_snapshot(published) as (tally, rows):
        assert sum(len(part) for part in rows) == tally.reports == store.snapshot(published).reports
    return tally.reports


def test_a_batch_pushes_no_single_report_out(opened: tuple[AnyStore, PublishedSurvey]) -> None:
    store, published = opened
    write(store, published, 1, batch=False)
    for batches in range(1, 5):
        write(store, published, 39, batch=True)
        assert shown(store, published) in (0, 39 * batches - 20, *range(39 * batches - 39, 39 * batches - 19))
    store.set_state(published, State.CLOSED)
    assert shown(store, published) == 4 * 39, "of single reports there is no step, so they are never shown"


def test_each_queue_moves_by_its_own_steps(opened: tuple[AnyStore, PublishedSurvey]) -> None:
    store, published = opened
    write(store, published, 39, batch=True)
    write(store, published, 39, batch=False)
    assert shown(store, published) == 0
    write(store, published, 1, batch=False)
    assert shown(store, published) == 20
    write(store, published, 1, batch=True)
    assert shown(store, published) == 40
    store.set_state(published, State.CLOSED)
    assert shown(store, published) == 80
    store.recount(published, lambda _: None)


def test_the_counts_are_those_of_what_is_shown(opened: tuple[AnyStore, PublishedSurvey]) -> None:
    store, published = opened
    for batch in (True, False, True):
        write(store, published, 45, batch=batch)
    kept, found = store.recount(published, lambda _: None)
    assert kept.reports == found.reports == 135 and (kept.counts == found.counts).all()
    with store.open_snapshot(published) as (tally, rows):
        counts = 0 * tally.counts
        for part in rows:
            add_bits(counts, part)
    assert (counts == tally.counts).all()


def test_a_link_for_one_person_filled_up_by_batch_shows_nothing_of_her(installation: Installation) -> None:
    """Sixty of sixty people were read off so: her report is the fortieth."""
    published = installation.publish()
    assert installation.post(make_report(published)).status_code == 201
    assert installation.count(*(make_report(published) for _ in range(39)))["stored"] == 39
    assert installation.results()["reports"] == 0


def test_a_group_takes_no_batch(installation: Installation) -> None:
    published = installation.publish(survey(simple() | {"study": "exam", "slug": "exam-north", "group": "North"}))
    lines = b"\n".join(make_report(published).to_json() for _ in range(3))
    reply = installation.client.post(
        "/api/surveys/exam-north/reports/batch", data=lines, headers={"Authorization": f"Bearer {TOKEN}"}
    )
    check_refused(reply, "forbidden")
