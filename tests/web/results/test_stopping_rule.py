"""Whether a stopping rule was changed while people could answer is decided by codes and data of the log."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from survey_app.authoring import build
from survey_app.store import STEP, EventCode, EventData, PublishedSurvey, State, now
from survey_app.store.audit_events import TermChange
from survey_app.web.results.results_cache import has_stopping_rule_changed
from tests.browser import CAMPUS
from tests.web.results.results_fixtures import Installation, campus

HasChanged = Callable[[PublishedSurvey], bool]


@pytest.fixture
def has_changed(fresh: Installation) -> HasChanged:
    def ask(published: PublishedSurvey) -> bool:
        with fresh.app.app_context():
            return has_stopping_rule_changed(published)

    return ask


def change(fresh: Installation, published: PublishedSurvey, **terms: Any) -> None:
    current = fresh.store.newest_version(published.survey.slug)
    assert current is not None
    fresh.store.set_terms(current, replace(current.terms, **terms))


@pytest.mark.parametrize(
    ("terms", "changed"),
    [
        ({"closes": now() + timedelta(days=9)}, True),
        ({"max_reports": 5000}, True),
        ({"deletes": now() + timedelta(days=9)}, False),
        ({"public": False}, False),
    ],
)
def test_the_terms_that_end_a_survey_are_its_stopping_rule(
    fresh: Installation, has_changed: HasChanged, terms: dict[str, Any], changed: bool
) -> None:
    published = fresh.add(campus(), 2 * STEP, public=True)
    assert not has_changed(published)
    change(fresh, published, **terms)
    assert has_changed(published) is changed


def test_a_change_before_the_opening_does_not_count_and_one_during_a_pause_does(
    fresh: Installation, has_changed: HasChanged
) -> None:
    published = fresh.add(campus(), state=State.READY)
    change(fresh, published, max_reports=5000)
    fresh.store.set_state(published, State.OPEN)
    assert not has_changed(published)
    fresh.store.set_state(published, State.PAUSED)
    change(fresh, published, max_reports=6000)
    fresh.store.set_state(published, State.OPEN)
    assert has_changed(published)


def test_changes_of_a_newer_version_are_not_those_of_an_earlier_one(
    fresh: Installation, has_changed: HasChanged
) -> None:
    published = fresh.add(campus())
    newer = fresh.add(build(CAMPUS.read_bytes().replace(b"title: ", b"title: New ", 1)).survey)
    change(fresh, newer, max_reports=5000)
    assert has_changed(newer) and not has_changed(published)


def test_no_text_of_the_log_is_read(fresh: Installation, has_changed: HasChanged) -> None:
    """A label or a note may say anything; an event of an earlier version has the new value only."""
    published = fresh.add(campus())
    digest = published.survey.digest
    for label in (f"published {digest[:12]}", "terms: closes none", "opened"):
        fresh.store.record(published.owner, "campus", EventCode.LINK_MADE, EventData(label=label))
        fresh.store.record(published.owner, "campus", EventCode.NOTE, EventData(text=label))
    assert not has_changed(published)
    data = EventData(terms={"closes": TermChange(None)})
    fresh.store.record(published.owner, "campus", EventCode.TERMS_CHANGED, data)
    assert has_changed(published)
