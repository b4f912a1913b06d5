"""The terms of a running survey on its page: changed, refused with what was typed, and fixed once it is closed."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from survey_app.authoring.terms import Terms
from survey_app.store import EventCode, Member, PublishedSurvey, State, Submission, now
from survey_app.web.console.terms_form import terms_fields
from tests.console import EXAM, actions, draft, key_of, notices, post, publish, read_log
from tests.definitions import simple, survey
from tests.fixtures import Installation, make_report
from tests.golden_files import Golden, page_text
from tests.ticket_surveys import invitation_survey
from tests.words import first_line

MORE = datetime(2099, 12, 1, 10, 30, 15, tzinfo=UTC)
UNTOUCHED = {"closes": "", "max_reports": "", "results": "public", "deletes": ""}


def change(browser: FlaskClient, slug: str = "exam", **fields: str) -> TestResponse:
    return post(browser, f"/console/{slug}/terms", **{**UNTOUCHED, **fields})


def kept(installation: Installation, slug: str = "exam") -> PublishedSurvey:
    found = installation.store.newest_version(slug)
    assert found is not None
    return found


def fill(installation: Installation, published: PublishedSurvey, count: int) -> None:
    reports = [make_report(published) for _ in range(count)]
    installation.store.write(lambda: [Submission(published.key, one.id, one.bits) for one in reports])


def field(page: str, name: str) -> str:
    found = re.search(rf'<input[^>]* name="{name}"[^>]*>', page)
    assert found is not None
    value = re.search(r'value="([^"]*)"', found[0])
    assert value is not None
    return unescape(value[1])


def test_the_owner_changes_the_terms_while_people_answer(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    installation.publish()
    wanted = {"closes": "2099-12-01T00:00", "max_reports": "500", "results": "private", "deletes": "2100-01-01T00:00"}
    assert change(ada, **wanted).headers["Location"] == "/console/exam"
    assert kept(installation).terms == Terms(
        False, None, datetime(2099, 12, 1, tzinfo=UTC), 500, datetime(2100, 1, 1, tzinfo=UTC)
    )
    page = ada.get("/console/exam").text
    golden(notices(page), "done")
    assert {name: field(page, name) for name in ("closes", "max_reports", "deletes")} == {
        name: wanted[name] for name in ("closes", "max_reports", "deletes")
    }
    assert read_log(ada)[0] == "terms_changed"
    logged = installation.store.events(installation.owner.key)[0]
    assert logged.code is EventCode.TERMS_CHANGED
    assert {name: (change.old, change.new) for name, change in logged.data.terms.items()} == {
        "results": ("public", "private"),
        "closes": (None, "2099-12-01T00:00Z"),
        "max_reports": (None, 500),
        "deletes": (None, "2100-01-01T00:00Z"),
    }
    golden(page_text(page, '<td data-code="terms_changed">', "</tr>"), "log")
    change(ada)
    assert kept(installation).terms == Terms(public=True)


def test_what_is_not_touched_stays_to_the_second(installation: Installation, ada: FlaskClient) -> None:
    installation.publish(closes=MORE, deletes=MORE + timedelta(days=1))
    assert change(ada, closes="2099-12-01T10:30", deletes="2099-12-02T10:30").status_code == 302
    assert kept(installation).terms == Terms(True, None, MORE, None, MORE + timedelta(days=1))
    assert "terms_changed" not in read_log(ada)


REFUSED: dict[str, dict[str, str]] = {
    "closes is no date": {"closes": "soon"},
    "deletes is no date": {"deletes": "9999999-01-01"},
    "closes has passed": {"closes": "2001-01-01T00:00"},
    "deletes has passed": {"deletes": "2001-01-01T00:00"},
    "deletes before it closes": {"closes": "2100-01-01T00:00", "deletes": "2099-01-01T00:00"},
    "it has as many": {"max_reports": "25"},
    "no such visibility": {"results": "secret"},
    "no number": {"max_reports": "none"},
    "zero": {"max_reports": "0"},
    "another script": {"max_reports": "٣"},
    "too long": {"max_reports": "9" * 5000},
}


def test_what_cannot_be_is_said_beside_what_was_typed(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    published = installation.publish()
    fill(installation, published, 45)
    reasons = {}
    for name, fields in REFUSED.items():
        refused = change(ada, **fields)
        assert refused.status_code == 409, name
        for key, typed in fields.items():
            if key != "results":
                assert field(refused.text, key) == typed
        reasons[name] = notices(refused.text)
        assert kept(installation).terms == Terms(public=True)
        assert kept(installation).state is State.OPEN
    assert len({reasons[name] for name in ("no number", "zero", "another script", "too long")}) == 1
    golden("\n".join(f"{name}: {reason}" for name, reason in reasons.items()))


def test_a_number_that_has_come_without_being_shown_closes_it(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    published = installation.publish()
    fill(installation, published, 45)
    asked = change(ada, max_reports="45", results="private")
    assert asked.status_code == 409
    golden(page_text(asked.text, "<h1"), "asked")
    assert {name: field(asked.text, name) for name in ("max_reports", "results", "sure")} == {
        "max_reports": "45", "results": "private", "sure": "yes",
    }  # fmt: skip
    assert kept(installation).terms == Terms(public=True)
    change(ada, max_reports="45", results="private", sure="yes")
    assert kept(installation).full
    golden(notices(ada.get("/console/exam").text), "closed")


def test_whether_it_asks_depends_on_what_is_shown_alone(installation: Installation, ada: FlaskClient) -> None:
    published = installation.publish()
    for count, shown in ((0, 0), (39, 0), (6, 25), (18, 25)):  # 39 are pending at the most
        fill(installation, published, count)
        assert installation.store.snapshot(published).reports == shown
        assert change(ada, max_reports=str(shown + 59)).status_code == 409
        assert kept(installation).terms.max_reports is None
    assert change(ada, max_reports="85").status_code == 302
    assert change(ada, max_reports="84").status_code == 409
    assert change(ada, max_reports="86").status_code == 302
    assert kept(installation).state is State.OPEN


@pytest.mark.parametrize("end", ["hand", "date", "quota"])
def test_of_a_closed_survey_only_visibility_and_deletion_can_be_changed(
    installation: Installation, ada: FlaskClient, end: str
) -> None:
    ends: dict[str, dict[str, Any]] = {"date": {"closes": now() - timedelta(days=1)}, "quota": {"max_reports": 0}}
    published = installation.publish(**ends.get(end, {}))
    if end == "hand":
        installation.store.set_state(published, State.CLOSED)
    page = ada.get("/console/exam").text
    assert 'type="datetime-local"' in page and 'id="t-closes"' not in page and 'id="t-max_reports"' not in page
    assert "pause" not in actions(page) and 'href="/console/exam/close"' not in page
    there = terms_fields(kept(installation).terms)
    assert change(ada, **there | {"max_reports": "900"}).status_code == 409
    assert change(ada, **there | {"results": "private"}).status_code == 302
    assert not kept(installation).terms.public and kept(installation).state is State.CLOSED


def test_a_pause_and_going_on(installation: Installation, ada: FlaskClient) -> None:
    installation.publish()
    assert "pause" in actions(ada.get("/console/exam").text)
    assert post(ada, "/console/exam/pause").headers["Location"] == "/console/exam"
    assert kept(installation).state is State.PAUSED
    page = ada.get("/console/exam").text
    assert '<p class="state paused">' in page and {"open", "pause"} & actions(page) == {"open"}
    assert 'href="/console/exam/close"' in page
    assert first_line("trouble.survey_paused") in installation.client.get("/s/exam").text
    assert '<span class="state paused">' in ada.get("/console").text
    post(ada, "/console/exam/open")
    assert kept(installation).state is State.OPEN
    assert read_log(ada)[:2] == ["opened", "paused"]
    post(ada, "/console/exam/pause")
    post(ada, "/console/exam/close")
    assert kept(installation).state is State.CLOSED
    assert post(ada, "/console/exam/pause").status_code == 409


def test_only_the_owner_may(installation: Installation, eve: FlaskClient) -> None:
    installation.publish()
    for path in ("/console/exam/terms", "/console/exam/pause"):
        assert post(eve, path, **UNTOUCHED).status_code == 403
        assert installation.client.post(path).status_code in (302, 400)
    assert kept(installation).terms == Terms(public=True)
    assert kept(installation).state is State.OPEN


def test_a_survey_by_invitation_has_no_number_to_set(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    installation.publish(invitation_survey())
    page = ada.get("/console/exam").text
    golden(page_text(page, '<h2 id="terms"', "</h2>"), "heading")
    golden(page_text(page, '<a class="button" href="#terms">', "</a>"), "link")
    assert 'name="max_reports"' not in page
    there = terms_fields(kept(installation).terms)
    assert there["closes"], "28 days from now"
    assert change(ada, **there | {"results": "private"}).status_code == 302
    assert change(ada, **there | {"max_reports": "100"}).status_code == 409
    assert change(ada, **there | {"closes": ""}).status_code == 409, "it needs a date"
    assert not kept(installation).terms.public


def test_the_groups_of_a_study_change_pause_close_and_go_together(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    groups = [
        Member(survey(simple() | {"slug": f"poll-{name}", "study": "poll", "group": name}), Terms(True))
        for name in ("north", "south")
    ]
    installation.store.add_surveys(groups, owner=installation.owner.key)
    golden(
        page_text(ada.get("/console/poll-north").text, '<section class="box" aria-labelledby="terms"', "<form"), "terms"
    )
    assert change(ada, "poll-north", max_reports="99").status_code == 409  # 39 of each group may wait
    change(ada, "poll-north", max_reports="100")
    assert [one.terms.max_reports for one in installation.store.study("poll")] == [100, 100]
    post(ada, "/console/poll-south/pause")
    assert {one.state for one in installation.store.study("poll")} == {State.PAUSED}
    golden(page_text(ada.get("/console/poll-south/close").text, "<h1"), "closing")
    post(ada, "/console/poll-south/close")
    assert {one.state for one in installation.store.study("poll")} == {State.CLOSED}
    golden(page_text(ada.get("/console/poll-south/delete").text, "<h1"), "deleting")
    assert post(ada, "/console/poll-south/delete", typed="poll-south").status_code == 400
    assert post(ada, "/console/poll-south/delete", typed="poll").status_code == 302
    assert installation.store.study("poll") == []


# terms are no new version


def edited(browser: FlaskClient, **settings: str) -> int:
    """A draft of the next version with other settings, and its number."""
    key = key_of(post(browser, "/console/exam/edit"))
    assert post(browser, f"/console/drafts/{key}/settings", **settings).status_code == 302
    return key


def test_a_draft_that_differs_in_terms_alone_offers_no_new_version_but_those_terms(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    assert publish(ada, draft(ada, EXAM)).headers["Location"] == "/console/exam"
    key = edited(ada, closes="2099-03-31T00:00", results="private")
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert 'id="same"' in page and 'id="earlier"' not in page
    assert 'name="state"' not in page, "nothing to publish"
    shown = page.partition('id="same"')[2].partition("</section>")[0]
    assert re.findall(r'data-term="(\w+)"', shown) == ["public", "closes"]
    golden(page_text(page, '<h3 id="same">', "</section>"), "differs")
    assert 'href="/console/exam#terms"' in shown
    digest = kept(installation).survey.digest
    refused = post(ada, f"/console/drafts/{key}/publish", digest=digest)
    assert refused.status_code == 409
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown)) | {"csrf_token": ""}
    del form["csrf_token"]
    assert post(ada, "/console/exam/terms", **form).headers["Location"] == "/console/exam"
    now = kept(installation)
    assert (now.survey.digest, now.terms) == (digest, Terms(closes=datetime(2099, 3, 31, tzinfo=UTC)))
    page = ada.get(f"/console/drafts/{key}/publish").text
    assert 'id="same"' in page and "data-term" not in page
    golden(page_text(page, '<h3 id="same">', "</section>"), "nothing differs")
    other = edited(ada, title="Exam honesty, again")
    assert b"closes: 2099-03-31T00:00Z\n" in bytes(ada.get(f"/console/drafts/{other}/file.yaml").data), "as it is now"
    page = ada.get(f"/console/drafts/{other}/publish").text
    assert 'id="earlier"' in page and 'name="state"' in page


def test_terms_and_new_versions_have_places_of_their_own(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    publish(ada, draft(ada, EXAM))
    page = ada.get("/console/exam").text
    assert page.index('class="button" href="#terms"') < page.index('action="/console/exam/edit"')
    assert '<h2 id="terms" tabindex="-1">' in page
    golden(page_text(page, '<h2 id="next">', "</section>"), "open")
    installation.store.set_state(kept(installation), State.CLOSED)
    golden(page_text(ada.get("/console/exam").text, '<h2 id="next">', "</section>"), "closed")


def test_the_same_questions_by_invitation_are_no_new_version_until_it_is_closed(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    source = EXAM + b"invitations: true\n"
    publish(ada, draft(ada, source))
    page = ada.get(f"/console/drafts/{draft(ada, source)}/publish").text
    assert 'id="same"' in page, "a key is not what an author writes"
    page = ada.get(f"/console/drafts/{draft(ada, source.replace(b'Exam honesty', b'Honesty'))}/publish").text
    assert 'id="earlier" data-state="open"' in page
    golden(page_text(page, '<div class="notice" id="earlier"', "</form>"), "open")
    installation.store.set_state(kept(installation), State.CLOSED)
    page = ada.get(f"/console/drafts/{draft(ada, source)}/publish").text
    assert 'id="earlier" data-state="closed"' in page
    golden(page_text(page, '<div class="notice" id="earlier"', "</div>"), "closed")


def test_a_survey_that_was_closed_early_names_no_date_to_come(installation: Installation, ada: FlaskClient) -> None:
    published = installation.publish(closes=datetime(2099, 12, 1, tzinfo=UTC))
    assert all("01 Dec 2099" in ada.get(path).text for path in ("/console", "/console/exam"))
    installation.store.set_state(published, State.CLOSED)
    assert not any("01 Dec 2099" in ada.get(path).text for path in ("/console", "/console/exam"))
