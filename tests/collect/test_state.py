"""When a survey takes reports, and from whom: ready, open, paused, closed, full, in two phases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from survey_app.authoring.terms import Terms
from survey_app.store import State, StoreError, now
from tests.definitions import (
    simple,
)
from tests.fixtures import HOUR, House, check_refused, check_stored, check_tally, made, other_bits, wire
from tests.ticket_surveys import invited_to


def test_a_new_version_that_is_ready_leaves_the_open_one_in_place(house: House) -> None:
    old = house.publish()
    new = house.publish(simple() | {"title": "Not yet to be seen"}, state=State.READY)
    for path in ("/s/exam", "/api/surveys/exam"):
        shown = house.client.get(path)
        assert shown.status_code == 200
        assert "Not yet to be seen" not in shown.text
    check_stored(house.post(made(old)))
    check_refused(house.post(made(new)), "wrong_survey")
    check_refused(house.client.get(f"/api/surveys/exam?digest={new.survey.digest}"), "not_found")
    house.store.set_state(new, State.OPEN)
    check_refused(house.post(made(old)), "wrong_survey")
    check_stored(house.post(made(new)))


def test_a_survey_that_opens_later_takes_nothing_yet(house: House) -> None:
    published = house.publish(opens=now() + HOUR)
    check_refused(house.post(made(published)), "survey_not_open")
    assert house.client.get("/api/surveys/exam").status_code == 200
    assert check_tally(house, published) == 0


def test_a_survey_takes_reports_between_its_opening_and_its_closing(house: House) -> None:
    check_stored(house.post(made(house.publish(opens=now() - HOUR, closes=now() + HOUR))))


@pytest.mark.parametrize("by", ["the clock", "its owner"])
def test_a_closed_survey_takes_nothing_new_but_knows_what_it_has(house: House, by: str) -> None:
    published = house.publish(closes=now() + HOUR)
    report = made(published)
    check_stored(house.post(report))
    if by == "the clock":
        house.store.clock = lambda: now() + 2 * HOUR
    else:
        house.store.set_state(published, State.CLOSED)
    check_stored(house.post(report), again=True)
    check_refused(house.post(other_bits(report)), "id_taken")
    check_refused(house.post(made(published)), "survey_closed")
    assert house.client.get("/api/surveys/exam").status_code == 200
    assert check_tally(house, published) == 1


def test_a_survey_takes_no_more_reports_than_it_wants(house: House) -> None:
    published = house.publish(max_reports=3)
    reports = [made(published) for _ in range(3)]
    for report in reports:
        check_stored(house.post(report))
    check_refused(house.post(made(published)), "survey_full")
    check_stored(house.post(reports[0]), again=True)
    assert check_tally(house, published) == 3


def test_a_batch_does_not_overfill_a_survey(house: House) -> None:
    published = house.publish(max_reports=3)
    counts = house.count(*(made(published) for _ in range(5)))
    assert counts == {"stored": 3, "already_stored": 0, "rejected": {"survey_full": 2}, "rejected_lines": [4, 5]}
    assert check_tally(house, published) == 3


def test_reports_to_an_older_version_are_for_the_wrong_survey(house: House) -> None:
    old = house.publish()
    check_stored(house.post(made(old)))
    new = house.publish(simple() | {"title": "New"})
    check_refused(house.post(made(old)), "wrong_survey")
    check_refused(house.post(wire(made(old), bits="_w")), "wrong_survey")  # whatever else is wrong with it
    check_stored(house.post(made(new)))
    assert (check_tally(house, old), check_tally(house, new)) == (1, 1)


def test_a_report_that_was_stored_before_a_new_version_came_is_acknowledged_again(house: House) -> None:
    """Its device may never have heard of it, and must not randomize anew."""
    old = house.publish()
    report = made(old)
    check_stored(house.post(report))
    house.publish(simple() | {"title": "New"})
    check_stored(house.post(report), again=True)
    check_refused(house.post(other_bits(report)), "id_taken")
    check_refused(house.post(replace(report, bits=b"\xff")), "wrong_survey")
    check_refused(house.post(replace(report, id=bytes(16))), "wrong_survey")
    assert check_tally(house, old) == 1


def test_a_survey_that_was_deleted_is_gone_with_its_reports(house: House) -> None:
    published = house.publish()
    report = made(published)
    check_stored(house.post(report))
    house.store.delete_survey("exam")
    check_refused(house.post(report), "not_found")
    again = house.publish()
    assert check_tally(house, again) == 0
    check_stored(house.post(report))


def test_a_pause_refuses_reports_and_forgets_nothing(house: House) -> None:
    published = house.publish()
    before, during = made(published), made(published)
    check_stored(house.post(before))
    house.store.set_state(published, State.PAUSED)
    check_refused(house.post(during), "survey_paused")
    check_stored(house.post(before), again=True)
    assert house.client.get("/api/surveys/exam").status_code == 200
    assert house.client.get("/s/exam").status_code == 200
    assert house.count(during)["rejected"] == {"survey_paused": 1}
    house.store.set_state(published, State.OPEN)
    check_stored(house.post(during))
    assert check_tally(house, published) == 2


def test_a_survey_in_two_phases_takes_reports_only_in_the_second(house: House) -> None:
    published = house.invite(from_="2030-01-01T00:00Z")
    begin = datetime(2030, 1, 1, tzinfo=UTC)
    report = made(published)
    house.store.clock = lambda: begin - timedelta(microseconds=1)
    check_refused(house.post(report), "too_early")
    house.store.clock = lambda: begin
    check_stored(house.post(report))
    house.store.clock = lambda: begin - HOUR  # a clock that goes back
    check_stored(house.post(report), again=True)


def test_nobody_may_answer_a_survey_by_invitation_in_a_batch_or_up_to_a_number(house: House) -> None:
    with pytest.raises(StoreError, match="by invitation"):
        house.publish(invited_to(), max_reports=100)
    published = house.invite()
    assert published.invited
    with pytest.raises(StoreError, match="by invitation"):
        house.store.set_terms(published, Terms(max_reports=100))
    assert not house.publish(simple() | {"slug": "other"}).invited
