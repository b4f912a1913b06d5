"""A recount of all reports, on both databases."""

import numpy as np

from survey_app.store import STEP
from tests.fixtures import add_worked_example, check_store, submission
from tests.store.conftest import Place


def test_a_recount_reads_every_report_and_says_how_far_it_is(place: Place) -> None:
    store = place.open()
    store.migrate()
    published = add_worked_example(store)
    store.write([submission(published) for _ in range(3 * STEP)].copy)
    steps: list[int] = []
    stored, counted = store.recount(published, steps.append)
    assert stored.reports == counted.reports == sum(steps) == 3 * STEP
    assert np.array_equal(stored.counts, counted.counts) and counted.counts.any()
    assert check_store(store, published) == 3 * STEP
    store.close()


def test_a_recount_of_a_survey_that_was_deleted_meanwhile_is_empty(place: Place) -> None:
    store, other = place.open(), place.open()
    store.migrate()
    published = add_worked_example(store)
    store.write([submission(published) for _ in range(3 * STEP)].copy)
    other.tidy = lambda *, now=False: True  # type: ignore[method-assign]  # before the next rewrite
    other.delete_survey("exam")
    for tidied in (False, True):
        assert not tidied or store.tidy(now=True)
        for tally in (*store.recount(published, lambda _: None), store.snapshot(published)):
            assert tally.reports == 0
            assert tally.counts.shape == (published.survey.width,) and not tally.counts.any()
    for opened in (store, other):
        opened.close()
