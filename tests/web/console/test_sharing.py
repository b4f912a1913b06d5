"""A survey shared with others: what they see and do, what stands in the log, and what is still the owner's alone."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from survey_app.authoring.terms import Terms
from survey_app.store import EventCode, PublishedSurvey, Role, State
from tests.console import EXAM, draft, key_of, notices, post, publish, read_draft, read_log
from tests.fixtures import Installation
from tests.golden_files import Golden, hide_moments, page_text
from tests.sign_in import find_user
from tests.tree import parse

PRIVATE = EXAM.replace(b"results: public", b"results: private")
SOON = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def survey(installation: Installation, ada: FlaskClient) -> PublishedSurvey:
    """A private survey of ada's."""
    publish(ada, draft(ada, PRIVATE))
    return newest(installation)


def newest(installation: Installation) -> PublishedSurvey:
    published = installation.store.newest_version("exam")
    assert published is not None
    return published


def share(installation: Installation, role: Role) -> None:
    installation.store.share(newest(installation), find_user(installation.store, "eve"), role)


def test_an_owner_shares_by_name_changes_the_role_and_withdraws(
    installation: Installation, ada: FlaskClient, eve: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    assert post(eve, "/console/exam/shares", name="eve", role="editor").status_code == 403
    for role in ("reader", "editor"):
        answer = post(ada, "/console/exam/shares", name=" eve ", role=role)
        assert answer.headers["Location"] == "/console/exam#people"
        golden(notices(ada.get("/console/exam").text), role)
        shared = parse(eve.get("/console").text).one("section", aria_labelledby="shared")
        assert shared.one("span", data_role=None).attributes["data-role"] == role
        assert "ada" in shared.text
    assert eve.get("/console").text.index('<h2 id="shared"') > eve.get("/console").text.index("<h1")
    post(ada, "/console/exam/shares/withdraw", name="eve")
    assert eve.get("/console/exam").status_code == 403
    assert 'id="shared"' not in eve.get("/console").text
    page = ada.get("/console/exam").text
    golden(notices(page), "withdrawn")
    assert read_log(ada)[:3] == ["unshared", "shared", "shared"]
    logged = [event.data for event in installation.store.events(installation.owner.key)[:3]]
    assert [(data.account, data.role) for data in logged] == [("eve", ""), ("eve", "editor"), ("eve", "reader")]
    golden(hide_moments(page_text(page, '<table class="log"', "</table>")), "log")


def test_a_name_that_no_account_has_is_told_so_and_shares_nothing(
    installation: Installation, ada: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    installation.store.set_disabled(find_user(installation.store, "eve"), True)
    for name in ("nobody", "eve", "EVE", "", "<b>x"):
        post(ada, "/console/exam/shares", name=name, role="reader")
        page = ada.get("/console/exam").text
        told = parse(page).one("p", id="share-error")
        assert f"“{name}”" in told.text and "<b>x" not in page
        field = parse(page).one("input", id="share-name").attributes
        assert field["aria-describedby"].startswith("share-error ") and field["value"] == name
        assert parse(page).one("div", id="said").text == "", "beside the field alone"
    golden(told.text, "no account")
    assert post(ada, "/console/exam/shares", name="eve", role="owner").status_code == 400
    refused = post(ada, "/console/exam/shares", name="ada", role="reader")
    assert refused.status_code == 409
    golden(page_text(refused.text, "<h1", "<p><a"), "the owner")
    assert installation.store.shares("exam") == []


def test_a_reader_sees_results_and_files_and_no_way_to_change_anything(
    installation: Installation, eve: FlaskClient, survey: PublishedSurvey
) -> None:
    share(installation, Role.READER)
    page = eve.get("/console/exam").text
    assert "shares this survey with you as <b>reader</b>" in page
    forms = re.findall(r'action="(/console/[^"]+)"', page)
    assert sorted(forms) == ["/console/exam/duplicate", "/console/exam/shares/withdraw"]
    assert not any(part in page for part in ('id="log"', "Delete…", "Close…", "Make a link", "Invite"))
    assert eve.get("/results/exam").status_code == 200
    assert "/console/exam" in eve.get("/results/exam").text
    assert eve.get("/results/exam/reports.csv").status_code == 200
    assert read_log(eve) == []


def test_what_others_do_stands_in_the_owners_log_with_their_names(
    installation: Installation, ada: FlaskClient, eve: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    share(installation, Role.EDITOR)
    page = eve.get("/console/exam").text
    assert 'href="#terms"' in page and 'id="log"' not in page and 'href="/console/exam/delete"' not in page
    eve.get("/results/exam/reports.csv")
    post(eve, "/console/exam/terms", results="public", closes="", max_reports="", deletes="")
    post(eve, "/console/exam/pause")
    post(eve, "/console/exam/open")
    post(eve, "/console/exam/close")
    assert newest(installation).state is State.CLOSED
    assert [(event.code, event.by) for event in installation.store.events(installation.owner.key)[:5]] == [
        (EventCode.CLOSED, "eve"),
        (EventCode.OPENED, "eve"),
        (EventCode.PAUSED, "eve"),
        (EventCode.TERMS_CHANGED, "eve"),
        (EventCode.EXPORTED, "eve"),
    ]
    assert read_log(ada)[:5] == ["closed", "opened", "paused", "terms_changed", "exported"]
    golden(hide_moments(page_text(ada.get("/console/exam").text, '<table class="log"', "</table>")))
    assert read_log(ada, "/console")[0] == "closed" and read_log(eve, "/console") == []


def test_an_editors_new_version_belongs_to_the_owner(
    installation: Installation, ada: FlaskClient, eve: FlaskClient, survey: PublishedSurvey
) -> None:
    share(installation, Role.EDITOR)
    key = key_of(post(eve, "/console/exam/edit"))
    assert ada.get(f"/console/drafts/{key}").status_code == 404  # a draft is its writer's own
    key = draft(eve, PRIVATE.replace(b"Did you copy?", b"Did you?"))
    assert 'id="taken"' not in eve.get(f"/console/drafts/{key}/publish").text
    assert publish(eve, key).headers["Location"] == "/console/exam"
    made = newest(installation)
    assert made.owner == installation.owner.key and made.survey.digest != survey.survey.digest
    logged = installation.store.events(installation.owner.key)[0]
    assert (logged.code, logged.data.digest, logged.by) == (EventCode.PUBLISHED, made.survey.digest, "eve")
    assert read_log(ada)[0] == "published" and made.survey.digest[:12] in ada.get("/console/exam").text
    assert eve.get("/console/exam").status_code == ada.get("/console/exam").status_code == 200
    assert [len(installation.store.surveys(one.key)) for one in (installation.owner, installation.stranger)] == [1, 0]


def test_nobody_else_publishes_under_the_name(
    installation: Installation, eve: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    stranger = publish(eve, draft(eve, PRIVATE.replace(b"copy", b"cheat")))
    share(installation, Role.READER)
    reader = publish(eve, draft(eve, PRIVATE.replace(b"copy", b"cheat")))
    for answer in (stranger, reader):
        assert answer.status_code == 409 and 'id="taken"' in answer.text
    assert notices(stranger.text) == notices(reader.text)
    golden(notices(stranger.text))
    assert newest(installation) == survey


def test_an_editor_does_not_delete_by_a_date_either(
    installation: Installation, ada: FlaskClient, eve: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    share(installation, Role.EDITOR)
    assert 'type="hidden" name="deletes"' in eve.get("/console/exam").text
    soon = f"{SOON:%Y-%m-%dT%H:%M}"
    refused = post(eve, "/console/exam/terms", results="private", closes="", max_reports="", deletes=soon)
    assert refused.status_code == 409
    golden(notices(refused.text), "terms")
    dated = PRIVATE.replace(b"title: Exam", b"title: New exam").replace(
        b"results", f"deletes: {soon}Z\nresults".encode()
    )
    refused = publish(eve, draft(eve, dated))
    assert refused.status_code == 409
    golden(notices(refused.text), "a new version")
    assert newest(installation).terms == Terms()
    assert (
        post(ada, "/console/exam/terms", results="private", closes="", max_reports="", deletes=soon).status_code == 302
    )
    # what the owner decided stays, whatever else the editor changes
    kept_date = newest(installation).terms.deletes
    answer = post(eve, "/console/exam/terms", results="public", closes="", max_reports="", deletes=soon)
    assert answer.status_code == 302 and newest(installation).terms == Terms(public=True, deletes=kept_date)
    assert publish(eve, draft(eve, dated)).status_code == 302  # the same date, to the minute


def test_a_member_may_leave_a_shared_survey_and_take_nobody_along(
    installation: Installation, eve: FlaskClient, survey: PublishedSurvey
) -> None:
    share(installation, Role.READER)
    installation.store.share(survey, find_user(installation.store, "administrator"), Role.READER)
    assert post(eve, "/console/exam/shares/withdraw", name="administrator").status_code == 403
    assert post(eve, "/console/exam/shares/withdraw", name="eve").headers["Location"] == "/console"
    assert [one.name for one in installation.store.shares("exam")] == ["administrator"]


def test_shares_go_on_while_the_owner_is_disabled(
    installation: Installation, eve: FlaskClient, survey: PublishedSurvey
) -> None:
    share(installation, Role.EDITOR)
    installation.store.set_disabled(find_user(installation.store, "ada"), True)
    assert eve.get("/results/exam").status_code == 200
    assert post(eve, "/console/exam/pause").status_code == 302


# duplicates


def test_a_survey_is_duplicated_into_a_draft_under_a_free_address(
    installation: Installation, ada: FlaskClient, eve: FlaskClient, survey: PublishedSurvey, golden: Golden
) -> None:
    share(installation, Role.READER)
    first = key_of(post(eve, "/console/exam/duplicate"))
    titled = re.sub(rb"(?m)^title: (.*)$", rb"title: \1 (copy)", PRIVATE)
    assert read_draft(eve, first) == titled.replace(b"slug: exam", b"slug: exam-2") != PRIVATE
    golden(notices(eve.get(f"/console/drafts/{first}").text))
    second = key_of(post(eve, f"/console/drafts/{first}/duplicate"))
    assert b"slug: exam-2-2\n" in read_draft(eve, second)
    assert publish(eve, first).headers["Location"] == "/console/exam-2"
    third = read_draft(ada, key_of(post(ada, "/console/exam/duplicate")))
    assert b"slug: exam-3\n" in third and b" (copy 2)\n" in third
    assert post(ada, f"/console/drafts/{second}/duplicate").status_code == 404


def test_a_duplicate_leaves_out_what_would_not_make_sense_any_more(
    installation: Installation, ada: FlaskClient, golden: Golden
) -> None:
    dated = EXAM.replace(
        b"results: public\n",
        b"opens: 2020-01-01T00:00Z\ncloses: 2100-01-01T00:00Z  # later\ninvitations:\n  from: 2020-02-01T00:00Z\n",
    )
    key = draft(ada, dated)
    copy = key_of(post(ada, f"/console/drafts/{key}/duplicate"))
    made = read_draft(ada, copy).decode()
    golden(notices(ada.get(f"/console/drafts/{copy}").text))
    assert "opens" not in made and "2100-01-01T00:00Z  # later" in made and "invitations: true" in made
    broken = draft(ada, b"slug: [")
    refused = post(ada, f"/console/drafts/{broken}/duplicate")
    assert refused.status_code == 400
    assert [one.key for one in installation.store.drafts(installation.owner.key)] == [key, copy, broken]
