"""The console: a survey's whole life by its forms, what others may not see, and what is never lost."""

import hashlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page
from werkzeug.test import TestResponse

import client
from survey_app import accounts, create_app
from survey_app.accounts import add_user, hash_password
from survey_app.authoring.source import LARGEST_FILE
from survey_app.drafts import edits
from survey_app.pages.access import get_store
from survey_app.plan.settings import Settings
from survey_app.plan.survey import plan_survey
from survey_app.simulate.demo import respondents
from survey_app.store import State, Store, StoreError
from tests.browser import CAMPUS, DESKTOP, PHONE, Site, Visit, overflows, violations, visit
from tests.door import ask, scope

PASSWORD = "correct horse of the console"  # noqa: S105
PAGES = ("surveys", "survey", "editor", "launch")
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}"
EXAM = b"""\
# kept
slug: exam
title: Exam honesty
results: public
questions:
  - {id: cheated, type: yes_no, text: Did you copy?, design: coin}  # kept too
"""


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    made = create_app({"DB": f"sqlite:///{tmp_path}/candor.db", "RATE_LIMIT": "off", "LOGIN_LIMIT": "off"})
    for name in ("ada", "eve"):
        add_user(get_store(made), name, PASSWORD)
    yield made
    get_store(made).close()


@pytest.fixture
def store(app: Flask) -> Store:
    return get_store(app)


@pytest.fixture
def ada(app: Flask) -> FlaskClient:
    return signed_in(app, "ada")


@pytest.fixture
def eve(app: Flask) -> FlaskClient:
    return signed_in(app, "eve")


def signed_in(app: Flask, name: str) -> FlaskClient:
    browser = app.test_client()
    answer = browser.post("/login", data={"name": name, "password": PASSWORD, "csrf_token": token(browser, "/login")})
    assert answer.status_code == 302
    return browser


def token(browser: FlaskClient, path: str = "/account") -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(path).text)
    assert found is not None
    return found[1]


def post(browser: FlaskClient, path: str, **fields: Any) -> TestResponse:
    return browser.post(path, data={"csrf_token": token(browser), **fields})


def user_key(store: Store, name: str) -> int:
    user = store.user_named(name)
    assert user is not None
    return user.key


def upload(browser: FlaskClient, source: bytes) -> TestResponse:
    parts = {
        'name="csrf_token"': token(browser).encode(),
        'name="start"': b"upload",
        'name="file"; filename="x.yaml"': source,
    }
    lines = [
        b"--edge\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (name.encode(), body)
        for name, body in parts.items()
    ]
    return browser.post(
        "/console", data=b"".join(lines) + b"--edge--\r\n", content_type="multipart/form-data; boundary=edge"
    )


def key_of(answer: TestResponse) -> int:
    found = re.match(r"/console/drafts/(\d+)", answer.headers["Location"])
    assert found is not None, answer.headers["Location"]
    return int(found[1])


def draft(browser: FlaskClient, source: bytes) -> int:
    return key_of(upload(browser, source))


def kept(browser: FlaskClient, key: int) -> bytes:
    answer = browser.get(f"/console/drafts/{key}/file.yaml")
    assert answer.status_code == 200
    return bytes(answer.data)


def stamp(browser: FlaskClient, key: int) -> str:
    return hashlib.sha256(kept(browser, key)).hexdigest()[:16]


def change(browser: FlaskClient, key: int, do: str, place: int | None = None, **fields: str) -> TestResponse:
    """Press a button of the editor; with a place, in the form of that open question."""
    if place is not None:
        fields |= {"question": str(place)}
    return post(browser, f"/console/drafts/{key}", stamp=stamp(browser, key), do=do, **fields)


def publish(browser: FlaskClient, key: int, **fields: str) -> TestResponse:
    page = browser.get(f"/console/drafts/{key}/publish").text
    found = re.search(r'name="digest" value="(\w{64})"', page)
    return post(browser, f"/console/drafts/{key}/publish", digest=found[1] if found else "", **fields)


def said(browser: FlaskClient, path: str = "/console/exam") -> list[str]:
    """The log of a survey, the newest first."""
    table = browser.get(path).text.partition('class="log"')[2].partition("</table>")[0]
    return [unescape(cell) for cell in re.findall(r"<td>([^<]+)</td></tr>", table)]


# getting in


@pytest.mark.parametrize(
    "path", ["/console", "/console/exam", "/console/exam/delete", "/console/exam/qr.svg", "/console/drafts/1", "/console/drafts/1/try", "/console/drafts/1/file.yaml", "/console/drafts/1/s/exam"]
)  # fmt: skip
def test_whoever_is_not_signed_in_is_asked_to(app: Flask, path: str) -> None:
    answer = app.test_client().get(path)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/login?next=%2Fconsole")


def test_signing_in_leads_to_the_console(app: Flask) -> None:
    browser = app.test_client()
    found = re.search(r'<form[^>]*action="([^"]+)"', browser.get("/login").text)
    assert found is not None
    form = {"name": "ada", "password": PASSWORD, "csrf_token": token(browser, "/login")}
    assert browser.post(unescape(found[1]), data=form).headers["Location"] == "/console"


def test_the_first_visit_is_a_tour_with_three_ways_to_begin(ada: FlaskClient) -> None:
    page = ada.get("/console").text
    assert page.count("<li><h2>") == 4
    for way in ("sample", "empty", "upload"):
        assert f'value="{way}"' in page
    assert kept(ada, key_of(post(ada, "/console", start="sample"))) == CAMPUS.read_bytes()
    assert "Drafts" in ada.get("/console").text
    assert ada.get("/console?tour=1").text.count("<li><h2>") == 4


# the whole life


def test_a_survey_of_all_types_from_nothing_to_its_end(app: Flask, store: Store, ada: FlaskClient) -> None:
    key = key_of(post(ada, "/console", start="empty"))
    assert "No questions yet" in ada.get(f"/console/drafts/{key}").text
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
        assert added.headers["Location"].endswith(f"#q{place}")
        assert change(ada, key, f"done:{place}", place, was=f"q{place + 1}", **fields).status_code == 302
    change(ada, key, "copy:0")
    change(ada, key, "save:1", 1, id="why", text="Why?", type="choice", show_if="cheated", show_if_is="yes")
    change(ada, key, "save:1", 1, options="time\nfear")
    change(ada, key, "move:1", 1, to="6")
    source = kept(ada, key)
    assert source.startswith(b"slug: exam\ntitle: Exam honesty\n")

    page = ada.get(f"/console/drafts/{key}").text
    assert "things to mend" not in page
    assert "One thing to mend" not in page
    assert "1 in 20" in page
    assert "For you, with 500 respondents" in page
    preview = ada.get(ada.get(f"/console/drafts/{key}/preview").headers["Location"]).text
    assert "/static/form/page.js" in preview
    assert "Did you copy?" in preview
    assert "Fragen" in preview or "Antwort" in preview  # our strings are in the survey's language
    tried = ada.get(f"/console/drafts/{key}/try?people=300").text
    assert "intervals hold what is true of these 300 people" in tried
    assert tried.count('class="chart ') == 6

    refused = publish(ada, key)
    assert refused.status_code == 409
    assert "Read the advice" in refused.text
    done = publish(ada, key, advised="yes", state="later", invited="yes")
    assert done.headers["Location"] == "/console/exam"
    assert ada.get(f"/console/drafts/{key}").status_code == 404
    published = store.newest("exam")
    assert published is not None
    assert [question.type for question in published.survey.questions] == [*questions, "choice"]
    assert (published.state, published.terms.public, published.invited, published.terms.max_reports) == (
        State.READY,
        True,
        True,
        500,
    )
    assert store.source(published) == source
    assert ada.get("/console/exam/source.yaml").data == source
    assert ada.get("/console/exam/definition.json").data == published.survey.source

    assert app.test_client().get("/s/exam").status_code == 404
    assert post(ada, "/console/exam/open").status_code == 302
    assert app.test_client().get("/s/exam").status_code == 200
    page = ada.get("/console/exam").text
    assert f"http://localhost/s/exam#sha256={published.survey.digest}" in page
    assert '<svg' in page.partition("poster")[2]  # fmt: skip
    invited = post(ada, "/console/exam/invitations", count="30")
    links = invited.text.splitlines()
    assert len(set(links)) == 30
    assert all(
        re.fullmatch(rf"http://localhost/s/exam#code=[\w-]{{24}}&sha256={published.survey.digest}", one)
        for one in links
    )
    for one in links[:25]:
        code = one.partition("code=")[2].partition("&")[0]
        answers: dict[str, Any] = {
            "cheated": True,
            "help": None,
            "fair": "Agree",
            "used": [],
            "hours": 12,
            "why": "time",
        }
        sent = client.randomize(published.survey, answers).to_json()
        answer = app.test_client().post("/api/surveys/exam/reports", data=sent, headers={"Candor-Invitation": code})
        assert answer.status_code == 201
    assert ">20<" in ada.get("/console/exam").text  # in steps
    assert "for good" in ada.get("/console/exam/close").text
    assert post(ada, "/console/exam/close").status_code == 302
    assert ">25<" in ada.get("/console/exam").text
    bits = ada.get("/results/exam/reports.csv")
    assert bits.data.count(b"\n") == 26

    assert said(ada) == [
        "exported noisy bits as csv",
        "closed",
        "made 30 invitations",
        "opened",
        f"added {published.survey.digest[:12]}",
    ]
    again = key_of(post(ada, "/console/exam/edit"))
    assert kept(ada, again) == source
    wrong = post(ada, "/console/exam/delete", typed="exams")
    assert wrong.status_code == 400
    assert store.newest("exam") is not None
    assert post(ada, "/console/exam/delete", typed="exam").headers["Location"] == "/console"
    assert store.newest("exam") is None
    assert "deleted, with all versions and reports" in ada.get("/console").text
    assert ada.get("/console/exam").status_code == 404


def test_a_new_version_takes_the_place_of_the_old_one(store: Store, ada: FlaskClient) -> None:
    publish(ada, draft(ada, EXAM))
    first = store.newest("exam")
    key = key_of(post(ada, "/console/exam/edit"))
    same = publish(ada, key)
    assert same.status_code == 409
    assert "published already" in same.text
    change(ada, key, "save:0", 0, text="Did you copy it?")
    assert b"# kept\n" in kept(ada, key)
    assert b"# kept too\n" in kept(ada, key)
    assert "new version of" in ada.get(f"/console/drafts/{key}/publish").text
    publish(ada, key, state="later")
    assert "A newer version waits" in ada.get("/console/exam").text
    second = store.newest("exam")
    assert first is not None
    assert second is not None
    post(ada, "/console/exam/open", digest=second.survey.digest)
    states = [store.version("exam", one.survey.digest) for one in (first, second)]
    assert [one and one.state for one in states] == [State.CLOSED, State.OPEN]
    assert "waits" not in ada.get("/console/exam").text


def test_what_is_published_is_what_was_shown(store: Store, ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    shown = re.search(r'name="digest" value="(\w{64})"', ada.get(f"/console/drafts/{key}/publish").text)
    assert shown is not None
    change(ada, key, "save:0", 0, text="Another question?")
    answer = post(ada, f"/console/drafts/{key}/publish", digest=shown[1])
    assert answer.status_code == 409
    assert "changed meanwhile" in answer.text
    assert store.newest("exam") is None


@pytest.mark.parametrize("slug", ["js", "drafts", "new", "console"])
def test_any_slug_can_be_managed(ada: FlaskClient, slug: str) -> None:
    publish(ada, draft(ada, EXAM.replace(b"slug: exam", b"slug: " + slug.encode())))
    for path in ("", "/close", "/delete", "/source.yaml", "/definition.json", "/qr.svg"):
        assert ada.get(f"/console/{slug}{path}").status_code == 200, path
    assert ada.get("/static/console/editor.js").mimetype == "text/javascript"


# files


@pytest.mark.parametrize(
    "source",
    [
        EXAM,
        EXAM.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + EXAM,
        b"\n\n" + EXAM.rstrip(),
        b"# nothing but a comment",
        b"rubbish: [",
        b"\x00\x01\x02",
        b"- a\n- list\n",
        b"questions: [{}, 5, [a]]\n",
        CAMPUS.read_bytes(),
    ],
)
def test_a_file_comes_back_as_it_went_in_and_every_page_shows_it(ada: FlaskClient, source: bytes) -> None:
    key = draft(ada, source)
    assert kept(ada, key) == source
    for path in (
        "",
        "?edit=0",
        "?edit=99",
        "?remove=1",
        "/settings",
        "/yaml",
        "/preview",
        "/try?people=5",
        "/publish",
        "/delete",
    ):
        answer = ada.get(f"/console/drafts/{key}{path}")
        assert answer.status_code in (200, 302), path
    text = source.decode("utf-8-sig")
    page = ada.get(f"/console/drafts/{key}/yaml").text
    shown = unescape(page.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0])
    assert shown.replace("\r\n", "\n") == text.replace("\r\n", "\n")
    post(
        ada,
        f"/console/drafts/{key}/yaml",
        source=text.replace("\r\n", "\n").replace("\n", "\r\n"),
        stamp=stamp(ada, key),
    )
    assert kept(ada, key) == source


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b"", "Choose a file first"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"#" * (LARGEST_FILE + 1), "at most 1,000,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_a_draft_is_refused_with_a_reason(
    store: Store, ada: FlaskClient, source: bytes, says: str
) -> None:
    assert upload(ada, source).headers["Location"] == "/console"
    assert says in ada.get("/console").text
    assert store.drafts(user_key(store, "ada")) == []


def test_a_megabyte_is_kept_and_more_is_shown_again_but_not_kept(ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    whole = EXAM.decode() + "#" * (LARGEST_FILE - len(EXAM))
    assert post(ada, f"/console/drafts/{key}/yaml", source=whole, stamp=stamp(ada, key)).status_code == 302
    assert kept(ada, key) == whole.encode()
    answer = post(ada, f"/console/drafts/{key}/yaml", source=whole + "#", stamp=stamp(ada, key))
    assert answer.status_code == 409
    assert "was not saved" in answer.text
    assert whole + "#" in answer.text
    assert kept(ada, key) == whole.encode()


def test_the_server_takes_a_whole_file_for_the_console_only(app: Flask) -> None:
    chunk = b"x" * 100_000

    def status(path: str, chunks: int) -> int:
        with ThreadPoolExecutor(1) as fresh:  # the browser's tests leave a loop running in this thread
            return fresh.submit(ask, app, scope("POST", path), *[chunk] * chunks).result().status

    assert status("/console/drafts/1/yaml", 10) == 400  # it was read, and has no token
    assert status("/console/drafts/1/yaml", 50) == 413
    assert status("/login", 10) == 413


# nothing is lost


def test_what_is_typed_is_kept_even_if_it_is_wrong(ada: FlaskClient) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    change(ada, key, "save:4", 4, min="many", max="few", unit=EVIL, epsilon="-1", weight="2")
    post(ada, f"/console/drafts/{key}/settings", epsilon="lots", closes="whenever", slug="NOT A SLUG")
    page = ada.get(f"/console/drafts/{key}?edit=4").text
    for typed in ("many", "few", "-1"):
        assert f'value="{typed}"' in page
    assert "is not a plain decimal number" in page.partition('id="q4-min-error"')[2].partition("</p>")[0]
    assert page.count("<li data-field=") >= 3
    page = ada.get(f"/console/drafts/{key}/settings").text
    for typed in ("lots", "whenever", "NOT A SLUG"):
        assert f'value="{typed}"' in page
    assert 'type="text" name="closes"' in page


def test_a_broken_file_is_kept_and_its_line_is_named(ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    broken = "title: [oops\n" + EXAM.decode()
    post(ada, f"/console/drafts/{key}/yaml", source=broken, stamp=stamp(ada, key))
    assert kept(ada, key) == broken.encode()
    assert ada.get(f"/console/drafts/{key}").headers["Location"].endswith("/yaml")
    page = ada.get(f"/console/drafts/{key}/yaml").text
    assert re.search(r"Line \d+</a>: <span class=\"reason\">not YAML", page)
    assert "[oops" in page


def test_two_windows_do_not_overwrite_each_other(ada: FlaskClient) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    old = stamp(ada, key)
    change(ada, key, "up:1")
    before = kept(ada, key)
    post(ada, f"/console/drafts/{key}", stamp=old, do="delete:0")
    assert kept(ada, key) == before
    assert "changed in another window" in ada.get(f"/console/drafts/{key}").text
    post(ada, f"/console/drafts/{key}", stamp=old, do="save:0", question="0", was="cheated", text="Did you really?")
    moved = edits.content_of(kept(ada, key)).questions[1]
    assert isinstance(moved, dict)
    assert moved["text"] == "Did you really?"
    lost = post(ada, f"/console/drafts/{key}", stamp=old, do="save:0", question="0", was="gone", text="My long text")
    assert lost.status_code == 409
    assert "My long text" in lost.text
    text = post(ada, f"/console/drafts/{key}/yaml", stamp=old, source="title: mine\n")
    assert text.status_code == 409
    assert "title: mine" in text.text
    assert b"title: mine" not in kept(ada, key)
    fresh = re.search(r'name="stamp" value="(\w+)"', text.text)
    assert fresh is not None
    post(ada, f"/console/drafts/{key}/yaml", stamp=fresh[1], source="title: mine\n")
    assert kept(ada, key) == b"title: mine\n"


def test_what_another_window_changed_is_not_overwritten_without_a_question(ada: FlaskClient) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    pages = {path: ada.get(f"/console/drafts/{key}{path}").text for path in ("?edit=0", "/settings")}
    own = {path: re.findall(r'name="own" value="(\w+)"', page)[0] for path, page in pages.items()}
    change(ada, key, "save:0", 0, text="Theirs?")
    post(ada, f"/console/drafts/{key}/settings", title="Theirs")
    before = kept(ada, key)
    question = {"question": "0", "was": "cheated", "do": "save:0", "text": "Mine?", "stamp": "old"}
    answers = {
        "?edit=0": post(ada, f"/console/drafts/{key}", own=own["?edit=0"], **question),
        "/settings": post(ada, f"/console/drafts/{key}/settings", own=own["/settings"], title="Mine"),
    }
    assert kept(ada, key) == before
    fresh = {}
    for path, answer in answers.items():
        assert answer.status_code == 409
        assert "changed in another window" in answer.text
        assert "Mine" in answer.text
        fresh[path] = re.findall(r'name="own" value="(\w+)"', answer.text)[0]
    assert post(ada, f"/console/drafts/{key}", own=fresh["?edit=0"], **question).status_code == 302
    assert post(ada, f"/console/drafts/{key}/settings", own=fresh["/settings"], title="Mine").status_code == 302
    assert b"title: Mine\n" in kept(ada, key)
    assert b"text: Mine?," in kept(ada, key)
    post(ada, f"/console/drafts/{key}/yaml", source="broken: [", stamp=stamp(ada, key))
    lost = post(ada, f"/console/drafts/{key}", **question)
    assert lost.status_code == 409
    assert "text: Mine?" in lost.text
    assert post(ada, f"/console/drafts/{key}/settings", title="Mine again").status_code == 409


def test_the_numbers_beside_the_editor_are_those_of_the_plan(ada: FlaskClient) -> None:
    source = CAMPUS.read_bytes().replace(b"epsilon: 8", b"epsilon: 7")
    key = draft(ada, source)
    plan = plan_survey(source, Settings(respondents=750, margin=0.05))
    page = re.sub(
        r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", ada.get(f"/console/drafts/{key}?respondents=750").text))
    )
    assert "For you, with 750 respondents" in page
    for line in plan.lines:
        assert f"{line.margin_text()} {line.assumption}" in page
        assert f"{line.respondents:,}" in page
    for one in plan.advice:
        assert one in page
    assert "at most 99 in 100" in page  # 1/(1 + 19 e^-7) = 0.983, rounded up
    assert "help + fair joint now" in page
    assert "For you, with 750 respondents" in unescape(ada.get(f"/console/drafts/{key}/settings").text)  # remembered
    alone = draft(ada, EXAM)
    assert "at most 1 in 7" in re.sub(r"<[^>]+>", "", ada.get(f"/console/drafts/{alone}").text)  # docs/methods.md §13
    several = b"slug: s\ntitle: T\nepsilon: 2\nquestions:\n" + b"".join(
        b"  - {id: q%d, type: yes_no, text: Q}\n" % i for i in range(10)
    )
    asked = unescape(re.sub(r"<[^>]+>", " ", ada.get(f"/console/drafts/{draft(ada, several)}").text))
    assert re.search(r"each device answers \d of 10 fields", re.sub(r"\s+", " ", asked))


def test_checking_saves_nothing(ada: FlaskClient) -> None:
    key = draft(ada, CAMPUS.read_bytes())
    path = f"/console/drafts/{key}/check"
    found = post(ada, path, stamp=stamp(ada, key), question="4", was="hours", max="-5")
    assert "must be above min" in found.text
    assert 'data-field="q4-max"' in found.text
    assert (
        "ε = 2" in post(ada, path, epsilon="2", ask="").text.replace("\xa0", " ")
        or "mend" in post(ada, path, epsilon="2").text
    )
    assert "not YAML" in post(ada, path, source="x: [").text
    assert kept(ada, key) == CAMPUS.read_bytes()


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
    mine, hers = (user_key(store, name) for name in ("ada", "eve"))
    before = (store.newest("exam"), store.drafts(mine), store.events(mine))
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
    assert "exam" not in eve.get("/console").text.lower()
    assert (store.newest("exam"), store.drafts(mine), store.events(mine)) == before
    assert store.events(hers) == []


def test_a_slug_of_another_account_is_not_taken_over(store: Store, ada: FlaskClient, eve: FlaskClient) -> None:
    publish(ada, draft(ada, EXAM))
    key = draft(eve, EXAM.replace(b"Did you copy?", b"Did you?"))
    assert "belongs to another account" in eve.get(f"/console/drafts/{key}/publish").text
    answer = publish(eve, key)
    assert answer.status_code == 409
    assert "belongs to somebody else" in answer.text
    newest = store.newest("exam")
    assert newest is not None
    assert newest.owner == user_key(store, "ada")
    assert eve.get(f"/console/drafts/{key}").status_code == 200


def test_without_the_csrf_token_nothing_is_changed(app: Flask, store: Store, ada: FlaskClient) -> None:
    draft(ada, EXAM)
    publish(ada, draft(ada, EXAM))
    mine = user_key(store, "ada")
    before = (store.newest("exam"), store.drafts(mine), store.events(mine))
    for path in ("/console", *routes(app, "POST")):
        for fields in ({}, {"csrf_token": "x"}):
            sent = {"typed": "exam", "count": "3", "do": "delete:0", "source": "x: y", "start": "empty", **fields}
            assert ada.post(path, data=sent).status_code == 400, path
    assert (store.newest("exam"), store.drafts(mine), store.events(mine)) == before


@pytest.mark.parametrize(
    "do", ["", "up", "up:x", "add:", "add:essay", "explode:1", "up:99999999", "delete:7", "copy:5"]
)
def test_a_button_that_is_none_changes_nothing(ada: FlaskClient, do: str) -> None:
    key = draft(ada, EXAM)
    assert change(ada, key, do).status_code in (400, 409)
    assert kept(ada, key) == EXAM


@pytest.mark.parametrize("count", ["", "0", "-1", "1.5", "x", "100001", "9" * 5000, "٣"])
def test_invitations_come_in_sensible_numbers(store: Store, ada: FlaskClient, count: str) -> None:
    publish(ada, draft(ada, EXAM))
    assert post(ada, "/console/exam/invitations", count=count).status_code == 400
    newest = store.newest("exam")
    assert newest is not None
    assert not newest.invited


def test_what_the_store_refuses_is_a_page_that_says_why(ada: FlaskClient) -> None:
    publish(ada, draft(ada, EXAM))
    post(ada, "/console/exam/close")
    answer = post(ada, "/console/exam/open")
    assert answer.status_code == 409
    assert "stays closed" in answer.text
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


# large surveys


def large(questions: int, options: int) -> bytes:
    kinds = (
        "yes_no",
        "choice, options: [a, b, c]",
        "scale, points: [a, b, c]",
        "multiple, options: [a, b]",
        "number, min: 0, max: 9",
    )
    lines = [f"  - {{id: q{i}, text: Question number {i}?, type: {kinds[i % 5]}}}\n" for i in range(questions)]
    lines += [
        "  - id: many\n    type: choice\n    text: Which?\n    options:\n",
        *(f"      - Option {i}\n" for i in range(options)),
    ]
    return ("slug: exam\ntitle: Large\nepsilon: 8\nquestions:\n" + "".join(lines)).encode()


def test_a_hundred_questions_and_a_thousand_options_stay_handy(ada: FlaskClient) -> None:
    key = draft(ada, large(99, 1000))
    for path, most in (("", 130_000), ("?edit=99", 160_000), ("/yaml", 100_000), ("/publish", 200_000)):
        answer = ada.get(f"/console/drafts/{key}{path}")
        assert answer.status_code == 200
        assert len(answer.data) < most, path
    change(ada, key, "move:99", 99, to="1", options="\n".join(f"Option {i}" for i in range(1000)) + "\nOne more")
    first = edits.content_of(kept(ada, key)).questions[0]
    assert isinstance(first, dict)
    assert len(first["options"]) == 1001
    assert "Work out what <code>ask</code>" in ada.get(f"/console/drafts/{key}").text


# in a browser


@pytest.fixture
def house(site: Site) -> Site:
    """The real app with a password that opens it."""
    user = site.store.user_named("ada")
    assert user is not None
    site.store.set_password(user, hash_password(PASSWORD))
    return site


def enter(device: Visit, house: Site) -> Page:
    page = device.open(f"{house.origin}/console")
    page.fill("#name", "ada")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/console")
    return page


def complaints(device: Visit) -> list[str]:
    return [one for one in device.complaints if "status of 404" not in one]


def press(page: Page, name: str) -> None:
    """Reach a button by the keyboard and press it."""
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_a_survey_of_all_types_is_written_and_published_in_a_browser(house: Site, browser: Browser) -> None:
    with visit(browser, **DESKTOP) as device:
        page = enter(device, house)
        press(page, "Start empty")
        page.wait_for_selector("text=No questions yet")
        for place, name in enumerate(("Yes or no", "One of several", "Scale", "Several of them", "Number")):
            press(page, name)
            page.wait_for_selector(f"#q{place}.open textarea:focus")  # one types at once
            page.keyboard.press("Control+A")
            page.keyboard.type(f"{name}, really?")
        page.get_by_role("button", name="Move question 1 down").click()  # what was typed last is saved first
        page.wait_for_selector("#q1 a:focus")
        assert page.locator("#q1 h3").inner_text() == "Yes or no, really?"
        assert page.locator("#q4 h3").inner_text() == "Number, really?"
        page.get_by_role("button", name="Duplicate question 2").click()
        page.wait_for_selector("#q5")
        page.get_by_role("link", name="Delete question 3…").click()
        press(page, "Delete it")
        page.wait_for_selector("#q5", state="detached")
        page.get_by_role("link", name="2 Settings").click()
        page.fill("#s-title", "All types")
        page.fill("#s-slug", "no slug")
        page.wait_for_selector("#s-slug-error:has-text('must be 1 to 63')")  # checked while one types
        page.fill("#s-slug", "all-types")
        page.wait_for_selector("#s-slug-error:empty", state="attached")
        page.get_by_role("link", name="5 Try it").click()  # saves on the way
        press(page, "Let them answer")
        page.wait_for_selector("svg.chart")
        page.locator("#respondents").focus()
        page.keyboard.press("Control+A")
        page.keyboard.type("4000")
        page.wait_for_selector("text=For you, with 4,000 respondents")  # while one types
        assert page.evaluate("document.activeElement.id") == "respondents"
        page.get_by_role("link", name="6 Publish").click()
        page.wait_for_selector("h1:has-text('All types')")
        page.get_by_role("button", name="Publish").click()
        page.wait_for_url("**/console/all-types")
        published = house.store.newest("all-types")
        assert published is not None
        assert [one.type for one in published.survey.questions] == ["choice", "yes_no", "scale", "multiple", "number"]
        box = page.locator("svg.qr").bounding_box()
        assert box is not None
        assert box["width"] > 150
        assert page.input_value("#pinned").endswith(f"/s/all-types#sha256={published.survey.digest}")
        assert complaints(device) == []


def test_the_preview_is_the_real_form_and_sends_and_keeps_nothing(house: Site, browser: Browser) -> None:
    user = house.store.user_named("ada")
    assert user is not None
    key = house.store.save_draft(user.key, EXAM)
    with visit(browser, **PHONE) as device:
        page = enter(device, house)
        page = device.open(f"{house.origin}/console/drafts/{key}/preview")
        before = len(house.received)
        page.get_by_text("Yes", exact=True).click()
        page.locator("form .primary").click()
        page.locator("section .primary:not([disabled])").click()
        page.wait_for_selector("a[download]")  # the receipt
        assert len(house.received) == before
        assert page.evaluate("Object.keys(localStorage).length") > 0  # what stands in its place
        page.reload()
        page.wait_for_selector("#form fieldset")  # and nobody remembers
        page.locator(".promise a").click()
        page.wait_for_selector("text=What respondents will read")
        assert complaints(device) == []
        assert device.page.context.storage_state()["origins"] == []


def test_everything_works_without_scripts(house: Site, browser: Browser) -> None:
    with visit(browser, java_script_enabled=False, **PHONE) as device:
        page = enter(device, house)
        press(page, "Start from the sample survey")
        page.get_by_role("button", name="Move question 2 up").click()
        page.get_by_role("link", name="What did you use?").click()
        page.fill("#q0-text", "What helped you?")
        page.fill("#q0-options", "none\nnotes")
        page.get_by_role("button", name="Save and close").click()
        assert page.locator("#q0 h3").inner_text() == "What helped you?"
        page.get_by_role("link", name="Delete question 8…").click()
        page.get_by_role("button", name="Delete it").click()
        page.get_by_role("link", name="2 Settings").click()
        page.fill("#s-epsilon", "3")
        page.get_by_role("button", name="Save").click()
        assert "ε = 3" in device.text()
        page.get_by_role("link", name="3 YAML").click()
        assert "What helped you?" in page.input_value("#source")
        page.get_by_role("link", name="5 Try it").click()
        page.get_by_role("button", name="Let them answer").click()
        assert "intervals hold" in device.text()
        page.get_by_role("link", name="6 Publish").click()
        page.get_by_role("button", name="Publish").click()
        assert house.store.newest("campus") is not None
        page.get_by_role("link", name="Delete…").click()
        page.fill("#typed", "campus")
        page.get_by_role("button", name="Delete it for good").click()
        assert house.store.newest("campus") is None


def test_every_page_can_be_used_by_everybody(house: Site, browser: Browser) -> None:
    user = house.store.user_named("ada")
    assert user is not None
    house.add(CAMPUS)
    good = house.store.save_draft(user.key, CAMPUS.read_bytes())
    bad = house.store.save_draft(user.key, CAMPUS.read_bytes().replace(b"max: 60", b"max: -60"))
    dark = [
        "/login",
        "/console",
        "/console/campus",
        *(f"/console/drafts/{good}{page}" for page in ("?edit=0", "/try?people=50", "/publish")),
    ]
    more = ["?edit=4", "?remove=1", "/settings", "/yaml", "/publish", "/delete", "/preview"]
    light = [
        "/account",
        "/console?tour=1",
        "/console/campus/close",
        "/console/campus/delete",
        "/console/nothing",
        f"/console/drafts/{bad}?edit=4",
        *(f"/console/drafts/{good}{page}" for page in more),
    ]
    for look, paths in ((DESKTOP | {"color_scheme": "dark"}, dark), (PHONE, [*light, *dark])):
        with visit(browser, **look) as device:
            page = enter(device, house)
            for path in paths:
                page.goto(house.origin + path)
                if path.endswith("/preview"):
                    page.wait_for_selector("#form fieldset")
                page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
                assert violations(page) == [], path
                assert overflows(page) == [], path
            assert complaints(device) == []


def test_counts_move_in_their_steps_without_a_reload(house: Site, browser: Browser) -> None:
    published = house.add(CAMPUS)
    (people,) = respondents(published, 25)
    with visit(browser, **PHONE) as device:
        device.page.clock.install()
        enter(device, house)
        page = device.open(f"{house.origin}/console/campus")
        count = page.locator("[data-count]")
        assert count.inner_text() == "0"
        house.store.write(lambda: people)
        page.clock.run_for(11_000)
        page.wait_for_selector("[data-count]:has-text('25')")
        assert complaints(device) == []


def test_a_lost_server_loses_nothing_that_was_typed(house: Site, browser: Browser) -> None:
    user = house.store.user_named("ada")
    assert user is not None
    key = house.store.save_draft(user.key, EXAM)
    with visit(browser, **DESKTOP) as device:
        enter(device, house)
        page = device.open(f"{house.origin}/console/drafts/{key}?edit=0")
        page.fill("#q0-text", "A long text")
        house.intercept = lambda request: (503, "text/html", b"away") if request.method == "POST" else None
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("#said:has-text('Nothing was saved')")
        assert page.input_value("#q0-text") == "A long text"
        house.intercept = lambda request: None
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("#said:has-text('Saved.')")
        found = house.store.draft(user.key, key)
        assert found is not None
        assert b"text: A long text" in found.source


def test_a_draft_that_is_gone_says_so(store: Store, ada: FlaskClient) -> None:
    key = draft(ada, EXAM)
    with pytest.raises(StoreError):
        store.save_draft(user_key(store, "eve"), b"mine now", key)
    assert post(ada, f"/console/drafts/{key}/delete").headers["Location"] == "/console"
    answer = ada.get(f"/console/drafts/{key}")
    assert answer.status_code == 404
    assert "no such draft" in answer.text
