"""The machine's side: results in steps, who may read replies, and definitions under their digests."""

import secrets

import pytest

from survey_app.store import State
from tests.answers import all_answers
from tests.definitions import (
    simple,
    worked_example,
)
from tests.fixtures import (
    Installation,
    check_open_to_all_pages,
    check_refused,
    check_stored,
    check_tally,
    make_report,
    other_bits,
)


def test_a_reader_who_polls_sees_the_results_advance_by_at_least_twenty_reports(installation: Installation) -> None:
    published = installation.publish(worked_example())
    answers = all_answers(worked_example())
    seen, steps, definition = installation.results(), [0], installation.client.get("/api/surveys/exam").data
    assert seen["reports"] == 0
    for sent in range(1, 108):
        check_stored(installation.post(make_report(published, **secrets.choice(answers))))
        found = installation.results()
        if found != seen:
            assert found["reports"] - seen["reports"] >= 20
            assert found["reports"] <= sent
            steps.append(found["reports"])
            seen = found
        assert installation.client.get("/api/surveys/exam").data == definition
        assert installation.client.get("/healthz").json == {"status": "ok"}
    assert steps == [0, 20, 40, 60, 80]
    installation.store.set_state(published, State.CLOSED)
    assert installation.results()["reports"] == check_tally(installation, published) == 107


# headers


def test_any_page_may_send_reports_and_read_the_answer(installation: Installation) -> None:
    report = make_report(installation.publish())
    origin = {"Origin": "https://elsewhere.example"}
    for answer in (
        installation.post(report),
        installation.post(report),
        installation.post(b"x"),
        installation.post(other_bits(report)),
    ):
        check_open_to_all_pages(answer)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    check_open_to_all_pages(installation.client.get("/api/surveys/exam", headers=origin))


@pytest.mark.parametrize("path", ["/api/surveys/exam", "/api/surveys/exam/reports"])
def test_a_preflight_allows_what_a_respondent_needs_and_no_more(installation: Installation, path: str) -> None:
    installation.publish()
    asked = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type, candor-invitation",
    }
    response = installation.client.options(path, headers=asked)
    assert (response.status_code, response.data) == (204, b"")
    check_open_to_all_pages(response)
    assert response.headers["Access-Control-Allow-Methods"] == "GET, POST"
    assert response.headers["Access-Control-Allow-Headers"] == "Content-Type, Candor-Invitation"


@pytest.mark.parametrize("path", ["/api/surveys/exam/results", "/api/surveys/exam/reports/batch", "/healthz", "/login"])
def test_no_other_page_may_read_what_is_not_for_respondents(installation: Installation, path: str) -> None:
    installation.publish()
    origin = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    for response in (installation.client.get(path, headers=origin), installation.client.options(path, headers=origin)):
        assert not [name for name, _ in response.headers if name.startswith("Access-Control")]


def test_the_definition_is_given_byte_for_byte_under_its_digest(installation: Installation) -> None:
    published = installation.publish(worked_example())
    response = installation.client.get("/api/surveys/exam")
    assert response.data == published.survey.source
    assert response.headers["ETag"] == f'"{published.survey.digest}"'
    assert response.content_type == "application/json"
    assert installation.client.head("/api/surveys/exam").headers["ETag"] == response.headers["ETag"]


def test_a_definition_that_is_known_is_not_sent_again(installation: Installation) -> None:
    published = installation.publish()
    known = {"If-None-Match": f'"{published.survey.digest}"'}
    response = installation.client.get("/api/surveys/exam", headers=known)
    assert (response.status_code, response.data) == (304, b"")
    check_open_to_all_pages(response)
    stale = {"If-None-Match": f'"{"0" * 64}"'}
    assert installation.client.get("/api/surveys/exam", headers=stale).status_code == 200
    installation.publish(simple() | {"title": "New"})
    assert installation.client.get("/api/surveys/exam", headers=known).status_code == 200


def test_an_older_version_is_found_by_its_digest(installation: Installation) -> None:
    old, new = installation.publish(), installation.publish(simple() | {"title": "New"})
    assert installation.client.get("/api/surveys/exam").data == new.survey.source
    for one in (old, new):
        response = installation.client.get(f"/api/surveys/exam?digest={one.survey.digest}")
        assert response.data == one.survey.source
        assert response.headers["ETag"] == f'"{one.survey.digest}"'
    other = installation.publish(simple() | {"slug": "other"})
    for digest in ("0" * 64, "x", "%ff", "%00", old.survey.digest.upper(), other.survey.digest):
        check_refused(installation.client.get(f"/api/surveys/exam?digest={digest}"), "not_found")
