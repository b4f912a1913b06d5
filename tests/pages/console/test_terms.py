"""The terms of a running survey on its page: changed, refused with what was typed, and fixed once it is closed."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from survey_app.authoring.terms import Terms
from survey_app.store import Member, Published, State, Submission, now
from tests.console import post, said
from tests.definitions import simple, survey
from tests.house import House, made
from tests.issuing import invited_to

MORE = datetime(2099, 12, 1, 10, 30, 15, tzinfo=UTC)
UNTOUCHED = {"closes": "", "max_reports": "", "results": "public", "deletes": ""}


def change(browser: FlaskClient, slug: str = "exam", **fields: str) -> TestResponse:
    return post(browser, f"/console/{slug}/terms", **{**UNTOUCHED, **fields})


def kept(house: House, slug: str = "exam") -> Published:
    found = house.store.newest(slug)
    assert found is not None
    return found


def fill(house: House, published: Published, count: int) -> None:
    reports = [made(published) for _ in range(count)]
    house.store.write(lambda: [Submission(published.key, one.id, one.bits) for one in reports])


def field(page: str, name: str) -> str:
    found = re.search(rf'<input[^>]* name="{name}"[^>]*>', page)
    assert found is not None
    value = re.search(r'value="([^"]*)"', found[0])
    assert value is not None
    return unescape(value[1])


def test_the_owner_changes_the_terms_while_people_answer(house: House, ada: FlaskClient) -> None:
    house.publish()
    wanted = {"closes": "2099-12-01T00:00", "max_reports": "500", "results": "private", "deletes": "2100-01-01T00:00"}
    assert change(ada, **wanted).headers["Location"] == "/console/exam"
    assert kept(house).terms == Terms(
        False, None, datetime(2099, 12, 1, tzinfo=UTC), 500, datetime(2100, 1, 1, tzinfo=UTC)
    )
    page = ada.get("/console/exam").text
    assert "The terms are changed." in page
    assert {name: field(page, name) for name in ("closes", "max_reports", "deletes")} == {
        name: wanted[name] for name in ("closes", "max_reports", "deletes")
    }
    assert said(ada)[0].startswith("terms: results private, closes 2099-12-01T00:00Z, max_reports 500")
    change(ada)
    assert kept(house).terms == Terms(public=True)


def test_what_is_not_touched_stays_to_the_second(house: House, ada: FlaskClient) -> None:
    house.publish(closes=MORE, deletes=MORE + timedelta(days=1))
    assert change(ada, closes="2099-12-01T10:30", deletes="2099-12-02T10:30").status_code == 302
    assert kept(house).terms == Terms(True, None, MORE, None, MORE + timedelta(days=1))
    assert not [line for line in said(ada) if line.startswith("terms")]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"closes": "soon"}, "The date of closing must be a date and time"),
        ({"deletes": "9999999-01-01"}, "The date of deletion must be a date and time"),
        ({"closes": "2001-01-01T00:00"}, "This date of closing has passed. To close the survey now"),
        ({"max_reports": "none"}, "The number of reports is a whole number"),
        ({"max_reports": "0"}, "The number of reports is a whole number"),
        ({"max_reports": "٣"}, "The number of reports is a whole number"),
        ({"max_reports": "9" * 5000}, "The number of reports is a whole number"),
        ({"max_reports": "25"}, "It has 25 reports already. To close the survey now"),
        ({"results": "secret"}, "Results are public or private"),
        ({"deletes": "2001-01-01T00:00"}, "Deletes lies in the past"),
        ({"closes": "2100-01-01T00:00", "deletes": "2099-01-01T00:00"}, "Deletes must be later than closes"),
    ],
)
def test_what_cannot_be_is_said_beside_what_was_typed(
    house: House, ada: FlaskClient, fields: dict[str, str], told: str
) -> None:
    published = house.publish()
    fill(house, published, 45)
    refused = change(ada, **fields)
    assert refused.status_code == 409
    assert f"{told}" in unescape(refused.text)
    assert "Nothing was changed" in refused.text
    for name, typed in fields.items():
        if name != "results":
            assert field(refused.text, name) == typed
    assert kept(house).terms == Terms(public=True)
    assert kept(house).state is State.OPEN


def test_a_number_that_has_come_without_being_shown_closes_it(house: House, ada: FlaskClient) -> None:
    published = house.publish()
    fill(house, published, 45)
    asked = change(ada, max_reports="45", results="private")
    assert asked.status_code == 409
    assert "may have as many already: the page shows fewer than there are" in asked.text
    assert {name: field(asked.text, name) for name in ("max_reports", "results", "sure")} == {
        "max_reports": "45", "results": "private", "sure": "yes",
    }  # fmt: skip
    assert kept(house).terms == Terms(public=True)
    change(ada, max_reports="45", results="private", sure="yes")
    assert kept(house).full
    assert "it had as many reports as that" in ada.get("/console/exam").text


def test_whether_it_asks_depends_on_what_is_shown_alone(house: House, ada: FlaskClient) -> None:
    published = house.publish()
    for count, shown in ((0, 0), (39, 0), (6, 25), (18, 25)):  # 39 are pending at the most
        fill(house, published, count)
        assert house.store.snapshot(published).reports == shown
        assert change(ada, max_reports=str(shown + 59)).status_code == 409
        assert kept(house).terms.max_reports is None
    assert change(ada, max_reports="85").status_code == 302
    assert change(ada, max_reports="84").status_code == 409
    assert change(ada, max_reports="86").status_code == 302
    assert kept(house).state is State.OPEN


@pytest.mark.parametrize("end", ["hand", "date", "quota"])
def test_a_closed_survey_says_that_its_terms_stay(house: House, ada: FlaskClient, end: str) -> None:
    ends: dict[str, dict[str, Any]] = {"date": {"closes": now() - timedelta(days=1)}, "quota": {"max_reports": 0}}
    published = house.publish(**ends.get(end, {}))
    if end == "hand":
        house.store.set_state(published, State.CLOSED)
    page = ada.get("/console/exam").text
    assert "so its terms stay as they are" in page
    assert "Change the terms" not in page
    assert ">Pause<" not in page and ">Close…<" not in page
    refused = change(ada, results="private")
    assert refused.status_code == 409
    assert kept(house).terms.public


def test_a_pause_and_going_on(house: House, ada: FlaskClient) -> None:
    house.publish()
    assert ">Pause<" in ada.get("/console/exam").text
    assert post(ada, "/console/exam/pause").headers["Location"] == "/console/exam"
    assert kept(house).state is State.PAUSED
    page = ada.get("/console/exam").text
    assert ">Paused<" in page and ">Go on<" in page and ">Close…<" in page and ">Pause<" not in page
    assert "This survey takes a pause" in house.client.get("/s/exam").text
    assert "Paused" in ada.get("/console").text
    post(ada, "/console/exam/open")
    assert kept(house).state is State.OPEN
    assert said(ada)[:2] == ["opened", "paused"]
    post(ada, "/console/exam/pause")
    post(ada, "/console/exam/close")
    assert kept(house).state is State.CLOSED
    assert post(ada, "/console/exam/pause").status_code == 409


def test_only_the_owner_may(house: House, eve: FlaskClient) -> None:
    house.publish()
    for path in ("/console/exam/terms", "/console/exam/pause"):
        assert post(eve, path, **UNTOUCHED).status_code == 403
        assert house.client.post(path).status_code in (302, 400)
    assert kept(house).terms == Terms(public=True)
    assert kept(house).state is State.OPEN


def test_a_survey_by_invitation_has_no_number_to_set(house: House, ada: FlaskClient) -> None:
    house.publish(invited_to())
    page = ada.get("/console/exam").text
    assert "Change the terms" in page
    assert 'name="max_reports"' not in page
    assert change(ada, results="private").status_code == 302
    assert change(ada, max_reports="100").status_code == 409
    assert not kept(house).terms.public


def test_the_groups_of_a_study_change_pause_close_and_go_together(house: House, ada: FlaskClient) -> None:
    groups = [
        Member(survey(simple() | {"slug": f"poll-{name}", "study": "poll", "group": name}), Terms(True))
        for name in ("north", "south")
    ]
    house.store.add_surveys(groups, owner=house.owner.key)
    assert "for all groups of poll" in ada.get("/console/poll-north").text
    assert change(ada, "poll-north", max_reports="99").status_code == 409  # 39 of each group may wait
    change(ada, "poll-north", max_reports="100")
    assert [one.terms.max_reports for one in house.store.study("poll")] == [100, 100]
    post(ada, "/console/poll-south/pause")
    assert {one.state for one in house.store.study("poll")} == {State.PAUSED}
    assert "All 2 groups of the study are closed together" in ada.get("/console/poll-south/close").text
    post(ada, "/console/poll-south/close")
    assert {one.state for one in house.store.study("poll")} == {State.CLOSED}
    assert "The whole study poll goes" in ada.get("/console/poll-south/delete").text
    assert post(ada, "/console/poll-south/delete", typed="poll-south").status_code == 400
    assert post(ada, "/console/poll-south/delete", typed="poll").status_code == 302
    assert house.store.study("poll") == []
