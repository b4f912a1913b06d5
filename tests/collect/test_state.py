"""When a survey takes reports, and from whom: ready, open, closed, full, by invitation."""

import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from survey_app.store import State, now
from tests.definitions import (
    simple,
)
from tests.house import HOUR, House, check_refused, check_stored, check_tally, made, other_bits, wire


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
def test_a_closed_survey_takes_nothing_new_but_knows_what_it_has(
    house: House, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    published = house.publish(closes=now() + HOUR)
    report = made(published)
    check_stored(house.post(report))
    if by == "the clock":
        monkeypatch.setattr("survey_app.store.sqlite.reports.now", lambda: now() + 2 * HOUR)
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
    check_refused(house.post(replace(report, bits=b"\xff")), "impossible_bits")
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


# invitations


def test_only_the_invited_may_report_and_only_once(house: House) -> None:
    published = house.publish(invited=True)
    code, report = house.invite(published), made(published)
    check_refused(house.post(report), "not_invited")
    check_refused(house.post(report, secrets.token_urlsafe(16)), "not_invited")
    check_refused(house.post(report, code.swapcase()), "not_invited")
    check_refused(house.post(report, f"{code}é"), "not_invited")
    check_refused(house.post(report, "x" * 10_000), "not_invited")
    check_stored(house.post(report, code))
    check_stored(house.post(report, code), again=True)
    check_stored(house.post(report), again=True)
    check_refused(house.post(made(published), code), "already_used")
    assert check_tally(house, published) == 1


def test_a_refused_report_does_not_use_an_invitation_up(house: House) -> None:
    published = house.publish(invited=True)
    first, second = house.invite(published), house.invite(published)
    report = made(published)
    check_stored(house.post(report, first))
    check_refused(house.post(other_bits(report), second), "id_taken")
    check_refused(house.post(wire(made(published), bits="_w"), second), "impossible_bits")
    check_stored(house.post(report, second), again=True)
    check_stored(house.post(made(published), second))


def test_an_invitation_to_one_survey_opens_no_other(house: House) -> None:
    published = house.publish(invited=True)
    other = house.publish(simple() | {"slug": "other"}, invited=True)
    check_refused(house.post(made(published), house.invite(other)), "not_invited")


def test_a_survey_for_everybody_ignores_invitations(house: House) -> None:
    check_stored(house.post(made(house.publish()), "whatever"))


def test_one_invitation_used_by_many_at_once_is_used_once(house: House) -> None:
    published = house.publish(invited=True)
    code = house.invite(published)

    def send(_: int) -> int:
        try:
            return house.post(made(published), code).status_code
        finally:
            house.store.close()

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(send, range(24))) == {201: 1, 409: 23}
    assert check_tally(house, published) == 1


def test_what_is_kept_of_an_invitation_is_a_hash(house: House) -> None:
    published = house.publish(invited=True)
    code = house.invite(published)
    check_stored(house.post(made(published), code))
    for path in house.store.path.parent.iterdir():
        assert code.encode() not in path.read_bytes()
