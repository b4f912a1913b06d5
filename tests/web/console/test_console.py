"""The console: a survey's whole life by its forms, what others may not see, and text that stays text."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

import candor_client
from survey_app.assure.simulation import demo_survey
from survey_app.authoring.diagnostics import check
from survey_app.channels import posterior
from survey_app.languages import Words
from survey_app.store import State, Store
from tests.console import (
    EVIL,
    EXAM,
    change,
    draft,
    key_of,
    notices,
    post,
    publish,
    read_draft,
    read_log,
    stamp,
)
from tests.fixtures import phrase
from tests.golden_files import Golden, hide_moments, page_text
from tests.sign_in import csrf, find_user

PAGES = ("console", "survey", "editor", "launch")


# getting in


@pytest.mark.parametrize(
    "path", ["/console", "/console/exam", "/console/exam/delete", "/console/exam/qr.svg", "/console/drafts/1", "/console/drafts/1/try", "/console/drafts/1/file.yaml", "/console/drafts/1/s/exam"]
)  # fmt: skip
def test_a_visitor_who_is_not_signed_in_is_asked_to(app: Flask, path: str) -> None:
    answer = app.test_client().get(path)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login?next=/console")


def test_signing_in_leads_to_the_console(app: Flask) -> None:
    browser = app.test_client()
    found = re.search(r'<form[^>]*action="([^"]+)"', browser.get("/login").text)
    assert found is not None
    form = {"name": "ada", "password": phrase("ada"), "csrf_token": csrf(browser)}
    assert browser.post(unescape(found[1]), data=form).headers["Location"] == "/console"


def test_the_first_visit_is_a_tour_with_three_ways_to_begin(ada: FlaskClient) -> None:
    page = ada.get("/console").text
    assert page.count("<li><h2>") == 4
    for way in ("sample", "empty", "upload"):
        assert f'value="{way}"' in page
    key = key_of(post(ada, "/console", start="sample"))
    assert b"title: Campus life" in read_draft(ada, key)
    home = ada.get("/console").text
    assert f'href="/console/drafts/{key}"' in home and "<li><h2>" not in home
    assert ada.get("/console?tour=1").text.count("<li><h2>") == 4


def test_the_sample_is_published_beside_the_survey_of_the_demo(store: Store, ada: FlaskClient) -> None:
    """Both began as the same file, and a new version would close the one with reports."""
    shown, _ = demo_survey.prepare(store)
    keys = [key_of(post(ada, "/console", start="sample")) for _ in range(2)]
    for key in keys:
        assert 'id="earlier"' not in ada.get(f"/console/drafts/{key}/publish").text
        publish(ada, key, advised="yes")
    assert len(store.surveys()) == 3
    assert store.newest_version(shown.survey.slug) == shown


# the whole life


def test_a_survey_of_all_types_from_nothing_to_its_end(
    app: Flask, store: Store, ada: FlaskClient, golden: Golden
) -> None:
    key = key_of(post(ada, "/console", start="empty"))
    assert 'class="empty"' in ada.get(f"/console/drafts/{key}").text
    settings = {"title": "Exam honesty", "slug": "exam", "description": "One.\r\n\r\nTwo.", "consent": "I agree.", "contact": "me@example.org", "language": "de", "results": "public", "epsilon": "6", "ask": "", "joint": "help, fair", "max_reports": "500", "closes": "2099-01-01T00:00"}  # fmt: skip
    assert post(ada, f"/console/drafts/{key}/settings", **settings).status_code == 302
    questions: dict[str, dict[str, str]] = {
        "yes_no": {"id": "cheated", "text": "Did you copy?", "design": "coin"},
        "choice": {"id": "help", "text": "What did you use?", "options": "none\r\nnotes\r\nphone", "optional": "true"},
        "scale": {"id": "fair", "text": "It was fair.", "points": "Disagree\nNeutral\nAgree", "scores": "-1\n0\n1"},
        "multiple": {"id": "used", "text": "Which of these?", "options": "notes\nphone", "weight": "2"},
        "number": {"id": "hours", "text": "Hours?", "min": "0", "max": "60", "step": "1", "unit": "h", "bins": "4"},
    }
    for place, (kind, fields) in enumerate(questions.items()):
        added = change(ada, key, f"add:{kind}")
        assert added.headers["Location"].endswith(f"?edit={place}&focus={place}")
        assert change(ada, key, f"done:{place}", place, was=f"q{place + 1}", **fields).status_code == 302
    change(ada, key, "copy:0")
    change(ada, key, "save:1", 1, id="why", text="Why?", type="choice", show_if="cheated", show_if_is="yes")
    change(ada, key, "save:1", 1, options="time\nfear")
    change(ada, key, "move:1", 1, to="6")
    source = read_draft(ada, key)
    assert source.startswith(b"slug: exam\ntitle: Exam honesty\n")

    page = ada.get(f"/console/drafts/{key}").text
    assert "faults" not in page
    assert 'id="for-people"' in page
    assert 'data-respondents="500"' in page
    preview = ada.get(ada.get(f"/console/drafts/{key}/preview").headers["Location"]).text
    assert "/static/form/form.js" in preview
    assert "Did you copy?" in preview
    assert Words("de")("form.randomize") in preview  # our strings are in the survey's language
    tried = ada.get(f"/console/drafts/{key}/try?people=300").text
    assert 'name="people" inputmode="numeric" size="8" value="300"' in tried
    assert tried.count('class="chart ') == 6

    refused = publish(ada, key)
    assert refused.status_code == 409
    golden(notices(refused.text), "advice not ticked")
    done = publish(ada, key, advised="yes", state="later")
    assert done.headers["Location"] == "/console/exam"
    assert ada.get(f"/console/drafts/{key}").status_code == 404
    published = store.newest_version("exam")
    assert published is not None
    assert [question.type for question in published.survey.questions] == [*questions, "choice"]
    assert (published.state, published.terms.public, published.terms.max_reports) == (State.READY, True, 500)
    assert store.source(published) == source
    assert ada.get("/console/exam/source.yaml").data == source
    assert ada.get("/console/exam/definition.json").data == published.survey.source

    assert app.test_client().get("/s/exam").status_code == 404
    assert post(ada, "/console/exam/open").status_code == 302
    assert app.test_client().get("/s/exam").status_code == 200
    page = ada.get("/console/exam").text
    assert f"http://localhost/s/exam#sha256={published.survey.digest}" in page
    assert '<svg' in page.partition("poster")[2]  # fmt: skip
    for _ in range(65):
        answers: dict[str, Any] = {
            "cheated": True,
            "help": None,
            "fair": "Agree",
            "used": [],
            "hours": 12,
            "why": "time",
        }
        sent = candor_client.randomize(published.survey, answers).to_json()
        answer = app.test_client().post("/api/surveys/exam/reports", data=sent)
        assert answer.status_code == 201
    assert ">40<" in ada.get("/console/exam").text  # in steps
    asked = ada.get("/console/exam/close").text
    assert store.newest_version("exam") == store.version("exam", published.survey.digest)
    golden(page_text(asked), "close")
    assert post(ada, "/console/exam/close").status_code == 302
    page = ada.get("/console/exam").text
    assert ">65<" in page
    golden(notices(page), "closed")
    bits = ada.get("/results/exam/reports.csv")
    assert bits.data.count(b"\n") == 66

    assert read_log(ada) == ["exported", "closed", "opened", "added"]
    assert store.events(published.owner)[-1].data.digest == published.survey.digest
    again = key_of(post(ada, "/console/exam/edit"))
    assert read_draft(ada, again) == source
    wrong = post(ada, "/console/exam/delete", typed="exams")
    assert wrong.status_code == 400
    assert 'aria-invalid="true"' in wrong.text
    golden(page_text(wrong.text), "delete")
    assert store.newest_version("exam") is not None
    assert post(ada, "/console/exam/delete", typed="exam").headers["Location"] == "/console"
    assert store.newest_version("exam") is None
    golden(notices(ada.get("/console").text), "deleted")
    assert ada.get("/console/exam").status_code == 404


def test_a_new_version_takes_the_place_of_the_old_one(store: Store, ada: FlaskClient) -> None:
    publish(ada, draft(ada, EXAM))
    first = store.newest_version("exam")
    key = key_of(post(ada, "/console/exam/edit"))
    same = publish(ada, key)
    assert same.status_code == 409
    assert 'id="same"' in same.text
    change(ada, key, "save:0", 0, text="Did you copy it?")
    assert b"# kept\n" in read_draft(ada, key)
    assert b"# kept too\n" in read_draft(ada, key)
    assert 'id="earlier"' in ada.get(f"/console/drafts/{key}/publish").text
    publish(ada, key, state="later")
    assert 'id="newer"' in ada.get("/console/exam").text
    second = store.newest_version("exam")
    assert first is not None
    assert second is not None
    post(ada, "/console/exam/open", digest=second.survey.digest)
    states = [store.version("exam", one.survey.digest) for one in (first, second)]
    assert [one and one.state for one in states] == [State.CLOSED, State.OPEN]
    assert 'id="newer"' not in ada.get("/console/exam").text


def test_what_is_published_is_what_was_shown(store: Store, ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    shown = re.search(r'name="digest" value="(\w{64})"', ada.get(f"/console/drafts/{key}/publish").text)
    assert shown is not None
    change(ada, key, "save:0", 0, text="Another question?")
    answer = post(ada, f"/console/drafts/{key}/publish", digest=shown[1])
    assert answer.status_code == 409
    golden(notices(answer.text))
    assert store.newest_version("exam") is None


@pytest.mark.parametrize("slug", ["js", "drafts", "new", "console"])
def test_any_slug_can_be_managed(ada: FlaskClient, slug: str) -> None:
    publish(ada, draft(ada, EXAM.replace(b"slug: exam", b"slug: " + slug.encode())))
    for path in ("", "/close", "/delete", "/source.yaml", "/definition.json", "/qr.svg"):
        assert ada.get(f"/console/{slug}{path}").status_code == 200, path
    assert ada.get("/static/console/editor.js").mimetype == "text/javascript"


# what belongs to somebody else


def routes(app: Flask, method: str) -> list[str]:
    """All addresses of the console, of a survey and a draft that are ada's."""
    found = [
        rule.rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.split(".")[0] in PAGES and method in (rule.methods or ())
    ]
    return [
        one.replace("<int:key>", "1").replace("<slug>", "exam")
        for one in found
        if "<name>" not in one and one not in ("/console",)
    ]


def test_nothing_of_another_account_is_seen_or_changed(
    app: Flask, store: Store, ada: FlaskClient, eve: FlaskClient
) -> None:
    assert draft(ada, EXAM) == 1
    publish(ada, draft(ada, EXAM))
    mine, hers = (find_user(store, name).key for name in ("ada", "eve"))
    before = (store.newest_version("exam"), store.drafts(mine), store.events(mine))
    assert len(routes(app, "GET")) >= 12
    assert len(routes(app, "POST")) >= 9
    for path in routes(app, "GET"):
        answer = eve.get(path)
        assert answer.status_code == (404 if "/drafts/" in path else 403), path
        assert "Did you copy" not in answer.text
        assert ada.get(path).status_code in (200, 302), path
    for path in routes(app, "POST"):
        answer = post(eve, path, typed="exam", count="3", do="delete:0", source="x: y")
        assert answer.status_code == (404 if "/drafts/" in path else 403), path
    assert not re.search("/exam|exam honesty", eve.get("/console").text.lower())
    assert (store.newest_version("exam"), store.drafts(mine), store.events(mine)) == before
    assert store.events(hers) == []


def test_a_slug_of_another_account_is_not_taken_over(
    store: Store, ada: FlaskClient, eve: FlaskClient, golden: Golden
) -> None:
    publish(ada, draft(ada, EXAM))
    key = draft(eve, EXAM.replace(b"Did you copy?", b"Did you?"))
    page = eve.get(f"/console/drafts/{key}/publish").text
    assert 'id="taken"' in page
    answer = publish(eve, key)
    assert answer.status_code == 409
    golden(notices(answer.text))
    newest = store.newest_version("exam")
    assert newest is not None
    assert newest.owner == find_user(store, "ada").key
    assert eve.get(f"/console/drafts/{key}").status_code == 200


def test_without_the_csrf_token_nothing_is_changed(app: Flask, store: Store, ada: FlaskClient) -> None:
    draft(ada, EXAM)
    publish(ada, draft(ada, EXAM))
    mine = find_user(store, "ada").key
    before = (store.newest_version("exam"), store.drafts(mine), store.events(mine))
    for path in ("/console", *routes(app, "POST")):
        for fields in ({}, {"csrf_token": "x"}):
            sent = {"typed": "exam", "count": "3", "do": "delete:0", "source": "x: y", "start": "empty", **fields}
            assert ada.post(path, data=sent).status_code == 400, path
    assert (store.newest_version("exam"), store.drafts(mine), store.events(mine)) == before


def test_what_the_store_refuses_is_a_page_that_says_why(ada: FlaskClient, golden: Golden) -> None:
    publish(ada, draft(ada, EXAM))
    post(ada, "/console/exam/close")
    answer = post(ada, "/console/exam/open")
    assert answer.status_code == 409
    golden(page_text(answer.text))
    assert 'href="/console"' in answer.text


# text stays text


class Tags(HTMLParser):
    """What a browser would make of a page: tags that no template of ours has, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.suspects: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        ours = tag != "img" and (tag != "script" or "src" in said or said.get("type") == "application/json")
        if not ours or any(name.startswith("on") or name == "style" for name in said):
            self.suspects.append(f"{tag} {said}")
        self.text += " ".join(value or "" for value in said.values())

    def handle_data(self, data: str) -> None:
        self.text += data


def test_markup_in_any_text_of_an_author_stays_text(ada: FlaskClient) -> None:
    words = json.dumps(EVIL)
    source = f"""\
slug: exam
title: {words}
description: {words}
consent: {words}
contact: {words}
epsilon: 3
questions:
  - {{id: a, type: choice, text: {words}, options: [{words}, b]}}
  - {{id: b, type: number, text: {words}, min: 0, max: 5, unit: {words}}}
  - {{id: c, type: scale, text: {words}, points: [x, {words}], show_if: {{question: a, is: [{words}]}}}}
""".encode()
    key = draft(ada, source)
    broken = draft(
        ada, source.replace(b"id: b", f"id: {words}".encode()).replace(b"epsilon: 3", f"epsilon: {words}".encode())
    )
    paths = [
        f"/console/drafts/{one}{page}"
        for one in (key, broken)
        for page in (
            "",
            "?edit=0",
            "?edit=1",
            "?edit=2",
            "?remove=1",
            "/settings",
            "/yaml",
            "/try?people=30",
            "/publish",
            "/delete",
        )
    ]
    pages = {path: ada.get(path) for path in paths}
    pages["preview"] = ada.get(f"/console/drafts/{key}/s/exam")
    pages["privacy"] = ada.get(f"/console/drafts/{key}/s/exam/privacy")
    pages["unsaved"] = post(ada, f"/console/drafts/{key}", stamp="x", do="save:0", question="0", was=EVIL, text=EVIL)
    pages["check"] = post(
        ada, f"/console/drafts/{key}/check", stamp=stamp(ada, key), question="0", was="a", epsilon=EVIL
    )
    publish(ada, key, advised="yes")
    pages |= {
        path: ada.get(path)
        for path in ("/console", "/console/exam", "/console/exam/close", "/console/exam/delete", "/account")
    }
    for path, answer in pages.items():
        assert answer.status_code in (200, 409), path
        tags = Tags(answer.text)
        assert not tags.suspects, path
        assert EVIL in tags.text or path in ("check", "/account"), path
    assert "&lt;script&gt;alert" in pages["/console/exam"].text


def test_a_draft_has_a_dossier_for_the_board(ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    link = f"/console/drafts/{key}/dossier.html"
    assert link in ada.get(f"/console/drafts/{key}/publish").text
    answer = ada.get(f"{link}?respondents=2,500")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="exam-dossier.html"'
    assert "2,500" in answer.text and "Did you copy" in answer.text
    ada.get(f"/console/drafts/{key}?respondents=725")
    dossier = ada.get(link).text
    assert "725" in dossier and "2,500" not in dossier, "as on every other page of the draft"
    broken = draft(ada, EXAM.replace(b"type: yes_no", b"type: nothing"))
    assert ada.get(f"/console/drafts/{broken}/dossier.html").status_code == 302


TERMS = {
    "question": ["ε", "a weight", "a classic design", "ε"],
    "settings": ["ε", "a joint field", "a ticket", "ε"],
    "survey": ["ε", "a digest"],
    "home": [],
}


def test_pages_say_what_people_call_things_and_explain_what_only_we_do(ada: FlaskClient, golden: Golden) -> None:
    key = draft(ada, EXAM)
    publish(ada, draft(ada, EXAM))
    draft_pages = {
        name: f"/console/drafts/{key}{path}" for name, path in (("question", "?edit=0"), ("settings", "/settings"))
    }
    pages = {name: ada.get(path).text for name, path in draft_pages.items()}
    pages |= {"survey": ada.get("/console/exam").text, "home": ada.get("/console").text}
    for name, page in pages.items():
        assert re.findall(r'<details class="term" data-part="([^"]+)"', page) == TERMS[name], name
        words = page_text(page, '<div class="editing">', "<aside") if name == "settings" else page_text(page)
        golden(hide_moments(words), name)
    steps = pages["settings"].partition('<nav class="steps"')[2].partition("</nav>")[0]
    assert re.findall(r'href="/console/drafts/\d+(?:/(\w+))?".*?class="number">(\d)</span>', steps) == [
        ("", "1"), ("settings", "2"), ("preview", "3"), ("try", "4"), ("publish", "5"),
    ]  # fmt: skip


def test_a_new_survey_begins_with_its_title_its_language_and_good_protection(ada: FlaskClient) -> None:
    key = key_of(post(ada, "/console", start="empty", title="Ärger bei der Arbeit", language="de"))
    source = read_draft(ada, key)
    assert re.match(rb"slug: arger-bei-der-arbeit-[0-9a-f]{6}\ntitle: ", source)
    assert b"language: de\n" in source
    begun = read_draft(ada, key_of(post(ada, "/console", start="empty")))
    assert b'title: ""' in begun, "nothing that nobody wrote"
    change(ada, key, "add:yes_no")
    change(ada, key, "save:0", 0, text="Ja?")
    built = check(read_draft(ada, key)).built
    assert built is not None and posterior.is_deniable(built.survey), "who changes nothing protects people well"
