"""Surveys by a script: added, listed, changed and deleted with a token, by the same checks as in the console."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from werkzeug.test import TestResponse

import candor_client
from survey_app.authoring import build
from survey_app.authoring.yaml_source import LARGEST_FILE
from survey_app.collect.rate_limit import Limiter
from survey_app.store import EventCode, PublishedSurvey, Role, State, Submission
from survey_app.store.audit_events import TermChange
from survey_app.web.rsgi import RsgiAdapter
from survey_app.web.survey_summary import Listing, SurveySummary
from tests.console import EXAM
from tests.fixtures import TOKEN, Installation, check_refused, replace_limiters
from tests.golden_files import Golden
from tests.rsgi_client import Protocol, ask, scope, serve
from tests.sign_in import bearer_header, find_user, signed_in, token_of

LATER = datetime.now(UTC).replace(microsecond=0, second=0) + timedelta(days=30)
STUDY = EXAM.replace(
    b"questions:", b"groups: {north: {label: North, size: 120}, south: {label: South, size: 80}}\nquestions:"
)


def add(
    installation: Installation,
    source: bytes = EXAM,
    query: str = "",
    token: str = TOKEN,
    kind: str = "application/yaml",
) -> TestResponse:
    headers = bearer_header(token) | {"Content-Type": kind}
    return installation.client.post(f"/api/surveys{query}", data=source, headers=headers)


def change(installation: Installation, token: str = TOKEN, path: str = "exam", **said: Any) -> TestResponse:
    return installation.client.patch(f"/api/surveys/{path}", json=said, headers=bearer_header(token))


def newest(installation: Installation, slug: str = "exam") -> PublishedSurvey:
    found = installation.store.newest_version(slug)
    assert found is not None
    return found


def listed(installation: Installation, token: str = TOKEN) -> list[SurveySummary]:
    reply = installation.client.get("/api/surveys", headers=bearer_header(token))
    assert (reply.status_code, reply.headers["Cache-Control"]) == (200, "no-store")
    return msgspec.json.decode(reply.data, type=Listing).surveys


# adding


def test_a_file_is_published_and_told_with_its_link_digest_and_advice(installation: Installation) -> None:
    reply = add(installation)
    published = newest(installation)
    digest = published.survey.digest
    assert (reply.status_code, reply.headers["Location"]) == (201, "/api/surveys/exam")
    assert reply.json == {
        "slug": "exam", "title": "Exam honesty", "state": "open", "role": "owner", "by_invitation": False,
        "results": "public", "opens": None, "closes": None, "max_reports": None, "deletes": None, "advice": [],
        "surveys": [
            {"slug": "exam", "digest": digest, "link": f"http://localhost/s/exam#sha256={digest}", "reports": 0}
        ],
    }  # fmt: skip
    assert (published.owner, published.state) == (installation.owner.key, State.OPEN)
    assert installation.store.source(published) == EXAM  # byte for byte, so the console can edit it
    events = installation.store.events(installation.owner.key)
    assert [(event.code, event.data.digest) for event in events] == [(EventCode.PUBLISHED, digest)]
    assert installation.client.get(reply.headers["Location"]).data == published.survey.source


def test_it_waits_if_that_is_asked_and_is_opened_by_its_digest(installation: Installation) -> None:
    assert add(installation).status_code == 201
    old, reply = newest(installation), add(installation, EXAM.replace(b"copy", b"cheat"), "?state=ready")
    assert reply.json and reply.json["state"] == "ready"
    assert change(installation, state="open").json["state"] == "open"  # type: ignore[index]
    assert (
        installation.store.newest_version("exam") == newest(installation) and newest(installation).state is State.READY
    )  # the old one was meant
    digest = reply.json["surveys"][0]["digest"]
    opened = change(installation, path=f"exam?digest={digest}", state="open")
    assert opened.json and (opened.json["state"], opened.json["surveys"][0]["digest"]) == ("open", digest)
    assert installation.store.is_final(old)


def test_the_same_in_json_is_taken_too(installation: Installation) -> None:
    said = {"slug": "exam", "title": "T", "questions": [{"id": "a", "type": "yes_no", "text": "A?", "design": "coin"}]}
    reply = add(installation, json.dumps(said).encode(), kind="application/json; charset=utf-8")
    assert reply.status_code == 201 and newest(installation).survey.title == "T"
    assert installation.store.source(newest(installation)) is None
    assert newest(installation).terms.public is False


def test_a_study_is_added_with_all_its_groups_and_one_by_invitation_with_a_key(installation: Installation) -> None:
    reply = add(installation, STUDY)
    assert reply.json and reply.json["slug"] == "exam"
    assert [(one["slug"], one["group"], one["size"]) for one in reply.json["surveys"]] == [
        ("exam-north", "North", 120),
        ("exam-south", "South", 80),
    ]
    assert reply.headers["Location"] == "/api/surveys/exam-north"
    invited = add(installation, EXAM.replace(b"slug: exam", b"slug: club\ninvitations: true"))
    assert invited.json and invited.json["by_invitation"] is True
    assert invited.json["surveys"][0]["link"] == "http://localhost/s/club"
    assert installation.tickets.private_key(newest(installation, "club").survey.digest) is not None


def test_all_faults_are_told_at_once_with_their_lines_and_nothing_is_published(installation: Installation) -> None:
    reply = add(
        installation, EXAM.replace(b"results: public", b"results: maybe").replace(b"type: yes_no", b"type: essay")
    )
    check_refused(reply, "bad_survey")
    assert reply.json and [(one["path"], one["line"]) for one in reply.json["faults"]] == [
        ("questions[0].type", 6),
        ("results", 4),
    ]
    assert re.findall(r"\d+", reply.json["detail"]) == ["2"]
    for broken in (b"", b"slug: [", b"\xff\xfe", b"x" * 100, b"{}", b"- a\n"):
        check_refused(add(installation, broken), "bad_survey")
    check_refused(add(installation, b'{"slug": "exam"', kind="application/json"), "bad_survey")
    assert installation.store.surveys() == []


def test_weak_privacy_is_taken_only_if_the_file_says_so_and_comes_with_advice(installation: Installation) -> None:
    weak = EXAM.replace(b"design: coin", b"epsilon: 9").replace(b"results", b"epsilon: 9\nresults")
    check_refused(add(installation, weak), "bad_survey")
    accepted = weak.replace(b"results", b"accept_weak_privacy: true\nresults")
    taken, advice = add(installation, accepted), build(accepted).advice
    assert [one.code for one in advice] == ["field_epsilon", "total_epsilon"]
    assert taken.status_code == 201 and taken.json and taken.json["advice"] == [one.sentence for one in advice]


@pytest.mark.parametrize(
    ("query", "kind"),
    [("?state=closed", "application/yaml"), ("", "application/x-www-form-urlencoded"), ("", "text/html")],
)
def test_what_cannot_be_understood_says_what_to_send(installation: Installation, query: str, kind: str) -> None:
    refused = add(installation, EXAM, query, kind=kind)
    check_refused(refused, "malformed_request")
    assert re.search(r"\bopen\b.*\bready\b|application/yaml", refused.text)


def test_a_slug_of_somebody_else_and_the_same_again_are_conflicts(installation: Installation, golden: Golden) -> None:
    other = token_of(installation.store, "eve")
    assert add(installation).status_code == 201
    taken = add(installation, EXAM.replace(b"copy", b"cheat"), token=other)
    check_refused(taken, "conflict")
    again = add(installation)
    check_refused(again, "conflict")
    assert newest(installation).survey.digest in again.text and newest(installation).survey.digest not in taken.text
    golden(f"of somebody else: {json.loads(taken.data)['detail']}\nthe same again: {json.loads(again.data)['detail']}")
    assert len(installation.store.surveys()) == 1


def test_a_survey_by_invitation_that_is_sent_again_is_no_new_version(installation: Installation) -> None:
    """It would get another key, and what was sent to the one before would never be shown."""
    invited = EXAM + b"invitations: true\n"
    assert add(installation, invited).status_code == 201
    again = add(installation, invited)
    check_refused(again, "conflict")
    assert newest(installation).survey.digest in again.text
    stranger = add(installation, invited, token=token_of(installation.store, "eve"))
    check_refused(stranger, "conflict")
    assert newest(installation).survey.digest not in stranger.text
    assert add(installation, invited.replace(b"copy", b"cheat")).status_code == 201


# who may


def test_a_session_authorizes_no_script(installation: Installation) -> None:
    """Another site could ride on it: there is no CSRF token here."""
    published, browser = installation.publish(), signed_in(installation.app)
    headers = {"Content-Type": "application/yaml"}
    for reply in (
        browser.get("/api/surveys"),
        browser.post("/api/surveys", data=EXAM, headers=headers),
        browser.patch("/api/surveys/exam", json={"state": "closed"}),
        browser.delete("/api/surveys/exam", headers={"Candor-Confirm": "exam"}),
    ):
        check_refused(reply, "unauthorized")
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert not [name for name, _ in reply.headers if name.startswith("Access-Control")]
    assert newest(installation) == published


def test_an_unknown_caller_is_refused_before_anything_of_the_body_is_read(installation: Installation) -> None:
    installation.publish()
    read: list[bytes] = []

    def chunks() -> Iterator[bytes]:
        read.append(b"x" * 1000)
        yield read[-1]

    for path in ("/api/surveys", "/api/surveys/exam/reports/batch"):
        for lines in ((), (("authorization", f"Bearer {'x' * 43}"),)):
            refused = Protocol()
            refused.chunks = chunks()
            serve(RsgiAdapter(installation.app), scope("POST", path, *lines), refused)
            assert (refused.status, refused.headers["connection"]) == (401, "close")
    assert read == []
    large = ask(
        installation.app, scope("POST", "/api/surveys", ("authorization", f"Bearer {TOKEN}")), b"x" * (LARGEST_FILE + 1)
    )
    assert large.status == 413


def test_scripts_that_change_too_often_are_asked_to_wait(installation: Installation) -> None:
    replace_limiters(installation.app, authors=Limiter("2/minute"))
    assert [add(installation).status_code for _ in range(3)] == [201, 409, 429]
    assert add(installation, token=token_of(installation.store, "eve")).status_code == 409  # each account has its own
    assert len(listed(installation)) == 1


def test_an_account_lists_its_own_surveys_and_those_shared_with_it(installation: Installation) -> None:
    other = token_of(installation.store, "eve")
    assert listed(installation) == listed(installation, other) == []
    add(installation)
    add(installation, EXAM.replace(b"slug: exam", b"slug: hers"), token=other)
    assert [(one.slug, one.role) for one in listed(installation, other)] == [("hers", "owner")]
    installation.store.share(newest(installation), find_user(installation.store, "eve"), Role.READER)
    assert [(one.slug, one.role) for one in listed(installation, other)] == [("hers", "owner"), ("exam", "reader")]
    installation.store.write(lambda: [_coin(newest(installation)) for _ in range(45)])
    assert listed(installation)[0].surveys[0].reports == listed(installation, other)[1].surveys[0].reports == 25


def _coin(published: PublishedSurvey) -> Submission:
    made = candor_client.randomize(published.survey, {"cheated": True})
    return Submission(published.key, made.id, made.bits)


def test_an_editor_publishes_a_new_version_that_is_the_owners(installation: Installation) -> None:
    other = token_of(installation.store, "eve")
    add(installation, STUDY)
    installation.store.share(installation.store.study("exam")[0], find_user(installation.store, "eve"), Role.EDITOR)
    reply = add(installation, STUDY.replace(b"copy", b"cheat"), token=other)
    assert reply.status_code == 201 and reply.json and reply.json["role"] == "editor"
    assert {one.owner for one in installation.store.study("exam")} == {installation.owner.key}
    assert installation.store.events(installation.owner.key)[0].by == "eve"
    assert change(installation, other, state="paused").status_code == 200
    date = f"{LATER:%Y-%m-%dT%H:%MZ}"
    check_refused(change(installation, other, deletes=date), "conflict")
    assert {one.terms.deletes for one in installation.store.study("exam")} == {None}
    assert change(installation, deletes=date).status_code == 200, "the owner decides it"


# changing


def test_terms_change_one_by_one_and_null_takes_a_limit_away(installation: Installation) -> None:
    add(installation)
    moment = f"{LATER:%Y-%m-%dT%H:%MZ}"
    reply = change(installation, closes=moment, max_reports=5000, results="private")
    assert reply.json and [reply.json[key] for key in ("closes", "max_reports", "results")] == [moment, 5000, "private"]
    assert newest(installation).terms.closes == LATER
    reply = change(installation, closes=None)
    assert reply.json and [reply.json[key] for key in ("closes", "max_reports", "results")] == [None, 5000, "private"]
    events = installation.store.events(installation.owner.key)[:2]
    assert [event.data.terms for event in events] == [
        {"closes": TermChange(None, moment)},
        {
            "results": TermChange("private", "public"),
            "closes": TermChange(moment, None),
            "max_reports": TermChange(5000, None),
        },
    ]


def test_states_change_for_all_groups_and_a_closed_survey_stays_closed(installation: Installation) -> None:
    add(installation, STUDY)
    for state in ("paused", "open", "closed"):
        assert change(installation, state=state).json["state"] == state  # type: ignore[index]
        assert {one.state for one in installation.store.study("exam")} == {State(state)}
    check_refused(change(installation, state="open"), "conflict")
    check_refused(change(installation, max_reports=900), "conflict")
    assert change(installation, results="private").json["state"] == "closed"  # type: ignore[index]


def test_closing_by_a_script_destroys_the_key_of_the_invitations(installation: Installation) -> None:
    add(installation, EXAM.replace(b"results: public", b"invitations: true"))
    digest = newest(installation).survey.digest
    assert installation.tickets.private_key(digest) is not None
    assert change(installation, state="closed").status_code == 200
    assert installation.tickets.private_key(digest) is None


def test_what_would_close_at_once_is_refused_and_what_may_is_said_twice(installation: Installation) -> None:
    add(installation)
    past = change(installation, closes="2020-01-01T00:00Z")
    check_refused(past, "conflict")
    assert 'send {\\"state\\": \\"closed\\"}' in past.text
    installation.store.write(lambda: [_coin(newest(installation)) for _ in range(45)])
    check_refused(change(installation, max_reports=20), "conflict")
    asked = change(installation, max_reports=50)
    check_refused(asked, "conflict")
    assert "sure" in asked.text and newest(installation).terms.max_reports is None
    assert change(installation, max_reports=50, sure=True).status_code == 200
    assert newest(installation).terms.max_reports == 50 and newest(installation).state is State.OPEN


@pytest.mark.parametrize(
    "said",
    [
        {}, {"sure": True}, {"state": "ready"}, {"state": "open", "results": "private"}, {"max_reports": 0}, {"max_reports": "9"},
        {"closes": "tomorrow"}, {"closes": "2030-01-01T00:00"}, {"closes": "0001-01-01T00:00+14:00"}, {"opens": None}, {"public": True}, [], "x",
    ],
)  # fmt: skip
def test_a_change_that_is_none_is_refused(installation: Installation, said: Any) -> None:
    add(installation)
    before = newest(installation)
    check_refused(
        installation.client.patch("/api/surveys/exam", json=said, headers=bearer_header(TOKEN)), "malformed_request"
    )
    assert newest(installation) == before


def test_deleting_needs_the_slug_twice(installation: Installation) -> None:
    add(installation, STUDY)
    for headers in ({}, {"Candor-Confirm": "exam-north"}, {"Candor-Confirm": "EXAM"}):
        check_refused(
            installation.client.delete("/api/surveys/exam", headers=bearer_header(TOKEN) | headers), "malformed_request"
        )
    gone = installation.client.delete("/api/surveys/exam", headers=bearer_header(TOKEN) | {"Candor-Confirm": "exam"})
    assert (gone.status_code, gone.data) == (204, b"")
    assert installation.store.surveys() == [] and listed(installation) == []
