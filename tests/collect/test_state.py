"""When a survey takes reports, and from whom: ready, open, paused, closed, full, in two phases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from survey_app.authoring.terms import Terms
from survey_app.store import State, StoreError, now
from tests.definitions import (
    simple,
)
from tests.fixtures import HOUR, Installation, check_refused, check_stored, check_tally, make_report, other_bits, wire
from tests.ticket_surveys import invitation_survey


def test_a_new_version_that_is_ready_leaves_the_open_one_in_place(installation: Installation) -> None:
    old = installation.publish()
    new = installation.publish(simple() | {"title": "Not yet to be seen"}, state=State.READY)
    for path in ("/s/exam", "/api/surveys/exam"):
        shown = installation.client.get(path)
        assert shown.status_code == 200
        assert "Not yet to be seen" not in shown.text
    check_stored(installation.post(make_report(old)))
    check_refused(installation.post(make_report(new)), "wrong_survey")
    check_refused(installation.client.get(f"/api/surveys/exam?digest={new.survey.digest}"), "not_found")
    installation.store.set_state(new, State.OPEN)
    check_refused(installation.post(make_report(old)), "wrong_survey")
    check_stored(installation.post(make_report(new)))


def test_a_survey_that_opens_later_takes_nothing_yet(installation: Installation) -> None:
    published = installation.publish(opens=now() + HOUR)
    check_refused(installation.post(make_report(published)), "survey_not_open")
    assert installation.client.get("/api/surveys/exam").status_code == 200
    assert check_tally(installation, published) == 0


def test_a_survey_takes_reports_between_its_opening_and_its_closing(installation: Installation) -> None:
    check_stored(installation.post(make_report(installation.publish(opens=now() - HOUR, closes=now() + HOUR))))


@pytest.mark.parametrize("by", ["the clock", "its owner"])
def test_a_closed_survey_takes_nothing_new_but_knows_what_it_has(installation: Installation, by: str) -> None:
    published = installation.publish(closes=now() + HOUR)
    report = make_report(published)
    check_stored(installation.post(report))
    if by == "the clock":
        installation.store.clock = lambda: now() + 2 * HOUR
    else:
        installation.store.set_state(published, State.CLOSED)
    check_stored(installation.post(report), again=True)
    check_refused(installation.post(other_bits(report)), "id_taken")
    check_refused(installation.post(make_report(published)), "survey_closed")
    assert installation.client.get("/api/surveys/exam").status_code == 200
    assert check_tally(installation, published) == 1


def test_a_survey_takes_no_more_reports_than_it_wants(installation: Installation) -> None:
    published = installation.publish(max_reports=3)
    reports = [make_report(published) for _ in range(3)]
    for report in reports:
        check_stored(installation.post(report))
    check_refused(installation.post(make_report(published)), "survey_full")
    check_stored(installation.post(reports[0]), again=True)
    assert check_tally(installation, published) == 3


def test_a_batch_does_not_overfill_a_survey(installation: Installation) -> None:
    published = installation.publish(max_reports=3)
    counts = installation.count(*(make_report(published) for _ in range(5)))
    assert counts == {"stored": 3, "already_stored": 0, "rejected": {"survey_full": 2}, "rejected_lines": [4, 5]}
    assert check_tally(installation, published) == 3


def test_reports_to_an_older_version_are_for_the_wrong_survey(installation: Installation) -> None:
    old = installation.publish()
    check_stored(installation.post(make_report(old)))
    new = installation.publish(simple() | {"title": "New"})
    check_refused(installation.post(make_report(old)), "wrong_survey")
    check_refused(
        installation.post(wire(make_report(old), bits="_w")), "wrong_survey"
    )  # whatever else is wrong with it
    check_stored(installation.post(make_report(new)))
    assert (check_tally(installation, old), check_tally(installation, new)) == (1, 1)


def test_a_report_that_was_stored_before_a_new_version_came_is_acknowledged_again(installation: Installation) -> None:
    """Its device may never have heard of it, and must not randomize anew."""
    old = installation.publish()
    report = make_report(old)
    check_stored(installation.post(report))
    installation.publish(simple() | {"title": "New"})
    check_stored(installation.post(report), again=True)
    check_refused(installation.post(other_bits(report)), "id_taken")
    check_refused(installation.post(replace(report, bits=b"\xff")), "wrong_survey")
    check_refused(installation.post(replace(report, id=bytes(16))), "wrong_survey")
    assert check_tally(installation, old) == 1


def test_a_survey_that_was_deleted_is_gone_with_its_reports(installation: Installation) -> None:
    published = installation.publish()
    report = make_report(published)
    check_stored(installation.post(report))
    installation.store.delete_survey("exam")
    check_refused(installation.post(report), "not_found")
    again = installation.publish()
    assert check_tally(installation, again) == 0
    check_stored(installation.post(report))


def test_a_pause_refuses_reports_and_forgets_nothing(installation: Installation) -> None:
    published = installation.publish()
    before, during = make_report(published), make_report(published)
    check_stored(installation.post(before))
    installation.store.set_state(published, State.PAUSED)
    check_refused(installation.post(during), "survey_paused")
    check_stored(installation.post(before), again=True)
    assert installation.client.get("/api/surveys/exam").status_code == 200
    assert installation.client.get("/s/exam").status_code == 200
    assert installation.count(during)["rejected"] == {"survey_paused": 1}
    installation.store.set_state(published, State.OPEN)
    check_stored(installation.post(during))
    assert check_tally(installation, published) == 2


def test_a_survey_in_two_phases_takes_reports_only_in_the_second(installation: Installation) -> None:
    published = installation.invite(from_="2030-01-01T00:00Z")
    begin = datetime(2030, 1, 1, tzinfo=UTC)
    report = make_report(published)
    installation.store.clock = lambda: begin - timedelta(microseconds=1)
    check_refused(installation.post(report), "too_early")
    installation.store.clock = lambda: begin
    check_stored(installation.post(report))
    installation.store.clock = lambda: begin - HOUR  # a clock that goes back
    check_stored(installation.post(report), again=True)


def test_nobody_may_answer_a_survey_by_invitation_in_a_batch_or_up_to_a_number(installation: Installation) -> None:
    with pytest.raises(StoreError, match="by invitation"):
        installation.publish(invitation_survey(), max_reports=100)
    published = installation.invite()
    assert published.is_by_invitation
    with pytest.raises(StoreError, match="by invitation"):
        installation.store.set_terms(published, Terms(max_reports=100))
    assert not installation.publish(simple() | {"slug": "other"}).is_by_invitation
